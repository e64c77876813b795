import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import root_mean_squared_error

from streamed import X, Y, as_rows, feed, small, through_file
from takagi import TSKRegressor
from takagi.fitting import make_plan
from takagi.inspection import HistoryDisplay
from takagi.report._fit import summarize_history
from takagi.streaming import Horizon, Stream, _stream

# -- stop and go -------------------------------------------------------------------------------------------------------


STOPS = {
    "file": through_file,
    "pickle": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "copy": lambda model, folder: copy.deepcopy(model),
}
SETTINGS = {
    "few rules": {},
    "all rules kept": {"keep_prob": 1.0, "standardize": "inputs"},
    "projections": {"projection": "separate", "optimizer": "adam", "averaging": 0.0},
    "shared sets": {"n_rules": 8, "init": "grid", "standardize": False, "learning_rate": 0.01},
    "hardly any validation": {"validation_fraction": 1e-4},
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_a_stop_changes_nothing(params, stop, tmp_path):
    straight, stopped = small(**params), small(**params)
    for block in np.array_split(np.arange(1200), 7):
        straight.partial_fit(X[block], Y[block])
        stopped.partial_fit(X[block], Y[block])
        stopped = stop(stopped, tmp_path)
    assert straight.n_iter_ > 10
    assert straight.rule_base_ == stopped.rule_base_
    assert (straight.n_iter_, straight.best_iter_, straight.l2_) == (stopped.n_iter_, stopped.best_iter_, stopped.l2_)
    for name, values in straight.history_.items():
        np.testing.assert_array_equal(values, stopped.history_[name])


def test_a_random_state_gives_one_result_and_another_one_another():
    models = [feed(small(random_state=seed)) for seed in (0, 0, 1)]
    assert models[0].rule_base_ == models[1].rule_base_
    assert models[0].rule_base_ != models[2].rule_base_


def test_ctrl_c_keeps_what_was_learned(monkeypatch, tmp_path):
    model = small(n_rules=4, batch_size=8).partial_fit(X[:600], Y[:600])
    n_iter, calls = model.n_iter_, []

    def interrupt(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return draw(*args)

    draw = _stream.draw_keep
    monkeypatch.setattr(_stream, "draw_keep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[600:], Y[600:])
    monkeypatch.undo()
    assert model.stopped_ == "interrupted"
    assert model.n_iter_ == n_iter + 32
    assert model.stream_.n_waiting > 8
    loaded = through_file(model, tmp_path)
    assert loaded.rule_base_ == model.rule_base_
    n_left = model.stream_.n_waiting
    for one in (model, loaded):
        one.partial_fit(X[:1], Y[:1])
        assert one.n_iter_ in (n_iter + 32 + n_left // 8, n_iter + 32 + (n_left + 1) // 8)
        assert one.stopped_ == "stream"
    assert loaded.rule_base_ == model.rule_base_


def test_ctrl_c_while_the_first_rules_are_made_leaves_the_stream_as_it_was(monkeypatch):
    model = small().partial_fit(X[:20], Y[:20])
    before = len(model.stream_.seen.waiting.X)
    with monkeypatch.context() as patch:
        patch.setattr(_stream.Stream, "_begin", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[20:], Y[20:])
    assert model.stream_.n_waiting == before
    assert model.partial_fit(X[20:], Y[20:]).n_iter_ > 0


def test_fit_and_clone_begin_anew():
    model = feed(small(max_iter=20))
    fresh = clone(model)
    assert not hasattr(fresh, "stream_")
    model.fit(X, Y)
    assert not hasattr(model, "stream_")
    assert model.rule_base_ == small(max_iter=20).fit(X, Y).rule_base_


# -- what comes out ----------------------------------------------------------------------------------------------------


def test_a_change_of_units_does_not_change_the_rules():
    model = feed(small(projection="separate"))
    learner = model.stream_.learner
    units = model.stream_.seen.take_in(as_rows(2 * X - X.mean(axis=0), 3 * Y), np.random.default_rng(0))
    moved = learner.enter(units.units(True, True), learner.is_constant, model.stream_.config)
    assert not np.allclose(moved.state.theta, learner.state.theta)
    for name in ("theta", "best"):
        old, new = (copy.deepcopy(part) for part in (learner, moved))
        for part in (old, new):
            part.state.best[:] = getattr(part.state, name)
        rules = [part.read_rules(model.stream_.seen) for part in (old, new)]
        np.testing.assert_allclose(rules[0].predict(X), rules[1].predict(X), rtol=1e-9, atol=1e-9)


def friedman(n_rows):
    X, y = make_friedman1(n_rows + 5_000, noise=1.0, random_state=0)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


@pytest.mark.parametrize(
    ("params", "one_pass", "four_passes"),
    [({"n_rules": 16}, 1.15, 1.06), pytest.param({}, 1.16, 1.04, marks=pytest.mark.slow)],
)
def test_a_stream_is_nearly_as_good_as_a_fit(params, one_pass, four_passes):
    X, y, X_test, y_test = friedman(20_000)
    fitted = TSKRegressor(random_state=0, **params).fit(X, y)
    goal = root_mean_squared_error(y_test, fitted.predict(X_test))
    model, errors = TSKRegressor(random_state=0, **params), []
    for k in range(4):
        order = np.random.default_rng(k).permutation(20_000)
        feed(model, X[order], y[order], size=2_000)
        errors.append(root_mean_squared_error(y_test, model.predict(X_test)))
    assert errors[0] < one_pass * goal
    assert errors[-1] < four_passes * goal


def test_a_known_length_lets_the_learning_rate_fall():
    X, y, X_test, y_test = friedman(5_000)
    learners = []
    for schedule in ("cosine", "constant"):
        params = TSKRegressor(n_rules=8, recipe="droprule", schedule=schedule).get_params()
        stream, plan = Stream(np.random.default_rng(0)), make_plan(params, 5_000, X.shape[1])
        for k in range(4):
            order = np.random.default_rng(k).permutation(5_000)
            stream.feed(as_rows(X[order], y[order]), plan, Horizon(n_rows=5_000, n_iter=200))
        fitted = stream.read(plan, "stream")
        assert fitted.n_iter == 200
        assert root_mean_squared_error(y_test, fitted.model.predict(X_test)) < 0.5 * y_test.std()
        learners.append(stream.learner)
    unrest = [np.abs(one.state.theta - one._mean_parameters()).mean() for one in learners]
    assert unrest[0] < 0.5 * unrest[1]


def test_a_small_table_does_not_wait_for_rows_that_never_come():
    stream, plan = Stream(np.random.default_rng(0)), make_plan(TSKRegressor().get_params(), 150, 3)
    for k in range(20):
        order = np.random.default_rng(k).permutation(150)
        stream.feed(as_rows(X[order], Y[order]), plan, Horizon(n_rows=150, n_iter=30))
    assert stream.n_iter == 30


def test_rules_are_ordered_and_know_what_they_have_seen():
    rules = feed(small()).rule_base_
    assert (np.diff(rules.profile.share) <= 0).all()
    np.testing.assert_allclose(rules.profile.mean, X.mean(axis=0))
    np.testing.assert_array_equal(rules.profile.quantiles[[0, -1]], [X.min(axis=0), X.max(axis=0)])
    np.testing.assert_array_equal(rules.profile.output_quantiles[[0, -1], 0], [Y.min(), Y.max()])
    assert "of the data" in str(rules)


def test_the_best_rules_are_those_of_smallest_error_on_the_reservoir():
    model = feed(small(learning_rate=0.3))
    seen = model.stream_.seen
    error = root_mean_squared_error(seen.reservoir.y[:, 0], model.predict(seen.reservoir.X))
    assert error == pytest.approx(model.stream_.learner.best_loss * Y.std(), rel=1e-9)
    last = model.history_["val_loss"][model.history_["iteration"] > model.best_iter_]
    assert (last >= error * (1 - 1e-9)).all()


def test_the_history_is_bounded(monkeypatch):
    monkeypatch.setattr("takagi.streaming._learner.MAX_HISTORY", 10)
    model = small(batch_size=8)
    for _ in range(6):
        feed(model, size=100)
    iteration = model.history_["iteration"]
    assert 5 <= len(iteration) <= 10
    assert (np.diff(iteration) > 0).all()
    assert iteration[-1] == model.n_iter_
    assert model.best_iter_ in iteration


def test_a_thinned_history_is_drawn_and_summarized():
    model = feed(small(batch_size=8))
    display = HistoryDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.iterations, model.history_["iteration"])
    assert display.axes_[0].get_xlim()[1] > model.n_iter_
    summary = summarize_history(model)
    assert summary["n_iter"] == model.n_iter_
    assert summary["best_loss"] in model.history_["val_loss"]
    assert list(summary["iterations"]) == list(model.history_["iteration"])


def test_batches_that_lead_nowhere_are_skipped():
    model = feed(small())
    expected = model.predict(X)
    model.set_params(learning_rate=1e305)
    with pytest.warns(ConvergenceWarning, match="diverged in .* continued from the best rules each time"):
        model.partial_fit(X, Y)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)
    model.set_params(learning_rate=0.03)
    for _ in range(10):
        feed(model)
    assert root_mean_squared_error(Y, model.predict(X)) < 0.7 * root_mean_squared_error(Y, expected)


def test_progress_is_shown(capsys):
    feed(small(verbose=1))
    assert "[takagi] 1200 rows, iteration 16: batch loss" in capsys.readouterr().out
