import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from _methods import METHODS, Method
from _rows import BOTH, Rows, Scaling, draw_rows
from _trials import Outcome, Trial, fail_trial, load_trial, make_trials, run_trial
from takagi.experiments import Store, collect

HERE = ["ridge", "ridge both parts", "takagi", "FCM-RDA", "FCM-RDpA", "FCM-RDpAx", "HistGB", "HistGB refit",
        "random forest", "SVR", "MLP", "Gaussian process"]  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(130, 3)) * [1, 100, 0.01]
    y = 1000 + 50 * (X[:, 0] + np.sin(X[:, 1] / 50))
    return Rows(X[:80], y[:80], X[80:100], y[80:100]), X[100:], y[100:]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", HERE)
def test_adapters_predict_in_the_units_of_the_target(name, rows):
    rows, X_test, y_test = rows
    model = METHODS[name].fit(rows, 0)
    error = np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2))
    assert error < 0.8 * y_test.std()
    assert len(pickle.dumps(model)) > 100


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if method.needs not in ("sklearn", "takagi")]
)
def test_peers_that_are_here_predict_better_than_the_mean(name, rows):
    if not METHODS[name].is_installed:
        pytest.skip(f"needs {METHODS[name].pip}")
    rows, X_test, y_test = rows
    error = np.sqrt(np.mean((METHODS[name].fit(rows, 0).predict(X_test) - y_test) ** 2))
    assert error < y_test.std() * (1.2 if "endgame" in name or "LightGBM" in name else 0.9)


def test_scaling_returns_to_the_units_it_came_from(rows):
    X, y = rows[0].both
    scaling = Scaling(X, y)
    scaled_X, scaled_y = scaling.scale(X, y)
    assert scaled_X.std(axis=0) == pytest.approx(1.0)

    class Echo:
        def predict(self, X):
            return scaled_y

    assert scaling.unscale(Echo()).predict(X) == pytest.approx(y)


def test_draw_rows_takes_pairs_and_no_more_than_asked(rows):
    X, y = rows[0].both
    X_few, y_few = draw_rows(X, y, 10, 0)
    assert len(y_few) == 10
    assert all((x == X).all(axis=1)[y == value].all() for x, value in zip(X_few, y_few, strict=True))
    assert draw_rows(X, y, 100, 0)[0] is X


def test_method_without_its_package_is_not_installed():
    assert not Method("x", print, BOTH, "", "no_such_module_anywhere", "x").is_installed
    assert not Method("x", print, BOTH, "", "takagi:NoSuchName", "x").is_installed
    assert Method("x", print, BOTH, "", "takagi:TSKRegressor", "x").is_installed


def test_trial_is_measured(data_home):
    outcome = run_trial(Trial("Yacht", 1, "random forest"), data_home=data_home)
    assert outcome.note == outcome.error == ""
    assert 0 < outcome.rmse_test < 1
    assert outcome.seconds > 0
    assert outcome.predict_seconds > 0
    assert outcome.n_bytes > 10_000


def test_all_methods_get_the_same_partition(data_home):
    first, second = (load_trial(Trial("Yacht", 2, method), 0, data_home) for method in ("ridge", "SVR"))
    np.testing.assert_array_equal(first[2], second[2])
    assert [len(part) for part in (first[0].y_train, first[0].y_val, first[2])] == [216, 46, 46]


def fail(rows, seed):
    raise ValueError("too few\nrows")


class Nonsense:
    def predict(self, X):
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("fit", "note"),
    [
        (fail, "raised ValueError: too few rows"),
        (lambda rows, seed: Nonsense(), "raised ValueError: its predictions are not finite"),
    ],
)
def test_method_that_fails_counts_as_the_mean_predictor(fit, note, data_home, monkeypatch):
    monkeypatch.setitem(METHODS, "ridge", replace(METHODS["ridge"], fit=fit))
    trial = Trial("Yacht", 3, "ridge")
    outcome = run_trial(trial, data_home=data_home)
    rows, _, y_test = load_trial(trial, 0, data_home)
    assert outcome.note == note
    assert outcome.error == ""
    assert outcome.rmse_test == pytest.approx(np.sqrt(np.mean((rows.both[1].mean() - y_test) ** 2)))
    assert np.isnan(outcome.seconds)


def test_failed_method_is_finished_and_missing_data_is_not(data_home, tmp_path):
    trials = [Trial("Yacht", 1, "ridge"), Trial("No such set", 1, "ridge")]
    store = Store(tmp_path, Outcome)
    outcomes = [fail_trial(trials[0], "out of time", data_home=data_home), run_trial(trials[1], data_home=data_home)]
    assert [outcome.run for outcome in collect(outcomes, store)] == [trials[1]]
    assert Store(tmp_path, Outcome).finished() == {trials[0]}
    assert store.results()["note"].tolist() == ["out of time", ""]


def test_trials_of_the_first_partition_come_first():
    trials = make_trials(["ridge", "SVR"], ["Yacht", "NO2"], [1, 2])
    assert [trial.repeat for trial in trials] == [1] * 4 + [2] * 4
    assert trials[:2] == [Trial("Yacht", 1, "ridge"), Trial("NO2", 1, "ridge")]


def test_outcomes_depend_on_the_trial_alone(data_home):
    run = partial(run_trial, Trial("Yacht", 4, "random forest"), data_home=data_home)
    assert run().rmse_test == run().rmse_test != run(base_seed=1).rmse_test
