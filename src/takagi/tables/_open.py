"""Opening a source: from a path, a folder, a pattern, several of them, or a collection."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from takagi._checks import is_dask
from takagi._messages import need_extra
from takagi.tables._arrow import ArrowSource
from takagi.tables._dask import DaskSource
from takagi.tables._errors import DatasetError
from takagi.tables._files import find_files, is_parquet, open_texts
from takagi.tables._json import is_json
from takagi.tables._layout import TableLayout
from takagi.tables._schema import TextParts
from takagi.tables._source import RowSource, assign_roles
from takagi.tables._unpack import find_bytes


def open_rows(
    source: Any,
    target: str | Sequence[str],
    features: Sequence[str] | None = None,
    sample_weight: str | None = None,
    *,
    has_classes: bool = False,
) -> RowSource:
    """Open training rows: a Parquet or CSV file, a folder or pattern of such files, several, or a collection."""
    if is_dask(source):
        names = _frame_columns(source)
        return DaskSource.from_frame(
            source, assign_roles(names, target, features, sample_weight, has_classes=has_classes)
        )
    dataset, label = open_dataset(source), name_source(source)
    return ArrowSource.open(dataset, target, features, sample_weight, label, has_classes=has_classes)


def open_dataset(source: Any, layout: TableLayout | None = None) -> Any:
    """Return a pyarrow dataset of Parquet files or the one that was given, or else text files."""
    arrow = need_extra("pyarrow.dataset", "parquet")
    if isinstance(source, arrow.Dataset):
        return source
    paths = find_files(source)
    _refuse_whole(paths)
    kinds = {is_parquet(path) for path in paths}
    if len(kinds) > 1:
        raise DatasetError(f"{name_source(source)}: some are Parquet and some are text; give one kind at a time.")
    try:
        if kinds.pop():
            return arrow.dataset([str(path) for path in paths], format="parquet", partitioning="hive")
    except (OSError, ValueError) as error:  # pyarrow raises either; it checks only the first file
        raise DatasetError(f"{paths[0]} is damaged or empty: {str(error).splitlines()[0]}") from error
    try:
        return TextParts(open_texts([find_bytes(path) for path in paths], layout or TableLayout()))
    except (OSError, ValueError) as error:
        raise error if isinstance(error, DatasetError) else DatasetError(str(error)) from error


def _refuse_whole(paths: Sequence[Path]) -> None:
    """Raise an error for files that can only be read whole."""
    for path in paths:
        if is_json(b"", path.name):
            raise DatasetError(f"{path} is JSON, which is not read in parts; write the rows to Parquet or CSV first.")


def name_source(source: Any) -> str:
    """Return the name of a source in messages."""
    if isinstance(source, str | Path):
        return str(source)
    return f"{len(source)} files" if isinstance(source, list | tuple) else "the dataset"


def _frame_columns(frame: Any) -> list[str]:
    if not hasattr(frame, "columns"):
        raise TypeError("A Dask array has no columns to name; use fit(X, y) of the estimator, which takes Dask arrays.")
    return [str(name) for name in frame.columns]
