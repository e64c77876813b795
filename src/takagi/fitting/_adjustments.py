"""Adjustments: what rules leave over that goes with single values of a column, such as a school, a year or a batch.

Smooth rules cannot represent that rows with the same value of a column have something in common that rows with the next
value do not have. An adjustment can: it is a rule base of order zero about one column, with a rule for each of its
values, or for each group of neighboring values ("IF school is 101 THEN add 3.2"). It adds the mean of what is left over
in these rows, shrunk as if there were a few more rows where nothing is: random effects by penalized least squares [1]_.
Leave-one-out chooses the number of groups and how much is shrunk, and tells whether there is a gain. A few columns may
be adjusted for, the most useful one first, and one again where others have changed what is left over for it
(backfitting [2]_).

References
----------
.. [1] G. K. Robinson, "That BLUP is a good thing: the estimation of random effects", Statistical Science 6 (1), 1991.
.. [2] L. Breiman and J. H. Friedman, "Estimating optimal transformations for multiple regression and correlation",
   Journal of the American Statistical Association 80 (391), 1985.
.. [3] D. Böhning, "Multinomial logistic regression algorithm", Annals of the Institute of Statistical Mathematics
   44 (1), 1992.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takagi._rounding import round_between
from takagi._typing import FloatArray, IntArray
from takagi.fitting._rows import Rows, is_clearly_less, measure_columns
from takagi.profile import MAX_ROWS, average_shares, spread_rows
from takagi.rulebase import RuleBase, apply_link
from takagi.rulemodel import RuleModel
from takagi.training import Loss

_N_GROUPS = (8, 16, 32, 64, 128, 256, 512)
_SHRINKAGES = (1.0, 3.0, 10.0, 30.0, 100.0)  # in rows
_FEWEST_VALUES = 3  # two have a slope
_FEWEST_ROWS = 30
_ROWS_PER_GROUP = 2  # at least, in the mean
_MOST_ROWS = 50_000  # that adjustments are learned from
_MOST_STEPS = 6
_CLEAR = 2.0  # standard errors of the gain, if there is one column; more if there are many
_SLIGHT = {"identity": 1e-4, "logit": 1e-2, "softmax": 1e-2}  # a loss that is too small to adjust for, by the link
_CURVATURES = {"identity": 1.0, "logit": 0.25, "softmax": 0.5}  # of the loss, at most
_NEAR = 1e-12  # relative to the largest value of a column; nearer ones differ by rounding
_LEAST = 1e-300  # the largest value of a column; smaller ones are as good as zero
_WIDTHS_PER_GROUP = 12.0  # so that a group governs its rows and hardly any others


class Adjustment(NamedTuple):
    """An adjustment for one feature."""

    feature: int
    centers: FloatArray  # of the groups, of shape (n_groups,)
    widths: FloatArray  # of the groups
    intervals: FloatArray  # of the groups, of shape (n_groups, 2)
    values: FloatArray  # what is added, of shape (n_groups, n_outputs)
    added: FloatArray  # to the rows that it was learned from, of shape (n_rows, n_outputs)
    honest: FloatArray  # what would be added to each of these rows, had it been learned without the row


class Adjustments(NamedTuple):
    """The adjustments of a model, at most one for a feature."""

    found: tuple[Adjustment, ...] = ()
    rows: IntArray = np.empty(0, dtype=np.intp)  # that they were learned from
    optimism: float = 1.0  # how much larger the error (RMSE) is with leave-one-out than for these rows

    def correct(self, main: RuleBase, X: FloatArray) -> FloatArray:
        """Return what they add for the rows of the table that they were learned from, each had it been left out."""
        added = self.predict(main, X)
        if self.found:
            added[self.rows] = np.sum([one.honest for one in self.found], axis=0)
        return added

    def predict(self, main: RuleBase, X: FloatArray) -> FloatArray:
        """Return what they add to the outputs of main rules for rows."""
        return sum((_make_part(one, main).predict_raw(X) for one in self.found), np.zeros((len(X), main.n_outputs)))

    def settle(self, errors: Rows | None, main: RuleBase) -> Rows | None:
        """Return held-out errors of rules without adjustments, of rows of that table, as they are with adjustments."""
        if errors is None or not self.found:
            return errors
        return errors._replace(y=self.optimism * (errors.y - self.predict(main, errors.X)))


class _Column(NamedTuple):
    """The values of a feature, sorted."""

    feature: int
    known: IntArray  # rows that have a value
    values: FloatArray  # distinct ones
    place: IntArray  # of each known row among them


class _Groups(NamedTuple):
    """Groups of neighboring values of a column, and how much their means are shrunk."""

    loss: float  # leave-one-out, of all known rows
    starts: IntArray  # the first value of each group
    shrinkage: float


def learn_adjustments(rows: Rows, outputs: FloatArray, n_most: int, loss: Loss) -> Adjustments:
    """Return adjustments for at most so many features, given the outputs of a model for rows.

    Least squares learn them. For classes, what is left over is the difference of class and probability over the largest
    curvature that the log loss can have, so that every step lowers it [3]_.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.fitting import Rows
    >>> from takagi.training import SquaredError
    >>> school = np.arange(300.0) % 6
    >>> level = np.array([0.0, 5.0, -5.0, 0.0, 5.0, -5.0])[school.astype(int)][:, None]
    >>> rows = Rows(school[:, None], level, np.ones(300))
    >>> (one,) = learn_adjustments(rows, np.zeros((300, 1)), 1, SquaredError()).found
    >>> one.feature, one.values.ravel().round(1).tolist()
    (0, [0.0, 4.9, -4.9, 0.0, 4.9, -4.9])
    """
    if not n_most or len(rows.X) < _FEWEST_ROWS:
        return Adjustments()
    sample, link = spread_rows(len(rows.X), _MOST_ROWS), loss.links[rows.y.shape[1] > 1]
    scale = measure_columns(rows.y, rows.weight)[1] if link == "identity" else np.ones(rows.y.shape[1])
    rows, start = Rows(rows.X[sample], rows.y[sample] / scale, rows.weight[sample]), outputs[sample] / scale
    weight, first = rows.weight / rows.weight.mean(), loss.measure_rows(start, rows.y)
    if not np.isfinite(first).all() or loss.report(np.average(first, weights=weight)) < _SLIGHT[link]:
        return Adjustments()
    columns = [column for m, values in enumerate(rows.X.T) if (column := _sort(m, values)) is not None]
    # of so many normal errors with variance 1, the largest has a square of about twice the logarithm of their number
    clear = np.sqrt(_CLEAR**2 + 2 * np.log(max(1, len(columns))))
    found: dict[int, Adjustment] = {}
    for _ in range(_MOST_STEPS):
        before = start + sum(one.added for one in found.values())
        left = (rows.y - apply_link(before, link)) / _CURVATURES[link]
        best = _find_best([c for c in columns if c.feature in found or len(found) < n_most], left, found, weight)
        if best is None:
            break
        others = before - (found[best.feature].added if best.feature in found else 0.0)
        now, then = (loss.measure_rows(said, rows.y) for said in (others + best.honest, before))
        if not is_clearly_less(now, then, weight, clear):
            break
        found[best.feature] = best
    if not found:
        return Adjustments()
    sums = (start + sum(getattr(one, name) for one in found.values()) for name in ("honest", "added"))
    honest, seen = (loss.report(np.average(loss.measure_rows(one, rows.y), weights=weight)) for one in sums)
    scaled = (Adjustment(*one[:4], *(values * scale for values in one[4:])) for one in found.values())
    return Adjustments(tuple(scaled), sample, honest / seen if seen > 0 else 1.0)


def _sort(feature: int, values: FloatArray) -> _Column | None:
    """Return a feature with its values sorted, None if it has too few; values that differ by rounding are one."""
    known = np.flatnonzero(~np.isnan(values))
    distinct, place = np.unique(values[known], return_inverse=True)
    largest = np.abs(distinct).max(initial=0.0)
    is_new = np.r_[True, np.diff(distinct) > _NEAR * largest][: len(distinct)]
    if is_new.sum() < _FEWEST_VALUES or largest < _LEAST:
        return None
    return _Column(feature, known, distinct[is_new], (np.cumsum(is_new) - 1)[place.reshape(-1)])


def _find_best(
    columns: list[_Column], left: FloatArray, found: dict[int, Adjustment], weight: FloatArray
) -> Adjustment | None:
    """Return the adjustment that leaves the smallest squared error over, None if none makes it smaller.

    It may take the place of one for the same feature; what that adds is then to be explained, too.
    """
    best: tuple[_Column, _Groups, FloatArray] | None = None
    most = 0.0
    for column in columns:
        known = column.known
        target = left[known] + (found[column.feature].added[known] if column.feature in found else 0.0)
        groups = _group(column, target, weight[known])
        gain = float(weight[known] @ (left[known] ** 2).sum(axis=1)) - groups.loss if groups else 0.0
        if groups and gain > most:
            best, most = (column, groups, target), gain
    return None if best is None else _adjust(*best, weight)


def _group(column: _Column, target: FloatArray, weight: FloatArray) -> _Groups | None:
    """Return the groups with the smallest squared error in leave-one-out; None if there are no suitable ones.

    Rows of a group count here with the mean of their weights.
    """
    n_values, place = len(column.values), column.place
    size, squares = np.bincount(place, weight, n_values), np.bincount(place, weight**2, n_values)
    sums = np.array([np.bincount(place, weight * one, n_values) for one in target.T])
    errors = np.bincount(place, weight * (target**2).sum(axis=1), n_values)
    middle = (np.cumsum(size) - 0.5 * size) / size.sum()
    best: _Groups | None = None
    for n_groups in _N_GROUPS:
        group = np.arange(n_values) if n_values <= n_groups else (middle * n_groups).astype(np.intp)
        starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        if len(starts) < _FEWEST_VALUES or len(starts) * _ROWS_PER_GROUP > len(place):
            continue
        total, summed = np.add.reduceat(size, starts), np.add.reduceat(sums, starts, axis=1)
        own = np.add.reduceat(squares, starts) / total  # the weight of a row of the group
        error = np.add.reduceat(errors, starts)
        for shrinkage in _SHRINKAGES:
            value = summed / (total + shrinkage)
            rest = error - (2 * value * summed - total * value**2).sum(axis=0)
            loss = float((rest / (1 - own / (total + shrinkage)) ** 2).sum())
            if best is None or loss < best.loss:
                best = _Groups(loss, starts, shrinkage)
        if n_values <= n_groups:
            break
    return best


def _adjust(column: _Column, groups: _Groups, target: FloatArray, weight: FloatArray) -> Adjustment:
    """Return the adjustment for a column, given the target of its known rows and the weights of all rows."""
    known, n_groups = column.known, len(groups.starts)
    group, own = np.searchsorted(groups.starts, column.place, side="right") - 1, weight[known][:, None]
    total = (np.bincount(group, own[:, 0], n_groups) + groups.shrinkage)[:, None]
    sums = np.column_stack([np.bincount(group, own[:, 0] * one, n_groups) for one in target.T])
    values = sums / total
    added, honest = np.tile(values.mean(axis=0), (2, len(weight), 1))  # where the feature is missing, all rules count
    added[known] = values[group]
    honest[known] = (sums[group] - own * target) / (total[group] - own)
    return Adjustment(column.feature, *_place_groups(column.values, groups.starts), values, added, honest)


def _place_groups(values: FloatArray, starts: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return centers, widths and intervals of groups of values, so that each group governs its own.

    Single values have one width, so the nearest governs. Groups of several are intervals, with round limits between
    them, the outer ones up to one range beyond the data. Centers are their middles, and widths a part of their lengths:
    then two neighbors fire alike at the limit between them.
    """
    first, last = values[starts], values[np.r_[starts[1:], len(values)] - 1]
    if len(starts) == len(values):
        return values, np.full(len(values), np.diff(values).min() / _WIDTHS_PER_GROUP), np.column_stack([first, last])
    limits = [round_between(*gap) for gap in zip(last[:-1].tolist(), first[1:].tolist(), strict=True)]
    span = values[-1] - values[0]
    ends = np.r_[values[0] - span, limits, values[-1] + span]
    intervals = np.column_stack([np.r_[-np.inf, limits], np.r_[limits, np.inf]])
    return 0.5 * ends[:-1] + 0.5 * ends[1:], np.diff(ends) / _WIDTHS_PER_GROUP, intervals


