"""Every compiled function of takagi; beside `takagi.lanes` the only import of numba.

Layout. Rules lie side by side in the lanes of vector registers: an array over rules and inputs is stored as
``(n_blocks, n_inputs, LANES)``, one block per eight rules, the last one filled up with rules too far away to fire
(`takagi.lanes.to_lanes`). A row of a mini-batch meets one block at a time, so its parameters stay in the first-level
cache, and four rows are taken together, so each parameter is loaded once for four rows. Prediction and validation,
which need no gradient, lay eight rows side by side instead (`lay_rows`): then nothing is ever summed across lanes.

All parameters of a rule base are one flat vector `theta` (centers, widths, consequents, projections: `sections`), and
so are their gradients and the optimiser's moments; an update is one loop over them. Parameters that are tied (the
shared sets of a grid partition, a shared projection) are stored once per use; they start equal and get the same summed
gradient, hence stay equal.

Firing levels are kept as squared distances and turned into shares by a softmax (`share_rows`). The authors' Matlab code
multiplies memberships instead; where all of them underflow it leaves the row out of the gradient and predicts the mean
of the other rows. In log space such a row still has a nearest rule, and wherever their number is finite ours is the
same.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit

from takagi.lanes import (
    LANES,
    copy_sign,
    fma,
    lanes_min,
    lanes_sum,
    load,
    load_splat,
    splat,
    store,
    vector_abs,
    vector_exp,
    vector_max,
    vector_min,
    vector_sqrt,
)

ROW_TILE = 4
BLOCK_ROWS = 64


def _compiled(function):
    """Compile on first use, release the GIL, keep the machine code on disk where some folder is writable.

    No fast-math flag: what LLVM then fuses or reorders depends on what it inlined, and a fresh compilation would differ
    in the last bits from the same code loaded from disk. Where a multiplication and an addition shall be one
    instruction, the code says `fma`.
    """
    try:
        return njit(function, cache=True, nogil=True, error_model="numpy")
    except RuntimeError:  # numba found no folder to write to
        return njit(function, nogil=True, error_model="numpy")


def _inner(function, **options):
    """Compile for callers in this file only, which saves making it callable from Python."""
    return njit(function, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def _merged(function):
    """Compile as a part of its callers: a call would pass seven words per array, which short loops notice."""
    return _inner(function, forceinline=True)


# -- One rule base as a flat vector -----------------------------------------------------------------------------------


class Shape(NamedTuple):
    """Sizes of a rule base in compiled code."""

    n_features: int  # columns of X
    n_rules: int
    n_blocks: int  # blocks of LANES rules
    n_outputs: int
    n_projected_a: int  # projected inputs of the antecedents, before the features
    n_projected_c: int  # projected inputs of the consequents, before the features


@njit(inline="always")
def sections(shape):
    """Return where centers, widths, consequents, both projections and the end lie in theta."""
    n_sets = shape.n_blocks * (shape.n_projected_a + shape.n_features) * LANES
    n_weights = shape.n_outputs * shape.n_blocks * (shape.n_projected_c + shape.n_features + 1) * LANES
    a = 2 * n_sets + n_weights
    c = a + (shape.n_features + 1) * shape.n_projected_a
    return 0, n_sets, 2 * n_sets, a, c, c + (shape.n_features + 1) * shape.n_projected_c


class Work(NamedTuple):
    """Buffers for up to `n_rows` rows at a time, named for what they hold (r: rows, l: lanes of all rules)."""

    inputs_a: np.ndarray  # (r, n_inputs of the antecedents)
    inputs_c: np.ndarray  # (r, n_inputs of the consequents)
    distance: np.ndarray  # (r, l) squared distance to each rule in widths
    output: np.ndarray  # (n_outputs, r, l) consequents
    share: np.ndarray  # (r, l) normalised firing levels
    pull: np.ndarray  # (r, l) derivative of the loss by the log of a firing level
    value: np.ndarray  # (r, n_outputs) prediction
    error: np.ndarray  # (r, n_outputs) weighted error
    kept: np.ndarray  # (r, l) one for the rules that DropRule kept, else zero
    every_rule: np.ndarray  # (r, l) one for rules, zero for the filling
    rate: np.ndarray  # (r, l) weight of each row and rule in `sum_outer`
    inverse: np.ndarray  # like centers: 1 / width
    offset: np.ndarray  # like centers: -center / width


def make_work(shape, n_rows):
    """Allocate the buffers for at most `n_rows` rows."""
    rows = -(-n_rows // ROW_TILE) * ROW_TILE
    lanes = shape.n_blocks * LANES
    n_inputs_a = shape.n_projected_a + shape.n_features
    every_rule = np.tile((np.arange(lanes) < shape.n_rules).astype(float), rows)
    return Work(
        inputs_a=np.zeros(rows * n_inputs_a),
        inputs_c=np.zeros(rows * (shape.n_projected_c + shape.n_features)),
        distance=np.zeros(rows * lanes),
        output=np.zeros(shape.n_outputs * rows * lanes),
        share=np.zeros(rows * lanes),
        pull=np.zeros(rows * lanes),
        value=np.zeros(rows * shape.n_outputs),
        error=np.zeros(rows * shape.n_outputs),
        kept=np.zeros(rows * lanes),
        every_rule=every_rule,
        rate=np.zeros(rows * lanes),
        inverse=np.zeros(shape.n_blocks * n_inputs_a * LANES),
        offset=np.zeros(shape.n_blocks * n_inputs_a * LANES),
    )


# -- Forward: inputs, distances, shares, outputs ----------------------------------------------------------------------


@_inner
def invert_widths(theta, shape, inverse, offset):
    """Keep 1 / width and -center / width, so that a distance is one multiplication and one addition."""
    start_c, start_s, end = sections(shape)[:3]
    for i in range(0, end - start_s, LANES):
        inverted = 1.0 / load(theta, start_s + i)
        store(inverse, i, inverted)
        store(offset, i, splat(0.0) - load(theta, start_c + i) * inverted)


@njit(inline="always")
def fill_tile(n_rows):
    """Return the number of rows with those that fill up the last tile."""
    return (n_rows + ROW_TILE - 1) // ROW_TILE * ROW_TILE


@njit(inline="always")
def clear(array, start, end):
    """Set a part of an array, whole vectors long, to zero."""
    for i in range(start, end, LANES):
        store(array, i, 0.0)


@_inner
def fill_inputs(inputs, X, rows, projection, n_projected):
    """Set `inputs` to [X P, X] for the given rows of X, and to zeros for the filling of the last tile."""
    n_features = X.shape[1]
    n_inputs = n_projected + n_features
    for i in range(len(rows)):
        row, start = rows[i], i * n_inputs
        for j in range(n_projected):
            total = projection[j]
            for k in range(n_features):
                total += X[row, k] * projection[(k + 1) * n_projected + j]
            inputs[start + j] = total
        source, target = X[row], inputs[start + n_projected : start + n_inputs]
        for k in range(n_features):
            target[k] = source[k]
    for i in range(len(rows) * n_inputs, fill_tile(len(rows)) * n_inputs):
        inputs[i] = 0.0


@njit(inline="always")
def has_projection(shape):
    """Tell whether conditions and consequents may have different inputs."""
    return shape.n_projected_a + shape.n_projected_c > 0


@njit(inline="always")
def consequent_inputs(shape, work):
    """Return the inputs of the consequents; without projections those of the conditions serve for both."""
    return work.inputs_c if has_projection(shape) else work.inputs_a


@_inner
def measure_distances(inputs, n_rows, inverse, offset, distance, n_inputs, n_blocks):
    """Set `distance` to the sum over inputs of ((a - center) / width)^2, for tiles of four rows and eight rules."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * n_inputs * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            za = zb = zc = zd = splat(0.0)
            for k in range(n_inputs):
                s, t = load(inverse, start + k * LANES), load(offset, start + k * LANES)
                da, db = fma(load_splat(inputs, a + k), s, t), fma(load_splat(inputs, b + k), s, t)
                dc, dd = fma(load_splat(inputs, c + k), s, t), fma(load_splat(inputs, d + k), s, t)
                za, zb, zc, zd = fma(da, da, za), fma(db, db, zb), fma(dc, dc, zc), fma(dd, dd, zd)
            at = i * stride + block * LANES
            store(distance, at, za)
            store(distance, at + stride, zb)
            store(distance, at + 2 * stride, zc)
            store(distance, at + 3 * stride, zd)


