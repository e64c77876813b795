"""Tables that are read whole: sheets, JSON and the rows of a query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from takagi._frames import NO_KINDS, Kinds


@dataclass(frozen=True)
class WholeTable:
    """A data frame as a table to read, whose cells keep their types."""

    label: str  # its name in messages
    description: str  # how it was read, in words
    frame: Any

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    def read(self, columns: Sequence[str], kinds: Kinds = NO_KINDS) -> Any:
        """Return some columns as a data frame."""
        return self.frame[list(columns)]

    def blocks(
        self, columns: Sequence[str], n_rows: int, kinds: Kinds = NO_KINDS, keep: Sequence[str] = ()
    ) -> Iterator[tuple[Any, Any]]:
        """Yield data frames of at most `n_rows` rows: columns to keep, and columns to read."""
        for start in range(0, len(self.frame), n_rows):
            block = self.frame.iloc[start : start + n_rows]
            yield block[list(keep)], block[list(columns)]
