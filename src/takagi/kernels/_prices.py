"""Prices on rules that disagree, and on rules that govern unequally many rows of a batch."""

from takagi.kernels._arrays import LANES
from takagi.kernels._compile import inner
from takagi.kernels._lanes import fma, lanes_sum, load_vector, splat, store
from takagi.kernels._layout import clear


@inner
def price_disagreement(shape, work, rows, weight, agreement):
    """Set `price`, and add to `pull` what the disagreement of the rules adds to it, after `measure_errors`.

    Half of the price times the sum over rules of share x departure^2, a departure being output minus prediction, is
    added to the loss of each row and output. Departures have a mean of zero, so the derivative by the prediction
    vanishes: that by an output is share x price x departure, and that by the log of a firing level share x price / 2 x
    (departure^2 - its mean).
    """
    n_outputs, stride, page = shape.n_outputs, shape.n_blocks * LANES, len(work.share)
    for i in range(len(rows)):
        work.price[i] = agreement * weight[rows[i]]
        mean = 0.0
        for q in range(n_outputs):
            total, value = splat(0.0), work.value[i * n_outputs + q]
            for v in range(i * stride, (i + 1) * stride, LANES):
                departure = load_vector(work.output, q * page + v) - value
                total = fma(load_vector(work.share, v) * departure, departure, total)
            mean += lanes_sum(total)
        for v in range(i * stride, (i + 1) * stride, LANES):
            square = splat(0.0)
            for q in range(n_outputs):
                departure = load_vector(work.output, q * page + v) - work.value[i * n_outputs + q]
                square = fma(departure, departure, square)
            scale = load_vector(work.share, v) * (0.5 * work.price[i])
            store(work.pull, v, fma(square - mean, scale, load_vector(work.pull, v)))


@inner
def price_unevenness(shape, work, rows, weight, uniformity):
    """Add to `pull` what uneven mean shares of the rules add to it, if they have a price, after `measure_errors`.

    The price times the sum over rules of the squared mean share is added to the loss of each row. Means are weighted,
    so the derivative by a share is 2 x price x weight x the rule's mean share.
    """
    if uniformity is not None:
        n_rows, stride, total = len(rows), shape.n_blocks * LANES, 0.0
        clear(work.mean_share, 0, stride)
        for i in range(n_rows):
            total += weight[rows[i]]
            for v in range(0, stride, LANES):
                share = load_vector(work.share, i * stride + v)
                store(work.mean_share, v, fma(share, weight[rows[i]], load_vector(work.mean_share, v)))
        scale = 1.0 / total if total > 0.0 else 0.0
        for i in range(n_rows):
            mean = splat(0.0)
            for v in range(0, stride, LANES):
                mean = fma(load_vector(work.share, i * stride + v), load_vector(work.mean_share, v), mean)
            center, price = lanes_sum(mean), 2.0 * uniformity * weight[rows[i]] * scale
            for v in range(0, stride, LANES):
                slope = load_vector(work.share, i * stride + v) * price
                pull = load_vector(work.pull, i * stride + v)
                store(work.pull, i * stride + v, fma(load_vector(work.mean_share, v) - center, slope, pull))
