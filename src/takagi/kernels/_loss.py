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
    for q in range(n_outputs):
        lost += target[first + q * step] * (highest - value[start + q * step] + math.log(total))
    return lost


@inner
def respond(value, start, n_outputs, response):
    """Set the response of a row, in the places of its outputs, to the probabilities of the class or classes."""
    if n_outputs == 1:
        small = math.exp(-abs(value[start]))
        response[start] = (1.0 if value[start] >= 0.0 else small) / (1.0 + small)
        return
    highest, total = value[start], 0.0
    for q in range(start + 1, start + n_outputs):
        highest = max(highest, value[q])
    for q in range(start, start + n_outputs):
        response[q] = math.exp(value[q] - highest)
        total += response[q]
    for q in range(start, start + n_outputs):
        response[q] /= total
