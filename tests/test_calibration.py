"""Scales of rules and conformity scores, against what can be computed by hand."""

import pickle

import numpy as np
import pytest

from takagi.calibration import Calibration, count_needed, learn_scales, make_intervals, measure_calibration

ONE_RULE = np.ones((99, 1))


def draw_two_rules(n_rows, seed=0):
    """Return crisp shares of two rules and errors of deviation 1 and 3."""
    rng = np.random.default_rng(seed)
    first = rng.random(n_rows) < 0.5
    return np.column_stack([first, ~first]).astype(float), rng.normal(size=(n_rows, 1)) * np.where(first, 1, 3)[:, None]


def test_the_reach_is_the_conformal_quantile():
    errors = np.random.default_rng(1).normal(size=(99, 1))
    known = measure_calibration(ONE_RULE, errors)
    for coverage, place in ((0.9, 90), (0.95, 95), (0.99, 99), (0.5, 50)):
        expected = np.sort(np.abs(errors[:, 0]))[place - 1]
        np.testing.assert_allclose(known.find_reach(coverage) * known.scale[0], expected)


def test_one_scale_is_the_root_mean_square_of_the_errors():
    errors = np.random.default_rng(2).normal(size=(99, 1))
    np.testing.assert_allclose(measure_calibration(ONE_RULE, errors).scale, [[np.sqrt((errors**2).mean())]])


def test_each_rule_finds_its_own_scale():
    share, errors = draw_two_rules(2_000)
    np.testing.assert_allclose(measure_calibration(share, errors).scale[:, 0], [1, 3], rtol=0.1)


def test_crisp_scales_without_shrinkage_are_the_mean_errors_of_each_rule(monkeypatch):
    monkeypatch.setattr("takagi.calibration._SHRINKAGE", (1e-9,))
    share, errors = draw_two_rules(400)
    sizes = np.abs(errors[:, 0])
    scale, spread = learn_scales(share, sizes, np.ones(400))
    np.testing.assert_allclose(scale, [sizes[share[:, 0] > 0].mean(), sizes[share[:, 1] > 0].mean()], rtol=1e-3)
    fold = np.arange(400) % 4 == 0
    others = ~fold & (share[:, 0] > 0)
    np.testing.assert_allclose(spread[fold & (share[:, 0] > 0)], sizes[others].mean(), rtol=1e-3)


def test_rules_with_equal_errors_share_one_scale():
    rng = np.random.default_rng(3)
    share = rng.dirichlet(np.ones(6), size=60)
    scale = measure_calibration(share, rng.normal(size=(60, 1))).scale
    assert scale.max() / scale.min() < 1.2


def test_few_rows_have_one_scale_for_all_rules():
    share, errors = draw_two_rules(15)
    scale = measure_calibration(share, errors).scale
    assert scale[0] == scale[1]


def test_coverage_is_kept_in_the_mean_of_many_small_calibrations():
    """The finite-sample guarantee: for n rows and coverage c it lies between c and c + 1 / (n + 1)."""
    rng, covered = np.random.default_rng(4), []
    for _ in range(600):
        errors = rng.standard_t(3, size=(30, 1))
        known = measure_calibration(np.ones((19, 1)), errors[:19])
        covered.append(np.mean(np.abs(errors[19:]) <= known.find_reach(0.9) * known.scale[0]))
    assert 0.9 - 0.01 < np.mean(covered) < 0.95 + 0.01


@pytest.mark.slow
def test_coverage_is_kept_where_spreads_vary():
    covered = []
    for seed in range(40):
        share, errors = draw_two_rules(600, seed)
        known = measure_calibration(share[:100], errors[:100])
        reach = known.find_reach(0.9)
        covered.append(np.mean(np.abs(errors[100:]) <= reach * (share[100:] @ known.scale)))
    assert 0.88 < np.mean(covered) < 0.93


def test_a_row_of_weight_zero_has_no_say_and_weights_have_no_unit():
    share, errors = draw_two_rules(200)
    weight = np.repeat([1.0, 2.0], 100)
    known = measure_calibration(share, errors, weight)
    scaled = measure_calibration(share, errors, weight * 1e6)
    np.testing.assert_allclose(scaled.scale, known.scale)
    np.testing.assert_allclose(scaled.find_reach(0.9), known.find_reach(0.9))


