"""Rules as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from takagi._typing import FloatArray

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase

_LINE = 80


def format_number(value: float) -> str:
    """Write a number with four significant digits, no trailing zeros and no minus zero."""
    text = f"{value:.4g}"
    return "0" if float(text) == 0 else text


def input_names(rules: "RuleBase", projection: FloatArray | None, prefix: str) -> list[str]:
    """Name the inputs of conditions or consequents: projections, then features."""
    features = rules.feature_names or tuple(f"x{m}" for m in range(rules.n_features))
    return [f"{prefix}{j}" for j in range(0 if projection is None else projection.shape[1])] + list(features)


def _output_names(rules: "RuleBase") -> tuple[str, ...]:
    return rules.output_names or (("y",) if rules.n_outputs == 1 else tuple(f"y{o}" for o in range(rules.n_outputs)))


def _formula(weights: FloatArray, names: Sequence[str]) -> list[str]:
    """Return the terms of a linear formula, each with its sign; a zero weight is left out."""
    terms = [(weights[0], "")] + [(w, f" {name}") for w, name in zip(weights[1:], names, strict=True)]
    shown = [(w, name) for w, name in terms if format_number(w) != "0"] or [(0.0, "")]
    first, *rest = shown
    words = [f"{'-' if w < 0 else '+'} {format_number(abs(w))}{name}" for w, name in rest]
    return [f"{format_number(first[0])}{first[1]}", *words]


def _wrap(head: str, words: Sequence[str], indent: str) -> str:
    """Join words to lines of at most 80 characters, a word whole on one line."""
    lines = [head]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > _LINE and lines[-1].strip():
            lines.append(indent)
        lines[-1] += (" " if not lines[-1].endswith(" ") and lines[-1] else "") + word
    return "\n".join(lines)


def describe_rule(rules: "RuleBase", r: int) -> str:
    pad = " " * len(f"Rule {r + 1}: ")
    names = input_names(rules, rules.antecedent_projection, "p")
    conditions = [
        f"{name} is about {format_number(c)} +- {format_number(s)}"
        for name, c, s in zip(names, rules.centers[r], rules.widths[r], strict=True)
    ]
    words = [conditions[0], *(f"and {condition}" for condition in conditions[1:])]
    text = [_wrap(f"Rule {r + 1}: IF", words, pad + "   ")]
    slopes = input_names(rules, rules.consequent_projection, "p" if rules.tied_projection else "q")
    for name, weights in zip(_output_names(rules), rules.consequents[r], strict=True):
        text.append(_wrap(f"{pad}THEN {name} =", _formula(weights, slopes), pad + "     "))
    return "\n".join(text)


def describe_projections(rules: "RuleBase") -> list[str]:
    features = input_names(rules, None, "")
    described = [("p", rules.antecedent_projection)]
    if not rules.tied_projection:
        described.append(("q", rules.consequent_projection))
    return [
        _wrap(f"where {prefix}{j} =", _formula(projection[:, j], features), " " * 6)
        for prefix, projection in described
        if projection is not None
        for j in range(projection.shape[1])
    ]
