import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import explore, problems, to_takagi
from golden import assert_golden
from takagi import RuleBase
from takagi._text import format_to_step, shorten, step_below
from takagi._wording import category_memberships, describe_rules, excludes_nothing, name_place, read_rules
from takagi.profile import measure_profile
from takagi.tables import Column


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
    text = describe_rules(rules, look_at(rules, problem.X))
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
    ],
)
def test_numbers_are_written_to_a_step(value, step, text):
    assert format_to_step(value, step) == text


@given(st.floats(1e-300, 1e300))
def test_a_step_is_a_power_of_ten_not_above(size):
    step = step_below(size)
    assert step <= size * (1 + 1e-9)
    assert size < step * 10 * (1 + 1e-9)


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
