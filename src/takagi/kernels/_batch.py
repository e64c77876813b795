"""One mini-batch: predictions with the kept rules, and the gradient; eight rules in the lanes."""

from numba import njit

from takagi.kernels._arrays import LANES, ROW_TILE
from takagi.kernels._compile import inner
from takagi.kernels._lanes import (
    fma,
    lanes_min,
    lanes_sum,
    load_vector,
    splat,
    store,
    vector_exp,
    vector_max,
    vector_min,
)
from takagi.kernels._layout import clear, fill_tile, load_usual, measure_departures, sections, take_values
from takagi.kernels._loss import respond


@inner
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


@inner
def fill_consequent_inputs(inputs, X, rows, projection, n_projected):
    """Do the same for the consequents, if they have inputs of their own; numba leaves out what follows a None."""
    if inputs is not None:
        fill_inputs(inputs, X, rows, projection, n_projected)


@inner
def zero_missing(inputs, absent, n_rows, n_inputs):
    """Set missing inputs to zero and mark them, if there are missing values; numba leaves out what follows a None."""
    if absent is not None:
        for i in range(fill_tile(n_rows) * n_inputs):
            is_missing = inputs[i] != inputs[i]
            absent[i] = 1.0 if is_missing else 0.0
            inputs[i] = 0.0 if is_missing else inputs[i]


@inner
def consequent_inputs(inputs_a, inputs_c):
    """Return the inputs of the consequents; without projections those of the conditions serve for both."""
    if inputs_c is None:
        return inputs_a
    return inputs_c


@inner
def measure_distances(inputs, absent, n_rows, inverse, offset, distance, n_inputs, n_blocks):
    """Set `distance` to the sum over inputs of ((a - center) / width)^2, for tiles of four rows and eight rules."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * n_inputs * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            za = zb = zc = zd = splat(0.0)
            for k in range(n_inputs):
                s, t = load_vector(inverse, start + k * LANES), load_vector(offset, start + k * LANES)
                da, db = (
                    measure_departures(inputs, absent, a + k, s, t),
                    measure_departures(inputs, absent, b + k, s, t),
                )
                dc, dd = (
                    measure_departures(inputs, absent, c + k, s, t),
                    measure_departures(inputs, absent, d + k, s, t),
                )
                za, zb, zc, zd = fma(da, da, za), fma(db, db, zb), fma(dc, dc, zc), fma(dd, dd, zd)
            at = i * stride + block * LANES
            store(distance, at, za)
            store(distance, at + stride, zb)
            store(distance, at + 2 * stride, zc)
            store(distance, at + 3 * stride, zd)


@inner
def apply_consequents(inputs, absent, usual, n_rows, weights, output, n_inputs, n_blocks):
    """Set `output` to w_0 + sum of w_m b_m, for tiles of four rows and eight rules."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * (n_inputs + 1) * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            ya = yb = yc = yd = load_vector(weights, start)
            for k in range(n_inputs):
                w = load_vector(weights, start + (k + 1) * LANES)
                u = load_usual(usual, (block * n_inputs + k) * LANES)
                ya = fma(take_values(inputs, absent, a + k, u), w, ya)
                yb = fma(take_values(inputs, absent, b + k, u), w, yb)
                yc = fma(take_values(inputs, absent, c + k, u), w, yc)
                yd = fma(take_values(inputs, absent, d + k, u), w, yd)
            at = i * stride + block * LANES
            store(output, at, ya)
            store(output, at + stride, yb)
            store(output, at + 2 * stride, yc)
            store(output, at + 3 * stride, yd)


@inner
def share_rows(distance, kept, drops, share, n_rows, n_blocks):
    """Turn squared distances into shares of the kept rules, exp(-z/2) normalized.

    The nearest kept rule is subtracted first, so that at least one term is 1. No kept rule
    has less than exp(-650) of it, which no sum notices, and distances that overflow count as 1e300, which leaves equal
    shares where every rule is that far away. Without `drops`, all are kept.
    """
    for i in range(n_rows):
        start, end = i * n_blocks * LANES, (i + 1) * n_blocks * LANES
        nearest = splat(1e301)
        for v in range(start, end, LANES):
            z = vector_min(load_vector(distance, v), 1e300)
            if drops:
                z = fma(1.0 - load_vector(kept, v), 1e301, z)
            nearest = vector_min(nearest, z)
        lowest = lanes_min(nearest)
        for v in range(start, end, LANES):
            exponent = vector_max((lowest - vector_min(load_vector(distance, v), 1e300)) * 0.5, -650.0)
            store(share, v, vector_min(exponent, 0.0))
    for v in range(0, n_rows * n_blocks * LANES, LANES):  # a loop of its own, whose turns do not wait for each other
        firing = vector_exp(load_vector(share, v))
        if drops:
            firing = firing * load_vector(kept, v)
        store(share, v, firing)
    for i in range(n_rows):
        start, end = i * n_blocks * LANES, (i + 1) * n_blocks * LANES
        total = splat(0.0)
        for v in range(start, end, LANES):
            total = total + load_vector(share, v)
        scale = 1.0 / lanes_sum(total)
        for v in range(start, end, LANES):
            store(share, v, load_vector(share, v) * scale)


