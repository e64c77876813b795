"""Checks whether rules are true one by one: how they hold, govern and predict by themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from takagi._messages import need_extra
from takagi._model import OpenModel, open_model
from takagi._notebook import ShowsText
from takagi._text import count, format_number, format_share, wrap
from takagi._typing import BoolArray, FloatArray, IntArray, Table
from takagi._wording import name_outputs, name_part
from takagi.inspection._held import list_conditions
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.training import LogLoss

_BLOCK_ROWS = 10_000  # whose firing shares are in memory together
_MARGIN = 0.1  # fraction of the target's range by which a formula may leave it


class RuleTruth(NamedTuple):
    """How true one rule is by itself.

    Parameters
    ----------
    part, rule : int
        Its part of the model, and its number; parts count from 1, rules are numbered through all parts.
    share : float
        The fraction of the rows that it governs: those where no rule of its part has a larger firing share.
    holds : float
        Of the rows that it governs, the fraction that satisfies all of its conditions.
    governs : float
        Of the rows that satisfy all of its conditions, the fraction that it governs.
    own_error, model_error : float
        Root mean square errors, or log losses for classes, over the rows that it governs: of the model with the rule's
        own output instead of the mean of its part, and of the model.
    lowest, highest : tuple of float
        The smallest and the largest value of its formula over the rows that it governs, for each output; for classes,
        log-odds or scores.
    is_inside : bool
        Whether the centers of all of its conditions lie in the training range of their columns.
    stays : bool
        Whether, with its own output instead of the mean of its part, all rows that it governs get an output within the
        target's range, or at most a tenth of that range beyond; always true for probabilities.
    """

    part: int
    rule: int
    share: float
    holds: float
    governs: float
    own_error: float
    model_error: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    is_inside: bool
    stays: bool


@dataclass(frozen=True)
class RuleCheck(ShowsText):
    """Whether rules are true one by one; what `check_rules` returns.

    Parameters
    ----------
    rules : tuple of RuleTruth
        What was found for each rule, in the order of their numbers.
    summary : dict
        Figures of all rules together, as floats:

        - "error", "strongest": root mean square errors in the target's units, or log losses for classes, of the model
          and of the strongest rule alone, which is the one with the largest firing share. In a sum of parts, the
          strongest rules of all parts are added up.
        - "outside": the fraction of the conditions whose center lies outside the training range of the column.
          Conditions on categories and booleans are never outside.
        - "wild": the fraction of the rows for which the strongest rule's formula leaves the target's range by more than
          a tenth of that range; 0 for classes.
        - "holds": of the rows that a rule governs, the fraction that satisfies all of its conditions.
        - "governs": of the rows that satisfy all conditions of a rule, the fraction that it governs; NaN if there are
          none.
    output_names : tuple of str
        Outputs of the model.
    is_classifier : bool, default=False
        Whether errors are log losses.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.inspection import check_rules
    >>> rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]], feature_names=["speed"])
    >>> check = check_rules(rules, [[0.0], [1.0], [4.0], [10.0]], [0.0, 1.0, 3.0, 5.0])
    >>> check.rules[0].holds, check.rules[0].highest
    (0.6666666666666666, (4.0,))
    >>> check.to_frame()[["rule", "share", "holds", "governs"]].round(2).to_numpy().tolist()
    [[1.0, 0.75, 0.67, 1.0], [2.0, 0.25, 1.0, 1.0]]
    """

    rules: tuple[RuleTruth, ...]
    summary: dict[str, float]
    output_names: tuple[str, ...]
    is_classifier: bool = False

    def to_frame(self) -> Any:
        """Return what was found for each rule as a data frame.

        Returns
        -------
        pandas.DataFrame
            With the fields of `RuleTruth` as columns; "lowest NAME" and "highest NAME" for each of several outputs.
        """
        names = [""] if len(self.output_names) == 1 else [f" {name}" for name in self.output_names]
        rows = []
        for rule in self.rules:
            row = rule._asdict()
            lowest, highest, *flags = (row.pop(name) for name in ("lowest", "highest", "is_inside", "stays"))
            row |= {f"lowest{name}": low for name, low in zip(names, lowest, strict=True)}
            row |= {f"highest{name}": high for name, high in zip(names, highest, strict=True)}
            rows.append(row | dict(zip(("is_inside", "stays"), flags, strict=True)))
        return need_extra("pandas", "report").DataFrame(rows)

    def __str__(self) -> str:
        return "\n".join([*self._list_rules(), "", wrap("", self.describe().split(" "), "")])

    def __repr__(self) -> str:
        return f"RuleCheck(n_rules={len(self.rules)}, summary={self.summary})"

    def _list_rules(self) -> list[str]:
        """Return a line for each rule that governs rows, below the headings and the name of its part."""
        is_single, n_parts = len(self.output_names) == 1, self.rules[-1].part
        headings = ["rule", "rows", "holds", "governs", "own loss" if self.is_classifier else "own error", "model's"]
        headings += ["lowest", "highest", "beyond"] if is_single else ["beyond"]
        table = self._write_cells(is_single)
        widths = [max(map(len, cells)) for cells in zip(headings, *table, strict=True)]
        gap = "  " if sum(widths) + 2 * len(widths) <= 80 else " "
        write = lambda cells: gap.join(map(str.rjust, cells, widths)).rstrip()  # noqa: E731
        lines = [write(headings)]
        for part in range(1, n_parts + 1):
            lines += [name_part(part - 1, n_parts)] if n_parts > 1 else []
            rules = [(rule, cells) for rule, cells in zip(self.rules, table, strict=True) if rule.part == part]
            lines += [write(cells) for rule, cells in rules if rule.share > 0]
            n_idle = sum(rule.share == 0 for rule, _ in rules)
            lines += [f"{count(n_idle, 'more rule')} govern{'s' * (n_idle == 1)} no row."] if n_idle else []
        return lines

    def _write_cells(self, is_single: bool) -> list[list[str]]:
        error = self.summary["error"]
        reach = np.nan_to_num([(*rule.lowest, *rule.highest) for rule in self.rules])
        table = []
        for rule in self.rules:
            rates = ["-" if np.isnan(rate) else format_share(rate) for rate in (rule.share, rule.holds, rule.governs)]
            numbers = [_write(value, error) for value in (rule.own_error, rule.model_error)]
            if is_single:
                numbers += [_write(value, np.abs(reach).max()) for value in (*rule.lowest, *rule.highest)]
            table.append([str(rule.rule), *rates, *numbers, _write_beyond(rule)])
        return table

    def describe(self) -> str:
        """Return the summary as sentences."""
        error, strongest, outside, wild, holds, governs = self.summary.values()
        who = "the strongest rule" if self.rules[-1].part == 1 else "the strongest rule of each part"
        owned = "no row satisfies all conditions of a rule"
        if not np.isnan(governs):
            owned = f"of the rows that satisfy them, it governs {format_share(governs)}"
        loss = "log loss" if self.is_classifier else "error"
        wild_part = f", and for {format_share(wild)} of the rows {who} alone leaves the range of the target"
        return (
            f"The model's {loss} is {_write(error, 0)}, that of {who} alone {_write(strongest, error)}. "
            f"Of the rows that a rule governs, {format_share(holds)} satisfy all of its conditions; {owned}. "
            f"{format_share(outside)} of the conditions have their center outside the data"
            f"{'' if self.is_classifier else wild_part}."
        )


def check_rules(model: Any, X: Table, y: Table) -> RuleCheck:
    """Measure whether rules are true one by one.

    A reader takes a rule as a statement: where its conditions hold, its formula gives the prediction. That is true only
    if each rule governs the rows that its conditions describe, and if its own formula predicts them well. Rules may
    predict very well together and still mean nothing one by one.

    A condition holds where its text says so: within its interval ("age below 30"), for its levels ("fuel is diesel"),
    or, for "about 28 +- 17", where its membership is at least one half, that is, up to 1.18 widths from its center.
    Conditions count if they exclude something: one of the rows, or an end of the training range.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model; not a committee, whose members can be checked one by one.
    X : array or data frame of shape (n_rows, n_columns)
        Data, best not those of training.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of classes.

    Returns
    -------
    RuleCheck
        Its text has a line for each rule that governs rows, and the summary; "beyond" says what is out of range: a
        center of the rule, an output, or both. Ranges are those of the training rows, or of X and y if these are not
        known. With several outputs, errors and "wild" are means of those of each output.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.inspection import check_rules
    >>> rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]], feature_names=["speed"])
    >>> X, y = [[0.0], [1.0], [4.0], [10.0]], [0.0, 1.0, 3.0, 5.0]
    >>> print(check_rules(rules, X, y))
    rule  rows  holds  governs  own error  model's  lowest  highest  beyond
       1  75 %   67 %    100 %      0.577    0.621       0        4
       2  25 %  100 %    100 %          0        0       5        5
    <BLANKLINE>
    The model's error is 0.538, that of the strongest rule alone 0.5. Of the rows
    that a rule governs, 75 % satisfy all of its conditions; of the rows that
    satisfy them, it governs 100 %. 0 % of the conditions have their center outside
    the data, and for 0 % of the rows the strongest rule alone leaves the range of
    the target.
    """
    opened = open_model(model)
    rows = opened.model.hold_rows(opened.encode(X))
    target = opened.read_targets(y, len(rows))
    whole = _Whole(opened.model, rows, target)
    parts = [_Part(opened, k, whole) for k in range(len(opened.model.parts))]
    strongest = np.sum([part.strongest for part in parts], axis=0)
    n_governed = len(rows) * len(parts)
    n_satisfied = sum(int(part.satisfied.sum()) for part in parts)
    n_both = sum(int(part.agreed.sum()) for part in parts)
    outside = [is_outside for part in parts for rule in part.outside for is_outside in rule]
    summary = {
        "error": whole.error(whole.raw),
        "strongest": whole.error(strongest),
        "outside": float(np.mean(outside)) if outside else 0.0,
        "wild": float(whole.leaves_range(strongest).mean()),
        "holds": n_both / n_governed,
        "governs": n_both / n_satisfied if n_satisfied else float("nan"),
    }
    truths = tuple(truth for part in parts for truth in part.describe_rules())
    return RuleCheck(truths, summary, name_outputs(opened.model), is_classifier=opened.model.link != "identity")


class _Whole:
    """A model on rows with targets: its outputs before the link, errors, and whether predictions stay in range."""

    def __init__(self, model: RuleModel, rows: FloatArray, target: FloatArray) -> None:
        self.rows, self.target, self.link = rows, target, model.link
        self.raw = model.predict_raw(rows)
        ranged = target if model.profile is None else model.profile.output_quantiles
        self.low, self.high = ranged.min(axis=0), ranged.max(axis=0)

    def error(self, raw: FloatArray, rows: IntArray | slice = slice(None)) -> float:
        """Return the root mean square error over some rows, the mean of the outputs' errors, or their log loss."""
        if self.link != "identity":
            return float(LogLoss().measure_rows(raw, self.target[rows]).mean())
        return float(np.sqrt(((raw - self.target[rows]) ** 2).mean(axis=0)).mean())

    def leaves_range(self, raw: FloatArray) -> BoolArray:
        """Return where predictions leave the target's range by more than a tenth of it; probabilities never do."""
        if self.link != "identity":
            return np.zeros(raw.shape, dtype=bool)
        margin = _MARGIN * (self.high - self.low)
        return (raw < self.low - margin) | (raw > self.high + margin)


