"""Rules as one C99 file, for a controller."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np

from takagi._conditions import name_features
from takagi._messages import unknown_name
from takagi._model import OpenModel
from takagi._typing import FloatArray
from takagi._wording import describe_model, name_part
from takagi.export import _c_template as c
from takagi.export._names import Namespace, make_comment_safe, make_identifier
from takagi.export._source import (
    Layout,
    choose_outputs,
    find_fill,
    lay_out,
    list_predicted,
    open_source,
    write_if_asked,
)
from takagi.tables import MISSING, Column

_TYPES = {
    "double": {"numpy": "float64", "f": "", "limit": "1e300", "bits": "64", "infinity": "0xffe0000000000000"},
    "float": {"numpy": "float32", "f": "f", "limit": "1e38f", "bits": "32", "infinity": "0xff000000"},
}
_RESERVED = (
    "h", "declarations_only", "n_columns", "n_outputs", "n_rules", "n_features", "n_projected", "n_bends", "n_values",
)  # fmt: skip
_CONDITIONS = "[${NAME}_N_RULES][${NAME}_N_PROJECTED + ${NAME}_N_FEATURES]"
_WEIGHTS = "[${NAME}_N_RULES][$values][${NAME}_N_FEATURES + ${NAME}_N_BENDS + 1]"
_TABLES = (
    ("origin", "[${NAME}_N_FEATURES + ${NAME}_N_BENDS]", "what inputs are taken relative to"),
    ("centers", _CONDITIONS, "of the rules' sets, relative to the origin"),
    ("inverse", _CONDITIONS, "sqrt(1/2) / width; 0 is no condition"),
    ("consequents", _WEIGHTS, "value at the origin, then slopes"),
    ("projection", "[${NAME}_N_FEATURES + 1][${NAME}_N_PROJECTED]", "constants, then a row for each feature"),
    ("limits", "[${NAME}_N_FEATURES][2]", "limits of the features; values beyond are clipped"),
    ("usual", "[${NAME}_N_RULES][${NAME}_N_FEATURES + ${NAME}_N_BENDS]", "what missing inputs count as in formulas"),
)


class ConstantNames(NamedTuple):
    """Constants of the file: of columns, of each column's levels, and of outputs."""

    columns: list[str]
    levels: list[list[str]]
    outputs: list[str]


def to_c(
    model: Any,
    path: str | Path | None = None,
    *,
    dtype: str = "double",
    name: str = "takagi",
    coverage: float | None = None,
) -> str:
    """Write a model as one C99 file with a function ``void NAME_predict(const double *x, double *y)``.

    The file needs nothing beyond the standard library, allocates nothing, writes no global and compiles without
    warnings, also as C++. ``x`` has one number for each column of the user's table: a number or a boolean (NAN is
    missing), or the constant of a category's level (-1 for an unknown level). ``y`` has the outputs, or the probability
    of each class of a classifier. Constants have the indices of both.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model.
    path : str or Path, optional
        A file to write as well.
    dtype : {"double", "float"}, default="double"
        The type of all numbers.
    name : str, default="takagi"
        Prefix of all names in the file: letters, digits and underscores, a letter first.
    coverage : float, optional
        Adds a function ``void NAME_predict_interval(const double *x, double *lower, double *upper)``, for intervals of
        this coverage, between 0 and 1. The model needs a calibration.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.export import to_c
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> code = to_c(rules, name="brake")
    >>> "void brake_predict(const double x[BRAKE_N_COLUMNS], double y[BRAKE_N_OUTPUTS]);" in code
    True
    """
    if dtype not in _TYPES:
        raise unknown_name("dtype", dtype, _TYPES)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name, re.ASCII):
        raise ValueError(f"name must be letters, digits and underscores with a letter first, got {name!r}.")
    source = open_source(model)
    wanted = choose_outputs(source, coverage)
    layout = lay_out(wanted, _TYPES[dtype]["numpy"])
    words = {"name": name, "NAME": name.upper(), "real": dtype, **_TYPES[dtype]}
    words |= {word: number + words["f"] for word, number in (("zero", "0.0"), ("half", "0.5"), ("one", "1.0"))}
    words |= _write_interval(words, coverage)
    names = _name_constants(source, name.upper())
    words["link"] = Template(c.LINK_CODE[wanted.link]).substitute(words)
    parts = _write_declarations(source, names) | _write_tables(layout, words) | _write_encoding(source, names, words)
    words |= _write_missing(layout, words)
    parts |= {"bend": _write_bends(layout, name_features(source.model), words), "add": _write_sum(layout, name)}
    text = re.sub("\n{3,}", "\n\n", Template(c.FILE).substitute(words, **parts, version=version("takagi")))
    write_if_asked(path, text)
    return text


