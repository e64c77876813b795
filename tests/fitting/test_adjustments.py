"""Adjustments: what rules leave over that goes with single values of a column."""

import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss

from takagi import (
    RuleBase,
    RuleModel,
    TSKClassifier,
    TSKCommittee,
    TSKCommitteeClassifier,
    TSKRegressor,
    load,
    save,
)
from takagi.export import to_fis, to_onnx
from takagi.fitting import Rows, learn_adjustments
from takagi.inspection import explain_local
from takagi.training import LogLoss, SquaredError

SCHOOLS = 24


def make_schools(n_rows=480, seed=0):
    """Return a table of pupils whose score depends on their hours and their school, and the part of the school."""
    rng = np.random.default_rng(seed)
    level = 3 * rng.normal(size=SCHOOLS)
    school = rng.integers(SCHOOLS, size=n_rows)
    X = pd.DataFrame({"school": 100.0 + school, "hours": rng.uniform(0, 10, n_rows)})
    score = 50 + 2 * X["hours"] + level[school] + rng.normal(size=n_rows)
    return X, score.rename("score"), level[school]


def fit(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.fixture(scope="module")
def schools():
    X, y, _ = make_schools()
    model = TSKRegressor(max_iter=500, n_teachers=0, random_state=0)
    return fit(model, X[:320], y[:320]), X, y


def learn(X, y, weight=None, n_most=3, loss=None, outputs=None):
    y = np.asarray(y, dtype=float).reshape(len(X), -1)
    rows = Rows(np.asarray(X, dtype=float), y, np.ones(len(X)) if weight is None else weight)
    return learn_adjustments(rows, np.zeros_like(y) if outputs is None else outputs, n_most, loss or SquaredError())


def test_the_values_are_shrunk_means_and_the_honest_ones_are_those_without_the_row():
    rng = np.random.default_rng(1)
    X, weight = rng.integers(5, size=(200, 1)).astype(float), rng.uniform(0.5, 2.0, 200)
    y = 4 * (X[:, 0] % 2) - 2 + rng.normal(size=200)
    (found,) = learn(X, y, weight, n_most=1).found
    scaled = weight / weight.mean()
    group = X[:, 0].astype(int)
    total, sums = np.bincount(group, scaled), np.bincount(group, scaled * y)
    shrinkage = sums[0] / found.values[0, 0] - total[0]
    assert round(shrinkage, 6) in (1.0, 3.0, 10.0, 30.0, 100.0)
    np.testing.assert_allclose(found.values[:, 0], sums / (total + shrinkage), rtol=1e-9)
    for row in (0, 7, 100):  # learned again without it, by hand
        kept = np.arange(200) != row
        alike = kept & (group == group[row])
        expected = (scaled[alike] @ y[alike]) / (scaled[alike].sum() + shrinkage)
        assert found.honest[row, 0] == pytest.approx(expected, rel=1e-9)


def test_leave_one_out_tells_the_error_on_new_rows():
    X, _, level = make_schools(2400, seed=3)
    y = level + np.random.default_rng(4).normal(size=2400)
    found = learn(X[:1200], y[:1200])
    (one,) = found.found
    new = np.interp(X["school"][1200:], one.centers, one.values[:, 0])
    seen, honest = (np.sqrt(np.mean((y[:1200] - part[:, 0]) ** 2)) for part in (one.added, one.honest))
    assert found.optimism == pytest.approx(honest / seen)
    assert found.optimism > 1.005
    assert honest == pytest.approx(np.sqrt(np.mean((y[1200:] - new) ** 2)), rel=0.08)


def test_noise_is_hardly_ever_adjusted_for():
    rng = np.random.default_rng(0)
    tables = [(rng.normal(size=(300, 8)), rng.normal(size=300)) for _ in range(30)]
    assert sum(bool(learn(X, y).found) for X, y in tables) <= 2


def test_neither_the_unit_of_weights_nor_the_order_of_rows_matters():
    X, _, level = make_schools(200)
    weight = np.where(np.arange(200) % 2, 3.0, 1.0)
    one = learn(X, level, weight).found[0]
    same = learn(X.to_numpy()[::-1], level[::-1], 5 * weight[::-1]).found[0]
    np.testing.assert_allclose(same.values, one.values, rtol=1e-9)


def test_values_that_differ_by_rounding_are_one():
    X, _, level = make_schools(400)
    noisy = X.copy()
    noisy.loc[::2, "school"] += 1e-11
    one, other = (learn(table, level).found[0] for table in (X, noisy))
    np.testing.assert_allclose(other.values, one.values, rtol=1e-9)


def test_every_group_governs_its_own_values():
    rng = np.random.default_rng(0)
    x = np.exp(2 * rng.normal(size=3000))
    y = np.floor(4 * np.log(x)) % 2 + 0.1 * rng.normal(size=3000)
    found = learn(x[:, None], y)
    main = RuleBase([[0.0]], [[np.inf]], [[[0.0, 0.0]]])
    (one,) = found.found
    np.testing.assert_allclose(found.predict(main, x[:, None]), one.added, atol=0.51 * np.ptp(one.values))
    close = np.abs(found.predict(main, x[:, None]) - one.added).ravel() < 0.02
    assert close.mean() > 0.8
    beyond = found.predict(main, np.array([[x.min() - np.ptp(x)], [x.max() + np.ptp(x)]])).ravel()
    np.testing.assert_allclose(beyond, one.values[[0, -1], 0], atol=1e-3)


def test_several_columns_are_adjusted_for_one_after_the_other():
    rng = np.random.default_rng(0)
    X = rng.integers(12, size=(900, 3)).astype(float)
    parts = rng.normal(size=(2, 12))
    y = 2 * parts[0, X[:, 0].astype(int)] + parts[1, X[:, 2].astype(int)] + 0.3 * rng.normal(size=900)
    found = learn(X, y).found
    assert [one.feature for one in found] == [0, 2]
    assert len(learn(X, y, n_most=1).found) == 1
    left = y - sum(one.added[:, 0] for one in found)
    assert left.std() < 0.35


def test_many_values_are_taken_together_in_groups_with_round_limits():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 3000)
    (found,) = learn(x[:, None], np.sin(40 * x) + 0.3 * rng.normal(size=3000)).found
    assert 16 <= len(found.values) <= 256
    limits = found.intervals[1:, 0]
    np.testing.assert_array_equal(limits, found.intervals[:-1, 1])
    assert np.median([len(f"{limit:.10g}") for limit in limits]) <= 6
    assert found.intervals[0, 0] == -np.inf
    assert found.intervals[-1, 1] == np.inf


