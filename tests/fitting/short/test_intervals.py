"""What the words of conditions mean."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from takagi._rounding import round_between
from takagi.fitting._short._intervals import find_cuts, fit_intervals


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9))
def test_a_round_number_lies_between(low, gap):
    high = low + max(gap, 1e-9 * abs(low))
    assert low < round_between(low, high) < high


def test_intervals_find_the_rows_that_a_rule_governs():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(2_000, 3))
    mine = (X[:, 0] > 7.2) & (X[:, 1] < 4)
    governs = np.column_stack([mine, ~mine])
    asks = np.array([[True, True, False], [False, False, True]])
    intervals = fit_intervals(X, governs, asks, np.ones(len(X)))
    low, high = intervals[0, 0]
    assert abs(low - 7.2) < 0.3
    assert high == np.inf
    assert intervals[0, 1, 0] == -np.inf
    assert abs(intervals[0, 1, 1] - 4) < 0.3
    assert np.isinf(intervals[0, 2]).all()
    within = ((intervals[0, :, 0] <= X) & (intervals[0, :, 1] >= X)).all(axis=1)
    assert (within == mine).mean() > 0.97


def test_one_condition_at_least_has_a_limit():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 1))
    intervals = fit_intervals(X, np.ones((100, 1), dtype=bool), np.array([[True]]), np.ones(100))
    assert np.isfinite(intervals).any()


def test_cuts_are_few_round_and_within_the_data():
    rng = np.random.default_rng(2)
    cuts = find_cuts(rng.normal(1000, 200, size=5_000))
    assert len(cuts) <= 42
    assert np.isinf(cuts[[0, -1]]).all()
    assert all(len(f"{cut:.10g}") <= 5 for cut in cuts[1:-1])
    np.testing.assert_array_equal(find_cuts(np.array([0.0, 1.0, 1.0, 0.0])), [-np.inf, 0.5, np.inf])
