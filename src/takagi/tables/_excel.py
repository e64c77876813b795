"""Sheets of Excel files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from takagi._frames import NO_KINDS, Kinds
from takagi._messages import need_extra, warn_user
from takagi._text import quote
from takagi.tables._dialect import make_names
from takagi.tables._errors import RequestError, SheetWarning


class ExcelTable:
    """A sheet of an Excel file, by its name or its number from 1, which is always read whole."""

    def __init__(
        self, path: Path, sheet: str | None = None, names: Sequence[str] | None = None, is_headless: bool = False
    ) -> None:
        self.label = str(path)
        sheet, frame = _read_sheet(path, sheet)
        self.description = f"Excel, sheet {quote(sheet)}"
        frame = frame.dropna(how="all").dropna(how="all", axis=1)
        if not len(frame):
            raise ValueError(f"{path} has nothing in sheet {quote(sheet)}.")
        self.names = (
            make_names(names, frame.shape[1], self.label) if is_headless else _name_cells(frame.iloc[0].tolist())
        )
        frame = frame if is_headless else frame.iloc[1:]
        self.frame = frame.set_axis(self.names, axis=1).reset_index(drop=True)

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns as a data frame; every cell keeps its type."""
        return self.frame[list(columns)]

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield data frames of at most `n_rows` rows: columns to keep, and columns to read."""
        for start in range(0, len(self.frame), n_rows):
            block = self.frame.iloc[start : start + n_rows]
            yield block[list(keep)], block[list(columns)]


def _read_sheet(path: Path, sheet: str | None) -> tuple[str, Any]:
    pandas = need_extra("pandas", "cli")
    try:
        with pandas.ExcelFile(path) as book:
            sheet = _find_sheet(path, book.sheet_names, sheet)
            return sheet, pandas.read_excel(book, sheet_name=sheet, header=None, dtype=object)
    except (RequestError, Warning):
        raise
    except ImportError as error:
        raise ImportError(f'{path} needs a reader for Excel: pip install "takagi[cli]" ({error})') from error
    except Exception as error:  # the readers have errors of their own
        raise ValueError(f"{path} is damaged or not Excel: {error}") from error


def _name_cells(cells: list[Any]) -> list[str]:
    return [f"column{k}" if cell != cell else str(cell).strip() for k, cell in enumerate(cells, start=1)]


def _find_sheet(path: Path, sheets: list[str], wanted: str | None) -> str:
    listed = ", ".join(map(quote, sheets))
    if wanted is None:
        if len(sheets) > 1:
            warn_user(f"{path} has the sheets {listed}; the first is read.", SheetWarning)
        return sheets[0]
    if wanted in sheets:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    raise RequestError(f"{path} has no sheet {quote(wanted)}; it has {listed}.", "sheet")
