"""The class labels of a target, read and counted block by block."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from takagi._kinds import find_type
from takagi._messages import need_extra
from takagi._typing import FloatArray
from takagi.tables._errors import DatasetError

_MOST_CLASSES = 1_000  # that a first pass counts

Counts = dict[Any, float]  # labels, and the weight of their rows


class ClassTally(NamedTuple):
    """The classes of all rows of a source, sorted, and the weight of the rows of each."""

    labels: np.ndarray
    weight: FloatArray


def count_labels(labels: np.ndarray, weight: FloatArray) -> Counts:
    """Return the weight of the rows of each label."""
    codes, words = need_extra("pandas", "parquet").factorize(labels)
    return dict(zip(words.tolist(), np.bincount(codes, weights=weight, minlength=len(words)).tolist(), strict=True))


def add_counts(total: Counts, more: Mapping[Any, float], name: str) -> None:
    """Add counts of a block to those so far; a target with too many distinct values is an error."""
    for label, weight in more.items():
        total[label] = total.get(label, 0.0) + weight
    if len(total) > _MOST_CLASSES:
        raise DatasetError(
            f"The target {name} has more than {_MOST_CLASSES:,} different values, too many for classes. Use "
            "TSKRegressor for a target that is a number, or merge classes.",
            about="task",
        )


def drop_fractions(total: Counts) -> Counts:
    """Return labels as integers if all of them are; files often have them as 1.0."""
    if not all(isinstance(label, float) and label.is_integer() for label in total):
        return total
    return {int(label): weight for label, weight in total.items()}


def close_tally(total: Counts, name: str) -> ClassTally:
    """Return the counts, sorted by label."""
    try:
        ordered = sorted(total)
    except TypeError as error:
        raise DatasetError(f"The target {name} has labels of several types, such as text and numbers.") from error
    kind = object if ordered and isinstance(ordered[0], str) else None
    return ClassTally(np.array(ordered, dtype=kind), np.array([total[label] for label in ordered], dtype=float))


def read_cell_labels(values: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of a column of a data frame or array, and a mask of rows that have one."""
    pandas = need_extra("pandas", "parquet")
    kind = find_type(getattr(values, "dtype", "object"))
    if kind in ("date", "other") or getattr(values, "ndim", 1) != 1:
        shown = "dates or times" if kind == "date" else "something else"
        raise DatasetError(f"{what} must be one column of labels of classes, got {shown}; write them as text.")
    present = ~np.asarray(pandas.isna(values), dtype=bool)
    labels = np.asarray(values.astype(object) if kind in ("category", "text") else values)
    return labels, present
