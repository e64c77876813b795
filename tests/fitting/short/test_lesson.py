"""What short rules learn from a larger model."""

import numpy as np
import pytest

from takagi import RuleBase, RuleModel
from takagi.fitting import AGREEMENT, Limits, Rows, measure_units, teach_short
from takagi.fitting._short._noise import measure_noise

LIMITS = Limits(4, 2, 2, AGREEMENT)


def make_rows(noise, n_rows=400):
    """Return rows of a target with a kink, and a teacher that knows it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    y = np.where(X[:, 0] > 0, 3 * X[:, 1], -2 * X[:, 1]) + noise * rng.normal(size=n_rows)
    centers, widths = [[-0.5, 0, 0], [0.5, 0, 0]], [[0.1, np.inf, np.inf]] * 2
    teacher = RuleModel((RuleBase(centers, widths, [[[0, 0, -2, 0]], [[0, 0, 3, 0]]]),))
    return Rows(X, y[:, None], np.ones(n_rows)), teacher


def find_noise(rows):
    """Return what a support vector machine leaves."""
    units = measure_units(rows, scales_inputs=True, scales_target=True)
    return measure_noise(units.standardize(rows), np.random.default_rng(0)).part


def test_short_rules_obey_the_limits_and_learn_what_the_teacher_knows():
    rows, teacher = make_rows(noise=0.2)
    pupil, noise = teach_short(teacher, rows, LIMITS, np.random.default_rng(0))
    assert pupil.n_rules <= LIMITS.n_rules
    for part in pupil.parts:
        assert np.isfinite(part.widths).sum(axis=1).max() <= LIMITS.max_conditions
        assert np.count_nonzero(part.consequents[:, 0, 1:], axis=1).max() <= LIMITS.max_terms
    truth = teacher.predict(rows.X)
    assert np.sqrt(np.mean((pupil.predict(rows.X) - truth) ** 2)) < 0.2
    assert 0.2**2 / rows.y.var() < noise < find_noise(rows)


def test_noise_is_what_short_rules_leave_if_that_is_less():
    rows, teacher = make_rows(noise=0.0)
    _, noise = teach_short(teacher, rows, LIMITS, np.random.default_rng(0))
    assert noise < 0.5 * find_noise(rows)


def test_nothing_is_taught_about_chance():
    rows, _ = make_rows(noise=0.0)
    rows = rows._replace(y=np.random.default_rng(1).normal(size=rows.y.shape))
    nothing = RuleModel((RuleBase([[0.0] * 3], [[np.inf] * 3], [[[0.0] * 4]]),))
    with pytest.warns(UserWarning, match="No "):
        pupil, _ = teach_short(nothing, rows, LIMITS, np.random.default_rng(0))
    assert pupil.n_rules == 1
