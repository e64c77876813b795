import io
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.text import Text
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from takagi import RuleBase, TSKRegressor
from takagi._model import open_model
from takagi.inspection import (
    HistoryDisplay,
    ImportanceDisplay,
    MembershipDisplay,
    ResponseDisplay,
    RuleGridDisplay,
    ShareDisplay,
    WaterfallDisplay,
    explain_local,
    feature_importance,
)
from takagi.inspection._plot._style import as_plain, color_rule, write_numbers
from takagi.tables import TableEncoder

DRAW = {
    "membership": lambda model, X, y, **ax: MembershipDisplay.from_estimator(model, X, [0], **ax),
    "grid": lambda model, X, y, **ax: RuleGridDisplay.from_estimator(model, X, **ax),
    "waterfall": lambda model, X, y, **ax: WaterfallDisplay.from_estimator(model, X, **ax),
    "history": lambda model, X, y, **ax: HistoryDisplay.from_estimator(model, **ax),
    "share": lambda model, X, y, **ax: ShareDisplay.from_estimator(model, X, **ax),
    "curve": lambda model, X, y, **ax: ResponseDisplay.from_estimator(model, X, 0, **ax),
    "contour": lambda model, X, y, **ax: ResponseDisplay.from_estimator(model, X, [0, 1], **ax),
    "surface": lambda model, X, y, **ax: ResponseDisplay.from_estimator(model, X, [0, 1], kind="surface", **ax),
    "importance": lambda model, X, y, **ax: ImportanceDisplay.from_estimator(model, X, y, random_state=0, **ax),
}
ODD_NAMES = [
    "cost ($) and $x_1$",
    "<script>alert(1)</script>",
    "\N{ROCKET} \u4ef7\u683c",
    "\u05d2\u05d9\u05dc",
    "_" + "n" * 199,
    "\\alpha^2 {",
    "line\nbreak\t\x00",
]

every_display = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


