import numpy as np
import pandas as pd
import pytest

from takagi._kinds import find_type

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

PANDAS = {
    "number": ["int8", "UInt16", "Float64", "double[pyarrow]", "int32[pyarrow]", pd.SparseDtype(float)],
    "boolean": ["bool", "boolean", "bool[pyarrow]", pd.SparseDtype(bool)],
    "text": ["string", "string[pyarrow]", pd.ArrowDtype(pa.large_string())],
    "category": ["category", pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))],
    "date": ["datetime64[ns]", "datetime64[ns, UTC]", "timedelta64[s]", "period[M]", "date32[pyarrow]"],
    "other": ["interval[int64]", "complex128", pd.ArrowDtype(pa.list_(pa.int8())), pd.ArrowDtype(pa.binary())],
    "object": ["object"],
    "nothing": [pd.ArrowDtype(pa.null())],
}
POLARS = {
    "number": [pl.Int64, pl.UInt8, pl.Float32, pl.Decimal(10, 2)],
    "boolean": [pl.Boolean],
    "text": [pl.String],
    "category": [pl.Categorical, pl.Enum(["a"])],
    "date": [pl.Date, pl.Time, pl.Duration("us"), pl.Datetime("us")],
    "other": [pl.List(pl.Int8), pl.Struct({"a": pl.Int8}), pl.Array(pl.Int8, 2), pl.Binary],
    "object": [pl.Object],
    "nothing": [pl.Null],
}
ARROW = {
    "number": [pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.decimal128(5, 2)],
    "boolean": [pa.bool_()],
    "text": [pa.string(), pa.large_string(), pa.string_view()],
    "category": [pa.dictionary(pa.int8(), pa.string())],
    "date": [pa.timestamp("s"), pa.date32(), pa.time64("us"), pa.duration("s"), pa.month_day_nano_interval()],
    "other": [pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.struct([("a", pa.int8())]), pa.large_binary()],
    "nothing": [pa.null()],
}
NUMPY = {
    "number": ["f4", "i8", "u2"],
    "boolean": ["?"],
    "text": ["<U3", ">U3"],
    "date": ["M8[s]", "m8[s]"],
    "other": ["S3", "c8"],
    "object": ["O"],
}
CASES = [
    (make(one), kind)
    for make, kinds in ((pd.api.types.pandas_dtype, PANDAS), (lambda one: one, POLARS | {}), (np.dtype, NUMPY))
    for kind, types in kinds.items()
    for one in types
] + [(one, kind) for kind, types in ARROW.items() for one in types]


@pytest.mark.parametrize(("dtype", "kind"), CASES, ids=lambda value: str(value))
def test_types_of_every_library_are_known(dtype, kind):
    assert find_type(dtype) == kind
