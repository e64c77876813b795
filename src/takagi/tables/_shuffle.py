"""A bounded buffer that mixes rows from different parts of a source."""

from collections.abc import Iterable, Iterator

import numpy as np

Arrays = tuple[np.ndarray, ...]


def shuffle_rows(parts: Iterable[Arrays], buffer_rows: int, rng: np.random.Generator) -> Iterator[Arrays]:
    """Yield all rows of some parts in a mixed order, never holding many more than `buffer_rows` and one part.

    When the buffer is full, a random half of it is yielded, so a row may move far from its place.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.tables import shuffle_rows
    >>> parts = [(np.arange(start, start + 4),) for start in (0, 4, 8)]
    >>> mixed = np.concatenate([rows for rows, in shuffle_rows(parts, 6, np.random.default_rng(0))])
    >>> mixed.tolist() != sorted(mixed.tolist()) == list(range(12))
    True
    """
    held: list[Arrays] = []
    n_held = 0
    for part in parts:
        held.append(part)
        n_held += len(part[0])
        if n_held >= buffer_rows:
            mixed = _mix(held, rng)
            n_out = n_held // 2
            yield tuple(array[:n_out] for array in mixed)
            held, n_held = [tuple(array[n_out:].copy() for array in mixed)], n_held - n_out
    if n_held:
        yield _mix(held, rng)


def _mix(held: list[Arrays], rng: np.random.Generator) -> Arrays:
    order = rng.permutation(sum(len(part[0]) for part in held))
    return tuple(np.concatenate(arrays)[order] for arrays in zip(*held, strict=True))