@pytest.fixture(scope="module")
def odd():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, len(ODD_NAMES))), columns=ODD_NAMES)
    y = (X.iloc[:, 0] * X.iloc[:, 1] + X.iloc[:, 2]).rename("$y$ \N{ROCKET}")
    return TSKRegressor(n_rules=3, max_iter=50, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def wide():
    X = np.random.default_rng(0).normal(size=(80, 500))
    y = X[:, 0] + X[:, 1]
    model = TSKRegressor(n_rules=3, max_iter=60, random_state=0).fit(X, y, X_val=X, y_val=y)
    return model, X[:20], y[:20]


def render(display):
    display.figure_.savefig(io.BytesIO(), dpi=40)
    return display


def read_output_bars(display):
    """Return the lengths of the bars at the end of a grid's lines."""
    return np.array([bar.get_width() for bar in display.axes_[0].patches if np.isclose(bar.get_height(), 0.5)])


def read_ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# -- what holds for every display --------------------------------------------------------------------------------------


@pytest.mark.slow
@every_display
def test_odd_names_are_drawn_as_plain_text_in_another_style(draw, odd):
    with plt.style.context("dark_background"):
        display = render(draw(*odd))
    texts = [text.get_text() for text in display.figure_.findobj(Text)]
    assert not any(is_math_text(text) for text in texts if "y" in text or "x_1" in text)
    assert max(map(len, texts)) < 100


@every_display
def test_draws_into_given_axes(draw, diabetes):
    n_axes = len(draw(*diabetes).axes_)
    options = {"subplot_kw": {"projection": "3d"}} if draw is DRAW["surface"] else {}
    figure, axes = plt.subplots(1, n_axes, **options)
    display = draw(*diabetes, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(np.atleast_1d(axes))
    assert all(ax.has_data() for ax in display.axes_)


@every_display
def test_wrong_axes_are_refused(draw, diabetes):
    axes = plt.subplots(1, 3)[1]
    with pytest.raises(ValueError, match=r"ax must be \d axes, got 3"):
        draw(*diabetes, ax=axes)
    with pytest.raises(TypeError, match="ax must be matplotlib Axes, got str"):
        draw(*diabetes, ax="left")


@every_display
def test_unfitted_model_and_other_kinds_are_refused(draw, diabetes):
    _, X, y = diabetes
    with pytest.raises(NotFittedError, match="TSKRegressor is not fitted yet"):
        draw(TSKRegressor(), X, y)
    with pytest.raises(TypeError, match=r"must be a fitted TSKRegressor.*got LinearRegression"):
        draw(LinearRegression().fit(X, y), X, y)


@every_display
def test_missing_matplotlib_names_the_extra(draw, diabetes, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "takagi\[plot\]"'):
        draw(*diabetes)


@pytest.mark.parametrize("name", [name for name in DRAW if name != "surface"])
def test_tables_with_categories_and_holes_are_drawn(name, cars):
    render(DRAW[name](*cars))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DRAW if name != "history"])
def test_one_row_is_drawn(name, diabetes):
    model, X, y = diabetes
    render(DRAW[name](model, X.head(1), y.head(1)))


@pytest.mark.parametrize("name", [name for name in DRAW if name not in ("history", "waterfall")])
def test_empty_table_is_refused(name, diabetes):
    model, X, y = diabetes
    with pytest.raises(ValueError, match=r"at least one row|0 sample"):
        DRAW[name](model, X.head(0), y.head(0))


@every_display
def test_constant_columns_are_drawn(draw):
    X = np.column_stack([np.full(30, 1e12), np.zeros(30), np.linspace(-1, 1, 30)])
    render(draw(TSKRegressor(n_rules=2, max_iter=20, random_state=0).fit(X, X[:, 2]), X, X[:, 2]))


@pytest.mark.slow
@every_display
def test_five_hundred_features_are_drawn(draw, wide):
    display = render(draw(*wide))
    assert display.figure_.get_size_inches().max() < 20


@pytest.mark.parametrize("name", ["membership", "grid", "share", "curve", "contour"])
def test_bare_rules_are_drawn(name, by_hand):
    rules, X = by_hand
    render(DRAW[name](RuleBase(rules.centers, rules.widths, rules.consequents), X, None))


# -- the grid of rules -------------------------------------------------------------------------------------------------


def test_grid_orders_rules_by_share_and_leaves_cells_empty_that_ask_nothing():
    rules = RuleBase(
        centers=[[0.0, 0.0], [4.0, 0.0], [2.0, 0.0]],
        widths=[[1.0, np.inf], [1.0, 50.0], [1.0, 0.5]],
        consequents=[[[1.0, 0.0, 0.0]], [[2.0, 0.0, 0.0]], [[3.0, 0.0, 0.0]]],
    )
    X = np.column_stack([np.r_[np.full(50, 4.0), np.full(20, 0.0), np.full(10, 2.0)], np.tile([-1.0, 1.0], 40)])
    display = RuleGridDisplay.from_estimator(rules, X)
    assert display.rules.tolist() == [1, 0, 2]
    assert [sets.name for sets in display.sets] == ["x0", "x1"]  # what tells the rules apart best first
    assert [sets.asks.tolist() for sets in display.sets] == [[True] * 3, [False, False, True]]
    ax = display.axes_[0]
    shares = [f"rule {r + 1}  {100 * display.share[r]:4.0f} %" for r in (1, 0, 2)]
    assert [" ".join(text.split()) for text in read_ticks(ax.yaxis)] == ["data", *(" ".join(s.split()) for s in shares)]
    curves = [line for line in ax.lines if len(line.get_xdata()) == 60]
    assert len(curves) == 4
    assert sum(line.get_xdata().min() > 1 for line in curves) == 1  # a single one in the second column


def test_grid_curves_are_memberships_over_the_range_of_the_data(diabetes):
    model, X, _ = diabetes
    display = RuleGridDisplay.from_estimator(model, X, columns=["bmi"])
    line = next(one for one in display.axes_[0].lines if len(one.get_xdata()) == 60)
    r = display.rules[0]
    grid = np.linspace(X["bmi"].min(), X["bmi"].max(), 60)
    center, width = model.rule_base_.centers[r, 2], model.rule_base_.widths[r, 2]
    base = 1.9
    np.testing.assert_allclose((base - line.get_ydata()) / 0.72, np.exp(-0.5 * ((grid - center) / width) ** 2))


def test_grid_shows_the_mean_output_of_each_rule_on_what_it_governs(diabetes):
    model, X, _ = diabetes
    display = RuleGridDisplay.from_estimator(model, X, columns=["bmi"])
    share, outputs = model.firing_share(X), model.rule_base_.rule_outputs(X)[:, :, 0]
    expected = [np.average(outputs[:, r], weights=share[:, r]) for r in range(3)]
    np.testing.assert_allclose(display.typical_output, expected)
    assert display.mean_output == pytest.approx(model.predict(X).mean())
    lengths = read_output_bars(display)
    wanted = (np.array(expected) - display.mean_output)[display.rules]
    np.testing.assert_allclose(lengths / lengths[0], wanted / wanted[0])


def test_grid_keeps_to_the_wanted_columns_and_rules_and_says_so(diabetes):
    model, X, _ = diabetes
    display = RuleGridDisplay.from_estimator(model, X, columns=["bp", 0], max_rules=2)
    assert [sets.name for sets in display.sets] == ["bp", "age"]
    assert len(display.rules) == 2
    note = display.axes_[0].get_title(loc="left")
    assert note.startswith("2 of 10 columns; 2 of 3 rules, which govern ")
    assert len(RuleGridDisplay.from_estimator(model, X, columns=4).sets) == 4
    assert len(RuleGridDisplay.from_estimator(model, X, columns="bmi").sets) == 1
    with pytest.raises(ValueError, match="at least one column"):
        RuleGridDisplay.from_estimator(model, X, columns=[])
    for wrong in ({"columns": 0}, {"max_rules": 0}):
        with pytest.raises(ValueError, match="must be at least 1, got 0"):
            RuleGridDisplay.from_estimator(model, X, **wrong)


def test_grid_of_a_rule_that_governs_nothing_has_no_bar_for_it():
    rules = RuleBase(centers=[[0.0], [1e9]], widths=[[1.0], [1.0]], consequents=[[[1.0, 0.0]], [[2.0, 0.0]]])
    display = RuleGridDisplay.from_estimator(rules, [[0.0], [1.0]])
    np.testing.assert_array_equal(display.typical_output, [1.0, np.nan])
    assert len(read_output_bars(display)) == 1


# -- one prediction ----------------------------------------------------------------------------------------------------


def read_steps(display):
    """Return where the bars of each step begin and end, first through the consequents, then through the conditions."""
    return np.array([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.axes_[0].patches]).reshape(
        -1, 2, 2
    )


def test_waterfall_goes_from_the_base_to_the_prediction_without_a_gap(diabetes):
    model, X, _ = diabetes
    display = WaterfallDisplay.from_estimator(model, X, row=7)
    steps = read_steps(display)
    assert len(steps) == 10
    np.testing.assert_allclose(steps[:, 0, 1], steps[:, 1, 0])  # conditions go on where consequents end
    np.testing.assert_allclose(steps[1:, 0, 0], steps[:-1, 1, 1])
    assert steps[0, 0, 0] == pytest.approx(explain_local(model, X.head(1)).base[0])
    assert steps[-1, 1, 1] == pytest.approx(model.predict(X)[7])
    sizes = np.abs(steps[:, 1, 1] - steps[:, 0, 0])
    assert (np.diff(sizes) <= 1e-9).all()


def test_waterfall_shows_the_explained_row(diabetes):
    model, X, _ = diabetes
    explanation = explain_local(model, X.head(9))
    display = WaterfallDisplay.from_explanation(explanation, row=7)
    frame = explanation.to_frame(7)
    labels = [f"{column} = {value}" for column, value in zip(frame["column"], frame["value"], strict=True)]
    assert read_ticks(display.axes_[0].yaxis) == ["average row", *labels, "prediction"]
    np.testing.assert_allclose(np.diff(read_steps(display), axis=2)[:, 0, 0], frame["by_consequent"])
    np.testing.assert_allclose(np.diff(read_steps(display), axis=2)[:, 1, 0], frame["by_condition"])
    assert display.axes_[0].get_xlabel() == "progression"


def test_waterfall_joins_small_contributions(diabetes):
    model, X, _ = diabetes
    display = WaterfallDisplay.from_estimator(model, X, max_columns=3)
    assert read_ticks(display.axes_[0].yaxis)[4] == "7 others"
    assert read_steps(display)[-1, 1, 1] == pytest.approx(model.predict(X)[0])
    with pytest.raises(ValueError, match="max_columns must be at least 1"):
        display.plot(max_columns=0)


def test_waterfall_takes_an_output_and_a_baseline(several):
    model, X, _ = several
    display = WaterfallDisplay.from_estimator(model, X, row=2, output="product", baseline=X.iloc[[5]])
    assert display.base == pytest.approx(model.predict(X)[5, 1])
    assert display.prediction == pytest.approx(model.predict(X)[2, 1])
    assert display.axes_[0].get_xlabel() == "product"


def test_waterfall_refuses_a_row_that_is_not_there(diabetes):
    model, X, _ = diabetes
    with pytest.raises(ValueError, match="row must be 0 to 441, got 442"):
        WaterfallDisplay.from_estimator(model, X, row=442)
    with pytest.raises(ValueError, match="row must be 0 to 1, got -1"):
        WaterfallDisplay.from_explanation(explain_local(model, X.head(2)), row=-1)


# -- training and shares -----------------------------------------------------------------------------------------------


def test_history_has_both_errors_and_marks_the_best_iterate(diabetes):
    _, X, y = diabetes
    model = TSKRegressor(n_rules=3, recipe="droprule", max_iter=200, random_state=0).fit(X, y.rename("progression"))
    display = HistoryDisplay.from_estimator(model)
    lines = {line.get_label(): line for line in display.axes_[0].lines}
    np.testing.assert_array_equal(lines["validation"].get_ydata(), model.history_["val_loss"])
    np.testing.assert_array_equal(lines["validation"].get_xdata(), np.arange(1, model.n_iter_ + 1))
    smooth = lines["training, running mean"].get_ydata()
    assert smooth[9] == pytest.approx(model.history_["train_loss"][6:10].mean())
    assert smooth[0] == pytest.approx(model.history_["train_loss"][0])
    (label,) = [label for label in lines if label.startswith("best: ")]
    assert lines[label].get_xydata().tolist() == [[model.best_iter_, model.history_["val_loss"].min()]]
    assert display.axes_[0].get_ylabel() == "RMSE of progression"


def test_history_has_a_logarithmic_axis_where_errors_fall_far():
    falling = np.geomspace(100, 1, 50)
    assert HistoryDisplay(falling, falling, 50).plot().axes_[0].get_yscale() == "log"
    assert HistoryDisplay(falling, np.full(50, 80.0), 3).plot().axes_[0].get_yscale() == "log"
    flat = np.linspace(2, 1, 50)
    assert HistoryDisplay(flat, flat, 50).plot().axes_[0].get_yscale() == "linear"


def test_history_says_when_the_initial_rules_were_kept():
    display = render(HistoryDisplay(np.array([1.0, 2.0]), np.array([1.0, np.inf]), 0).plot())
    assert "best: the initial rules" in [line.get_label() for line in display.axes_[0].lines]


def test_history_of_several_targets_says_its_units(several):
    assert HistoryDisplay.from_estimator(several[0]).axes_[0].get_ylabel() == "RMSE in standard deviations"


def test_rules_without_a_history_are_refused(by_hand):
    with pytest.raises(ValueError, match="this RuleBase has no training history"):
        HistoryDisplay.from_estimator(by_hand[0])


def test_shares_are_sorted_and_keep_the_rules_numbers_and_colors():
    rules = RuleBase(centers=[[0.0], [5.0], [9.0]], widths=np.full((3, 1), 0.5), consequents=np.zeros((3, 1, 2)))
    X = np.repeat([5.0, 9.0, 0.0], [6, 3, 1])[:, None]
    display = ShareDisplay.from_estimator(rules, X)
    ax = display.axes_[0]
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], [0.6, 0.3, 0.1])
    assert read_ticks(ax.xaxis) == ["2", "3", "1"]
    assert ax.patches[0].get_facecolor() == plt.matplotlib.colors.to_rgba(color_rule(1))
    assert ax.get_title(loc="left") == "2 of 3 rules govern 90 %"


