"""Distillation (Hinton, Vinyals and Dean, 2015): the mean of several fits, taught to one rule base.

What a single fit learns depends on chance, and the mean of several does so less. So the mean of some teachers, half of
them with half of the rules, labels the rows and many points between neighboring rows, as SMOTE (Chawla et al., 2002)
and mixup (Zhang et al., 2018) draw them, and the first teacher learns these labels: one rule base, nearly as accurate
as the teachers together.
"""

from dataclasses import replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from takagi._typing import FloatArray
from takagi.fitting._plan import Penalties, Plan
from takagi.fitting._rows import Rows, measure_columns
from takagi.fitting._training import Trained, Watch, train_rules

_FEWEST_RULES = 4  # of a teacher
_N_BETWEEN = 8_000  # points between rows
_N_NEIGHBORS = 6
_PENALTY_PART = 0.1  # of a teacher's penalties is left to the student, whose labels have no noise
_SHORTER = 2  # times fewer iterations of the student


def expect_lessons(plan: Plan, watch: Watch) -> None:
    """Count the iterations of all teachers but the first, and of the student."""
    watch.expect((plan.n_teachers - 1) * plan.config.max_iter + max(1, plan.config.max_iter // _SHORTER))


def teach(first: Trained, rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> Trained:
    """Return what a student has learned from the first teacher and others; the first itself if that was no gain."""
    watch.begin("teachers")
    teachers = [first]
    for size in _choose_sizes(plan)[1:]:
        teachers.append(train_rules(rows, None, replace(plan, n_rules=size), rng, watch))
        if watch.has_ended:
            return first
    watch.begin("student")
    config = replace(plan.config, max_iter=max(1, plan.config.max_iter // _SHORTER))
    weak = Penalties(_PENALTY_PART * first.config.l2, _PENALTY_PART * first.config.smoothness)
    lesson = replace(plan, config=config, penalties=weak)
    student = train_rules(_label(rows, teachers, rng), None, lesson, rng, watch, start=first.rules)
    if watch.has_ended or student.is_worse_than_start:
        return first
    return replace(student, config=first.config)  # whose penalties are what was asked for


def _choose_sizes(plan: Plan) -> list[int]:
    """Return the numbers of rules of the teachers: half of them have half of the rules."""
    n_large = plan.n_teachers if plan.has_fixed_rules else -(-plan.n_teachers // 2)
    small = max(min(_FEWEST_RULES, plan.n_rules), plan.n_rules // 2)
    return [plan.n_rules] * n_large + [small] * (plan.n_teachers - n_large)


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


def _label(rows: Rows, teachers: list[Trained], rng: np.random.Generator) -> Rows:
    """Return the rows and points between them, with what the teachers say on average in place of the targets."""
    between = draw_between(rows, _N_BETWEEN, rng)
    X = np.vstack([rows.X, between])
    labels = np.mean([teacher.rules.predict(X).reshape(len(X), -1) for teacher in teachers], axis=0)
    is_constant = (rows.y == rows.y[0]).all(axis=0) & (teachers[0].config.loss == "squared")
    labels[:, is_constant] = rows.y[0, is_constant]  # but for rounding they are
    return Rows(X, labels, np.r_[rows.balance().weight, np.ones(len(between))])
