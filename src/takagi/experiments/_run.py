"""One run: a partition of a dataset, a fit, its errors. The protocol of the paper's section IV."""

import time
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from takagi._typing import FloatArray, IntArray
from takagi.datasets import load_dataset
from takagi.experiments._algorithms import ALGORITHMS, paper_algorithm
from takagi.experiments._plan import PlannedRun, derive_seed
from takagi.initializers import INITIALIZERS, Initializer
from takagi.rulebase import RuleBase

CURVE_POINTS = np.unique(np.r_[1:10, 10:1001:10])


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    run: PlannedRun
    rmse_val: float = np.nan  # at the best validation iteration
    rmse_test: float = np.nan
    best_iter: int = 0
    seconds: float = field(default=np.nan, metadata={"digits": 4})  # processor seconds of training, validation and test
    error: str = ""  # what went wrong, else empty
    curve: FloatArray = field(default_factory=lambda: np.empty(0))  # validation RMSE at `CURVE_POINTS`, if it is kept


class TrainValTest(NamedTuple):
    """Rows of a dataset for training, validation and test."""

    train: IntArray
    val: IntArray
    test: IntArray


@dataclass(frozen=True)
class SeededInitializer:
    """An initializer with its own seed, so that algorithms with the same initializer start from the same rules."""

    initializer: Initializer
    seed: int

    def make_rules(
        self,
        X: FloatArray,
        y: FloatArray,
        n_rules: int,
        rng: np.random.Generator,
        sample_weight: FloatArray | None = None,
    ) -> RuleBase:
        """Return the initial rules; the given generator is not used."""
        return self.initializer.make_rules(X, y, n_rules, np.random.default_rng(self.seed), sample_weight)


def execute_run(run: PlannedRun, base_seed: int = 0, data_home: str | None = None) -> Result:
    """Run one fit by the paper's protocol; a failure is recorded and not raised.

    Features are z-scored with all rows (n - 1) and the target is centered with all rows; then the rows are partitioned
    and the training mean is subtracted from the features, as in the authors' scripts.
    """
    try:
        _compile()
        X, y = load_standardized(run.dataset, data_home)
        return fit_and_score(run, X, y, draw_partition_of(run.dataset, run.repeat, len(y), base_seed), base_seed)
    except Exception as error:
        return Result(run, error=format_error(error))


def format_error(error: Exception) -> str:
    """Return an error in one line."""
    text = str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"
    return text.replace("\n", " ")


def draw_partition(n_rows: int, seed: int) -> TrainValTest:
    """Return a random partition of 70 % training, 15 % validation and the rest test rows."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_train, n_val = round(0.7 * n_rows), round(0.15 * n_rows)
    return TrainValTest(*(np.sort(part) for part in np.split(order, [n_train, n_train + n_val])))


def draw_partition_of(dataset: str, repeat: int, n_rows: int, base_seed: int) -> TrainValTest:
    """Return the partition of a dataset in a repeat, the same for all algorithms."""
    return draw_partition(n_rows, derive_seed(base_seed, "partition", dataset, repeat))


def split_and_center(X: FloatArray, y: FloatArray, partition: TrainValTest) -> list[tuple[FloatArray, FloatArray]]:
    """Return features and target of the training, validation and test part, without the features' training mean."""
    X = X - X[partition.train].mean(axis=0)
    return [(X[rows], y[rows]) for rows in partition]


def fit_and_score(run: PlannedRun, X: FloatArray, y: FloatArray, partition: TrainValTest, base_seed: int) -> Result:
    """Fit the run's algorithm on a partition of standardized data and measure its errors."""
    (X_train, y_train), (X_val, y_val), (X_test, y_test) = split_and_center(X, y, partition)
    model = make_model(run, base_seed)
    start = time.thread_time()
    if run.algorithm == "RR":
        model.fit(X_train, y_train)
        regressor = None
    else:
        features, regressor = _split_pipeline(model)
        if features is not None:
            features.fit(X_train)
            X_train, X_val, X_test = (features.transform(part) for part in (X_train, X_val, X_test))
        model = regressor.fit(X_train, y_train, X_val=X_val, y_val=y_val)
        if regressor.stopped_ == "interrupted":  # the fit was interrupted: no result
            raise KeyboardInterrupt
    rmse_val, rmse_test = _rmse(model, X_val, y_val), _rmse(model, X_test, y_test)
    seconds = time.thread_time() - start
    if regressor is None:
        return Result(run, rmse_val, rmse_test, 0, seconds)
    curve = sample_curve(regressor.history_["val_loss"]) if run.keeps_curve else np.empty(0)
    return Result(run, rmse_val, rmse_test, regressor.best_iter_, seconds, curve=curve)


def sample_curve(rmse: FloatArray) -> FloatArray:
    """Return the validation RMSE after `CURVE_POINTS` iterations; after an early end the last value is repeated."""
    if not len(rmse):
        return np.full(len(CURVE_POINTS), np.nan)
    return rmse[np.minimum(CURVE_POINTS, len(rmse)) - 1]


def make_model(run: PlannedRun, base_seed: int) -> Any:
    """Return the run's algorithm with its settings and seeds, for data that is already standardized."""
    seed = derive_seed(base_seed, "fit", *asdict(run).values())
    model = paper_algorithm(run.algorithm, n_rules=run.n_rules or 16, random_state=seed)
    if run.algorithm == "RR":
        return model
    algorithm = ALGORITHMS[run.algorithm]
    inputs = "pca" if algorithm.pca else algorithm.projection and "projected"
    start = derive_seed(base_seed, "start", run.dataset, run.repeat, algorithm.init, run.n_rules, inputs)
    settings = {
        "init": SeededInitializer(INITIALIZERS[str(algorithm.init)], start),
        "learning_rate": run.learning_rate,
        "keep_prob": run.keep_prob,
        "powerball": run.powerball,
        "standardize": False,
    }
    if isinstance(model, Pipeline):
        model.set_params(samplescaler="passthrough")
    _split_pipeline(model)[1].set_params(**settings)
    return model


def _split_pipeline(model: Any) -> tuple[BaseEstimator | None, Any]:
    return (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)


def _rmse(model: Any, X: FloatArray, y: FloatArray) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


@lru_cache(maxsize=1)
def _compile() -> None:
    """Load or compile the kernels before anything is timed."""
    X = np.arange(20.0)[:, None]
    for name in ("FCM-RDpA", "kM-RDpA"):
        paper_algorithm(name, n_rules=2, random_state=0).set_params(max_iter=2).fit(X, X[:, 0] ** 2).predict(X)


def load_standardized(dataset: str, data_home: str | None) -> tuple[FloatArray, FloatArray]:
    """Return a dataset's features, z-scored, and its centered target; a failed load is not repeated."""
    loaded = _try_to_load(dataset, data_home)
    if isinstance(loaded, str):
        raise RuntimeError(loaded)
    return loaded


@lru_cache(maxsize=32)
def _try_to_load(dataset: str, data_home: str | None) -> tuple[FloatArray, FloatArray] | str:
    """Return standardized features and centered target of a dataset, or what went wrong."""
    try:
        X, y = load_dataset(dataset, data_home=data_home, return_X_y=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return standardize(X), y - y.mean()


def standardize(X: FloatArray) -> FloatArray:
    """Return z-scored columns (n - 1); a constant one becomes zero."""
    deviation = X.std(axis=0, ddof=1)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
