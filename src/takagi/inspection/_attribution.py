"""How much each feature moves the prediction, on the way from a baseline to a row.

The prediction's change is the integral of its gradient along the straight line between the two (the Aumann-Shapley
price, also known as integrated gradients). The gradient has two parts: the consequents' slopes, and the change of the
shares, that is, of which rules apply. So every feature gets a contribution through the consequents and one through the
conditions, and all of them add up to the change.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

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
        size = max(1, _NUMBERS_PER_BLOCK // (8 * n_panels * rules.n_rules))
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
    """Integrate the gradient with Gauss-Legendre's rule on each of some equal panels.

    On the line from the baseline to a row, at the place t, minus twice a rule's log firing level is a parabola in t and
    its output is linear in t, so a point costs no more than there are rules.
    """
    places = ((np.arange(n_panels)[:, None] + 0.5 * (_NODES + 1)) / n_panels).ravel()
    weights = np.tile(0.5 * _WEIGHTS / n_panels, n_panels)
    precision = 1.0 / rules.widths**2
    start = rules.antecedent_inputs(baseline[None])
    step = rules.antecedent_inputs(rows) - start
    away = (start - rules.centers) * precision
    distance = ((start - rules.centers) * away).sum(axis=1)
    t = places[:, None, None]
    share = softmax(-0.5 * (distance + t * (2 * step @ away.T + t * (step**2 @ precision.T))), axis=2)
    mean_share = np.einsum("t,tnr->nr", weights, share)
    by_consequent = np.einsum("nr,rom->nom", mean_share, rules.fold_consequents().consequents[:, :, 1:])
    by_condition = np.empty_like(by_consequent)
    first, last = rules.rule_outputs(baseline[None]), rules.rule_outputs(rows)
    for k in range(rules.n_outputs):
        outputs = first[:, :, k] + t * (last - first)[:, :, k]
        pull = share * (outputs - (share * outputs).sum(axis=2, keepdims=True))
        total, by_place = (np.einsum("t,tnr->nr", w, pull) for w in (weights, weights * places))
        by_condition[:, k] = _fold_slope(rules, -(total @ away) - step * (by_place @ precision))
    change = (rows - baseline)[:, None, :]
    return Attribution(by_condition * change, by_consequent * change)


def _fold_slope(rules: RuleBase, slope: FloatArray) -> FloatArray:
    """Return slopes on the features alone, given those on the inputs of the conditions."""
    if rules.antecedent_projection is None:
        return slope
    n_projected = rules.antecedent_projection.shape[1]
    return slope[:, n_projected:] + slope[:, :n_projected] @ rules.antecedent_projection[1:].T
