"""The benchmark of intervals: scores, and tables from outcomes."""

from dataclasses import replace

import numpy as np
import pytest

from _interval_methods import COVERAGE, RIDGE, Fitted, find_quantile, list_methods
from _interval_tables import make_interval_tables
from _interval_trials import (
    IntervalOutcome,
    count_partitions,
    measure_gap,
    measure_intervals,
    run_interval_trial,
    score_intervals,
)
from _trials import Trial
from takagi.experiments import Store


def test_the_interval_score_is_the_width_and_twenty_times_the_way_out():
    limits = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, 2.0]])
    assert score_intervals(limits, np.array([1.0, 3.0, -0.5])) == pytest.approx(2 + 20 * (1 + 0.5) / 3)


def test_the_gap_is_that_of_rules_with_enough_rows():
    inside = np.r_[np.ones(20), np.zeros(20), np.zeros(3)].astype(bool)
    governs = np.repeat([0, 1, 2], [20, 20, 3])
    assert measure_gap(inside, governs) == pytest.approx((0.1 + 0.9) / 2)
    assert np.isnan(measure_gap(inside[:5], governs[:5]))


def test_the_quantile_is_the_conformal_one():
    assert find_quantile(np.arange(1.0, 10.0)) == 9
    assert find_quantile(np.arange(1.0, 100.0)) == 90


def test_small_tables_have_more_partitions():
    assert [count_partitions(n) for n in (100, 1_000, 10_000)] == [6, 4, 2]


def test_limits_that_cross_are_put_in_order():
    fitted = Fitted(lambda X: np.column_stack([np.ones(len(X)), -np.ones(len(X))]))
    assert measure_intervals(fitted, np.zeros((4, 1)), np.zeros(4))["coverage"] == 1


@pytest.mark.parametrize("method", ["takagi DropRule", RIDGE])
def test_a_trial_measures_coverage_and_score(method, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    table = X, X[:, 0] + rng.normal(size=300)
    monkeypatch.setattr("_interval_trials.load_table", lambda name: table)
    outcome = run_interval_trial(Trial("invented", 1, method), limit=10**6)
    assert (outcome.note, outcome.error, outcome.n_rows, outcome.n_test) == ("", "", 300, 45)
    assert outcome.coverage > 0.7
    assert outcome.width < outcome.winkler < 20


def test_tables_show_means_over_partitions_and_scores_over_those_of_the_ridge(tmp_path):
    store = Store(tmp_path, IntervalOutcome)
    ours = IntervalOutcome(Trial("A", 1, "takagi"), 600, 90, 0.9, 1.0, 0.8, 1.2, 0.05, 0.1, 1.0)
    ridge = replace(ours, run=Trial("A", 1, RIDGE), winkler=2.0, gap=np.nan, even=np.nan, coverage=0.97)
    store.append([ours, ridge, replace(ours, run=Trial("A", 2, "takagi"), winkler=1.0, coverage=0.8)])
    store.append([replace(ridge, run=Trial("A", 2, RIDGE), winkler=4.0)])
    text = make_interval_tables(store.results())
    assert "| takagi | 1 | 85.0% | 85.0% | 1 of 1 | 0.375 |" in text
    assert "| split-conformal ridge | 1 | 97.0% | 97.0% | 0 of 1 | 1.000 |" in text
    assert "| takagi | 5.0% | 10.0% | 0.450 |" in text
    assert "| A | 600 | 85, 0.38 |" in text


def test_no_outcomes_are_told(tmp_path):
    assert "no outcomes yet" in make_interval_tables(Store(tmp_path, IntervalOutcome).results())


def test_every_method_says_what_it_does():
    assert all(method.words for method in list_methods().values())
    assert COVERAGE == 0.9
