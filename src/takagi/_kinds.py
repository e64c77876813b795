"""Types of columns of NumPy, pandas, polars and pyarrow, by their names, without imports of these packages."""

from typing import Any

_KINDS = (
    ("other", ("interval", "list", "large_list", "struct", "array", "map", "binary", "complex", "|s")),
    ("date", ("date", "time", "duration", "period", "month_day")),
    ("boolean", ("bool",)),
    ("number", ("int", "uint", "float", "double", "half", "decimal")),
    ("category", ("categor", "enum", "dictionary")),
    ("text", ("str", "utf8", "large_str", "large_utf8", "<u", ">u")),
    ("nothing", ("null",)),
    ("object", ("object",)),
)  # the first that fits: "interval" is not "int"


def find_type(dtype: Any) -> str:
    """Return the kind of a column, given its type of NumPy, pandas, polars or pyarrow: one of the kinds above.

    It is "nothing" if all values are missing by type, "object" if it depends on the values, "other" for unsupported
    types.

    >>> import numpy as np
    >>> [find_type(np.dtype(name)) for name in ("float32", "<U3", "datetime64[s]", "bool", "complex64")]
    ['number', 'text', 'date', 'boolean', 'other']
    """
    name = str(dtype).lower().removeprefix("sparse[")
    return next((kind for kind, starts in _KINDS if name.startswith(starts)), "other")