@_inner
def apply_consequents(inputs, n_rows, weights, output, n_inputs, n_blocks):
    """Set `output` to w_0 + sum of w_m b_m, for tiles of four rows and eight rules."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * (n_inputs + 1) * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            ya = yb = yc = yd = load(weights, start)
            for k in range(n_inputs):
                w = load(weights, start + (k + 1) * LANES)
                ya, yb = fma(load_splat(inputs, a + k), w, ya), fma(load_splat(inputs, b + k), w, yb)
                yc, yd = fma(load_splat(inputs, c + k), w, yc), fma(load_splat(inputs, d + k), w, yd)
            at = i * stride + block * LANES
            store(output, at, ya)
            store(output, at + stride, yb)
            store(output, at + 2 * stride, yc)
            store(output, at + 3 * stride, yd)


@_inner
def share_rows(distance, kept, share, n_rows, n_blocks):
    """Turn squared distances into shares of the kept rules, exp(-z/2) normalised.

    The nearest kept rule is subtracted first, so that at least one term is 1. No kept rule
    has less than exp(-650) of it, which no sum notices, and distances that overflow count as 1e300, which leaves equal
    shares where every rule is that far away.
    """
    for i in range(n_rows):
        start, end = i * n_blocks * LANES, (i + 1) * n_blocks * LANES
        nearest = splat(1e301)
        for v in range(start, end, LANES):
            z = vector_min(load(distance, v), 1e300)
            nearest = vector_min(nearest, fma(1.0 - load(kept, v), 1e301, z))
        lowest = lanes_min(nearest)
        for v in range(start, end, LANES):
            exponent = vector_max((lowest - vector_min(load(distance, v), 1e300)) * 0.5, -650.0)
            store(share, v, vector_min(exponent, 0.0))
    for v in range(0, n_rows * n_blocks * LANES, LANES):  # a loop of its own, whose turns do not wait for each other
        store(share, v, vector_exp(load(share, v)) * load(kept, v))
    for i in range(n_rows):
        start, end = i * n_blocks * LANES, (i + 1) * n_blocks * LANES
        total = splat(0.0)
        for v in range(start, end, LANES):
            total = total + load(share, v)
        scale = 1.0 / lanes_sum(total)
        for v in range(start, end, LANES):
            store(share, v, load(share, v) * scale)


@_inner
def forward(theta, shape, work, X, rows, kept):
    """Compute shares, rule outputs and predictions of the given rows of X into `work`."""
    _, _, start_w, start_a, start_c, end = sections(shape)
    n_rows, n_blocks, n_outputs = len(rows), shape.n_blocks, shape.n_outputs
    n_inputs_a = shape.n_projected_a + shape.n_features
    n_inputs_c = shape.n_projected_c + shape.n_features
    fill_inputs(work.inputs_a, X, rows, theta[start_a:start_c], shape.n_projected_a)
    if has_projection(shape):
        fill_inputs(work.inputs_c, X, rows, theta[start_c:end], shape.n_projected_c)
    measure_distances(work.inputs_a, n_rows, work.inverse, work.offset, work.distance, n_inputs_a, n_blocks)
    share_rows(work.distance, kept, work.share, n_rows, n_blocks)
    size, page = n_blocks * (n_inputs_c + 1) * LANES, len(work.share)
    for q in range(n_outputs):
        weights = theta[start_w + q * size : start_w + (q + 1) * size]
        output = work.output[q * page : (q + 1) * page]
        apply_consequents(consequent_inputs(shape, work), n_rows, weights, output, n_inputs_c, n_blocks)
        for i in range(n_rows):
            value = splat(0.0)
            for v in range(i * n_blocks * LANES, (i + 1) * n_blocks * LANES, LANES):
                value = fma(load(work.share, v), load(output, v), value)
            work.value[i * n_outputs + q] = lanes_sum(value)


# -- Prediction and validation: eight rows in the lanes ---------------------------------------------------------------


class Columns(NamedTuple):
    """Buffers for eight rows at a time, side by side."""

    features: np.ndarray  # (n_features, LANES)
    inputs_a: np.ndarray  # (n_inputs of the antecedents, LANES), where there are projections
    inputs_c: np.ndarray  # (n_inputs of the consequents, LANES), where there are projections
    firing: np.ndarray  # (rules, LANES) squared distances, then firing levels
    scale: np.ndarray  # (LANES) what makes shares of the firing levels
    value: np.ndarray  # (n_outputs, LANES) predictions
    inverse: np.ndarray  # like centers: 1 / width
    offset: np.ndarray  # like centers: -center / width


def make_columns(shape):
    """Allocate the buffers."""
    n_inputs_a, n_inputs_c = shape.n_projected_a + shape.n_features, shape.n_projected_c + shape.n_features
    return Columns(
        features=np.zeros(shape.n_features * LANES),
        inputs_a=np.zeros(n_inputs_a * LANES),
        inputs_c=np.zeros(n_inputs_c * LANES),
        firing=np.zeros(shape.n_blocks * LANES * LANES),
        scale=np.zeros(LANES),
        value=np.zeros(shape.n_outputs * LANES),
        inverse=np.zeros(shape.n_blocks * n_inputs_a * LANES),
        offset=np.zeros(shape.n_blocks * n_inputs_a * LANES),
    )


@_inner
def lay_rows(X, start, n_rows, target, at):
    """Write up to eight rows of X, from `start`, as columns of eight; lanes without a row are zero."""
    for i in range(LANES):
        for k in range(X.shape[1]):
            target[at + k * LANES + i] = X[start + i, k] if i < n_rows else 0.0


@_inner
def project_columns(features, at, inputs, theta, start, n_features, n_projected):
    """Set `inputs` to [x P, x] of eight rows, with the projection that lies in theta from `start`."""
    for k in range(0, n_features * LANES, LANES):
        store(inputs, n_projected * LANES + k, load(features, at + k))
    for j in range(n_projected):
        total = load_splat(theta, start + j)
        for k in range(n_features):
            weight = load_splat(theta, start + (k + 1) * n_projected + j)
            total = fma(load(features, at + k * LANES), weight, total)
        store(inputs, j * LANES, total)


@_merged
def fire_columns(inputs, at, inverse, offset, firing, scale, n_inputs, n_rules):
    """Set `firing` to the firing levels of the rules relative to the nearest one, and `scale` to 1 / their sum.

    For eight rows and tiles of four rules; see `share_rows`. Rules that only fill up a tile lie too far away to count.
    Minima and sums are kept in four parts, which do not wait for each other.
    """
    na = nb = nc = nd = splat(1e300)
    for r in range(0, n_rules, ROW_TILE):
        za = zb = zc = zd = splat(0.0)
        here = (r // LANES * n_inputs) * LANES + r % LANES
        for k in range(at, at + n_inputs * LANES, LANES):
            x = load(inputs, k)
            da = fma(x, load_splat(inverse, here), load_splat(offset, here))
            db = fma(x, load_splat(inverse, here + 1), load_splat(offset, here + 1))
            dc = fma(x, load_splat(inverse, here + 2), load_splat(offset, here + 2))
            dd = fma(x, load_splat(inverse, here + 3), load_splat(offset, here + 3))
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
        fa = vector_exp(vector_max((nearest - load(firing, r)) * 0.5, -650.0))
        fb = vector_exp(vector_max((nearest - load(firing, r + LANES)) * 0.5, -650.0))
        fc = vector_exp(vector_max((nearest - load(firing, r + 2 * LANES)) * 0.5, -650.0))
        fd = vector_exp(vector_max((nearest - load(firing, r + 3 * LANES)) * 0.5, -650.0))
        ta, tb, tc, td = ta + fa, tb + fb, tc + fc, td + fd
        store(firing, r, fa)
        store(firing, r + LANES, fb)
        store(firing, r + 2 * LANES, fc)
        store(firing, r + 3 * LANES, fd)
    store(scale, at * 0, 1.0 / ((ta + tb) + (tc + td)))


@_merged
def conclude_columns(inputs, at, theta, start, firing, n_inputs, n_rules):
    """Return the outputs of the rules, whose consequents lie in theta from `start`, summed with their firing levels."""
    ta = tb = tc = td = splat(0.0)
    for r in range(0, n_rules, ROW_TILE):
        here = start + (r // LANES * (n_inputs + 1)) * LANES + r % LANES
        ya, yb = load_splat(theta, here), load_splat(theta, here + 1)
        yc, yd = load_splat(theta, here + 2), load_splat(theta, here + 3)
        for k in range(at, at + n_inputs * LANES, LANES):
            here += LANES
            x = load(inputs, k)
            ya, yb = fma(x, load_splat(theta, here), ya), fma(x, load_splat(theta, here + 1), yb)
            yc, yd = fma(x, load_splat(theta, here + 2), yc), fma(x, load_splat(theta, here + 3), yd)
        ta = fma(ya, load(firing, r * LANES), ta)
        tb = fma(yb, load(firing, (r + 1) * LANES), tb)
        tc = fma(yc, load(firing, (r + 2) * LANES), tc)
        td = fma(yd, load(firing, (r + 3) * LANES), td)
    return (ta + tb) + (tc + td)


@_merged
def predict_columns(theta, shape, features, at, inputs_a, inputs_c, inverse, offset, firing, scale, value):
    """Compute firing levels and predictions of eight rows, whose features lie side by side from `at`.

    The buffers come one by one: taken from a tuple here, each would be counted as a reference for every eight rows.
    """
    if has_projection(shape):
        _, _, _, start_a, start_c, _ = sections(shape)
        project_columns(features, at, inputs_a, theta, start_a, shape.n_features, shape.n_projected_a)
        project_columns(features, at, inputs_c, theta, start_c, shape.n_features, shape.n_projected_c)
        infer_columns(theta, shape, inputs_a, inputs_c, at - at, inverse, offset, firing, scale, value)
    else:
        infer_columns(theta, shape, features, features, at, inverse, offset, firing, scale, value)


@_merged
def infer_columns(theta, shape, inputs_a, inputs_c, at, inverse, offset, firing, scale, value):
    """Compute firing levels and predictions from the inputs of conditions and consequents."""
    n_inputs = shape.n_projected_c + shape.n_features
    fire_columns(inputs_a, at, inverse, offset, firing, scale, shape.n_projected_a + shape.n_features, shape.n_rules)
    start, size = sections(shape)[2], shape.n_blocks * (n_inputs + 1) * LANES
    for q in range(shape.n_outputs):
        total = conclude_columns(inputs_c, at, theta, start + q * size, firing, n_inputs, shape.n_rules)
        store(value, q * LANES, total * load(scale, q - q))


@_compiled
def predict_rows(theta, shape, columns, X, prediction, share):
    """Fill `prediction` (n_rows, n_outputs) and, unless it has no rows, `share` (n_rows, n_rules)."""
    features, inputs_a, inputs_c, firing, scale, value, inverse, offset = columns
    invert_widths(theta, shape, inverse, offset)
    first = len(X) - len(X)
    for start in range(first, len(X), LANES):
        n_rows = min(LANES, len(X) - start)
        lay_rows(X, start, n_rows, features, first)
        predict_columns(theta, shape, features, first, inputs_a, inputs_c, inverse, offset, firing, scale, value)
        for i in range(n_rows):
            for q in range(shape.n_outputs):
                prediction[start + i, q] = value[q * LANES + i]
            for r in range(shape.n_rules if len(share) else 0):
                share[start + i, r] = firing[r * LANES + i] * scale[i]


@_compiled
def lay_dataset(X, y, weight, features, targets, weights):
    """Lay a dataset out for `weighted_rmse`: groups of eight rows, the last one filled up with rows of weight zero."""
    n_features, n_outputs = X.shape[1], y.shape[1]
    for start in range(0, len(X), LANES):
        n_rows = min(LANES, len(X) - start)
        lay_rows(X, start, n_rows, features, start * n_features)
        lay_rows(y, start, n_rows, targets, start * n_outputs)
        for i in range(n_rows):
            weights[start + i] = weight[start + i]


@_compiled
def weighted_rmse(theta, shape, columns, features, targets, weights):
    """Return the root of the weighted mean squared error over the rows and outputs of a laid-out dataset."""
    _, inputs_a, inputs_c, firing, scale, value, inverse, offset = columns
    invert_widths(theta, shape, inverse, offset)
    square, total = splat(0.0), splat(0.0)
    for start in range(0, len(weights), LANES):
        at = start * shape.n_features
        predict_columns(theta, shape, features, at, inputs_a, inputs_c, inverse, offset, firing, scale, value)
        weight = load(weights, start)
        for q in range(0, shape.n_outputs * LANES, LANES):
            error = load(value, q) - load(targets, start * shape.n_outputs + q)
            square, total = fma(weight * error, error, square), total + weight
    return math.sqrt(lanes_sum(square) / lanes_sum(total))


# -- Backward: the gradient of the batch's loss -----------------------------------------------------------------------


@_inner
def measure_errors(shape, work, rows, y, weight):
    """Set `error` and `pull` from the predictions of a batch; return its weighted squared error and weight."""
    n_rows, n_outputs, stride = len(rows), shape.n_outputs, shape.n_blocks * LANES
    page, square, total = len(work.share), 0.0, 0.0
    for i in range(n_rows):
        row = rows[i]
        total += weight[row]
        for q in range(n_outputs):
            difference = work.value[i * n_outputs + q] - y[row, q]
            work.error[i * n_outputs + q] = weight[row] * difference
            square += weight[row] * difference * difference
        for v in range(i * stride, (i + 1) * stride, LANES):
            pull = splat(0.0)
            for q in range(n_outputs):
                departure = load(work.output, q * page + v) - work.value[i * n_outputs + q]
                pull = fma(departure, work.error[i * n_outputs + q], pull)
            store(work.pull, v, pull * load(work.share, v))
    clear(work.pull, n_rows * stride, fill_tile(n_rows) * stride)
    return square, total * n_outputs


@_inner
def differentiate_sets(inputs, n_rows, inverse, offset, pull, grad_c, grad_s, n_inputs, n_blocks):
    """Set the gradients of centers and widths."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * n_inputs * LANES
        clear(grad_c, start, start + n_inputs * LANES)
        clear(grad_s, start, start + n_inputs * LANES)
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            at = i * stride + block * LANES
            pa, pb = load(pull, at), load(pull, at + stride)
            pc, pd = load(pull, at + 2 * stride), load(pull, at + 3 * stride)
            for k in range(n_inputs):
                here = start + k * LANES
                s, t = load(inverse, here), load(offset, here)
                da, db = fma(load_splat(inputs, a + k), s, t), fma(load_splat(inputs, b + k), s, t)
                dc, dd = fma(load_splat(inputs, c + k), s, t), fma(load_splat(inputs, d + k), s, t)
                ua, ub, uc, ud = pa * da, pb * db, pc * dc, pd * dd
                store(grad_c, here, load(grad_c, here) + ((ua + ub) + (uc + ud)))
                store(grad_s, here, fma(ud, dd, fma(uc, dc, fma(ub, db, fma(ua, da, load(grad_s, here))))))
        for at in range(start, start + n_inputs * LANES, LANES):
            store(grad_c, at, load(grad_c, at) * load(inverse, at))
            store(grad_s, at, load(grad_s, at) * load(inverse, at))