def test_heavy_rows_move_the_quantile():
    errors = np.r_[np.ones(50), np.full(50, 10.0)][:, None]
    light = measure_calibration(np.ones((100, 1)), errors, np.r_[np.ones(50) * 99, np.ones(50)])
    assert light.find_reach(0.9) * light.scale[0] == pytest.approx(1)
    even = measure_calibration(np.ones((100, 1)), errors)
    assert even.find_reach(0.9) * even.scale[0] == pytest.approx(10)


def test_many_scores_are_thinned_out_and_hold_no_less():
    errors = np.random.default_rng(5).normal(size=(4_000, 1))
    known = measure_calibration(np.ones((4_000, 1)), errors)
    assert len(known.scores) == 1_000
    reach = known.find_reach(0.9) * known.scale[0]
    assert 0.9 <= np.mean(np.abs(errors) <= reach) < 0.903


def test_outputs_are_calibrated_one_by_one():
    errors = np.random.default_rng(6).normal(size=(99, 2)) * [1.0, 1e6]
    both = measure_calibration(ONE_RULE, errors)
    for k in range(2):
        alone = measure_calibration(ONE_RULE, errors[:, [k]])
        np.testing.assert_array_equal(both.scale[:, [k]], alone.scale)
        np.testing.assert_array_equal(both.find_reach(0.8)[[k]], alone.find_reach(0.8))


def test_no_error_at_all_gives_intervals_without_width():
    known = measure_calibration(ONE_RULE, np.zeros((99, 1)))
    intervals = make_intervals(np.ones((2, 1)), known.find_reach(0.9) * (ONE_RULE[:2] @ known.scale))
    np.testing.assert_array_equal(intervals, np.ones((2, 1, 2)))


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_tiny_and_huge_errors_keep_their_digits(size):
    errors = np.random.default_rng(7).normal(size=(99, 1))
    known, plain = measure_calibration(ONE_RULE, errors * size), measure_calibration(ONE_RULE, errors)
    np.testing.assert_allclose(known.scale / size, plain.scale)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, "0.9", None, True, float("nan")])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        measure_calibration(ONE_RULE, np.ones((99, 1))).find_reach(coverage)


def test_too_few_rows_are_told_how_many_are_needed():
    known = measure_calibration(np.ones((8, 1)), np.ones((8, 1)))
    with pytest.raises(ValueError, match=r"coverage 0.9 need at least 9 held-out rows .* the calibration has 8"):
        known.find_reach(0.9)
    assert measure_calibration(np.ones((9, 1)), np.ones((9, 1))).find_reach(0.9) == pytest.approx(1)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_as_many_rows_as_needed_are_enough_and_one_fewer_are_not(coverage):
    needed = count_needed(coverage)
    measure_calibration(np.ones((needed, 1)), np.ones((needed, 1))).find_reach(coverage)
    if needed > 1:
        with pytest.raises(ValueError, match="need at least"):
            measure_calibration(np.ones((needed - 1, 1)), np.ones((needed - 1, 1))).find_reach(coverage)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": [[-1.0]]}, "scale"),
        ({"scores": [[2.0], [1.0]], "levels": [[0.3], [0.6]]}, "in ascending order"),
        ({"levels": [[0.3]]}, "the same shape"),
        ({"scores": np.empty((0, 1)), "levels": np.empty((0, 1))}, "at least one"),
        ({"source": "guess"}, "source"),
        ({"scale": [[np.nan]]}, "finite"),
    ],
)
def test_a_calibration_that_makes_no_sense_is_refused(change, message):
    sound = {"scale": [[1.0]], "scores": [[1.0], [2.0]], "levels": [[0.3], [0.6]], "n_rows": 2}
    with pytest.raises(ValueError, match=message):
        Calibration(**{**sound, **change})


def test_a_calibration_is_a_value():
    known = measure_calibration(ONE_RULE, np.random.default_rng(8).normal(size=(99, 1)))
    assert pickle.loads(pickle.dumps(known)) == known
    assert known.rescale(np.array([2.0])) != known
    with pytest.raises(ValueError, match="read-only"):
        known.scale[0] = 1
