"""Distillation: one rule base learns from the mean of several fits (Hinton, Vinyals and Dean, 2015).

The mean of several fits depends less on chance than a single fit. So the mean of some teachers, half of them with half
of the rules, labels the rows and many points between neighboring rows, drawn as in SMOTE (Chawla et al., 2002) and
mixup (Zhang et al., 2018). The first teacher then learns these labels. The result is one rule base, nearly as accurate
as the mean of the teachers.
"""

from dataclasses import replace

import numpy as np
from sklearn.neighbors import NearestNeighbors

from takagi._checks import are_finite
from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.fitting._plan import Penalties, Plan
from takagi.fitting._rows import Rows, measure_columns, standardize_columns
from takagi.fitting._training import Trained, Watch, begin_training, train_rules

SHORTER = 2  # the student has this many times fewer iterations
_FEWEST_RULES = 4  # of a teacher
_N_BETWEEN = 8_000  # points between rows
_N_NEIGHBORS = 6
_PENALTY_PART = 0.1  # fraction of a teacher's penalties for the student, whose labels have no noise


def teach(first: Trained, rows: Rows, plan: Plan, rng: np.random.Generator, watch: Watch) -> tuple[Trained, str]:
    """Distill the mean of teachers into the first of them; return the student, and why training ended.

    The first teacher itself is returned if the student is no better, or if Ctrl-C or the callback ended distillation.
    """
    n_large = plan.n_teachers if plan.has_fixed_rules else -(-plan.n_teachers // 2)
    small = max(min(_FEWEST_RULES, plan.n_rules), plan.n_rules // 2)
    sizes = [plan.n_rules] * n_large + [small] * (plan.n_teachers - n_large)
    if not plan.has_fixed_rules:
        sizes = [min(size, len(rows.X)) for size in sizes]  # the first teacher has already warned about more
    weak = Penalties(_PENALTY_PART * first.config.l2, _PENALTY_PART * first.config.smoothness)
    config = replace(plan.config, max_iter=max(1, plan.config.max_iter // SHORTER))
    try:
        watch.begin("teachers")
        others = watch.run(begin_training(rows, None, replace(plan, n_rules=size), rng, watch) for size in sizes[1:])
        if watch.has_ended:
            return first, "callback"
        watch.begin("student")
        labeled, lesson = _label(rows, [first, *others], rng), replace(plan, config=config, penalties=weak)
        student = train_rules(labeled, None, lesson, rng, watch, start=first.rules)
    except KeyboardInterrupt:
        warn_user("Training was interrupted; the rules of the first of several fits are kept.")
        return first, "interrupted"
    if watch.has_ended:
        return first, "callback"
    # the penalties of the first teacher are the requested ones
    return first if student.is_worse_than_start else replace(student, config=first.config), "max_iter"


def _label(rows: Rows, teachers: list[Trained], rng: np.random.Generator) -> Rows:
    """Return the rows and points between them, with the mean prediction of the teachers as targets."""
    between = draw_between(rows, _N_BETWEEN, rng)
    X = np.vstack([rows.X, between])
    labels = np.mean([teacher.rules.predict(X).reshape(len(X), -1) for teacher in teachers], axis=0)
    is_constant = (rows.y == rows.y[0]).all(axis=0) & (teachers[0].config.loss == "squared")
    labels[:, is_constant] = rows.y[0, is_constant]  # they already do, up to rounding
    return Rows(X, labels, np.r_[rows.balance().weight, np.ones(len(between))])


def draw_between(rows: Rows, n_points: int, rng: np.random.Generator) -> FloatArray:
    """Return points on the line from a row, drawn by its weight, to one of its nearest neighbors.

    Features that are missing in that row are missing in the point.
    """
    n_rows = len(rows.X)
    if n_rows < 2:
        return rows.X[:0]
    mean, scale = measure_columns(rows.X, rows.weight)
    scaled = standardize_columns(rows.X, mean, scale)
    search = NearestNeighbors(n_neighbors=min(_N_NEIGHBORS, n_rows - 1)).fit(scaled)
    neighbors = search.kneighbors(return_distance=False)
    here = rng.choice(n_rows, n_points, p=rows.weight / rows.weight.sum())
    there = neighbors[here, rng.integers(neighbors.shape[1], size=n_points)]
    way = rng.random((n_points, 1))
    points = (scaled[here] + way * (scaled[there] - scaled[here])) * scale + mean
    return points if are_finite(rows.X) else np.where(np.isnan(rows.X[here]), np.nan, points)