# -- as parts of a model -----------------------------------------------------------------------------------------------


def adjust_model(model: RuleModel, adjustments: Adjustments, X: FloatArray, weight: FloatArray) -> RuleModel:
    """Return a model with adjustments as further parts; rows and weights are those of its profile."""
    parts = [_make_part(one, model.first) for one in adjustments.found]
    sample = spread_rows(len(X), MAX_ROWS)
    shares = [average_shares(part.firing_share(X[sample]), weight[sample]) for part in parts]
    profiles = [part.profile and replace(part.profile, share=share) for part, share in zip(parts, shares, strict=True)]
    described = (replace(part, profile=profile) for part, profile in zip(parts, profiles, strict=True))
    return RuleModel((*model.parts, *described))


def _make_part(adjustment: Adjustment, main: RuleBase) -> RuleBase:
    """Return an adjustment as a rule base with the inputs, outputs and limits of the main rules.

    It knows what to do where its feature is missing, even if it never was in training: all rules count alike.
    """
    feature, n_groups, n_features = adjustment.feature, len(adjustment.centers), main.n_features
    centers, widths = np.zeros((n_groups, n_features)), np.full((n_groups, n_features), np.inf)
    centers[:, feature], widths[:, feature] = adjustment.centers, adjustment.widths
    consequents = np.zeros((n_groups, main.n_outputs, 1 + n_features))
    consequents[:, :, 0] = adjustment.values
    intervals = np.tile([-np.inf, np.inf], (n_groups, n_features, 1))
    intervals[:, feature] = adjustment.intervals
    usual = np.full((n_groups, n_features), np.nan if main.usual is None else main.usual[0])
    usual[:, feature] = adjustment.centers
    return RuleBase(
        centers,
        widths,
        consequents,
        feature_names=main.feature_names,
        output_names=main.output_names,
        profile=main.profile and replace(main.profile, share=np.full(n_groups, 1 / n_groups), uncovered=None),
        link=main.link,
        intervals=intervals,
        limits=main.limits,
        usual=usual,
    )
