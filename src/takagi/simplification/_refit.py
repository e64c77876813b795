"""Re-estimation: consequents by ridge regression, and Gauss-Newton steps for sets and consequents together."""

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from takagi._typing import FloatArray, IntArray
from takagi.simplification._draft import Draft, View

STRENGTH = 1e-3  # of the pull towards the present numbers, in standard units
_MAX_PARAMETERS = 700  # of a Gauss-Newton step
_MAX_NUMBERS = 2e7  # of its Jacobian
_LONGEST_STEP = 0.5
_WIDTHS = (0.05, 100.0)


def refit_consequents(view: View, strength: float = STRENGTH) -> Draft:
    """Return a draft with new consequents.

    The active terms ``w`` of each output minimize ``sum_n weight_n (target_n - Phi_n w)^2 + strength |w - w_0|^2``,
    where ``w_0`` are the present ones and ``Phi`` has the inputs of the terms times the shares of their rules.
    """
    draft = view.draft
    consequents = draft.consequents.copy()
    for k, design in enumerate(_make_designs(view)):
        consequents[:, k][draft.is_active[:, k]] += _solve_ridge(design, _weigh_residual(view)[:, k], strength)
    return replace(draft, consequents=consequents)


def price_terms(view: View, strength: float = STRENGTH) -> FloatArray:
    """Return what dropping a term costs if the others of its output are re-estimated, of the shape of consequents.

    That is ``w_j^2 / (H^-1)_jj`` with the Hessian ``H`` of `refit_consequents`, exact where the present terms minimize.
    Infinite for biases, which stay, and for terms that are not there.
    """
    draft = view.draft
    price = np.full(draft.consequents.shape, np.inf)
    for k, design in enumerate(_make_designs(view)):
        active = draft.is_active[:, k]
        price[:, k][active] = draft.consequents[:, k][active] ** 2 / _invert_diagonal(design, strength)
    price[:, :, 0] = np.inf
    return price


def _make_designs(view: View) -> list[FloatArray]:
    """Return for each output the inputs of its active terms, times shares and roots of weights."""
    active = view.draft.is_active
    weighted = view.share * np.sqrt(view.rows.weight)[:, None]
    designs: list[FloatArray] = []
    for k in range(active.shape[1]):
        if k and np.array_equal(active[:, k], active[:, k - 1]):
            designs.append(designs[-1])
        else:
            rule, term = np.nonzero(active[:, k])
            designs.append(weighted[:, rule] * view.rows.terms[:, term])
    return designs


def _weigh_residual(view: View) -> FloatArray:
    return np.sqrt(view.rows.weight)[:, None] * (view.rows.target - view.prediction)


def _solve_ridge(design: FloatArray, residual: FloatArray, strength: float) -> FloatArray:
    if design.shape[1] > len(design):
        return design.T @ cho_solve(_factor(design @ design.T, strength), residual, check_finite=False)
    return cho_solve(_factor(design.T @ design, strength), design.T @ residual, check_finite=False)


def _invert_diagonal(design: FloatArray, strength: float) -> FloatArray:
    """Return the diagonal of the inverse of ``design' design + strength``."""
    if design.shape[1] > len(design):
        lower, _ = _factor(design @ design.T, strength)
        explained = (solve_triangular(lower, design, lower=True, check_finite=False) ** 2).sum(axis=0)
        return np.maximum(1 - explained, 1e-12) / strength
    lower, _ = _factor(design.T @ design, strength)
    inverse = solve_triangular(lower, np.eye(len(lower)), lower=True, check_finite=False)
    return (inverse**2).sum(axis=0)


def _factor(gram: FloatArray, strength: float | FloatArray) -> tuple[FloatArray, bool]:
    gram[np.diag_indices_from(gram)] += strength
    return cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)


# -- sets and consequents together -------------------------------------------------------------------------------------


def refine(view: View, damping: float) -> tuple[View, float]:
    """Take a damped Gauss-Newton step (Levenberg-Marquardt); return the better view, or the same, and the next damping.

    Rules that share a set go on sharing it. Nothing is done where the step would take too long.
    """
    draft = view.draft
    label = _number_sets(draft)
    n_sets = int(label.max()) + 1
    n_parameters = 2 * n_sets + int(draft.is_active.sum())
    if not n_sets or n_parameters > _MAX_PARAMETERS or n_parameters * view.rows.target.size > _MAX_NUMBERS:
        return view, damping
    jacobian = _make_jacobian(view, label)
    gram, gradient = jacobian.T @ jacobian, jacobian.T @ _weigh_residual(view).ravel()
    diagonal = gram.diagonal().copy()
    for _ in range(4):
        step = cho_solve(_factor(gram.copy(), damping * diagonal + STRENGTH), gradient, check_finite=False)
        moved = View(_move(draft, label, step), view.rows)
        if moved.error < view.error:
            return moved, max(damping / 4, 1e-4)
        damping = min(damping * 8, 1e3)
    return view, damping


def _number_sets(draft: Draft) -> IntArray:
    """Return a number for each distinct set of all inputs, -1 where there is no condition."""
    label = np.full(draft.sets.shape, -1)
    for m, used in enumerate(draft.has_condition.T):
        label[used, m] = label.max() + 1 + np.unique(draft.sets[used, m], return_inverse=True)[1]
    return label


def _make_jacobian(view: View, label: IntArray) -> FloatArray:
    """Return derivatives of the predictions by centers, logarithms of widths and terms, times roots of weights.

    Its rows are the outputs of row 1, of row 2, ...
    """
    draft, rows = view.draft, view.rows
    n_sets = label.max() + 1
    jacobian = np.zeros((*rows.target.shape, 2 * n_sets + draft.is_active.sum()))
    weighted = view.share * np.sqrt(rows.weight)[:, None]
    for r, used in enumerate(label >= 0):
        own, width = label[r, used], draft.widths[r, used]
        z = (rows.conditions[:, used] - draft.centers[r, used]) / width
        pull = weighted[:, r, None] * (view.outputs[:, r] - view.prediction)
        jacobian[:, :, own] += pull[:, :, None] * (z / width)[:, None, :]
        jacobian[:, :, n_sets + own] += pull[:, :, None] * (z * z)[:, None, :]
    start = 2 * n_sets
    for k, design in enumerate(_make_designs(view)):
        jacobian[:, k, start : start + design.shape[1]] = design
        start += design.shape[1]
    return jacobian.reshape(-1, jacobian.shape[2])


def _move(draft: Draft, label: IntArray, step: FloatArray) -> Draft:
    moved = draft.copy()
    used, n_sets = label >= 0, label.max() + 1
    shift, growth = np.clip(step[: 2 * n_sets], -_LONGEST_STEP, _LONGEST_STEP).reshape(2, n_sets)
    old = draft.widths[used]
    moved.centers[used] += shift[label[used]]
    low, high = np.minimum(old, _WIDTHS[0]), np.maximum(old, _WIDTHS[1])
    moved.widths[used] = np.clip(old * np.exp(growth[label[used]]), low, high)
    by_output = np.moveaxis(moved.consequents, 1, 0)  # the order of the terms in the step
    by_output[np.moveaxis(draft.is_active, 1, 0)] += step[2 * n_sets :]
    return moved
