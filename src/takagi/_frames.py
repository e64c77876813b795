"""Tables of pyarrow as data frames, and known kinds of columns."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from takagi._kinds import find_type
from takagi._messages import need_extra

Kinds = Mapping[str, str]  # of columns that are known to be "number" or "words"
NO_KINDS: Kinds = MappingProxyType({})
INDEX_PREFIX = "__index_level_"  # of columns in which pandas keeps its row labels


def to_frame(table: Any) -> Any:
    """Return a table of pyarrow as a data frame; columns that pandas would store as objects keep pyarrow's type."""
    return table.to_pandas(types_mapper=_map_type, ignore_metadata=True)


def _map_type(kind: Any) -> Any:
    """Return the type of a pandas column if pandas' own would be object."""
    if find_type(kind) == "category" or (find_type(kind) == "number" and "decimal" not in str(kind)):
        return None
    return need_extra("pandas", "parquet").ArrowDtype(kind)


def accept_arrow(values: Any) -> Any:
    """Return a table of pyarrow as a data frame without pandas' row labels, and anything else unchanged."""
    if not type(values).__module__.startswith("pyarrow") or not hasattr(values, "to_pandas"):
        return values
    if not hasattr(values, "schema"):  # one column
        return values
    return to_frame(values.select([name for name in values.schema.names if not name.startswith(INDEX_PREFIX)]))


def encode_text(table: Any) -> Any:
    """Return a table with dictionary-encoded text, which an encoder reads much faster."""
    for k, field in enumerate(table.schema):
        if find_type(field.type) == "text":
            table = table.set_column(k, field.name, table.column(k).dictionary_encode())
    return table