def test_many_shares_are_not_labelled_one_by_one():
    rules = RuleBase(centers=np.arange(40.0)[:, None], widths=np.ones((40, 1)), consequents=np.zeros((40, 1, 2)))
    ax = render(ShareDisplay.from_estimator(rules, np.arange(0, 40, 0.5)[:, None])).axes_[0]
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == sorted(heights, reverse=True)
    assert len(ax.get_xticks()) < 12
    assert ax.get_xlabel() == "rules, by share"


def test_effective_number_of_rules_is_one_where_one_decides_and_n_where_n_share():
    rules = RuleBase(centers=[[0.0], [10.0]], widths=[[1.0], [1.0]], consequents=np.zeros((2, 1, 2)))
    display = ShareDisplay.from_estimator(rules, [[0.0], [5.0], [10.0]])
    np.testing.assert_allclose(display.effective_rules, [1.0, 2.0, 1.0])
    counts = [bar.get_height() for bar in display.axes_[1].patches]
    assert (counts[0], counts[-1], sum(counts)) == (2, 1, 3)


# -- responses ---------------------------------------------------------------------------------------------------------


def test_response_over_one_feature_is_the_prediction_at_the_average_row(diabetes):
    model, X, _ = diabetes
    display = ResponseDisplay.from_estimator(model, X, "bmi")
    grid, values = display.axes_[0].lines[0].get_data()
    rows = np.tile(model.rule_base_.profile.mean, (len(grid), 1))
    rows[:, 2] = grid
    np.testing.assert_allclose(values, model.rule_base_.predict(rows))
    assert (grid[0], grid[-1]) == (X["bmi"].min(), X["bmi"].max())
    assert (display.axes_[0].get_xlabel(), display.axes_[0].get_ylabel()) == ("bmi", "progression")
    assert display.axes_[0].get_title(loc="left") == "other columns at the average row"


