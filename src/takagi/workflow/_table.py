"""Tables to train on: the columns to learn from, the target, and what was understood of all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._text import count, quote, write_number
from takagi.tables import (
    DatasetError,
    NamedTable,
    OpenTable,
    RequestError,
    TableCheck,
    check_table,
    find_columns,
)
from takagi.workflow._columns import LEFT_OUT, ColumnSummary, read_target, summarize_columns

_MOST_COLUMNS = 5_000
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class TrainingTable:
    """Columns to learn from, the target, and how all columns were understood.

    `n_rows` counts the rows with a target, of which `X` and `y` have a sample if there are very many. `check` says what
    to look at before the columns are learned from.
    """

    X: Any
    y: Any
    columns: list[ColumnSummary]
    n_dropped: int
    n_rows: int
    check: TableCheck

    @property
    def is_sample(self) -> bool:
        """Whether there are more rows than these."""
        return len(self.y) < self.n_rows

    def take(self, rows: np.ndarray) -> tuple[Any, Any]:
        """Return some rows."""
        return self.X.iloc[rows], self.y.iloc[rows]


def read_training_table(source: OpenTable, target: str, drop: Sequence[str] = ()) -> TrainingTable:
    """Read a table and find out what can be learned from."""
    names = choose_columns(source, target, drop)
    frame = source.read([*names, target], {target: "number"})
    if not len(frame):
        raise DatasetError(f"{source.label} has names but no rows.")
    numbers, present = read_target(frame, target)
    table = frame.loc[present, names].reset_index(drop=True)
    y = need_extra("pandas", "cli").Series(numbers[present], name=target)
    return learn_from(source, table, y, (len(y), int((~present).sum())))


def choose_columns(source: NamedTable, target: str, drop: Sequence[str] = ()) -> list[str]:
    """Return the columns beside the target that are not dropped, if there are not too many of them."""
    if len(source.names) == 1:
        raise DatasetError(
            f"{source.label} has the single column {quote(source.names[0])}; training takes a target and at least one "
            "more. Cells must be separated by commas, semicolons, tabs, bars or spaces."
        )
    find_columns(source, [target], "columns")
    names = _leave_out(source, target, drop)
    if len(names) > _MOST_COLUMNS:
        raise DatasetError(
            f"{source.label} has {len(names):,} columns to learn from; rules take at most {_MOST_COLUMNS:,}. Leave "
            'some out, by name or by patterns such as "pixel*".',
            about="drop",
        )
    return names


def learn_from(source: NamedTable, table: Any, y: Any, n_rows: tuple[int, int]) -> TrainingTable:
    """Find out what can be learned from; `n_rows` with and without a target are those of the whole table."""
    target = y.name
    if len(y) < _FEWEST_ROWS:
        rows = count(len(y), "row")
        raise DatasetError(f"{source.label} has {rows} with a target; training takes {_FEWEST_ROWS} at least.")
    if np.ptp(y) == 0:
        value = write_number(y.iloc[0])
        raise DatasetError(f"the target {quote(target)} is {value} in every row: there is nothing to learn.")
    columns = summarize_columns(table)
    used = [column.name for column in columns if column.read_as != LEFT_OUT]
    if not used:
        reasons = ", ".join(f"{quote(column.name)}: {column.what}" for column in columns[:3])
        raise DatasetError(f"{source.label} has no column to learn {quote(target)} from ({reasons}).")
    return TrainingTable(table[used], y, columns, n_rows[1], n_rows[0], check_table(table[used], y))


def _leave_out(source: NamedTable, target: str, drop: Sequence[str] = ()) -> list[str]:
    """Return the columns beside the target that are not dropped."""
    others = [name for name in source.names if name != target]
    dropped: set[str] = set()
    for pattern in drop:
        matching = [pattern] if pattern in others else [name for name in others if fnmatchcase(name, pattern)]
        if not matching:
            find_columns(source, [pattern], "columns")
            raise RequestError(f"{quote(pattern)} is the target and cannot be left out.")
        dropped.update(matching)
    kept = [name for name in others if name not in dropped]
    if not kept:
        raise RequestError(f"no column is left to learn {quote(target)} from.", about="drop")
    return kept
