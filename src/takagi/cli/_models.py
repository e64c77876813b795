"""Models on disk, and tables for them."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from takagi._model import OpenModel, open_committee
from takagi._wording import name_outputs
from takagi.cli._columns import read_target
from takagi.cli._console import Misuse, count, print_note, quote
from takagi.cli._files import check_input
from takagi.cli._tables import TableOnDisk, find_columns, read_table
from takagi.cli._text_table import parse_numbers
from takagi.persistence import load

_CELLS_PER_BLOCK = 2**19


class ModelOnDisk:
    """A model that was loaded from a file.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    path : Path
        The file.
    model : TSKRegressor, TSKCommittee, Pipeline or RuleBase
        The model as it was saved.
    opened : OpenModel
        Its rules and columns; those of the first member of a committee.
    """

    def __init__(self, path: Path) -> None:
        self.path = check_input(path)
        self.model = load(self.path)
        self.opened: OpenModel = open_committee(self.model).first

    @property
    def columns(self) -> list[str]:
        """Names of the columns that a table must have."""
        return [column.name for column in self.opened.columns if column.inputs]

    @property
    def targets(self) -> list[str]:
        """Names of what the model predicts."""
        return list(name_outputs(self.opened.rules))

    def blocks(self, table: TableOnDisk, keep: Collection[str] = ()) -> Iterator[tuple[Any, Any]]:
        """Return the blocks of a table: the columns to keep as they are, and all columns as the model takes them."""
        names = self._match(table)
        wanted = list(dict.fromkeys([*names, *keep]))
        as_text = set(keep) | self._words(names)
        blocks = table.blocks(wanted, as_text, max(1, _CELLS_PER_BLOCK // len(table.names)))
        return ((block[list(keep)], self._prepare(block[names], table.decimal)) for block in blocks if len(block))

    def read(self, table: TableOnDisk) -> Any:
        """Return a whole table as the model takes it."""
        names = self._match(table)
        return self._prepare(read_table(table, names), table.decimal)

    def read_with_target(self, table: TableOnDisk, target: str | None) -> tuple[Any, Any]:
        """Return a whole table as the model takes it, and the target; rows without a target are left out."""
        targets = self._find_targets(table, target)
        names = self._match(table)
        frame = read_table(table, list(dict.fromkeys([*names, *targets])))
        read = [read_target(frame, name, table.decimal) for name in targets]
        present = np.all([has_value for _, has_value in read], axis=0)
        if not present.all():
            print_note(f"{count(int((~present).sum()), 'row')} without {' and '.join(targets)} left out.")
        y = np.column_stack([numbers[present] for numbers, _ in read])
        return self._prepare(frame.loc[present, names], table.decimal), y[:, 0] if len(targets) == 1 else y

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _match(self, table: TableOnDisk) -> list[str]:
        """Return the table's columns for the model: by name, or by place for a model whose columns have no names."""
        if self._has_names or set(self.columns) <= set(table.names):
            return find_columns(table, self.columns, ValueError)
        if len(table.names) != len(self.columns):
            raise ValueError(
                f"{table.label} has {count(len(table.names), 'column')}, but the model, which has no names for them, "
                f"takes {len(self.columns)}."
            )
        return table.names

    @property
    def _has_names(self) -> bool:
        steps = [step for _, step in getattr(self.model, "steps", [("", self.model)])]
        first = next(step for step in steps if step not in (None, "passthrough"))
        return hasattr(first, "feature_names_in_") or getattr(first, "feature_names", None) is not None

    def _words(self, names: list[str]) -> set[str]:
        """Return those of the table's columns that the model reads as words."""
        used = [column for column in self.opened.columns if column.inputs]
        return {name for name, column in zip(names, used, strict=True) if column.kind != "number"}

    def _prepare(self, block: Any, decimal: str) -> Any:
        """Return the model's columns of a table as the model takes them."""
        words = self._words(list(block.columns))
        numbers = [name for name in block.columns if name not in words]
        block = block.assign(**{name: parse_numbers(block[name], decimal) for name in numbers})
        block = block.set_axis(self.columns, axis=1)
        if not self.opened.has_table:
            block = block.astype(float)
        unused = {column.name: None for column in self.opened.columns if not column.inputs}
        block = block.assign(**unused)[[column.name for column in self.opened.columns]]
        return block if self._has_names else block.to_numpy()

    def _find_targets(self, table: TableOnDisk, target: str | None) -> list[str]:
        if target is not None:
            if len(self.targets) > 1:
                raise Misuse(f"the model has the targets {', '.join(self.targets)}; leave --target out.")
            return find_columns(table, [target])
        if set(self.targets) <= set(table.names):
            return self.targets
        raise Misuse(
            f"{table.label} has no column {quote(self.targets[0])}, the model's target; name it with --target."
        )
