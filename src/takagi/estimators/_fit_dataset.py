"""Tables larger than memory: a sample first, then passes over all blocks."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from takagi._labels import WeighedClasses, number_labels
from takagi._messages import need_extra
from takagi._validation import make_rng
from takagi.estimators._base import BaseTSK
from takagi.estimators._collections import BUFFER_ROWS, SAMPLE_ROWS, check_rows, limit_rows, read_passes, weigh_tally
from takagi.estimators._regressor import TSKRegressor
from takagi.fitting import Rows
from takagi.streaming import Passes, hash_rows
from takagi.tables import Block, DatasetError, RowSample, RowSource, TableEncoder, open_rows
from takagi.training import Callback


def fit_dataset(
    source: Any,
    target: str | Sequence[str],
    *,
    model: Pipeline | BaseTSK | None = None,
    features: Sequence[str] | None = None,
    sample_weight: str | None = None,
    epochs: int | None = None,
    sample_rows: int = SAMPLE_ROWS,
    buffer_rows: int = BUFFER_ROWS,
    callback: Callback | None = None,
) -> Pipeline:
    """Fit a model to a table that need not fit into memory.

    A first pass counts the rows and draws a uniform sample of them. The sample determines the kinds of the columns, the
    initial rules and the penalties. Then all rows train, pass by pass: blocks of the table are read in random order,
    and their rows are mixed in a buffer. Memory does not depend on the number of rows. A table that is no larger than
    the sample is fitted in memory.

    Parameters
    ----------
    source : path, sequence of paths, pyarrow.dataset.Dataset or Dask data frame
        A path is a Parquet or CSV file, a folder of such files, or a pattern such as ``"part-*.parquet"``.
    target : str or sequence of str
        The column or columns to predict. Rows without a target are left out. For a classifier, the column of the
        classes: text, booleans or integers. The first pass finds all classes.
    model : Pipeline, TSKRegressor or TSKClassifier, optional
        An estimator, or a pipeline that ends in one; ``TSKRegressor()`` by default. A copy of it is fitted. Its
        `random_state` makes the whole fit reproducible. If it is fitted and its estimator has `warm_start=True`,
        training continues from its rules.
    features : sequence of str, optional
        The columns to learn from; all others by default.
    sample_weight : str, optional
        The column of the rows' weights.
    epochs : int, optional
        Passes; by default as many as `max_iter` iterations take, and at least one.
    sample_rows : int, default=50000
        Rows of the sample, at least 1,000; fewer than given here if there are more than 671 columns.
    buffer_rows : int, default=100000
        Rows that are mixed at a time.
    callback : callable, optional
        Called every few thousand rows, and in pilot fits, with a `takagi.training.Progress`, whose `stage` names the
        epoch. Training ends when it returns True.

    Returns
    -------
    Pipeline
        The fitted model: `TableEncoder`, or the given transformers, and the estimator.

    Raises
    ------
    DatasetError
        If a file cannot be read or has other columns than the first; the message names it. If this happens during
        training, the error's `model` has the best rules so far.

    Notes
    -----
    Ctrl-C ends training, and the model has the best rules so far. A category level that is not in the sample has no
    input of its own: its rows count as none of the known levels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, pandas as pd, takagi
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=(3000, 2))
    >>> table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] * x[:, 1]})
    >>> regressor = takagi.TSKRegressor(n_rules=4, recipe="droprule", max_iter=1000, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         table[k::3].to_parquet(Path(folder) / f"part-{k}.parquet")
    ...     model = takagi.fit_dataset(f"{folder}/part-*.parquet", "y", model=regressor, sample_rows=1000)
    >>> model.predict(pd.DataFrame({"a": [0.5], "b": [0.5]})).round(1)
    array([0.2])
    """
    _check_counts({"epochs": (epochs, 1), "sample_rows": (sample_rows, 1_000), "buffer_rows": (buffer_rows, 1)})
    pipeline = copy_model(model)
    rows = open_rows(source, target, features, sample_weight, has_classes=is_classifier(pipeline[-1]))
    rng = make_rng(pipeline[-1].random_state).spawn(1)[0]  # other random numbers than those of training
    sample = rows.sample(limit_rows(sample_rows, rows.n_features), rng)
    return fit_source(
        pipeline, rows, sample, rng, target=target, epochs=epochs, buffer_rows=buffer_rows, callback=callback
    )


def copy_model(model: Any) -> Pipeline:
    """Return a copy of a model as a pipeline: unfitted, or fitted if training continues from it."""
    model = TSKRegressor() if model is None else model
    steps = list(getattr(model, "steps", [(type(model).__name__.lower(), model)]))
    last = steps[-1][1]
    if isinstance(model, type) or not isinstance(last, BaseTSK):
        raise TypeError(
            "model must be a TSKRegressor, a TSKClassifier or a Pipeline that ends in one of them, got "
            f"{_name_kind(model)}."
        )
    goes_on = last.warm_start and hasattr(last, "model_")
    if len(steps) == 1:
        if goes_on:
            raise ValueError(
                "To continue from a fitted model, give the Pipeline that fit_dataset returned, not its last step."
            )
        steps = [("tableencoder", TableEncoder()), *steps]
    return deepcopy(model) if goes_on else Pipeline([(name, clone(step)) for name, step in steps])


def fit_source(
    pipeline: Pipeline,
    source: RowSource,
    sample: RowSample,
    rng: np.random.Generator,
    *,
    target: str | Sequence[str],
    epochs: int | None = None,
    buffer_rows: int = BUFFER_ROWS,
    callback: Callback | None = None,
    left_out: np.ndarray | None = None,
) -> Pipeline:
    """Fit a pipeline, in place, to a source, given a sample of it.

    Parameters
    ----------
    pipeline : Pipeline
        Transformers and an estimator, as `copy_model` returns it.
    source : RowSource
        All rows.
    sample : RowSample
        A sample of them, and their number.
    rng : Generator
        Mixes the rows.
    target, epochs, buffer_rows, callback
        As in `fit_dataset`.
    left_out : bool array, optional
        Which rows of the sample do not train; nor do rows equal to them.

    Returns
    -------
    Pipeline
    """
    transformers, estimator, block = pipeline[:-1], pipeline[-1], sample.block
    classes = weigh_tally(estimator, sample.classes)
    if not hasattr(estimator, "model_"):
        transformers.fit(block.X, block.y)
    rows = _encode(transformers, block, classes)
    is_out = np.zeros(len(rows.y), dtype=bool) if left_out is None else left_out
    keys, kept = np.unique(hash_rows(rows.take(np.flatnonzero(is_out)), seed=0)), np.flatnonzero(~is_out)
    said = block.y if classes is None else classes.labels[number_labels(block.y[:, 0], classes.labels)][:, None]
    X, y, weight = rows.X[kept], _name_targets(said[kept], target), block.weight[kept]
    if sample.is_whole:
        estimator.fit(X, y, weight, callback=callback)
        return pipeline

    def encode(block: Block) -> Rows:
        return _leave_out(_encode(transformers, block, classes), keys)

    read = read_passes(source, encode, limit_rows(buffer_rows, X.shape[1]), rng)
    passes = Passes(sample.n_rows - int(is_out.sum()), read, epochs, classes)
    try:
        estimator.fit_passes(X, y, weight, passes, callback=callback)
    except DatasetError as error:
        if error.model is not None:
            error.model = Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], error.model)])
        raise
    return pipeline


# -- parts -------------------------------------------------------------------------------------------------------------


def _encode(transformers: Pipeline, block: Block, classes: WeighedClasses | None) -> Rows:
    try:
        matrix = transformers.transform(block.X)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return check_rows(block, np.asarray(matrix, dtype=float), classes)


def _name_targets(y: np.ndarray, target: str | Sequence[str]) -> Any:
    pandas = need_extra("pandas", "parquet")
    return pandas.Series(y[:, 0], name=target) if isinstance(target, str) else pandas.DataFrame(y, columns=list(target))


def _leave_out(rows: Rows, keys: np.ndarray) -> Rows:
    return rows.take(np.flatnonzero(~np.isin(hash_rows(rows, seed=0), keys))) if len(keys) else rows


def _check_counts(counts: dict[str, tuple[int | None, int]]) -> None:
    for name, (value, least) in counts.items():
        if value is not None and (not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least):
            raise ValueError(f"{name} must be a whole number of at least {least:,}, got {value!r}.")


def _name_kind(model: Any) -> str:
    return f"the class {model.__name__}; write {model.__name__}()" if isinstance(model, type) else type(model).__name__
