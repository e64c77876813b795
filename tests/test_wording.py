import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import explore, problems, to_takagi
from golden import assert_golden
from takagi import Bend, Calibration, RuleBase, RuleModel
from takagi._conditions import category_memberships, count_conditions, excludes_nothing, name_place
from takagi._text import format_to_step, shorten, step_below
from takagi._wording import describe_model, describe_rules, find_doubt, read_rules
from takagi.profile import measure_profile
from takagi.tables import Column

INF = float("inf")


def look_at(rules, X):
    return measure_profile((X, rules.predict(X).reshape(len(X), -1)), rules.firing_share)


@pytest.fixture(scope="module")
def houses():
    """Rules about houses, with data; the third has no condition on age, the second a useless one on rooms."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(6.2, 0.7, 500), rng.uniform(0, 100, 500), rng.integers(0, 2, 500)])
    rules = RuleBase(
        centers=[[6.8, 20.0, 1.0], [5.0, 60.0, 0.0], [7.5, 50.0, 0.5]],
        widths=[[0.4, 25.0, 0.4], [9.0, 30.0, 0.3], [0.5, np.inf, 4.0]],
        consequents=[[[3.2, 4.1, -0.01234, 0.5]], [[12.0, 0.7, -0.1, 0.0]], [[-20.0, 9.87654, 1e-7, 0.25]]],
        feature_names=["rooms", "age", "river=yes"],
        output_names=["price"],
    )
    return rules, X


def test_rules_read_as_words_with_numbers(houses):
    rules, X = houses
    assert_golden("houses", describe_rules(rules, look_at(rules, X)))


def test_shared_sets_are_named_by_rank():
    rules = RuleBase(
        centers=[[0.0], [1.0], [2.0], [1.0]],
        widths=[[0.5]] * 4,
        consequents=[[[1.0, 0.0]]] * 4,
        sets=[[0], [1], [2], [1]],
    )
    profile = look_at(rules, np.linspace(-1, 3, 50)[:, None])
    words = {reading.number: reading.conditions[0].word for reading in read_rules(rules, profile)}
    assert words == {1: "low", 2: "medium", 3: "high", 4: "medium"}


def test_columns_of_a_table_read_as_words():
    columns = [
        Column("fuel", "category", levels=("diesel", "gas", "petrol", "wood")),
        Column("sold", "boolean"),
        Column("km", "number", fill=5.0, has_missing=True),
    ]
    names = [name for column in columns for name in column.inputs]
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            np.eye(4)[rng.integers(0, 4, 300)],
            rng.integers(0, 2, (300, 1)),
            rng.normal(50, 10, 300),
            rng.random(300) < 0.1,
        ]
    )
    centers = np.array([[1.0, 0, 0, 0, 1, 60, 0], [0.0, 0, 0.5, 0, 0, 40, 1], [0.5, 0.5, 0.5, -3, 0.5, 50, 0.5]])
    widths = np.array([[0.3, 1, 1, 1, 0.3, 5, 0.2], [2, 0.5, 2, 0.5, 0.3, 5, 0.4], [1, 1, 1, 1, 5, 500, 5]])
    weights = np.arange(24).reshape(3, 1, 8) / 10
    rules = RuleBase(centers, widths, weights, feature_names=names, output_names=["price"])
    assert_golden("table", describe_rules(rules, look_at(rules, X), columns))


def test_a_category_of_two_levels_has_one_term():
    columns = [Column("sex", "category", ("female", "male")), Column("age", "number")]
    weights = [[[10.0, -0.5, 1.5, 2.0]]]
    rules = RuleBase(np.zeros((1, 3)), np.ones((1, 3)), weights, feature_names=["sex=female", "sex=male", "age"])
    assert "THEN y = 9.5 + 2 [sex is male] + 2 age" in describe_rules(rules, columns=columns)
    rare = [replace(columns[0], has_others=True), columns[1]]
    assert "10 - 0.5 [sex is female] + 1.5 [sex is male] + 2 age" in describe_rules(rules, columns=rare)


def test_numbers_that_stand_for_words_are_named_by_them():
    months = Column("when month", "number", tuple("JFMAmjuasond"), reading="month of y-m-d", values=tuple(range(1, 13)))
    stores = tuple(f"s{k}" for k in range(9))
    store = Column("store", "number", stores, reading="mean", values=tuple(range(100, 109)))
    intervals = [
        [[10.5, INF], [106.5, INF]],
        [[2.5, 3.5], [-INF, 104.0]],
        [[-INF, INF], [101.5, 105.5]],
        [[0.0, 13.0], [104.1, 104.2]],
    ]
    shape = len(intervals), 2
    rules = RuleBase(np.zeros(shape), np.ones(shape), np.ones((4, 1, 3)), intervals=intervals, feature_names=["m", "s"])
    assert find_conditions(rules, columns=[months, store]) == {
        1: ["when month is n to d", "store is s7 or s8"],
        2: ["when month is M", "store is one of the 5 lowest of 9 (s0, s1, s2, ...)"],
        3: ["store is one of the 4 in the middle of 9 (s2, s3, s4, ...)"],
        4: ["store is of a mean between 104.1 and 104.2"],
    }
    assert "mean(store)" in describe_rules(rules, columns=[months, store])


def test_projections_read_as_the_combinations_that_they_are():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2)) * [1.0, 30.0]
    rules = RuleBase(
        [[0.5, 0.0, 10.0], [-0.5, 1.0, -10.0]],
        [[0.3, 1.0, 20.0], [0.3, 0.5, 25.0]],
        [[[1.0, 2.0, 0.5, 0.01]], [[-1.0, 0.25, 0.0, 0.02]]],
        antecedent_projection=[[0.1], [1.0], [0.05]],
        consequent_projection=[[0.0], [0.6], [-0.02]],
        feature_names=["dose", "weight"],
        output_names=["effect"],
    )
    assert_golden("projections", describe_rules(rules, look_at(rules, X)))


@explore
@given(problems(), st.integers(1, 200))
def test_text_fits_eighty_columns_whatever_the_names(problem, name_length):
    n_features, n_outputs = problem.X.shape[1], problem.y.shape[1]
    rules = to_takagi(
        problem.rules,
        feature_names=[f"{m:x}".rjust(name_length, "f") for m in range(n_features)],
        output_names=[f"{o}".rjust(name_length, "t") for o in range(n_outputs)],
    )
    profile = look_at(rules, problem.X)
    for text in (describe_rules(rules, profile), describe_model(replace(rules, profile=profile), centered=True)):
        assert max(map(len, text.splitlines())) <= 80
        assert all(line == line.rstrip() for line in text.splitlines())


@explore
@given(problems())
def test_a_left_out_condition_never_halves_firing_within_the_data(problem):
    rules = to_takagi(problem.rules)
    profile = look_at(rules, problem.X)
    n_projected = rules.centers.shape[1] - rules.n_features
    for r in range(rules.n_rules):
        for m in range(rules.n_features):
            c, s = rules.centers[r, n_projected + m], rules.widths[r, n_projected + m]
            membership = np.exp(-0.5 * ((problem.X[:, m] - c) / s) ** 2)
            if excludes_nothing(c, s, profile, m):
                assert membership.min() >= 0.5 * membership.max() * (1 - 1e-9)
            elif membership.max() > 0:  # the best place may lie between the rows
                best = np.exp(-0.5 * ((np.clip(c, *profile.span(m)) - c) / s) ** 2)
                assert membership.min() < 0.5 * best * (1 + 1e-9)


def evaluate(terms, row, names):
    """Compute a printed formula by hand."""
    total = 0.0
    for term in " ".join(terms).replace("- ", "-").replace("+ ", "+").split(" "):
        if re.fullmatch(r"[+-]?[\d.e+-]+", term):
            weight, factor = float(term), 1.0
            total += weight
        else:
            total += weight * (row[names.index(term)] - factor)
    return total


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 2000.0])
def test_rounding_a_formula_costs_a_hundredth_of_the_targets_spread(scale, shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * 10.0 ** np.arange(-2, 4) * scale + shift * scale
    weights = np.concatenate([rng.normal(size=(4, 1, 1)), rng.normal(size=(4, 1, 6)) / X.std(axis=0)], axis=2)
    weights[:, 0, 0] -= weights[:, 0, 1:] @ X.mean(axis=0)
    rules = RuleBase(X[:4], np.tile(X.std(axis=0), (4, 1)), weights)
    profile = look_at(rules, X)
    spread = profile.output_quantiles[-3, 0] - profile.output_quantiles[2, 0]
    names = [f"x{m}" for m in range(6)]
    outputs = rules.rule_outputs(X)[:, :, 0]
    for reading in read_rules(rules, profile):
        printed = np.array([evaluate(reading.formulas[0], row, names) for row in X])
        error = printed - outputs[:, reading.number - 1]
        assert np.sqrt((error**2).mean()) <= 0.01 * spread
        assert len(" ".join(reading.formulas[0])) < 200


def test_rules_are_ordered_by_share_and_keep_their_numbers(houses):
    rules, X = houses
    profile = look_at(rules, X)
    readings = read_rules(rules, profile)
    assert [reading.number - 1 for reading in readings] == list(np.argsort(-profile.share))
    assert [reading.number for reading in read_rules(rules)] == [1, 2, 3]


def test_memberships_of_levels_are_those_of_their_rows():
    rng = np.random.default_rng(0)
    centers, widths = rng.normal(size=4), rng.uniform(0.2, 2, 4)
    rows = np.exp(-0.5 * (((np.eye(4) - centers) / widths) ** 2).sum(axis=1))
    np.testing.assert_allclose(category_memberships(centers, widths), rows / rows.max())


@pytest.mark.parametrize(
    ("place", "word"), [(0.0, "very low"), (0.2, "low"), (0.5, "medium"), (0.8, "high"), (1.0, "very high")]
)
def test_words_come_from_the_place_in_the_data(place, word):
    assert name_place(place) == word


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (26.26, 0.1, "26.3"),
        (-0.04, 0.1, "0"),
        (123456789.0, 1e3, "1.23457e+08"),
        (1.5e-7, 1e-8, "1.5e-07"),
        (2e300, 1e299, "2e+300"),
        (99.96, 0.1, "100.0"),
        (5e-324, 1e-300, "0"),
        (np.float64(-1e308), 0.01, "-1e+308"),
        (5e-324, 0.0, "5e-324"),
    ],
)
def test_numbers_are_written_to_a_step(value, step, text):
    assert format_to_step(value, step) == text


@given(st.floats(1e-300, 1e300))
def test_a_step_is_a_power_of_ten_not_above(size):
    step = step_below(size)
    assert step <= size * (1 + 1e-9)
    assert size < step * 10 * (1 + 1e-9)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(min_value=0.0))
def test_any_number_can_be_written_beside_any_size(value, size):
    step = step_below(size)
    assert float(format_to_step(value, step)) == pytest.approx(value, abs=step)


@pytest.mark.parametrize("name", ["", " ", "\n", "a\tb", "x" * 500, "<script>alert(1)</script>", "שלום", "🚗" * 30])
def test_any_name_is_shown_on_one_line(name):
    shown = shorten(name)
    assert 0 < len(shown) <= 40
    assert "\n" not in shown
    assert "\t" not in shown


def test_a_constant_target_is_written_with_four_digits(houses):
    rules, X = houses
    profile = replace(look_at(rules, X), output_quantiles=np.full((21, 1), 3.0))
    assert read_rules(rules, profile)[0].formulas[0]


def find_conditions(rules, profile=None, columns=None):
    return {r.number: [condition.text for condition in r.conditions] for r in read_rules(rules, profile, columns)}


def test_intervals_read_as_what_they_mean():
    limits = [[-INF, 30.0], [7.2, INF], [300.0, 420.0], [-INF, INF], [-0.5, -0.5]]
    rules = RuleBase(
        np.zeros((1, 5)), np.ones((1, 5)), np.zeros((1, 1, 6)), intervals=[limits],
        feature_names=["age", "RM", "TAX", "LSTAT", "z"],
    )  # fmt: skip
    assert find_conditions(rules) == {1: ["age below 30", "RM above 7.2", "TAX from 300 to 420", "z is -0.5"]}
    assert str(rules).splitlines()[1] == "  IF age below 30 and RM above 7.2 and TAX from 300 to 420 and z is -0.5"


def test_limits_survive_a_change_of_units():
    limits = np.array([[[-INF, 30.0]], [[30.0, 61.7]], [[0.0, INF]]])
    rules = RuleBase(np.zeros((3, 1)), np.ones((3, 1)), np.zeros((3, 1, 2)), intervals=limits)
    rules = replace(rules, profile=look_at(rules, np.linspace(-90, 90, 60)[:, None]))
    mean, scale = np.array([38.123456789]), np.array([13.3333333])
    zero, one = np.zeros(1), np.ones(1)
    there = rules.rescale(-mean / scale, 1 / scale, zero, one)
    back = there.rescale(mean, scale, zero, one)
    assert find_conditions(back, back.profile) == find_conditions(rules, rules.profile)
    assert find_conditions(rules) == {1: ["x0 below 30"], 2: ["x0 from 30 to 61.7"], 3: ["x0 above 0"]}


def test_an_interval_with_all_of_the_data_is_no_condition():
    limits = [[[-INF, 99.0]], [[-5.0, 10.0]], [[-5.0, 9.9]]]
    rules = RuleBase(np.zeros((3, 1)), np.ones((3, 1)), np.zeros((3, 1, 2)), intervals=limits)
    profile = look_at(rules, np.linspace(0, 10, 30)[:, None])
    assert find_conditions(rules, profile) == {1: [], 2: [], 3: ["x0 from -5 to 9.9"]}


@pytest.mark.parametrize(
    ("interval", "place"),
    [
        ((-INF, 10.0), "very low"),
        ((-INF, 50.0), "low"),
        ((20.0, 70.0), "medium"),
        ((-INF, 95.0), "medium"),
        ((50.0, INF), "high"),
        ((99.0, INF), "very high"),
        ((150.0, INF), "very high"),
    ],
)
def test_the_place_of_an_interval_is_that_in_the_distribution(interval, place):
    values = np.arange(101.0)
    for stretch in (lambda x: x, lambda x: np.exp(x / 5)):  # ranks are the same, however skewed the column is
        limits = [limit if np.isinf(limit) else stretch(limit) for limit in interval]
        rules = RuleBase([[0.0]], [[1.0]], np.zeros((1, 1, 2)), intervals=[[limits]])
        (reading,) = read_rules(rules, look_at(rules, stretch(values)[:, None]))
        assert [condition.place for condition in reading.conditions] == [place]


def test_intervals_of_a_table_read_as_words():
    columns = [
        Column("fuel", "category", levels=("diesel", "gas", "petrol", "wood")),
        Column("sold", "boolean", has_missing=True),
        Column("km", "number", fill=5.0, has_missing=True),
    ]
    names = [name for column in columns for name in column.inputs]
    anything, yes, no = [-INF, INF], [0.5, INF], [-INF, 0.5]
    intervals = [
        [yes, *[anything] * 3, yes, no, [10.0, INF], no],
        [no, no, anything, anything, no, anything, anything, yes],
        [no, *[anything] * 3, [0.5, 1.5], anything, anything, anything],
        [yes, anything, yes, anything, [-1.0, 2.0], anything, anything, anything],
        [no, no, no, no, anything, anything, anything, anything],
    ]
    rules = RuleBase(np.zeros((5, 8)), np.ones((5, 8)), np.zeros((5, 1, 9)), intervals=intervals, feature_names=names)
    assert find_conditions(rules, columns=columns) == {
        1: ["fuel is diesel", "sold is true", "km above 10"],
        2: ["fuel is petrol or wood", "sold is false", "km is missing"],
        3: ["fuel is not diesel", "sold is true"],
        4: ["fuel is diesel or petrol"],
        5: ["fuel is neither diesel nor gas nor petrol nor wood"],
    }
    assert [count_conditions(rules, r, None, columns) for r in range(5)] == [3, 3, 2, 1, 1]


def test_a_number_that_is_zero_or_one_reads_as_yes_or_no_if_the_data_say_so():
    rules = RuleBase([[0.0]], [[1.0]], np.zeros((1, 1, 2)), intervals=[[[0.5, INF]]], feature_names=["river"])
    profile = look_at(rules, np.array([[0.0], [1.0], [1.0]]))
    assert find_conditions(rules) == {1: ["river above 0.5"]}
    assert find_conditions(rules, profile) == {1: ["river is true"]}


def test_wide_names_and_limits_fit_eighty_columns():
    names = ["a name that is very long indeed, and then some more " * 3, "b" * 200]
    rules = RuleBase(
        np.zeros((1, 2)), np.ones((1, 2)), np.ones((1, 1, 4)), bends=[Bend(1, "above", 1234567.25)],
        intervals=[[[-123456.789, 1234567.891], [1e-7, INF]]], feature_names=names,
    )  # fmt: skip
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e7
    rules = replace(rules, profile=look_at(rules, X))
    for centered in (False, True):
        text = describe_model(rules, centered=centered)
        assert max(map(len, text.splitlines())) <= 80
        assert "from -123456.789 to 1234567.891" in " ".join(text.split())


# -- centered formulas -------------------------------------------------------------------------------------------------


def test_centered_formulas_say_the_same_as_plain_ones():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3)) * [0.7, 30.0, 1.0] + [6.3, -250.0, 0.0]
    X[:, 2] = X[:, 2] > 0
    rules = RuleBase(
        [X[0]], [[INF] * 3], [[[-10.0, 5.9, 0.02, 3.0, 2.0]]], bends=[Bend(0, "above", 7.0)],
        feature_names=["RM", "TAX", "river"], output_names=["price"],
    )  # fmt: skip
    profile = look_at(rules, X)
    (reading,) = read_rules(rules, profile, centered=True)
    text = " ".join(reading.formulas[0])
    number = r"(\d+\.?\d*)"
    form = rf"{number} \+ {number} \(RM - {number}\) \+ {number} \(TAX \+ {number}\) \+ {number} river"
    found = re.fullmatch(form + rf" \+ {number} max\(RM - 7, 0\)", text)
    assert found, text
    bias, slope, middle, tax, tax_middle, river, bent = map(float, found.groups())
    assert middle == pytest.approx(X[:, 0].mean(), abs=0.06)
    assert tax_middle == pytest.approx(-X[:, 1].mean(), abs=3)
    assert bias == pytest.approx(-10 + 5.9 * middle - 0.02 * tax_middle, abs=0.05)  # exact but for its digits
    printed = bias + slope * (X[:, 0] - middle) + tax * (X[:, 1] + tax_middle) + river * X[:, 2]
    printed += bent * np.maximum(X[:, 0] - 7, 0)
    spread = profile.output_quantiles[-3, 0] - profile.output_quantiles[2, 0]
    assert np.sqrt(np.mean((printed - rules.predict(X)) ** 2)) <= 0.01 * spread
    assert len(text) <= len(" ".join(read_rules(rules, profile)[0].formulas[0])) + len("( - 6.3)( + 250)")


def test_centered_formulas_leave_levels_and_constant_columns():
    columns = [Column("fuel", "category", levels=("diesel", "gas")), Column("km", "number"), Column("one", "number")]
    rng = np.random.default_rng(0)
    X = np.column_stack([np.eye(2)[rng.integers(0, 2, 100)], rng.normal(50, 10, 100), np.full(100, 7.0)])
    rules = RuleBase([X[0]], [[INF] * 4], [[[1.0, 2.0, 3.0, -0.5, 0.25]]])
    (reading,) = read_rules(rules, look_at(rules, X), columns, centered=True)
    _, *terms = reading.formulas[0]
    names = [term.split(" ", 2)[2] for term in terms]
    assert names == ["[fuel is gas]", "(km - 50)", "one"]


def test_centered_formulas_need_data(houses):
    with pytest.raises(ValueError, match="give X"):
        read_rules(houses[0], centered=True)


# -- rules that make sense only together -------------------------------------------------------------------------------


def make_pair(low, high, outputs=(1.0, 2.0), **others):
    """Return two rules of one input over 0 to 10, with a profile in which targets go from 0 to 3."""
    rules = RuleBase([[low], [high]], [[2.0], [2.0]], [[[outputs[0], 0.0]], [[outputs[1], 0.0]]], **others)
    X = np.linspace(0, 10, 50)[:, None]
    return replace(rules, profile=measure_profile((X, 0.3 * X), rules.firing_share))


def test_rules_whose_centers_are_outside_the_data_make_sense_only_together():
    assert find_doubt(make_pair(2.0, 8.0).parts) == ""
    rules = make_pair(-2.0, 8.0)
    assert find_doubt(rules.parts) == "50 % of their conditions are centered outside the data"
    assert find_doubt(replace(rules, profile=None).parts) == ""
    assert str(rules).splitlines()[-3:] == [
        "Note: These rules make sense only together: 50 % of their conditions are",
        "      centered outside the data. For rules that can be read one by one, fit",
        '      TSKRegressor(recipe="short").',
    ]
    assert "Note:" not in describe_rules(rules, rules.profile)


def test_where_intervals_are_what_conditions_mean_centers_do_not_matter():
    rules = make_pair(-2.0, 12.0, intervals=[[[-INF, 5.0]], [[5.0, INF]]])
    assert find_doubt(rules.parts) == ""
    assert "Note:" not in str(rules)


@pytest.mark.parametrize("has_intervals", [True, False])
def test_rules_whose_formulas_leave_the_targets_range_make_sense_only_together(has_intervals):
    others = {"intervals": [[[-INF, 5.0]], [[5.0, INF]]]} if has_intervals else {}
    assert find_doubt(make_pair(2.0, 8.0, (-0.29, 3.29), **others).parts) == ""
    rules = make_pair(2.0, 8.0, (-0.31, 2.0), **others)
    assert find_doubt(rules.parts) == "for 50 % of the data, single formulas leave the range of the target"
    assert ("short" in str(rules)) is not has_intervals  # rules with intervals are short already


def test_in_a_sum_formulas_count_with_what_the_other_parts_say():
    parts = make_pair(2.0, 8.0, (-9.0, -8.0)), make_pair(2.0, 8.0, (10.0, 10.0))
    assert find_doubt(parts) == ""
    assert find_doubt(parts[:1]) != ""


def test_categories_and_yes_or_no_are_never_outside_the_data():
    columns = [Column("fuel", "category", levels=("diesel", "gas")), Column("sold", "boolean")]
    rules = RuleBase([[2.0, -1.0, -3.0]], [[0.5, 0.5, 0.5]], np.zeros((1, 1, 4)))
    X = np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1]])
    rules = replace(rules, profile=measure_profile((X, X[:, :1]), rules.firing_share))
    assert find_doubt(rules.parts, columns) == ""


def test_probabilities_have_no_range_to_leave():
    rules = make_pair(2.0, 8.0, (-30.0, 30.0), link="logit")
    assert find_doubt(rules.parts) == ""


def test_a_formula_ends_with_how_far_it_is_off_if_that_is_known():
    part = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]])
    known = Calibration([[12.34], [0.5]], [[1.0]], [[0.9]], 9)
    assert describe_model(RuleModel((part,), known)).splitlines() == [
        "Rule 1",
        "  IF x0 is about 0 +- 2.0",
        "  THEN y = 1 x0 +- 12",
        "Rule 2",
        "  IF x0 is about 10.0 +- 2.0",
        "  THEN y = 5 +- 0.50",
    ]
    assert "+- 12" not in describe_model(RuleModel((part,)))


def test_rules_of_adjustments_have_spreads_of_their_own():
    part = RuleBase([[0.0]], [[2.0]], [[[0.0, 1.0], [3.0, 0.0]]])
    known = Calibration([[1.0, 2.0], [3.0, 0.0]], [[1.0, 1.0]], [[0.9, 0.9]], 9)
    text = describe_model(RuleModel((part, part), known))
    assert "THEN y0 = 1 x0 +- 1.0" in text
    assert "THEN y1 = 3 +- 2.0" in text
    assert "ADD to y0: 1 x0 +- 3.0" in text
    assert "ADD to y1: 3 +- 0" in text


@pytest.mark.parametrize(("part", "line"), [(0.0, ""), (0.004, ""), (0.06, "6 %"), (None, "")])
def test_rules_say_for_which_part_of_the_data_none_of_them_holds(part, line):
    rows = np.linspace(0, 10, 21)[:, None]
    rules = RuleBase(
        [[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]], intervals=[[[-np.inf, 4.0]], [[6.0, np.inf]]]
    )
    profile = measure_profile((rows, rows), rules.firing_share, intervals=rules.intervals)
    assert profile.uncovered == 3 / 21  # 4.5, 5 and 5.5
    told = replace(rules, profile=replace(profile, uncovered=part))
    lines = describe_model(RuleModel((told, told))).splitlines()
    said = f"No rule's conditions hold for {line} of the data: the nearest rule governs there."
    assert [place for place, text in enumerate(lines) if text == said] == ([7, 15] if line else [])
