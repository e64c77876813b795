"""The contribution of each feature to the change of the prediction from a baseline to a row.

The prediction's change is the integral of its gradient along the straight line between the two (integrated gradients,
Sundararajan et al., 2017; also known as the Aumann-Shapley price). The gradient has two parts: the consequents' slopes,
and the change of the shares, that is, of which rules apply. So every feature gets a contribution through the
consequents and one through the conditions, and all of them add up to the change.

Bends are inputs of the consequents with their own straight line, and their contributions belong to their feature. The
contributions of a sum of rule bases are the sums of those of its parts.

If a feature is missing in a row, its contribution is the change of the baseline's prediction when the feature is
removed. From there on the line goes through rules without that feature.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from takagi._checks import are_finite
from takagi._model import OpenCommittee, OpenModel
from takagi._typing import BoolArray, FloatArray, IntArray, Table
from takagi._wording import merge_levels, name_slopes
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel, collect_bends, place_weights

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_FIRST_PANELS = 4
_MAX_HALVINGS = 40
_MAX_PANELS = 64  # for each row; if rounding keeps all panels above their tolerance, halving them does not help
_TOLERANCE = 1e-12  # of the largest change, for each panel
_ROUNDING = 1e-14  # of the largest output of a rule
_FAR = 1e300  # keeps sums of squares finite
_NUMBERS_PER_BLOCK = 2**22


class Attribution(NamedTuple):
    """Contributions of shape (n_rows, n_outputs, n_features), through the conditions and through the consequents."""

    by_condition: FloatArray
    by_consequent: FloatArray


def attribute(model: RuleModel | RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    """Split the difference of the predictions for rows and for a baseline row among the features."""
    return Attribution(*np.sum([_attribute_part(part, rows, baseline) for part in model.parts], axis=0))


def _attribute_part(part: RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    found = _attribute_plain(part.expand(), part.expand_rows(rows), part.expand_rows(baseline[None])[0])
    for values in found:
        for k, bend in enumerate(part.bends, start=part.n_features):
            values[..., bend.feature] += values[..., k]
    return Attribution(*(values[..., : part.n_features] for values in found))


def _attribute_plain(rules: RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    """Split the difference among the features of rules without bends, for each pattern of missing values."""
    if are_finite(rows):
        return _attribute_complete(rules, rows, baseline)
    found = Attribution(*(np.empty((len(rows), rules.n_outputs, rules.n_features)) for _ in range(2)))
    patterns, place = np.unique(np.isnan(rows), axis=0, return_inverse=True)
    for k, missing in enumerate(patterns):
        here = np.flatnonzero(place.reshape(-1) == k)
        known = np.where(missing, baseline, rows[here])
        by_condition, by_consequent = _attribute_complete(do_without(rules, missing), known, baseline)
        lost = _attribute_loss(rules, baseline, missing)
        found.by_condition[here], found.by_consequent[here] = by_condition + lost[0], by_consequent + lost[1]
    return found


def _attribute_loss(rules: RuleBase, baseline: FloatArray, missing: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Split the effect of missing features on the baseline's prediction among them, of shape (n_outputs, M).

    The part through the consequents has fixed firing shares. The rest is the part through the conditions, in proportion
    to the effect of each feature by itself.
    """
    by_condition, by_consequent = np.zeros((2, rules.n_outputs, rules.n_features))
    if rules.usual is None or not missing.any():
        return by_condition, by_consequent
    before, share = rules.predict_raw(baseline[None])[0], rules.firing_share(baseline[None])[0]
    step = np.where(missing, rules.usual - baseline, 0.0)
    by_consequent[:] = np.einsum("r,rom,rm->om", share, rules.consequents[:, :, 1:], step)
    for m in np.flatnonzero(missing):
        row = np.where(np.arange(len(baseline)) == m, np.nan, baseline)
        by_condition[:, m] = rules.predict_raw(row[None])[0] - before - by_consequent[:, m]
    after = rules.predict_raw(np.where(missing, np.nan, baseline)[None])[0]
    rest = after - before - (by_condition + by_consequent).sum(axis=1)
    size = np.abs(by_condition) * missing
    total = size.sum(axis=1, keepdims=True)
    by_condition += rest[:, None] * np.where(total > 0, size / np.where(total > 0, total, 1.0), missing / missing.sum())
    return by_condition, by_consequent


def do_without(rules: RuleBase, missing: BoolArray) -> RuleBase:
    """Return rules without bends and without some features, as they apply where these are missing."""
    if rules.usual is None or not missing.any():
        return rules
    widths, consequents = np.where(missing, np.inf, rules.widths), rules.consequents.copy()
    consequents[:, :, 0] += np.einsum("rom,rm->ro", consequents[:, :, 1:], np.where(missing, rules.usual, 0.0))
    consequents[:, :, 1:] *= ~missing
    return replace(rules, widths=widths, consequents=consequents, sets=None, intervals=None)


