"""A column swept over its values with the others fixed, and the distance to the data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from takagi._model import OpenCommittee, OpenModel
from takagi._typing import FloatArray
from takagi.inspection._plot._sets import choose_profile, find_used_column, name_truth, widen_range
from takagi.profile import spread_rows
from takagi.rulebase import apply_link

_MAX_LEVELS = 20
_MAX_ROWS = 5_000
_APART = 1e3  # the distance of different levels, in spans
_NEAR = (0.06, 0.15)  # distances that count as near, in spans: smallest and largest


@dataclass(frozen=True)
class Sweep:
    """The values that a column is swept over."""

    name: str
    grid: FloatArray  # (n_points,): its values, or 0, 1, ... for levels
    data: FloatArray  # (n_rows,): positions of rows on the grid; NaN for a missing value or another level
    features: np.ndarray  # (n_inputs,): the features of the column
    inputs: FloatArray  # (n_points, n_inputs): values of these features at the points
    levels: tuple[str, ...] = ()  # levels of a category or boolean; at most the 20 most frequent ones
    n_levels: int = 0  # number of levels

    @property
    def frequency(self) -> FloatArray:
        """Frequency of each level in the data."""
        return (self.data[:, None] == self.grid).mean(axis=0)


def make_sweep(opened: OpenModel, rows: FloatArray, column: str | int, n_points: int) -> Sweep:
    """Sweep a column over its range in the data, or over its levels."""
    c = find_used_column(opened, column)
    name, features = opened.columns[c].name, opened.inputs_of(c)
    is_truth = opened.columns[c].kind == "boolean" or choose_profile(opened.model, rows).is_indicator(int(features[0]))
    if opened.columns[c].kind == "category":
        return _sweep_levels(opened, rows, c)
    inputs = np.zeros((2 if is_truth else n_points, len(features)))
    present = rows[:, features[1]] == 0 if len(features) > 1 else ~np.isnan(rows[:, features[0]])
    data = np.where(present, rows[:, features[0]], np.nan)
    if is_truth:
        inputs[:, 0] = grid = np.array([0.0, 1.0])
        return Sweep(name, grid, data, features, inputs, name_truth(opened.columns[c]), 2)
    inputs[:, 0] = grid = np.linspace(*widen_range(data[present] if present.any() else np.zeros(1)), n_points)
    return Sweep(name, grid, data, features, inputs)


def _sweep_levels(opened: OpenModel, rows: FloatArray, c: int) -> Sweep:
    column, features = opened.columns[c], opened.inputs_of(c)
    indicators = rows[:, features]
    shown = np.sort(np.argsort(-indicators.sum(axis=0), kind="stable")[:_MAX_LEVELS])
    data = np.where(indicators[:, shown].any(axis=1), indicators[:, shown].argmax(axis=1), np.nan)
    levels = tuple(column.levels[k] for k in shown)
    inputs = np.eye(len(features))[shown]
    return Sweep(column.name, np.arange(float(len(shown))), data, features, inputs, levels, len(column.levels))


def predict_sweep(committee: OpenCommittee, start: FloatArray, sweeps: Sequence[Sweep], output: int) -> FloatArray:
    """Return predictions of shape (n_points,) or (n_points, n_points), with the other columns as in a row.

    For classes they are probabilities.
    """
    shape = tuple(len(sweep.grid) for sweep in sweeps)
    rows = np.tile(start, (int(np.prod(shape)), 1))
    for sweep, index in zip(sweeps, np.indices(shape).reshape(len(shape), -1), strict=True):
        rows[:, sweep.features] = sweep.inputs[index]
    return apply_link(committee.predict(rows), committee.first.model.link)[:, output].reshape(shape)


def measure_distance(sweeps: Sequence[Sweep]) -> FloatArray:
    """Return the distance of the nearest row to each point; up to 1 counts as near, other levels never do."""
    data = np.column_stack([_place(sweep, sweep.data) for sweep in sweeps])
    data = np.unique(data[spread_rows(len(data), _MAX_ROWS)], axis=0)
    data = data[np.isfinite(data).all(axis=1)]
    shape = tuple(len(sweep.grid) for sweep in sweeps)
    if not len(data):
        return np.full(shape, np.inf)
    tree = KDTree(data)
    near = np.clip(2 * np.median(tree.query(data, k=2)[0][:, 1]), *_NEAR)  # twice the typical distance of neighbors
    points = np.stack(np.meshgrid(*(_place(sweep, sweep.grid) for sweep in sweeps), indexing="ij"), axis=-1)
    return (tree.query(points.reshape(-1, len(shape)))[0] / near).reshape(shape)


def _place(sweep: Sweep, values: FloatArray) -> FloatArray:
    return values * _APART if sweep.levels else (values - sweep.grid[0]) / (sweep.grid[-1] - sweep.grid[0])