def test_response_passes_through_the_row_that_it_is_taken_at(diabetes):
    model, X, _ = diabetes
    for row in (7, X.iloc[[7]]):
        display = ResponseDisplay.from_estimator(model, X, ["bmi"], row=row)
        at_row = np.interp(X["bmi"].iloc[7], *display.axes_[0].lines[0].get_data())
        assert at_row == pytest.approx(model.predict(X)[7], rel=1e-3)
    for wrong in (442, X.head(2)):
        with pytest.raises(ValueError, match="row must be"):
            ResponseDisplay.from_estimator(model, X, "bmi", row=wrong)


def test_response_is_dotted_where_no_data_are_near():
    rules = RuleBase(centers=[[0.0]], widths=[[1.0]], consequents=[[[0.0, 1.0]]])
    X = np.r_[np.linspace(0, 1, 50), np.linspace(9, 10, 50)][:, None]
    display = ResponseDisplay.from_estimator(rules, X, 0)
    dotted, solid = display.axes_[0].lines[:2]
    assert dotted.get_linestyle() == ":"
    gap = np.isnan(solid.get_ydata())
    assert 1 < solid.get_xdata()[gap].min() < 2
    assert 8 < solid.get_xdata()[gap].max() < 9
    assert display.axes_[0].get_title(loc="left") == "dotted: no data near"


