"""Cells of a table for which predictions are less reliable: beyond the data, of an unknown level, or missing."""

from typing import Any

import numpy as np

from takagi._model import OpenModel
from takagi.tables import MISSING

_UNKNOWN = " (unknown)"


def write_flags(model: OpenModel, X: Any) -> list[str]:
    """Return a warning text for each row, empty for a row like those of training.

    Parameters
    ----------
    model : OpenModel
        The model.
    X : data frame
        Rows as the model takes them.
    """
    beyond = _find_beyond(model, X)
    shown = model.show(X) if model.has_table else [[""] * len(model.columns)] * len(beyond)
    return [
        "; ".join(
            f"{word}: {', '.join(names)}"
            for word, names in (
                ("beyond the data", [column.name for column, is_out in zip(model.columns, out, strict=True) if is_out]),
                ("unknown", _name(model, cells, lambda cell: cell.endswith(_UNKNOWN))),
                ("missing", _name(model, cells, lambda cell: cell.startswith(MISSING))),
            )
            if names
        )
        for out, cells in zip(beyond, shown, strict=True)
    ]


def _name(model: OpenModel, cells: list[str], is_such: Any) -> list[str]:
    """Return the names of used columns whose cell is no known level and satisfies `is_such`."""
    pairs = zip(model.columns, cells, strict=True)
    return [column.name for column, cell in pairs if column.inputs and cell not in _known(column) and is_such(cell)]


def _known(column: Any) -> set[str]:
    return {level for level in column.levels if level != MISSING}


def _find_beyond(model: OpenModel, X: Any) -> np.ndarray:
    """Return for each row the numeric columns whose values are beyond the training range."""
    rows, profile = model.encode(X), model.model.profile
    found = np.zeros((len(rows), len(model.columns)), dtype=bool)
    if profile is None:
        return found
    is_out = (rows < profile.quantiles[0]) | (rows > profile.quantiles[-1])
    for place in range(len(model.columns)):
        found[:, place] = is_out[:, model.inputs_of(place)].any(axis=1)
    return found