@inner
def forward(theta, shape, work, X, rows, kept, drops):
    """Compute shares, rule outputs and predictions of the given rows of X into `work`."""
    _, _, start_w, start_a, start_c, end = sections(shape)
    n_rows, n_blocks, n_outputs = len(rows), shape.n_blocks, shape.n_outputs
    n_inputs_a = shape.n_projected_a + shape.n_features
    n_inputs_c = shape.n_projected_c + shape.n_features
    fill_inputs(work.inputs_a, X, rows, theta[start_a:start_c], shape.n_projected_a)
    fill_consequent_inputs(work.inputs_c, X, rows, theta[start_c:end], shape.n_projected_c)
    zero_missing(work.inputs_a, work.absent, n_rows, n_inputs_a)
    measure_distances(
        work.inputs_a, work.absent, n_rows, work.inverse, work.offset, work.distance, n_inputs_a, n_blocks
    )
    share_rows(work.distance, kept, drops, work.share, n_rows, n_blocks)
    size, page = n_blocks * (n_inputs_c + 1) * LANES, len(work.share)
    for q in range(n_outputs):
        weights = theta[start_w + q * size : start_w + (q + 1) * size]
        output = work.output[q * page : (q + 1) * page]
        inputs = consequent_inputs(work.inputs_a, work.inputs_c)
        apply_consequents(inputs, work.absent, work.usual, n_rows, weights, output, n_inputs_c, n_blocks)
        for i in range(n_rows):
            value = splat(0.0)
            for v in range(i * n_blocks * LANES, (i + 1) * n_blocks * LANES, LANES):
                value = fma(load_vector(work.share, v), load_vector(output, v), value)
            work.value[i * n_outputs + q] = lanes_sum(value)


@inner
def measure_errors(shape, work, rows, y, weight, loss, lost, total):
    """Set `error` and `pull` from the predictions of rows; return both sums with their weighted loss and weights."""
    n_rows, n_outputs, stride = len(rows), shape.n_outputs, shape.n_blocks * LANES
    page = len(work.share)
    for i in range(n_rows):
        row = rows[i]
        total += weight[row]
        if loss is None:
            for q in range(n_outputs):
                difference = work.value[i * n_outputs + q] - y[row, q]
                work.error[i * n_outputs + q] = weight[row] * difference
                lost += weight[row] * difference * difference
        else:
            lost += weight[row] * respond(work.value, i * n_outputs, y[row], n_outputs, work.error)
            for q in range(n_outputs):
                work.error[i * n_outputs + q] = weight[row] * (work.error[i * n_outputs + q] - y[row, q])
        for v in range(i * stride, (i + 1) * stride, LANES):
            pull = splat(0.0)
            for q in range(n_outputs):
                departure = load_vector(work.output, q * page + v) - work.value[i * n_outputs + q]
                pull = fma(departure, work.error[i * n_outputs + q], pull)
            store(work.pull, v, pull * load_vector(work.share, v))
    clear(work.pull, n_rows * stride, fill_tile(n_rows) * stride)
    return lost, total


