"""Sheets of Excel and OpenDocument files."""

import io
import posixpath
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

from takagi._messages import need_extra, warn_user
from takagi._text import quote
from takagi.tables._dialect import make_names
from takagi.tables._errors import RequestError, SheetWarning
from takagi.tables._header import find_header
from takagi.tables._layout import TableLayout, tell_titles
from takagi.tables._unpack import ZIP, FileBytes
from takagi.tables._whole import WholeTable

_OPEN_DOCUMENT = b"mimetypeapplication/vnd.oasis.opendocument"
_MOST_ROWS = 100  # that are searched for the names
_MOST_AREAS = 3  # of merged cells that are listed
_BOOK, _BOOK_LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


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
    table = _name_columns(frame, layout, str(file))
    _tell_merged(str(file), content, sheet, first_row=_find_first_row(frame, len(table)))
    return WholeTable(str(file), f"{kind}, sheet {quote(sheet)}", table)


def _find_first_row(frame: Any, n_rows: int) -> int:
    """Return the row of the sheet, from 1, that has the names, or else the first of the given rows."""
    return int(frame.index[max(0, len(frame) - n_rows - 1)]) + 1


def _tell_merged(label: str, content: bytes, sheet: str, first_row: int) -> None:
    """Warn about merged cells from the row of the names on: only the first of them has a value."""
    merged = [area for area in _list_merged(content, sheet) if int(re.findall(r"\d+", area)[-1]) >= first_row]
    if merged:
        shown = ", ".join(merged[:_MOST_AREAS]) + (", ..." if len(merged) > _MOST_AREAS else "")
        warn_user(
            f"{label} has merged cells ({shown}). Only the first cell of each has a value, and the others count as "
            "missing: split them, and fill the value in."
        )


def _list_merged(content: bytes, sheet: str) -> list[str]:
    """Return the areas of merged cells of a sheet, such as A3:A12; none for other files than .xlsx."""
    if not content.startswith(ZIP):
        return []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if _BOOK not in archive.namelist():
            return []
        sheets = {one.get("name"): one.get(f"{{{_LINKS}}}id") for one in _read_tags(archive, _BOOK, "sheet")}
        files = {one.get("Id"): one.get("Target") for one in _read_tags(archive, _BOOK_LINKS, "Relationship")}
        path = posixpath.normpath(posixpath.join("xl", str(files.get(sheets.get(sheet)))))
        path = path if path in archive.namelist() else path.removeprefix("/")
        page = archive.read(path) if path in archive.namelist() else b""
    return [area.decode() for area in re.findall(rb'<(?:\w+:)?mergeCell [^>]*ref="([A-Z0-9:]+)"', page)]


def _read_tags(archive: zipfile.ZipFile, path: str, name: str) -> list[Any]:
    """Return the elements of a name, in any namespace."""
    return [one for one in ElementTree.fromstring(archive.read(path)).iter() if one.tag.endswith(f"}}{name}")]


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
    except Exception as error:  # the readers raise their own errors
        raise ValueError(f"{label} is damaged or not {kind}: {error}") from error


def _name_columns(frame: Any, layout: TableLayout, label: str) -> Any:
    """Return the rows below the names, with the names as columns."""
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
    """Return the index of a row, counted from 1 in the sheet, among the rows that are not empty."""
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
