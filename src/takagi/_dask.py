"""Dask collections: recognized by their type, without an import, and mapped block by block."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from takagi._messages import need_extra

Function = Callable[[Any], np.ndarray]


def map_rows(
    function: Function, X: Any, n_outputs: int | None, names: Sequence[str] | None = None, dtype: Any = float
) -> Any:
    """Return a Dask collection with the results of a function for each block of rows; nothing is computed yet.

    A block has one row or more. The result has `n_outputs` columns, or one value per row if that is None. With `names`
    for its columns and if X is a data frame, it is a series or a data frame with the index of X; else an array.
    """
    empty = np.empty((0,) if n_outputs is None else (0, n_outputs), dtype=dtype)

    def call(block: Any) -> np.ndarray:
        return function(block) if len(block) else empty

    if not hasattr(X, "columns"):
        return _map_array(call, X, n_outputs, empty)
    if names is not None:
        return _map_frame(call, X, n_outputs, names, dtype)
    array = X.map_partitions(call, meta=empty)
    if n_outputs is not None:
        array._chunks = (array.chunks[0], (n_outputs,))  # the number of rows is not known before they are computed
    return array


def _map_array(function: Function, X: Any, n_outputs: int | None, empty: np.ndarray) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, got a Dask array of {X.ndim}.")
    X = X.rechunk({1: -1})
    if n_outputs is None:
        return X.map_blocks(function, drop_axis=1, meta=empty)
    return X.map_blocks(function, chunks=(X.chunks[0], (n_outputs,)), meta=empty)


def _map_frame(function: Function, X: Any, n_outputs: int | None, names: Sequence[str], dtype: Any) -> Any:
    pandas = need_extra("pandas", "dask")

    def name(block: Any) -> Any:
        values = function(block)
        if n_outputs is None:
            return pandas.Series(values, index=block.index, name=names[0])
        return pandas.DataFrame(values, index=block.index, columns=list(names))

    return X.map_partitions(name, meta=(names[0], dtype) if n_outputs is None else [(word, dtype) for word in names])
