from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from takagi.experiments import ALGORITHMS
from takagi.experiments._plan import make_run
from takagi.experiments._run import CURVE_POINTS, draw_partition, execute_run, fit_and_score, make_model, standardize


@pytest.fixture(scope="module")
def data():
    X, y = make_friedman1(150, n_features=6, noise=0.3, random_state=0)
    return standardize(X), y - y.mean()


@pytest.mark.parametrize("n_rows", [103, 240, 9568])
def test_partition_is_70_15_15(n_rows):
    partition = draw_partition(n_rows, 7)
    assert [len(part) for part in partition[:2]] == [round(0.7 * n_rows), round(0.15 * n_rows)]
    np.testing.assert_array_equal(np.sort(np.concatenate(partition)), np.arange(n_rows))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_runs(algorithm, data):
    run = make_run("Yacht", 1, algorithm, 4)
    result = fit_and_score(run, *data, draw_partition(150, 1), 0)
    assert result.error == ""
    assert 0 < result.rmse_test < 3 * data[1].std()
    assert result.seconds > 0


def test_errors_are_those_of_the_best_iterate(data):
    result = fit_and_score(make_run("Yacht", 1, "FCM-RDpA", 8), *data, draw_partition(150, 1), 0)
    assert len(result.curve) == len(CURVE_POINTS)
    assert result.rmse_val <= result.curve.min() * (1 + 1e-9)


def test_algorithms_that_start_alike_start_from_the_same_rules(data):
    models = [make_model(make_run("Yacht", 1, name, 8), 0) for name in ("FCM-RDpA", "RD-Adam", "FCM-RDpAx")]
    assert models[0].init == models[1].init
    assert models[0].init != models[2].init
    assert len({model.random_state for model in models}) == 3
    assert models[0].init != make_model(make_run("Yacht", 2, "FCM-RDpA", 8), 0).init


def test_results_depend_on_the_run_alone(data):
    run = make_run("Yacht", 3, "FCM-RDpA", 4)
    first, second = (fit_and_score(run, *data, draw_partition(150, 1), 0) for _ in range(2))
    assert (first.rmse_val, first.rmse_test) == (second.rmse_val, second.rmse_test)
    other = fit_and_score(run, *data, draw_partition(150, 1), 1)
    assert other.rmse_test != first.rmse_test


def test_settings_of_the_run_reach_the_model():
    run = replace(make_run("Yacht", 1, "FCM-RDpA", 4), learning_rate=0.1, keep_prob=0.9, powerball=0.3)
    model = make_model(run, 0)
    assert (model.learning_rate, model.keep_prob, model.powerball, model.n_rules) == (0.1, 0.9, 0.3, 4)


def test_failure_is_recorded_and_not_raised(tmp_path):
    run = make_run("No such set", 1, "FCM-RDpA", 4)
    result = execute_run(run, data_home=str(tmp_path))
    assert "No such set" in result.error
    assert np.isnan(result.rmse_test)
