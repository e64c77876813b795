"""Short rules of rows with missing values."""

import numpy as np
import pytest
from tests.fitting.short.test_polish import make_case

from takagi import RuleBase, TSKRegressor
from takagi.fitting import Rows
from takagi.fitting._short._missing import find_usual


def make_rows(n_rows=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    y = 0.8 * X[:, :1] - 0.5 * X[:, 1:2] + 0.1 * rng.normal(size=(n_rows, 1))
    return X, y, rng


def test_what_is_missing_because_it_is_large_counts_as_large():
    X, y, rng = make_rows()
    missing = rng.random(len(X)) < np.where(X[:, 0] > 0.5, 0.8, 0.05)
    away = X[missing, 0].mean() - X[~missing, 0].mean()
    X[missing, 0] = np.nan
    usual = find_usual(Rows(X - np.nanmean(X, axis=0), y - y.mean(), np.ones(len(X))))
    assert usual[0] == pytest.approx(away, rel=0.1)
    assert usual[1:].tolist() == [0.0, 0.0]


def test_what_is_missing_at_random_counts_as_the_mean():
    X, y, rng = make_rows()
    X[rng.random(X.shape) < 0.3] = np.nan
    assert find_usual(Rows(X, y, np.ones(len(X)))).tolist() == [0.0, 0.0, 0.0]


def test_a_value_that_is_hardly_ever_missing_counts_as_the_mean():
    X, y, _ = make_rows()
    X[:5, 0] = np.nan
    y[:5] += 100.0
    assert not find_usual(Rows(X, y, np.ones(len(X)))).any()


def test_the_shares_of_a_draft_are_those_of_its_rules():
    draft, task = make_case(np.random.default_rng(1), has_missing=True)
    part = draft.take(np.array([0, 1, 2]))
    rules = RuleBase(part.centers, part.widths, np.zeros((3, 1, 5)), usual=np.zeros((3, 4)))
    X = np.where(task.seen > 0, task.Z, np.nan)
    np.testing.assert_allclose(part.shares(task.Z, task.seen), rules.firing_share(X), atol=1e-12)


def test_conditions_are_learned_from_the_values_that_are_there():
    X, _, rng = make_rows(600)
    y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 1]) + 0.05 * rng.normal(size=len(X))
    X[rng.random(len(X)) < 0.3, 0] = np.nan
    model = TSKRegressor(2, recipe="short", random_state=0).fit(X, y).model_
    low, high = np.sort(model.first.intervals[:, 0, :], axis=0)
    assert model.first.n_rules == 2
    assert abs(high[0]) < 0.3
    assert abs(low[1]) < 0.3
    there = ~np.isnan(X[:, 0])
    assert np.sqrt(np.mean((model.predict(X[there]) - y[there]) ** 2)) < 0.4