@_inner
def sum_outer(inputs, n_rows, rate, sums, n_inputs, n_blocks):
    """Set `sums` to the sum over rows of rate x [1, inputs]; the filling of the last tile must have rate zero."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * (n_inputs + 1) * LANES
        clear(sums, start, start + (n_inputs + 1) * LANES)
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            at = i * stride + block * LANES
            ga, gb = load(rate, at), load(rate, at + stride)
            gc, gd = load(rate, at + 2 * stride), load(rate, at + 3 * stride)
            store(sums, start, load(sums, start) + ((ga + gb) + (gc + gd)))
            for k in range(n_inputs):
                here = start + (k + 1) * LANES
                g = fma(load_splat(inputs, b + k), gb, fma(load_splat(inputs, a + k), ga, load(sums, here)))
                store(sums, here, fma(load_splat(inputs, d + k), gd, fma(load_splat(inputs, c + k), gc, g)))


@_inner
def differentiate_consequents(shape, work, n_rows, q, grad):
    """Set the gradient of the consequents of output q."""
    stride = shape.n_blocks * LANES
    for i in range(n_rows):
        for v in range(i * stride, (i + 1) * stride, LANES):
            store(work.rate, v, load(work.share, v) * work.error[i * shape.n_outputs + q])
    clear(work.rate, n_rows * stride, fill_tile(n_rows) * stride)
    n_inputs = shape.n_projected_c + shape.n_features
    sum_outer(consequent_inputs(shape, work), n_rows, work.rate, grad, n_inputs, shape.n_blocks)


@_inner
def differentiate_projection_a(shape, work, n_rows, grad):
    """Set the gradient of the antecedents' projection: through the distances of the projected inputs."""
    n_projected, n_features, stride = shape.n_projected_a, shape.n_features, shape.n_blocks * LANES
    n_inputs = n_projected + n_features
    grad[:] = 0.0
    for i in range(n_rows):
        for j in range(n_projected):
            slope = splat(0.0)
            for block in range(shape.n_blocks):
                here = (block * n_inputs + j) * LANES
                d = work.inputs_a[i * n_inputs + j] * load(work.inverse, here) + load(work.offset, here)
                slope = slope + load(work.pull, i * stride + block * LANES) * d * load(work.inverse, here)
            add_projection_row(
                grad, work.inputs_a, i * n_inputs + n_projected, n_features, n_projected, j, -lanes_sum(slope)
            )


