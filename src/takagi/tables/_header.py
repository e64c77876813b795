"""The row of the names of a table: its first row, or a row below titles and notes."""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

_NUMBER = re.compile(r"[-+(]*[^\w\s]?\s?\d[\d.,' :/-]*([eE][-+]?\d+)?\s?%?\)?")
_FULL = 0.6  # fraction of the usual number of columns; a row with fewer is a title


def find_header(rows: Sequence[Sequence[str]]) -> int:
    """Return which of the first rows has the names: 0, unless there are titles above them.

    A title has clearly fewer filled cells than the rows usually have. The row below a title has the names only if it
    does not look like data.

    >>> find_header([["Tips in 1990"], ["bill", "tip", "sex"], ["16.99", "1.01", "F"], ["10.34", "1.66", "M"]])
    1
    >>> find_header([["", "bill"], ["0", "16.99"], ["1", "10.34"]])
    0
    """
    filled = [[cell for cell in row if cell.strip()] for row in rows]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    least = max(2, _FULL * median(map(len, filled)))
    place = next((k for k, row in enumerate(rows) if len(row) == width and len(filled[k]) >= least), 0)
    if not 0 < place < len(rows) - 1:
        return 0
    n_numbers = sum(map(_is_number, filled[place]))
    if all(len(row) < least for row in filled[:place]):
        return place if 2 * n_numbers < len(filled[place]) else 0
    return 0 if n_numbers or not any(map(_is_number, filled[place + 1])) else place


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip()) is not None