def test_response_over_two_features_is_the_prediction_and_shows_the_data(diabetes):
    model, X, _ = diabetes
    display = ResponseDisplay.from_estimator(model, X, ["bmi", "bp"])
    bmi, bp = (sweep.grid for sweep in display.sweeps)
    rows = np.tile(model.rule_base_.profile.mean, (2, 1))
    rows[:, [2, 3]] = [[bmi[3], bp[50]], [bmi[40], bp[0]]]
    np.testing.assert_allclose(display.response[[3, 40], [50, 0]], model.rule_base_.predict(rows))
    ax = display.axes_[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bmi", "bp")
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), X[["bmi", "bp"]])
    corner, middle = display.distance[-1, 0], display.distance[20, 20]
    assert corner > 1 > middle
    assert ax.get_title(loc="left").endswith("; faded: no data near")


def test_constant_response_is_one_step_and_not_its_rounding():
    rules = RuleBase(centers=np.zeros((2, 2)), widths=np.ones((2, 2)), consequents=np.tile([0.1, 0.0, 0.0], (2, 1, 1)))
    X = np.random.default_rng(0).normal(size=(50, 2))
    display = ResponseDisplay.from_estimator(rules, X, [0, 1])
    np.testing.assert_allclose(display.axes_[0].collections[0].levels, [0.09, 0.11])