@_inner
def differentiate_projection_c(theta, shape, work, n_rows, grad):
    """Set the gradient of the consequents' projection: through the slopes of the projected inputs."""
    start_w = sections(shape)[2]
    n_projected, n_features, stride = shape.n_projected_c, shape.n_features, shape.n_blocks * LANES
    n_inputs = n_projected + n_features
    grad[:] = 0.0
    for i in range(n_rows):
        for j in range(n_projected):
            total = 0.0
            for q in range(shape.n_outputs):
                slope = splat(0.0)
                for block in range(shape.n_blocks):
                    here = start_w + ((q * shape.n_blocks + block) * (n_inputs + 1) + j + 1) * LANES
                    slope = slope + load(work.share, i * stride + block * LANES) * load(theta, here)
                total += work.error[i * shape.n_outputs + q] * lanes_sum(slope)
            add_projection_row(grad, work.inputs_c, i * n_inputs + n_projected, n_features, n_projected, j, total)


@_inner
def add_projection_row(grad, inputs, start, n_features, n_projected, j, slope):
    """Add ``slope * [1, x]`` to column j of a projection's gradient."""
    grad[j] += slope
    for k in range(n_features):
        grad[(k + 1) * n_projected + j] += slope * inputs[start + k]


@njit(inline="always")
def backward(theta, shape, work, n_rows, grad, l2, tied_sets, tied_projection):
    """Set `grad` to the gradient of the batch's loss, penalty included, after `forward` and `measure_errors`."""
    start_c, start_s, start_w, start_a, start_p, end = sections(shape)
    n_inputs_a = shape.n_projected_a + shape.n_features
    n_inputs_c = shape.n_projected_c + shape.n_features
    grad_c, grad_s = grad[start_c:start_s], grad[start_s:start_w]
    differentiate_sets(
        work.inputs_a, n_rows, work.inverse, work.offset, work.pull, grad_c, grad_s, n_inputs_a, shape.n_blocks
    )
    size = shape.n_blocks * (n_inputs_c + 1) * LANES
    for q in range(shape.n_outputs):
        differentiate_consequents(shape, work, n_rows, q, grad[start_w + q * size : start_w + (q + 1) * size])
    for i in range(0, start_a - start_w, LANES):
        if i % ((n_inputs_c + 1) * LANES) != 0:  # the bias is not penalised
            store(grad, start_w + i, load(grad, start_w + i) + load(theta, start_w + i) * l2)
    if shape.n_projected_a > 0:
        differentiate_projection_a(shape, work, n_rows, grad[start_a:start_p])
    if shape.n_projected_c > 0:
        differentiate_projection_c(theta, shape, work, n_rows, grad[start_p:end])
    if tied_projection:
        for i in range(start_p - start_a):
            grad[start_a + i] += grad[start_p + i]
            grad[start_p + i] = grad[start_a + i]
    if len(tied_sets) > 0:
        sum_tied(grad_c, tied_sets)
        sum_tied(grad_s, tied_sets)


