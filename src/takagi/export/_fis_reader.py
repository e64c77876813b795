"""Reader of Sugeno systems of Matlab and Octave."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from takagi._files import open_regular
from takagi._typing import FloatArray, IntArray
from takagi.rulebase import RuleBase

_LONGEST_MESSAGE = 300
_MAX_BYTES = 100_000_000
_MAX_NUMBER = 2**31  # of a membership function
_FUNCTION = re.compile(r"""(['"])(?P<name>.*)\1\s*:\s*(['"])(?P<kind>\w*)\3\s*,\s*\[(?P<numbers>[^\]]*)\]""")
_RULE = re.compile(r"(?P<inputs>[^,]*),(?P<outputs>[^(]*)\((?P<weight>[^)]*)\)\s*:\s*(?P<connective>\d+)")


class Line(NamedTuple):
    """The text of one line, and its number."""

    text: str
    number: int
    path: Path

    def error(self, message: str) -> ValueError:
        """Return an error that names the line; a long line is quoted only in part."""
        return ValueError(f"{self.path}, line {self.number}: {message[:_LONGEST_MESSAGE]}")


class Section(NamedTuple):
    """A part of the file: its head, ``key = value`` lines by key, and all its lines."""

    head: Line
    values: dict[str, Line]
    lines: list[Line]


class FisFunction(NamedTuple):
    """A membership function."""

    kind: str
    numbers: FloatArray
    line: Line


class Rule(NamedTuple):
    """A rule by the numbers of its membership functions."""

    inputs: IntArray
    outputs: IntArray
    weight: float
    line: Line


def read_fis(path: str | Path) -> RuleBase:
    """Read a Sugeno fuzzy inference system of Matlab or Octave.

    Gaussian membership functions (``gaussmf``), ``linear`` and ``constant`` outputs, and rules whose conditions are all
    joined by "and" as a product, with ``wtaver`` defuzzification, become a `RuleBase`. Its ``predict`` gives the result
    of ``evalfis``, even where that underflows. Anything else is an error that names the line.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    RuleBase
        The rules; if several of them use one membership function, they share that set.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from takagi import RuleBase
    >>> from takagi.export import read_fis, to_fis
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = to_fis(rules, pathlib.Path(folder) / "rules.fis")
    ...     print(read_fis(pathlib.Path(folder) / "rules.fis").predict([[2.0]]))
    [2.]
    """
    sections = _split_sections(Path(path))
    system = _find_section(sections, "system", Path(path))
    _check_type(system)
    inputs = _read_variables(sections, "input", system)
    outputs = _read_variables(sections, "output", system)
    section = _find_section(sections, "rules", Path(path))
    rules = [_read_rule(line, len(inputs), len(outputs)) for line in section.lines]
    _check_system(system, rules)
    rules = _apply_weights(rules, section)
    number = np.array([rule.inputs for rule in rules])
    sets = [_pick_sets(rules, functions, m) for m, (_, functions) in enumerate(inputs)]
    weights = [_pick_weights(rules, functions, k, len(inputs)) for k, (_, functions) in enumerate(outputs)]
    return RuleBase(
        centers=np.column_stack([centers for centers, _ in sets]),
        widths=np.column_stack([widths for _, widths in sets]),
        consequents=np.stack(weights, axis=1),
        sets=_label_sets(number),
        feature_names=tuple(name for name, _ in inputs),
        output_names=tuple(name for name, _ in outputs),
    )


# -- lines and sections ------------------------------------------------------------------------------------------------


def _split_sections(path: Path) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    section = None
    for number, raw in enumerate(_read_text(path).splitlines(), 1):
        line = Line(_remove_comment(raw).strip(), number, path)
        if not line.text:
            continue
        if line.text.startswith("["):
            name = re.sub(r"\s", "", line.text).strip("[]").lower()
            if name in sections:
                raise line.error(f"section {line.text} comes twice.")
            section = sections[name] = Section(line, {}, [])
        elif section is None:
            raise line.error(f"expected [System], got {line.text[:60]!r}. Is this a .fis file?")
        else:
            section.lines.append(line)
            key, equals, value = line.text.partition("=")
            if equals:
                section.values[key.strip().lower()] = line._replace(text=value.strip())
    return sections


def _remove_comment(line: str) -> str:
    """Return a line without its comment, which begins at its start or after the last quotation mark or bracket."""
    if line.lstrip().startswith(("%", "#")):
        return ""
    start = 1 + max(line.rfind(mark) for mark in "'\"]")
    return line[:start] + re.split("[%#]", line[start:], maxsplit=1)[0]


def _read_text(path: Path) -> str:
    with open_regular(path) as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{path} is larger than {_MAX_BYTES:,} bytes. Is this a .fis file?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _find_section(sections: dict[str, Section], name: str, path: Path) -> Section:
    if name not in sections:
        raise ValueError(f"{path} has no section [{name.capitalize()}]. Is this a .fis file?")
    return sections[name]


def _find_value(section: Section, key: str) -> Line:
    if key.lower() not in section.values:
        raise section.head.error(f"{section.head.text} has no {key}.")
    return section.values[key.lower()]


def _read_count(section: Section, key: str) -> int:
    line = _find_value(section, key)
    if not line.text.isdecimal() or len(line.text) > 9:
        raise line.error(f"{key} must be a whole number, got {line.text!r}.")
    return int(line.text)


def _read_word(section: Section, key: str) -> Line:
    line = _find_value(section, key)
    return line._replace(text=line.text.strip("'\"").strip())


def _read_numbers(text: str, line: Line) -> FloatArray:
    words = text.replace(",", " ").split()
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError:
        raise line.error(f"expected numbers, got {text.strip()!r}.") from None
    if not np.isfinite(numbers).all():
        raise line.error(f"expected finite numbers, got {text.strip()!r}.")
    return numbers


# -- inputs, outputs, rules --------------------------------------------------------------------------------------------


def _check_type(system: Section) -> None:
    kind = _read_word(system, "Type")
    if kind.text.lower() != "sugeno":
        raise kind.error(f"only Sugeno systems can be read, got Type={kind.text!r}.")


def _check_system(system: Section, rules: list[Rule]) -> None:
    """Raise an error if the system combines rules in another way than takagi does."""
    method = _read_word(system, "DefuzzMethod")
    if method.text != "wtaver":
        raise method.error(f"DefuzzMethod must be 'wtaver', got {method.text!r}.")
    method = _read_word(system, "AndMethod")
    if method.text != "prod" and any((rule.inputs != 0).sum() > 1 for rule in rules):
        raise method.error(f"AndMethod must be 'prod', got {method.text!r}.")
    count = _read_count(system, "NumRules")
    if count != len(rules) or not count:
        raise system.values["numrules"].error(f"NumRules is {count}, but there are {len(rules)} rules.")


def _read_variables(sections: dict[str, Section], kind: str, system: Section) -> list[tuple[str, list[FisFunction]]]:
    """Return the names and membership functions of all inputs or outputs."""
    count = _read_count(system, f"Num{kind.capitalize()}s")
    if not count:
        raise system.values[f"num{kind}s"].error(f"the system has no {kind}s.")
    found = [_find_section(sections, f"{kind}{i + 1}", system.head.path) for i in range(count)]
    return [(_read_word(section, "Name").text, _read_functions(section)) for section in found]


def _read_functions(section: Section) -> list[FisFunction]:
    functions = []
    for i in range(_read_count(section, "NumMFs")):
        line = _find_value(section, f"MF{i + 1}")
        match = _FUNCTION.fullmatch(line.text)
        if match is None:
            raise line.error(f"expected a membership function such as 'low':'gaussmf',[1.5 0], got {line.text!r}.")
        functions.append(FisFunction(match["kind"], _read_numbers(match["numbers"], line), line))
    return functions


def _read_rule(line: Line, n_inputs: int, n_outputs: int) -> Rule:
    match = _RULE.fullmatch(line.text)
    if match is None:
        raise line.error(f"expected a rule such as '1 2, 1 (1) : 1', got {line.text!r}.")
    parts = [_read_numbers(match[name], line) for name in ("inputs", "outputs", "weight")]
    for what, numbers, count in zip(("inputs", "outputs", "weights"), parts, (n_inputs, n_outputs, 1), strict=True):
        if len(numbers) != count:
            raise line.error(f"expected {count} {what}, got {len(numbers)}.")
    index = np.concatenate(parts[:2])
    if (index < 0).any():
        raise line.error("a negative number is a condition with NOT, which takagi's rules do not have.")
    if (index != np.floor(index)).any():
        raise line.error("a number with a fraction is a hedge, which takagi's rules do not have.")
    if (index > _MAX_NUMBER).any():
        raise line.error(f"there is no membership function {index.max():g}.")
    if (parts[1] == 0).any():
        raise line.error("the rule leaves an output open; every rule must have a membership function for each.")
    if match["connective"] != "1" and (parts[0] != 0).sum() > 1:
        raise line.error("conditions are joined by OR; takagi's rules join them by AND only.")
    return Rule(parts[0].astype(np.intp), parts[1].astype(np.intp), float(parts[2][0]), line)


def _apply_weights(rules: list[Rule], section: Section) -> list[Rule]:
    """Leave out rules of weight 0. The others must have the same weight, which cancels out."""
    kept = [rule for rule in rules if rule.weight != 0]
    if not kept:
        raise section.head.error("there is no rule with a weight above 0.")
    for rule in kept:
        if rule.weight != kept[0].weight or rule.weight < 0:
            raise rule.line.error(
                f"the rule has the weight {rule.weight:g}; takagi's rules have no weights, so all must be equal."
            )
    return kept


def _pick(functions: list[FisFunction], number: int, rule: Rule) -> FisFunction:
    if number > len(functions):
        raise rule.line.error(f"the rule names membership function {number}, but there are only {len(functions)}.")
    return functions[number - 1]


def _pick_sets(rules: list[Rule], functions: list[FisFunction], m: int) -> tuple[FloatArray, FloatArray]:
    """Return the centers and widths of input m; an infinite width is no condition."""
    centers, widths = np.zeros(len(rules)), np.full(len(rules), np.inf)
    for r, rule in enumerate(rules):
        if rule.inputs[m]:
            function = _pick(functions, rule.inputs[m], rule)
            if function.kind != "gaussmf" or len(function.numbers) != 2 or function.numbers[0] == 0:
                raise function.line.error(
                    f"expected 'gaussmf' with a width other than 0 and a center, got {function.line.text}."
                )
            widths[r], centers[r] = abs(function.numbers[0]), function.numbers[1]
    return centers, widths


def _pick_weights(rules: list[Rule], functions: list[FisFunction], k: int, n_inputs: int) -> FloatArray:
    """Return the consequents of output k, bias first."""
    weights = np.zeros((len(rules), 1 + n_inputs))
    for r, rule in enumerate(rules):
        function = _pick(functions, rule.outputs[k], rule)
        expected = {"constant": 1, "linear": 1 + n_inputs}.get(function.kind)
        if len(function.numbers) != expected:
            raise function.line.error(
                f"expected 'linear' with {1 + n_inputs} numbers or 'constant' with 1, got {function.line.text}."
            )
        weights[r, 0], weights[r, 1 : len(function.numbers)] = function.numbers[-1], function.numbers[:-1]
    return weights


def _label_sets(number: IntArray) -> IntArray | None:
    """Return the shared sets of rules; None if no two rules share one."""
    shared = any(np.bincount(column[column > 0]).max(initial=0) > 1 for column in number.T)
    return np.where(number > 0, number - 1, number.max(axis=0)) if shared else None