class _Part:
    """One part of a model on rows: which rule governs which row, and where the conditions of each hold."""

    def __init__(self, opened: OpenModel, k: int, whole: _Whole) -> None:
        self.number, self.whole = k, whole
        self.rules = opened.model.parts[k]
        self.before = sum(part.n_rules for part in opened.model.parts[:k])
        self.governing = _find_governing(self.rules, whole.rows)
        self.strongest = _predict_own(self.rules, whole.rows, self.governing)
        self.satisfied = np.ones((len(whole.rows), self.rules.n_rules), dtype=bool)
        self.outside: list[list[bool]] = []
        for r in range(self.rules.n_rules):
            conditions = list(list_conditions(self.rules, r, whole.rows, opened.columns, opened.model.profile))
            for condition in conditions:
                self.satisfied[:, r] &= condition.holds
            self.outside.append([condition.is_outside for condition in conditions])
        self.agreed = self.satisfied & (self.governing[:, None] == np.arange(self.rules.n_rules))

    def describe_rules(self) -> Iterator[RuleTruth]:
        """Yield the figures of each rule."""
        mean = self.rules.predict_raw(self.whole.rows)
        for r in range(self.rules.n_rules):
            here = np.flatnonzero(self.governing == r)
            n_satisfied, n_both = int(self.satisfied[:, r].sum()), int(self.agreed[:, r].sum())
            own = self.strongest[here]
            alone = self.whole.raw[here] - mean[here] + own
            unknown = float("nan")
            yield RuleTruth(
                part=self.number + 1,
                rule=self.before + r + 1,
                share=len(here) / len(mean),
                holds=n_both / len(here) if len(here) else unknown,
                governs=n_both / n_satisfied if n_satisfied else unknown,
                own_error=self.whole.error(alone, here) if len(here) else unknown,
                model_error=self.whole.error(self.whole.raw[here], here) if len(here) else unknown,
                lowest=tuple(own.min(axis=0).tolist()) if len(here) else (unknown,) * own.shape[1],
                highest=tuple(own.max(axis=0).tolist()) if len(here) else (unknown,) * own.shape[1],
                is_inside=not any(self.outside[r]),
                stays=not self.whole.leaves_range(alone).any(),
            )


def _find_governing(rules: RuleBase, rows: FloatArray) -> IntArray:
    """Return which rule has the largest firing share in each row."""
    blocks = np.split(rows, range(_BLOCK_ROWS, len(rows), _BLOCK_ROWS))
    return np.concatenate([rules.firing_share(block).argmax(axis=1) for block in blocks])


def _predict_own(rules: RuleBase, rows: FloatArray, governing: IntArray) -> FloatArray:
    """Return the output of the rule that governs each row, of shape (n_rows, n_outputs)."""
    outputs, rows = np.empty((len(rows), rules.n_outputs)), rules.check_rows(rows)
    for r in np.unique(governing):
        here = governing == r
        outputs[here] = rules.take([r]).rule_outputs(rows[here])[:, 0]
    return outputs


def _write(value: float, scale: float) -> str:
    """Write a number with three digits, 0 if it is negligible relative to a scale, and a dash if it is NaN."""
    if np.isnan(value):
        return "-"
    return "0" if abs(value) < 1e-3 * scale else format_number(float(f"{value:.3g}"))


def _write_beyond(rule: RuleTruth) -> str:
    if not rule.is_inside:
        return "center" if rule.stays else "both"
    return "" if rule.stays else "output"
