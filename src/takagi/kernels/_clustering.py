"""Fuzzy c-means."""

import numpy as np
from numba import njit

from takagi.kernels._arrays import BLOCK_ROWS, LANES
from takagi.kernels._batch import measure_distances, sum_outer
from takagi.kernels._compile import inner, loop_entry_point
from takagi.kernels._layout import clear, fill_tile

_EPSILON = 2.220446049250313e-16


@inner
def load_block(X, start, n_rows, inputs):
    """Copy rows of X into the inputs of the conditions, zeros into the filling of the last tile."""
    n_features = X.shape[1]
    for i in range(n_rows):
        for k in range(n_features):
            inputs[i * n_features + k] = X[start + i, k]
    for i in range(n_rows * n_features, fill_tile(n_rows) * n_features):
        inputs[i] = 0.0


@inner
def move_centers(X, weight, membership, m, work, sums, total, n_blocks):
    """Set ``-work.offset`` to the centers: the means of the rows weighted by ``weight * membership^m``."""
    n_features, stride = X.shape[1], n_blocks * LANES
    total[:] = 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, len(X) - start)
        load_block(X, start, n_rows, work.inputs_a)
        for i in range(n_rows):
            for r in range(stride):
                work.rate[i * stride + r] = weight[start + i] * power_of(membership[start + i, r], m)
        clear(work.rate, n_rows * stride, fill_tile(n_rows) * stride)
        clear(sums, 0, len(sums))
        sum_outer(work.inputs_a, None, None, n_rows, work.rate, sums, n_features, n_blocks)
        for i in range(len(total)):
            total[i] += sums[i]
    for block in range(n_blocks):
        for k in range(n_features):
            for lane in range(LANES):
                mass = total[block * (n_features + 1) * LANES + lane]
                value = total[(block * (n_features + 1) + k + 1) * LANES + lane]
                work.offset[(block * n_features + k) * LANES + lane] = -value / mass if mass > 0.0 else 0.0


@njit(inline="always")
def power_of(base, exponent):
    """Return base**exponent, quickly for the usual exponents."""
    if exponent == 2.0:
        return base * base
    return base if exponent == 1.0 else base**exponent


@inner
def update_memberships(X, weight, membership, m, n_clusters, work, n_blocks):
    """Set `membership` from the distances to the centers in ``-work.offset``; return the objective before that."""
    n_features, stride, objective = X.shape[1], n_blocks * LANES, 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, len(X) - start)
        load_block(X, start, n_rows, work.inputs_a)
        measure_distances(work.inputs_a, None, n_rows, work.inverse, work.offset, work.distance, n_features, n_blocks)
        for i in range(n_rows):
            nearest, total = np.inf, 0.0
            for r in range(n_clusters):
                work.distance[i * stride + r] = max(work.distance[i * stride + r], _EPSILON**2)
                nearest = min(nearest, work.distance[i * stride + r])
            for r in range(n_clusters):
                square = work.distance[i * stride + r]
                objective += weight[start + i] * square * power_of(membership[start + i, r], m)
                membership[start + i, r] = power_of(nearest / square, 1.0 / (m - 1.0))
                total += membership[start + i, r]
            for r in range(n_clusters):
                membership[start + i, r] = max(membership[start + i, r] / total, _EPSILON)
    return objective


@loop_entry_point
def iterate_fuzzy_cmeans(X, weight, membership, m, tol, rtol, max_iter, n_clusters, work, sums, total, objective):
    """Alternate centers and memberships from the given memberships; return the number of iterations.

    The end is reached when the objective changes by less than ``tol + rtol * objective``. It is measured between the
    two halves of an iteration, and the memberships are updated once more than the centers, as in Matlab's ``fcm``.
    """
    n_blocks = membership.shape[1] // LANES
    for i in range(len(work.inverse)):
        work.inverse[i] = 1.0
    for t in range(max_iter):
        move_centers(X, weight, membership, m, work, sums, total, n_blocks)
        objective[t] = update_memberships(X, weight, membership, m, n_clusters, work, n_blocks)
        if t > 0 and abs(objective[t] - objective[t - 1]) < tol + rtol * objective[t]:
            return t + 1
    return max_iter


@loop_entry_point
def assign_memberships(X, weight, membership, m, n_clusters, work, n_blocks):
    """Make the second half of an iteration, for rows that did not take part in the clustering."""
    return update_memberships(X, weight, membership, m, n_clusters, work, n_blocks)
