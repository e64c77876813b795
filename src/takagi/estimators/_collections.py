"""Rows that do not fit into memory, for an estimator: a sample of them first, then passes over all."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._typing import FloatArray, Table
from takagi._validation import read_target_names, reject_huge, reject_missing, reject_text
from takagi.estimators._base import make_rng
from takagi.fitting import Rows
from takagi.streaming import Passes
from takagi.tables import Block, DaskSource, DatasetError, RowSource, shuffle_rows

SAMPLE_ROWS = 50_000
BUFFER_ROWS = 100_000
_MOST_CELLS = 2**25  # of sample or buffer: 256 MB


def limit_rows(n_rows: int, n_columns: int) -> int:
    """Return so many rows, or fewer if they have so many columns that they would fill the memory."""
    return max(2, min(n_rows, _MOST_CELLS // n_columns))


def read_passes(
    source: RowSource, encode: Callable[[Block], Rows], buffer_rows: int, rng: np.random.Generator
) -> Callable[[], Iterator[Rows]]:
    """Return what reads a source once, in mixed order, each time that it is called."""

    def read() -> Iterator[Rows]:
        for part in shuffle_rows((encode(block) for block in source.blocks(rng)), buffer_rows, rng):
            yield Rows(*part)

    return read


def check_rows(block: Block, X: FloatArray) -> Rows:
    """Return a block's rows, given its features as a matrix, or raise an error that names the block."""
    try:
        names = getattr(block.X, "columns", None)
        reject_missing(X, "X", names, "TSKRegressor")
        reject_missing(block.y, "y", None, "TSKRegressor")
        reject_huge(X, "X", names)
        reject_huge(block.y, "y", None)
    except ValueError as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return Rows(X, block.y, block.weight)


def open_collections(
    X: Any, y: Any, sample_weight: Any, held_out: tuple[Any, Any], random_state: Any
) -> tuple[Table, Table, Table, Passes | None]:
    """Return a sample of Dask collections, with names and shapes as theirs, and what reads all of their rows.

    Up to 50,000 rows the sample is all of them, and nothing more is to be read.
    """
    if any(part is not None for part in held_out):
        raise ValueError("X_val and y_val are not taken with Dask collections; a part of the rows validates.")
    source = DaskSource.from_collections(X, y, sample_weight)
    rng = make_rng(random_state).spawn(1)[0]  # not the numbers that training draws
    sample = source.sample(limit_rows(SAMPLE_ROWS, source.n_features), rng)
    rows = _encode(sample.block)
    passes = None
    if not sample.is_whole:
        passes = Passes(sample.n_rows, read_passes(source, _encode, limit_rows(BUFFER_ROWS, source.n_features), rng))
    weight = rows.weight if passes is not None or sample_weight is not None else None
    return *_name(rows, X, y), weight, passes


def _encode(block: Block) -> Rows:
    """Return a partition as matrices of finite numbers, or raise an error that names it."""
    try:
        reject_text(block.X)
        X = np.asarray(block.X, dtype=float)
    except (TypeError, ValueError) as error:
        raise DatasetError(f"{block.origin}: {error}") from error
    return check_rows(block, X)


def _name(rows: Rows, X: Any, y: Any) -> tuple[Any, Any]:
    """Return features and targets with the names and the shape that they have in the collections."""
    columns = getattr(X, "columns", None)
    targets = None if hasattr(y, "chunks") else read_target_names(y)
    features = rows.X if columns is None else need_extra("pandas", "dask").DataFrame(rows.X, columns=columns)
    if targets is None:
        return features, rows.y[:, 0] if y.ndim == 1 else rows.y
    pandas = need_extra("pandas", "dask")
    named = pandas.Series(rows.y[:, 0], name=targets[0]) if y.ndim == 1 else pandas.DataFrame(rows.y, columns=targets)
    return features, named
