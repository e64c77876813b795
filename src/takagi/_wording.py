"""Rules as text: their conditions and formulas."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from takagi._conditions import (
    Condition,
    excludes_nothing,
    find_interval,
    find_middle_place,
    format_limit,
    group_inputs,
    is_yes_or_no,
    name_features,
    name_sets,
    read_conditions,
)
from takagi._listing import list_values
from takagi._text import format_number, format_share, format_to_step, join_terms, shorten, step_below, wrap
from takagi._typing import FloatArray
from takagi.profile import LEVELS, Profile

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase
    from takagi.rulemodel import RuleModel
    from takagi.tables import Column

_FORMULAS = {"identity": "", "logit": "log-odds of ", "softmax": "score of "}  # what an output is, by the link
_MOST_CLASSES = 3  # whose shares are written beside a rule
_MOST_OUTSIDE = 1 / 3  # of the conditions, whose center may lie outside the data
_MOST_WILD = 0.1  # of the data, for which formulas may leave the target's range, by more than the same part of it
_LEAST_REST = 0.005  # of the data, for which no rule's conditions hold, that is worth a line
_ROUNDING = 0.01  # the part of the target's spread that the rounding of a whole formula may cost


class Reading(NamedTuple):
    """A rule as text; a formula is a list of terms for each output."""

    part: int
    number: int
    share: float | None
    conditions: tuple[Condition, ...]
    formulas: tuple[tuple[str, ...], ...]
    spreads: tuple[str, ...] = ()  # standard deviation of the error of each output where the rule governs, if known
    classes: str = ""  # class frequencies among the rows that it governs, if known


def read_model(
    parts: "Sequence[RuleBase]",
    profiles: Sequence[Profile | None] | None = None,
    columns: "Sequence[Column] | None" = None,
    centered: bool = False,
    scales: FloatArray | None = None,
    class_shares: FloatArray | None = None,
) -> list[Reading]:
    """Return the rules of all parts of a model as text, numbered from the main rules on; see `read_rules`.

    Scales come from a calibration; class shares have a row for each rule and a column for each output.
    """
    profiles = [part.profile for part in parts] if profiles is None else profiles
    spreads = None if scales is None else [tuple(map(format_spread, row)) for row in scales.tolist()]
    names = name_outputs(parts[0])
    readings: list[Reading] = []
    for k, (part, profile) in enumerate(zip(parts, profiles, strict=True)):
        before = sum(other.n_rules for other in parts[:k])
        readings += [
            reading._replace(
                part=k,
                number=before + reading.number,
                spreads=() if spreads is None else spreads[before + reading.number - 1],
                classes="" if class_shares is None else _list_classes(class_shares[before + reading.number - 1], names),
            )
            for reading in read_rules(part, profile, columns, centered)
        ]
    return readings


def read_rules(
    rules: "RuleBase",
    profile: Profile | None = None,
    columns: "Sequence[Column] | None" = None,
    centered: bool = False,
) -> list[Reading]:
    """Return the rules of one part as text, sorted by share.

    The profile determines shares, words, digits, and which conditions exclude nothing; the columns of a table join the
    inputs of one column. Without them the rules are written unchanged, in their order. Centered formulas have terms
    such as "5.9 (RM - 6.3)", around the means of the profile.
    """
    order = range(rules.n_rules) if profile is None else np.argsort(-profile.share, kind="stable")
    names = name_terms(rules, columns)
    middles = _find_middles(rules, profile, columns) if centered else np.zeros(len(names))
    names = [_center_name(name, middle) for name, middle in zip(names, middles, strict=True)]
    consequents = merge_levels(rules.consequents, rules, columns)
    consequents[:, :, 0] += consequents[:, :, 1:] @ middles
    steps = [_digit_steps(rules, profile, middles, k) for k in range(rules.n_outputs)]
    words = name_sets(rules, profile)
    return [
        Reading(
            part=0,
            number=int(r) + 1,
            share=None if profile is None else float(profile.share[r]),
            conditions=tuple(read_conditions(rules, int(r), words[r], profile, columns)),
            formulas=tuple(
                tuple(join_terms(_write_weights(weights, step), names))
                for weights, step in zip(consequents[r], steps, strict=True)
            ),
        )
        for r in order
    ]


def describe_rules(rules: "RuleBase", profile: Profile | None = None, columns: "Sequence[Column] | None" = None) -> str:
    """Write rules as text of at most 80 columns."""
    return _describe_parts([rules], read_model([rules], [profile], columns))


def describe_model(
    model: "RuleBase | RuleModel",
    columns: "Sequence[Column] | None" = None,
    centered: bool = False,
    class_shares: FloatArray | None = None,
) -> str:
    """Write the rules of all parts as text of at most 80 columns; outputs of adjustments are added.

    Class shares are those of `read_model`. A last line says if the rules make sense only together; see `find_doubt`.
    """
    calibration = getattr(model, "calibration", None)  # a rule base has none
    scales = None if calibration is None else calibration.scale
    readings = read_model(model.parts, None, columns, centered, scales, class_shares)
    text = _describe_parts(model.parts, readings)
    doubt = find_doubt(model.parts, columns)
    if not doubt:
        return text
    note = f"These rules make sense only together: {doubt}."
    if any(part.intervals is None for part in model.parts):
        estimator = "TSKRegressor" if model.parts[0].link == "identity" else "TSKClassifier"
        note += f' For rules that can be read one by one, fit {estimator}(recipe="short").'
    return f"{text}\n{wrap('Note:', note.split(' '), ' ' * 6)}"


def _describe_parts(parts: "Sequence[RuleBase]", readings: Sequence[Reading]) -> str:
    outputs = [shorten(name) for name in name_formulas(parts[0].link, name_outputs(parts[0]))]
    lines = []
    for k, part in enumerate(parts):
        lines += [name_part(k, len(parts))] if len(parts) > 1 else []
        here = [reading for reading in readings if reading.part == k]
        lines += list_values(part, here, outputs) or [_describe(reading, outputs) for reading in here]
        rest = describe_rest(part)
        lines += [rest] if rest else []
    return "\n".join([*lines, *(line for part in parts for line in describe_projections(part))])


def name_part(part: int, n_parts: int) -> str:
    """Return the heading of a part of a model."""
    if part == 0:
        return "Main rules"
    return "Adjustment" if n_parts == 2 else f"Adjustment {part}"


def describe_rest(rules: "RuleBase") -> str:
    """Say which part of the data the conditions of no rule hold for; nothing if that is less than half a percent."""
    part = None if rules.profile is None else rules.profile.uncovered
    if part is None or part < _LEAST_REST:
        return ""
    return f"No rule's conditions hold for {format_share(part)} of the data: the nearest rule governs there."


def _describe(reading: Reading, outputs: Sequence[str]) -> str:
    about = [f"{format_share(reading.share)} of the data"] if reading.share is not None else []
    about += [reading.classes] if reading.classes else []
    share = wrap(f"Rule {reading.number}", f"({'; '.join(about)})".split(" ") if about else [], " " * 5)
    first, *rest = [condition.text for condition in reading.conditions] or ["anything"]
    lines = [share, wrap("  IF", [first, *(f"and {text}" for text in rest)], " " * 5)]
    spreads = reading.spreads or [""] * len(outputs)
    for name, terms, spread in zip(outputs, reading.formulas, spreads, strict=True):
        head = f"  THEN {name} =" if reading.part == 0 else f"  ADD to {name}:"
        lines.append(wrap(head, [*terms, f"+- {spread}"] if spread else terms, " " * 7))
    return "\n".join(lines)


def format_spread(spread: float) -> str:
    """Write a standard deviation with two digits.

    >>> format_spread(12.34), format_spread(0.0), format_spread(98765.0)
    ('12', '0', '99000')
    """
    return format_to_step(spread, step_below(spread) / 10) if spread > 0 else "0"


def describe_projections(rules: "RuleBase") -> list[str]:
    """Write the projections as linear combinations."""
    features = [shorten(name) for name in name_features(rules)]
    described = [("p", rules.antecedent_projection)]
    if not rules.tied_projection:
        described.append(("q", rules.consequent_projection))
    return [
        wrap(f"where {prefix}{j} =", join_terms([format_number(w) for w in projection[:, j]], features), " " * 6)
        for prefix, projection in described
        if projection is not None
        for j in range(projection.shape[1])
    ]


# -- names -------------------------------------------------------------------------------------------------------------


def name_outputs(rules: "RuleBase | RuleModel") -> tuple[str, ...]:
    """Return the outputs' names; y, or y0, y1, ... if they have none."""
    return rules.output_names or (("y",) if rules.n_outputs == 1 else tuple(f"y{o}" for o in range(rules.n_outputs)))


