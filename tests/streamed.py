"""Data, models and steps that the tests of streams share."""

import numpy as np

from takagi import TSKRegressor, load, save
from takagi.fitting import Rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 3)) * [1.0, 20.0, 0.01] + [5.0, -100.0, 0.0]
Y = X[:, 0] + 0.05 * X[:, 1] * (X[:, 0] - 5) + 30 * X[:, 2]


def small(**params):
    return TSKRegressor(**{"n_rules": 3, "random_state": 0} | params)


def feed(model, X=X, y=Y, size=200, weight=None):
    """Feed rows to a model in blocks of a size."""
    for start in range(0, len(X), size):
        here = slice(start, start + size)
        model.partial_fit(X[here], y[here], None if weight is None else weight[here])
    return model


def as_rows(X, y=None, weight=None):
    y = X[:, :1] if y is None else np.reshape(y, (len(X), -1))
    return Rows(X, y, np.ones(len(X)) if weight is None else weight)


def through_file(model, folder):
    """Save a model and load it."""
    save(model, folder / "model.takagi")
    return load(folder / "model.takagi")
