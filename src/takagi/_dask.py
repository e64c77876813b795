"""Dask collections: recognized by their type, without an import, and mapped block by block."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._typing import FloatArray

Function = Callable[[Any], FloatArray]


def map_rows(function: Function, X: Any, n_outputs: int | None, names: Sequence[str] | None = None) -> Any:
    """Return the Dask collection of what a function makes of the rows of each block; nothing is computed yet.

    A block has one row or more. The result has `n_outputs` columns, or one number a row if that is None. With `names`
    for its columns it is a series or a data frame with the index of X, if that is a frame; else an array.
    """
    shape = (0,) if n_outputs is None else (0, n_outputs)

    def call(block: Any) -> FloatArray:
        return function(block) if len(block) else np.empty(shape)

    if not hasattr(X, "columns"):
        return _map_array(call, X, n_outputs)
    if names is not None:
        return _map_frame(call, X, n_outputs, names)
    array = X.map_partitions(call, meta=np.empty(shape))
    if n_outputs is not None:
        array._chunks = (array.chunks[0], (n_outputs,))  # how many rows is not known before they are computed
    return array


def _map_array(function: Function, X: Any, n_outputs: int | None) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features, got a Dask array of {X.ndim}.")
    X = X.rechunk({1: -1})
    if n_outputs is None:
        return X.map_blocks(function, drop_axis=1, meta=np.empty(0))
    return X.map_blocks(function, chunks=(X.chunks[0], (n_outputs,)), meta=np.empty((0, n_outputs)))


def _map_frame(function: Function, X: Any, n_outputs: int | None, names: Sequence[str]) -> Any:
    pandas = need_extra("pandas", "dask")

    def name(block: Any) -> Any:
        values = function(block)
        if n_outputs is None:
            return pandas.Series(values, index=block.index, name=names[0])
        return pandas.DataFrame(values, index=block.index, columns=list(names))

    return X.map_partitions(name, meta=(names[0], float) if n_outputs is None else [(word, float) for word in names])
