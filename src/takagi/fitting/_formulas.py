"""Update of formulas with new rows, with fixed conditions.

Given the conditions, outputs are linear in the coefficients of the formulas. The coefficients move to the optimum for
old and new rows together. The old rows, which are no longer available, are replaced by as many rows like the new ones
whose targets are the model's predictions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from takagi._typing import FloatArray, IntArray
from takagi.fitting._rows import Rows
from takagi.profile import join_profiles, measure_profile
from takagi.rulebase import apply_link
from takagi.rulemodel import RuleModel

_BLOCK_ROWS = 2_048
_MOST_TERMS = 4_000  # coefficients of an output's formulas
_LEAST_SHARE = 0.01  # smallest share of a rule, so that one that hardly fires does not move far
_CURVATURE = {"identity": 1.0, "logit": 0.25, "softmax": 0.5}  # bounds of the second derivative of the loss
_MOST_STEPS = {"identity": 1, "logit": 200, "softmax": 200}
_SMALL_STEP = 1e-6


def update_formulas(model: RuleModel, rows: Rows) -> RuleModel:
    r"""Return rules with formulas updated by new rows; no terms are added.

    With old coefficients :math:`\theta_0`, from n_0 rows, and the terms :math:`\phi` of the new rows, a regression
    formula minimizes

    .. math:: \sum_i (y_i - \phi_i \theta)^2 + \frac{n_0}{n} \sum_i (\phi_i (\theta - \theta_0))^2,

    the second sum shrunk toward its diagonal if there are few rows. For classes the first sum is the log loss,
    minimized by steps with an upper bound of its curvature (Boehning, 1992).

    Parameters
    ----------
    model : RuleModel
        Rules with profiles, which have the number of rows that they were fitted to.
    rows : Rows
        New rows.

    Returns
    -------
    RuleModel
        With profiles and limits of all rows, and no calibration.

    Raises
    ------
    ValueError
        If the number of rows that the rules were fitted to is not known, or formulas have too many coefficients.
    """
    if model.profile is None:
        raise ValueError(
            "The number of rows that the rules were fitted to is not known, so new rows cannot be weighted."
        )
    terms = _Terms(model, rows.balance())
    moved = [terms.start(output) for output in range(model.n_outputs)]
    for _ in range(_MOST_STEPS[model.link]):
        steps = terms.step(moved)
        moved = [old + new for old, new in zip(moved, steps, strict=True)]
        if max(np.abs(step).max(initial=0.0) for step in steps) < _SMALL_STEP:
            break
    return _widen(terms.write(moved), rows)


@dataclass
class _Terms:
    """The coefficients of the formulas that may change, and their terms in rows."""

    model: RuleModel
    rows: Rows

    def __post_init__(self) -> None:
        self.places = [self._list_places(output) for output in range(self.model.n_outputs)]
        most = max(len(place) for place in self.places)
        if most > _MOST_TERMS:
            raise ValueError(
                f"The formulas have {most:,} numbers; at most {_MOST_TERMS:,} can be updated. Fit fewer rules."
            )
        known = [part.expand().usual for part in self.model.parts]
        self.usual = [None if usual is None else np.pad(usual, [(0, 0), (1, 0)]) for usual in known]
        self.scale = self._measure_scale()
        assert self.model.profile is not None
        self.ratio = self.model.profile.n_rows / len(self.rows.X)
        self.grams = [self._sum_products(output) for output in range(self.model.n_outputs)]
        self.prior = [self._shrink(gram) for gram in self.grams]
        bound = _CURVATURE[self.model.link]
        self.factors = [cho_factor(bound * (g + p)) for g, p in zip(self.grams, self.prior, strict=True)]
        self.trust = self._measure_trust()

    def start(self, output: int) -> FloatArray:
        """Return zero changes of an output's coefficients."""
        return np.zeros(len(self.places[output]))

    def step(self, moved: list[FloatArray]) -> list[FloatArray]:
        """Return the next change of the coefficients, in standard units, given the change so far."""
        slopes = [-self.trust * prior @ change for prior, change in zip(self.prior, moved, strict=True)]
        for here, blocks in self._blocks():
            raw = self.model.predict_raw(self.rows.X[here])
            shift = np.column_stack([block @ change for block, change in zip(blocks, moved, strict=True)])
            errors = self.rows.y[here] - apply_link(raw + shift, self.model.link)
            for output, block in enumerate(blocks):
                slopes[output] += block.T @ (self.rows.weight[here] * errors[:, output])
        return [cho_solve(factor, slope) for factor, slope in zip(self.factors, slopes, strict=True)]

    def write(self, moved: list[FloatArray]) -> RuleModel:
        """Return the model with other coefficients in its formulas."""
        changed = [part.consequents.copy() for part in self.model.parts]
        for output, change in enumerate(moved):
            for (k, rule, place), by in zip(self.places[output], change / self.scale[output], strict=True):
                changed[k][rule, output, place] += by
        parts = [replace(part, consequents=new) for part, new in zip(self.model.parts, changed, strict=True)]
        return RuleModel(tuple(parts))

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _list_places(self, output: int) -> IntArray:
        """Return part, rule and position of each coefficient that may change: those that are not zero."""
        found = [
            (k, *place)
            for k, part in enumerate(self.model.parts)
            for place in np.argwhere((part.consequents[:, output] != 0) | _is_main_bias(part.consequents, k))
        ]
        return np.array(found, dtype=np.intp).reshape(-1, 3)

    def _evaluate(self, X: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return for each part the shares of its rules in rows, and the inputs of its formulas, the constant first."""
        ones = np.ones((len(X), 1))
        return [(part.firing_share(X), np.hstack([ones, part.consequent_inputs(X)])) for part in self.model.parts]

    def _take(self, inputs: FloatArray, k: int, rule: int, place: int) -> FloatArray:
        """Return the term of a coefficient of a rule's formula; a missing value counts as the rule's usual value."""
        values = inputs[:, place]
        usual = self.usual[k]
        return values if usual is None else np.where(np.isnan(values), usual[rule, place], values)

    def _measure_scale(self) -> list[FloatArray]:
        """Return the typical size of each term, which is the unit of its coefficient."""
        shares, inputs = [], []
        for part, (share, values) in zip(self.model.parts, self._evaluate(self.rows.X), strict=True):
            known = np.zeros(part.n_rules) if part.profile is None else part.profile.share
            shares.append(np.maximum(np.sqrt((share**2).mean(axis=0)), np.maximum(known, _LEAST_SHARE)))
            inputs.append(np.sqrt(np.nan_to_num(values**2).mean(axis=0)))
        sizes = [np.array([shares[k][r] * inputs[k][j] for k, r, j in place]) for place in self.places]
        return [np.where(size > 0, size, 1.0) for size in sizes]

    def _blocks(self) -> Iterator[tuple[slice, list[FloatArray]]]:
        """Yield rows, and for each output the terms of its coefficients in them."""
        for start in range(0, len(self.rows.X), _BLOCK_ROWS):
            here = slice(start, start + _BLOCK_ROWS)
            found = self._evaluate(self.rows.X[here])
            yield (
                here,
                [
                    np.column_stack([found[k][0][:, r] * self._take(found[k][1], k, r, j) for k, r, j in place]) / scale
                    for place, scale in zip(self.places, self.scale, strict=True)
                ],
            )

    def _sum_products(self, output: int) -> FloatArray:
        n_terms = len(self.places[output])
        gram = np.zeros((n_terms, n_terms))
        for here, blocks in self._blocks():
            gram += blocks[output].T @ (self.rows.weight[here, None] * blocks[output])
        return gram

    def _shrink(self, gram: FloatArray) -> FloatArray:
        """Return the curvature from the old rows: that of the new ones, shrunk toward its diagonal if these are few."""
        n_terms, n_rows = len(gram), len(self.rows.X)
        part = n_terms / (n_terms + n_rows)
        return self.ratio * ((1 - part) * gram + part * n_rows * np.eye(n_terms))

    def _measure_trust(self) -> float:
        """Return the mean curvature of the loss in the rows, 1 for regression."""
        if self.model.link == "identity":
            return 1.0
        chance = apply_link(self.model.predict_raw(self.rows.X), self.model.link)
        return float((chance * (1 - chance)).mean())


def _is_main_bias(consequents: FloatArray, k: int) -> FloatArray:
    """Mark the constants of the main rules, which may change even if they are zero."""
    marks = np.zeros((len(consequents), consequents.shape[2]), dtype=bool)
    marks[:, 0] = k == 0
    return marks


def _widen(model: RuleModel, rows: Rows) -> RuleModel:
    """Return rules with profiles of the old and the new rows, and limits for both."""
    parts = []
    for part in model.parts:
        seen = measure_profile((rows.X, rows.y), part.firing_share, rows.weight, part.intervals)
        parts.append(replace(part, profile=seen if part.profile is None else join_profiles(part.profile, seen)))
    widened = RuleModel(tuple(parts))
    if model.limits is None or widened.profile is None:
        return widened
    limits = widened.profile.find_limits()
    low, high = np.minimum(model.limits[:, 0], limits[:, 0]), np.maximum(model.limits[:, 1], limits[:, 1])
    return widened.hold_at(np.column_stack([low, high]))
