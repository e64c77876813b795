"""From pyarrow's tables to data frames."""

from typing import Any

from takagi._messages import need_extra


def to_frame(table: Any) -> Any:
    """Return a data frame; whatever pandas would hold as objects stays pyarrow's."""
    return table.to_pandas(types_mapper=_map_type, ignore_metadata=True)


def _map_type(kind: Any) -> Any:
    """Return the type of a pandas column where pandas' own would be objects."""
    types = need_extra("pyarrow.types", "parquet")
    if types.is_dictionary(kind) or types.is_integer(kind) or types.is_floating(kind):
        return None
    return need_extra("pandas", "parquet").ArrowDtype(kind)


def encode_text(table: Any) -> Any:
    """Return a table whose text is written once a word, which an encoder reads much faster."""
    for k, field in enumerate(table.schema):
        if str(field.type) in ("string", "large_string", "string_view"):
            table = table.set_column(k, field.name, table.column(k).dictionary_encode())
    return table
