"""Rules as a Sugeno system of Matlab's Fuzzy Logic Toolbox, which Octave's fuzzy-logic-toolkit reads too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from takagi._conditions import name_features
from takagi._model import OpenModel
from takagi._text import shorten
from takagi._typing import FloatArray, IntArray
from takagi._wording import name_formulas, name_outputs
from takagi.export._names import Namespace, make_comment_safe, make_identifier
from takagi.export._source import find_fill, list_predicted, open_source, write_if_asked
from takagi.profile import Profile
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel, collect_bends

_SYSTEM = """[System]
Name='takagi'
Type='sugeno'
Version=2.0
NumInputs={n_inputs}
NumOutputs={n_outputs}
NumRules={n_rules}
AndMethod='prod'
OrMethod='probor'
ImpMethod='prod'
AggMethod='sum'
DefuzzMethod='wtaver'
"""
_KEYWORDS = ("if", "then", "is", "and", "or", "not")  # Matlab does not allow such names


class Variable(NamedTuple):
    """An input or output: its name, range and membership functions, each a type and its parameters."""

    name: str
    span: tuple[float, float]
    functions: list[tuple[str, FloatArray]]


def to_fis(model: Any, path: str | Path | None = None) -> str:
    """Write a model as a Sugeno fuzzy inference system, for Matlab and Octave.

    Gaussian sets become ``gaussmf``, consequents ``linear``; a rule without a condition on an input has a 0 there. Sets
    that rules share are written once, and trained projections in consequents become part of their slopes. Names are
    reduced to letters, digits and underscores; a comment says which column each input is. The inputs are the columns
    of the encoded table: a category has one input of 0 or 1 for each level.

    The format cannot express that values far beyond the data are held (see `extrapolation`). A comment has the limits;
    inputs must be held at them before they are given to the system.

    The outputs of a classifier are log-odds of the second of two classes, or one score per class if there are more. The
    format has no probabilities; a comment says how to compute them.

    A file has one rule base: a sum of several is merged with `RuleModel.merge`, with a rule for each combination of one
    rule per part.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model. These cannot be written and are errors: conditions on trained projections, bends, and sums with
        two parts that have conditions on the same feature.
    path : str or Path, optional
        A file to write as well; Matlab and Octave expect the ending ``.fis``.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.export import to_fis
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> print(to_fis(rules).split("[Input1]")[1])
    <BLANKLINE>
    Name='speed'
    Range=[-6.0 6.0]
    NumMFs=1
    MF1='set1':'gaussmf',[2.0 0.0]
    <BLANKLINE>
    [Output1]
    Name='y'
    Range=[0.0 2.0]
    NumMFs=1
    MF1='rule1':'linear',[0.5 1.0]
    <BLANKLINE>
    [Rules]
    1, 1 (1) : 1
    <BLANKLINE>
    """
    source = open_source(model)
    _check_sayable(source.model)
    rules = _join_parts(source.model)
    profile = source.model.profile
    columns = [_number_sets(rules, m) for m in range(rules.n_features)]
    chosen = np.column_stack([number for number, _ in columns])
    names, results = Namespace(_KEYWORDS), name_formulas(rules.link, name_outputs(rules))
    inputs = [
        Variable(
            names.add(make_identifier(name)),
            _find_span(rules, profile, m),
            [("gaussmf", pair) for pair in columns[m][1]],
        )
        for m, name in enumerate(name_features(rules))
    ]
    outputs = [
        Variable(
            names.add(make_identifier(name)),
            _find_output_span(rules, profile, k),
            [("linear", np.roll(w, -1)) for w in consequents],
        )
        for k, (name, consequents) in enumerate(zip(results, rules.consequents.swapaxes(0, 1), strict=True))
    ]
    parts = [
        _write_comment(source, [variable.name for variable in inputs]),
        _SYSTEM.format(n_inputs=rules.n_features, n_outputs=rules.n_outputs, n_rules=rules.n_rules),
        *(_write_variable(f"Input{m + 1}", "set", variable) for m, variable in enumerate(inputs)),
        *(_write_variable(f"Output{k + 1}", "rule", variable) for k, variable in enumerate(outputs)),
        "[Rules]\n" + "".join(_write_rule(numbers, r, rules.n_outputs) for r, numbers in enumerate(chosen)),
    ]
    text = "\n".join(parts)
    write_if_asked(path, text)
    return text


def _check_sayable(model: RuleModel) -> None:
    """Raise an error if a .fis file cannot express the model."""
    other = "Export to C, ONNX or JSON, which can."
    if any(part.antecedent_projection is not None for part in model.parts):
        raise ValueError(
            "A .fis file cannot state conditions on trained projections. Fit with projection=None, or export to "
            "C, ONNX or JSON, which can."
        )
    bends = collect_bends(model.parts)
    if bends:
        example = bends[0].name(shorten(name_features(model)[bends[0].feature]))
        raise ValueError(f"A .fis file has linear formulas and cannot state bends such as {example}. {other}")


def _join_parts(model: RuleModel) -> RuleBase:
    """Return one rule base whose consequents have only features as inputs."""
    if len(model.parts) == 1:
        return model.first.fold_consequents()
    plain = RuleModel(tuple(replace(part.fold_consequents(), sets=None) for part in model.parts))
    try:
        joined = plain.merge()
    except ValueError as error:
        raise ValueError(
            f"A .fis file holds one rule base. {error} Export to C, ONNX or JSON, which take sums. A "
            "fit with n_adjustments=0 is one rule base, unless its rules are short."
        ) from None
    return replace(joined, sets=_find_equal_sets(joined))


def _find_equal_sets(rules: RuleBase) -> IntArray:
    """Return which of an input's distinct sets each rule has."""
    pairs = np.stack([rules.centers, rules.widths], axis=-1)
    different = [np.unique(pairs[:, m], axis=0, return_inverse=True)[1].reshape(-1) for m in range(rules.n_features)]
    return np.column_stack(different)