def test_two_outputs_share_the_groups():
    X, _, level = make_schools()
    found = learn(X, np.column_stack([level, -100 * level])).found[0]
    np.testing.assert_allclose(found.values[:, 1], -100 * found.values[:, 0], rtol=1e-9)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(300) % 7 * 1e298,
        np.arange(300) % 7 * 1e-310,
        np.arange(300) % 7 * 5e-324,
        1 + np.arange(300) % 7 * 1e-15,
        np.where(np.arange(300) < 290, np.nan, 1.0),
        np.zeros(300),
        np.arange(300.0),
    ],
)
def test_extreme_columns_are_left_alone_or_adjusted_for_in_finite_numbers(column):
    y = np.arange(300) % 7 - 3.0
    model = TSKRegressor(max_iter=50, n_teachers=0, random_state=0)
    X = np.column_stack([column, np.random.default_rng(0).normal(size=300)])
    assert np.isfinite(fit(model, X, y).predict(X)).all()


# -- in estimators -----------------------------------------------------------------------------------------------------


def test_a_default_fit_adjusts_for_schools(schools):
    model, X, y = schools
    main, adjustment = model.model_.parts
    assert np.isfinite(adjustment.widths).any(axis=0).tolist() == [True, False]
    assert not adjustment.consequents[:, :, 1:].any()
    plain = fit(TSKRegressor(max_iter=500, n_teachers=0, n_adjustments=0, random_state=0), X[:320], y[:320])
    errors = [np.sqrt(np.mean((one.predict(X[320:]) - y[320:]) ** 2)) for one in (model, plain)]
    assert errors[0] < 0.7 * errors[1]
    assert model.n_rules_ == main.n_rules + adjustment.n_rules
    with pytest.raises(AttributeError, match="n_adjustments=0"):
        model.rule_base_  # noqa: B018


def test_rules_are_learned_again_without_what_is_adjusted_for(schools):
    model, _, y = schools
    assert [stage.name for stage in model.stages_] == ["pilots", "training", "pilots", "training"]
    profile = model.model_.profile  # of the whole target
    assert profile.output_quantiles[[0, -1], 0].tolist() == [y[:320].min(), y[:320].max()]


