import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.pipeline import make_pipeline

from takagi import RuleBase, TSKRegressor
from takagi._model import open_model
from takagi.inspection import MembershipDisplay
from takagi.inspection._plot._style import OTHER, RULE_COLORS
from takagi.tables import ColumnWarning, TableEncoder


def draw_curves(ax):
    return {line.get_label(): line for line in ax.lines}


def test_curves_are_the_rules_sets_in_the_units_of_the_data(diabetes):
    model, X, _ = diabetes
    display = MembershipDisplay.from_estimator(model, X, features=["bmi", 3])
    assert display.names == ["bmi", "bp"]
    assert [ax.get_xlabel() for ax in display.axes_] == ["bmi", "bp"]
    grid, heights = draw_curves(display.axes_[0])["rule 2"].get_data()
    center, width = model.rule_base_.centers[1, 2], model.rule_base_.widths[1, 2]
    np.testing.assert_allclose(heights, np.exp(-0.5 * ((grid - center) / width) ** 2))
    assert (grid.min(), grid.max()) == (X["bmi"].min(), X["bmi"].max())


def test_histogram_is_of_the_data_and_its_highest_bar_is_1(diabetes):
    model, X, _ = diabetes
    display = MembershipDisplay.from_estimator(model, X, features=["bmi"])
    heights = [bar.get_height() for bar in display.axes_[0].patches]
    counts = np.histogram(X["bmi"], bins=30)[0]
    np.testing.assert_allclose(heights, counts / counts.max())


def test_shares_of_the_legend_are_those_of_the_data(diabetes):
    model, X, _ = diabetes
    display = MembershipDisplay.from_estimator(model, X)
    np.testing.assert_allclose(display.share, model.firing_share(X).mean(axis=0))
    labels = [text.get_text() for text in display.axes_[-1].get_legend().get_texts()]
    assert labels == [f"rule {r + 1} ({100 * display.share[r]:.0f} %)" for r in np.argsort(-display.share)]


def test_features_shown_by_default_are_those_that_tell_rules_apart():
    centers, widths = np.zeros((2, 6)), np.ones((2, 6))
    centers[:, [1, 3, 4]] = [[-2.0] * 3, [2.0] * 3]
    rules = RuleBase(centers=centers, widths=widths, consequents=np.zeros((2, 1, 7)))
    X = np.random.default_rng(0).normal(size=(50, 6))
    assert MembershipDisplay.from_estimator(rules, X).names == ["x1", "x3", "x4"]


def test_a_single_feature_need_not_be_in_a_list(diabetes):
    model, X, _ = diabetes
    assert MembershipDisplay.from_estimator(model, X, features="bmi").names == ["bmi"]


def test_projections_are_shown_by_their_names_and_not_mistaken_for_features(diabetes):
    _, X, _ = diabetes
    model = TSKRegressor(n_rules=4, projection="separate", max_iter=50, random_state=0).fit(X, X["bmi"])
    age, first = MembershipDisplay.from_estimator(model, X, features=["age", "p0"]).sets
    np.testing.assert_array_equal(age.centers, model.rule_base_.centers[:, 2])
    np.testing.assert_array_equal(first.centers, model.rule_base_.centers[:, 0])
    np.testing.assert_array_equal(first.values, model.rule_base_.antecedent_inputs(X)[:, 0])


def test_rules_beyond_the_colors_are_gray_and_one_entry_of_the_legend():
    n_rules = 20
    X = np.linspace(0, 10, 60)[:, None]
    rules = RuleBase(
        centers=np.linspace(0, 10, n_rules)[:, None],
        widths=np.ones((n_rules, 1)),
        consequents=np.zeros((n_rules, 1, 2)),
    )
    ax = MembershipDisplay.from_estimator(rules, X).axes_[0]
    curves = draw_curves(ax)
    assert len(curves) == n_rules
    assert to_hex(curves["rule 1"].get_color()) == RULE_COLORS[0].lower()
    assert to_hex(curves["rule 20"].get_color()) == OTHER
    assert len(ax.get_legend().get_texts()) == len(RULE_COLORS) + 1
    assert ax.get_legend().get_texts()[-1].get_text().startswith("13 other rules (")


def test_rule_without_condition_has_no_curve_and_a_note():
    rules = RuleBase(centers=[[0.0], [1.0]], widths=[[1.0], [np.inf]], consequents=np.zeros((2, 1, 2)))
    display = MembershipDisplay.from_estimator(rules, [[0.0], [1.0], [2.0]])
    assert list(draw_curves(display.axes_[0])) == ["rule 1"]
    assert display.axes_[0].get_title(loc="left") == "no condition in rule 2"
    assert len(display.axes_[0].get_legend().get_texts()) == 2


def test_category_has_bars_of_memberships_over_frequencies(cars):
    model, X, _ = cars
    display = MembershipDisplay.from_estimator(model, X, features=["fuel"])
    (sets,) = display.sets
    assert sets.levels == ("diesel", "gas", "petrol")
    np.testing.assert_allclose(sets.frequency, X["fuel"].value_counts(normalize=True).sort_index())
    ax = display.axes_[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["diesel", "gas", "petrol"]
    bars = {container.get_label(): [bar.get_height() for bar in container] for container in ax.containers}
    rules = open_model(model).rules
    levels = np.zeros((3, rules.n_features))
    levels[:, [rules.feature_names.index(f"fuel={level}") for level in sets.levels]] = np.eye(3)
    for r in range(rules.n_rules):
        firing = rules.log_firing(levels)[:, r]
        np.testing.assert_allclose(bars[f"rule {r + 1}"], np.exp(firing - firing.max()))


def test_missing_numbers_are_not_in_the_histogram(cars):
    model, X, _ = cars
    (sets,) = MembershipDisplay.from_estimator(model, X, features=["km"]).sets
    assert X["km"].isna().any()
    np.testing.assert_array_equal(np.sort(sets.values), np.sort(X["km"].dropna()))


def test_booleans_have_two_bars(cars):
    model, X, _ = cars
    (sets,) = MembershipDisplay.from_estimator(model, X, features=["garage"]).sets
    assert sets.levels == ("false", "true")
    np.testing.assert_allclose(sets.frequency, [1 - X["garage"].mean(), X["garage"].mean()])


def test_unknown_feature_gets_the_nearest_name(diabetes):
    model, X, _ = diabetes
    with pytest.raises(ValueError, match="feature 'bmj' is unknown, did you mean 'bmi'"):
        MembershipDisplay.from_estimator(model, X, features=["bmj"])
    with pytest.raises(ValueError, match="feature 10 is not among the 10 features"):
        MembershipDisplay.from_estimator(model, X, features=[10])
    with pytest.raises(ValueError, match="at least one feature"):
        MembershipDisplay.from_estimator(model, X, features=[])


def test_column_that_the_rules_do_not_use_is_refused():
    table = pd.DataFrame({"size": np.arange(40.0), "plate": [f"AB {k}" for k in range(40)]})
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=2, max_iter=20, random_state=0))
    with pytest.warns(ColumnWarning, match="'plate'"):
        model.fit(table, table["size"])
    assert MembershipDisplay.from_estimator(model, table).names == ["size"]
    with pytest.raises(ValueError, match="feature 'plate' is not used by the rules"):
        MembershipDisplay.from_estimator(model, table, features=["plate"])