def test_surface_has_the_response_and_the_data_on_its_floor(diabetes):
    model, X, _ = diabetes
    display = ResponseDisplay.from_estimator(model, X, ["bmi", "bp"], kind="surface")
    ax = display.axes_[0]
    assert ax.name == "3d"
    x, y, z = ax.lines[0].get_data_3d()
    np.testing.assert_array_equal(np.column_stack([x, y]), X[["bmi", "bp"]])
    assert z.max() < display.response.min()
    opacity = ax.collections[0].get_facecolor()[:, 3]
    assert set(np.round(opacity, 2)) == {0.25, 1.0}


def test_response_over_a_category_has_a_bar_for_each_level(cars):
    model, X, _ = cars
    display = ResponseDisplay.from_estimator(model, X, "fuel", row=3)
    levels = ["diesel", "gas", "petrol"]
    changed = pd.concat([X.iloc[[3]].assign(fuel=level) for level in levels])
    np.testing.assert_allclose(display.response, model.predict(changed))
    ends = [bar.get_y() + bar.get_height() for bar in display.axes_[0].patches]
    np.testing.assert_allclose(ends, display.response)
    part = X["fuel"].value_counts(normalize=True)
    assert read_ticks(display.axes_[0].xaxis) == [f"{level}\n({100 * part[level]:.0f} %)" for level in levels]
    start = display.axes_[0].patches[0].get_y()
    assert start == pytest.approx(
        sum(part[level] * value for level, value in zip(levels, display.response, strict=True))
    )


@pytest.mark.parametrize("features", [["fuel", "km"], ["km", "fuel"]])
def test_response_over_numbers_and_a_category_has_a_curve_for_each_level(cars, features):
    model, X, _ = cars
    display = ResponseDisplay.from_estimator(model, X, features, row=3)
    ax = display.axes_[0]
    assert ax.get_xlabel() == "km"
    entries = [text.get_text().strip() for text in ax.get_legend().get_texts()]
    assert entries == list(X["fuel"].value_counts().index)
    grid, values = ax.lines[0].get_data()
    changed = pd.concat([X.iloc[[3]].assign(fuel=entries[0], km=km) for km in grid])
    np.testing.assert_allclose(values, model.predict(changed))


def test_response_over_two_categories_has_a_cell_for_each_pair(cars):
    model, X, _ = cars
    display = ResponseDisplay.from_estimator(model, X, ["fuel", "garage"], row=3)
    changed = X.iloc[[3]].assign(fuel="gas", garage=True)
    assert display.response[1, 1] == pytest.approx(model.predict(changed)[0])
    texts = [text.get_text() for text in display.axes_[0].texts]
    assert texts == write_numbers(display.response.ravel())
    assert read_ticks(display.axes_[0].yaxis) == ["false", "true"]


def test_pair_of_levels_without_rows_is_faded(cars):
    model, X, _ = cars
    some = X[(X["fuel"] != "gas") | ~X["garage"]]
    display = ResponseDisplay.from_estimator(model, some, ["fuel", "garage"])
    assert display.axes_[0].collections[0].get_alpha().T.tolist() == [[1.0, 1.0], [1.0, 0.25], [1.0, 1.0]]


def test_levels_with_a_leading_underscore_stay_in_the_legend():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=80), "kind": rng.choice(["_a", "$b$"], 80)})
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=2, max_iter=20, random_state=0)).fit(
        table, table["size"]
    )
    display = render(ResponseDisplay.from_estimator(model, table, ["size", "kind"]))
    entries = {text.get_text().strip() for text in display.axes_[0].get_legend().get_texts()}
    assert entries == {"_a", r"\$b\$"}


def test_response_takes_an_output(several):
    model, X, _ = several
    display = ResponseDisplay.from_estimator(model, X, "a", row=4, output="product")
    at_row = np.interp(X["a"].iloc[4], display.sweeps[0].grid, display.response)
    assert at_row == pytest.approx(model.predict(X)[4, 1], rel=1e-2)
    assert display.axes_[0].get_ylabel() == "product"


