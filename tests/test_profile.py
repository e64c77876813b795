import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from takagi import RuleBase, TSKRegressor
from takagi._model import open_model
from takagi.inspection._held import list_conditions
from takagi.profile import LEVELS, Profile, join_profiles, measure_profile

JUST_BELOW = LEVELS * (1 - 1e-12)  # so that the rounding of 0.3 x 150 does not skip a value


def one_rule(X):
    return np.ones((len(X), 1))


def make_profile(column):
    return measure_profile((np.reshape(column, (-1, 1)), np.zeros((len(column), 1))), one_rule)


@given(arrays(float, st.integers(1, 40), elements=st.floats(-1e9, 1e9)))
def test_quantiles_and_mean_are_numpys(column):
    profile = make_profile(column)
    np.testing.assert_array_equal(profile.quantiles[:, 0], np.quantile(column, JUST_BELOW, method="inverted_cdf"))
    np.testing.assert_allclose(profile.mean, column.mean(), rtol=1e-12, atol=1e-6)
    assert profile.span(0) == (column.min(), column.max())


def test_a_weight_counts_like_copies():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 1)), rng.integers(1, 4, size=300)
    weighted = measure_profile((X, X), one_rule, weight)
    copied = measure_profile((X.repeat(weight, axis=0), X.repeat(weight, axis=0)), one_rule)
    np.testing.assert_allclose(weighted.mean, copied.mean)
    np.testing.assert_array_equal(weighted.quantiles, copied.quantiles)


def test_place_is_the_part_of_rows_below():
    profile = make_profile(np.arange(101.0))
    assert profile.place(0, 25.0) == pytest.approx(0.25)
    assert (profile.place(0, -5.0), profile.place(0, 500.0)) == (0.0, 1.0)


def test_place_of_a_frequent_value_is_the_middle_of_its_rows():
    profile = make_profile([0.0] * 60 + [1.0] * 40)
    assert profile.place(0, 0.0) == pytest.approx(0.3, abs=0.05)
    assert profile.place(0, 1.0) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(
    ("column", "expected"),
    [([0, 1, 1], True), ([0] * 999 + [1], True), ([1, 1], False), ([0, 0.5, 1], False), ([1, 2], False)],
)
def test_an_indicator_is_zero_or_one_and_both_occur(column, expected):
    assert make_profile(column).is_indicator(0) is expected


def test_many_rows_are_sampled_and_counted():
    X = np.random.default_rng(0).normal(size=(50_000, 2))
    seen = []
    profile = measure_profile((X, X), lambda rows: seen.append(len(rows)) or np.ones((len(rows), 1)))
    assert profile.n_rows == 50_000
    assert seen == [10_000]


def test_the_range_is_that_of_all_rows():
    X = np.random.default_rng(0).uniform(size=(60_001, 1))
    X[1], X[-2] = -100.0, 100.0
    assert measure_profile((X, X), one_rule).span(0) == (-100.0, 100.0)


def test_extreme_numbers_stay_finite():
    profile = make_profile([-1.7e308, 1.7e308, 1.7e308])
    assert np.isfinite(profile.quantiles).all()


def test_nan_is_refused():
    with pytest.raises(ValueError, match="mean of a profile must be finite"):
        Profile(1, [1.0], [np.nan], np.zeros((21, 1)), np.zeros((21, 1)))