@_inner
def sum_tied(grad, group):
    """Give every entry the sum of the gradients of its group; group -1 is no one's."""
    total = np.zeros(len(grad))
    for i in range(len(grad)):
        if group[i] >= 0:
            total[group[i]] += grad[i]
    for i in range(len(grad)):
        grad[i] = total[group[i]] if group[i] >= 0 else 0.0


# -- Update -----------------------------------------------------------------------------------------------------------

SGDM, ADAM, ADABOUND, ADABELIEF = 0, 1, 2, 3


class Settings(NamedTuple):
    """What the training loop needs to know, as scalars."""

    rule: int  # SGDM, ADAM, ADABOUND or ADABELIEF
    beta1: float
    beta2: float
    epsilon: float
    learning_rate: float
    powerball: float
    l2: float
    cosine: bool  # the rate falls to zero as half a cosine
    averaging: float  # decay of the running mean of the parameters, 0 for none
    width_floor: float
    max_iter: int
    patience: int  # iterations without improvement before training ends, 0 for no end
    tied_projection: bool


@_inner
def apply_powerball(grad, exponent):
    """Replace g by sign(g) |g|^exponent."""
    if exponent == 0.5:
        for i in range(0, len(grad), LANES):
            g = load(grad, i)
            store(grad, i, copy_sign(vector_sqrt(vector_abs(g)), g))
    elif exponent != 1.0:
        for i in range(len(grad)):
            if grad[i] != 0.0:
                grad[i] = math.copysign(abs(grad[i]) ** exponent, grad[i])


