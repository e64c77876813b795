import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from takagi import TSKCommittee, TSKRegressor
from takagi.estimators import _memory
from takagi.estimators._memory import Memory, choose_rows, learn_memory
from takagi.fitting import Rows

REACH = 5.0


def blend(X, own, rows, weight, values, widths, damping):
    """Say what the kernels say, by the formula."""
    squares = (((X[:, None] - rows) / widths) ** 2).sum(axis=2)
    firing = weight * np.exp(-0.5 * squares) * (squares <= REACH**2) * (np.arange(len(rows)) != own[:, None])
    return firing @ values / (firing.sum(axis=1) + damping), firing.sum(axis=1)


def learn(rows, n_jobs=None):
    """Learn a memory of all that there is: predictions are zero."""
    return learn_memory(rows, np.zeros_like(rows.y), n_jobs)


def make_rows(n_rows, n_features, seed=0):
    rng = np.random.default_rng(seed)
    return Rows(rng.normal(size=(n_rows, n_features)), rng.normal(size=(n_rows, 1)), rng.uniform(0.5, 2, n_rows))


def make_daily(n_rows, seed=0, noise=0.3):
    """Return rows whose target is a different number on each of 40 days; two other features are noise."""
    rng = np.random.default_rng(seed)
    day = rng.integers(40, size=n_rows)
    level = np.random.default_rng(99).normal(size=40)
    X = np.column_stack([rng.normal(size=n_rows), day, rng.normal(size=n_rows)])
    return Rows(X, (level[day] + noise * rng.normal(size=n_rows))[:, None], np.ones(n_rows))


# -- the blend ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_correction_is_the_mean_of_two_blends_of_errors(n_features):
    rng = np.random.default_rng(1)
    rows = make_rows(300, n_features)
    errors = rng.normal(size=(300, 2))
    widths, damping = rng.uniform(0.1, 2, (2, 2, n_features)), rng.uniform(0.1, 2, (2, 2))
    memory = Memory(rows.X, rows.weight, errors, widths, damping)
    X = np.vstack([rng.normal(size=(2_000, n_features)), np.full((1, n_features), 1e6)])
    corrections, numbers = memory.recall(X)
    for k in range(2):
        both = [
            blend(X, np.full(len(X), -1), rows.X, rows.weight, errors[:, k], widths[i, k], damping[i, k])
            for i in (0, 1)
        ]
        np.testing.assert_allclose(corrections[:, k], np.mean([one[0] for one in both], axis=0), atol=1e-12)
        np.testing.assert_allclose(numbers[:, k], np.mean([one[1] for one in both], axis=0), atol=1e-12)
    assert (corrections[-1] == 0).all()


def test_a_row_is_left_out_where_it_is_asked_for():
    rows = make_rows(200, 2)
    widths, damping = np.full((2, 1, 2), 0.4), np.full((2, 1), 0.5)
    memory = Memory(rows.X, rows.weight, rows.y, widths, damping)
    own = np.where(np.arange(200) % 3, np.arange(200), -1)
    expected, _ = blend(rows.X, own, rows.X, rows.weight, rows.y[:, 0], 0.4, 0.5)
    np.testing.assert_allclose(memory.correct(rows.X, own)[:, 0], expected, atol=1e-12)


def test_an_output_of_which_nothing_is_remembered_is_not_corrected():
    rows = make_rows(50, 2)
    damping = np.array([[1.0, np.inf], [1.0, np.inf]])
    memory = Memory(rows.X, rows.weight, np.hstack([rows.y, rows.y]), np.ones((2, 2, 2)), damping)
    corrections = memory.correct(rows.X)
    assert (corrections[:, 0] != 0).all()
    assert (corrections[:, 1] == 0).all()


def test_threads_do_not_change_the_corrections():
    rows = make_rows(500, 3)
    memory = Memory(rows.X, rows.weight, rows.y, np.full((2, 1, 3), 0.5), np.ones((2, 1)))
    X = make_rows(5_000, 3, seed=5).X
    np.testing.assert_array_equal(memory.correct(X), memory.correct(X, n_threads=3))


@pytest.mark.parametrize("logs", [[-1.0, 0.5, 0.2, -0.5], [0.0, -2.0, 1.0, 1.0]])
def test_slopes_are_those_of_the_error(logs):
    rows = make_rows(150, 3)
    trial = _memory._Trial(rows.X, rows.weight, rows.y[:, 0])
    queries, logs = np.arange(10, 80), np.array(logs)
    expected, _ = blend(rows.X[queries], queries, rows.X, rows.weight, rows.y[:, 0], np.exp(logs[:3]), np.exp(logs[3]))
    loss, slopes = trial.score(logs, queries)
    gains = trial.measure_gains(logs, queries)
    own = rows.y[queries, 0]
    assert loss == pytest.approx(np.average((own - expected) ** 2, weights=rows.weight[queries]), rel=1e-12)
    np.testing.assert_allclose(gains, own**2 - (own - expected) ** 2, atol=1e-12)
    numeric = approx_fprime(logs, lambda at: trial.score(at, queries)[0], 1e-7)
    np.testing.assert_allclose(slopes, numeric, atol=2e-6)


