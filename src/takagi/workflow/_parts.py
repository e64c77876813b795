"""Training in parts: tables of many files, or of one file that is too large for memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from takagi._frames import INDEX_PREFIX
from takagi._kinds import find_type
from takagi._labels import number_labels
from takagi._messages import need_extra
from takagi._text import count
from takagi._typing import IntArray
from takagi.estimators import SAMPLE_ROWS, copy_model, fit_source, limit_rows
from takagi.tables import (
    LARGE_BYTES,
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    ArrowSource,
    RequestError,
    RowSample,
    TableLayout,
    TextParts,
    find_files,
    is_address,
    is_pattern,
    open_dataset,
)
from takagi.training import Progress
from takagi.workflow._events import Event, Tell, ignore
from takagi.workflow._settings import ModelSettings, build_model
from takagi.workflow._table import ColumnChoice, TrainingTable, choose_columns, learn_from
from takagi.workflow._target import CLASSIFICATION, REGRESSION, find_task, read_classes

_PACKED_PART = 5  # approximate bytes of text per byte of gzip


def comes_in_parts(sources: Sequence[str]) -> bool:
    """Whether to read a table in parts: several files, a folder, a pattern or a very large file."""
    if len(sources) > 1:
        return True
    if is_address(sources[0]):
        return False
    path = Path(sources[0]).expanduser()
    if not path.exists():
        return is_pattern(sources[0])
    is_known = path.name.lower().endswith(PARQUET_SUFFIXES + TEXT_SUFFIXES)
    n_bytes = path.stat().st_size * (_PACKED_PART if path.suffix.lower() == ".gz" else 1)
    return path.is_dir() or (is_known and n_bytes >= LARGE_BYTES)


@dataclass(frozen=True)
class TableParts:
    """Files that are parts of one table."""

    label: str  # its name in messages
    names: list[str]
    description: str  # how it is read, in words
    first: str  # the first file
    dataset: Any  # of pyarrow, or `TextParts`

    @classmethod
    def open(cls, sources: Sequence[str], layout: TableLayout) -> "TableParts":
        """Find the files and their format, which must be the same for all."""
        layout.refuse(sources[0], "a table in parts", "sheet", "query")
        label = sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"
        paths = find_files(list(sources))
        dataset = open_dataset(paths, layout)
        if isinstance(dataset, TextParts):
            description = dataset.files[0].description
        else:
            layout.refuse(label, "Parquet", "no_header", "names", "header_row")
            description = "Parquet"
        names = [name for name in dataset.schema.names if not name.startswith(INDEX_PREFIX)]
        return cls(label, names, f"{count(len(paths), 'file')}, {description}", str(paths[0]), dataset)

    def has_numbers(self, name: str) -> bool:
        """Whether the type of a column is numeric."""
        return find_type(self.dataset.schema.field(name).type) == "number"

    def open_rows(self, target: str, names: list[str], has_classes: bool) -> ArrowSource:
        """Return a source of the rows with a target and of some feature columns."""
        return ArrowSource.open(self.dataset, target, names, label=self.label, has_classes=has_classes)


@dataclass(frozen=True)
class RowsInParts:
    """A source of rows, a sample of them, and the random generator that drew it."""

    source: ArrowSource
    sample: RowSample
    rng: np.random.Generator


def read_sample(
    table: TableParts,
    target: str,
    choice: ColumnChoice | None = None,
    task: str | None = None,
    seed: int = 0,
    tell: Tell = ignore,
) -> tuple[RowsInParts, TrainingTable]:
    """Read all rows once, and find the useful columns from a sample of them.

    Whether the target is classes is decided as in `read_training_table`; that there are only two numbers is checked in
    a second pass.
    """
    choice = choice or ColumnChoice()
    names = choose_columns(table, target, choice)
    draw = partial(_draw, table, target, names, seed, tell)
    if task is None:
        rows = _settle_task(draw(not table.has_numbers(target)), draw, target)
    else:
        rows = draw(task == CLASSIFICATION)
    sample, task = rows.sample, REGRESSION if rows.sample.classes is None else CLASSIFICATION
    frame = _make_frame(sample, target)
    if sample.classes is not None:
        labels, _ = read_classes(frame, target)
        frame = frame if sample.n_rows > len(labels) else frame.assign(**{target: labels})
    X = choice.apply(sample.block.X.reset_index(drop=True))
    data = learn_from(table, X, frame[target], (sample.n_rows, sample.n_without_target), choice.max_levels, task)
    source = table.open_rows(target, list(data.X.columns), task == CLASSIFICATION)
    return RowsInParts(source, sample._replace(block=sample.block._replace(X=data.X)), rows.rng), data


def _draw(table: TableParts, target: str, names: list[str], seed: int, tell: Tell, has_classes: bool) -> RowsInParts:
    """Return rows with a sample of them, and report progress."""
    source, rng, n_read = table.open_rows(target, names, has_classes), np.random.default_rng(seed).spawn(1)[0], 0

    def show(n_rows: int) -> None:
        nonlocal n_read
        n_read += n_rows
        tell(Event(f"Reading {table.label}", n_read, None, "rows"))

    show(0)
    return RowsInParts(source, source.sample(limit_rows(SAMPLE_ROWS, len(names)), rng, show), rng)


def _settle_task(rows: RowsInParts, draw: Callable[[bool], RowsInParts], target: str) -> RowsInParts:
    """Read the rows again if a numeric target turns out to be two classes, or a text target to be numbers."""
    has_classes = rows.sample.classes is not None
    if (find_task(_make_frame(rows.sample, target), target) == CLASSIFICATION) == has_classes:
        return rows
    other = draw(not has_classes)
    is_more = other.sample.classes is not None and len(other.sample.classes.labels) > 2  # only the sample had just two
    return rows if is_more else other


def _make_frame(sample: RowSample, target: str) -> Any:
    """Return the targets of a sample as a data frame; labels have the type of those of all rows."""
    values = sample.block.y[:, 0]
    if sample.classes is not None:
        values = sample.classes.labels[number_labels(values, sample.classes.labels)]
    return need_extra("pandas", "parquet").DataFrame({target: values})


def train_in_parts(
    rows: RowsInParts, data: TrainingTable, test: IntArray, settings: ModelSettings, tell: Tell = ignore
) -> Any:
    """Return a pipeline trained on all rows except the test rows of the sample.

    Raises
    ------
    DatasetError
        If a file cannot be read during training; its `model` has the best rules so far.
    """
    if settings.committee:
        raise RequestError("a committee trains in memory, and this table has too many rows for that.", "committee")
    is_test = np.zeros(len(data.y), dtype=bool)
    is_test[test] = True
    task = f"Training {settings.words} on {data.n_rows - len(test):,} rows"

    def show(progress: Progress) -> None:
        tell(Event(task, progress.n_iter, progress.max_iter, f"iterations, {progress.stage}"))

    tell(Event(task, 0, None, "iterations"))
    model = copy_model(build_model(settings))
    return fit_source(model, rows.source, rows.sample, rows.rng, target=data.y.name, callback=show, left_out=is_test)
