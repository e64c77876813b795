import sys

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
from takagi import Bend, RuleBase, TSKRegressor
from takagi._model import open_model
from takagi.fitting._rows import Rows
from takagi.inspection import SimplificationDisplay, export_text
from takagi.persistence import load, save
from takagi.simplification import simplify
from takagi.simplification._draft import View, make_standardizer
from takagi.simplification._reduction import price_conditions, price_merge, price_rules, propose_moves
from takagi.simplification._refit import price_terms, refine, refit_consequents


def make_data(n_rows=300, seed=0):
    """Return rows of four features, of which the last has no effect on the target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-2, 2, (n_rows, 4)) * [1, 10, 100, 1] + [0, 5, 0, 3], columns=list("abcd"))
    y = np.sin(2 * X["a"]) + 0.1 * X["b"] * (X["c"] > 0) + 0.05 * rng.normal(size=n_rows)
    return X, y.rename("out")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_data()
    return TSKRegressor(8, max_iter=1000, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def few():
    """A small model, which is simplified in a moment."""
    X, y = make_data(120)
    return TSKRegressor(3, max_iter=200, random_state=0).fit(X[["a", "b"]], y), X[["a", "b"]], y


@pytest.fixture(scope="module")
def result(fitted):
    model, X, y = fitted
    X_val, y_val = make_data(200, seed=1)
    return simplify(model, X, y, X_val=X_val, y_val=y_val)


def fit_several(**options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = np.column_stack([X.sum(axis=1), 100 * X[:, 0] * X[:, 1]])
    return TSKRegressor(5, max_iter=300, random_state=0, **options).fit(X, Y), X, Y


def count_words(rules):
    used = np.isfinite(rules.widths)
    sets = {(m, rules.centers[r, m], rules.widths[r, m]) for r, m in np.argwhere(used)}
    return int(used.sum()), np.count_nonzero(rules.consequents), len(sets)


def rmse(model, X, y):
    return float(np.sqrt(np.mean((np.asarray(model.predict(X)) - np.asarray(y)) ** 2)))


# -- the curve ---------------------------------------------------------------------------------------------------------


def test_curve_tells_what_its_models_score(fitted, result):
    model, X, y = fitted
    X_val, y_val = make_data(200, seed=1)
    first = rmse(model, X_val, y_val)
    for point in result.curve[::7]:
        assert point.val_loss == pytest.approx(rmse(point.rule_base, X_val, y_val), rel=1e-9)
        assert point.train_loss == pytest.approx(rmse(point.rule_base, X, y), rel=1e-9)
        assert point.loss == pytest.approx(point.val_loss / first - 1, abs=1e-9)


def test_curve_starts_with_the_model_and_ends_with_a_number(fitted, result):
    first, last = result.curve[0], result.curve[-1]
    assert first.rule_base == fitted[0].rule_base_
    assert (first.n_rules, first.n_conditions, first.loss) == (8, 32, 0.0)
    assert (last.n_rules, last.n_conditions, last.n_terms, last.n_sets, last.n_words) == (1, 0, 1, 0, 1)


def test_words_never_grow_and_are_those_of_the_rules(result):
    words = [point.n_words for point in result.curve]
    assert words[0] == words[1]
    assert (np.diff(words[1:]) < 0).all()
    for point in result.curve[1:]:
        assert (point.n_conditions, point.n_terms, point.n_sets) == count_words(point.rule_base)
        assert point.n_words == sum(count_words(point.rule_base))


def test_every_family_of_moves_is_taken(result):
    actions = " ".join(point.action for point in result.curve)
    for part in ("condition", "rule", "term", "of sets"):
        assert part in actions


def test_frame_marks_what_no_other_point_beats(result):
    table = result.to_frame()
    assert len(table) == len(result.curve)
    for row in table.itertuples():
        beaten = (table["n_words"] <= row.n_words) & (table["val_loss"] < row.val_loss)
        beaten |= (table["n_words"] < row.n_words) & (table["val_loss"] <= row.val_loss)
        assert row.is_pareto == (not beaten.any())


# -- the choice --------------------------------------------------------------------------------------------------------


def test_default_is_the_fewest_words_at_two_percent(result):
    within = [point for point in result.curve if point.loss <= 0.02]
    assert result.loss <= 0.02
    assert result.n_words == min(point.n_words for point in within) < result.curve[0].n_words / 2


def test_limits_of_size_choose_the_smallest_error_within_them(result):
    chosen = result.at(max_rules=4, max_conditions=6)
    within = [point for point in result.curve if point.n_rules <= 4 and point.n_conditions <= 6]
    assert chosen.rule_base.n_rules <= 4
    assert np.isfinite(chosen.rule_base.widths).sum() <= 6
    assert chosen.point.val_loss == min(point.val_loss for point in within)


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
     {"max_rules": True}, {"max_conditions": -1}],
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


def test_merged_sets_are_shared_and_dropped_conditions_have_the_mean(fitted, result):
    shared = [point for point in result.curve if point.n_sets < point.n_conditions]
    assert shared
    for point in shared:
        rules = point.rule_base
        for m in range(4):
            used = np.isfinite(rules.widths[:, m])
            for label in np.unique(rules.sets[used, m]):
                own = rules.sets[:, m] == label
                assert len(np.unique(rules.centers[own, m])) == len(np.unique(rules.widths[own, m])) == 1
            np.testing.assert_allclose(rules.centers[~used, m], fitted[1].iloc[:, m].mean())


def test_text_says_what_was_reached_and_how_to_go_on(result):
    text = str(result)
    n_conditions = result.point.n_conditions
    assert text.startswith(f"8 rules, 32 conditions -> {result.rule_base.n_rules} rules, {n_conditions} conditions at ")
    assert ".at(max_loss=" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "loss" in repr(result)


def test_same_seed_gives_the_same_result(few):
    first, again, other = (simplify(*few, random_state=seed) for seed in (0, 0, 1))
    assert first.rule_base == again.rule_base
    assert [p.val_loss for p in first.curve] == [p.val_loss for p in again.curve]
    assert first.curve[0].val_loss != other.curve[0].val_loss


def test_verbose_prints_each_step(few, capsys):
    result = simplify(*few, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(result.curve)
    assert lines[0].startswith("[takagi] step 0, as fitted: 3 rules, 6 conditions, 21 words, loss 0.0 %")


# -- kinds of models ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((2, 5))], ids=["standard", "minmax"])
def test_pipeline_with_a_scaler_is_simplified_in_its_units(fitted, scaler):
    _, X, y = fitted
    model = make_pipeline(scaler, TSKRegressor(4, max_iter=200, random_state=0)).fit(X, y)
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
    result = simplify(model, table, price, max_loss=0.1)
    matrix = open_model(result.model).encode(table)
    assert result.loss <= 0.1
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
    search = GridSearchCV(TSKRegressor(max_iter=100, random_state=0), {"n_rules": [2, 3]}, cv=2).fit(X, y)
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
    for name in ("antecedent_projection", "consequent_projection"):
        np.testing.assert_array_equal(getattr(result.rule_base, name), getattr(model.rule_base_, name))
    assert result.curve[-1].n_words == 2
    assert result.n_words < result.curve[0].n_words


def test_the_shared_sets_of_a_grid_count_once(fitted):
    _, X, y = fitted
    model = TSKRegressor(16, init="grid", max_iter=200, random_state=0).fit(X, y)
    result = simplify(model, X, y, max_loss=0.05)
    assert (result.curve[0].n_conditions, result.curve[0].n_sets) == (64, 8)
    n_sets = [point.n_sets for point in result.curve]
    grown = [point.action for point, growth in zip(result.curve[1:], np.diff(n_sets), strict=True) if growth > 0]
    assert set(grown) <= {"merge two rules"}  # which puts sets of its own between those of the two
    assert count_words(result.rule_base)[2] == result.point.n_sets


def test_one_rule_has_no_conditions_left():
    X, y = make_data(100)
    result = simplify(TSKRegressor(1, max_iter=200, random_state=0).fit(X, y), X, y, max_rules=1)
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
    result = simplify(TSKRegressor(3, max_iter=100, random_state=0).fit(X, np.full(60, 7.0)), X, np.full(60, 7.0))
    assert result.n_words == 1
    np.testing.assert_allclose(result.model.predict(X), 7.0, rtol=1e-6)


@pytest.mark.slow
def test_many_inputs_and_few_rows_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 15))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    result = simplify(TSKRegressor(4, max_iter=100, random_state=0).fit(X, y), X, y, max_loss=0.5)
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
    with pytest.raises(ValueError, match=r"y_val must have 1 target\(s\) for each of 10 rows of X_val"):
        simplify(model, X, y, X_val=X[:10], y_val=y)
    with pytest.raises(ValueError, match="at least two rows"):
        simplify(model, X[:1], y[:1])


# -- re-estimation and prices ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def view():
    """Five rules of two outputs, some terms and conditions missing, some sets shared."""
    model, X, Y = fit_several()
    rows = Rows(X, Y, np.random.default_rng(0).uniform(0.5, 2, len(X)))
    units = make_standardizer(model.rule_base_, rows._replace(weight=np.ones(len(X))))
    draft = units.make_draft()
    draft.is_active[2, 0, 3] = draft.is_active[4, 1, 1] = False
    draft.consequents[~draft.is_active] = 0.0
    draft.widths[0, 2] = np.inf
    draft.centers[3, 1], draft.widths[3, 1], draft.sets[3, 1] = draft.centers[1, 1], draft.widths[1, 1], 1
    return View(draft, units.make_rows(rows))


def design_of(view, k):
    """Return the weighted inputs of the active terms of an output, by loops."""
    columns = [view.share[:, r] * view.rows.terms[:, m] for r, m in np.argwhere(view.draft.is_active[:, k])]
    return np.sqrt(view.rows.weight)[:, None] * np.column_stack(columns)


def test_a_draft_predicts_what_its_rules_predict(fitted):
    model, X, y = fitted
    rows = Rows(X.to_numpy(), y.to_numpy()[:, None], np.ones(len(X)))
    units = make_standardizer(model.rule_base_, rows)
    prediction = View(units.make_draft(), units.make_rows(rows)).prediction * units.target_scale + units.target_mean
    np.testing.assert_allclose(prediction[:, 0], model.predict(X), rtol=1e-9)
    np.testing.assert_allclose(units.make_rules(units.make_draft()).predict(X), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("n_rows", [150, 10], ids=["rows", "columns"])
@pytest.mark.parametrize("strength", [1e-3, 1.0])
def test_refit_minimizes_its_objective(view, strength, n_rows):
    rows = type(view.rows)(*(part[:n_rows] for part in vars(view.rows).values()))
    short = View(view.draft, rows)
    new = refit_consequents(short, strength)
    for k in range(2):
        active = short.draft.is_active[:, k]
        design, old = design_of(short, k), short.draft.consequents[:, k][active]
        lhs = np.vstack([design, np.sqrt(strength) * np.eye(len(old))])
        rhs = np.r_[np.sqrt(rows.weight) * rows.target[:, k], np.sqrt(strength) * old]
        expected = np.linalg.lstsq(lhs, rhs)[0]
        np.testing.assert_allclose(new.consequents[:, k][active], expected, rtol=1e-6, atol=1e-9)
    assert not new.consequents[~new.is_active].any()
    assert View(new, rows).error <= short.error


def test_price_of_a_term_is_what_dropping_it_costs(view):
    """Where the terms minimize the penalized error, the penalty pulling to zero."""
    strength, draft = 1e-2, view.draft.copy()
    ridge = lambda lhs, rhs: np.linalg.solve(lhs.T @ lhs + strength * np.eye(lhs.shape[1]), lhs.T @ rhs)  # noqa: E731
    target = np.sqrt(view.rows.weight) * view.rows.target[:, 0]
    design, active = design_of(view, 0), draft.is_active[:, 0]
    draft.consequents[:, 0][active] = ridge(design, target)
    price = price_terms(View(draft, view.rows), strength)[:, 0]

    def objective(columns):
        w = ridge(columns, target)
        return np.sum((target - columns @ w) ** 2) + strength * w @ w

    for j, (r, m) in enumerate(np.argwhere(active)):
        if m == 0:
            assert np.isinf(price[r, m])
        else:
            grown = objective(np.delete(design, j, axis=1)) - objective(design)
            assert price[r, m] == pytest.approx(grown, rel=1e-6)
    assert np.isinf(price[~active]).all()


def test_prices_of_conditions_and_rules_are_exact(view):
    conditions, rules = price_conditions(view), price_rules(view)
    for r, m in np.argwhere(np.isfinite(view.draft.widths)):
        draft = view.draft.copy()
        draft.widths[r, m] = np.inf
        assert conditions[r, m] == pytest.approx(View(draft, view.rows).error - view.error, rel=1e-7, abs=1e-12)
    assert np.isinf(conditions[0, 2])
    for r in range(5):
        without = view.draft.take(np.delete(np.arange(5), r))
        assert rules[r] == pytest.approx(View(without, view.rows).error - view.error, rel=1e-7, abs=1e-12)


def test_price_of_merged_sets_is_exact(view):
    price = price_merge(view, 1, (1, 4))
    draft = view.draft.copy()
    own = [1, 3, 4]
    weight = view.mean_share[own] / view.mean_share[own].sum()
    draft.centers[own, 1] = weight @ view.draft.centers[own, 1]
    draft.widths[own, 1] = np.exp(weight @ np.log(view.draft.widths[own, 1]))
    assert price == pytest.approx(View(draft, view.rows).error - view.error, rel=1e-7)


def test_far_rows_do_not_spoil_the_prices():
    rules = RuleBase([[0.0], [50.0]], [[0.1], [0.1]], [[[1.0, 0.0]], [[2.0, 0.0]]])
    X = np.r_[np.linspace(-1, 1, 20), np.linspace(49, 51, 20)][:, None]
    rows = Rows(X, rules.predict(X)[:, None], np.ones(40))
    units = make_standardizer(rules, rows)
    view = View(units.make_draft(), units.make_rows(rows))
    np.testing.assert_allclose(price_rules(view), 2.0, rtol=1e-9)  # half of the rows are off by two spreads
    assert np.isfinite(price_conditions(view)).all()


def test_moves_save_words_and_keep_ties(view):
    for action, draft in propose_moves(view, 4, ["a", "b", "c"]):
        assert draft.count().total < view.draft.count().total, action
        for m in range(3):
            for label in np.unique(draft.sets[draft.has_condition[:, m], m]):
                own = draft.has_condition[:, m] & (draft.sets[:, m] == label)
                assert len(np.unique(draft.centers[own, m])) == len(np.unique(draft.widths[own, m])) == 1, action


def test_refining_lowers_the_error_and_keeps_what_is_missing(view):
    better, damping = refine(view, 0.1)
    assert better.error < view.error
    assert damping < 0.1
    assert better.draft.count() == view.draft.count()
    assert better.draft.centers[3, 1] == better.draft.centers[1, 1] != view.draft.centers[1, 1]
    assert better.draft.widths[3, 1] == better.draft.widths[1, 1]
    assert not better.draft.consequents[~view.draft.is_active].any()


def test_a_short_step_of_refining_goes_down_the_gradient(view):
    """With much damping the step is along the scaled gradient, which differences confirm."""
    moved, _ = refine(view, 1e3)
    step = moved.draft.centers[2, 0] - view.draft.centers[2, 0]
    errors = []
    for sign in (-1, 1):
        draft = view.draft.copy()
        draft.centers[2, 0] += sign * 1e-5
        errors.append(View(draft, view.rows).error)
    assert np.sign(step) == -np.sign(errors[1] - errors[0])


def test_rules_with_bends_and_limits_become_smaller_rules_without_limits():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 9, size=(200, 2))
    y = 3 * np.log(X[:, 0]) + np.where(X[:, 1] > 5, 2.0, 0.0) + 0.05 * rng.normal(size=200)
    limits = [{1: (-np.inf, 4)}, {1: (4, 6)}, {1: (6, np.inf)}]
    part = make_part(2, [{1: (3, 1)}, {1: (5, 1)}, {1: (7, 1)}], [Bend(0, "log", 0.0, floor=0.1)], limits=limits)
    model = fit_sum([part], X, y[:, None])
    result = simplify(model, X, y, max_rules=2)
    assert (result.model.n_rules, result.model.intervals) == (2, None)
    assert result.model.bends == part.bends
    assert np.sqrt(np.mean((result.model.predict(X) - y) ** 2)) < 0.5


def test_a_sum_of_rule_bases_is_refused():
    model, X, y = diabetes_sum()
    with pytest.raises(TypeError, match="sum of 3 rule bases, and this takes one"):
        simplify(model, X, y)


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
