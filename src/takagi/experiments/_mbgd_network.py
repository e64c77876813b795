"""Training of the TSK classifiers of Cui, Wu and Huang (2020), in NumPy, since it is only for reproduction.

Firing levels are normalized as in the authors' torch code, and inputs of the consequents may be normalized batch by
batch.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from takagi._typing import FloatArray, IntArray

FIRING_FLOOR = 1e-8  # added to the sum of firing levels, as the torch code does
BATCH_EPSILON, BATCH_MOMENTUM = 1e-5, 0.1  # torch's of batch normalization
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
FINAL_RATE, BOUND_SPEED = 0.1, 1e-3  # of AdaBound's bounds


class Parameters(NamedTuple):
    """The trained parameters, or the derivatives with respect to them."""

    centers: FloatArray  # (n_rules, n_features)
    widths: FloatArray  # (n_rules, n_features)
    consequents: FloatArray  # (1 + n_features, n_rules, n_classes), biases first
    scale: FloatArray  # (n_features), gamma of batch normalization
    shift: FloatArray  # (n_features), beta of batch normalization


def join_parameters(parameters: Parameters) -> FloatArray:
    """Return all parameters as one vector."""
    return np.concatenate([values.ravel() for values in parameters])


def split_parameters(theta: FloatArray, n_rules: int, n_classes: int) -> Parameters:
    """Return views of the parameters in a vector."""
    n_features = (len(theta) - n_rules * n_classes) // (2 * n_rules + n_rules * n_classes + 2)
    sets, outputs = (n_rules, n_features), (1 + n_features, n_rules, n_classes)
    shapes = (sets, sets, outputs, (n_features,), (n_features,))
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    return Parameters(*(theta[a:b].reshape(shape) for (a, b), shape in zip(pairwise(ends), shapes, strict=True)))


class Forward(NamedTuple):
    """The outputs of the rules for some rows."""

    inputs: FloatArray  # (n, 1 + n_features) of the consequents
    share: FloatArray  # (n, n_rules) firing levels over their sum, which may be below 1 in total
    output: FloatArray  # (n, n_rules, n_classes)
    value: FloatArray  # (n, n_classes) logits


def fire_rules(parameters: Parameters, X: FloatArray, normalized: FloatArray) -> Forward:
    """Return shares, outputs of rules and logits, given features and normalized features."""
    inverse = 1 / (parameters.widths * parameters.widths)
    at = parameters.centers * inverse
    distance = (X * X) @ inverse.T - 2 * X @ at.T + (parameters.centers * at).sum(axis=1)
    firing = np.exp(-np.maximum(distance, 0.0) / 2)
    share = firing / (firing.sum(axis=1, keepdims=True) + FIRING_FLOOR)
    inputs = np.column_stack([np.ones(len(X)), normalized * parameters.scale + parameters.shift])
    output = (inputs @ parameters.consequents.reshape(inputs.shape[1], -1)).reshape(*share.shape, -1)
    return Forward(inputs, share, output, (share[:, None, :] @ output)[:, 0])


@dataclass(frozen=True)
class Prices:
    """Penalties added to the mean log loss of a batch: on the consequents' weights, and on uneven mean shares."""

    l2: float
    uniformity: float


def find_loss(parameters: Parameters, X: FloatArray, normalized: FloatArray, Y: FloatArray, penalties: Prices) -> float:
    """Return the loss of a batch, of one-hot classes Y.

    It is the mean log loss, ``l2`` times the sum of squared weights, and ``uniformity`` times the sum over rules of the
    squared distance of the mean share from 1 / n_classes.
    """
    forward = fire_rules(parameters, X, normalized)
    lost = (logsumexp(forward.value, axis=1) - (forward.value * Y).sum(axis=1)).mean()
    uneven = ((forward.share.mean(axis=0) - 1 / Y.shape[1]) ** 2).sum()
    return float(lost + penalties.l2 * (parameters.consequents[1:] ** 2).sum() + penalties.uniformity * uneven)


