"""Short rules from rows: limits, truth, and what bad input gets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKCommittee, TSKRegressor, load, save
from takagi.fitting import Rows
from takagi.fitting._short import _fit
from takagi.fitting._short._workshop import open_workshop
from takagi.inspection import check_rules, export_text, measure_size


def make_steps(n_rows=400, n_features=4, noise=0.1, seed=0):
    """A target with another slope below and above a threshold."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, size=(n_rows, n_features))
    y = np.where(X[:, 0] < 4, 3 * X[:, 1], 20 - 2 * X[:, 2]) + noise * rng.normal(size=n_rows)
    return X, y


def short(**parameters):
    return TSKRegressor(recipe="short", random_state=0, **parameters)


@pytest.fixture(scope="module")
def steps():
    X, y = make_steps()
    return short(n_rules=3).fit(X, y), X, y


def test_rules_find_the_threshold_and_are_true(steps):
    model, _, _ = steps
    X, y = make_steps(seed=1)
    assert r2_score(y, model.predict(X)) > 0.97
    found = check_rules(model, X, y).summary
    assert found["holds"] > 0.95
    assert found["governs"] > 0.9
    assert found["outside"] == 0
    assert found["strongest"] < 1.6 * found["error"]
    assert "x0 below 4" in str(model.model_) or "x0 above 4" in str(model.model_)


@pytest.mark.filterwarnings("ignore:No split of the rows")
@pytest.mark.parametrize(("n_rules", "max_conditions", "max_terms"), [(1, 1, 1), (3, 1, 2), (5, 3, 4), (7, 2, 1)])
def test_limits_are_obeyed(n_rules, max_conditions, max_terms):
    X, y = make_friedman1(150, 6, noise=0.5, random_state=0)
    model = short(n_rules=n_rules, max_conditions=max_conditions, max_terms=max_terms).fit(X, y)
    size = measure_size(model)
    assert size.n_rules == model.n_rules_ <= n_rules
    assert size.max_conditions <= max_conditions
    assert size.max_terms <= max_terms
    assert model.recipe_ == "short"


def test_limits_choose_the_recipe_and_n_rules_does_not():
    X, y = make_steps(150)
    assert TSKRegressor(max_terms=2, random_state=0).fit(X, y).recipe_ == "short"
    assert TSKRegressor(n_rules=3, max_iter=20, random_state=0).fit(X, y).recipe_ == "accurate"


def test_the_same_seed_gives_the_same_rules(steps):
    model, X, y = steps
    assert clone(model).fit(X, y).model_ == model.model_


def test_no_center_is_outside_the_data():
    rng = np.random.default_rng(0)
    X = np.round(rng.uniform(0, 4, size=(400, 3))) * 0.1 + 0.7  # whose edges are values that many rows have
    y = np.where(X[:, 0] > 0.85, 5 * X[:, 1], -3 * X[:, 2]) + 0.05 * rng.normal(size=400)
    model = short(n_rules=3).fit(X, y)
    assert check_rules(model, X, y).summary["outside"] == 0
    for part in model.model_.parts:
        asked = np.isfinite(part.widths)
        assert ((part.centers >= X.min(axis=0)) & (part.centers <= X.max(axis=0)))[asked].all()


def test_units_do_not_matter(steps):
    model, X, y = steps
    other = clone(model).fit(X * 1000 + 5, y * 0.01 - 3)
    np.testing.assert_allclose(other.predict(X * 1000 + 5), model.predict(X) * 0.01 - 3, atol=2e-3)
    np.testing.assert_allclose(other.history_["train_loss"], 0.01 * model.history_["train_loss"], rtol=0.05)


def test_a_weight_of_three_is_three_rows():
    X, y = make_steps(200)
    weight = np.where(np.arange(200) < 50, 3, 1)
    weighted = short(n_rules=2).fit(X, y, sample_weight=weight)
    copies = short(n_rules=2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), copies.predict(X), atol=1e-8)


def test_several_targets_share_their_conditions():
    X, y = make_steps(300)
    model = short(n_rules=3).fit(X, np.column_stack([y, -2 * y + 1]))
    said = model.predict(X)
    assert said.shape == (300, 2)
    assert r2_score(y, said[:, 0]) > 0.95
    np.testing.assert_allclose(said[:, 1], -2 * said[:, 0] + 1, atol=0.05)
    assert measure_size(model).max_terms <= 4 * 2


