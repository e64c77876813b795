import sys
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sums import diabetes_sum, fit_sum, make_part
from takagi import Bend, RuleBase, RuleModel, TSKRegressor
from takagi._model import open_model
from takagi.inspection import SimplificationDisplay, check_rules, export_text, measure_size
from takagi.persistence import load, save
from takagi.simplification import _curve, simplify


def make_data(n_rows=300, seed=0):
    """Return rows of four features, of which the last has no effect on the target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-2, 2, (n_rows, 4)) * [1, 10, 100, 1] + [0, 5, 0, 3], columns=list("abcd"))
    y = np.sin(2 * X["a"]) + 0.1 * X["b"] * (X["c"] > 0) + 0.05 * rng.normal(size=n_rows)
    return X, y.rename("out")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_data()
    return TSKRegressor(8, recipe="droprule", max_iter=1000, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def few():
    """A small model, which is simplified in a moment."""
    X, y = make_data(120)
    return TSKRegressor(3, recipe="droprule", max_iter=200, random_state=0).fit(X[["a", "b"]], y), X[["a", "b"]], y


@pytest.fixture(scope="module")
def result(fitted):
    model, X, y = fitted
    X_val, y_val = make_data(200, seed=1)
    return simplify(model, X, y, X_val=X_val, y_val=y_val, max_loss=0.02)


def fit_several(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = np.column_stack([X.sum(axis=1), 100 * X[:, 0] * X[:, 1]])
    return TSKRegressor(5, recipe="droprule", max_iter=300, random_state=0, **options).fit(X, Y), X, Y


def rmse(model, X, y):
    return float(np.sqrt(np.mean((np.asarray(model.predict(X)) - np.asarray(y)) ** 2)))


# -- the curve ---------------------------------------------------------------------------------------------------------


def test_curve_tells_what_its_models_score(fitted, result):
    model, X, y = fitted
    X_val, y_val = make_data(200, seed=1)
    first = rmse(model, X_val, y_val)
    for point in result.curve[::7]:
        assert point.val_loss == pytest.approx(rmse(point.model, X_val, y_val), rel=1e-9)
        assert point.train_loss == pytest.approx(rmse(point.model, X, y), rel=1e-9)
        assert point.loss == pytest.approx(point.val_loss / first - 1, abs=1e-9)


def test_curve_starts_with_the_model_and_ends_with_a_number(fitted, result):
    first, last = result.curve[0], result.curve[-1]
    assert first.model == fitted[0].model_
    assert (first.n_rules, first.n_conditions, first.loss) == (8, measure_size(fitted[0]).n_conditions, 0.0)
    assert (last.n_rules, last.n_conditions, last.n_terms, last.n_words) == (1, 0, 0, 1)


def test_words_never_grow_and_are_those_of_the_rules(result):
    words = [point.n_words for point in result.curve]
    assert (np.diff(words) < 0).all()
    for point in result.curve:
        size = measure_size(point.model)
        assert point.n_words == size.n_rules + size.n_conditions + size.n_terms
        assert (point.max_conditions, point.max_terms) == (size.max_conditions, size.max_terms)


def test_every_kind_of_move_is_taken(result):
    actions = " ".join(point.action for point in result.curve)
    for part in ("condition", "rule", "term"):
        assert part in actions


def test_centers_stay_within_the_data_and_conditions_mean_intervals(fitted, result):
    _, X, _ = fitted
    for point in result.curve[1:]:
        rules = point.model.first
        asks = np.isfinite(rules.widths)
        assert ((rules.centers >= X.min().to_numpy()) & (rules.centers <= X.max().to_numpy()))[asks].all()
        assert np.isfinite(rules.intervals).any(axis=2)[asks].all()


def test_frame_marks_what_no_other_point_beats(result):
    table = result.to_frame()
    assert len(table) == len(result.curve)
    for row in table.itertuples():
        beaten = (table["n_words"] <= row.n_words) & (table["val_loss"] < row.val_loss)
        beaten |= (table["n_words"] < row.n_words) & (table["val_loss"] <= row.val_loss)
        assert row.is_pareto == (not beaten.any())


# -- the choice --------------------------------------------------------------------------------------------------------


def test_default_limits_are_those_of_short_rules(few):
    default, limited = simplify(*few), simplify(*few, max_rules=5, max_conditions=3, max_terms=4)
    assert default.rule_base == limited.rule_base
    assert default.at().step == default.step


def test_a_loss_chooses_the_fewest_words_within_it(result):
    within = [point for point in result.curve if point.loss <= 0.02]
    assert result.loss <= 0.02
    assert result.n_words == min(point.n_words for point in within) < result.curve[0].n_words


def test_limits_of_size_choose_the_smallest_error_within_them(result):
    chosen = result.at(max_rules=4, max_conditions=2)
    within = [point for point in result.curve if point.n_rules <= 4 and point.max_conditions <= 2]
    assert chosen.rule_base.n_rules <= 4
    assert np.isfinite(chosen.rule_base.widths).sum(axis=1).max() <= 2
    assert chosen.point.val_loss == min(point.val_loss for point in within)


def test_limits_per_rule_hold_from_the_first_step_on(few):
    result = simplify(*few, max_rules=5, max_conditions=2, max_terms=1)
    assert result.point.n_rules <= 5
    assert all(point.max_conditions <= 2 and point.max_terms <= 1 for point in result.curve[1:])
    assert result.at(max_rules=2).point.n_rules <= 2


def test_rules_are_never_less_true(fitted, result):
    model, X, y = fitted
    before = check_rules(model, X, y).summary
    for chosen in (result, result.at(max_rules=3), result.at(max_loss=0.5)):
        after = check_rules(chosen.model, X, y).summary
        assert after["holds"] >= min(before["holds"], 0.95)
        assert after["governs"] >= min(before["governs"], 0.95)
        assert after["outside"] == 0.0


def test_a_point_with_less_true_rules_is_passed_over(fitted, result):
    """The curve gets a point that is best by far, but whose words mean other rows than those that it governs."""
    best = result.at(max_rules=3).point
    rules = best.model.first
    wrong = np.where(np.isfinite(rules.intervals), -rules.intervals[..., ::-1] + 1e3, rules.intervals)
    false = RuleModel((replace(rules, intervals=wrong),))
    curve = (*result.curve, replace(best, step=len(result.curve), val_loss=0.0, model=false))
    assert replace(result, curve=curve).at(max_rules=3).step == best.step


def test_limits_of_both_kinds_choose_the_fewest_words_within_all(result):
    chosen = result.at(max_loss=5.0, max_rules=4)
    within = [point for point in result.curve if point.n_rules <= 4 and point.loss <= 5.0]
    assert chosen.n_words == min(point.n_words for point in within)


def test_limits_out_of_reach_say_what_is_in_reach(result):
    least = min(point.loss for point in result.curve if point.n_rules == 1)
    with pytest.raises(ValueError, match=rf"out of reach with max_rules=1: the smallest loss there is {least:.4g}"):
        result.at(max_loss=0.0, max_rules=1)


def test_at_leaves_the_first_choice_as_it_is(fitted, result):
    before = result.model.predict(fitted[1])
    other = result.at(max_rules=1)
    assert other.rule_base.n_rules == 1
    assert other.curve is result.curve
    np.testing.assert_array_equal(result.model.predict(fitted[1]), before)


@pytest.mark.parametrize(
    "limits",
    [{"max_loss": -0.1}, {"max_loss": "2 %"}, {"max_loss": float("nan")}, {"max_rules": 0}, {"max_rules": 2.5},
     {"max_rules": True}, {"max_conditions": -1}, {"max_terms": 0.5}],
)  # fmt: skip
def test_bad_limits_are_rejected(fitted, result, limits):
    (name,) = limits
    with pytest.raises(ValueError, match=f"{name} must be"):
        simplify(*fitted, **limits)
    with pytest.raises(ValueError, match=f"{name} must be"):
        result.at(**limits)


# -- the model ---------------------------------------------------------------------------------------------------------


def test_result_is_an_ordinary_model(fitted, result, tmp_path):
    model, X, _ = fitted
    np.testing.assert_allclose(result.model.predict(X), result.rule_base.predict(X), rtol=1e-12)
    assert isinstance(result.model, TSKRegressor)
    assert result.model is not model
    assert model.rule_base_.n_rules == 8
    assert "THEN out" in export_text(result.model)
    save(result.model, tmp_path / "small.takagi")
    np.testing.assert_array_equal(load(tmp_path / "small.takagi").predict(X), result.model.predict(X))


def test_rules_have_a_fresh_profile_and_its_order(fitted, result):
    _, X, y = fitted
    profile = result.rule_base.profile
    assert profile.n_rows == len(X)
    np.testing.assert_allclose(profile.share, result.rule_base.firing_share(X).mean(axis=0), rtol=1e-9)
    assert (np.diff(profile.share) <= 0).all()
    assert profile.output_quantiles[-1, 0] == y.max()


def test_an_irrelevant_feature_loses_its_conditions_and_terms(result):
    at_ten = result.at(max_loss=0.1).rule_base
    assert not np.isfinite(at_ten.widths[:, 3]).any()
    assert not at_ten.consequents[:, 0, 4].any()


def test_text_says_what_was_reached_and_how_to_go_on(result):
    text = str(result)
    before, after = (point.n_conditions for point in (result.curve[0], result.point))
    assert text.startswith(f"8 rules, {before} conditions -> {result.point.n_rules} rules, {after} conditions at ")
    assert ".at(max_loss=" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "loss" in repr(result)


def test_same_seed_gives_the_same_result(few):
    first, again, other = (simplify(*few, random_state=seed) for seed in (0, 0, 1))
    assert first.rule_base == again.rule_base
    assert [p.val_loss for p in first.curve] == [p.val_loss for p in again.curve]
    assert first.curve[0].val_loss != other.curve[0].val_loss


def test_a_callback_is_told_each_point(few):
    told = []
    result = simplify(*few, callback=told.append)
    assert tuple(told) == result.curve


def test_verbose_prints_each_step(few, capsys):
    result = simplify(*few, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(result.curve)
    assert lines[0].startswith("[takagi] step 0, as fitted: 3 rules, ")
    assert lines[0].endswith(f"{result.curve[0].n_words} words, loss 0.0 %")


def test_rules_that_became_equal_are_one_rule():
    """Where nothing but a line is left, two rules without conditions would say it twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=200)
    model = TSKRegressor(6, recipe="droprule", max_iter=300, random_state=0).fit(X, y)
    result = simplify(model, X, y, max_rules=3, max_conditions=1)
    assert all(point.n_rules == 1 or point.n_conditions for point in result.curve)