def test_a_profile_is_a_value():
    first, second = make_profile([1.0, 2.0]), make_profile([1.0, 2.0])
    assert first == second == pickle.loads(pickle.dumps(first))
    assert first != make_profile([1.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        first.mean[0] = 5.0


def test_a_profile_of_other_rules_is_refused():
    with pytest.raises(ValueError, match="profile must have 1 rules, 2 features and 1 outputs, got 1, 1 and 1"):
        RuleBase([[0.0, 0.0]], [[1.0, 1.0]], [[[0.0, 0.0, 0.0]]], profile=make_profile([1.0, 2.0]))


@pytest.mark.parametrize("standardize", [True, "inputs", False])
def test_a_fitted_model_knows_its_training_rows(standardize):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [3.0, 0.1] + [50.0, -1.0]
    y = X[:, 0] + np.sin(X[:, 1])
    model = TSKRegressor(n_rules=3, recipe="droprule", max_iter=20, standardize=standardize, random_state=0)
    model.fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    profile = model.rule_base_.profile
    assert profile.n_rows == 200  # ranges are those of all rows that were given, shares those of the rows that trained
    np.testing.assert_allclose(profile.quantiles, np.quantile(X, JUST_BELOW, axis=0, method="inverted_cdf"))
    np.testing.assert_allclose(profile.output_quantiles[:, 0], np.quantile(y, JUST_BELOW, method="inverted_cdf"))
    np.testing.assert_allclose(profile.share, model.firing_share(X[:150]).mean(axis=0))
    assert (np.diff(profile.share) <= 0).all()


def test_places_among_tiny_numbers():
    quantiles = np.linspace(-1e-310, 1e-310, len(LEVELS))[:, None]
    profile = Profile(10, np.ones(1), np.zeros(1), quantiles, np.zeros((len(LEVELS), 1)))
    assert profile.place(0, 5e-311) == pytest.approx(0.75)


def test_a_column_of_zeros_has_places():
    profile = make_profile(np.zeros(20))
    assert [profile.place(0, value) for value in (-1.0, 0.0, 1.0)] == [0.0, 0.5, 1.0]


def test_limits_lie_one_range_beyond_the_data_and_are_finite():
    rows = np.array([[2.0, 3.0, -1.2e308], [5.0, 3.0, 1.2e308]])
    limits = measure_profile((rows, np.zeros((2, 1))), lambda X: np.ones((len(X), 1))).find_limits()
    np.testing.assert_array_equal(limits[:2], [[-1.0, 8.0], [3.0, 3.0]])
    largest = np.finfo(float).max
    np.testing.assert_array_equal(limits[2], [-largest, largest])


def test_places_among_tiny_numbers_beside_a_large_one():
    profile = make_profile(np.r_[np.arange(-19, 20) * 1e-301, 2e9])
    places = [profile.place(0, value) for value in (-5e-301, 3e-301, 1e9)]
    assert places == pytest.approx([0.36, 0.56, 0.975], abs=0.03)


# -- rows that no rule names -------------------------------------------------------------------------------------------

NAMED = np.array([[[-np.inf, 2.0], [-np.inf, np.inf]], [[5.0, np.inf], [0.0, 1.0]]])  # x0 to 2; x0 from 5, x1 in 0 to 1


@pytest.mark.parametrize(
    ("rows", "weight", "part"),
    [
        ([[1.0, 9.0], [2.0, 0.0], [5.0, 1.0]], None, 0.0),
        ([[1.0, 9.0], [3.0, 0.0], [5.0, 1.5], [6.0, 0.5]], None, 0.5),
        ([[1.0, 9.0], [3.0, 0.0]], [3.0, 1.0], 0.25),
        ([[np.nan, 9.0], [6.0, np.nan], [3.0, np.nan]], None, 1 / 3),  # what is missing says nothing against a rule
    ],
)
def test_rows_in_no_interval_are_counted(rows, weight, part):
    profile = measure_profile((rows, np.zeros((len(rows), 1))), one_rule, weight, NAMED)
    assert profile.uncovered == pytest.approx(part)
    assert make_profile([1.0, 2.0]).uncovered is None


def test_joined_profiles_count_the_rows_of_both():
    full, half = (
        measure_profile((rows, np.zeros((len(rows), 1))), one_rule, None, NAMED)
        for rows in (np.zeros((30, 2)), np.array([[1.0, 1.0], [3.0, 1.0]] * 5))
    )
    assert join_profiles(full, half).uncovered == pytest.approx(5 / 40)
    assert join_profiles(full, replace(half, uncovered=None)).uncovered is None


def test_short_rules_count_the_rows_that_their_words_leave_out():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = np.where(X[:, 0] > 0.6, 5 * X[:, 1], -3 * X[:, 2]) + np.where(X[:, 1] > 0.7, 4 * X[:, 0], 0)
    model = TSKRegressor(recipe="short", random_state=0).fit(X + 0.01 * rng.normal(size=X.shape), y)
    for part in model.model_.parts:
        held = [
            np.all([c.holds for c in list_conditions(part, r, X, open_model(model).columns, part.profile)], axis=0)
            for r in range(part.n_rules)
        ]
        again = measure_profile((X, y[:, None]), part.firing_share, None, part.intervals)
        assert again.uncovered == pytest.approx(np.mean(~np.any(held, axis=0)), abs=1e-12)
