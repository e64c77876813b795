"""Names for the array types in signatures."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
Table: TypeAlias = Any  # an array, a list of rows, a frame of pandas or polars, a table of pyarrow

__all__ = ["ArrayLike", "BoolArray", "FloatArray", "IntArray", "Table"]
