import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takagi.fitting._rows import (
    MAX_VALIDATION_ROWS,
    Rows,
    draw_order,
    measure_columns,
    measure_spread,
    measure_units,
    merge_equal_rows,
    split_rows,
    spread_weights,
)


def make_rows(rng, n_rows=30, n_features=3, levels=4):
    X = rng.integers(0, levels, size=(n_rows, n_features)).astype(float)
    return Rows(X, rng.integers(0, 2, size=(n_rows, 1)).astype(float), rng.integers(0, 3, size=n_rows).astype(float))


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_merging_adds_up_the_weights_of_equal_rows(seed):
    rows = make_rows(np.random.default_rng(seed), levels=2)
    expected: dict[tuple, float] = {}
    for x, y, w in zip(rows.X, rows.y, rows.weight, strict=True):
        if w > 0:
            expected[(*x, *y)] = expected.get((*x, *y), 0.0) + w
    if not expected:
        return
    merged = merge_equal_rows(rows)
    found = {(*x, *y): w for x, y, w in zip(merged.X, merged.y, merged.weight, strict=True)}
    assert len(found) == len(merged.X)
    assert found == expected


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_merged_rows_depend_neither_on_the_order_of_rows_nor_on_units(seed):
    rng = np.random.default_rng(seed)
    rows = Rows(rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), np.ones(40))
    merged = merge_equal_rows(rows)
    again = merge_equal_rows(rows.take(rng.permutation(40)))
    for first, second in zip(merged, again, strict=True):
        np.testing.assert_array_equal(first, second)
    scaled = merge_equal_rows(Rows(rows.X * [3.0, 0.1, 1e9] + [0.0, 5.0, 0.0], rows.y * 7.0, rows.weight))
    np.testing.assert_allclose(scaled.y / 7.0, merged.y)
    swapped = merge_equal_rows(Rows(rows.X[:, [2, 0, 1]], rows.y, rows.weight))
    np.testing.assert_array_equal(swapped.X, merged.X[:, [2, 0, 1]])


@pytest.mark.parametrize(("n_rows", "n_val"), [(2, 1), (3, 1), (100, 15), (1000, 150), (50_000, MAX_VALIDATION_ROWS)])
def test_split_takes_the_fraction_up_to_the_cap(n_rows, n_val):
    rows = Rows(np.arange(n_rows)[:, None], np.zeros((n_rows, 1)), np.ones(n_rows))
    training, validation = split_rows(rows, 0.15, np.random.default_rng(0))
    assert len(validation.X) == n_val
    np.testing.assert_array_equal(np.sort(np.r_[training.X, validation.X], axis=0), rows.X)


def test_a_single_row_trains_and_validates():
    rows = Rows(np.ones((1, 2)), np.ones((1, 1)), np.ones(1))
    training, validation = split_rows(rows, 0.15, np.random.default_rng(0))
    assert len(training.X) == len(validation.X) == 1


@pytest.mark.parametrize("factor", [1.0, 1e300, 1e-300])
def test_scales_neither_overflow_nor_underflow(factor):
    columns = np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 0.0]]) * factor
    mean, scale = measure_columns(columns, np.ones(2))
    np.testing.assert_allclose(mean, np.array([2.0, 5.0, 0.0]) * factor)
    np.testing.assert_allclose(scale, [factor, 1.0, 1.0])


def test_weights_count_in_means_and_scales():
    columns = np.array([[0.0], [1.0], [4.0]])
    repeated = np.repeat(columns, [1, 2, 3], axis=0)
    weighted = measure_columns(columns, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(weighted, measure_columns(repeated, np.ones(6)))


@pytest.mark.parametrize("scaled", [(True, True), (True, False), (False, False)])
def test_inputs_and_target_are_scaled_as_asked(scaled):
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(5.0, 3.0, size=(50, 2)), rng.normal(9.0, 4.0, size=(50, 1)), np.ones(50))
    result = measure_units(rows, *scaled).standardize(rows)
    assert np.allclose(result.X.std(axis=0), 1.0) == scaled[0]
    assert np.allclose(result.y.std(axis=0), 1.0) == scaled[1]
    np.testing.assert_allclose(result.y.mean(axis=0), 0.0, atol=1e-12)


def test_heavy_rows_become_several_of_the_same_total_weight():
    rows = Rows(np.arange(21.0)[:, None], np.zeros((21, 1)), np.r_[np.ones(20), 380.0])
    spread = spread_weights(rows)
    assert spread.weight.sum() == pytest.approx(400.0)
    assert spread.weight.max() <= 8 * rows.weight.mean()
    assert (spread.X == 20.0).sum() == 3
    light = rows.take(np.arange(20))
    assert spread_weights(light) is light


def test_heavy_rows_train_and_validate():
    rows = Rows(np.arange(101.0)[:, None], np.zeros((101, 1)), np.r_[np.ones(100), 5000.0])
    for seed in range(5):
        training, validation = split_rows(rows, 0.15, np.random.default_rng(seed))
        assert 100.0 in training.X
        assert 100.0 in validation.X
        assert len(training.X) + len(validation.X) == 102


def test_every_stretch_of_an_order_by_class_has_its_part_of_each_class():
    code = np.repeat([0, 1, 2], [120, 60, 20])
    rows = Rows(np.arange(200.0)[:, None], np.eye(3)[code], np.ones(200))
    order, heavy = draw_order(rows, np.random.default_rng(0), by_class=True)
    assert not len(heavy)
    assert sorted(order) == list(range(200))
    for start in range(0, 200, 20):
        counts = np.bincount(code[order[start : start + 20]], minlength=3)
        assert np.abs(counts - [12, 6, 2]).max() <= 1
    assert not np.array_equal(order, draw_order(rows, np.random.default_rng(1), by_class=True)[0])
    training, held_out = split_rows(rows, 0.15, np.random.default_rng(0), by_class=True)
    np.testing.assert_array_equal(held_out.y.sum(axis=0), [18, 9, 3])
    assert len(training.X) == 170


def test_rows_of_a_rare_class_of_great_weight_are_held_out_as_others_are():
    rare = np.arange(200)[:, None] < 10
    rows = Rows(np.arange(200.0)[:, None], rare.astype(float), np.where(rare[:, 0], 19.0, 1.0))
    assert len(draw_order(rows, np.random.default_rng(0))[1]) == 10
    assert not len(draw_order(rows, np.random.default_rng(0), by_class=True)[1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 2, 10])
def test_means_and_deviations_in_blocks_have_the_bits_of_those_of_all_rows(n_columns, order):
    rng = np.random.default_rng(0)
    columns, weight = np.asarray(3 + rng.normal(size=(20_001, n_columns)), order=order), rng.random(20_001)
    mean, spread = measure_spread(columns, weight)
    peak = np.abs(columns).max(axis=0)
    scaled = columns / peak
    expected = np.average(scaled, axis=0, weights=weight)
    assert np.array_equal(mean, expected * peak)
    assert np.array_equal(spread, np.sqrt(np.average((scaled - expected) ** 2, axis=0, weights=weight)) * peak)
