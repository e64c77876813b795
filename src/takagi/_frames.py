"""Tables of pyarrow as data frames, and what is known of columns before they are read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from takagi._kinds import find_type
from takagi._messages import need_extra

Kinds = Mapping[str, str]  # of columns that are known to be of "number" or of "words"
NO_KINDS: Kinds = MappingProxyType({})
INDEX_PREFIX = "__index_level_"  # of columns in which pandas keeps its row labels


def to_frame(table: Any) -> Any:
    """Return a table of pyarrow as a data frame; whatever pandas would hold as objects stays pyarrow's."""
    return table.to_pandas(types_mapper=_map_type, ignore_metadata=True)


def _map_type(kind: Any) -> Any:
    """Return the type of a pandas column where pandas' own would be objects."""
    if find_type(kind) == "category" or (find_type(kind) == "number" and "decimal" not in str(kind)):
        return None
    return need_extra("pandas", "parquet").ArrowDtype(kind)


def accept_arrow(values: Any) -> Any:
    """Return a table of pyarrow as a data frame without pandas' row labels, and anything else as it is."""
    if not type(values).__module__.startswith("pyarrow") or not hasattr(values, "to_pandas"):
        return values
    if not hasattr(values, "schema"):  # one column
        return values
    return to_frame(values.select([name for name in values.schema.names if not name.startswith(INDEX_PREFIX)]))


def encode_text(table: Any) -> Any:
    """Return a table whose text is written once a word, which an encoder reads much faster."""
    for k, field in enumerate(table.schema):
        if find_type(field.type) == "text":
            table = table.set_column(k, field.name, table.column(k).dictionary_encode())
    return table
