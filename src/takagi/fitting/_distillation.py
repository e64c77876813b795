"""Distillation: the mean of several fits, taught to one rule base.

What a single fit learns depends on chance, and the mean of several does so less. So the mean of four teachers, two of
them with half of the rules, labels the rows and many points between them, and the first teacher learns these labels:
one rule base, nearly as accurate as the four together.
"""

from dataclasses import replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from takagi._typing import FloatArray
from takagi.fitting._fitting import Fitted, Fitting
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._warm_start import enter_units
from takagi.training import Callback, Progress, TrainConfig

_SIZES = (1.0, 1.0, 0.5, 0.5)  # of the teachers, in rules of the student
_FEWEST_RULES = 4  # of a teacher
_N_BETWEEN = 8_000  # points between rows
_N_NEIGHBORS = 6
_PENALTY_PART = 0.1  # of a teacher's penalties is left to the student, whose labels have no noise
_SHORTER = 2  # times fewer iterations of the student


def run_taught(fitting: Fitting, rows: Rows, n_rules: int, config: TrainConfig, callback: Callback | None) -> Fitted:
    """Return the first teacher with the rules of the student; Ctrl-C and the callback end with its own rules."""
    lesson = replace(
        config,
        l2=_PENALTY_PART * config.l2,
        smoothness=_PENALTY_PART * config.smoothness,
        max_iter=max(1, config.max_iter // _SHORTER),
    )
    total = len(_SIZES) * config.max_iter + lesson.max_iter
    sizes = [max(min(_FEWEST_RULES, n_rules), int(n_rules * size)) for size in _SIZES]
    first = fitting.run(rows, None, n_rules, config, _count_on(callback, 0, total))
    if first.result.stopped != "max_iter":
        return first
    teachers = [first]
    try:
        for size in sizes[1:]:
            tell = _count_on(callback, len(teachers) * config.max_iter, total)
            teachers.append(fitting.run(rows, None, size, config, tell))
            if teachers[-1].result.stopped != "max_iter":
                return _end(first, teachers[-1].result.stopped)
        labelled = _label(rows, teachers, fitting.rng)
        pupil = replace(fitting, start=first.rules)
        student = pupil.run(labelled, None, n_rules, lesson, _count_on(callback, len(_SIZES) * config.max_iter, total))
    except KeyboardInterrupt:
        return _end(first, "interrupted")
    if student.result.stopped != "max_iter" or student.is_worse_than_start:
        return _end(first, student.result.stopped)
    return replace(first, result=replace(first.result, rule_base=enter_units(student.rules, first.units)))


def draw_between(rows: Rows, n_points: int, rng: np.random.Generator) -> FloatArray:
    """Return points on the way from a row, drawn by its weight, to one of its nearest neighbors."""
    n_rows = len(rows.X)
    if n_rows < 2:
        return rows.X[:0]
    mean, scale = measure_columns(rows.X, rows.weight)
    scaled = (rows.X - mean) / scale
    search = NearestNeighbors(n_neighbors=min(_N_NEIGHBORS, n_rows - 1)).fit(scaled)
    neighbors = search.kneighbors(return_distance=False)
    here = rng.choice(n_rows, n_points, p=rows.weight / rows.weight.sum())
    there = neighbors[here, rng.integers(neighbors.shape[1], size=n_points)]
    way = rng.random((n_points, 1))
    return (scaled[here] + way * (scaled[there] - scaled[here])) * scale + mean


def _label(rows: Rows, teachers: list[Fitted], rng: np.random.Generator) -> Rows:
    """Return the rows and points between them, with what the teachers say on average in place of the targets."""
    between = draw_between(rows, _N_BETWEEN, rng)
    X = np.vstack([rows.X, between])
    labels = np.mean([teacher.rules.predict(X).reshape(len(X), -1) for teacher in teachers], axis=0)
    return Rows(X, labels, np.r_[rows.weight / rows.weight.mean(), np.ones(len(between))])


def _end(first: Fitted, stopped: str) -> Fitted:
    return replace(first, result=replace(first.result, stopped=stopped))


def _count_on(callback: Callback | None, n_before: int, total: int) -> Callback | None:
    """Return a callback that is told the iterations of all fits together."""
    if callback is None:
        return None

    def call(progress: Progress) -> object:
        return callback(replace(progress, n_iter=n_before + progress.n_iter, max_iter=total))

    return call
