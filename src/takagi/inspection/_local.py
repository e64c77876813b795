"""Explanation of a prediction: the rules that fire, the local linear model, and each column's contribution."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._model import DISAGREEMENT, SIMILAR, find_place, open_committee
from takagi._notebook import ShowsText
from takagi._text import (
    format_number,
    format_probability,
    format_share,
    format_to_step,
    join_terms,
    shorten,
    step_below,
    wrap,
)
from takagi._typing import FloatArray, Table
from takagi._wording import name_formulas, name_outputs, name_part
from takagi.inspection._attribution import attribute_mean, average_formulas, choose_baseline, sum_columns
from takagi.inspection._held import describe_misfits, describe_missing, show_held_cells
from takagi.rulebase import apply_link

_MOST_IDLE = 3  # columns that add nothing, which have a line each
_LEAST_SHARE = 0.01  # rules with less are not named in text


@dataclass(frozen=True)
class LocalExplanation(ShowsText):
    """Explanation of the predictions for rows.

    A prediction is a base (the prediction for the baseline row) plus one contribution per column. A contribution has
    two parts: through the consequents, with fixed firing shares, and through the conditions, by the change of the
    shares. Both are integrated along the straight line from the baseline to the row (integrated gradients [1]_), and
    add up exactly. If a model is a sum of rule bases, the contributions of its parts are added up; the contribution of
    a bend belongs to its feature. An explanation can be printed, indexed with a row, and plotted.

    For classes, all of this refers to log-odds, or to scores of more than two classes; `probability` has the
    probabilities. A committee's memory of training rows (Nadaraya-Watson regression of its errors) is one more
    contribution, "similar rows". Its value is the sum of the kernel weights of these rows for each output. A committee
    of classifiers predicts the mean of its members' probabilities. Columns explain the mean of their log-odds or
    scores, and the remainder is one more contribution, "disagreement", which is larger if the members agree less. Its
    value is the standard deviation of the members' outputs. With it the contributions add up to the committee's own
    log-odds.

    Parameters
    ----------
    columns : tuple of str
        Columns of the table, and "similar rows" if the model is a committee with a memory, or "disagreement" if it is
        one of classifiers.
    output_names : tuple of str
        Outputs of the model.
    feature_names : tuple of str
        Terms of the local linear model, one for each slope: numbers, 0/1 terms in brackets, and bends.
    cells : list of list of str
        Values of the columns as text, row by row; the text of a held value also has the value that it counts as.
    baseline : str
        Description of the baseline.
    base : ndarray of shape (n_outputs,)
        Prediction for the baseline; for a committee, the mean output of its members, without the extra term.
    prediction : ndarray of shape (n_rows, n_outputs)
        Predictions for the rows.
    by_condition, by_consequent : ndarray of shape (n_rows, n_outputs, n_columns)
        The two parts of the contributions.
    share : ndarray of shape (n_rows, n_rules)
        Firing shares. The rules of a sum are listed part by part, with shares that add up to 1 in each part; those of a
        committee member by member.
    rule_outputs : ndarray of shape (n_rows, n_rules, n_outputs)
        Output of each rule by itself; that of an adjustment is added to the output of the main rules.
    intercept, slopes : ndarray of shape (n_rows, n_outputs) and (n_rows, n_outputs, n_terms)
        The local linear model: the consequents of the rules, weighted by their shares, with a slope for each of
        `feature_names`. Similar rows are no part of it.
    row_numbers : tuple of int
        Positions of the rows in X.
    part_rules : tuple of tuple of int
        Number of rules of each part of each member of a committee; other models are its only member.
    misfits : list of list of str
        For each row, a sentence for each part of the model in which no rule fits the row; none for committees.
    missing : list of list of str
        For each row, a sentence for each missing value that says what it counts as.
    link : {"identity", "logit", "softmax"}, default="identity"
        What predictions are: numbers, log-odds, or scores of classes.

    References
    ----------
    .. [1] M. Sundararajan, A. Taly and Q. Yan, Axiomatic attribution for deep networks, ICML (2017).

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.inspection import explain_local
    >>> rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]], feature_names=["speed"])
    >>> explained = explain_local(rules, [[1.0], [9.0]], baseline=[[5.0]])
    >>> explained.base.round(2), explained.contributions.round(2).ravel()
    (array([5.]), array([-4.,  0.]))
    >>> (explained.base + explained.contributions.sum(axis=2) - explained.prediction).round(9).ravel()
    array([0., 0.])
    """

    columns: tuple[str, ...]
    output_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    cells: list[list[str]]
    baseline: str
    base: FloatArray
    prediction: FloatArray
    by_condition: FloatArray
    by_consequent: FloatArray
    share: FloatArray
    rule_outputs: FloatArray
    intercept: FloatArray
    slopes: FloatArray
    row_numbers: tuple[int, ...]
    part_rules: tuple[tuple[int, ...], ...]
    misfits: list[list[str]]
    missing: list[list[str]]
    link: str = "identity"

    @property
    def probability(self) -> FloatArray | None:
        """Probabilities of the outputs' classes, of shape (n_rows, n_outputs); None where predictions are numbers."""
        return None if self.link == "identity" else apply_link(self.prediction, self.link)

    @property
    def formula_names(self) -> tuple[str, ...]:
        """Names of the outputs; for classes, they say that these are log-odds or scores."""
        return name_formulas(self.link, self.output_names)

    @property
    def contributions(self) -> FloatArray:
        """Contributions of shape (n_rows, n_outputs, n_columns); with the base they add up to the predictions."""
        return self.by_condition + self.by_consequent

    @property
    def member_predictions(self) -> FloatArray:
        """Output of each member of a committee, before a link, of shape (n_rows, n_members, n_outputs)."""
        parts = self.share[:, :, None] * self.rule_outputs * len(self.part_rules)
        return np.add.reduceat(parts, np.cumsum((0, *map(sum, self.part_rules[:-1]))), axis=1)

    def __len__(self) -> int:
        return len(self.prediction)

    def __getitem__(self, rows: Any) -> "LocalExplanation":
        """Return the explanation of one row or of several."""
        index = np.atleast_1d(np.arange(len(self))[rows])
        arrays = ("prediction", "by_condition", "by_consequent", "share", "rule_outputs", "intercept", "slopes")
        return replace(
            self,
            cells=[self.cells[i] for i in index],
            misfits=[self.misfits[i] for i in index],
            missing=[self.missing[i] for i in index],
            row_numbers=tuple(self.row_numbers[i] for i in index),
            **{name: getattr(self, name)[index] for name in arrays},
        )

    # -- tables --------------------------------------------------------------------------------------------------------

    def to_frame(self, row: int = 0, output: str | int = 0) -> Any:
        """Return the contributions to one prediction as a data frame, the largest first.

        Parameters
        ----------
        row : int, default=0
            The row, by its place in this explanation.
        output : int or str, default=0
            The output.

        Returns
        -------
        pandas.DataFrame
            With the columns "column", "value", "contribution", "by_condition" and "by_consequent".
        """
        k, row = self.find_output(output), self.find_row(row)
        frame = need_extra("pandas", "report").DataFrame(
            {
                "column": self.columns,
                "value": self.cells[row],
                "contribution": self.contributions[row, k],
                "by_condition": self.by_condition[row, k],
                "by_consequent": self.by_consequent[row, k],
            }
        )
        return frame.sort_values("contribution", key=np.abs, ascending=False, ignore_index=True, kind="stable")

    def rules_to_frame(self, row: int = 0, output: str | int = 0) -> Any:
        """Return the rules that fire for one row as a data frame, main rules first, the strongest of each part first.

        Parameters
        ----------
        row : int, default=0
            The row, by its place in this explanation.
        output : int or str, default=0
            The output.

        Returns
        -------
        pandas.DataFrame
            With the columns "rule" (its number), "share" and "output" (of the rule by itself); for a sum also "part",
            for a committee also "member".
        """
        k, row = self.find_output(output), self.find_row(row)
        n_parts = max(map(len, self.part_rules))
        numbered = [
            (member, part, number)
            for member, counts in enumerate(self.part_rules, 1)
            for number, part in enumerate(np.repeat(np.arange(len(counts)), counts), 1)
        ]
        members, parts, numbers = zip(*numbered, strict=True)
        frame = need_extra("pandas", "report").DataFrame(
            {
                **({"member": members} if len(self.part_rules) > 1 else {}),
                **({"part": [name_part(part, n_parts) for part in parts]} if n_parts > 1 else {}),
                "rule": numbers,
                "share": self.share[row],
                "output": self.rule_outputs[row, :, k],
            }
        )
        return frame.loc[np.lexsort((-frame["share"], parts))].reset_index(drop=True)

    def find_row(self, row: int) -> int:
        """Return the position of a row; negative numbers count from the end."""
        if not -len(self) <= row < len(self):
            raise ValueError(f"row must be 0 to {len(self) - 1}, got {row}.")
        return row % len(self)

    def find_output(self, output: str | int) -> int:
        """Return the index of an output given by name or index."""
        return find_place(output, self.output_names)

    # -- text and plot -------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return "\n\n".join(self._describe(row, k) for row in range(len(self)) for k in range(len(self.output_names)))

    def __repr__(self) -> str:
        return f"LocalExplanation(n_rows={len(self)}, columns={list(self.columns)})"

    def _describe(self, row: int, k: int) -> str:
        output, contributions = shorten(self.formula_names[k]), self.contributions[row, k]
        step = step_below(max(np.abs(contributions).max(), abs(self.prediction[row, k]) / 1000, 1e-300)) / 100
        write = lambda value: format_to_step(value, step)  # noqa: E731
        beside = "" if self.probability is None else f", probability {format_probability(self.probability[row, k])}"
        lines = [f"row {self.row_numbers[row]}: {output} = {write(self.prediction[row, k])}{beside}", ""]
        table = [(f"{self.baseline}", "", write(self.base[k]))]
        for c in np.argsort(-np.abs(contributions), kind="stable"):
            amount = write(contributions[c])
            signed = amount if amount.startswith("-") or amount == "0" else f"+{amount}"
            table.append((shorten(self.columns[c], 28), shorten(self.cells[row][c], 26), signed))
        n_idle = sum(amount == "0" for *_, amount in table[1:])  # the last ones
        if n_idle > _MOST_IDLE:
            table[-n_idle:] = [(f"{n_idle} other columns", "", "0")]
        table.append(("prediction", "", write(self.prediction[row, k])))
        lines += [*_align(table), *(wrap("  ", sentence.split(), "    ") for sentence in self.missing[row])]
        lines += ["", *self._list_voices(row, k, write)]
        weights = [format_number(w) for w in (self.intercept[row, k], *self.slopes[row, k])]
        terms = join_terms(weights, self.feature_names)
        return "\n".join([*lines, "", wrap(f"Here{self._caveat} {output} =", terms, "  ")])

    @property
    def _caveat(self) -> str:
        """A note for a committee whose prediction has more terms than its members and the local linear model."""
        term = self.columns[-1] if len(self.part_rules) > 1 else ""
        return f", without {term}," if term in (SIMILAR, DISAGREEMENT) else ""

    def _list_voices(self, row: int, k: int, write: Callable[[float], str]) -> list[str]:
        """Return lines about the rules that fire, or about the members of a committee, which has too many rules."""
        if len(self.part_rules) > 1:
            says = enumerate(self[row].member_predictions[0, :, k], 1)
            return [
                f"Members{self._caveat.rstrip(',')}",
                *(f"  Member {i} says {write(prediction)}" for i, prediction in says),
            ]
        (counts,) = self.part_rules
        lines, start = ["Rules that fire"], 0
        for part, n_rules in enumerate(counts):
            rules = start + np.argsort(-self.share[row, start : start + n_rules], kind="stable")
            if len(counts) > 1:
                lines.append(f"  {name_part(part, len(counts))}")
            indent, verb = "  " * min(len(counts), 2), "adds" if part else "says"
            for r in rules[self.share[row, rules] >= _LEAST_SHARE]:
                share, output = format_share(self.share[row, r]), write(self.rule_outputs[row, r, k])
                lines.append(f"{indent}Rule {r + 1}: {share}, {verb} {output}")
            start += n_rules
        return [*lines, *(wrap("", sentence.split(), "  ") for sentence in self.misfits[row])]

    def plot(self, row: int = 0, output: str | int = 0, *, ax: Any = None) -> Any:
        """Draw the contributions to one prediction as a waterfall.

        Parameters
        ----------
        row : int, default=0
            The row, by its place in this explanation.
        output : int or str, default=0
            The output.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        WaterfallDisplay
        """
        from takagi.inspection._plot import WaterfallDisplay

        return WaterfallDisplay.from_explanation(self, row, output, ax=ax)


