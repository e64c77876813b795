"""Sheets of Excel and OpenDocument files."""

import io
from typing import Any

from takagi._messages import need_extra, warn_user
from takagi._text import quote
from takagi.tables._dialect import make_names
from takagi.tables._errors import RequestError, SheetWarning
from takagi.tables._header import find_header
from takagi.tables._layout import TableLayout, tell_titles
from takagi.tables._unpack import FileBytes
from takagi.tables._whole import WholeTable

_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"
_MOST_ROWS = 100  # that the names are looked for in


def open_sheet(file: FileBytes, layout: TableLayout) -> WholeTable:
    """Read a sheet, by its name or its number from 1; the first one by default."""
    with file.open() as stream:
        content = stream.read()
    is_open = _OPEN_DOCUMENT in content[:120]
    kind = "OpenDocument" if is_open else "Excel"
    sheet, frame = _read_sheet(str(file), content, kind, layout.sheet)
    frame = frame.dropna(how="all").dropna(how="all", axis=1)
    if not len(frame):
        raise ValueError(f"{file} has nothing in sheet {quote(sheet)}.")
    return WholeTable(str(file), f"{kind}, sheet {quote(sheet)}", _name_columns(frame, layout, str(file)))


def _read_sheet(label: str, content: bytes, kind: str, wanted: str | None) -> tuple[str, Any]:
    pandas = need_extra("pandas", "cli")
    try:
        with pandas.ExcelFile(io.BytesIO(content), engine="odf" if kind == "OpenDocument" else None) as book:
            sheet = _find_sheet(label, book.sheet_names, wanted)
            return sheet, pandas.read_excel(book, sheet_name=sheet, header=None, dtype=object)
    except (RequestError, Warning):
        raise
    except ImportError as error:
        raise ImportError(f'{label} needs a reader for {kind}: pip install "takagi[sources]" ({error})') from error
    except Exception as error:  # the readers have errors of their own
        raise ValueError(f"{label} is damaged or not {kind}: {error}") from error


def _name_columns(frame: Any, layout: TableLayout, label: str) -> Any:
    """Return the rows below the names, with these."""
    if layout.is_headless:
        return frame.set_axis(make_names(layout.names, frame.shape[1], label), axis=1).reset_index(drop=True)
    rows = [["" if cell != cell else str(cell) for cell in row] for row in frame.iloc[:_MOST_ROWS].itertuples(False)]
    place = find_header(rows) if layout.header_row is None else _find_row(frame, layout.header_row, label)
    names = [word.strip() or f"column{k}" for k, word in enumerate(rows[place], start=1)]
    table = frame.iloc[place + 1 :].set_axis(names, axis=1).reset_index(drop=True)
    table = table.loc[:, [bool(word.strip()) for word in rows[place]] | table.notna().any().to_numpy()]
    if layout.header_row is None and place:
        tell_titles(label, place, int(frame.index[place]) + 1, list(table.columns), "row")
    return table


def _find_row(frame: Any, number: int, label: str) -> int:
    """Return the place of a row, counted from 1 in the sheet, among those that are not empty."""
    places = [k for k, row in enumerate(frame.index[:_MOST_ROWS]) if row == number - 1]
    if not places:
        raise RequestError(f"row {number} of {label} is empty or too far down for names.", "header_row")
    return places[0]


def _find_sheet(label: str, sheets: list[str], wanted: str | None) -> str:
    listed = ", ".join(map(quote, sheets))
    if wanted is None:
        if len(sheets) > 1:
            warn_user(f"{label} has the sheets {listed}; the first is read.", SheetWarning)
        return sheets[0]
    if wanted in sheets:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    raise RequestError(f"{label} has no sheet {quote(wanted)}; it has {listed}.", "sheet")
