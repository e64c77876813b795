"""Prediction and validation: eight rows in the lanes, so that nothing is summed across them."""

import math

import numpy as np

from takagi.kernels._arrays import LANES, ROW_TILE
from takagi.kernels._compile import entry_point, inner, merged
from takagi.kernels._lanes import (
    fma,
    lanes_sum,
    load_splat,
    load_vector,
    splat,
    store,
    vector_exp,
    vector_max,
    vector_min,
)
from takagi.kernels._layout import fill_tile, invert_widths, sections
from takagi.kernels._loss import log_loss

_ROOT_OF_HALF = 0.7071067811865476


@inner
def lay_rows(X, start, n_rows, target, at):
    """Write up to eight rows of X, from `start`, as columns of eight; lanes without a row are zero."""
    for i in range(LANES):
        for k in range(X.shape[1]):
            target[at + k * LANES + i] = X[start + i, k] if i < n_rows else 0.0


@inner
def project_columns(features, at, inputs, theta, start, n_features, n_projected):
    """Set `inputs` to [x P, x] of eight rows, with the projection that lies in theta from `start`."""
    for k in range(0, n_features * LANES, LANES):
        store(inputs, n_projected * LANES + k, load_vector(features, at + k))
    for j in range(n_projected):
        total = load_splat(theta, start + j)
        for k in range(n_features):
            weight = load_splat(theta, start + (k + 1) * n_projected + j)
            total = fma(load_vector(features, at + k * LANES), weight, total)
        store(inputs, j * LANES, total)


@merged
def separate_missing(features, at, inputs, absent, n_features):
    """Set `inputs` to the features of eight rows, zero where they are missing, and mark these in `absent`."""
    for k in range(n_features * LANES):
        value = features[at + k]
        is_missing = value != value
        absent[k] = 1.0 if is_missing else 0.0
        inputs[k] = 0.0 if is_missing else value


@merged
def find_seen(absent, k):
    """Return one where a feature of eight rows is there, and zero where it is missing, if some are."""
    if absent is None:
        return splat(1.0)
    return 1.0 - load_vector(absent, k)


@merged
def depart(x, seen, absent, inverse, offset, here):
    """Return (a - center) / width of a rule for a feature of eight rows, zero where it is missing."""
    if absent is None:
        return fma(x, load_splat(inverse, here), load_splat(offset, here))
    return fma(x, load_splat(inverse, here), load_splat(offset, here) * seen)


@merged
def take_usual(x, absent, k, usual, place):
    """Return a feature of eight rows as a rule's formula takes it: what is usual for it where it is missing."""
    if absent is None:
        return x
    return fma(load_vector(absent, k), load_splat(usual, place), x)