# -- kinds of models ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((2, 5))], ids=["standard", "minmax"])
def test_pipeline_with_a_scaler_is_simplified_in_its_units(fitted, scaler):
    _, X, y = fitted
    model = make_pipeline(scaler, TSKRegressor(4, recipe="droprule", max_iter=500, random_state=0)).fit(X, y)
    before = model.predict(X)
    result = simplify(model, X, y, max_rules=3)
    rules = open_model(result.model).rules
    assert result.rule_base == rules
    assert rules.n_rules <= 3
    np.testing.assert_allclose(result.model.predict(X), rules.predict(X), rtol=1e-9)
    assert rules.profile.span(1) == pytest.approx((X["b"].min(), X["b"].max()))
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.slow
def test_pipeline_over_a_table_is_simplified(cars):
    model, table, price = cars
    result = simplify(model, table, price, max_rules=3)
    matrix = open_model(result.model).encode(table)
    assert result.point.n_rules <= 3
    assert result.n_words < result.curve[0].n_words
    np.testing.assert_allclose(result.model.predict(table), result.rule_base.predict(matrix), rtol=1e-9)
    assert "price" in export_text(result.model)


def test_a_bare_rule_base_is_simplified_to_a_rule_base(few):
    model, X, y = few
    result = simplify(model.rule_base_, X, y)
    assert isinstance(result.model, RuleBase)
    assert result.rule_base == simplify(model, X, y).rule_base