@_inner
def update_parameters(theta, grad, mean, spread, t, rate, settings):
    """Make step t (from 1) of the optimiser on all parameters; the equations are in `takagi.optimizers`."""
    beta1, beta2, epsilon = settings.beta1, settings.beta2, settings.epsilon
    correct1, correct2 = 1.0 / (1.0 - beta1**t), 1.0 / (1.0 - beta2**t)
    lower = rate * (1.0 - 1.0 / ((1.0 - beta2) * t + 1.0))
    upper = rate * (1.0 + 1.0 / ((1.0 - beta2) * t)) if beta2 < 1.0 else rate
    for i in range(0, len(theta), LANES):
        g, m, v = load(grad, i), load(mean, i), load(spread, i)
        if settings.rule == SGDM:
            m = m * beta1 + g
            step = m * rate
        else:
            m = m * beta1 + g * (1.0 - beta1)
            departure = g - m if settings.rule == ADABELIEF else g
            v = v * beta2 + departure * departure * (1.0 - beta2)
            scale = rate / (vector_sqrt(v * correct2) + epsilon)
            if settings.rule == ADABOUND:
                scale = vector_min(vector_max(scale, lower), upper)
            step = m * correct1 * scale
        store(mean, i, m)
        store(spread, i, v)
        store(theta, i, load(theta, i) - step)


