"""Blending what is known at remembered rows, by how near they are.

Rows come divided by the widths, so that firing levels are ``exp(-distance^2 / 2)``, sorted by their first feature, the
one in which they spread most, which leaves few of them to look at, and transposed: of each feature, eight neighbors are
taken at a time. Rows that fill up the last eight are too far away to count.
"""

from functools import partial

import numpy as np

from takagi.kernels._arrays import LANES
from takagi.kernels._compile import entry_point, inner
from takagi.kernels._lanes import (
    fma,
    keep_up_to,
    lanes_min,
    lanes_sum,
    load_vector,
    splat,
    store,
    vector_exp,
    vector_max,
)
from takagi.kernels._layout import clear

_REACH = 5.0  # widths; beyond it a row does not count
_allocating = partial(entry_point, _nrt=True)


@inner
def find_first(values, value):
    """Return the first of the sorted values that is at least a given one."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def weigh_near(query, own, rows, n_rows, weight, near, firing):
    """List each eight rows of which one is within reach of a query, with weight times firing level, none for its own.

    Return how many times eight there are.
    """
    n_near = 0
    for i in range(find_first(rows[:n_rows], query[0] - _REACH) // LANES * LANES, n_rows, LANES):
        if rows[i] > query[0] + _REACH:
            break
        distance = splat(0.0)
        for j in range(len(query)):
            step = load_vector(rows, j * n_rows + i) - query[j]
            distance = fma(step, step, distance)
        if lanes_min(distance) <= _REACH * _REACH:
            level = vector_exp(vector_max(distance * -0.5, -650.0)) * load_vector(weight, i)
            store(firing, n_near * LANES, keep_up_to(distance, _REACH * _REACH, level))
            if i <= own < i + LANES:
                firing[n_near * LANES + own - i] = 0.0
            near[n_near] = i
            n_near += 1
    return n_near


@inner
def blend(values, near, firing, n_near, damping):
    """Return the sum of firing levels and damping, and the values weighted by the firing levels, divided by it."""
    total, blended = splat(0.0), splat(0.0)
    for i in range(n_near):
        fired = load_vector(firing, i * LANES)
        total, blended = total + fired, fma(fired, load_vector(values, near[i]), blended)
    whole = damping + lanes_sum(total)
    return whole, lanes_sum(blended) / whole


@_allocating
def blend_rows(queries, own, rows, weight, values, damping, blended, fired):
    """Set what `values` blend to at each query, its own row (-1 for none) left out, and the sum of firing levels."""
    n_rows, flat = len(weight), rows.reshape(-1)
    near, firing = np.empty(n_rows // LANES, np.intp), np.empty(n_rows)
    for q in range(len(queries)):
        n_near = weigh_near(queries[q], own[q], flat, n_rows, weight, near, firing)
        total, blended[q] = blend(values, near, firing, n_near, damping)
        fired[q] = total - damping


@_allocating
def score_widths(own, share, rows, weight, values, damping, slopes):
    """Return the mean squared error at some rows, each left out, and set its slopes by log widths and log damping."""
    n_features, n_rows = rows.shape
    flat, loss = rows.reshape(-1), 0.0
    near, firing = np.empty(n_rows // LANES, np.intp), np.empty(n_rows)
    query, pulls = np.empty(n_features), np.empty(n_features * LANES)
    slopes[:] = 0.0
    for q in range(len(own)):
        query[:] = rows[:, own[q]]
        n_near = weigh_near(query, own[q], flat, n_rows, weight, near, firing)
        total, blended = blend(values, near, firing, n_near, damping)
        error = values[own[q]] - blended
        loss += share[q] * error * error
        clear(pulls, 0, len(pulls))
        for i in range(n_near):
            lever = load_vector(firing, i * LANES) * (load_vector(values, near[i]) - blended)
            for j in range(n_features):
                step = load_vector(flat, j * n_rows + near[i]) - query[j]
                store(pulls, j * LANES, fma(lever * step, step, load_vector(pulls, j * LANES)))
        scale = -2.0 * share[q] * error / total
        for j in range(n_features):
            slopes[j] += scale * lanes_sum(load_vector(pulls, j * LANES))
        slopes[n_features] -= scale * blended * damping
    return loss