def test_the_best_model_of_a_search_is_simplified(fitted):
    _, X, y = fitted
    search = GridSearchCV(TSKRegressor(recipe="droprule", max_iter=100, random_state=0), {"n_rules": [2, 3]}, cv=2).fit(
        X, y
    )
    result = simplify(search, X, y, max_rules=1)
    assert result.model.predict(X).shape == (len(X),)


@pytest.mark.slow
@pytest.mark.parametrize("projection", [None, "antecedent", "separate", "shared"])
def test_several_outputs_and_projections(projection):
    model, X, Y = fit_several(projection=projection)
    result = simplify(model, X, Y, X_val=X, y_val=Y, max_loss=0.2)
    scale = Y.std(axis=0)
    error = np.sqrt(np.mean(((result.model.predict(X) - Y) / scale) ** 2))
    assert result.point.val_loss == pytest.approx(error, rel=1e-9)
    assert result.model.predict(X).shape == Y.shape
    assert result.curve[-1].n_words == 1
    assert result.curve[-1].model.first.antecedent_projection is None  # rules about projections teach others
    assert result.n_words < result.curve[0].n_words


def test_a_model_of_many_rules_teaches_short_ones(fitted):
    _, X, y = fitted
    model = TSKRegressor(64, recipe="droprule", max_iter=200, random_state=0).fit(X, y)
    result = simplify(model, X, y, max_rules=6, max_conditions=2, max_terms=2)
    assert result.curve[1].n_rules <= 7
    assert (result.point.n_rules <= 6, result.point.max_conditions <= 2) == (True, True)
    assert rmse(result.model, X, y) < 0.6 * y.std()


