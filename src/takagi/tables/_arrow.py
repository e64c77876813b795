"""Files through pyarrow's datasets: Parquet, CSV and its other formats, piece by piece."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._frames import INDEX_PREFIX, encode_text, to_frame
from takagi._kinds import find_type
from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi.tables._cells import MISSING_WORDS
from takagi.tables._errors import DatasetError
from takagi.tables._schema import (
    check_classes,
    check_files,
    check_target,
    check_weight,
    find_constants,
    list_fragments,
    name_type,
    widen_text,
)
from takagi.tables._source import Block, Roles, RowSample, assign_roles, refuse_empty
from takagi.tables._tally import Counts, add_counts, close_tally, count_labels, drop_fractions
from takagi.tables._text import TextTable, find_word, parse_numbers

_CELLS_PER_BATCH = 2**19
_OPEN_PIECES = 4  # that are read alternately
_BUFFER_BYTES = 2**16


@dataclass(frozen=True)
class Piece:
    """A part of a dataset that is read independently: a row group of a Parquet file, or else a file."""

    fragment: Any
    path: str
    group: int | None = None


class ArrowSource:
    """Rows of a pyarrow dataset."""

    def __init__(self, dataset: Any, schema: Any, roles: Roles, label: str) -> None:
        self.schema, self.roles, self.label = schema, roles, label
        self.n_features = len(roles.features)
        self.pieces = [piece for fragment in list_fragments(dataset) for piece in _split(fragment, label)]
        self.batch_rows = max(1, _CELLS_PER_BATCH // len(roles.columns))

    @classmethod
    def open(
        cls,
        dataset: Any,
        target: str | Sequence[str],
        features: Sequence[str] | None = None,
        sample_weight: str | None = None,
        label: str = "the dataset",
        *,
        has_classes: bool = False,
    ) -> "ArrowSource":
        """Open a dataset, and check that its files have the same columns."""
        names = [name for name in dataset.schema.names if not name.startswith(INDEX_PREFIX)]
        roles = assign_roles(names, target, features, sample_weight, has_classes=has_classes)
        schema = check_files(dataset, roles.columns, reads_all=features is None)
        for name in roles.targets:
            (check_classes if has_classes else check_target)(schema.field(name).type, name)
        if roles.weight is not None:
            check_weight(schema.field(roles.weight).type, roles.weight)
        return cls(dataset, widen_text(dataset, schema), roles, label)

    # -- the sample ----------------------------------------------------------------------------------------------------

    def sample(self, n_rows: int, rng: np.random.Generator, tell: Callable[[int], object] | None = None) -> RowSample:
        """Return a uniform sample of the rows with a target; reads all rows once.

        Every row gets a random number, and the rows with the smallest numbers are kept.
        """
        arrow = need_extra("pyarrow", "parquet")
        kept, keys, n_seen, n_dropped, highest = [], np.empty(0), 0, 0, 1.0
        classes: Counts = {}
        for piece in self.pieces:
            for table in self._read(piece):
                complete = self._drop_missing(table)
                n_seen, n_dropped = n_seen + len(complete), n_dropped + len(table) - len(complete)
                self._count_classes(complete, classes, piece.path)
                drawn = rng.random(len(complete))
                low = np.flatnonzero(drawn < highest)
                kept.append(complete.take(low))
                keys = np.concatenate([keys, drawn[low]])
                if len(keys) > 2 * n_rows:
                    kept, keys = _keep_lowest(arrow, kept, keys, n_rows)
                    highest = keys[-1]
                if tell is not None:
                    tell(len(table))
        refuse_empty(self.label, n_seen, n_dropped, self.roles.targets)
        kept, _ = _keep_lowest(arrow, kept, keys, n_rows)
        tally = close_tally(drop_fractions(classes), repr(self.roles.targets[0])) if self.roles.has_classes else None
        return RowSample(self._make_block(kept[0], self.label), n_seen, n_dropped, tally)

    def _count_classes(self, table: Any, classes: Counts, origin: str) -> None:
        """Add the labels of a table to those so far, if the target is labels."""
        if self.roles.has_classes and len(table):
            name = self.roles.targets[0]
            add_counts(classes, count_labels(_to_labels(table[name]), self._read_weight(table, origin)), repr(name))

    # -- a pass --------------------------------------------------------------------------------------------------------

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield all rows with a target, the pieces in random order, a few of them alternating."""
        waiting = [self.pieces[k] for k in rng.permutation(len(self.pieces))]
        is_open: list[tuple[Piece, Iterator[Any]]] = []
        while waiting or is_open:
            while waiting and len(is_open) < _OPEN_PIECES:
                piece = waiting.pop()
                is_open.append((piece, self._read(piece)))
            place = int(rng.integers(len(is_open)))
            piece, tables = is_open[place]
            table = next(tables, None)
            if table is None:
                del is_open[place]
            elif len(complete := self._drop_missing(table)):
                yield self._make_block(encode_text(complete), piece.path)

    def _read(self, piece: Piece) -> Iterator[Any]:
        """Yield the tables of a piece, or raise an error that names the file."""
        arrow = need_extra("pyarrow", "parquet")
        try:
            for table in self._read_batches(piece):
                if len(table):
                    yield self._spell_out(table.select(self.roles.columns))
        except FileNotFoundError as error:
            raise DatasetError(f"{piece.path} was there at first and is gone now.") from error
        except (OSError, arrow.ArrowException, IndexError) as error:
            raise DatasetError(f"{piece.path} cannot be read: {str(error).splitlines()[0]}") from error

    def _spell_out(self, table: Any) -> Any:
        """Return a table with text instead of categories if other files have text."""
        for k, field in enumerate(table.schema):
            if hasattr(field.type, "index_type") and not hasattr(self.schema.field(field.name).type, "index_type"):
                table = table.set_column(k, field.name, table.column(k).cast(field.type.value_type))
        return table

    def _read_batches(self, piece: Piece) -> Iterator[Any]:
        constants = find_constants(piece.fragment)
        wanted = [name for name in self.roles.columns if name not in constants]
        for table in self._read_wanted(piece, wanted):
            yield _add_constants(table, {name: constants[name] for name in self.roles.columns if name in constants})

    def _read_wanted(self, piece: Piece, wanted: list[str]) -> Iterator[Any]:
        """Yield tables of the columns that a file has."""
        arrow, n_rows = need_extra("pyarrow", "parquet"), self.batch_rows
        if isinstance(piece.fragment, TextTable):
            for table in piece.fragment.cells(wanted):
                parsed = self._parse(table, piece.fragment)
                yield from (parsed.slice(start, n_rows) for start in range(0, len(parsed), n_rows))
        elif piece.group is None:
            options = {"batch_size": n_rows, "batch_readahead": 1, "fragment_readahead": 1}
            for batch in piece.fragment.to_batches(schema=self.schema, columns=wanted, **options):
                yield arrow.Table.from_batches([batch])
        else:
            parquet = need_extra("pyarrow.parquet", "parquet")
            with piece.fragment.open() as stream:  # page by page; a scanner would hold the whole group
                file = parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_BUFFER_BYTES)
                for batch in file.iter_batches(n_rows, row_groups=[piece.group], columns=wanted):
                    yield arrow.Table.from_batches([batch])

    def _parse(self, table: Any, file: TextTable) -> Any:
        """Return a table of text with numbers in the columns that began as numbers."""
        for k, name in enumerate(table.column_names):
            if find_type(self.schema.field(name).type) == "number":
                numbers = parse_numbers(table.column(k), file.dialect.decimal)
                if numbers is None:
                    word = find_word(table.column(k), file.dialect.decimal)
                    raise DatasetError(
                        f"{file.label} cannot be read: column {name!r} begins with numbers, but further down holds "
                        f"{word!r}. Correct it, leave the cell empty, or leave the column out."
                    )
                table = table.set_column(k, name, numbers)
        return table

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _drop_missing(self, table: Any) -> Any:
        """Return the rows in which every target has a value."""
        if self.roles.has_classes:
            is_missing = _lack_labels(table[self.roles.targets[0]])
            return table.filter(need_extra("pyarrow", "parquet").array(~is_missing)) if is_missing.any() else table
        missing = [name for name in self.roles.targets if table[name].null_count]
        numbers = [name for name in self.roles.targets if name not in missing]
        for name in numbers:
            if np.isnan(_to_numbers(table[name])).any():
                missing.append(name)
        if not missing:
            return table
        present = ~np.any([np.isnan(_to_numbers(table[name])) for name in missing], axis=0)
        return table.filter(need_extra("pyarrow", "parquet").array(present))

    def _make_block(self, table: Any, origin: str) -> Block:
        frame, weight = to_frame(table.select(list(self.roles.features))), self._read_weight(table, origin)
        if self.roles.has_classes:
            return Block(frame, _to_labels(table[self.roles.targets[0]])[:, None], weight, origin)
        targets = np.column_stack([_to_numbers(table[name]) for name in self.roles.targets])
        for name, column in zip(self.roles.targets, targets.T, strict=True):
            if np.isinf(column).any():
                raise DatasetError(f"{origin}: the target {name!r} holds infinity. Correct it, or leave it empty.")
        return Block(frame, targets, weight, origin)

    def _read_weight(self, table: Any, origin: str) -> FloatArray:
        if self.roles.weight is None:
            return np.ones(len(table))
        weight = _to_numbers(table[self.roles.weight])
        if not (np.isfinite(weight) & (weight >= 0)).all():
            raise DatasetError(f"{origin}: weights in {self.roles.weight!r} must be finite and not negative.")
        return weight


