"""Tables from databases: the rows of a read-only query.

SQLite is read with Python's own library, other databases with SQLAlchemy and the driver in the address.
"""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote as quote_address

from takagi._messages import need_extra
from takagi._text import quote
from takagi.tables._errors import DatasetError, RequestError
from takagi.tables._whole import WholeTable

SQLITE_MARK = b"SQLite format 3\0"
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+://")
_PASSWORD = re.compile(r"(://[^/@]*?:)[^/]*@")
_SQLITE = "sqlite:///"
_READS = ("select", "with", "values", "table", "(")
_QUOTED = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]", re.DOTALL)  # and comments
_WRITES = re.compile(r"\b(insert|update|delete|drop|alter|create|truncate|merge|into|grant|revoke|attach|pragma)\b|;")
_MOST_SHOWN = 8


def is_address(source: object) -> bool:
    """Whether a source is the address of a database.

    >>> is_address("sqlite:///plant.db"), is_address("plant.db"), is_address("postgresql+psycopg://me@host/plants")
    (True, False, True)
    """
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def hide_password(address: str) -> str:
    """Return an address without its password.

    >>> hide_password("mysql://me:secret@host/plants")
    'mysql://me:...@host/plants'
    """
    return _PASSWORD.sub(r"\1...@", address)


def find_database(source: str) -> Path | None:
    """Return the file of the address of an SQLite database; None for another address."""
    return Path(source.removeprefix(_SQLITE)).expanduser() if source.startswith(_SQLITE) else None


def open_query(source: str | Path, query: str | None) -> WholeTable:
    """Return the rows of a query; nothing is ever written."""
    label = hide_password(str(source))
    path = source if isinstance(source, Path) else find_database(source)
    query = None if query is None else _check_query(query)
    names, rows = _ask_sqlite(path, label, query) if path is not None else _ask_other(str(source), label, query)
    frame = need_extra("pandas", "cli").DataFrame.from_records(rows, columns=list(names), coerce_float=True)
    return WholeTable(label, "rows of a query", frame)


def _check_query(query: str) -> str:
    """Return a read-only query without a semicolon at its end, or raise an error."""
    query = query.strip().rstrip(";")
    words = _QUOTED.sub(" ", query).strip().lower()
    found = _WRITES.search(words)
    if found is not None or not words.startswith(_READS):
        what = f", without {found[0]!r}" if found is not None and words.startswith(_READS) else ""
        raise RequestError(f"a query must be one select{what}: the database is never written to.", "query")
    return query


def _ask_sqlite(path: Path, label: str, query: str | None) -> tuple[Sequence[str], list[Any]]:
    if not path.is_file():
        raise RequestError(f"there is no database {path}.")
    address = f"file:{quote_address(str(path.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as base:
            listed = base.execute("select name from sqlite_master where type in ('table', 'view')").fetchall()
            tables = [name for (name,) in listed if not name.startswith("sqlite_")]
            if query is None:
                raise _ask_for_query(label, tables)
            found = base.execute(query)
            return [column[0] for column in found.description], found.fetchall()
    except sqlite3.Error as error:
        about = f" It has the tables {_list(tables)}." if "no such table" in str(error) else ""
        raise DatasetError(f"{label} refuses the query: {error}.{about}") from error


def _ask_other(address: str, label: str, query: str | None) -> tuple[Sequence[str], list[Any]]:
    alchemy = need_extra("sqlalchemy", "sources")
    try:
        engine = alchemy.create_engine(address)
    except ImportError as error:
        raise DatasetError(f"{label} needs a driver that is not installed: pip install {error.name}") from error
    except alchemy.exc.SQLAlchemyError as error:
        raise RequestError(f"{label} is no address of a database: {error}.") from error
    try:
        with engine.connect() as base:  # which is never committed
            if query is None:
                raise _ask_for_query(label, alchemy.inspect(base).get_table_names())
            readonly = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
            found = base.execution_options(no_parameters=True, **readonly).exec_driver_sql(query)
            return list(found.keys()), [tuple(row) for row in found]
    except alchemy.exc.SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise DatasetError(f"{label} cannot be read: {reason}.") from error
    finally:
        engine.dispose()


def _ask_for_query(label: str, tables: Sequence[str]) -> RequestError:
    if not tables:
        return RequestError(f"{label} has no tables.")
    return RequestError(
        f'{label} has the tables {_list(tables)}; say which rows to read, such as "select * from {tables[0]}".', "query"
    )


def _list(tables: Sequence[str]) -> str:
    return ", ".join(map(quote, tables[:_MOST_SHOWN])) + (", ..." if len(tables) > _MOST_SHOWN else "")