@pytest.mark.slow
def test_a_model_of_very_many_columns_teaches_short_rules():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 250))
    y = X[:, 0] + 2 * np.abs(X[:, 1])
    model = TSKRegressor(4, recipe="droprule", max_iter=100, random_state=0).fit(X, y)
    result = simplify(model, X, y, max_rules=5)
    assert result.curve[1].n_rules <= 7
    assert result.point.n_terms <= 20


def test_ctrl_c_keeps_the_curve_so_far(fitted, monkeypatch):
    reduce_model = _curve.reduce_model

    def stop_early(*arguments):
        steps = reduce_model(*arguments)
        yield next(steps)
        yield next(steps)
        raise KeyboardInterrupt

    monkeypatch.setattr(_curve, "reduce_model", stop_early)
    with pytest.warns(UserWarning, match="the curve ends here"):
        result = simplify(*fitted, max_loss=9.0)
    assert len(result.curve) == 3


def test_ctrl_c_before_the_sizes_are_reached_leaves_the_fitted_model(fitted, monkeypatch):
    reduce_model = _curve.reduce_model

    def stop_early(*arguments):
        yield next(reduce_model(*arguments))
        raise KeyboardInterrupt

    monkeypatch.setattr(_curve, "reduce_model", stop_early)
    for limits in ({"max_rules": 1}, {"max_rules": 1, "max_loss": 9.0}):
        with pytest.warns(UserWarning, match="the curve ends here"):
            result = simplify(*fitted, **limits)
        assert (result.step, len(result.curve)) == (0, 2)
        assert "No smaller model is within the limits" in str(result)


def test_ctrl_c_is_raised_while_short_rules_are_taught(fitted, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_curve, "teach_short", stop)
    with pytest.raises(KeyboardInterrupt):
        simplify(*fitted)


def test_one_rule_has_no_conditions_left():
    X, y = make_data(100)
    result = simplify(TSKRegressor(1, recipe="droprule", max_iter=200, random_state=0).fit(X, y), X, y, max_rules=1)
    assert result.point.n_conditions in (0, 4)
    assert result.curve[-1].n_words == 1


def test_conditions_may_be_missing_from_the_start(fitted):
    _, X, y = fitted
    rules = RuleBase(
        [[0, 5, 0, 3], [1, 5, 0, 3]], [[1, np.inf, 50, np.inf], [np.inf, 5, np.inf, np.inf]], np.ones((2, 1, 5))
    )
    result = simplify(rules, X, y, max_rules=2)
    assert result.curve[0].n_conditions == 3
    assert not np.isfinite(result.rule_base.widths[:, 3]).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_constant_target_needs_one_word():
    X, _ = make_data(60)
    model = TSKRegressor(3, recipe="droprule", max_iter=100, random_state=0).fit(X, np.full(60, 7.0))
    result = simplify(model, X, np.full(60, 7.0))
    assert result.n_words == 1
    np.testing.assert_allclose(result.model.predict(X), 7.0, rtol=1e-6)