def _split(fragment: Any, label: str) -> list[Piece]:
    path = str(getattr(fragment, "path", label))
    if not hasattr(fragment, "row_groups"):
        return [Piece(fragment, path)]
    try:
        return [Piece(fragment, path, group.id) for group in fragment.row_groups]
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error


def _add_constants(table: Any, constants: dict[str, Any]) -> Any:
    """Return a table with the columns that come from the name of the file's folder."""
    arrow = need_extra("pyarrow", "parquet")
    for name, value in constants.items():
        table = table.append_column(name, arrow.repeat(arrow.scalar(value), len(table)))
    return table


def _keep_lowest(arrow: Any, tables: list[Any], keys: FloatArray, n_rows: int) -> tuple[list[Any], FloatArray]:
    order = np.argsort(keys, kind="stable")[:n_rows]
    table = arrow.concat_tables(tables, promote_options="permissive")
    return [table.unify_dictionaries().take(order)], keys[order]


def _to_labels(column: Any) -> np.ndarray:
    """Return labels: text as objects, booleans, numbers."""
    kind = getattr(column.type, "value_type", column.type)
    return (column.cast(kind) if kind != column.type else column).to_numpy()


def _lack_labels(column: Any) -> np.ndarray:
    """Return which rows have no label; text such as "n/a" counts as missing."""
    is_missing = column.is_null(nan_is_null=True).to_numpy()
    if name_type(column.type) != "text":
        return is_missing
    labels = _to_labels(column)
    absent = [
        word for word in column.unique().to_pylist() if word is not None and word.strip().lower() in MISSING_WORDS
    ]
    return is_missing | np.isin(labels, np.array(absent, dtype=object)) if absent else is_missing


def _to_numbers(column: Any) -> FloatArray:
    return column.cast("float64").to_numpy().astype(float)
