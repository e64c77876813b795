"""Run by `regress.py` in one process for each commit: time a task for every name that comes on the standard input.

CPU seconds of this process, so that other work on the machine counts as little as it can.
"""

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

from takagi import RuleBase, TrainConfig, TSKRegressor, train
from takagi.initializers import fuzzy_cmeans

N_ITERATIONS = 200


def make_rows(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth problem."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n_rows)


def make_rules(X: np.ndarray, n_rules: int) -> RuleBase:
    """Return rules around the first rows."""
    n_features = X.shape[1]
    return RuleBase(X[:n_rules], np.full((n_rules, n_features), n_features**0.5), np.ones((n_rules, 1, n_features + 1)))


def train_rules(n_features: int, n_rules: int, n_val: int) -> Callable[[], object]:
    """Return a training of some iterations."""
    X, y = make_rows(2000, n_features)
    rules, config = make_rules(X, n_rules), TrainConfig(max_iter=N_ITERATIONS)
    held_out = (X[:n_val], y[:n_val]) if n_val else (None, None)
    return lambda: train(rules, X, y, *held_out, config, rng=np.random.default_rng(0))


def predict_rows(n_rows: int, n_rules: int, n_calls: int) -> Callable[[], object]:
    """Return predictions by rules."""
    X, _ = make_rows(n_rows + n_rules, 10)
    rules, rows = make_rules(X, n_rules), X[:n_rows]
    return lambda: [rules.predict(rows) for _ in range(n_calls)]


def predict_one_row() -> Callable[[], object]:
    """Return predictions of one row by an estimator."""
    X, y = make_rows(300, 10)
    model = TSKRegressor(n_rules=5, max_iter=5, random_state=0).fit(X, y)
    return lambda: [model.predict(X[:1]) for _ in range(100)]


def cluster() -> Callable[[], object]:
    """Return ten iterations of fuzzy c-means."""
    X, _ = make_rows(3000, 10)
    start = np.random.default_rng(0).dirichlet(np.ones(16), size=len(X))
    return lambda: fuzzy_cmeans(X, start, tol=0.0, max_iter=10)


def fit(**settings: object) -> Callable[[], object]:
    """Return a whole fit."""
    X, y = make_rows(600, 8)
    return lambda: TSKRegressor(random_state=0, **settings).fit(X, y)


TASKS: dict[str, Callable[[], Callable[[], object]]] = {
    "training, 10 features, 16 rules": lambda: train_rules(10, 16, 0),
    "training, 10 features, 64 rules, validation": lambda: train_rules(10, 64, 300),
    "training, 100 features, 16 rules": lambda: train_rules(100, 16, 0),
    "fuzzy c-means": cluster,
    "prediction, 100,000 rows, 64 rules": lambda: predict_rows(100_000, 64, 1),
    "prediction, one row, by rules": lambda: predict_rows(1, 16, 300),
    "prediction, one row, by an estimator": predict_one_row,
    "fit, paper's recipe": lambda: fit(n_rules=16, recipe="droprule", max_iter=500),
    "fit, default recipe": lambda: fit(max_iter=200),
}


def main() -> None:
    """Make each task once, when it is first asked for, and run it once a line."""
    warnings.simplefilter("ignore")
    made: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made[name] = TASKS[name]()
            made[name]()  # compiles
        start = time.process_time()
        made[name]()
        print(time.process_time() - start, flush=True)


if __name__ == "__main__":
    main()
