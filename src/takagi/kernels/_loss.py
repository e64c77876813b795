"""The log loss of one row; the squared error is one line where it is needed.

Both losses have their canonical link, so the derivative by an output before the link is the response minus the target.
"""

import math

from takagi.kernels._compile import inner


@inner
def log_loss(value, start, target, first, step, n_outputs):
    """Return the log loss of a row, whose outputs before the link lie `step` apart, as its targets do.

    One output is the log-odds of one class, several are the logits of as many. Nothing overflows for large outputs.
    """
    if n_outputs == 1:
        v = value[start]
        return max(v, 0.0) - v * target[first] + math.log1p(math.exp(-abs(v)))
    highest = value[start]
    for q in range(1, n_outputs):
        highest = max(highest, value[start + q * step])
    total, lost = 0.0, 0.0
    for q in range(n_outputs):
        total += math.exp(value[start + q * step] - highest)
    log_total = math.log(total)
    for q in range(n_outputs):
        lost += target[first + q * step] * (highest - value[start + q * step] + log_total)
    return lost


@inner
def respond(value, start, target, n_outputs, response):
    """Set the response of a row, in the places of its outputs, to the probabilities of the class or classes.

    Return its log loss, for which the same exponentials are needed.
    """
    if n_outputs == 1:
        v = value[start]
        small = math.exp(-abs(v))
        response[start] = (1.0 if v >= 0.0 else small) / (1.0 + small)
        return max(v, 0.0) - v * target[0] + math.log1p(small)
    highest, total, lost = value[start], 0.0, 0.0
    for q in range(start + 1, start + n_outputs):
        highest = max(highest, value[q])
    for q in range(start, start + n_outputs):
        response[q] = math.exp(value[q] - highest)
        total += response[q]
    log_total = math.log(total)
    for q in range(n_outputs):
        response[start + q] /= total
        lost += target[q] * (highest - value[start + q] + log_total)
    return lost