def _write_interval(words: dict[str, str], coverage: float | None) -> dict[str, str]:
    """Write the function for intervals, if any, and the number of values that the rules then predict."""
    name, upper = words["name"], words["NAME"]
    texts = {"declare_interval": c.DECLARE_INTERVAL, "enum_values": c.ENUM_VALUES, "intervals": c.INTERVALS}
    if coverage is None:
        return {"values": f"{upper}_N_OUTPUTS", "function": f"void {name}_predict", **dict.fromkeys(texts, "")}
    written = {key: Template(text).substitute(words, percent=f"{100 * coverage:g}") for key, text in texts.items()}
    return {"values": f"{upper}_N_VALUES", "function": f"static void {name}_compute", **written}


def _name_constants(source: OpenModel, prefix: str) -> ConstantNames:
    """Return unique names."""
    namespace = Namespace(f"{prefix}_{word}" for word in _RESERVED)

    def add(*words: str) -> str:
        return namespace.add("_".join([prefix, *(make_identifier(word) for word in words)]).upper())

    return ConstantNames(
        columns=[add(column.name) for column in source.columns],
        levels=[
            [add(column.name, level) for level in column.levels if column.kind == "category"]
            for column in source.columns
        ],
        outputs=[add(output) for output in list_predicted(source)],
    )


# -- declarations ------------------------------------------------------------------------------------------------------


def _write_declarations(source: OpenModel, names: ConstantNames) -> dict[str, Any]:
    rules = describe_model(source.model, source.columns if source.has_table else None)
    columns = [_explain_column(column, source) for column in source.columns]
    levels = [
        f"enum {{ /* levels of {_quote(column.name)} */\n{_write_enum(constants, map(_quote, column.levels))}\n}};\n"
        for column, constants in zip(source.columns, names.levels, strict=True)
        if constants
    ]
    return {
        "rules": "\n".join(f" * {line}".rstrip() for line in make_comment_safe(rules).splitlines()),
        "example": names.columns[0],
        "columns": _write_enum(names.columns, columns),
        "n_columns": len(names.columns),
        "levels": "\n" + "\n".join(levels),
        "what": "places in y" if source.classes is None else "places of the classes' probabilities in y",
        "outputs": _write_enum(names.outputs, map(_quote, list_predicted(source))),
        "n_outputs": len(names.outputs),
    }


def _write_enum(constants: Iterable[str], comments: Iterable[str]) -> str:
    pairs = enumerate(zip(constants, comments, strict=True))
    return "\n".join(f"    {constant} = {i}, /* {comment} */" for i, (constant, comment) in pairs)


def _quote(name: str) -> str:
    """Return a name in a form that is safe in a comment, on one line."""
    return " ".join(make_comment_safe(name).split()) or "(no name)"


def _explain_column(column: Column, source: OpenModel) -> str:
    name = _quote(column.name)
    if not column.inputs:
        return f"{name}: not used"
    if column.kind == "category":
        missing = ", NAN where missing" if column.has_missing else ""
        return f"{name}: one of its levels below, -1 for none of them{missing}"
    kind = "a number" if column.kind == "number" else "0 or 1"
    if column.values:
        kind += f", 1 for {_quote(column.levels[0])} to {len(column.levels)} for {_quote(column.levels[-1])}"
    may_be_missing = source.has_table or source.model.first.usual is not None
    return f"{name}: {kind}, NAN where missing" if may_be_missing else f"{name}: {kind}"


# -- numbers -----------------------------------------------------------------------------------------------------------


def _write_tables(layout: Layout, words: dict[str, str]) -> dict[str, Any]:
    written = [
        f"/* {comment} */\nstatic const $real ${{name}}_{table}{shape} = {_write_array(values, words['f'])};\n"
        for table, shape, comment in _TABLES
        if (values := getattr(layout, table)) is not None
    ]
    return {
        "tables": Template("\n".join(written)).substitute(words),
        "n_rules": len(layout.centers),
        "n_features": layout.n_features,
        "n_projected": layout.n_projected,
        "n_bends": len(layout.bends),
        "project": "" if layout.projection is None else Template(c.PROJECT).substitute(words) + "\n",
        "hold": "" if layout.limits is None else Template(c.HOLD).substitute(words),
    }


