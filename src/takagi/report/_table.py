"""A summary of the table: the kind and the distribution of each column, and some rows."""

from dataclasses import asdict
from typing import Any

import numpy as np

from takagi._frames import accept_arrow
from takagi._messages import need_extra
from takagi._model import OpenModel
from takagi._typing import BoolArray, FloatArray, IntArray, Table
from takagi._wording import name_outputs
from takagi.profile import spread_rows
from takagi.tables import Column, check_table, list_origins, read_cells

_N_BINS = 24
_MOST_CELLS = 10_000  # that the rows in the page may have


def describe_columns(opened: OpenModel, X: Table, rows: FloatArray) -> list[dict[str, Any]]:
    """Return the description of each column of the user's table."""
    missing = _find_missing(opened, X, rows)
    profile, usual = opened.model.profile, opened.model.first.usual
    assert profile is not None
    described = []
    for c, column in enumerate(opened.columns):
        inputs = opened.inputs_of(c)
        described.append(
            {
                "name": column.name,
                "kind": column.kind if len(inputs) else "unused",
                "levels": column.levels,
                "fill": profile.mean[inputs[:1]].sum() if column.fill is None else column.fill,
                "has_missing": column.has_missing,
                "is_native": usual is not None and bool(np.isfinite(usual[0, inputs[:1]]).any()),
                "n_missing": int(missing[c].sum()),
                "mean": profile.mean[inputs],
                "limits": None if opened.model.limits is None else opened.model.limits[inputs],
                **_count_values(column, rows[:, inputs], missing[c], profile.quantiles[[0, -1]][:, inputs[:1]].ravel()),
            }
        )
    return described


def list_findings(opened: OpenModel, X: Table, y: Table) -> list[dict[str, Any]]:
    """Return findings about the rows, such as leaks and identifiers, the most severe first."""
    names, table = list_origins(opened.columns), accept_arrow(X)
    if not hasattr(table, "columns"):
        table = need_extra("pandas", "report").DataFrame(np.asarray(table, dtype=object), columns=names)
    elif set(names) <= set(table.columns):  # and columns that the model does not use
        table = table[names]
    is_number = opened.model.link == "identity"
    target = None
    if opened.model.n_outputs == 1 or not is_number:
        name = name_outputs(opened.model)[0] if is_number else getattr(opened.regressor, "target_name_", "class")
        target = need_extra("pandas", "report").Series(np.asarray(y).reshape(-1), name=name)
    found = check_table(table, target)
    return [asdict(finding) for finding in found if is_number or finding.kind != "few values"]


def _find_missing(opened: OpenModel, X: Table, rows: FloatArray) -> list[BoolArray]:
    """Return which cells of each column are empty."""
    if opened.encoder is None:
        return list(np.isnan(rows).T)
    table = X if hasattr(X, "columns") else np.asarray(X, dtype=object)
    cells = [
        read_cells(values, column.origin)
        for column, values in zip(opened.columns, opened.encoder.pick_columns(table), strict=True)
    ]
    return [np.isnan(c.numbers) if c.numbers is not None else np.asarray(c.codes) < 0 for c in cells]


def _count_values(column: Column, values: FloatArray, missing: BoolArray, training: FloatArray) -> dict[str, Any]:
    """Return how often each choice occurs, or the range of numbers and their histogram.

    `low` and `high` are the range of the training rows; `span` is the range of these and the rows of X, and of the
    histogram.
    """
    if not len(training):
        return {}
    if column.kind == "category":
        counts = values.sum(axis=0).astype(int).tolist()
        return {"counts": counts, "n_others": len(values) - sum(counts)}
    present = values[~missing, 0]
    if column.kind == "boolean":
        n_true = int(present.sum())
        return {"counts": [len(present) - n_true, n_true]}
    every = np.r_[present, training]
    low, high = every.min(), every.max()
    is_whole = bool((every == np.round(every)).all())
    n_bins = int(high - low) + 1 if is_whole and high - low < _N_BINS else _N_BINS
    return {
        "low": training[0],
        "high": training[1],
        "span": [low, high],
        "average": present.mean() if len(present) else None,
        "is_whole": is_whole,
        "counts": np.histogram(present, bins=n_bins, range=(low, high))[0],
    }


# -- rows --------------------------------------------------------------------------------------------------------------


def take_rows(table: Table, index: IntArray) -> Table:
    """Return some rows of a frame, a series or an array."""
    if hasattr(table, "iloc"):
        return table.iloc[index]
    if hasattr(table, "columns") or hasattr(table, "to_numpy"):
        return table[index.tolist()]
    return table[index] if hasattr(table, "shape") else [table[i] for i in index]


def pick_rows(opened: OpenModel, rows: FloatArray, target: FloatArray, start: int, most: int) -> dict[str, Any]:
    """Return evenly spaced rows for the page, including the one to start at.

    A cell is a number, the index of a level (-1 for none of them), 0 or 1, or None where the value is missing.
    """
    most = max(1, min(most, _MOST_CELLS // len(opened.columns)))
    index = np.union1d(spread_rows(len(rows), most), [start])
    if len(index) > most:
        index = np.delete(index, np.flatnonzero(index != start)[-1])
    columns = [_read_back(column, rows[np.ix_(index, opened.inputs_of(c))]) for c, column in enumerate(opened.columns)]
    return {
        "start": int(np.flatnonzero(index == start)[0]),
        "numbers": index,
        "cells": [list(row) for row in zip(*columns, strict=True)],
        "targets": target[index],
    }


def _read_back(column: Column, inputs: FloatArray) -> list[float | int | None]:
    """Return the cells of the table for given inputs."""
    if not column.inputs:
        return [None] * len(inputs)
    if column.kind == "category":
        return np.where(inputs.any(axis=1), inputs.argmax(axis=1), -1).tolist()
    is_missing = inputs[:, 1] == 1 if column.has_missing else np.isnan(inputs[:, 0])
    return [None if missing else value for value, missing in zip(inputs[:, 0].tolist(), is_missing, strict=True)]
