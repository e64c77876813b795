from dataclasses import replace

import numpy as np
import pytest

from _readable_methods import METHODS
from _readable_trials import ReadableOutcome, fail_readable, load_parts, run_readable
from _trials import Trial
from takagi.datasets import load_dataset
from takagi.experiments import Store, collect

TREE = Trial("Yacht", 1, "tree 8")


def test_trial_is_measured(data_home):
    outcome = run_readable(TREE, data_home)
    assert outcome.note == outcome.error == ""
    assert 0 < outcome.ratio == pytest.approx(outcome.strongest)
    assert (outcome.n_rules, outcome.n_conditions, outcome.n_terms) == (8, 7, 0)
    assert (outcome.holds, outcome.governs, outcome.outside, outcome.wild) == (1, 1, 0, 0)
    assert outcome.seconds >= 0


def test_partition_is_that_of_the_seed(data_home):
    data = load_dataset("Yacht", data_home=data_home)
    order = np.random.default_rng(1).permutation(308)
    parts = load_parts(TREE, data_home)
    np.testing.assert_array_equal(parts.rows.both[1], data.target[order[:262]])
    np.testing.assert_array_equal(parts.y_test, data.target[order[262:]])
    assert len(parts.rows.y_val) == 46


def test_ridge_regression_counts_as_one(data_home):
    parts = load_parts(TREE, data_home)
    X, y = parts.rows.both
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    weights = np.linalg.solve(Z.T @ Z + 0.05 * np.eye(6), Z.T @ (y - y.mean()))
    predicted = y.mean() + (parts.X_test - X.mean(axis=0)) / X.std(axis=0) @ weights
    assert parts.compare(predicted) == pytest.approx(1)


def fail(rows, seed):
    raise ValueError("too few\nrows")


def test_method_that_fails_counts_as_the_mean_predictor(data_home, monkeypatch):
    monkeypatch.setitem(METHODS, "tree 8", replace(METHODS["tree 8"], fit=fail))
    outcome = run_readable(TREE, data_home)
    parts = load_parts(TREE, data_home)
    assert outcome.note == "raised ValueError: too few rows"
    assert outcome.ratio == pytest.approx(parts.compare(parts.rows.both[1].mean()))
    assert np.isnan([outcome.n_rules, outcome.strongest, outcome.seconds]).all()


def test_method_that_runs_out_of_time_has_no_error_and_is_not_tried_again(data_home, tmp_path):
    store = Store(tmp_path, ReadableOutcome)
    outcomes = [
        fail_readable(TREE, "out of time", data_home),
        run_readable(Trial("No such set", 1, "tree 8"), data_home),
    ]
    assert [outcome.run.dataset for outcome in collect(outcomes, store)] == ["No such set"]
    assert store.finished() == {TREE}
    assert store.results()["ratio"].isna().all()