# -- learning ----------------------------------------------------------------------------------------------------------


def test_a_memory_finds_the_feature_in_which_rows_must_be_alike():
    memory = learn(make_daily(600))
    unit = np.array([1.0, 40 / np.sqrt(12), 1.0])
    widths = memory.widths[:, 0] / unit
    assert (widths[:, 1] < 0.1).all()
    assert (widths[:, [0, 2]] > 0.5).all()
    new = make_daily(2_000, seed=1)
    left = np.sqrt(np.mean((new.y - memory.correct(new.X)) ** 2))
    assert left < 0.36  # the noise is 0.3, the days' own deviation 1


@pytest.mark.slow
def test_of_noise_mostly_nothing_is_remembered():
    memories = [learn(make_rows(300, 4, seed)) for seed in range(12)]
    assert sum(memory is not None for memory in memories) <= 4


@pytest.mark.parametrize("n_rows", [1, 2, 249])
def test_few_rows_are_not_remembered(n_rows):
    assert learn(make_daily(n_rows)) is None


def test_rows_of_which_few_have_nearly_all_weight_are_not_remembered():
    rows = make_daily(600)
    assert learn(rows._replace(weight=np.where(np.arange(600) % 3, 1e-6, 1.0))) is None
    assert learn(rows._replace(weight=np.where(np.arange(600) % 2, 1e-6, 1.0))) is not None


@pytest.mark.parametrize("size", [0.0, 1e-5])
def test_slight_errors_are_not_remembered(size):
    rows = make_daily(400)
    assert learn_memory(rows, (1 - size) * rows.y) is None
    assert learn_memory(rows, 0.9 * rows.y) is not None


def test_each_output_has_its_own_widths():
    rows = make_daily(600)
    noise = np.random.default_rng(3).normal(size=(600, 1))
    memory = learn(rows._replace(y=np.hstack([noise, rows.y, np.zeros((600, 1))])))
    assert np.isinf(memory.damping).all(axis=0).tolist() == [True, False, True]
    np.testing.assert_allclose(memory.widths[:, 1], learn(rows).widths[:, 0], rtol=1e-6)


def test_units_and_the_scale_of_weights_do_not_matter():
    rows = make_daily(400)
    scale, shift = np.array([1e-200, 1.0, 1e200]), np.array([5e-200, 0.0, -1e201])
    other = learn(Rows(rows.X * scale + shift, rows.y * 1e170, rows.weight * 7))
    memory = learn(rows)
    np.testing.assert_allclose(other.widths, memory.widths * scale, rtol=1e-3)
    corrections = other.correct(rows.X * scale + shift) / 1e170
    np.testing.assert_allclose(corrections, memory.correct(rows.X), rtol=1e-3, atol=1e-3)


def test_a_constant_column_and_threads_do_no_harm():
    rows = make_daily(400)
    memory = learn(rows._replace(X=np.column_stack([rows.X, np.full(400, 3.0)])), n_jobs=2)
    new = make_daily(1_000, seed=1)
    left = new.y - memory.correct(np.column_stack([new.X, np.full(1_000, 3.0)]))
    assert np.sqrt(np.mean(left**2)) < 0.4


def test_rows_are_remembered_up_to_a_bound():
    rng = np.random.RandomState(0)
    assert sorted(choose_rows(np.zeros((70, 3)), rng)) == list(range(70))
    for shape, n_rows in (((60_000, 2), 50_000), ((3_000, 1_000), 1_000)):
        chosen = choose_rows(np.broadcast_to(0.0, shape), rng)
        assert len(np.unique(chosen)) == n_rows


@pytest.mark.slow
def test_many_features_are_searched_for_the_one_that_counts():
    rows = make_daily(300)
    other = np.random.default_rng(7).normal(size=(300, 300))
    memory = learn(rows._replace(X=np.hstack([other, rows.X[:, [1]]])))
    assert (memory.widths[:, 0].argmin(axis=1) == np.arange(300)[:, None]).sum() == 0
    assert (memory.widths[:, 0, -1] / np.sqrt(40**2 / 12) < 0.1).all()


# -- the committee -----------------------------------------------------------------------------------------------------

