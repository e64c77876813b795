"""Tables to train on: the columns to learn from, the target, and what was understood of all of them."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi.cli._columns import LEFT_OUT, Understood, read_target, understand
from takagi.cli._console import Misuse, cell, console, count, make_table, print_text, quote, write_number
from takagi.cli._tables import NamedTable, TableOnDisk, find_columns, read_table

_MOST_COLUMNS = 5_000
_FEWEST_ROWS = 10
_MOST_LISTED = 40


@dataclass(frozen=True)
class TrainingTable:
    """Columns to learn from, the target, and how all columns were understood.

    `n_rows` counts the rows with a target, of which `X` and `y` have a sample if there are very many.
    """

    X: Any
    y: Any
    columns: list[Understood]
    n_dropped: int
    n_rows: int

    @property
    def is_sample(self) -> bool:
        """Whether there are more rows than these."""
        return len(self.y) < self.n_rows

    def take(self, rows: np.ndarray) -> tuple[Any, Any]:
        """Return some rows."""
        return self.X.iloc[rows], self.y.iloc[rows]


def read_training_table(source: TableOnDisk, target: str, drop: list[str]) -> TrainingTable:
    """Read a table and find out what can be learned from."""
    names = choose_columns(source, target, drop)
    frame = read_table(source, [*names, target])
    if not len(frame):
        raise ValueError(f"{source.label} has names but no rows.")
    numbers, present = read_target(frame, target, source.decimal)
    table = frame.loc[present, names].reset_index(drop=True)
    y = need_extra("pandas", "cli").Series(numbers[present], name=target)
    return learn_from(source, table, y, (len(y), int((~present).sum())))


def choose_columns(source: NamedTable, target: str, drop: list[str]) -> list[str]:
    """Return the columns beside the target that are not dropped, if there are not too many of them."""
    if len(source.names) == 1:
        raise ValueError(
            f"{source.label} has the single column {quote(source.names[0])}; training takes a target and at least one "
            "more. Cells must be separated by commas, semicolons, tabs, bars or spaces."
        )
    find_columns(source, [target])
    names = _leave_out(source, target, drop)
    if len(names) > _MOST_COLUMNS:
        raise ValueError(
            f"{source.label} has {len(names):,} columns to learn from; rules take at most {_MOST_COLUMNS:,}. Leave "
            'some out with --drop, which takes patterns such as "pixel*".'
        )
    return names


def learn_from(source: NamedTable, table: Any, y: Any, n_rows: tuple[int, int]) -> TrainingTable:
    """Find out what can be learned from; `n_rows` with and without a target are those of the whole table."""
    target = y.name
    if len(y) < _FEWEST_ROWS:
        rows = count(len(y), "row")
        raise ValueError(f"{source.label} has {rows} with a target; training takes {_FEWEST_ROWS} at least.")
    if np.ptp(y) == 0:
        value = write_number(y.iloc[0])
        raise ValueError(f"the target {quote(target)} is {value} in every row: there is nothing to learn.")
    columns = understand(table)
    used = [column.name for column in columns if column.read_as != LEFT_OUT]
    if not used:
        reasons = ", ".join(f"{quote(column.name)}: {column.what}" for column in columns[:3])
        raise ValueError(f"{source.label} has no column to learn {quote(target)} from ({reasons}).")
    return TrainingTable(table[used], y, columns, n_rows[1], n_rows[0])


def _leave_out(source: NamedTable, target: str, drop: list[str]) -> list[str]:
    """Return the columns beside the target that are not dropped."""
    others = [name for name in source.names if name != target]
    dropped: set[str] = set()
    for pattern in drop:
        matching = [pattern] if pattern in others else [name for name in others if fnmatchcase(name, pattern)]
        if not matching:
            find_columns(source, [pattern])
            raise Misuse(f"{quote(pattern)} is the target and cannot be left out.")
        dropped.update(matching)
    kept = [name for name in others if name not in dropped]
    if not kept:
        raise Misuse(f"--drop leaves no column to learn {quote(target)} from.")
    return kept


def show_table(source: NamedTable, data: TrainingTable) -> None:
    """Print what was understood of a table."""
    n_rows = data.n_rows + data.n_dropped
    print_text(f"{source.label}: {count(n_rows, 'row')}, {count(len(source.names), 'column')} ({source.description})\n")
    table = make_table("Column", "Read as", "Range or levels", ">Missing")
    for column in data.columns[:_MOST_LISTED]:
        style = "dim" if column.read_as == LEFT_OUT else ""
        missing = f"{column.n_missing:,}" if column.n_missing else ""
        table.add_row(
            cell(column.name, 28, style), cell(column.read_as, 12, style), cell(column.what, 60, style), missing
        )
    console.print(table)
    if len(data.columns) > _MOST_LISTED:
        print_text(f"... and {count(len(data.columns) - _MOST_LISTED, 'more column')}")
    target = f"Target {data.y.name}: {write_number(data.y.min())} to {write_number(data.y.max())}"
    left_out = f"; {count(data.n_dropped, 'row')} without it left out" if data.n_dropped else ""
    print_text(f"\n{target}{left_out}")
    if data.is_sample:
        print_text(f"Ranges, levels and missing values are those of {len(data.y):,} rows drawn at random.")
    print_text("")