def name_formulas(link: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the values of formulas: the outputs, or log-odds or scores of classes.

    >>> name_formulas("identity", ["price"]), name_formulas("logit", ["malignant"])
    (('price',), ('log-odds of malignant',))
    """
    return tuple(f"{_FORMULAS[link]}{name}" for name in names)


def _list_classes(shares: FloatArray, names: Sequence[str]) -> str:
    """Write the class frequencies among a rule's rows, or only the most frequent ones of many."""
    first, *others = np.argsort(-shares, kind="stable")[:_MOST_CLASSES].tolist()
    written = [f"{format_share(shares[first])} of these are {shorten(names[first])}"]
    return ", ".join(
        [*written, *(f"{format_share(shares[k])} {shorten(names[k])}" for k in others if shares[k] > 0.005)]
    )


def name_terms(rules: "RuleBase", columns: "Sequence[Column] | None") -> list[str]:
    """Name the inputs of the consequents: projections, features, then bends."""
    prefix = "p" if rules.tied_projection else "q"
    projected = [] if rules.consequent_projection is None else range(rules.consequent_projection.shape[1])
    slopes = name_slopes(rules, columns)
    bends = [bend.name(slopes[bend.feature]) for bend in rules.bends]
    return [f"{prefix}{j}" for j in projected] + slopes + bends


def name_slopes(rules: "RuleBase", columns: "Sequence[Column] | None") -> list[str]:
    """Name the features in a formula; 0/1 features are in brackets."""
    if columns is None:
        return [shorten(name) for name in name_features(rules)]
    return [name for column in columns for name in _name_inputs(column)]


def _name_inputs(column: "Column") -> list[str]:
    name = shorten(column.name)
    if column.kind == "category":
        return [f"[{name} is {shorten(level)}]" for level in column.levels]
    first = f"[{name}]" if column.kind == "boolean" else f"mean({name})" if column.reading == "mean" else name
    return [first, f"[{name} is missing]"][: len(column.inputs)]


# -- whether rules make sense by themselves ----------------------------------------------------------------------------


def find_doubt(parts: "Sequence[RuleBase]", columns: "Sequence[Column] | None" = None) -> str:
    """Return why rules make sense only together, judged by their profile; nothing if they make sense one by one.

    There are two reasons. More than a third of the conditions "about c +- s" have their center outside the data, so
    that no row is about c. Or rules that govern more than a tenth of the data have a formula that leaves the target's
    range by more than a tenth of it, for a typical row of the rule. That row has the middle, by rank, of the values
    that its conditions allow, and the mean of the other columns; other parts of a sum add their outputs for it.
    """
    if any(part.profile is None for part in parts):
        return ""
    outside = [is_outside for part in parts for is_outside in _find_outside(part, columns)]
    if sum(outside) > _MOST_OUTSIDE * len(outside):
        return f"{format_share(sum(outside) / len(outside))} of their conditions are centered outside the data"
    wild = max(_measure_wild(parts, k) for k in range(len(parts))) if parts[0].link == "identity" else 0.0
    if wild > _MOST_WILD:
        return f"for {format_share(wild)} of the data, single formulas leave the range of the target"
    return ""


def _find_outside(rules: "RuleBase", columns: "Sequence[Column] | None") -> Iterator[bool]:
    """Yield for each condition "about c +- s" on a column whether its center is outside the data."""
    profile = rules.profile
    if rules.intervals is not None or profile is None:
        return
    for column, inputs in group_inputs(rules, columns):
        for m in map(int, inputs):
            is_level = column is not None and column.kind == "category"
            if is_level or is_yes_or_no(m, profile, column, is_first=m == inputs[0]):
                continue
            low, high = profile.span(m)
            at = slice(None), rules.n_projected + m
            for center, width in zip(rules.centers[at], rules.widths[at], strict=True):
                if not excludes_nothing(center, width, profile, m):
                    yield not low <= center <= high


def _measure_wild(parts: "Sequence[RuleBase]", k: int) -> float:
    """Return the fraction of the data governed by rules of a part whose formula leaves the target's range."""
    rules, profile = parts[k], parts[k].profile
    assert profile is not None
    rows = np.array([_find_typical(rules, r, profile) for r in range(rules.n_rules)])
    with np.errstate(over="ignore", invalid="ignore"):
        outputs = rules.rule_outputs(rows)[np.arange(len(rows)), np.arange(len(rows))]
        for part in (*parts[:k], *parts[k + 1 :]):
            level = part.log_firing(rows)
            firing = np.exp(level - level.max(axis=1, keepdims=True))
            outputs += np.einsum("nr,nro->no", firing / firing.sum(axis=1, keepdims=True), part.rule_outputs(rows))
    low, high = profile.output_quantiles[[0, -1]]
    margin = _MOST_WILD * (high - low)
    is_wild = (outputs < low - margin) | (outputs > high + margin)
    return float(profile.share @ is_wild.any(axis=1))


def _find_typical(rules: "RuleBase", r: int, profile: Profile) -> FloatArray:
    """Return a row that is typical of a rule."""
    row = profile.mean.copy()
    for m in range(rules.n_features):
        interval = find_interval(rules, r, m)
        low, high = profile.span(m)
        if interval[0] > low or interval[1] < high:
            row[m] = np.interp(find_middle_place(profile, m, interval), LEVELS, profile.quantiles[:, m])
    return row


# -- formulas ----------------------------------------------------------------------------------------------------------


def merge_levels(weights: FloatArray, rules: "RuleBase", columns: "Sequence[Column] | None") -> FloatArray:
    """Return weights with one term for a category of two levels, since the second level is 1 minus the first.

    The last axis has the bias and the inputs of the rules' formulas.
    """
    consequents = weights.copy()
    n_projected = 0 if rules.consequent_projection is None else rules.consequent_projection.shape[1]
    for column, inputs in group_inputs(rules, columns):
        if column is not None and column.kind == "category" and len(inputs) == 2 and not column.has_others:
            first, second = 1 + n_projected + inputs
            consequents[..., 0] += consequents[..., first]
            consequents[..., second] -= consequents[..., first]
            consequents[..., first] = 0
    return consequents


def _write_weights(weights: FloatArray, steps: FloatArray | None) -> list[str]:
    if steps is None:
        return [format_number(w) for w in weights]
    return ["0" if np.isinf(step) else format_to_step(w, step) for w, step in zip(weights, steps, strict=True)]


def _digit_steps(rules: "RuleBase", profile: Profile | None, middles: FloatArray, k: int) -> FloatArray | None:
    """Return the decimal place for rounding each weight of an output, with errors small against the target's spread."""
    if profile is None:
        return None
    ordered = profile.output_quantiles[:, k]
    spread = (ordered[-3] - ordered[2]) or (ordered[-1] - ordered[0])
    if not spread > 0:
        return None
    ends = profile.quantiles[[0, -1]]
    reach = np.abs(ends).max(axis=0)
    n_projected = 0 if rules.consequent_projection is None else rules.consequent_projection.shape[1]
    if rules.consequent_projection is not None:
        reach = np.r_[np.abs(rules.consequent_projection).T @ np.r_[1.0, reach], reach]
    slopes = slice(n_projected, n_projected + rules.n_features)
    reach[slopes] = np.abs(ends - middles[slopes]).max(axis=0)
    bent = [np.abs(bend.evaluate(ends[:, bend.feature])).max() for bend in rules.bends]
    reach = np.r_[1.0, reach, bent]
    with np.errstate(divide="ignore"):
        allowed = 2 * _ROUNDING * spread / np.sqrt(len(reach)) / reach
    return np.array([step_below(size) if np.isfinite(size) else np.inf for size in allowed])


def _find_middles(rules: "RuleBase", profile: Profile | None, columns: "Sequence[Column] | None") -> FloatArray:
    """Return what is subtracted from each term of a centered formula, 0 for terms other than numbers.

    It is the mean of a column, rounded to about a tenth of its spread.
    """
    if profile is None:
        raise ValueError(
            "centered formulas need the column means, but these rules have no summary of the training data; give X."
        )
    n_projected = 0 if rules.consequent_projection is None else rules.consequent_projection.shape[1]
    middles = np.zeros(rules.consequents.shape[2] - 1)
    for column, inputs in group_inputs(rules, columns):
        for m in map(int, inputs):
            is_level = column is not None and column.kind == "category"
            if is_level or is_yes_or_no(m, profile, column, is_first=m == inputs[0]):
                continue
            ordered = profile.quantiles[:, m]
            spread = (ordered[-3] - ordered[2]) or (ordered[-1] - ordered[0])
            if spread > 0:
                middles[n_projected + m] = float(format_to_step(profile.mean[m], step_below(spread) / 10))
    return middles


def _center_name(name: str, middle: float) -> str:
    if middle == 0:
        return name
    return f"({name} {'-' if middle > 0 else '+'} {format_limit(abs(middle))})"
