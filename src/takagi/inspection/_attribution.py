"""How much each feature moves the prediction, on the way from a baseline to a row.

The prediction's change is the integral of its gradient along the straight line between the two (the Aumann-Shapley
price, also known as integrated gradients). The gradient has two parts: the consequents' slopes, and the change of the
shares, that is, of which rules apply. So every feature gets a contribution through the consequents and one through the
conditions, and all of them add up to the change.
"""

from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray
from takagi.rulebase import RuleBase

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_PANELS = (4, 16, 64, 256)
_TOLERANCE = 1e-11
_NUMBERS_PER_BLOCK = 2**22


class Attribution(NamedTuple):
    """Contributions of shape (n_rows, n_outputs, n_features), by the way they take."""

    by_condition: FloatArray
    by_consequent: FloatArray


def attribute(rules: RuleBase, rows: FloatArray, baseline: FloatArray) -> Attribution:
    """Split the difference of the predictions for rows and for a baseline row among the features."""
    total = rules.predict(rows).reshape(len(rows), -1) - rules.predict(baseline[None]).reshape(1, -1)
    tolerance = _TOLERANCE * np.maximum(np.abs(total).max(axis=0, initial=0.0), 1e-300)
    found = Attribution(*(np.zeros((len(rows), rules.n_outputs, rules.n_features)) for _ in range(2)))
    open_rows = np.arange(len(rows))
    for n_panels in _PANELS:
        size = max(1, _NUMBERS_PER_BLOCK // (8 * n_panels * max(rules.n_rules * rules.n_outputs, rules.n_features)))
        for start in range(0, len(open_rows), size):
            here = open_rows[start : start + size]
            found.by_condition[here], found.by_consequent[here] = _integrate(rules, rows[here], baseline, n_panels)
        rest = total - (found.by_condition + found.by_consequent).sum(axis=2)
        open_rows = np.flatnonzero((np.abs(rest) > tolerance).any(axis=1))
        if not len(open_rows):
            break
    found.by_condition[:] += rest[:, :, None] * _parts(found.by_condition)
    return found


def _parts(values: FloatArray) -> FloatArray:
    """Return how to share what the integral has left over: in proportion to what it found."""
    size = np.abs(values)
    total = size.sum(axis=2, keepdims=True)
    return np.where(total > 0, size / np.where(total > 0, total, 1.0), 1.0 / values.shape[2])


def _integrate(rules: RuleBase, rows: FloatArray, baseline: FloatArray, n_panels: int) -> Attribution:
    """Integrate the gradient with Gauss-Legendre's rule on each of some equal panels."""
    places = ((np.arange(n_panels)[:, None] + 0.5 * (_NODES + 1)) / n_panels).ravel()
    weights = np.tile(0.5 * _WEIGHTS / n_panels, n_panels)
    step = rows - baseline
    points = (baseline + places[:, None, None] * step).reshape(-1, rules.n_features)
    share = rules.firing_share(points)
    folded = rules.fold_consequents().consequents
    mean_share = np.einsum("t,tnr->nr", weights, share.reshape(len(weights), len(rows), -1))
    by_consequent = np.einsum("nr,rom->nom", mean_share, folded[:, :, 1:]) * step[:, None, :]
    by_condition = np.empty_like(by_consequent)
    for k in range(rules.n_outputs):
        outputs = points @ folded[:, k, 1:].T + folded[:, k, 0]
        pull = share * (outputs - (share * outputs).sum(axis=1, keepdims=True))
        slope = _condition_slope(rules, points, pull).reshape(len(weights), len(rows), -1)
        by_condition[:, k] = np.einsum("t,tnm->nm", weights, slope) * step
    return Attribution(by_condition, by_consequent)


def _condition_slope(rules: RuleBase, points: FloatArray, pull: FloatArray) -> FloatArray:
    """Return the sum over rules of pull times the gradient of the log firing level."""
    precision = 1.0 / rules.widths**2
    inputs = rules.antecedent_inputs(points)
    slope = pull @ (rules.centers * precision) - (pull @ precision) * inputs
    if rules.antecedent_projection is None:
        return slope
    n_projected = rules.antecedent_projection.shape[1]
    return slope[:, n_projected:] + slope[:, :n_projected] @ rules.antecedent_projection[1:].T
