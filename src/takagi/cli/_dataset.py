"""Tables of many files, or of one that is too large to be read whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._typing import IntArray
from takagi.cli._console import Misuse, count, print_note
from takagi.cli._files import STANDARD
from takagi.cli._progress import Watch
from takagi.cli._tables import Layout
from takagi.cli._text_table import set_names
from takagi.cli._training import Settings
from takagi.cli._training_table import TrainingTable, choose_columns, learn_from
from takagi.estimators import SAMPLE_ROWS, copy_model, fit_source, limit_rows
from takagi.tables import ArrowSource, DatasetError, Sample
from takagi.tables._dialect import Dialect, read_dialects
from takagi.tables._open import PARQUET_SUFFIXES, TEXT_SUFFIXES, find_files, make_text_format, open_dataset
from takagi.training import Progress

LARGE_BYTES = 10**9  # of a single file, from which on it is not read whole


def is_dataset(tables: Sequence[str]) -> bool:
    """Whether tables are to be read as parts of one: several files, a folder, a pattern or a very large file."""
    if len(tables) > 1:
        return True
    path = Path(tables[0]).expanduser()
    if tables[0] == STANDARD or not path.exists():
        return tables[0] != STANDARD and any(sign in tables[0] for sign in "*?[")
    is_known = path.suffix.lower() in PARQUET_SUFFIXES + TEXT_SUFFIXES
    return path.is_dir() or (is_known and path.stat().st_size >= LARGE_BYTES)


def name_one(tables: Sequence[str]) -> str:
    """Return the first file."""
    return str(find_files(list(tables))[0]) if is_dataset(tables) else tables[0]


@dataclass
class DatasetOnDisk:
    """Files that are parts of one table.

    Attributes
    ----------
    label : str
        What messages call it.
    names : list of str
        Names of the columns.
    description : str
        How it is read, in words.
    dataset : pyarrow.dataset.Dataset
        The files.
    """

    label: str
    names: list[str]
    description: str
    dataset: Any

    @classmethod
    def open(cls, tables: Sequence[str], layout: Layout) -> "DatasetOnDisk":
        """Find the files, and how the first of them is read; all others are to be like it."""
        if layout.sheet is not None:
            raise Misuse("--sheet is for a single Excel file; leave it out.")
        try:
            paths = find_files(list(tables))
        except DatasetError as error:
            raise Misuse(str(error)) from error
        label = tables[0] if len(tables) == 1 else f"{tables[0]} and {len(tables) - 1} more"
        description, text_format = "Parquet", None
        if paths[0].suffix.lower() in PARQUET_SUFFIXES:
            layout.refuse_names(label)
        else:
            dialect = _find_dialect(paths, layout)
            description, text_format = str(dialect), make_text_format(dialect, paths[0])
        dataset = open_dataset(paths, text_format)
        names = [name for name in dataset.schema.names if not name.startswith("__index_level_")]
        return cls(label, names, f"{count(len(paths), 'file')}, {description}", dataset)


def _find_dialect(paths: Sequence[Path], layout: Layout) -> Dialect:
    dialect, remark = read_dialects(paths)
    if remark:
        print_note(remark)
    return set_names(dialect, layout.name_list, str(paths[0])) if layout.no_header or layout.names else dialect


# -- training ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dataset:
    """A dataset of which a sample was drawn.

    Attributes
    ----------
    source : ArrowSource
        All rows.
    sample : Sample
        Some of them, and how many there are.
    rng : Generator
        What drew them.
    """

    source: ArrowSource
    sample: Sample
    rng: np.random.Generator


def read_sample(table: DatasetOnDisk, target: str, drop: list[str], seed: int) -> tuple[Dataset, TrainingTable]:
    """Read all rows once, and find out from a sample of them what can be learned from."""
    names = choose_columns(table, target, drop)
    source = ArrowSource.open(table.dataset, target, names, label=table.label)
    rng = np.random.default_rng(seed).spawn(1)[0]
    with Watch(f"Reading {table.label}", None, "rows") as watch:
        sample = source.sample(limit_rows(SAMPLE_ROWS, len(names)), rng, watch.advance)
    y = need_extra("pandas", "cli").Series(sample.block.y[:, 0], name=target)
    data = learn_from(table, sample.block.X.reset_index(drop=True), y, (sample.n_rows, sample.n_without_target))
    source = ArrowSource.open(table.dataset, target, list(data.X.columns), label=table.label)
    sample = sample._replace(block=sample.block._replace(X=data.X))
    return Dataset(source, sample, rng), data


def train_on_dataset(dataset: Dataset, data: TrainingTable, test: IntArray, settings: Settings) -> Any:
    """Return a pipeline that is trained on all rows but the test rows of the sample, and show progress."""
    is_test = np.zeros(len(data.y), dtype=bool)
    is_test[test] = True
    watch = Watch(f"Training {settings.words} on {data.n_rows - len(test):,} rows", None, "iterations")

    def show(progress: Progress) -> None:
        watch.unit = f"iterations, {progress.stage}"
        watch.reach(progress.n_iter, progress.max_iter)

    pipeline = copy_model(settings.make_regressor())
    with watch:
        return fit_source(
            pipeline, dataset.source, dataset.sample, dataset.rng, target=data.y.name, callback=show, left_out=is_test
        )