def _number_sets(rules: RuleBase, m: int) -> tuple[IntArray, FloatArray]:
    """Return which set of input m each rule uses, from 1 on, 0 for none; and the sets, each ``[width, center]``."""
    pairs = np.column_stack([rules.widths[:, m], rules.centers[:, m]])
    has_condition = np.isfinite(rules.widths[:, m])
    labels = np.arange(rules.n_rules) if rules.sets is None else rules.sets[:, m]
    _, first, place = np.unique(labels[has_condition], return_index=True, return_inverse=True)
    number = np.zeros(rules.n_rules, dtype=np.intp)
    number[has_condition] = place + 1
    return number, pairs[has_condition][first]


def _find_span(rules: RuleBase, profile: Profile | None, m: int) -> tuple[float, float]:
    """Return the range of an input: that of the data, or else three widths around the centers."""
    if profile is not None:
        return _widen(*profile.span(m))
    has_condition = np.isfinite(rules.widths[:, m])
    centers, widths = rules.centers[has_condition, m], rules.widths[has_condition, m]
    if not len(centers):
        return 0.0, 1.0
    return _widen(float((centers - 3 * widths).min()), float((centers + 3 * widths).max()))


def _find_output_span(rules: RuleBase, profile: Profile | None, k: int) -> tuple[float, float]:
    """Return the range of an output: that of the targets, or else of the rules' values at their own centers."""
    if profile is not None and rules.link == "identity":
        low, high = profile.output_quantiles[[0, -1], k]
    else:
        weights = rules.consequents[:, k]
        values = weights[:, 0] + (weights[:, 1:] * rules.centers).sum(axis=1)
        low, high = values.min(), values.max()
    return _widen(float(low), float(high))


def _widen(low: float, high: float) -> tuple[float, float]:
    """Return a range that is not empty, as Matlab requires."""
    return (low, high) if low < high else (low - max(1.0, abs(low)), high + max(1.0, abs(high)))


def _write_comment(source: OpenModel, names: Sequence[str]) -> str:
    lines = [f"Takagi-Sugeno-Kang rules written by takagi {version('takagi')}."]
    n_parts = len(source.model.parts)
    if n_parts > 1:
        lines.append(f"The model is a sum of {n_parts} rule bases; a rule here joins one rule of each.")
    lines += _explain_link(source)
    if source.has_table:
        lines.append("Inputs are the columns of a table after its encoding:")
        lines += [f"  column {one.name}: {_explain_column(source, c)}" for c, one in enumerate(source.columns)]
    lines += [
        f"  input {name} is {feature}"
        for name, feature in zip(names, name_features(source.model), strict=True)
        if name != feature
    ]
    lines += _explain_missing(source, names)
    if source.model.limits is not None:
        lines.append("The rules clip inputs at limits, which this format cannot express; clip them before use:")
        pairs = zip(names, source.model.limits.tolist(), strict=True)
        lines += [
            f"  input {name}: {low!r} to {high!r}" for name, (low, high) in pairs if np.isfinite([low, high]).any()
        ]
    return "".join(f"% {' '.join(make_comment_safe(line).splitlines())}\n" for line in lines)


def _explain_link(source: OpenModel) -> list[str]:
    """Return a comment about the outputs of rules for classes."""
    if source.model.link == "identity":
        return []
    names = list_predicted(source)
    if source.model.link == "logit":
        return [f"The output is log-odds; the probability of {names[-1]} is 1 / (1 + exp(-output))."]
    return ["Outputs are scores of classes; the probability of a class is exp(its output) / sum(exp(outputs)):"] + [
        f"  output {k} is for {name}" for k, name in enumerate(names, 1)
    ]


def _explain_missing(source: OpenModel, names: Sequence[str]) -> list[str]:
    """Return a comment about inputs that must not be missing: Sugeno systems cannot handle missing values."""
    usual = source.model.first.usual
    if usual is None:
        return []
    listed = ", ".join(name for name, known in zip(names, ~np.isnan(usual[0]), strict=True) if known)
    return [f"The rules allow missing values of {listed}, which this format cannot express: give every input."]


def _explain_column(source: OpenModel, c: int) -> str:
    column = source.columns[c]
    if column.kind == "category":
        return f"a category, for each of its {len(column.levels)} levels an input that is 1 for it and 0 otherwise"
    marked = f"; an input {column.name}=missing is then 1, otherwise 0" if column.has_missing else ""
    fill = find_fill(source, c) if column.inputs else None
    missing = "it must not be missing" if fill is None else f"give {fill!r} where missing{marked}"
    return f"a {column.kind}{', 0 or 1' * (column.kind == 'boolean')}; {missing}"


def _write_variable(section: str, prefix: str, variable: Variable) -> str:
    lines = [
        f"[{section}]",
        f"Name='{variable.name}'",
        f"Range={_write_numbers(variable.span)}",
        f"NumMFs={len(variable.functions)}",
        *(f"MF{i}='{prefix}{i}':'{kind}',{_write_numbers(p)}" for i, (kind, p) in enumerate(variable.functions, 1)),
    ]
    return "\n".join(lines) + "\n"


def _write_numbers(values: Iterable[float]) -> str:
    return f"[{' '.join(repr(float(value)) for value in values)}]"


def _write_rule(numbers: IntArray, r: int, n_outputs: int) -> str:
    outputs = " ".join([str(r + 1)] * n_outputs)
    return f"{' '.join(map(str, numbers))}, {outputs} (1) : 1\n"
