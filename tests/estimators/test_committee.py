import re
import signal
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import make_sum
from takagi import TSKCommittee, TSKRegressor
from takagi.estimators import _members
from takagi.fitting import Mix
from takagi.fitting._plan import count_rules

SMALL = TSKRegressor(n_rules=3, max_iter=200)


def committee(n_members=4, estimator=SMALL, **params):
    return TSKCommittee(n_members, estimator, **{"random_state": 0, "remember": False} | params)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(300, 5, noise=1.0, random_state=0)


@pytest.fixture(scope="module")
def fitted(friedman):
    return committee().fit(*friedman)


def test_the_prediction_is_the_mean_of_the_members(fitted, friedman):
    X, _ = friedman
    members = [member.predict(X) for member in fitted.estimators_]
    assert len(members) == 4
    assert np.ptp(members, axis=0).min() > 0
    np.testing.assert_array_equal(fitted.predict(X), np.mean(members, axis=0))


def test_firing_shares_are_those_of_all_members(fitted, friedman):
    X, _ = friedman
    share = fitted.firing_share(X)
    np.testing.assert_allclose(share.sum(axis=1), 1)
    np.testing.assert_allclose(4 * share[:, 3:6], fitted.estimators_[1].firing_share(X))


# -- folds -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_members_may_be_sums_of_rule_bases(n_outputs, friedman):
    X, y = friedman[0][:50], np.column_stack([friedman[1][:50]] * n_outputs)
    model = TSKCommittee(2, TSKRegressor(n_rules=2, max_iter=5), remember=False, random_state=0).fit(X, y)
    sums = [make_sum(np.random.default_rng(k), 2, n_outputs, n_features=X.shape[1]) for k in range(2)]
    for member, rules in zip(model.estimators_, sums, strict=True):
        member.model_ = rules
    np.testing.assert_allclose(model.predict(X), np.mean([rules.predict_raw(X) for rules in sums], axis=0), atol=1e-12)
    share = model.firing_share(X)
    assert share.shape == (50, sum(rules.n_rules for rules in sums))
    np.testing.assert_allclose(share.sum(axis=1), 2)  # one for each part


def test_members_are_trained_to_the_end_unless_held_out_rows_are_to_stop_them(friedman):
    whole, stopped = (
        committee(3, TSKRegressor(8, max_iter=400, n_iter_no_change=patience)).fit(*friedman).estimators_
        for patience in (None, 20)
    )
    for member in whole:
        assert (member.n_iter_, member.best_iter_, member.stopped_) == (400, 400, "max_iter")
        assert np.isnan(member.history_["val_loss"]).all()
    for member in stopped:
        assert not np.isnan(member.history_["val_loss"]).all()


def test_each_row_is_predicted_by_one_member_and_each_member_predicts_a_fold(fitted, friedman):
    X, _ = friedman
    by_member = np.array([member.predict(X) for member in fitted.estimators_])
    is_own = by_member == fitted.oof_prediction_
    assert (is_own.sum(axis=0) == 1).all()
    assert is_own.sum(axis=1).tolist() == [75, 75, 75, 75]


def test_the_member_that_predicts_a_row_was_not_trained_on_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1))
    y = X[:, 0].copy()
    X[17], y[17] = 6.0, 1000.0
    model = committee(estimator=TSKRegressor(n_rules=3, max_iter=2000)).fit(X, y)
    alone = np.array([member.predict(X[17:18])[0] for member in model.estimators_])
    assert abs(model.oof_prediction_[17]) < 50
    assert np.sum(alone > 200) == 3


def test_the_error_out_of_fold_is_near_that_on_new_rows(friedman):
    model = committee(8, None).fit(*friedman)
    X, y = make_friedman1(2000, 5, noise=1.0, random_state=1)
    error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    assert 0.85 < model.oof_rmse_ / error < 1.25


def test_equal_rows_share_a_fold_and_count_as_weight(friedman):
    X, y = friedman[0][:60], friedman[1][:60]
    repeated = committee().fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    weighted = committee().fit(X, y, np.full(60, 3.0))
    np.testing.assert_array_equal(repeated.predict(X), weighted.predict(X))
    np.testing.assert_array_equal(repeated.oof_prediction_, np.repeat(weighted.oof_prediction_, 3))
    assert repeated.oof_rmse_ == pytest.approx(weighted.oof_rmse_)