@inner
def differentiate_sets(inputs, absent, n_rows, inverse, offset, pull, grad_c, grad_s, n_inputs, n_blocks):
    """Add the gradients of centers and widths, still without a factor 1 / width, of some rows."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * n_inputs * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            at = i * stride + block * LANES
            pa, pb = load_vector(pull, at), load_vector(pull, at + stride)
            pc, pd = load_vector(pull, at + 2 * stride), load_vector(pull, at + 3 * stride)
            for k in range(n_inputs):
                here = start + k * LANES
                s, t = load_vector(inverse, here), load_vector(offset, here)
                da, db = (
                    measure_departures(inputs, absent, a + k, s, t),
                    measure_departures(inputs, absent, b + k, s, t),
                )
                dc, dd = (
                    measure_departures(inputs, absent, c + k, s, t),
                    measure_departures(inputs, absent, d + k, s, t),
                )
                ua, ub, uc, ud = pa * da, pb * db, pc * dc, pd * dd
                store(grad_c, here, load_vector(grad_c, here) + ((ua + ub) + (uc + ud)))
                store(grad_s, here, fma(ud, dd, fma(uc, dc, fma(ub, db, fma(ua, da, load_vector(grad_s, here))))))


@inner
def sum_outer(inputs, absent, usual, n_rows, rate, sums, n_inputs, n_blocks):
    """Add the sum over rows of rate x [1, inputs] to `sums`; the filling of the last tile must have rate zero."""
    stride = n_blocks * LANES
    for block in range(n_blocks):
        start = block * (n_inputs + 1) * LANES
        for i in range(0, n_rows, ROW_TILE):
            a, b, c, d = i * n_inputs, (i + 1) * n_inputs, (i + 2) * n_inputs, (i + 3) * n_inputs
            at = i * stride + block * LANES
            ga, gb = load_vector(rate, at), load_vector(rate, at + stride)
            gc, gd = load_vector(rate, at + 2 * stride), load_vector(rate, at + 3 * stride)
            store(sums, start, load_vector(sums, start) + ((ga + gb) + (gc + gd)))
            for k in range(n_inputs):
                here, u = start + (k + 1) * LANES, load_usual(usual, (block * n_inputs + k) * LANES)
                g = fma(take_values(inputs, absent, a + k, u), ga, load_vector(sums, here))
                g = fma(take_values(inputs, absent, b + k, u), gb, g)
                g = fma(take_values(inputs, absent, c + k, u), gc, g)
                store(sums, here, fma(take_values(inputs, absent, d + k, u), gd, g))


@inner
def differentiate_consequents(shape, work, n_rows, q, grad, has_price):
    """Add the gradient of the consequents of output q."""
    stride, page = shape.n_blocks * LANES, len(work.share)
    for i in range(n_rows):
        value, error = work.value[i * shape.n_outputs + q], work.error[i * shape.n_outputs + q]
        for v in range(i * stride, (i + 1) * stride, LANES):
            slope = splat(error)
            if has_price:
                slope = fma(load_vector(work.output, q * page + v) - value, work.price[i], slope)
            store(work.rate, v, load_vector(work.share, v) * slope)
    clear(work.rate, n_rows * stride, fill_tile(n_rows) * stride)
    n_inputs = shape.n_projected_c + shape.n_features
    inputs = consequent_inputs(work.inputs_a, work.inputs_c)
    sum_outer(inputs, work.absent, work.usual, n_rows, work.rate, grad, n_inputs, shape.n_blocks)


@inner
def differentiate_projection_a(shape, work, n_rows, grad):
    """Add the gradient of the antecedents' projection: through the distances of the projected inputs."""
    n_projected, n_features, stride = shape.n_projected_a, shape.n_features, shape.n_blocks * LANES
    n_inputs = n_projected + n_features
    for i in range(n_rows):
        for j in range(n_projected):
            slope = splat(0.0)
            for block in range(shape.n_blocks):
                here = (block * n_inputs + j) * LANES
                d = work.inputs_a[i * n_inputs + j] * load_vector(work.inverse, here) + load_vector(work.offset, here)
                slope = slope + load_vector(work.pull, i * stride + block * LANES) * d * load_vector(work.inverse, here)
            add_projection_row(
                grad, work.inputs_a, i * n_inputs + n_projected, n_features, n_projected, j, -lanes_sum(slope)
            )


@inner
def differentiate_projection_c(theta, shape, work, n_rows, grad, has_price):
    """Add the gradient of the consequents' projection: through the slopes of the projected inputs."""
    start_w, page = sections(shape)[2], len(work.share)
    n_projected, n_features, stride = shape.n_projected_c, shape.n_features, shape.n_blocks * LANES
    n_inputs = n_projected + n_features
    for i in range(n_rows):
        for j in range(n_projected):
            total = 0.0
            for q in range(shape.n_outputs):
                slope, priced, value = splat(0.0), splat(0.0), work.value[i * shape.n_outputs + q]
                for block in range(shape.n_blocks):
                    here = start_w + ((q * shape.n_blocks + block) * (n_inputs + 1) + j + 1) * LANES
                    at = i * stride + block * LANES
                    part = load_vector(work.share, at) * load_vector(theta, here)
                    slope = slope + part
                    if has_price:
                        priced = fma(load_vector(work.output, q * page + at) - value, part, priced)
                total += work.error[i * shape.n_outputs + q] * lanes_sum(slope)
                if has_price:
                    total += work.price[i] * lanes_sum(priced)
            add_projection_row(grad, work.inputs_c, i * n_inputs + n_projected, n_features, n_projected, j, total)