SMALL = TSKRegressor(n_rules=2, recipe="droprule", max_iter=200)


@pytest.fixture(scope="module")
def daily():
    return make_daily(400)


@pytest.fixture(scope="module")
def fitted(daily):
    return TSKCommittee(4, SMALL, random_state=0).fit(daily.X, daily.y[:, 0])


def test_a_committee_adds_its_memory_to_the_mean(fitted, daily):
    mean = np.mean([member.predict(daily.X) for member in fitted.estimators_], axis=0)
    np.testing.assert_array_equal(fitted.predict(daily.X), mean + fitted.memory_.correct(daily.X)[:, 0])


def test_a_memory_makes_a_committee_more_accurate_and_the_error_out_of_fold_knows(fitted, daily):
    new = make_daily(2_000, seed=1)
    plain = TSKCommittee(4, SMALL, random_state=0, remember=False).fit(daily.X, daily.y[:, 0])
    error, plain_error = (np.sqrt(np.mean((model.predict(new.X) - new.y[:, 0]) ** 2)) for model in (fitted, plain))
    assert error < 0.5 * plain_error
    assert 0.85 < fitted.oof_rmse_ / error < 1.15


def test_far_rows_are_not_corrected_and_do_not_warn(fitted):
    with np.errstate(all="raise"):
        assert (fitted.memory_.correct(np.full((1, 3), 1e308)) == 0).all()


def test_a_prediction_does_not_make_the_pickle_larger(fitted, daily):
    fresh = pickle.loads(pickle.dumps(fitted))
    before = len(pickle.dumps(fresh))
    np.testing.assert_array_equal(fresh.predict(daily.X), fitted.predict(daily.X))
    assert len(pickle.dumps(fresh)) == before


def test_ctrl_c_leaves_the_committee_as_it_was(fitted, daily, monkeypatch):
    model = pickle.loads(pickle.dumps(fitted))

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("takagi.estimators._committee.learn_memory", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(daily.X[:300], -daily.y[:300, 0])
    np.testing.assert_array_equal(model.predict(daily.X), fitted.predict(daily.X))
    assert len(model.oof_prediction_) == 400


def test_errors_of_ridge_regression_on_a_straight_line_are_not_remembered(daily):
    model = TSKCommittee(4, random_state=0).fit(daily.X, daily.X @ [1.0, 2.0, 0.3] + 0.7)
    assert [member.stopped_ for member in model.estimators_] == ["ridge"] * 4
    assert model.memory_ is None


def test_a_talkative_committee_tells_what_it_remembers(daily, capsys):
    TSKCommittee(4, SMALL, random_state=0, verbose=1).fit(daily.X, daily.y[:, 0])
    assert "committee remembers 400 rows: out-of-fold RMSE 0." in capsys.readouterr().out


def test_without_a_memory_a_committee_holds_no_row(daily):
    model = TSKCommittee(4, SMALL, random_state=0, remember=False).fit(daily.X, daily.y[:, 0])
    assert model.memory_ is None
    mean = np.mean([member.predict(daily.X) for member in model.estimators_], axis=0)
    np.testing.assert_array_equal(model.predict(daily.X), mean)


def test_the_order_of_rows_copies_and_threads_do_not_change_the_memory(fitted, daily):
    order = np.random.default_rng(0).permutation(400)
    weight = np.where(np.arange(400) < 100, 2.0, 1.0)
    twice = np.r_[np.arange(400), np.arange(100)]
    shuffled = TSKCommittee(4, SMALL, random_state=0, n_jobs=2).fit(daily.X[order], daily.y[order, 0])
    np.testing.assert_array_equal(shuffled.predict(daily.X), fitted.predict(daily.X))
    weighted = TSKCommittee(4, SMALL, random_state=0).fit(daily.X, daily.y[:, 0], weight)
    copied = TSKCommittee(4, SMALL, random_state=0).fit(daily.X[twice], daily.y[twice, 0])
    np.testing.assert_array_equal(weighted.predict(daily.X), copied.predict(daily.X))


def test_rows_beyond_the_bound_are_corrected_by_those_that_are_remembered(daily, monkeypatch):
    monkeypatch.setattr(_memory, "_MOST_ROWS", 300)
    model = TSKCommittee(4, SMALL, random_state=0).fit(daily.X, daily.y[:, 0])
    assert len(model.memory_.rows) == 300
    assert np.isfinite(model.oof_prediction_).all()
    new = make_daily(1_000, seed=1)
    assert 0.8 < model.oof_rmse_ / np.sqrt(np.mean((model.predict(new.X) - new.y[:, 0]) ** 2)) < 1.25
