"""The problem that the training benchmarks share: rows of any size and a rule base to start from."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from takagi import RuleBase
from takagi._typing import FloatArray
from takagi.fitting import MAX_VALIDATION_ROWS

ABALONE = Path(__file__).parents[2] / "shared" / "datasets" / "uci" / "abalone" / "abalone.data"
BATCH_SIZE = 64
KEEP_PROB = 0.5  # DropRule at the paper's settings


class Problem(NamedTuple):
    """Training rows, validation rows and the first rules."""

    X: FloatArray
    y: FloatArray
    X_val: FloatArray
    y_val: FloatArray
    start: RuleBase


def make_problem(n_rows: int, n_features: int, n_rules: int) -> Problem:
    """Return a smooth synthetic problem; 15 % of the rows validate, at most as many as in the estimator."""
    rng = np.random.default_rng(n_rows + n_features + n_rules)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.normal(size=n_rows)
    n_val = min(round(0.15 * n_rows), MAX_VALIDATION_ROWS)
    return Problem(X[n_val:], y[n_val:], X[:n_val], y[:n_val], make_start(X, n_rules))


def make_start(X: FloatArray, n_rules: int) -> RuleBase:
    """Return rules around the first rows, wide enough that several of them share a row."""
    shape = (n_rules, X.shape[1])
    return RuleBase(X[:n_rules], np.full(shape, X.shape[1] ** 0.5), np.zeros((n_rules, 1, shape[1] + 1)))


def make_abalone(n_rules: int = 16) -> tuple[Problem, str]:
    """Return Abalone's seven numeric features, or a synthetic problem of its size, split 70/15/15; and which it is."""
    if ABALONE.exists():
        values, name = np.loadtxt(ABALONE, delimiter=",", usecols=range(1, 9)), "Abalone"
    else:
        synthetic = make_problem(4177, 7, n_rules)
        X, y = np.vstack([synthetic.X_val, synthetic.X]), np.r_[synthetic.y_val, synthetic.y]
        values, name = np.column_stack([X, y]), "synthetic rows of Abalone's size"
    values = values[np.random.default_rng(0).permutation(len(values))]
    n_train, n_val = round(0.7 * len(values)), round(0.15 * len(values))
    values = (values - values[:n_train].mean(axis=0)) / values[:n_train].std(axis=0)
    X, y = values[:, :-1], values[:, -1]
    end = n_train + n_val
    parts = X[:n_train], y[:n_train], X[n_train:end], y[n_train:end]
    return Problem(*parts, make_start(X[:n_train], n_rules)), name