def differentiate_network(
    parameters: Parameters, X: FloatArray, normalized: FloatArray, Y: FloatArray, penalties: Prices
) -> Parameters:
    """Return the derivative of `find_loss` with respect to all parameters."""
    forward = fire_rules(parameters, X, normalized)
    share, n_rows = forward.share, len(Y)
    error = (softmax(forward.value, axis=1) - Y) / n_rows
    slope = (forward.output @ error[:, :, None])[:, :, 0]  # by the share
    slope += 2 * penalties.uniformity / n_rows * (share.mean(axis=0) - 1 / Y.shape[1])
    pull = share * (slope - (slope * share).sum(axis=1, keepdims=True))  # by the log of the firing level
    push = (share[:, :, None] * error[:, None, :]).reshape(n_rows, -1)  # by the outputs of the rules
    centers, inverse, weights = parameters.centers, 1 / parameters.widths, parameters.consequents[1:]
    first, second, total = pull.T @ X, pull.T @ (X * X), pull.sum(axis=0)[:, None]
    consequents = (forward.inputs.T @ push).reshape(parameters.consequents.shape)
    consequents[1:] += 2 * penalties.l2 * weights
    by_input = push @ weights.reshape(X.shape[1], -1).T
    return Parameters(
        centers=(first - centers * total) * inverse * inverse,
        widths=(second - 2 * centers * first + centers * centers * total) * inverse * inverse * inverse,
        consequents=consequents,
        scale=(by_input * normalized).sum(axis=0),
        shift=by_input.sum(axis=0),
    )


class Network:
    """A model in training.

    Parameters
    ----------
    centers : ndarray of shape (n_rules, n_features)
    n_classes : int
    rng : RandomState
        Draws the initial widths from N(1, 0.2), and weights from U(-1, 1).
    batch_norm : bool
    """

    def __init__(self, centers: FloatArray, n_classes: int, rng: np.random.RandomState, batch_norm: bool) -> None:
        n_rules, n_features = centers.shape
        weights = rng.uniform(-1, 1, size=(1 + n_features, n_rules, n_classes))
        weights[0] = 0.0
        widths = rng.normal(1.0, 0.2, size=centers.shape)
        start = (centers, widths, weights, np.ones(n_features), np.zeros(n_features))
        self.theta = join_parameters(Parameters(*start))
        self.parameters = split_parameters(self.theta, n_rules, n_classes)  # views
        self.batch_norm = batch_norm
        self.mean, self.spread, self.n_steps = np.zeros_like(self.theta), np.zeros_like(self.theta), 0
        self.batch_mean, self.batch_variance = np.zeros(n_features), np.ones(n_features)  # running ones

    def run_epoch(
        self, X: FloatArray, Y: FloatArray, order: IntArray, batch_size: int, rate: float, penalties: Prices
    ) -> None:
        """Make a step for each batch of the rows in their order; the last one may be smaller."""
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            normalized = self._normalize_batch(X[rows])
            grad = differentiate_network(self.parameters, X[rows], normalized, Y[rows], penalties)
            if not self.batch_norm:
                grad = grad._replace(scale=np.zeros_like(grad.scale), shift=np.zeros_like(grad.shift))
            self._step(join_parameters(grad), rate)

    def _normalize_batch(self, X: FloatArray) -> FloatArray:
        if not self.batch_norm:
            return X
        mean, variance = X.mean(axis=0), X.var(axis=0)
        self.batch_mean += BATCH_MOMENTUM * (mean - self.batch_mean)
        self.batch_variance += BATCH_MOMENTUM * (variance * len(X) / max(len(X) - 1, 1) - self.batch_variance)
        return (X - mean) / np.sqrt(variance + BATCH_EPSILON)

    def _step(self, grad: FloatArray, rate: float) -> None:
        """Make a step of AdaBound, with the bounds of its authors' code."""
        self.n_steps += 1
        t = self.n_steps
        self.mean += (1 - BETA1) * (grad - self.mean)
        self.spread += (1 - BETA2) * (grad**2 - self.spread)
        scale = rate * np.sqrt(1 - BETA2**t) / (1 - BETA1**t) / (np.sqrt(self.spread) + EPSILON)
        lower, upper = FINAL_RATE * (1 - 1 / (BOUND_SPEED * t + 1)), FINAL_RATE * (1 + 1 / (BOUND_SPEED * t))
        self.theta -= np.clip(scale, lower, upper) * self.mean

    def fold(self) -> Parameters:
        """Return the parameters with batch normalization folded into the consequents."""
        parameters = Parameters(*map(np.copy, self.parameters))
        if self.batch_norm:
            deviation = np.sqrt(self.batch_variance + BATCH_EPSILON)
            scale = parameters.scale / deviation
            shift = parameters.shift - scale * self.batch_mean
            weights = parameters.consequents[1:]
            parameters.consequents[0] += np.einsum("mrc,m->rc", weights, shift)
            weights *= scale[:, None, None]
            parameters.scale[:], parameters.shift[:] = 1.0, 0.0
        return parameters
