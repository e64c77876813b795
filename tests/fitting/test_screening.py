"""Which features a model is about, if there are many."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error

from takagi import RuleBase, TSKRegressor
from takagi.fitting import Rows, make_plan
from takagi.fitting._screening import find_repeats, screen_features, spread_rules
from takagi.fitting._short._noise import fit_few_slopes
from takagi.training import Bounds


def make_rows(X, y):
    return Rows(X, np.reshape(y, (len(X), -1)), np.ones(len(X)))


@pytest.fixture(scope="module")
def wide():
    """Sixty features, of which the first five matter."""
    return make_friedman1(500, 60, noise=1.0, random_state=0)


def test_features_that_matter_are_found_and_no_more_than_asked(wide):
    X, y = wide
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = screen_features(make_rows(X, y), Z, (y - y.mean())[:, None], 24)
    assert len(found) == 24
    assert {0, 1, 2, 3, 4} <= set(found.tolist())


def test_rules_about_some_features_say_the_same_about_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    features = np.array([1, 4])
    rules = RuleBase(rng.normal(size=(3, 2)), np.ones((3, 2)), rng.normal(size=(3, 1, 3)))
    spread = spread_rules(rules, features, 6)
    np.testing.assert_allclose(spread.predict(X), rules.predict(X[:, features]), rtol=1e-12)
    assert spread_rules(rules, np.arange(2), 2) is rules


def test_capacity_does_not_vanish_with_many_columns():
    params = TSKRegressor().get_params()
    assert make_plan(params, 900, 1000).n_rules == make_plan(params, 900, 24).n_rules
    assert make_plan(params, 900, 1000).n_teachers > 1
    assert make_plan(params, 900, 1000, streams=True).max_features == 1000
    plain = TSKRegressor(projection="shared").get_params()
    assert make_plan(plain, 900, 1000).max_features == 1000
    bounded = TSKRegressor(bounds=Bounds(centers=(0, 1))).get_params()
    assert make_plan(bounded, 900, 1000).max_features == 1000


def test_few_relevant_columns_of_many_are_found_by_rules(wide):
    X, y = wide
    train, test = slice(0, 300), slice(300, None)
    model = TSKRegressor(max_iter=500, random_state=0).fit(X[train], y[train])
    ridge = RidgeCV(np.logspace(-2, 4, 13)).fit(X[train], y[train])
    errors = [root_mean_squared_error(y[test], one.predict(X[test])) for one in (model, ridge)]
    assert errors[0] < 0.85 * errors[1]
    assert np.isfinite(model.rule_base_.widths).any(axis=0).sum() <= 24
    assert model.predict(X).shape == (500,)


def test_few_slopes_are_few_and_the_largest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8)) * [1, 1, 1, 1, 1e3, 1e-3, 1, 1]
    y = X[:, 0] + X[:, 4] / 1e3 - 1e3 * X[:, 5] + 0.1 * rng.normal(size=200)
    slopes = fit_few_slopes(make_rows(X, y), 3).consequents[0, 0, 1:]
    assert np.flatnonzero(slopes).tolist() == [0, 4, 5]


def test_many_constant_columns_are_no_error():
    y = np.random.default_rng(0).normal(size=40)
    model = TSKRegressor(max_iter=20, random_state=0).fit(np.ones((40, 30)), y)
    np.testing.assert_allclose(model.predict(np.ones((2, 30))), y.mean(), atol=0.2)


@pytest.mark.parametrize("seed", range(30))
def test_repeats_are_the_pairs_with_a_correlation_of_one(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(30, 12)) if seed % 2 else rng.integers(0, 2, size=(6, 40)).astype(float)
    for _ in range(seed % 6):
        one, other = rng.integers(12, size=2)
        Z[:, one] = rng.choice([-2.0, 3.0]) * Z[:, other] + 1
    varies = Z.std(axis=0) > 0
    alike = np.zeros((len(varies), len(varies)), dtype=bool)
    alike[np.ix_(varies, varies)] = np.abs(np.corrcoef(Z[:, varies].T)) > 1 - 1e-9
    expected = [(j, int(alike[j].argmax())) for j in range(len(varies)) if alike[j, :j].any()]
    assert find_repeats(Z) == expected
