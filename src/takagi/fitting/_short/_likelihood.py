"""The log loss of short rules: near given outputs, it is a weighted squared error of log-odds.

Around outputs with probabilities p, the log loss of targets y is to second order the squared error of the working
response ``outputs + (y - p) / w``. The weight ``w`` of the row is the curvature (iteratively reweighted least squares).
So rules are fitted to this response as to any other numbers.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from takagi._typing import FloatArray
from takagi.fitting._logistic import find_link, find_logits
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._short._polish import polish, within_bounds
from takagi.fitting._short._workshop import draft_model, make_true, open_workshop, write_model
from takagi.fitting._training import center_logits
from takagi.rulebase import apply_link
from takagi.rulemodel import RuleModel, collect_bends
from takagi.training import LOSSES

_LEAST_WEIGHT = 0.02  # of a row: the curvature where a class has a probability of about 2 %
_LEAST_NOISE = 1e-4
_ROUNDS, _STEPS = 4, 30  # of training around the rules' own outputs
_LEAST_GAIN = 1e-4  # fraction of the log loss that a round must gain
_LEAST_SHARPNESS = 0.1


def linearize(rows: Rows, outputs: FloatArray, way: float = 1.0) -> tuple[Rows, float]:
    """Return the working response of rows, its weights, and the fraction of its variance that is noise.

    The response is a given fraction of the way from the outputs to the data, since a good teacher is nearer to the
    truth. With several classes a row has one weight: the sum of the curvatures of all outputs, which is at least the
    curvature in any direction. The variance of the noise of an output is p (1 - p).
    """
    p = apply_link(outputs, find_link(rows.y))
    variance = p * (1 - p)
    curvature = np.maximum(variance.sum(axis=1), _LEAST_WEIGHT)
    weight, factor = rows.weight * curvature, way / curvature[:, None]
    response = outputs + factor * (rows.y - p)
    scale = measure_columns(response, weight)[1]
    noise = np.average(variance * (factor / scale) ** 2, axis=0, weights=weight).mean()
    return Rows(rows.X, response, weight).balance(), float(np.clip(noise, _LEAST_NOISE, 1.0))


def measure_log_loss(model: RuleModel, rows: Rows) -> float:
    """Return the mean log loss of a model, whose link may not be set yet."""
    return float(np.average(LOSSES["log"].measure_rows(model.predict_raw(rows.X), rows.y), weights=rows.weight))


def train_on(model: RuleModel, rows: Rows, agreement: float, n_steps: int = _STEPS) -> tuple[RuleModel, FloatArray]:
    """Return rules trained around their own outputs as long as the log loss falls, and the losses."""
    losses = [measure_log_loss(model, rows)]
    for _ in range(_ROUNDS):
        response, noise = linearize(rows, model.predict_raw(rows.X))
        workshop = open_workshop(response, noise, agreement, collect_bends(model.parts))
        draft, _ = polish(within_bounds(draft_model(model, workshop), workshop.task), workshop.task, n_steps)
        trained = write_model(*make_true(draft, workshop), workshop)
        loss = measure_log_loss(trained, rows)
        if not loss < losses[-1] * (1 - _LEAST_GAIN):
            break
        model, losses = trained, [*losses, loss]
    return model, np.array(losses)


def shrink(model: RuleModel, rows: Rows) -> tuple[RuleModel, float]:
    """Return rules for classes with shrunk log-odds, and the expected log loss on new rows.

    Overfitting makes the loss on new rows larger than that on training rows by the number of parameters over that of
    rows [1]_. If log-odds are shrunk toward those of the class frequencies by a factor s, it is s times that. So s
    minimizes the training loss plus this penalty, and the minimum is the expected loss. As long as the loss is a
    parabola, s is the well-known 1 - df / chi^2 [2]_, with chi^2 twice the gain in log likelihood; if classes are
    nearly separable, s is smaller.

    References
    ----------
    .. [1] H. Akaike, A new look at the statistical model identification, IEEE Transactions on Automatic Control 19 (6),
       1974.
    .. [2] J. C. van Houwelingen and S. le Cessie, Predictive value of statistical models, Statistics in Medicine 9,
       1990.
    """
    link, frequencies = find_link(rows.y), find_logits(rows.y, rows.weight)
    outputs, per_row = model.predict_raw(rows.X), count_parameters(model) / len(rows.X)

    def expect(part: float) -> float:
        losses = LOSSES["log"].measure_rows(frequencies + part * (outputs - frequencies), rows.y)
        return float(np.average(losses, weights=rows.weight)) + part * per_row

    found = minimize_scalar(expect, bounds=(_LEAST_SHARPNESS, 1.0), method="bounded")
    consequents = [found.x * part.consequents for part in model.parts]
    consequents[0][:, :, 0] += (1 - found.x) * frequencies
    both = zip(model.parts, consequents, strict=True)
    parts = (center_logits(replace(part, consequents=own, link=link)) for part, own in both)
    return RuleModel(tuple(parts)), float(found.fun)


def count_parameters(model: RuleModel) -> int:
    """Return the number of parameters that can overfit: weights of all outputs but one, and sets."""
    n_free = max(1, model.n_outputs - 1)
    weights = sum(int((part.consequents != 0).any(axis=1).sum()) for part in model.parts)
    return n_free * (weights - len(model.parts)) + 2 * sum(int(np.isfinite(part.widths).sum()) for part in model.parts)
