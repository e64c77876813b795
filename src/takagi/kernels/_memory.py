"""Blending what is known at remembered rows, by how near they are.

Rows come divided by the widths, so that firing levels are ``exp(-distance^2 / 2)``, and sorted by their first column:
the one in which they spread most, which leaves few of them to look at.
"""

import math
from functools import partial

import numpy as np

from takagi.kernels._compile import entry_point, inner

_REACH = 5.0  # widths; beyond it a row does not count
_allocating = partial(entry_point, _nrt=True)


@inner
def find_first(rows, value):
    """Return the first of the sorted rows whose first column is at least a value."""
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle, 0] < value:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def weigh_near(query, own, rows, weight, near, firing):
    """List the rows within reach of a query, except its own, with weight times firing level; return their number."""
    n_near = 0
    for i in range(find_first(rows, query[0] - _REACH), len(rows)):
        if rows[i, 0] > query[0] + _REACH:
            break
        distance = 0.0
        for j in range(rows.shape[1]):
            step = query[j] - rows[i, j]
            distance += step * step
            if distance > _REACH * _REACH:
                break
        if distance <= _REACH * _REACH and i != own:
            near[n_near], firing[n_near] = i, weight[i] * math.exp(-0.5 * distance)
            n_near += 1
    return n_near


@inner
def blend(values, near, firing, n_near, damping):
    """Return the sum of firing levels and damping, and the values weighted by the firing levels, divided by it."""
    total, blended = damping, 0.0
    for i in range(n_near):
        total += firing[i]
        blended += firing[i] * values[near[i]]
    return total, blended / total


@_allocating
def blend_rows(queries, own, rows, weight, values, damping, blended, fired):
    """Set what `values` blend to at each query, its own row (-1 for none) left out, and the sum of firing levels."""
    near, firing = np.empty(len(rows), np.int64), np.empty(len(rows))
    for q in range(len(queries)):
        n_near = weigh_near(queries[q], own[q], rows, weight, near, firing)
        total, blended[q] = blend(values, near, firing, n_near, damping)
        fired[q] = total - damping


@_allocating
def score_widths(own, share, rows, weight, values, damping, slopes):
    """Return the mean squared error at some rows, each left out, and set its slopes by log widths and log damping."""
    near, firing = np.empty(len(rows), np.int64), np.empty(len(rows))
    n_features, loss = rows.shape[1], 0.0
    pulls = np.empty(n_features)
    slopes[:] = 0.0
    for q in range(len(own)):
        n_near = weigh_near(rows[own[q]], own[q], rows, weight, near, firing)
        total, blended = blend(values, near, firing, n_near, damping)
        error = values[own[q]] - blended
        loss += share[q] * error * error
        pulls[:] = 0.0
        for i in range(n_near):
            lever = firing[i] * (values[near[i]] - blended)
            for j in range(n_features):
                step = rows[own[q], j] - rows[near[i], j]
                pulls[j] += lever * step * step
        scale = -2.0 * share[q] * error / total
        for j in range(n_features):
            slopes[j] += scale * pulls[j]
        slopes[n_features] -= scale * blended * damping
    return loss