def _write_missing(layout: Layout, words: dict[str, str]) -> dict[str, str]:
    """Write how rules handle missing inputs, if they do."""
    if layout.usual is None:
        return {"absent": "", "declare": "", "mark": "", "skip": "", "input": "z[m]"}
    bent = [
        f"    missing[{place}] = missing[{bend.feature}];"
        for place, bend in enumerate(layout.bends, start=layout.n_features)
    ]
    texts = {"absent": c.ABSENT, "declare": c.DECLARE_MISSING, "mark": c.MARK_MISSING, "skip": c.SKIP, "input": c.TAKE}
    written = {key: Template(text).substitute(words) for key, text in texts.items()}
    return {**written, "mark": "\n".join([written["mark"], *bent])}


def _write_array(values: FloatArray, suffix: str, indent: str = "    ") -> str:
    """Write an array as an initializer, with the fewest digits that give the same numbers."""
    if values.ndim == 1:
        line = ", ".join(f"{value}{suffix}" for value in values)
        body = textwrap.fill(line, 116, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    else:
        body = ",\n".join(f"{indent}{_write_array(row, suffix, indent + '    ')}" for row in values)
    return f"{{\n{body}\n{indent[4:]}}}"


def _write_bends(layout: Layout, names: Sequence[str], words: dict[str, str]) -> str:
    """Write a line for each bend, which is computed from the original feature."""
    lines = []
    for place, bend in enumerate(layout.bends, start=layout.n_features):
        numbers = {name: _write_number(getattr(bend, name), words) for name in ("knot", "floor")}
        term = Template(c.BENDS[bend.kind]).substitute(words, m=bend.feature, **numbers)
        lines.append(f"    z[{place}] = {term}; /* {_quote(bend.name(names[bend.feature]))} */")
    return "\n".join(lines)


def _write_sum(layout: Layout, name: str) -> str:
    """Write the calls that add up the outputs of the parts of the model."""
    stops = np.cumsum(layout.part_sizes)
    n_parts = len(stops)
    lines = []
    for k, (stop, size) in enumerate(zip(stops, layout.part_sizes, strict=True)):
        comment = f" /* {name_part(k, n_parts).lower()} */" if n_parts > 1 else ""
        passed = "" if layout.usual is None else "missing, "
        lines.append(f"    {name}_add_rules(a, {passed}{stop - size}, {stop}, y);{comment}")
    return "\n".join(lines)


def _write_number(value: float, words: dict[str, str]) -> str:
    return f"{np.dtype(words['numpy']).type(value)}{words['f']}"


# -- encoding ----------------------------------------------------------------------------------------------------------


def _write_encoding(source: OpenModel, names: ConstantNames, words: dict[str, str]) -> dict[str, str]:
    """Write the functions that turn columns of the table into inputs of the rules."""
    if not source.has_table and source.model.first.usual is None:
        return {"includes": "", "encoding": "", "read": Template(c.READ_PLAIN).substitute(words)}
    calls = [
        _call_encoder(source, i, constant, words)
        for i, (column, constant) in enumerate(zip(source.columns, names.columns, strict=True))
        if column.inputs
    ]
    used = "\n".join(calls)
    helpers = [c.IS_MISSING, *[c.ENCODE_NUMBER] * ("_encode_number(" in used)]
    helpers += [*[c.ENCODE_LEVEL] * ("_encode_level(" in used), c.ENCODE]
    return {
        "includes": "#include <stdint.h>\n#include <string.h>\n",
        "encoding": Template("".join(helpers)).substitute(words, calls=used),
        "read": Template(c.READ_ENCODED).substitute(words),
    }


def _call_encoder(source: OpenModel, i: int, constant: str, words: dict[str, str]) -> str:
    column, name, start = source.columns[i], words["name"], int(source.inputs_of(i)[0])
    if column.kind == "category":
        missing = column.levels.index(MISSING) if MISSING in column.levels else -1
        return f"    {name}_encode_level(x + {constant}, {len(column.levels)}, {missing}, z + {start});"
    fill = find_fill(source, i)
    if fill is None:
        return f"    z[{start}] = x[{constant}];"
    written = _write_number(fill, words)
    return f"    {name}_encode_number(x + {constant}, {written}, {int(column.has_missing)}, z + {start});"
