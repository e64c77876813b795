"""Parsing: from the bytes of an archive's file to features and target."""

import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi.datasets._registry import Dataset
from takagi.datasets._sources import SourceFile

MOST_SOURCE_BYTES = (
    32_000_000  # of a file, a download or an archive's member; the largest of the archives' files is a tenth of this
)
RawCells = np.ndarray[tuple[int, int], Any]


def read_numbers(content: bytes, n_columns: int) -> RawCells:
    """Return the lines that consist of `n_columns` numbers; text, quoted names and rows with a "?" are left out."""
    rows = (line.split('"')[0].split() for line in _decode(content).splitlines())
    return np.array([numbers for row in rows if len(row) == n_columns and (numbers := _to_floats(row))])


def read_csv(content: bytes, n_columns: int, delimiter: str = ",", n_header: int = 1) -> RawCells:
    """Return delimited cells, as text."""
    cells = io.StringIO(_decode(content))
    return np.loadtxt(cells, dtype=str, delimiter=delimiter, skiprows=n_header, usecols=range(n_columns), ndmin=2)


def read_tecator(content: bytes, n_columns: int) -> RawCells:
    """Return the numbers after the last line of settings, where a sample takes 25 lines."""
    _, _, numbers = _decode(content).rpartition("extrapolation_examples=")
    return np.array(numbers.split()[1:], dtype=float).reshape(-1, n_columns)


def read_xls(content: bytes, n_columns: int) -> RawCells:
    """Return the first sheet of an old Excel workbook, without its header."""
    sheet = need_extra("xlrd", "experiments").open_workbook(file_contents=content).sheet_by_index(0)
    return _to_table((sheet.row_values(row) for row in range(1, sheet.nrows)), n_columns)


def read_xlsx(content: bytes, n_columns: int) -> RawCells:
    """Return the first sheet of an Excel workbook, without its header and without empty rows."""
    load_workbook = need_extra("openpyxl", "experiments").load_workbook
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        check_sizes(members.infolist())
    workbook = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    return _to_table(workbook.worksheets[0].iter_rows(min_row=2, values_only=True), n_columns)


READERS: dict[str, Callable[[bytes, int], RawCells]] = {
    "numbers": read_numbers,
    "csv": read_csv,
    "csv with semicolons": partial(read_csv, delimiter=";"),
    "csv without header": partial(read_csv, n_header=0),
    "tecator": read_tecator,
    "xls": read_xls,
    "xlsx": read_xlsx,
}


def check_sizes(members: Sequence[zipfile.ZipInfo]) -> None:
    """Raise a ValueError if members of a zip archive are too large; zipfile reads no more than their stated sizes."""
    total = sum(member.file_size for member in members)
    if total > MOST_SOURCE_BYTES:
        raise ValueError(f"it unpacks to {total:,} bytes, more than any file of the datasets")


def read_source(source: SourceFile, content: bytes) -> RawCells:
    """Return all columns of a file, as numbers or as text."""
    try:
        return READERS[source.format](content, len(source.columns))
    except ImportError:
        raise
    except Exception as error:  # every package raises its own errors for invalid files
        raise ValueError(f"{source.name} is damaged or is a different file: {error}") from error


def parse_dataset(dataset: Dataset, content: bytes) -> tuple[FloatArray, FloatArray]:
    """Return features and target of a dataset, or raise an error if they are not the paper's."""
    X, y = encode(dataset, read_source(dataset.source, content))
    check_values(dataset, X, y)
    return X, y


def encode(dataset: Dataset, table: RawCells) -> tuple[FloatArray, FloatArray]:
    """Return a dataset's columns of a table, with one 0/1 column for every code of a category."""
    index = dataset.source.columns.index
    try:
        y = table[:, index(dataset.target)].astype(float)
        plain = table[:, [index(name) for name in dataset.features]].astype(float)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{dataset.source.name} is damaged or is a different file: {error}") from error
    coded = [table[:, [index(name)]] == np.array(list(dataset.source.codes[name])) for name in dataset.categories]
    if not all(block.any(axis=1).all() for block in coded):
        raise ValueError(f"{dataset.source.name} is damaged or is a different file: it has an unknown category")
    return np.ascontiguousarray(np.hstack([plain, *coded], dtype=float)), y


def check_values(dataset: Dataset, X: FloatArray, y: FloatArray) -> None:
    """Raise a ValueError unless shape and mean target are the expected ones and all numbers are finite."""
    problem = None
    if X.shape != (dataset.n_samples, dataset.n_features):
        problem = f"expected {dataset.n_samples} rows and {dataset.n_features} features, got {X.shape}"
    elif not (np.isfinite(X).all() and np.isfinite(y).all()):
        problem = "some numbers are missing or not finite"
    elif abs(y.mean() - dataset.target_mean) > 1e-4:
        problem = f"expected a mean {dataset.target!r} of {dataset.target_mean}, got {y.mean():.4f}"
    if problem:
        raise ValueError(f"{dataset.source.name} is damaged or is a different file ({dataset.name}): {problem}.")


def _decode(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")


def _to_floats(row: list[str]) -> list[float] | None:
    """Return the numbers of a row, or None if a cell is not a number."""
    try:
        return [float(cell) for cell in row]
    except ValueError:
        return None


def _to_table(rows: Iterable[Any], n_columns: int) -> RawCells:
    """Return the first columns of all rows that are not empty."""
    cells = [row[:n_columns] for row in rows]
    return np.array([row for row in cells if any(cell not in (None, "") for cell in row)], dtype=float)
