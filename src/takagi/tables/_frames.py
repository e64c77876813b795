"""From pyarrow's tables to data frames."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from takagi._kinds import find_type
from takagi._messages import need_extra

Kinds = Mapping[str, str]  # of columns that are known to be of "number" or of "words"
NO_KINDS: Kinds = MappingProxyType({})


def to_frame(table: Any) -> Any:
    """Return a data frame; whatever pandas would hold as objects stays pyarrow's."""
    return table.to_pandas(types_mapper=_map_type, ignore_metadata=True)


def _map_type(kind: Any) -> Any:
    """Return the type of a pandas column where pandas' own would be objects."""
    if find_type(kind) == "category" or (find_type(kind) == "number" and "decimal" not in str(kind)):
        return None
    return need_extra("pandas", "parquet").ArrowDtype(kind)


def encode_text(table: Any) -> Any:
    """Return a table whose text is written once a word, which an encoder reads much faster."""
    for k, field in enumerate(table.schema):
        if find_type(field.type) == "text":
            table = table.set_column(k, field.name, table.column(k).dictionary_encode())
    return table