@pytest.mark.filterwarnings("ignore:No split of the rows")  # of categories alone, a formula of their levels says all
def test_categories_and_missing_values_come_by_the_encoder():
    X, y = make_steps(300)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["kind"] = np.where(X[:, 0] < 4, "low", np.where(X[:, 1] < 5, "mid", "high"))
    table.loc[::10, "d"] = np.nan
    model = make_pipeline(TableEncoder(), short(n_rules=3)).fit(table.drop(columns="a"), y)
    assert r2_score(y, model.predict(table)) > 0.9
    assert "kind is low" in export_text(model)
    assert measure_size(model).max_conditions <= 3
    only = make_pipeline(TableEncoder(), short(n_rules=3)).fit(table[["kind"]], y)
    by_level = pd.Series(y).groupby(table["kind"]).transform("mean")
    assert r2_score(y, only.predict(table[["kind"]])) > 0.98 * r2_score(y, by_level)


def test_a_linear_target_is_one_rule_and_that_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, :3] @ [3.0, 2.0, -1.0] + 0.5 * rng.normal(size=200)
    with pytest.warns(UserWarning, match="a formula without conditions"):
        model = short().fit(X, y)
    assert model.n_rules_ == 1
    assert model.stopped_ == "no_change"


def test_formulas_that_always_hold_name_each_column_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 14))
    y = X @ np.linspace(0.5, 2.0, 14) + 0.1 * rng.normal(size=300)
    model = short().fit(X, y).model_
    used = [(part.consequents[0, 0, 1:15] != 0).astype(int) for part in model.parts if part.n_rules == 1]
    assert len(used) > 1
    assert np.sum(used, axis=0).max() == 1


def test_slopes_that_share_little_are_smaller():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    rows = Rows(X, rng.normal(size=(60, 1)), np.ones(60))
    penalties = [open_workshop(rows, noise, 0.1).task.ridge / noise for noise in (0.1, 0.8)]
    assert penalties[1] > 3 * penalties[0]


def test_pure_noise_is_the_mean_and_that_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200) + 7
    with pytest.warns(UserWarning, match="the model predicts its mean"):
        model = short().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert measure_size(model).n_terms == 0


def test_a_faint_trend_is_one_short_formula_and_that_is_said():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 7))
    y = 2 * X[:, 0] + X[:, 1] + 3 * rng.standard_t(3, size=60)
    with pytest.warns(UserWarning, match="do better than expected by chance: the model is one formula"):
        model = short().fit(X, y)
    assert (model.n_rules_, model.stopped_) == (1, "no_change")
    assert 1 <= measure_size(model).n_terms <= 4
    fresh = rng.normal(size=(500, 7))
    truth = 2 * fresh[:, 0] + fresh[:, 1]
    assert np.mean((model.predict(fresh) - truth) ** 2) < np.mean((y.mean() - truth) ** 2)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[0.0], [1.0]]), np.array([1.0, 2.0])),
        (np.ones((20, 3)), np.arange(20.0)),
        (np.random.default_rng(0).normal(size=(30, 2)), np.full(30, 4.0)),
    ],
    ids=["two rows", "constant columns", "constant target"],
)
@pytest.mark.filterwarnings("ignore:No column was found", "ignore:No split of the rows")
def test_tables_that_tell_little_still_have_a_model(X, y):
    model = short().fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.n_rules_ == 1
    if np.ptp(y) == 0:
        np.testing.assert_allclose(model.predict(X), 4.0)


def test_a_column_in_other_units_is_left_out_and_named():
    X, y = make_steps(200)
    table = pd.DataFrame(X, columns=["inches", "b", "c", "d"]).assign(
        cm=2.54 * X[:, 0], yes=X[:, 3] > 5, no=X[:, 3] <= 5
    )
    with pytest.warns(UserWarning, match=r"cm \(repeats inches\)\.$"):
        model = short().fit(table.astype(float), y)
    text = str(model.model_)
    assert "inches" in text
    assert "cm" not in text


