import numpy as np
import pytest

from takagi._checks import lie_within
from takagi._extrapolation import HeldCount, count_held

LIMITS = np.array([[0.0, 10.0], [-np.inf, 5.0], [3.0, 3.0]])


def test_values_at_the_limits_are_not_held():
    assert count_held(np.array([[0.0, -1e300, 3.0], [10.0, 5.0, 3.0]]), LIMITS) is None
    assert count_held(np.full((2, 3), 1e9), None) is None


def test_rows_and_values_are_counted_apart():
    found = count_held(np.array([[-1.0, 6.0, 3.0], [11.0, 0.0, 3.0], [5.0, 5.0, 3.0]]), LIMITS)
    assert (found.n_rows, found.n_held) == (3, 2)
    assert (found.below.tolist(), found.above.tolist()) == ([1, 0, 0], [1, 1, 0])


def test_counts_of_blocks_add_up():
    rows = np.random.default_rng(0).normal(scale=8, size=(40, 3))
    whole, parts = count_held(rows, LIMITS), [count_held(block, LIMITS) for block in (rows[:15], rows[15:])]
    together = parts[0].add(parts[1])
    assert (together.n_rows, together.n_held) == (whole.n_rows, whole.n_held)
    np.testing.assert_array_equal(together.below, whole.below)


def test_columns_with_most_held_rows_come_first_and_few_are_named():
    counts = HeldCount(1_200, 900, np.array([0, 1, 2, 0]), np.array([0, 0, 700, 3]))
    limits = np.array([[0.0, 1.0], [2.0, 3.0], [-4.5, 5.25], [6.0, 7.0]])
    assert counts.describe(["a", "b", "c", "d"], limits) == (
        "Values far beyond the training data are held at a limit in 900 of 1,200 rows: c at -4.5 or 5.25 (702 rows), "
        "d at 7 (3 rows), b at 2 (1 row)."
    )
    assert counts.describe(["a", "b", "c", "d"]).endswith("rows: c (702 rows), d (3 rows), b (1 row).")
    many = HeldCount(1, 1, np.ones(8, dtype=int), np.zeros(8, dtype=int))
    assert many.describe([f"x{m}" for m in range(8)]).endswith("x4 (1 row) and 3 more.")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_features", [1, 3, 700])
def test_one_value_beyond_is_found_wherever_it_is(n_features, order):
    limits = np.tile([-1.0, 2.0], (n_features, 1))
    for n_rows in (1, 5, 1_999, 2_003 if n_features < 10 else 7):
        rows = np.zeros((n_rows, n_features), order=order)
        assert lie_within(rows, limits)
        for row, column, value in ((0, 0, -1.5), (n_rows - 1, n_features - 1, 2.5), (n_rows // 2, 0, 2.5)):
            rows[row, column] = value
            assert not lie_within(rows, limits)
            rows[row, column] = 0.0
    assert lie_within(np.zeros((0, n_features)), limits)
