"""`fit` on Dask collections: a sample first, then passes over the partitions, one at a time."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from takagi._dask import is_dask
from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi._validation import reject_missing, reject_text
from takagi.estimators._base import make_rng, read_target_names
from takagi.estimators._epochs import BUFFER_ROWS, SAMPLE_ROWS, Course, limit_rows, read_passes, train_in_epochs
from takagi.tables import Block, DaskSource, DatasetError
from takagi.training import Callback


def fit_partitions(regressor: Any, X: Any, y: Any, sample_weight: Any, callback: Callback | None) -> None:
    """Fit a regressor to Dask collections; no more than a sample or a buffer of rows is ever here at a time.

    Up to 50,000 rows are fitted as in memory. An error leaves the regressor as it was, and has the best rules so far.
    """
    source = DaskSource.from_collections(X, y, sample_weight)
    rng = make_rng(regressor.random_state).spawn(1)[0]
    sample = source.sample(limit_rows(SAMPLE_ROWS, source.n_features), rng)
    name = _make_namer(X, y)
    learner = copy(regressor)
    for attribute in ("_stream", *(() if regressor.warm_start else ("rule_base_",))):
        learner.__dict__.pop(attribute, None)
    rows = _check(sample.block)
    if sample.is_whole:
        learner.fit(*name(*rows[:2]), rows[2] if sample_weight is not None else None, callback=callback)
    else:
        read = read_passes(source, _check, limit_rows(BUFFER_ROWS, source.n_features), rng)
        try:
            train_in_epochs(learner, rows, Course(sample.n_rows, read, name, None, callback))
        except DatasetError as error:
            error.model = learner if hasattr(learner, "rule_base_") else None
            raise
    regressor.__dict__.pop("_stream", None)
    regressor.__dict__.update(vars(learner))


def _check(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a partition as matrices of finite numbers, or raise an error that names it."""
    names = getattr(block.X, "columns", None)
    try:
        reject_text(block.X)
        X = np.asarray(block.X, dtype=float)
        reject_missing(X, "X", names, "TSKRegressor")
        reject_missing(block.y, "y", None, "TSKRegressor")
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return X, block.y, block.weight


def _make_namer(X: Any, y: Any) -> Callable[[FloatArray, FloatArray], tuple[Any, Any]]:
    """Return what gives features and targets the names and the shape that they have in the collections."""
    columns = getattr(X, "columns", None)
    is_single, targets = y.ndim == 1, None if hasattr(y, "chunks") else read_target_names(y)
    if columns is None and targets is None:
        return lambda X, y: (X, y[:, 0] if is_single else y)
    pandas = need_extra("pandas", "dask")

    def name(X: FloatArray, y: FloatArray) -> tuple[Any, Any]:
        features = X if columns is None else pandas.DataFrame(X, columns=columns)
        if targets is None:
            return features, y[:, 0] if is_single else y
        return features, pandas.Series(y[:, 0], name=targets[0]) if is_single else pandas.DataFrame(y, columns=targets)

    return name


def takes_collections(X: Any, X_val: Any, y_val: Any) -> bool:
    """Whether rows are Dask collections, which come without validation rows."""
    if not is_dask(X):
        return False
    if X_val is not None or y_val is not None:
        raise ValueError("X_val and y_val are not taken with Dask collections; a part of the rows validates.")
    return True