def test_wrong_wishes_for_a_response_are_refused(diabetes, cars):
    model, X, _ = diabetes
    for features, message in [
        ([], "one or two columns, got 0"),
        (["bmi", "bp", "s5"], "one or two columns, got 3"),
        (["bmi", "bmi"], "two different columns, got 'bmi' twice"),
        ("bim", "feature 'bim' is unknown, did you mean 'bmi'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ResponseDisplay.from_estimator(model, X, features)
    with pytest.raises(ValueError, match="kind 'surfaces' is unknown, did you mean 'surface'"):
        ResponseDisplay.from_estimator(model, X, ["bmi", "bp"], kind="surfaces")
    with pytest.raises(ValueError, match="a surface needs two columns of numbers, got 'km', 'fuel'"):
        ResponseDisplay.from_estimator(*cars[:2], ["km", "fuel"], kind="surface")
    with pytest.raises(TypeError, match='needs axes with projection="3d"'):
        ResponseDisplay.from_estimator(model, X, ["bmi", "bp"], kind="surface", ax=plt.subplots()[1])


# -- importance --------------------------------------------------------------------------------------------------------


def test_importance_has_the_bars_and_marks_of_the_table(diabetes):
    model, X, y = diabetes
    display = ImportanceDisplay.from_estimator(model, X, y, random_state=0)
    table = feature_importance(model, X, y, random_state=0)
    bars = {container.get_label(): [bar.get_width() for bar in container] for container in display.axes_[0].containers}
    np.testing.assert_allclose(bars["overall"], table["overall"])
    np.testing.assert_allclose(bars["through the consequents"], table["consequents"])
    np.testing.assert_allclose(bars["through the conditions"], table["conditions"])
    np.testing.assert_allclose(display.axes_[0].lines[0].get_xdata(), table["permutation"])
    assert read_ticks(display.axes_[0].yaxis) == table["feature"].tolist()
    assert display.axes_[0].get_xlabel() == "mean change of progression"


def test_importance_shows_the_most_important_features_only(diabetes):
    model, X, _ = diabetes
    display = ImportanceDisplay.from_estimator(model, X, max_features=4)
    assert len(read_ticks(display.axes_[0].yaxis)) == 4
    assert display.axes_[0].get_xlabel() == "mean change of progression (4 of 10 columns)"
    assert not display.axes_[0].lines
    with pytest.raises(ValueError, match="max_features must be at least 1"):
        display.plot(max_features=0)


# -- parts -------------------------------------------------------------------------------------------------------------


def test_names_are_short_and_without_formulas_or_unknown_glyphs():
    assert as_plain("a_$b$") == r"a_\$b\$"
    assert as_plain("\N{ROCKET} speed") == "\N{REPLACEMENT CHARACTER} speed"
    assert len(as_plain("n" * 200)) == 30
    assert as_plain("\u05d2\u05d9\u05dc").strip("\u200e") == "\u05d2\u05d9\u05dc"


def test_rules_have_the_same_color_in_every_display(diabetes):
    model, X, _ = diabetes
    members = MembershipDisplay.from_estimator(model, X, ["bmi"])
    curve = next(line for line in members.axes_[0].lines if line.get_label() == "rule 2")
    grid = RuleGridDisplay.from_estimator(model, X, ["bmi"])
    place = grid.rules.tolist().index(1)
    row = [line for line in grid.axes_[0].lines if len(line.get_xdata()) == 60][place]
    assert curve.get_color() == row.get_color() == color_rule(1)


def test_scalers_of_a_pipeline_are_undone(cars):
    model, X, _ = cars
    (sets,) = MembershipDisplay.from_estimator(model, X, ["km"]).sets
    rules = open_model(model).rules
    np.testing.assert_array_equal(sets.centers, rules.centers[:, 0])
    assert sets.span == (X["km"].min(), X["km"].max())


def test_history_without_validation_rows_shows_training_alone():
    X, y = make_friedman1(60, random_state=0)
    display = render(HistoryDisplay.from_estimator(TSKRegressor(2, keep_prob=1, max_iter=50, random_state=0).fit(X, y)))
    assert [line.get_label() for line in display.axes_[0].lines][1:] == ["training, running mean"]


def test_history_of_ridge_regression_says_that_there_is_none():
    X = np.random.default_rng(0).normal(size=(100, 30))
    line = TSKRegressor(max_iter=50, random_state=0).fit(X, X[:, 0])
    assert line.stopped_ == "ridge"
    with pytest.raises(ValueError, match="this model has no training history: ridge regression did better"):
        HistoryDisplay.from_estimator(line)
