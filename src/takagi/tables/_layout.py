"""The user's settings for a table, and messages about detected ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from takagi._messages import warn_user
from takagi._text import count, quote
from takagi.tables._errors import RequestError, TitleWarning

_MOST_SHOWN = 8


@dataclass(frozen=True)
class TableLayout:
    """The user's settings for a table.

    Parameters
    ----------
    no_header : bool, default=False
        Whether the first line of a text file or sheet is data; the columns are then x0, x1 and so on.
    names : sequence of str, optional
        Names of all columns; the first line is then also data.
    sheet : str, optional
        The name of a sheet of an Excel or OpenDocument file, or its number from 1; for an archive, the name of a file.
    header_row : int, optional
        The line of a text file, or row of a sheet, that has the names, from 1; rows above it are ignored. By default it
        is detected.
    query : str, optional
        The query of a database whose rows are the table.
    """

    no_header: bool = False
    names: Sequence[str] | None = None
    sheet: str | None = None
    header_row: int | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if self.header_row is not None and self.is_headless:
            raise RequestError("a row of names does not go with names that are given or not there.", "header_row")

    @property
    def is_headless(self) -> bool:
        """Whether the first line is data."""
        return self.no_header or self.names is not None

    def refuse(self, label: str, kind: str, *fields: str) -> None:
        """Raise an error if a setting does not apply to this kind of table."""
        reasons = {
            "no_header": "has names of its own; give no others",
            "names": "has names of its own; give no others",
            "header_row": "has names of its own, and no row for them",
            "sheet": "has no sheets",
            "query": "is no database; a query is for one, such as sqlite:///plant.db",
        }
        for name in fields:
            if getattr(self, name) not in (None, False):
                raise RequestError(f"{label} is {kind}, which {reasons[name]}.", name)


def tell_titles(label: str, n_rows: int, line: int, names: Sequence[str], what: str = "line") -> None:
    """Warn that rows above the names are ignored."""
    shown = list_names(names[:3]) + (", ..." if len(names) > 3 else "")
    rows = count(n_rows, what)
    warn_user(f"{label} has {rows} above its names, which are in {what} {line}: {shown}.", TitleWarning)


def list_names(names: Sequence[str]) -> str:
    """List names in a message, the first of many."""
    shown = ", ".join(map(quote, names[:_MOST_SHOWN]))
    return shown if len(names) <= _MOST_SHOWN else f"{shown} and {len(names) - _MOST_SHOWN:,} more"
