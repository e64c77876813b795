"""Training tables: the feature columns, the target, and how all columns are read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from takagi.workflow._columns import LEFT_OUT, ColumnSummary, read_as, summarize_columns
from takagi.workflow._splits import Ties, find_groups, find_times
from takagi.workflow._target import CLASSIFICATION, REGRESSION, find_task, read_classes, read_target

_MOST_COLUMNS = 5_000
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class TrainingTable:
    """Feature columns, the target, and how all columns are read.

    `n_rows` counts the rows with a target; if there are very many, `X` and `y` have a sample of them. `check` has
    findings to look at before training.
    """

    X: Any
    y: Any
    columns: list[ColumnSummary]
    n_dropped: int
    n_rows: int
    check: TableCheck = field(default_factory=TableCheck)
    ties: Ties | None = None  # of rows, that scores respect
    task: str = REGRESSION  # whether the target is numbers or classes

    @property
    def is_sample(self) -> bool:
        """Whether these rows are a sample of more rows."""
        return len(self.y) < self.n_rows

    @property
    def labels(self) -> np.ndarray | None:
        """The classes of the rows, None if the target is numbers."""
        return np.asarray(self.y) if self.task == CLASSIFICATION else None

    def take(self, rows: np.ndarray) -> tuple[Any, Any]:
        """Return some rows."""
        return self.X.iloc[rows], self.y.iloc[rows]


@dataclass(frozen=True)
class ColumnChoice:
    """The user's choices about columns.

    Parameters
    ----------
    drop : sequence of str, default=()
        Columns to leave out, or patterns of their names.
    categories, numbers, dates : sequence of str, default=()
        Columns to read as such, regardless of their content.
    max_levels : int, default=20
        Largest number of levels of a category with their own inputs.
    group : str, optional
        Rows with the same value of this column stay together in scores; it is not a feature.
    time : str, optional
        The column of time: for scores, test rows are later than training rows.
    """

    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()
    max_levels: int = 20
    group: str | None = None
    time: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """How to read the cells of columns from a text file."""
        return dict.fromkeys([*self.categories, *self.dates], "words") | dict.fromkeys(self.numbers, "number")

    def apply(self, frame: Any) -> Any:
        """Return a data frame with columns of the chosen kinds, or raise an error with the row that does not fit."""
        changed = {name: frame[name].astype("category") for name in self.categories}
        changed |= {name: read_as(frame[name], name, "number") for name in self.numbers}
        changed |= {name: read_as(frame[name], name, "date") for name in self.dates}
        return frame.assign(**changed)


def read_training_table(
    source: OpenTable, target: str, choice: ColumnChoice | None = None, task: str | None = None
) -> TrainingTable:
    """Read a table, find its useful columns, and decide whether the target is classes, unless `task` is given.

    Parameters
    ----------
    source : OpenTable
        The table.
    target : str
        The column to predict.
    choice : ColumnChoice, optional
        Choices about the other columns.
    task : {"classification", "regression"}, optional
        Kind of the target; by default, text, booleans and two distinct numbers are classes.
    """
    choice = choice or ColumnChoice()
    tying = _find_tie(source, target, choice)
    names = choose_columns(source, target, choice)
    kind = "words" if task == CLASSIFICATION else "number"  # codes such as 02134 are classes, with their zeros
    frame = source.read([*dict.fromkeys([*names, *tying]), target], choice.kinds | {target: kind})
    if not len(frame):
        raise DatasetError(f"{source.label} has names but no rows.")
    task = task or find_task(frame, target)
    is_class = task == CLASSIFICATION
    values, present = read_classes(frame, target) if is_class else read_target(frame, target, "task")
    y = need_extra("pandas", "cli").Series(values, name=target)
    n_rows = int(present.sum()), int((~present).sum())
    data = learn_from(source, choice.apply(frame[names]), y, n_rows, choice.max_levels, task)
    find = find_groups if choice.time is None else find_times
    return replace(data, ties=find(frame.loc[present, tying[0]], tying[0])) if tying else data


def _find_tie(source: NamedTable, target: str, choice: ColumnChoice) -> list[str]:
    """Return the column that ties rows together, if there is one."""
    if choice.group is not None and choice.time is not None:
        raise RequestError("rows are tested by whole groups or in the order of time, not both; name one column.")
    tying = [name for name in (choice.group, choice.time) if name is not None]
    if target in tying:
        about = "group" if choice.time is None else "time"
        raise RequestError(f"{quote(target)} is the target; another column is needed.", about)
    return find_columns(source, tying, "columns")


def choose_columns(source: NamedTable, target: str, choice: ColumnChoice) -> list[str]:
    """Return the columns other than the target that are not dropped, if there are not too many of them."""
    if len(source.names) == 1:
        raise DatasetError(
            f"{source.label} has the single column {quote(source.names[0])}; training takes a target and at least one "
            "more. Cells must be separated by commas, semicolons, tabs, bars or spaces."
        )
    find_columns(source, [target], "columns")
    names = _leave_out(source, target, [*choice.drop, *([] if choice.group is None else [choice.group])])
    for name in find_columns(source, list(choice.kinds), "columns"):
        if name not in names:
            raise RequestError(f"{quote(name)} is {'the target' if name == target else 'left out'}, and has no kind.")
    if len(names) > _MOST_COLUMNS:
        raise DatasetError(
            f"{source.label} has {len(names):,} columns to learn from; rules take at most {_MOST_COLUMNS:,}. Leave "
            'some out, by name or by patterns such as "pixel*".',
            about="drop",
        )
    return names


def learn_from(
    source: NamedTable, table: Any, y: Any, n_rows: tuple[int, int], max_levels: int = 20, task: str = REGRESSION
) -> TrainingTable:
    """Find the useful columns; the numbers of rows with and without a target are those of the whole table."""
    target, every, goal = y.name, table, y
    table, y = (part[goal.notna()].reset_index(drop=True) for part in (every, goal))
    y = y.infer_objects()
    if len(y) < _FEWEST_ROWS:
        rows = count(len(y), "row")
        raise DatasetError(f"{source.label} has {rows} with a target; training takes {_FEWEST_ROWS} at least.")
    if y.nunique() == 1:
        value = quote(str(y.iloc[0])) if task == CLASSIFICATION else write_number(y.iloc[0])
        raise DatasetError(f"the target {quote(target)} is {value} in every row: there is nothing to learn.")
    numbers = y.to_numpy(dtype=float) if y.dtype.kind in "fib" else None  # for which the encoder also uses target means
    columns = summarize_columns(table, numbers, max_levels)
    used = [column.name for column in columns if column.read_as != LEFT_OUT]
    if not used:
        reasons = ", ".join(f"{quote(column.name)}: {column.what}" for column in columns[:3])
        raise DatasetError(f"{source.label} has no column to learn {quote(target)} from ({reasons}).")
    others = [name for name in every.columns if name not in used]
    mixed = check_table(every[others]).find("mixed")
    findings = [one for one in check_table(every[used], goal) if task == REGRESSION or one.kind != "few values"]
    return TrainingTable(table[used], y, columns, n_rows[1], n_rows[0], TableCheck([*findings, *mixed]), task=task)


def _leave_out(source: NamedTable, target: str, drop: Sequence[str] = ()) -> list[str]:
    """Return the columns other than the target that are not dropped."""
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