@pytest.mark.slow
def test_many_inputs_and_few_rows_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 15))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    result = simplify(TSKRegressor(4, recipe="droprule", max_iter=100, random_state=0).fit(X, y), X, y, max_loss=0.5)
    assert result.n_words < result.curve[0].n_words / 4


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_bad_models_are_rejected(fitted):
    _, X, y = fitted
    with pytest.raises(NotFittedError, match="not fitted"):
        simplify(TSKRegressor(), X, y)
    with pytest.raises(TypeError, match="got LinearRegression"):
        simplify(LinearRegression().fit(X, y), X, y)


def test_bad_rows_are_rejected(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="feature names"):
        simplify(model, X.rename(columns={"a": "z"}), y)
    with pytest.raises(ValueError, match=r"y must have 1 target\(s\) for each of 300 rows"):
        simplify(model, X, y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        simplify(model, X, y.mask(y > 1))
    with pytest.raises(ValueError, match="given together"):
        simplify(model, X, y, X_val=X)
    with pytest.raises(ValueError, match=r"In X_val and y_val: y must have 1 target\(s\) for each of 10 rows"):
        simplify(model, X, y, X_val=X[:10], y_val=y)
    with pytest.raises(ValueError, match="at least two rows"):
        simplify(model, X[:1], y[:1])


# -- sums and bends ----------------------------------------------------------------------------------------------------


def test_rules_with_bends_keep_them_and_get_limits_that_are_true():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 9, size=(200, 2))
    y = 3 * np.log(X[:, 0]) + np.where(X[:, 1] > 5, 2.0, 0.0) + 0.05 * rng.normal(size=200)
    limits = [{1: (-np.inf, 4)}, {1: (4, 6)}, {1: (6, np.inf)}]
    part = make_part(2, [{1: (3, 1)}, {1: (5, 1)}, {1: (7, 1)}], [Bend(0, "log", 0.0, floor=0.1)], limits=limits)
    model = fit_sum([part], X, y[:, None])
    result = simplify(model, X, y, max_rules=2)
    assert isinstance(result.model, RuleModel)
    smaller = result.rule_base
    assert smaller.n_rules == 2
    assert smaller.bends == part.bends
    assert np.nanmin(np.abs(smaller.intervals - 5)[np.isfinite(smaller.intervals)]) < 0.5
    assert np.sqrt(np.mean((result.model.predict(X) - y) ** 2)) < 0.5


def test_a_sum_of_rule_bases_becomes_a_smaller_one():
    model, X, y = diabetes_sum()
    result = simplify(model, X, y, max_rules=4)
    assert result.curve[0].n_rules == model.model_.n_rules
    assert 1 <= open_model(result.model).model.n_rules <= 4
    assert result.loss < 0.1


# -- the display -------------------------------------------------------------------------------------------------------


def test_display_draws_the_curve_and_the_choice(result):
    display = result.plot()
    assert isinstance(display, SimplificationDisplay)
    np.testing.assert_array_equal(display.n_words, [point.n_words for point in result.curve])
    labels = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
    assert labels[-1] == "chosen"
    ring = display.axes_[0].get_lines()[1]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (result.n_words, 100 * result.loss)
    plt.close("all")


def test_display_draws_on_given_axes(result):
    _, ax = plt.subplots()
    assert result.plot(ax).axes_[0] is ax
    with pytest.raises(TypeError, match="matplotlib Axes"):
        result.plot("here")
    plt.close("all")


def test_simplifying_needs_no_matplotlib_and_plotting_says_so(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"takagi\[plot\]"):
        result.plot()


def test_smaller_rules_hold_where_the_fitted_ones_do(fitted, result):
    model, X, _ = fitted
    for rules in (result.model.model_, *(point.model for point in result.curve)):
        np.testing.assert_array_equal(rules.limits, model.model_.limits)
    held = np.clip(50 * X.to_numpy(), *model.model_.limits.T)
    np.testing.assert_array_equal(result.model.model_.predict(50 * X.to_numpy()), result.model.model_.predict(held))