@_compiled
def draw_batches(uniforms, order, batches):
    """Draw rows without replacement, one batch per row of `uniforms`: the head of a Fisher-Yates shuffle of `order`."""
    n = len(order)
    for t in range(uniforms.shape[0]):
        for i in range(uniforms.shape[1]):
            j = i + int(uniforms[t, i] * (n - i))
            order[i], order[j] = order[j], order[i]
            batches[t, i] = order[i]


@_inner
def spread_kept(keep, kept, n_rules, stride):
    """Lay one batch's DropRule mask out in lanes; a row that lost all rules keeps all."""
    for i in range(keep.shape[0]):
        survivors = 0
        for r in range(n_rules):
            survivors += keep[i, r]
        for r in range(n_rules):
            kept[i * stride + r] = 1.0 if survivors == 0 or keep[i, r] else 0.0


class State(NamedTuple):
    """All that one iteration hands to the next."""

    theta: np.ndarray
    grad: np.ndarray
    mean: np.ndarray  # first moment
    spread: np.ndarray  # second moment
    average: np.ndarray  # running mean of theta, not yet corrected for its start
    candidate: np.ndarray  # what is validated: theta, or its running mean
    best: np.ndarray
    best_rmse: np.ndarray  # one entry
    best_iter: np.ndarray  # one entry, from 1
    n_iter: np.ndarray  # one entry, iterations done


@njit(inline="always")
def copy_to(target, source):
    """Copy one vector of parameters."""
    for i in range(0, len(source), LANES):
        store(target, i, load(source, i))


@_inner
def choose_candidate(state, decay, t):
    """Set the parameters to validate: theta itself, or its running mean corrected for its start at zero."""
    if decay == 0.0:
        copy_to(state.candidate, state.theta)
        return
    correction = 1.0 / (1.0 - decay**t)
    for i in range(0, len(state.theta), LANES):
        average = load(state.average, i) * decay + load(state.theta, i) * (1.0 - decay)
        store(state.average, i, average)
        store(state.candidate, i, average * correction)


@njit(inline="always")
def take_step(shape, settings, state, work, tied_sets, data, rows, kept, t):
    """Move theta by one batch with the given kept rules; return the batch's RMSE before that."""
    X, y, weight = data
    start_s, start_w = sections(shape)[1:3]
    invert_widths(state.theta, shape, work.inverse, work.offset)
    forward(state.theta, shape, work, X, rows, kept)
    square, total = measure_errors(shape, work, rows, y, weight)
    backward(state.theta, shape, work, len(rows), state.grad, settings.l2, tied_sets, settings.tied_projection)
    apply_powerball(state.grad, settings.powerball)
    rate = settings.learning_rate
    if settings.cosine:
        rate *= 0.5 * (1.0 + math.cos(math.pi * (t - 1) / settings.max_iter))
    update_parameters(state.theta, state.grad, state.mean, state.spread, t, rate, settings)
    for i in range(start_s, start_w):
        state.theta[i] = max(state.theta[i], settings.width_floor)
    return math.sqrt(square / total) if total > 0.0 else 0.0