def test_the_order_of_rows_does_not_matter(fitted, friedman):
    X, y = friedman
    order = np.random.default_rng(0).permutation(len(X))
    other = committee().fit(X[order], y[order])
    np.testing.assert_array_equal(other.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(other.oof_prediction_, fitted.oof_prediction_[order])


def test_rows_without_weight_train_nothing_and_get_the_mean(fitted, friedman):
    X, y = friedman
    X_more, y_more = np.vstack([X, X[:9] + 0.1]), np.r_[y, np.full(9, 1e6)]
    model = committee().fit(X_more, y_more, np.r_[np.ones(300), np.zeros(9)])
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(model.oof_prediction_[300:], model.predict(X_more[300:]))
    assert model.oof_rmse_ == pytest.approx(fitted.oof_rmse_)


def test_threads_do_not_change_the_members(fitted, friedman):
    X, y = friedman
    np.testing.assert_array_equal(committee(n_jobs=2).fit(X, y).predict(X), fitted.predict(X))


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_fewer_rows_than_members_make_fewer_members():
    X, y = np.arange(5.0)[:, None], np.arange(5.0) ** 2
    with pytest.warns(UserWarning, match="5 distinct rows for 8 members, so 5 members are fitted"):
        model = committee(8, TSKRegressor(n_rules=2, max_iter=20)).fit(X, y)
    assert len(model.estimators_) == 5
    assert np.isfinite(model.oof_prediction_).all()


@pytest.mark.parametrize("estimator", [None, SMALL])
def test_two_different_rows_are_too_few(estimator):
    X, y = [[0.0], [1.0], [1.0], [1.0]], [0.0, 1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="at least 3 distinct rows with a positive weight, got 2"):
        committee(2, estimator).fit(X, y)


# -- the recipe --------------------------------------------------------------------------------------------------------


def test_penalties_are_measured_once_and_rules_are_counted_for_all_rows():
    X, y = make_friedman1(101, 5, noise=1.0, random_state=0)
    model = committee(8, TSKRegressor(max_iter=300)).fit(X, y)
    n_training = 101 - np.array([13] * 5 + [12] * 3)
    assert {member.rule_base_.profile.n_rows for member in model.estimators_} == {101}  # ranges are those of all rows
    for name in ("l2_", "smoothness_"):
        penalty = np.array([getattr(member, name) for member in model.estimators_])
        np.testing.assert_allclose(penalty * n_training, penalty[0] * n_training[0])
        assert penalty[0] > 0
    assert count_rules(101, 5) > count_rules(89, 5)
    assert [member.n_rules_ for member in model.estimators_] == [count_rules(101, 5), count_rules(101, 5) // 2] * 4
    assert {member.keep_prob_ for member in model.estimators_} == {1.0}


def test_given_settings_are_those_of_the_members(friedman):
    estimator = TSKRegressor(n_rules=5, keep_prob=1.0, l2=0.07, max_iter=50, init="kmeans", random_state=3)
    model = committee(3, estimator).fit(*friedman)
    for member in model.estimators_:
        assert (member.n_rules_, member.keep_prob_, member.l2_, member.init) == (5, 1.0, 0.07, "kmeans")
        assert member.smoothness_ > 0
    assert len({member.random_state for member in model.estimators_}) == 3
    assert estimator.smoothness == "auto"
    assert not hasattr(estimator, "rule_base_")


def test_members_are_ridge_regressions_where_one_does_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = X[:, 0] + 0.5 * rng.normal(size=200)
    model = committee(5, TSKRegressor(max_iter=2000)).fit(X, y)
    assert {member.stopped_ for member in model.estimators_} == {"ridge"}
    assert {member.n_rules_ for member in model.estimators_} == {1}
    assert (np.ptp([member.predict(X) for member in model.estimators_], axis=0) > 0).all()
    line = RidgeCV(np.logspace(-6, 5, 23)).fit(X, y)
    assert np.corrcoef(model.predict(X), line.predict(X))[0, 1] > 0.99
    assert np.sqrt(np.mean((model.predict(X) - y) ** 2)) < model.oof_rmse_


def test_all_rows_decide_how_much_of_the_members_is_rules(monkeypatch):
    X, y = make_friedman1(60, 5, noise=3.0, random_state=0)
    seen = []

    def give_half(rules, rows, splits):
        seen.append(np.sort(np.concatenate([judges.y[:, 0] for _, judges in splits])))
        return Mix(1.0, 0.5)

    half, none = committee(3, TSKRegressor(max_iter=300)), committee(3, TSKRegressor(max_iter=300))
    monkeypatch.setattr(_members, "mix_members", give_half)
    half.fit(X, y)
    np.testing.assert_array_equal(seen[0], np.sort(y))
    monkeypatch.setattr(_members, "mix_members", lambda *_: Mix(1.0, 0.0))
    none.fit(X, y)
    monkeypatch.setattr(_members, "mix_members", lambda *_: Mix())
    whole = committee(3, TSKRegressor(max_iter=300)).fit(X, y)
    np.testing.assert_allclose(half.predict(X), (none.predict(X) + whole.predict(X)) / 2)


def test_in_a_large_table_pilots_decide_and_rows_are_not_kept(monkeypatch, friedman):
    usual = committee(3, TSKRegressor(max_iter=300)).fit(*friedman)
    monkeypatch.setattr(_members, "_MANY_CELLS", 0)
    monkeypatch.setattr(_members, "mix_members", None)
    large = committee(3, TSKRegressor(max_iter=300)).fit(*friedman)
    np.testing.assert_allclose(large.predict(friedman[0]), usual.predict(friedman[0]))  # both are rules alone


# -- data --------------------------------------------------------------------------------------------------------------


def test_members_know_the_names_and_can_be_used_alone():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["speed", "load"])
    model = committee().fit(X, (X["speed"] * X["load"]).rename("wear"))
    member = model.estimators_[0]
    assert model.feature_names_in_.tolist() == member.feature_names_in_.tolist() == ["speed", "load"]
    assert member.rule_base_.output_names == ("wear",)
    assert member.predict(X).shape == model.predict(X).shape == (60,)


def test_several_targets(friedman):
    X, y = friedman
    model = committee().fit(X, np.column_stack([y, -2 * y]))
    assert model.predict(X).shape == model.oof_prediction_.shape == (300, 2)
    assert model.oof_rmse_.shape == (2,)
    errors = np.column_stack([y, -2 * y]) - model.oof_prediction_
    np.testing.assert_allclose(model.oof_rmse_, np.sqrt((errors**2).mean(axis=0)))
    assert committee().fit(X, y[:, None]).predict(X).shape == (300, 1)


def test_a_search_sets_parameters_of_the_members(friedman):
    search = GridSearchCV(committee(2), {"estimator__n_rules": [1, 4]}, cv=2).fit(*friedman)
    assert search.best_estimator_.estimators_[0].n_rules_ == search.best_params_["estimator__n_rules"]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (make_pipeline(StandardScaler(), SMALL), r"must be a TSKRegressor, got a Pipeline.*make_pipeline"),
        (RidgeCV(), "must be a TSKRegressor, got a RidgeCV"),
        (TSKRegressor, r"got the class; write TSKRegressor\(\)"),
    ],
)
def test_another_estimator_is_refused(estimator, message, friedman):
    with pytest.raises(TypeError, match=message):
        TSKCommittee(estimator=estimator).fit(*friedman)


def test_one_member_is_no_committee(friedman):
    with pytest.raises(ValueError, match="'n_members' parameter of TSKCommittee must be an int in the range"):
        TSKCommittee(1).fit(*friedman)


def test_verbose_tells_the_error_of_each_member(friedman, capsys):
    committee(verbose=1).fit(*friedman)
    assert capsys.readouterr().out.count("[takagi] member with 3 rules: RMSE ") == 4


@pytest.mark.filterwarnings("ignore:Training was interrupted")
@pytest.mark.parametrize("n_rules", ["auto", 3])
def test_ctrl_c_ends_the_fit(n_rules, friedman):
    model = committee(estimator=TSKRegressor(n_rules, max_iter=10**6))
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*friedman)
    assert not hasattr(model, "estimators_")


def test_the_example_of_the_guide_runs(capsys):
    guide = (Path(__file__).parents[2] / "docs" / "committee.md").read_text()
    exec(re.findall(r"```python\n(.*?)```", guide, re.DOTALL)[0], {})
    printed = capsys.readouterr().out
    assert "error on new rows: about 5" in printed
    assert "Member 8 says" in printed
