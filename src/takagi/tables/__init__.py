"""Tables and their conversion into the matrix of the rules.

`TableEncoder` turns text, categories and missing values into numbers. A source reads rows that may not fit into memory,
from files through pyarrow or from Dask collections: it gives a uniform sample, and reads all rows in blocks.
"""

from typing import TYPE_CHECKING

from takagi._lazy import import_later
from takagi.tables._arrow import ArrowSource
from takagi.tables._cells import Cells, as_dates, as_numbers, as_words, find_form, find_kind, parse_number, read_cells
from takagi.tables._column import MISSING, Column, list_origins
from takagi.tables._dask import DaskSource
from takagi.tables._describe import describe_column
from takagi.tables._dialect import LARGE_BYTES
from takagi.tables._errors import ColumnWarning, DatasetError, HeaderWarning, RequestError, SheetWarning, TitleWarning
from takagi.tables._files import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    NamedTable,
    OpenTable,
    find_columns,
    find_files,
    is_pattern,
    locate_file,
    open_table,
)
from takagi.tables._findings import Finding, TableCheck
from takagi.tables._formats import find_date_form, find_odd_word
from takagi.tables._layout import TableLayout
from takagi.tables._matrix import TableColumns
from takagi.tables._open import open_dataset, open_rows
from takagi.tables._schema import TextParts
from takagi.tables._shuffle import shuffle_rows
from takagi.tables._source import Block, Roles, RowSample, RowSource
from takagi.tables._sql import find_database, hide_password, is_address
from takagi.tables._tally import ClassTally

if TYPE_CHECKING:
    from takagi.tables._doctor import check_table
    from takagi.tables._encoder import TableEncoder

__all__ = [
    "LARGE_BYTES",
    "MISSING",
    "PARQUET_SUFFIXES",
    "TEXT_SUFFIXES",
    "ArrowSource",
    "Block",
    "Cells",
    "ClassTally",
    "Column",
    "ColumnWarning",
    "DaskSource",
    "DatasetError",
    "Finding",
    "HeaderWarning",
    "NamedTable",
    "OpenTable",
    "RequestError",
    "Roles",
    "RowSample",
    "RowSource",
    "SheetWarning",
    "TableCheck",
    "TableColumns",
    "TableEncoder",
    "TableLayout",
    "TextParts",
    "TitleWarning",
    "as_dates",
    "as_numbers",
    "as_words",
    "check_table",
    "describe_column",
    "find_columns",
    "find_database",
    "find_date_form",
    "find_files",
    "find_form",
    "find_kind",
    "find_odd_word",
    "hide_password",
    "is_address",
    "is_pattern",
    "list_origins",
    "locate_file",
    "open_dataset",
    "open_rows",
    "open_table",
    "parse_number",
    "read_cells",
    "shuffle_rows",
]

__getattr__, __dir__ = import_later(__name__, __all__, {"_doctor": ["check_table"], "_encoder": ["TableEncoder"]})