def test_ctrl_c_in_the_first_fit_ends_it(schools):
    _, X, y = schools

    def stop(progress):
        if progress.stage == "training":
            raise KeyboardInterrupt

    model = TSKRegressor(max_iter=1000, n_teachers=0, random_state=0)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(X[:320], y[:320], callback=stop)
    assert model.stopped_ == "interrupted"
    assert [stage.name for stage in model.stages_] == ["pilots", "training"]


def test_ctrl_c_in_the_second_fit_keeps_the_first(schools):
    _, X, y = schools
    calls = []

    def stop(progress):
        calls.append(progress.stage)
        if calls.count("training") and progress.stage == "pilots":
            raise KeyboardInterrupt

    model = TSKRegressor(max_iter=500, n_teachers=0, random_state=0)
    with pytest.warns(UserWarning, match="first of two fits"):
        model.fit(X[:320], y[:320], callback=stop)
    assert len(model.model_.parts) == 2
    assert np.isfinite(model.predict_interval(X)).all()


def test_where_the_school_is_missing_the_mean_of_its_rules_is_added():
    X, y, _ = make_schools()
    X.loc[::9, "school"] = np.nan
    model = fit(TSKRegressor(max_iter=500, n_teachers=0, random_state=0), X, y)
    main, adjustment = model.model_.parts
    mean = adjustment.consequents[:, 0, 0].mean()
    np.testing.assert_allclose(adjustment.predict(X.iloc[::9]), mean, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), main.predict(X) + adjustment.predict(X), rtol=1e-12)


def test_a_school_that_is_missing_only_later_gets_the_mean_of_the_rules(schools):
    model, X, _ = schools
    _, adjustment = model.model_.parts
    row = X.head(1).assign(school=np.nan)
    mean = adjustment.consequents[:, 0, 0].mean()
    assert adjustment.predict(row)[0] == pytest.approx(mean, rel=1e-9)


def test_parts_made_by_hand_are_not_listed():
    part = RuleBase(np.arange(4.0)[:, None], np.ones((4, 1)), np.zeros((4, 1, 2)))
    assert "Rule 2" in str(RuleModel([RuleBase([[0.0]], [[1.0]], [[[0.0, 1.0]]]), part]))


def test_an_adjustment_reads_as_a_list_of_values(schools):
    model, X, _ = schools
    text = str(model.model_)
    first = model.model_.first.n_rules + 1
    assert f"Rules {first} to {first + SCHOOLS - 1}, by school\n  ADD to score: 100: " in text
    assert max(map(len, text.splitlines())) <= 80
    assert "adds" in str(explain_local(model, X.head(1)))


def test_intervals_heed_adjustments(schools):
    model, X, y = schools
    low, high = model.predict_interval(X[320:], coverage=0.9).T
    assert 0.8 < np.mean((low <= y[320:]) & (y[320:] <= high)) < 0.99
    assert np.mean(high - low) < 8


def test_copies_that_calibrate_have_adjustments_too(schools):
    _, X, y = schools
    model = fit(TSKRegressor(max_iter=300, n_teachers=0, random_state=0), X[:320], y[:320])
    model.calibrate(X[:320], y[:320], cv=4)
    low, high = model.predict_interval(X[320:], coverage=0.9).T
    assert 0.8 < np.mean((low <= y[320:]) & (y[320:] <= high)) < 0.99
    assert np.mean(high - low) < 6


def test_exports_predict_the_same(schools):
    model, X, y = schools
    holes = X.copy()
    holes.loc[::9, "school"] = np.nan
    for one, table in ((model, X), (fit(TSKRegressor(max_iter=100, n_teachers=0, random_state=0), holes, y), holes)):
        session = onnxruntime.InferenceSession(to_onnx(one).SerializeToString())
        (said,) = session.run(None, {session.get_inputs()[0].name: table.to_numpy()})
        np.testing.assert_allclose(said.ravel(), one.predict(table), rtol=1e-9)
        assert len(one.model_.parts) == 2


