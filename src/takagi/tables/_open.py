"""From what a user gives to a source: a path, a folder, a pattern, several of them, or a collection."""

import glob
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from takagi._dask import is_dask
from takagi._messages import find_nearest, need_extra, warn_user
from takagi.tables._arrow import ArrowSource
from takagi.tables._cells import MISSING_FORMS
from takagi.tables._dask import DaskSource
from takagi.tables._dialect import SPACES, Dialect, read_dialects
from takagi.tables._source import DatasetError, Source, assign_roles

PARQUET_SUFFIXES = (".parquet", ".pq")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
_SUFFIXES = PARQUET_SUFFIXES + TEXT_SUFFIXES
_PATTERN = "*?["
_ARROW_ENCODINGS = {"utf-8": "utf8", "utf-8-sig": "utf8"}


def open_source(
    source: Any,
    target: str | Sequence[str],
    features: Sequence[str] | None = None,
    sample_weight: str | None = None,
    text_format: Any = None,
) -> Source:
    """Open rows to learn from.

    Parameters
    ----------
    source : path, sequence of paths, pyarrow.dataset.Dataset or Dask data frame
        A path is a Parquet or CSV file, a folder of such files, or a pattern with ``*``.
    target : str or sequence of str
        The column or columns to predict.
    features : sequence of str, optional
        The columns to learn from; all others by default.
    sample_weight : str, optional
        The column of the rows' weights.
    text_format : pyarrow.dataset.CsvFileFormat, optional
        How text files are read; found out by default.

    Returns
    -------
    Source
    """
    if is_dask(source):
        return DaskSource.from_frame(source, assign_roles(_frame_columns(source), target, features, sample_weight))
    dataset = open_dataset(source, text_format)
    return ArrowSource.open(dataset, target, features, sample_weight, label=name_source(source))


def open_dataset(source: Any, text_format: Any = None) -> Any:
    """Return a pyarrow dataset of files, or the one that was given."""
    arrow = need_extra("pyarrow.dataset", "parquet")
    if isinstance(source, arrow.Dataset):
        return source
    paths = find_files(source)
    kinds = {path.suffix.lower() in PARQUET_SUFFIXES for path in paths}
    if len(kinds) > 1:
        raise DatasetError(f"{name_source(source)}: some are Parquet and some are text; give one kind at a time.")
    file_format: Any = "parquet"
    if not kinds.pop():
        file_format = text_format or _find_text_format(paths)
    try:
        return arrow.dataset([str(path) for path in paths], format=file_format, partitioning="hive")
    except (OSError, ValueError) as error:  # pyarrow's errors are either; it looks into the first file only
        raise DatasetError(f"{paths[0]} is damaged or empty: {str(error).splitlines()[0]}") from error


def make_text_format(dialect: Dialect, path: Path) -> Any:
    """Return how pyarrow reads text files such as `path`, with this library's words for missing values."""
    if dialect.delimiter == SPACES:
        raise DatasetError(
            f"{path} has spaces between its cells; a table in parts, or one of a gigabyte or more, must have commas, "
            "semicolons, tabs or bars."
        )
    arrow, csv = need_extra("pyarrow.dataset", "parquet"), need_extra("pyarrow.csv", "parquet")
    names = None if dialect.has_names else list(dialect.first_row)
    encoding = _ARROW_ENCODINGS.get(dialect.encoding, dialect.encoding)
    return arrow.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=dialect.delimiter),
        read_options=csv.ReadOptions(encoding=encoding, column_names=names),
        convert_options=csv.ConvertOptions(
            null_values=MISSING_FORMS, decimal_point=dialect.decimal, strings_can_be_null=True
        ),
    )


def _find_text_format(paths: Sequence[Path]) -> Any:
    try:
        dialect, remark = read_dialects(paths)
    except (OSError, ValueError) as error:
        raise DatasetError(str(error)) from error
    if remark:
        warn_user(remark)
    return make_text_format(dialect, paths[0])


def find_files(source: Any) -> list[Path]:
    """Return the files that a path, a folder, a pattern or a sequence of them means."""
    if isinstance(source, str | Path):
        return _find(source)
    if not isinstance(source, Iterable) or hasattr(source, "dtypes") or hasattr(source, "dtype"):
        raise TypeError(
            "source must be a path, a folder, a pattern such as 'part-*.parquet', several paths, a "
            f"pyarrow.dataset.Dataset or a Dask data frame, got {type(source).__name__}."
        )
    paths = [path for one in source for path in _find(one)]
    if not paths:
        raise DatasetError("source is an empty sequence; give one file at least.")
    for path, n_times in Counter(path.resolve() for path in paths).items():
        if n_times > 1:
            raise DatasetError(f"{path} is given {n_times} times, and its rows would count as often. Name it once.")
    return paths


def _find(source: str | Path) -> list[Path]:
    path = Path(source).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        found = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _SUFFIXES and _is_data(file, path)]
        if not found:
            raise DatasetError(f"The folder {path} has no file that ends in {', '.join(_SUFFIXES)}.")
        return found
    if any(sign in str(path) for sign in _PATTERN):
        found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True)) if Path(name).is_file()]
        if not found:
            raise DatasetError(f"No file matches {str(path)!r}.")
        return found
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    near = find_nearest(path.name, beside)
    raise DatasetError(f"There is no file {path}." + (f" Did you mean {path.with_name(near)}?" if near else ""))


def _is_data(file: Path, folder: Path) -> bool:
    """Whether a file is none of those that other tools leave beside data, such as _metadata."""
    return file.is_file() and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)


def name_source(source: Any) -> str:
    """Return what messages call a source."""
    if isinstance(source, str | Path):
        return str(source)
    return f"{len(source)} files" if isinstance(source, list | tuple) else "the dataset"


def _frame_columns(frame: Any) -> list[str]:
    if not hasattr(frame, "columns"):
        raise TypeError("A Dask array has no columns to name; use TSKRegressor.fit(X, y), which takes Dask arrays.")
    return [str(name) for name in frame.columns]
