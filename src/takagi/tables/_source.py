"""The interface of a source of rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from takagi._messages import unknown_name
from takagi._typing import FloatArray
from takagi.tables._errors import DatasetError
from takagi.tables._tally import ClassTally


class Block(NamedTuple):
    """Some rows: original features, targets of shape (n_rows, n_outputs), weights, and the name of their source.

    Targets are numbers, or labels of classes in one column.
    """

    X: Any
    y: np.ndarray
    weight: FloatArray
    origin: str


class RowSample(NamedTuple):
    """A uniform sample of the rows with a target, and the numbers of rows with and without one."""

    block: Block
    n_rows: int
    n_without_target: int
    classes: ClassTally | None = None  # of all rows, if targets are labels

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all rows."""
        return len(self.block.y) == self.n_rows


class RowSource(Protocol):
    """Rows that are read in blocks."""

    label: str
    n_features: int

    def sample(self, n_rows: int, rng: np.random.Generator, tell: Callable[[int], object] | None = None) -> RowSample:
        """Return a uniform sample, and count the rows; `tell` is called with the number of rows read so far."""

    def blocks(self, rng: np.random.Generator) -> Iterator[Block]:
        """Yield all rows with a target once, block by block, with the parts of the source in random order."""


@dataclass(frozen=True)
class Roles:
    """The roles of columns."""

    targets: tuple[str, ...]  # the columns to predict
    features: tuple[str, ...]  # the feature columns
    weight: str | None = None  # the column of the rows' weights
    has_classes: bool = False  # whether the target is labels of classes

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [*self.features, *self.targets, *([] if self.weight is None else [self.weight])]


def assign_roles(
    names: Sequence[str],
    target: str | Sequence[str],
    features: Sequence[str] | None = None,
    weight: str | None = None,
    *,
    has_classes: bool = False,
) -> Roles:
    """Return the roles of columns; by default all columns other than target and weight are features."""
    targets = (target,) if isinstance(target, str) else tuple(target)
    if has_classes and len(targets) > 1:
        raise ValueError(f"A classifier has one target, the column of the classes, got {len(targets)}.")
    if not targets:
        raise ValueError("target must be the name of a column, or several names, got none.")
    if weight in targets:
        raise ValueError(f"sample_weight is {weight!r}, which is a target; name another column, or leave it out.")
    taken = {*targets, weight}
    for what, wanted in (("target", targets), ("sample_weight", [weight] if weight else ()), ("feature", features)):
        for name in wanted or ():
            if name not in names:
                raise unknown_name(f"{what} column", name, names)
    for name in features or ():
        if name in taken:
            role = "sample_weight" if name == weight else "the target"
            raise ValueError(f"features names {name!r}, which is {role}; leave it out.")
    chosen = tuple(name for name in (names if features is None else features) if name not in taken)
    if not chosen:
        raise DatasetError(f"There is no column to learn {', '.join(map(repr, targets))} from.")
    return Roles(targets, chosen, weight, has_classes)


def refuse_empty(label: str, n_rows: int, n_without_target: int, targets: Sequence[str]) -> None:
    """Raise an error unless there are at least two training rows."""
    if n_rows + n_without_target == 0:
        raise DatasetError(f"{label} has no rows.")
    if n_rows < 2:
        names = " and ".join(map(repr, targets)) or "a target"
        raise DatasetError(
            f"{label} has {n_rows} row(s) with {names}, of {n_rows + n_without_target}; training takes two at least."
        )