@_compiled
def train_block(shape, settings, state, work, columns, tied_sets, data, validation, batches, keep, history):
    """Run one iteration per batch; return False when one ended with numbers that are not finite.

    `data` is (X, y, weight) and `validation` the same laid out by `lay_dataset`; without validation rows the last
    iterate is the best. `keep` has no entries where DropRule is off. `history` gets the batch's RMSE before and the
    validation RMSE after each update.
    """
    features, targets, weights = validation
    for b in range(len(batches)):
        t, rows = state.n_iter[0] + 1, batches[b]
        kept = work.every_rule
        if len(keep) > 0:
            spread_kept(keep[b], work.kept, shape.n_rules, shape.n_blocks * LANES)
            kept = work.kept
        batch_rmse = take_step(shape, settings, state, work, tied_sets, data, rows, kept, t)
        choose_candidate(state, settings.averaging, t)
        rmse = -t if np.isfinite(batch_rmse) else np.nan  # without validation rows every iterate beats the one before
        if len(weights) > 0:
            rmse = weighted_rmse(state.candidate, shape, columns, features, targets, weights)
        improved = rmse < state.best_rmse[0]
        if not np.isfinite(rmse) or (improved and not np.isfinite(state.candidate.sum())):
            return False
        history[t - 1, 0], history[t - 1, 1] = batch_rmse, rmse
        state.n_iter[0] = t
        if improved:
            state.best_rmse[0], state.best_iter[0] = rmse, t
            copy_to(state.best, state.candidate)
        elif t - state.best_iter[0] == settings.patience:
            return True
    return True


# -- Fuzzy c-means ----------------------------------------------------------------------------------------------------

_EPSILON = 2.220446049250313e-16


@_inner
def load_block(X, start, n_rows, inputs):
    """Copy rows of X into the inputs of the conditions, zeros into the filling of the last tile."""
    n_features = X.shape[1]
    for i in range(n_rows):
        for k in range(n_features):
            inputs[i * n_features + k] = X[start + i, k]
    for i in range(n_rows * n_features, fill_tile(n_rows) * n_features):
        inputs[i] = 0.0


@_inner
def move_centers(X, weight, membership, m, work, n_blocks):
    """Set ``-work.offset`` to the centers: the means of the rows weighted by ``weight * membership^m``."""
    n_features, stride = X.shape[1], n_blocks * LANES
    sums, total = np.empty(stride * (n_features + 1)), np.zeros(stride * (n_features + 1))
    for start in range(0, len(X), BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, len(X) - start)
        load_block(X, start, n_rows, work.inputs_a)
        for i in range(n_rows):
            for r in range(stride):
                work.rate[i * stride + r] = weight[start + i] * power_of(membership[start + i, r], m)
        clear(work.rate, n_rows * stride, fill_tile(n_rows) * stride)
        sum_outer(work.inputs_a, n_rows, work.rate, sums, n_features, n_blocks)
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


@_compiled
def assign_memberships(X, weight, membership, m, n_clusters, work, n_blocks):
    """Set `membership` from the distances to the centers in ``-work.offset``; return the objective before that."""
    n_features, stride, objective = X.shape[1], n_blocks * LANES, 0.0
    for start in range(0, len(X), BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, len(X) - start)
        load_block(X, start, n_rows, work.inputs_a)
        measure_distances(work.inputs_a, n_rows, work.inverse, work.offset, work.distance, n_features, n_blocks)
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


@_compiled
def iterate_fuzzy_cmeans(X, weight, membership, m, tol, rtol, max_iter, n_clusters, work, objective):
    """Alternate centers and memberships from the given memberships; return the number of iterations.

    The end is reached when the objective changes by less than ``tol + rtol * objective``. It is measured between the
    two halves of an iteration, and the memberships are updated once more than the centers, as in Matlab's ``fcm``.
    """
    n_blocks = membership.shape[1] // LANES
    for i in range(len(work.inverse)):
        work.inverse[i] = 1.0
    for t in range(max_iter):
        move_centers(X, weight, membership, m, work, n_blocks)
        objective[t] = assign_memberships(X, weight, membership, m, n_clusters, work, n_blocks)
        if t > 0 and abs(objective[t] - objective[t - 1]) < tol + rtol * objective[t]:
            return t + 1
    return max_iter


# -- Keys of rows -----------------------------------------------------------------------------------------------------


@njit(inline="always")
def mix_bits(word):
    """Scramble 64 bits (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@_compiled
def key_rows(values, keys):
    """Set two keys per row of whole numbers, the first of which does not depend on the order of the columns."""
    for i in range(values.shape[0]):
        unordered, ordered = np.uint64(0), np.uint64(0)
        for k in range(values.shape[1]):
            word = mix_bits(np.uint64(values[i, k]) + np.uint64(0x9E3779B97F4A7C15))
            unordered += word
            ordered = mix_bits(ordered ^ word)
        keys[i, 0], keys[i, 1] = unordered, ordered


# -- The cache on disk ------------------------------------------------------------------------------------------------


def is_compiled():
    """Tell whether the training kernel is in memory or in numba's cache on disk."""
    if train_block.signatures:
        return True
    folder = train_block.stats.cache_path
    return folder is not None and any(Path(folder).glob("kernels.train_block-*.nbi"))