def _attribute_complete(rules: RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    found = Attribution(*(np.empty((len(rows), rules.n_outputs, rules.n_features)) for _ in range(2)))
    size = max(1, _NUMBERS_PER_BLOCK // (8 * _MAX_PANELS * rules.n_rules * rules.n_outputs))
    for start in range(0, len(rows), size):
        here = slice(start, start + size)
        found.by_condition[here], found.by_consequent[here] = _attribute_block(rules, rows[here], baseline)
    _check_range(*found)
    total = rules.predict_raw(rows) - rules.predict_raw(baseline[None])
    rest = (total - (found.by_condition + found.by_consequent).sum(axis=2))[:, :, None]
    is_by_condition = found.by_condition.any(axis=2, keepdims=True)
    found.by_condition[:] += np.where(is_by_condition, rest, 0.0) * _parts(found.by_condition)
    found.by_consequent[:] += np.where(is_by_condition, 0.0, rest) * _parts(found.by_consequent)
    return found


def _check_range(*arrays: FloatArray) -> None:
    if not all(np.isfinite(values).all() for values in arrays):
        raise ValueError(
            "X or the rules have numbers too large or too small to explain: squares of distances exceed the range of "
            "numbers. Rescale the columns beyond 1e150 or below 1e-150."
        )


def _parts(values: FloatArray) -> FloatArray:
    """Return how to distribute the error of the integral: in proportion to the contributions."""
    size = np.abs(values)
    total = size.sum(axis=2, keepdims=True)
    return np.where(total > 0, size / np.where(total > 0, total, 1.0), 1.0 / values.shape[2])


class _Line(NamedTuple):
    """The straight line from the baseline (t = 0) to rows (t = 1), rule by rule.

    Minus twice a rule's log firing level is the parabola ``level + t (2 slope + t bend)`` and its output is
    ``first + t change``, so the cost of a point is proportional to the number of rules.
    """

    level: FloatArray  # (R,)
    slope: FloatArray  # (n, R)
    bend: FloatArray  # (n, R)
    first: FloatArray  # (R, K)
    change: FloatArray  # (n, R, K)

    def at(self, row: IntArray, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return shares (i, T, R), outputs (i, T, R, K) and predictions (i, T, K) at points t (i, T) of some rows."""
        t = t[:, :, None]
        level = -0.5 * (self.level + t * (2 * self.slope[row, None] + t * self.bend[row, None]))
        firing = np.exp(level - level.max(axis=2, keepdims=True))
        share = firing / firing.sum(axis=2, keepdims=True)
        outputs = self.first + t[..., None] * self.change[row, None]
        return share, outputs, np.einsum("itr,itrk->itk", share, outputs)


def _attribute_block(rules: RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        precision = 1.0 / rules.widths**2
        start = rules.antecedent_inputs(baseline[None])
        step = rules.antecedent_inputs(rows) - start
        away = (start - rules.centers) * precision
        first, last = rules.rule_outputs(baseline[None])[0], rules.rule_outputs(rows)
        level = ((start - rules.centers) * away).sum(axis=1)
        slope, bend = step @ away.T, step**2 @ precision.T
    _check_range(precision, away, first, last)
    level, slope, bend = (np.clip(part, -_FAR, _FAR) for part in (level, slope, bend))
    line = _Line(level, slope, bend, first, last - first)
    share, pull, pull_by_place = _integrate(line)
    weights = rules.fold_consequents().consequents[:, :, 1:]
    change = (rows - baseline)[:, None, :]
    by_place = pull_by_place.transpose(0, 2, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        by_condition = -(pull.transpose(0, 2, 1) @ away) - step[:, None, :] * (by_place @ precision)
        return Attribution(_fold_slope(rules, by_condition) * change, np.einsum("nr,rkm->nkm", share, weights) * change)


def _integrate(line: _Line) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Integrate, for rows and rules, the share, its pull, and t times its pull, by Gauss-Legendre quadrature on panels.

    The pull is the share times the difference between a rule's output and the prediction. The change of the prediction
    over a panel is known exactly. A panel whose integral differs from it is halved, until it agrees or is too small.
    """
    n_rows, n_rules, n_outputs = line.change.shape
    shape = (n_rows, n_rules, n_outputs)
    sums = np.zeros((n_rows, n_rules)), np.zeros(shape), np.zeros(shape)
    ends = line.at(np.arange(n_rows), np.tile([0.0, 1.0], (n_rows, 1)))[2]
    size = np.abs(ends[:, 1] - ends[:, 0]).max(axis=0)
    biggest = np.abs(line.first).max(axis=0) + np.abs(line.change).max(axis=(0, 1))
    tolerance = np.maximum(_TOLERANCE * size, _ROUNDING * biggest)
    row = np.repeat(np.arange(n_rows), _FIRST_PANELS)
    left = np.tile(np.arange(_FIRST_PANELS) / _FIRST_PANELS, n_rows)
    width = 1.0 / _FIRST_PANELS
    for halving in range(_MAX_HALVINGS + 1):
        t = left[:, None] + 0.5 * width * (_NODES + 1)
        share, outputs, prediction = line.at(row, t)
        pull = share[..., None] * (outputs - prediction[:, :, None])
        steepness = -(line.slope[row, None] + t[:, :, None] * line.bend[row, None])
        gradient = np.einsum("itr,irk->itk", share, line.change[row]) + np.einsum("itrk,itr->itk", pull, steepness)
        weights = 0.5 * width * _WEIGHTS
        border = line.at(row, left[:, None] + [0.0, width])[2]
        missed = np.abs(np.einsum("t,itk->ik", weights, gradient) - (border[:, 1] - border[:, 0]))
        good = ~(missed > tolerance).any(axis=1) | (halving == _MAX_HALVINGS)
        good |= 2 * np.count_nonzero(~good) > _MAX_PANELS * n_rows
        np.add.at(sums[0], row[good], np.einsum("t,itr->ir", weights, share[good]))
        np.add.at(sums[1], row[good], np.einsum("t,itrk->irk", weights, pull[good]))
        np.add.at(sums[2], row[good], np.einsum("t,it,itrk->irk", weights, t[good], pull[good]))
        width *= 0.5
        row, left = np.repeat(row[~good], 2), (left[~good, None] + [0.0, width]).ravel()
        if not len(row):
            break
    return sums


def _fold_slope(rules: RuleBase, slope: FloatArray) -> FloatArray:
    """Return slopes on the features alone, given those on the inputs of the conditions, along the last axis."""
    if rules.antecedent_projection is None:
        return slope
    n_projected = rules.antecedent_projection.shape[1]
    return slope[..., n_projected:] + slope[..., :n_projected] @ rules.antecedent_projection[1:].T


# -- members and columns -----------------------------------------------------------------------------------------------


def attribute_mean(members: Sequence[OpenModel], rows: FloatArray, baseline: FloatArray) -> Attribution:
    """Split the difference of the mean predictions for rows and for a baseline row among the features."""
    return Attribution(*np.mean([attribute(member.model, rows, baseline) for member in members], axis=0))


def sum_columns(opened: OpenModel, values: FloatArray) -> FloatArray:
    """Add up, along the last axis, the values of all inputs of one column."""
    sums = [values[..., opened.inputs_of(c)].sum(axis=-1) for c in range(len(opened.columns))]
    return np.stack(sums, axis=-1)


def average_formulas(
    opened: OpenModel, parts: Sequence[RuleBase], shares: Sequence[FloatArray], rows: FloatArray
) -> tuple[tuple[str, ...], FloatArray]:
    """Return the terms of the formulas, and for each row and output the bias and the weights, weighted by shares.

    Terms of features that are missing in a row are constants, and part of the bias.
    """
    bends = collect_bends(parts)
    absent = np.isnan(np.column_stack([rows, *(rows[:, bend.feature] for bend in bends)]))
    local = np.zeros((len(rows), parts[0].n_outputs, 1 + absent.shape[1]))
    for part, share in zip(parts, shares, strict=True):
        weights = place_weights(part.fold_consequents(), bends)
        local += np.einsum("nr,rom->nom", share, weights)
        if part.usual is not None and absent.any():
            bent = [bend.evaluate(part.usual[:, bend.feature]) for bend in bends]
            counted = weights[:, :, 1:] * np.nan_to_num(np.column_stack([part.usual, *bent]))[:, None, :]
            local[:, :, 0] += np.einsum("nr,rom,nm->no", share, counted, absent)
    local[:, :, 1:] *= ~absent[:, None, :]
    if opened.encoder is not None:
        local = merge_levels(local, opened.model.first.fold_consequents(), opened.columns)
    slopes = name_slopes(opened.model.first, opened.columns)
    return (*slopes, *(bend.name(slopes[bend.feature]) for bend in bends)), local


def choose_baseline(committee: OpenCommittee, baseline: Table) -> tuple[FloatArray, str]:
    """Return the encoded baseline row and its description."""
    opened = committee.first
    if baseline is None:
        average = committee.average_row()
        if average is None:
            raise ValueError("This rule base has no summary of training data; give baseline, a row to compare with.")
        return average, "average row"
    if not hasattr(baseline, "columns"):
        baseline = np.atleast_2d(np.asarray(baseline, dtype=object if opened.encoder is not None else None))
    encoded = opened.encode(baseline)
    if len(encoded) != 1:
        raise ValueError(f"baseline must be one row, got {len(encoded)}.")
    return encoded[0], "baseline row"