@inner
def add_projection_row(grad, inputs, start, n_features, n_projected, j, slope):
    """Add ``slope * [1, x]`` to column j of a projection's gradient."""
    grad[j] += slope
    for k in range(n_features):
        grad[(k + 1) * n_projected + j] += slope * inputs[start + k]


@inner
def differentiate_projections(inputs_c, theta, shape, work, n_rows, grad, has_price):
    """Add the gradients of the projections, if there are any; numba leaves out what follows a None."""
    if inputs_c is not None:
        start_a, start_c, end = sections(shape)[3:]
        if shape.n_projected_a > 0:
            differentiate_projection_a(shape, work, n_rows, grad[start_a:start_c])
        if shape.n_projected_c > 0:
            differentiate_projection_c(theta, shape, work, n_rows, grad[start_c:end], has_price)


@inner
def tie_projections(inputs_c, shape, grad, is_tied):
    """Give both projections the sum of their gradients, if they are one."""
    if inputs_c is not None and is_tied:
        start_a, start_c = sections(shape)[3:5]
        for i in range(start_c - start_a):
            grad[start_a + i] += grad[start_c + i]
            grad[start_c + i] = grad[start_a + i]


@njit(inline="always")
def add_gradient(theta, shape, work, n_rows, grad, has_price):
    """Add to `grad` what rows add to it, after `forward` and `measure_errors`."""
    start_c, start_s, start_w = sections(shape)[:3]
    n_inputs_a = shape.n_projected_a + shape.n_features
    n_inputs_c = shape.n_projected_c + shape.n_features
    grad_c, grad_s = grad[start_c:start_s], grad[start_s:start_w]
    differentiate_sets(
        work.inputs_a,
        work.absent,
        n_rows,
        work.inverse,
        work.offset,
        work.pull,
        grad_c,
        grad_s,
        n_inputs_a,
        shape.n_blocks,
    )
    size = shape.n_blocks * (n_inputs_c + 1) * LANES
    for q in range(shape.n_outputs):
        grad_w = grad[start_w + q * size : start_w + (q + 1) * size]
        differentiate_consequents(shape, work, n_rows, q, grad_w, has_price)
    differentiate_projections(work.inputs_c, theta, shape, work, n_rows, grad, has_price)


@njit(inline="always")
def finish_gradient(theta, shape, work, grad, settings, tied_sets):
    """Make the sum over the rows of a batch the gradient of its loss, penalties included."""
    l2, smoothness = settings.l2, settings.smoothness
    start_c, start_s, start_w, start_a = sections(shape)[:4]
    grad_c, grad_s = grad[start_c:start_s], grad[start_s:start_w]
    for i in range(0, len(grad_s), LANES):
        inverse = load_vector(work.inverse, i)
        store(grad_c, i, load_vector(grad_c, i) * inverse)
        scaled = load_vector(grad_s, i) * inverse
        if smoothness > 0.0:
            scaled = scaled - inverse * inverse * inverse * smoothness
        store(grad_s, i, scaled)
    stretch = (shape.n_projected_c + shape.n_features + 1) * LANES
    for i in range(0, start_a - start_w, LANES):
        if i % stretch != 0:  # the bias is not penalized
            store(grad, start_w + i, load_vector(grad, start_w + i) + load_vector(theta, start_w + i) * l2)
    tie_projections(work.inputs_c, shape, grad, settings.tied_projection)
    sum_tied(tied_sets, grad_c, work.tied)
    sum_tied(tied_sets, grad_s, work.tied)


@inner
def sum_tied(group, grad, total):
    """Give every entry the sum of the gradients of its group, if there are groups; group -1 is no one's."""
    if group is not None:
        total[:] = 0.0
        for i in range(len(grad)):
            if group[i] >= 0:
                total[group[i]] += grad[i]
        for i in range(len(grad)):
            grad[i] = total[group[i]] if group[i] >= 0 else 0.0