def _align(table: Sequence[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[j]) for row in table) for j in range(3)]
    return [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in table]


def explain_local(model: Any, X: Table, *, baseline: Table = None) -> LocalExplanation:
    """Explain the predictions for some rows.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, a committee of either, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame of shape (n_rows, n_columns)
        The rows to explain.
    baseline : array or data frame with one row, optional
        The row to compare with; the average of the training rows by default.

    Returns
    -------
    LocalExplanation
        Print it, index it with a row, or call its `plot`, `to_frame` and `rules_to_frame`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import explain_local
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X, y = X[["bmi", "bp"]], y.rename("progression")
    >>> model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=500, random_state=0).fit(X, y)
    >>> print(explain_local(model, X.head(1)))
    row 0: progression = 209.2
    <BLANKLINE>
      average row        146.4
      bmi          32.1  +48.5
      bp           101   +14.3
      prediction         209.2
    <BLANKLINE>
    Rules that fire
      Rule 2: 86 %, says 217.3
      Rule 1: 14 %, says 160.7
    <BLANKLINE>
    Here progression = -46.81 + 4.46 bmi + 1.118 bp
    """
    committee = open_committee(model)
    members, opened = committee.members, committee.first
    given = opened.encode(X)
    if not len(given):
        raise ValueError("X must have at least one row, got none.")
    rows = opened.model.hold_rows(given)
    reference, description = choose_baseline(committee, baseline)
    parts = [part for member in members for part in member.model.parts]
    shares = [part.firing_share(rows) / len(members) for part in parts]
    names, local = average_formulas(opened, parts, shares, rows)
    found = attribute_mean(members, rows, reference)
    explained = LocalExplanation(
        columns=tuple(column.name for column in opened.columns),
        output_names=tuple(name_outputs(opened.model)),
        misfits=describe_misfits(opened, rows) if len(members) == 1 else [[] for _ in rows],
        missing=describe_missing(opened, rows, parts, shares),
        feature_names=names,
        cells=show_held_cells(opened, X, given, rows),
        baseline=description,
        base=committee.predict_mean(reference[None])[0],
        prediction=committee.predict_mean(rows),
        by_condition=sum_columns(opened, found.by_condition),
        by_consequent=sum_columns(opened, found.by_consequent),
        share=np.concatenate(shares, axis=1),
        rule_outputs=np.concatenate([part.rule_outputs(rows) for part in parts], axis=1),
        intercept=local[:, :, 0],
        slopes=local[:, :, 1:],
        row_numbers=tuple(range(len(rows))),
        part_rules=tuple(tuple(part.n_rules for part in member.model.parts) for member in members),
        link=opened.model.link,
    )
    return explained if committee.term is None else _add_term(explained, committee.term, *committee.find_term(rows))


def _add_term(explained: LocalExplanation, name: str, corrections: FloatArray, numbers: FloatArray) -> LocalExplanation:
    """Add the extra term of a committee as a column; its contributions count as those of conditions."""
    nothing = np.zeros_like(corrections)
    return replace(
        explained,
        columns=(*explained.columns, name),
        cells=[[*cells, ", ".join(map(format_number, n))] for cells, n in zip(explained.cells, numbers, strict=True)],
        prediction=explained.prediction + corrections,
        by_condition=np.concatenate([explained.by_condition, corrections[:, :, None]], axis=2),
        by_consequent=np.concatenate([explained.by_consequent, nothing[:, :, None]], axis=2),
    )