def test_many_columns_are_screened():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = np.where(X[:, 17] > 0, 2 * X[:, 42], -X[:, 99])
    model = short(n_rules=3).fit(X, y)
    assert r2_score(y, model.predict(X)) > 0.5
    used = {m for part in model.model_.parts for m in np.flatnonzero(part.consequents[:, 0, 1:201].any(axis=0))}
    assert used <= set(range(200))
    assert {42, 99} & used


@pytest.mark.parametrize("parameter", ["n_rules", "max_conditions", "max_terms"])
@pytest.mark.parametrize("value", [0, -1, 2.5])
def test_limits_of_zero_or_less_are_refused(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        short(**{parameter: value}).fit(*make_steps(50))


def test_more_conditions_than_columns_are_no_harm():
    X, y = make_steps(100, n_features=3)
    assert measure_size(short(max_conditions=50).fit(X, y)).max_conditions <= 3


def test_cross_validation_chooses_the_size(monkeypatch):
    monkeypatch.setattr(_fit, "SIZES", (1, 2, 3))
    X, y = make_steps(120, n_features=3)
    model = short(n_rules="auto", max_conditions=1).fit(X, y)
    assert model.n_rules_ in (2, 3)
    assert [stage.name for stage in model.stages_] == ["noise", "sizes", "growing"]


@pytest.mark.filterwarnings("ignore:No split")
def test_few_rows_of_a_line_are_ridge_regression_and_few_rows_of_steps_are_rules():
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=1.0, size=(60, 6))
    y = X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2]
    fresh = rng.lognormal(sigma=1.0, size=(500, 6))
    line = short().fit(X, y)
    assert line.n_rules_ == 1
    assert line.model_.limits is None  # a law holds beyond the data
    np.testing.assert_allclose(line.predict(fresh), fresh[:, 0] - 2 * fresh[:, 1] + 0.5 * fresh[:, 2], atol=1e-3)
    assert short().fit(*make_steps(70)).n_rules_ > 1


def test_the_callback_is_told_and_can_end_the_growth():
    told = []

    def end(progress):
        told.append((progress.stage, progress.n_iter, progress.max_iter))
        return True

    X, y = make_steps(200)
    model = short(n_rules=7).fit(X, y, callback=end)
    assert told[0][0] == "growing"
    assert model.stopped_ == "callback"
    assert model.n_rules_ < 7


def test_ctrl_c_leaves_the_estimator_as_it_was(steps):
    model, X, y = steps
    before = model.model_

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, callback=interrupt)
    assert model.model_ is before


def test_streams_and_committees_refuse_short_rules(steps):
    model, X, y = steps
    with pytest.raises(ValueError, match="committees and streams cannot use it"):
        clone(model).partial_fit(X, y)
    with pytest.raises(ValueError, match="committees and streams cannot use it"):
        TSKCommittee(2, short(), random_state=0).fit(X, y)
    again = clone(model).set_params(warm_start=True)
    again.model_, again.recipe_ = model.model_, model.recipe_
    if len(model.model_.parts) > 1 or model.model_.first.bends:
        with pytest.raises(ValueError, match="as a whole"):
            again.fit(X, y)


def test_a_saved_model_is_the_same(steps, tmp_path):
    model, X, _ = steps
    save(model, tmp_path / "short.takagi")
    again = load(tmp_path / "short.takagi")
    assert again.model_ == model.model_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params() == model.get_params()


def test_rule_base_is_there_for_one_part_only():
    X, y = make_friedman1(300, 6, noise=0.5, random_state=0)
    model = short(n_rules=5).fit(X, y)
    assert len(model.model_.parts) > 1
    with pytest.raises(AttributeError, match="model_"):
        _ = model.rule_base_
    one = short(n_rules=1).fit(X, y)
    assert one.rule_base_ is one.model_.first


@pytest.mark.filterwarnings("ignore:No split of the rows")
@pytest.mark.parametrize("n_rows", [60, 300])
def test_a_target_that_is_the_sum_of_many_columns_is_found_exactly(n_rows):
    """Rules could only come near it; formulas that always hold say it."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(n_rows, 12))
    model = short().fit(X, X[:, 2:].sum(axis=1))
    new = rng.gamma(1.0, size=(100, 12))
    np.testing.assert_allclose(model.predict(new), new[:, 2:].sum(axis=1), rtol=1e-4)
    assert all(part.n_rules == 1 for part in model.model_.parts)
    assert measure_size(model).max_terms <= 4