def test_a_saved_model_is_the_same(schools, tmp_path):
    model, X, _ = schools
    save(model, tmp_path / "schools.takagi")
    again = load(tmp_path / "schools.takagi")
    assert again.model_ == model.model_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_given_numbers_of_rules_and_other_recipes_have_adjustments_only_on_request(schools):
    _, X, y = schools
    settings = {"max_iter": 200, "random_state": 0}
    assert len(fit(TSKRegressor(3, **settings), X, y).model_.parts) == 1
    assert len(fit(TSKRegressor(3, n_adjustments=1, **settings), X, y).model_.parts) == 2
    assert len(fit(TSKRegressor(3, recipe="droprule", n_adjustments=1, **settings), X, y).model_.parts) == 2
    short = {"recipe": "short", "random_state": 0}
    n_parts = [len(fit(TSKRegressor(2, n_adjustments=n, **short), X, y).model_.parts) for n in (0, 1)]
    assert n_parts[1] == n_parts[0] + 1


def test_warm_starts_go_on_from_the_main_rules_and_streams_refuse(schools):
    model, X, y = schools
    again = fit(TSKRegressor(max_iter=100, n_teachers=0, warm_start=True, random_state=0), X[:320], y[:320])
    n_rules = again.model_.first.n_rules
    again = fit(again, X[:320], y[:320])
    assert [part.n_rules for part in again.model_.parts] == [n_rules, SCHOOLS]
    with pytest.raises(ValueError, match="n_adjustments=0"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="n_adjustments=0"):
        to_fis(model)


@pytest.mark.parametrize("wrong", [-1, 1.5, "many", None])
def test_a_wrong_number_of_adjustments_is_refused(wrong, schools):
    _, X, y = schools
    with pytest.raises(ValueError, match="n_adjustments"):
        TSKRegressor(n_adjustments=wrong).fit(X, y)


def test_a_line_that_leaves_nothing_has_no_adjustments():
    X, _, _ = make_schools()
    model = fit(TSKRegressor(max_iter=100, random_state=0), X, 3 * X["hours"] + X["school"])
    assert len(model.model_.parts) == 1


def test_a_committee_adjusts_all_members_alike():
    X, y, _ = make_schools(200)
    settings = {"max_iter": 300, "n_teachers": 0}
    model = fit(TSKCommittee(4, TSKRegressor(**settings), random_state=0), X, y)
    assert model.memory_ is None
    parts = [member.model_.parts for member in model.estimators_]
    assert all(len(one) == 2 for one in parts)
    values = [one[1].consequents[:, 0, 0] for one in parts]
    np.testing.assert_array_equal(values[0], values[3])
    plain = fit(TSKCommittee(4, TSKRegressor(n_adjustments=0, **settings), random_state=0), X, y)
    assert model.oof_rmse_ < 0.8 * plain.oof_rmse_
    new, truth, _ = make_schools(400)
    error = np.sqrt(np.mean((model.predict(new[200:]) - truth[200:]) ** 2))
    assert model.oof_rmse_ == pytest.approx(error, rel=0.35)


# -- classes -----------------------------------------------------------------------------------------------------------


def make_classes(n_rows=900):
    X, _, level = make_schools(n_rows)
    chance = expit(0.5 * (X["hours"] - 5) + level)
    return X, np.random.default_rng(5).random(n_rows) < chance


def test_classes_are_adjusted_for_on_the_scale_of_log_odds():
    X, y = make_classes()
    settings = {"max_iter": 300, "n_teachers": 0, "random_state": 0}
    losses = {}
    for n in (0, "auto"):
        model = fit(TSKClassifier(n_adjustments=n, **settings), X[:600], y[:600])
        losses[n] = log_loss(y[600:], model.predict_proba(X[600:]))
    assert losses["auto"] < 0.95 * losses[0]
    assert len(model.model_.parts) == 2
    assert model.predict_proba(X[:600])[:, 1].mean() == pytest.approx(y[:600].mean(), abs=1e-3)
    together = fit(
        TSKCommitteeClassifier(4, TSKClassifier(max_iter=300, n_teachers=0), random_state=0), X[:600], y[:600]
    )
    assert log_loss(y[600:], together.predict_proba(X[600:])) < 0.95 * losses[0]
    assert together.oof_log_loss_ < losses[0]


def test_scores_of_several_classes_sum_to_zero_in_adjustments():
    rng = np.random.default_rng(0)
    school = rng.integers(9, size=600)
    code = np.where(rng.random(600) < 0.8, school % 3, rng.integers(3, size=600))
    found = learn(school[:, None].astype(float), np.eye(3)[code], loss=LogLoss(), outputs=np.zeros((600, 3))).found
    np.testing.assert_allclose(found[0].values.sum(axis=1), 0, atol=1e-9)
    assert (found[0].values.argmax(axis=1) == np.arange(9) % 3).all()
