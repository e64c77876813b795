"""Distillation: several fits teach one rule base."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from takagi import TrainConfig, TSKRegressor
from takagi.fitting._distillation import draw_between, run_taught
from takagi.fitting._fitting import Fitting
from takagi.fitting._recipe import choose_recipe
from takagi.fitting._rows import Rows
from takagi.initializers import FuzzyCMeansInitializer

AUTO = ("auto",) * 5
CONFIG = TrainConfig(
    learning_rate=0.03, keep_prob=1.0, l2=0.1, smoothness=0.1, max_iter=400, schedule="cosine", averaging=0.98
)


def make_rows(n_rows=120):
    X, y = make_friedman1(n_rows, 5, noise=1.0, random_state=0)
    return Rows(X, y[:, None], np.ones(n_rows))


def make_fitting(seed):
    return Fitting(FuzzyCMeansInitializer(), None, "log2", True, np.random.default_rng(seed))


@pytest.mark.parametrize(("n_rows", "n_features", "expected"), [(1999, 24, True), (2000, 24, False), (1999, 25, False)])
def test_few_rows_of_few_features_are_taught(n_rows, n_features, expected):
    assert choose_recipe(*AUTO, n_rows=n_rows, n_features=n_features).is_taught == expected
    assert not choose_recipe(8, *AUTO[1:], n_rows=n_rows, n_features=n_features).is_taught


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
    rows = make_rows()
    X = make_friedman1(300, 5, random_state=1)[0]

    def spread(fit):
        return np.std([fit(make_fitting(seed)).rules.predict(X) for seed in range(5)], axis=0).mean()

    alone = spread(lambda fitting: fitting.run(rows, None, 16, CONFIG))
    taught = spread(lambda fitting: run_taught(fitting, rows, 16, CONFIG, None))
    assert taught < 0.85 * alone


def test_the_callback_sees_all_fits_as_one():
    seen = []
    run_taught(make_fitting(0), make_rows(), 8, CONFIG, seen.append)
    done = [progress.n_iter for progress in seen]
    assert done == sorted(done)
    assert done[-1] == 4 * 400 + 200
    assert {progress.max_iter for progress in seen} == {done[-1]}


@pytest.mark.parametrize("n_iter", [200, 700, 1700])
@pytest.mark.filterwarnings("ignore:Training was interrupted")
@pytest.mark.parametrize("how", ["callback", "interrupted"])
def test_an_early_end_leaves_the_first_teacher(n_iter, how):
    def end(progress):
        if progress.n_iter >= n_iter and how == "interrupted":
            raise KeyboardInterrupt
        return progress.n_iter >= n_iter

    ended = run_taught(make_fitting(0), make_rows(), 8, CONFIG, end)
    assert ended.result.stopped == how
    alone = make_fitting(0).run(make_rows(), None, 8, CONFIG)
    assert (ended.result.n_iter == 400) == (n_iter > 400)
    if n_iter > 400:
        np.testing.assert_array_equal(ended.rules.consequents, alone.rules.consequents)


def test_an_estimator_is_taught_by_itself():
    rows = make_rows(300)
    model = TSKRegressor(max_iter=200, random_state=0).fit(rows.X, rows.y[:, 0])
    assert model.n_iter_ == 200
    alone = TSKRegressor(max_iter=200, random_state=0)
    alone.fit(rows.X, rows.y[:, 0], callback=lambda progress: progress.n_iter > 200)
    assert alone.stopped_ == "callback"
    assert model.n_rules_ == alone.n_rules_
    assert not np.array_equal(model.predict(rows.X), alone.predict(rows.X))
    several = TSKRegressor(max_iter=200, random_state=0).fit(rows.X, np.c_[rows.y, -rows.y])
    np.testing.assert_allclose(several.predict(rows.X)[:, 0], -several.predict(rows.X)[:, 1], atol=0.5)
