import numpy as np
import pytest

from streamed import X, Y, as_rows
from takagi.fitting._rows import MAX_VALIDATION_ROWS, Rows, measure_columns
from takagi.streaming._seen import Seen, hash_rows, stack_rows


def row_set(rows):
    return {row.tobytes() for row in np.hstack([rows.X, rows.y])}


def see(blocks, fraction=0.3, seed=0):
    rng = np.random.default_rng(seed)
    seen = Seen.begin(blocks[0], fraction, rng)
    for block in blocks[1:]:
        seen = seen.take_in(block, rng)
    return seen


def test_every_distinct_row_is_on_one_side():
    rows = as_rows(np.random.default_rng(1).normal(size=(500, 2)))
    seen = see([rows, rows, rows])
    assert not row_set(seen.reservoir) & row_set(seen.waiting)
    assert row_set(seen.reservoir) | row_set(seen.waiting) == row_set(rows)
    assert len(seen.reservoir.X) == len(row_set(seen.reservoir))
    assert len(seen.waiting.X) == 3 * len(row_set(seen.waiting))


def test_the_reservoir_is_bounded_and_what_it_loses_trains():
    rows = as_rows(np.random.default_rng(1).normal(size=(30_000, 1)))
    blocks = [Rows(*(part[start : start + 3000] for part in rows)) for start in range(0, 30_000, 3000)]
    seen = see(blocks)
    assert len(seen.reservoir.X) == MAX_VALIDATION_ROWS
    assert not row_set(seen.reservoir) & row_set(seen.waiting)
    assert row_set(seen.reservoir) | row_set(seen.waiting) == row_set(rows)


def test_no_row_validates_after_it_has_trained():
    rng, seen, trained = np.random.default_rng(0), None, set()
    pool = as_rows(np.random.default_rng(1).normal(size=(9_000, 1)))
    for _ in range(12):
        block = pool.take(rng.integers(len(pool.X), size=2_000))
        seen = Seen.begin(block, 0.5, rng) if seen is None else seen.take_in(block, rng)
        trained |= row_set(seen.waiting)
        assert not trained & row_set(seen.reservoir)
        seen = seen.drop_waiting(len(seen.waiting.X), 10)
    assert len(seen.reservoir.X) == MAX_VALIDATION_ROWS


def test_membership_of_the_reservoir_does_not_depend_on_order_or_blocks():
    rows = as_rows(np.random.default_rng(1).normal(size=(9_000, 2)))
    turned = rows.take(np.random.default_rng(2).permutation(9_000))
    one, other = see([rows]), see([Rows(*(part[k::7] for part in turned)) for k in range(7)])
    assert row_set(one.reservoir) == row_set(other.reservoir)


def test_the_reservoir_is_a_uniform_sample_of_the_stream():
    rows = as_rows(np.arange(40_000.0)[:, None])
    places = see([Rows(*(part[k : k + 500] for part in rows)) for k in range(0, 40_000, 500)]).reservoir.X[:, 0]
    counts = np.histogram(places, bins=10, range=(0, 40_000))[0]
    assert ((counts - 200) ** 2 / 200).sum() < 27.9  # chi-square with 9 degrees of freedom, one in a thousand


def test_kinds_of_zero_and_of_numbers_are_one_row():
    X = np.array([[0.0, 1.0], [2.0, 3.0]])
    same = [as_rows(X), as_rows(np.where(X == 0, -0.0, X)), as_rows(X.astype(np.float32).astype(float))]
    keys = [hash_rows(rows, 7) for rows in same]
    assert np.array_equal(keys[0], keys[1])
    assert np.array_equal(keys[0], keys[2])
    assert len({*keys[0], *hash_rows(as_rows(X[:, ::-1].copy()), 7)}) == 4
    assert not np.array_equal(keys[0], hash_rows(same[0], 8))


def test_distinct_rows_are_counted_from_the_hashes():
    rows = as_rows(np.random.default_rng(1).normal(size=(20_000, 1)))
    seen = see([rows] * 3)
    assert seen.n_rows == 60_000
    assert seen.n_distinct == pytest.approx(20_000, rel=0.1)
    assert see([rows.take(np.arange(300))] * 3).n_distinct == pytest.approx(300, rel=0.3)


@pytest.mark.parametrize("size", [1, 7, 400])
def test_running_units_are_those_of_all_rows(size):
    X = np.random.default_rng(1).normal(size=(1_000, 3)) * [1e-3, 1.0, 1e150] + [1e6, 0.0, 0.0]
    weight = np.random.default_rng(2).uniform(0.1, 3.0, 1_000)
    rows = as_rows(X, weight=weight)
    seen = see([Rows(*(part[k : k + size] for part in rows)) for k in range(0, 1_000, size)])
    mean, scale = measure_columns(X, weight)
    units = seen.units(True, True)
    np.testing.assert_allclose(units.x_mean / scale, mean / scale, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(units.x_scale[1:], scale[1:], rtol=1e-12)
    np.testing.assert_allclose(units.x_scale[0], scale[0], rtol=1e-6)  # a billion deviations away from zero
    assert np.array_equal([seen.x.low, seen.x.high], [X.min(axis=0), X.max(axis=0)])


def test_inputs_and_target_are_scaled_as_asked():
    seen = see([as_rows(X, Y)])
    scales = {(True, True): (X.std(0), Y.std()), (True, False): (X.std(0), 1.0), (False, False): (1.0, 1.0)}
    for scaled, (x_scale, y_scale) in scales.items():
        units = seen.units(*scaled)
        np.testing.assert_allclose(units.x_scale, np.broadcast_to(x_scale, 3), rtol=1e-12)
        np.testing.assert_allclose(units.y_scale, y_scale, rtol=1e-12)
        np.testing.assert_allclose(units.y_mean, Y.mean(), rtol=1e-12)


def test_stacked_rows_follow_each_other():
    rows = as_rows(X, Y)
    both = stack_rows(rows.take(np.arange(3)), rows.take(np.arange(3, 5)))
    assert np.array_equal(both.X, X[:5])
