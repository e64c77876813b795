"""Distillation: several fits teach one rule base."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from takagi import TSKRegressor
from takagi.fitting import Rows, make_plan
from takagi.fitting._distillation import draw_between
from takagi.initializers import GridInitializer


def make_rows(n_rows=120):
    X, y = make_friedman1(n_rows, 5, noise=1.0, random_state=0)
    return Rows(X, y[:, None], np.ones(n_rows))


def fit(n_teachers, seed=0, callback=None, **params):
    """Fit a model to some rows, penalties given so that no pilots run."""
    params = {"n_rules": 16, "l2": 0.1, "smoothness": 0.1, "max_iter": 400} | params
    rows = make_rows()
    model = TSKRegressor(**params, n_teachers=n_teachers, random_state=seed)
    return model.fit(rows.X, rows.y[:, 0], callback=callback)


def test_points_lie_between_a_row_and_a_neighbor():
    rows = Rows(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1e6]]), np.zeros((3, 1)), np.ones(3))
    points = draw_between(rows, 500, np.random.default_rng(0))
    on_edge = [points[:, 1] < 1e-6, points[:, 0] < 1e-9, np.isclose(points[:, 0] + points[:, 1] / 1e6, 1.0)]
    assert np.any(on_edge, axis=0).all()
    assert points.min() >= -1e-9
    assert np.unique(points, axis=0).shape == points.shape


def test_points_begin_at_rows_in_proportion_to_their_weights():
    rows = Rows(np.r_[np.arange(10.0), np.arange(100.0, 110.0)][:, None], np.zeros((20, 1)), np.repeat([3.0, 1.0], 10))
    points = draw_between(rows, 4000, np.random.default_rng(0))
    assert np.mean(points < 50) == pytest.approx(0.75, abs=0.03)


def test_points_of_huge_numbers_are_finite():
    rows = Rows(np.array([[-1e300], [1e300], [0.0]]), np.zeros((3, 1)), np.ones(3))
    assert np.isfinite(draw_between(rows, 100, np.random.default_rng(0))).all()


def test_one_row_has_nothing_beside_it():
    assert draw_between(make_rows(1), 10, np.random.default_rng(0)).shape == (0, 5)


def test_teachers_leave_less_to_chance():
    X = make_friedman1(300, 5, random_state=1)[0]
    alone, taught = (np.std([fit(n, seed).predict(X) for seed in range(5)], axis=0).mean() for n in (0, 4))
    assert taught < 0.85 * alone


def test_the_callback_sees_all_trainings_as_one():
    seen = []
    model = fit(4, callback=seen.append)
    done = [progress.n_iter for progress in seen]
    assert done == sorted(done)
    assert done[-1] == 4 * 400 + 200
    assert {progress.max_iter for progress in seen} == {done[-1]}
    stages = [(stage.name, stage.n_fits, stage.n_iter) for stage in model.stages_]
    assert stages == [("training", 1, 400), ("teachers", 3, 1200), ("student", 1, 200)]


def test_what_is_told_of_a_taught_model_is_the_students():
    model = fit(4)
    assert model.n_iter_ == model.best_iter_ == len(model.history_["train_loss"]) == 200
    assert model.l2_ == 0.1  # what was asked for; the student has a part of it


@pytest.mark.parametrize("n_iter", [200, 700, 1700])
@pytest.mark.filterwarnings("ignore:Training was interrupted")
@pytest.mark.parametrize("how", ["callback", "interrupted"])
def test_an_early_end_leaves_the_first_teacher(n_iter, how):
    def end(progress):
        if progress.n_iter >= n_iter and how == "interrupted":
            raise KeyboardInterrupt
        return progress.n_iter >= n_iter

    ended = fit(4, callback=end)
    assert ended.stopped_ == how
    assert (ended.n_iter_ == 400) == (n_iter > 400)
    if n_iter > 400:
        assert ended.rule_base_ == fit(0).rule_base_


def test_few_rows_are_taught_by_default():
    params = TSKRegressor().get_params()
    taught = {size: make_plan(params, *size).n_teachers for size in ((999, 24), (1000, 24), (999, 25))}
    assert taught == {(999, 24): 4, (1000, 24): 0, (999, 25): 4}
    projected = TSKRegressor(projection="shared").get_params()
    assert [make_plan(projected, 999, n_features).n_teachers for n_features in (24, 25)] == [4, 0]
    assert make_plan(TSKRegressor(recipe="droprule").get_params(), 500, 4).n_teachers == 0
    assert make_plan(TSKRegressor(n_teachers=0).get_params(), 500, 4).n_teachers == 0


def test_a_grid_teaches_with_all_of_its_rules():
    rows = make_rows()
    model = TSKRegressor(9, init=GridInitializer(3), max_iter=100, random_state=0).fit(rows.X[:, :2], rows.y[:, 0])
    assert [stage.name for stage in model.stages_] == ["pilots", "training", "teachers", "student"]
    assert model.rule_base_.sets is not None


def test_several_targets_are_taught():
    rows = make_rows(300)
    several = TSKRegressor(max_iter=200, n_teachers=4, random_state=0).fit(rows.X, np.c_[rows.y, -rows.y])
    assert "student" in [stage.name for stage in several.stages_]
    np.testing.assert_allclose(several.predict(rows.X)[:, 0], -several.predict(rows.X)[:, 1], atol=0.5)
