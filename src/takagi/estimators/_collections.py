"""Rows that do not fit into memory, for an estimator: a sample of them first, then passes over all."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from takagi._checks import check_features, reject_huge, reject_missing, reject_text
from takagi._labels import WeighedClasses, find_labels, number_labels, weigh_classes
from takagi._messages import need_extra
from takagi._typing import FloatArray, Table
from takagi._validation import make_rng, read_target_names
from takagi.fitting import Rows
from takagi.streaming import Passes
from takagi.tables import Block, ClassTally, DaskSource, DatasetError, RowSource, shuffle_rows

SAMPLE_ROWS = 50_000
BUFFER_ROWS = 100_000
_MOST_CELLS = 2**25  # of sample or buffer: 256 MB


def limit_rows(n_rows: int, n_columns: int) -> int:
    """Return the given number of rows, or fewer if that many columns would need too much memory."""
    return max(2, min(n_rows, _MOST_CELLS // n_columns))


def read_passes(
    source: RowSource, encode: Callable[[Block], Rows], buffer_rows: int, rng: np.random.Generator
) -> Callable[[], Iterator[Rows]]:
    """Return a function that reads a source once, in mixed order, at each call."""

    def read() -> Iterator[Rows]:
        for part in shuffle_rows((encode(block) for block in source.blocks(rng)), buffer_rows, rng):
            yield Rows(*part)

    return read


def weigh_tally(estimator: Any, tally: ClassTally | None) -> WeighedClasses | None:
    """Return the classes of a classifier, with their weights; None for a regressor."""
    if tally is None:
        return None
    goes_on = estimator.warm_start and hasattr(estimator, "model_")
    labels = estimator.classes_ if goes_on else find_labels(tally.labels)
    mass = np.zeros(len(labels))
    mass[number_labels(tally.labels, labels)] = tally.weight
    return WeighedClasses(labels, weigh_classes(estimator.class_weight, labels, mass))


def check_rows(block: Block, X: FloatArray, classes: WeighedClasses | None) -> Rows:
    """Return a block's rows, given its features as a matrix, or raise an error that names the block."""
    name = "TSKRegressor" if classes is None else "TSKClassifier"
    try:
        names = getattr(block.X, "columns", None)
        check_features(X, names, must_have_values=False)
        if classes is not None:
            return Rows(X, *classes.read(block.y[:, 0], block.weight))
        reject_missing(block.y, "y", None, name)
        reject_huge(block.y, "y", None)
    except ValueError as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return Rows(X, block.y, block.weight)


def open_collections(
    estimator: Any, X: Any, y: Any, sample_weight: Any, held_out: tuple[Any, Any]
) -> tuple[Table, Table, Table, Passes | None]:
    """Return a sample of Dask collections, with names and shapes as theirs, and what reads all rows for an estimator.

    Up to 50,000 rows the sample has all of them, and nothing more is read.
    """
    if any(part is not None for part in held_out):
        raise ValueError("X_val and y_val cannot be used with Dask collections; part of the rows is held out.")
    source = DaskSource.from_collections(X, y, sample_weight, is_classifier(estimator))
    rng = make_rng(estimator.random_state).spawn(1)[0]  # other random numbers than those of training
    sample = source.sample(limit_rows(SAMPLE_ROWS, source.n_features), rng)
    classes = weigh_tally(estimator, sample.classes)
    rows, passes = _encode(sample.block, classes), None
    if not sample.is_whole:
        encode = partial(_encode, classes=classes)
        read = read_passes(source, encode, limit_rows(BUFFER_ROWS, source.n_features), rng)
        passes = Passes(sample.n_rows, read, classes=classes)
    weight = sample.block.weight if passes is not None or sample_weight is not None else None
    return *_name(rows.X, sample.block.y, X, y), weight, passes


def _encode(block: Block, classes: WeighedClasses | None) -> Rows:
    """Return a partition as matrices of numbers, or raise an error that names it."""
    try:
        reject_text(block.X)
        X = np.asarray(block.X, dtype=float)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return check_rows(block, X, classes)


def _name(rows: FloatArray, said: np.ndarray, X: Any, y: Any) -> tuple[Any, Any]:
    """Return features and targets with the names and the shape that they have in the collections."""
    columns = getattr(X, "columns", None)
    targets = None if hasattr(y, "chunks") else read_target_names(y)
    features = rows if columns is None else need_extra("pandas", "dask").DataFrame(rows, columns=columns)
    if targets is None:
        return features, said[:, 0] if y.ndim == 1 else said
    pandas = need_extra("pandas", "dask")
    named = pandas.Series(said[:, 0], name=targets[0]) if y.ndim == 1 else pandas.DataFrame(said, columns=targets)
    return features, named