@merged
def fire_columns(inputs, absent, at, inverse, offset, firing, scale, n_inputs, n_rules):
    """Set `firing` to the firing levels of the rules relative to the nearest one, and `scale` to 1 / their sum.

    For eight rows and tiles of four rules; see `share_rows`. Rules that only fill up a tile lie too far away to count.
    Minima and sums are kept in four parts, which do not wait for each other.
    """
    na = nb = nc = nd = splat(1e300)
    for r in range(0, n_rules, ROW_TILE):
        za = zb = zc = zd = splat(0.0)
        here = (r // LANES * n_inputs) * LANES + r % LANES
        for k in range(at, at + n_inputs * LANES, LANES):
            x, seen = load_vector(inputs, k), find_seen(absent, k)
            da = depart(x, seen, absent, inverse, offset, here)
            db = depart(x, seen, absent, inverse, offset, here + 1)
            dc = depart(x, seen, absent, inverse, offset, here + 2)
            dd = depart(x, seen, absent, inverse, offset, here + 3)
            za, zb, zc, zd = fma(da, da, za), fma(db, db, zb), fma(dc, dc, zc), fma(dd, dd, zd)
            here += LANES
        za, zb, zc, zd = vector_min(za, 1e300), vector_min(zb, 1e300), vector_min(zc, 1e300), vector_min(zd, 1e300)
        na, nb, nc, nd = vector_min(za, na), vector_min(zb, nb), vector_min(zc, nc), vector_min(zd, nd)
        store(firing, r * LANES, za)
        store(firing, (r + 1) * LANES, zb)
        store(firing, (r + 2) * LANES, zc)
        store(firing, (r + 3) * LANES, zd)
    for r in range(n_rules, fill_tile(n_rules)):
        store(firing, r * LANES, 1e301)
    nearest = vector_min(vector_min(na, nb), vector_min(nc, nd))
    ta = tb = tc = td = splat(0.0)
    for r in range(0, n_rules * LANES, ROW_TILE * LANES):
        fa = vector_exp(vector_max(nearest - load_vector(firing, r), -650.0))
        fb = vector_exp(vector_max(nearest - load_vector(firing, r + LANES), -650.0))
        fc = vector_exp(vector_max(nearest - load_vector(firing, r + 2 * LANES), -650.0))
        fd = vector_exp(vector_max(nearest - load_vector(firing, r + 3 * LANES), -650.0))
        ta, tb, tc, td = ta + fa, tb + fb, tc + fc, td + fd
        store(firing, r, fa)
        store(firing, r + LANES, fb)
        store(firing, r + 2 * LANES, fc)
        store(firing, r + 3 * LANES, fd)
    store(scale, 0, 1.0 / ((ta + tb) + (tc + td)))


@merged
def conclude_columns(inputs, absent, usual, at, theta, start, firing, n_inputs, n_rules):
    """Return the outputs of the rules, whose consequents lie in theta from `start`, summed with their firing levels."""
    ta = tb = tc = td = splat(0.0)
    for r in range(0, n_rules, ROW_TILE):
        here = start + (r // LANES * (n_inputs + 1)) * LANES + r % LANES
        ya, yb = load_splat(theta, here), load_splat(theta, here + 1)
        yc, yd = load_splat(theta, here + 2), load_splat(theta, here + 3)
        place = (r // LANES * n_inputs) * LANES + r % LANES
        for k in range(at, at + n_inputs * LANES, LANES):
            here += LANES
            x = load_vector(inputs, k)
            ya = fma(take_usual(x, absent, k, usual, place), load_splat(theta, here), ya)
            yb = fma(take_usual(x, absent, k, usual, place + 1), load_splat(theta, here + 1), yb)
            yc = fma(take_usual(x, absent, k, usual, place + 2), load_splat(theta, here + 2), yc)
            yd = fma(take_usual(x, absent, k, usual, place + 3), load_splat(theta, here + 3), yd)
            place += LANES
        ta = fma(ya, load_vector(firing, r * LANES), ta)
        tb = fma(yb, load_vector(firing, (r + 1) * LANES), tb)
        tc = fma(yc, load_vector(firing, (r + 2) * LANES), tc)
        td = fma(yd, load_vector(firing, (r + 3) * LANES), td)
    return (ta + tb) + (tc + td)


@merged
def infer_columns(theta, shape, inputs_a, inputs_c, absent, usual, at, inverse, offset, firing, scale, value):
    """Compute firing levels and predictions from the inputs of conditions and consequents."""
    n_inputs = shape.n_projected_c + shape.n_features
    n_inputs_a = shape.n_projected_a + shape.n_features
    fire_columns(inputs_a, absent, at, inverse, offset, firing, scale, n_inputs_a, shape.n_rules)
    start, size = sections(shape)[2], shape.n_blocks * (n_inputs + 1) * LANES
    for q in range(shape.n_outputs):
        total = conclude_columns(inputs_c, absent, usual, at, theta, start + q * size, firing, n_inputs, shape.n_rules)
        store(value, q * LANES, total * load_vector(scale, 0))


@merged
def predict_columns(
    theta, shape, features, at, inputs_a, inputs_c, absent, usual, inverse, offset, firing, scale, value
):
    """Compute firing levels and predictions of eight rows, whose features lie side by side from `at`.

    The buffers come one by one: taken from a tuple here, each would be counted as a reference for every eight rows.
    """
    first = np.intp(0)
    if absent is not None:
        separate_missing(features, at, inputs_a, absent, shape.n_features)
        infer_columns(theta, shape, inputs_a, inputs_a, absent, usual, first, inverse, offset, firing, scale, value)
    elif inputs_c is None:
        infer_columns(theta, shape, features, features, None, None, at, inverse, offset, firing, scale, value)
    else:
        _, _, _, start_a, start_c, _ = sections(shape)
        project_columns(features, at, inputs_a, theta, start_a, shape.n_features, shape.n_projected_a)
        project_columns(features, at, inputs_c, theta, start_c, shape.n_features, shape.n_projected_c)
        infer_columns(theta, shape, inputs_a, inputs_c, None, None, first, inverse, offset, firing, scale, value)


@entry_point
def predict_rows(theta, shape, columns, X, prediction, share):
    """Fill `prediction` (n_rows, n_outputs) and, unless it has no rows, `share` (n_rows, n_rules)."""
    features, inputs_a, inputs_c, absent, usual, firing, scale, value, inverse, offset = columns
    invert_widths(theta, shape, _ROOT_OF_HALF, inverse, offset)
    first = np.intp(0)  # a plain 0 would be a type of its own, and compile everything below once more
    for start in range(0, len(X), LANES):
        n_rows = min(LANES, len(X) - start)
        lay_rows(X, start, n_rows, features, first)
        predict_columns(
            theta, shape, features, first, inputs_a, inputs_c, absent, usual, inverse, offset, firing, scale, value
        )
        for i in range(n_rows):
            for q in range(shape.n_outputs):
                prediction[start + i, q] = value[q * LANES + i]
            for r in range(shape.n_rules if len(share) else 0):
                share[start + i, r] = firing[r * LANES + i] * scale[i]


@entry_point
def weighted_loss(theta, shape, columns, features, targets, weights, loss):
    """Return the weighted loss of rows in lanes: the mean log loss, or the root of the mean squared error.

    Features, targets and weights come as `to_lanes` lays them out, the last group filled up with rows of weight zero.
    """
    _, inputs_a, inputs_c, absent, usual, firing, scale, value, inverse, offset = columns
    invert_widths(theta, shape, _ROOT_OF_HALF, inverse, offset)
    square, total, lost = splat(0.0), splat(0.0), 0.0
    for start in range(0, len(weights), LANES):
        at = start * shape.n_features
        predict_columns(
            theta, shape, features, at, inputs_a, inputs_c, absent, usual, inverse, offset, firing, scale, value
        )
        weight = load_vector(weights, start)
        if loss is None:
            for q in range(0, shape.n_outputs * LANES, LANES):
                error = load_vector(value, q) - load_vector(targets, start * shape.n_outputs + q)
                square, total = fma(weight * error, error, square), total + weight
        else:
            total = total + weight
            for i in range(LANES):
                first = start * shape.n_outputs + i
                lost += weights[start + i] * log_loss(value, i, targets, first, np.intp(LANES), shape.n_outputs)
    return math.sqrt(lanes_sum(square) / lanes_sum(total)) if loss is None else lost / lanes_sum(total)
