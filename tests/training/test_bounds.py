"""Bounds of parameters, conditions that are absent, and what the paper says of the projection."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from cases import make_problem, make_rules, to_takagi
from takagi import RuleBase, TrainConfig, train
from takagi.optimizers import OPTIMIZERS, SGDM, Adam
from takagi.rulebase import PARAMETERS
from takagi.training import Bounds

PLAIN = TrainConfig(
    SGDM(beta1=0.0), learning_rate=1e-3, powerball=1.0, keep_prob=1.0, l2=0.0, batch_size=100, max_iter=1
)
FAST = TrainConfig(learning_rate=0.1, keep_prob=1.0, max_iter=60)


def run(start, config, bounds=None, with_validation=True):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, start.n_features)), rng.normal(size=(50, start.n_outputs))
    validation = (X[:20], y[:20]) if with_validation else (None, None)
    return train(start, X, y, *validation, config, rng=np.random.default_rng(1), bounds=bounds)


@pytest.fixture(params=["none", "shared", "separate"])
def start(request):
    sizes = {"n_rules": 9, "n_features": 3, "n_outputs": 2, "projection": request.param}
    return to_takagi(make_rules(np.random.default_rng(3), **sizes))


# ----------------------------------------------------------------------------------------------------------------------
# The box
# ----------------------------------------------------------------------------------------------------------------------


def test_cutting_off_is_the_projection_in_the_norm_of_any_v():
    """The definition of Algorithm 2, solved by a general minimizer, for the v of a training and others."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        point, v = 2 * rng.normal(size=6), rng.uniform(0.01, 10.0, size=6)
        lower = rng.uniform(-1.5, 0.0, size=6)
        upper = lower + rng.uniform(0.1, 2.0, size=6)

        def distance(theta, point=point, v=v):
            return np.sum(np.sqrt(v) * (theta - point) ** 2)  # the square of |v^(1/4) (theta - point)|

        nearest = minimize(distance, (lower + upper) / 2, bounds=list(zip(lower, upper, strict=True)), tol=1e-14).x
        np.testing.assert_allclose(np.clip(point, lower, upper), nearest, atol=1e-5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_step_beyond_a_bound_ends_at_the_bound(start, optimizer):
    config = replace(PLAIN, optimizer=optimizer, learning_rate=0.05)
    free = run(start, config).rule_base
    limits = {}
    for name in PARAMETERS:
        values = getattr(start, name)
        if values is not None:
            limits[name] = (values - 0.01, values + 0.02)
    bounded = run(start, config, Bounds(**limits)).rule_base
    for name, (lower, upper) in limits.items():
        expected = np.clip(getattr(free, name), lower, upper)
        assert (expected != getattr(free, name)).any()
        np.testing.assert_array_equal(getattr(bounded, name), expected)


def test_every_iterate_stays_in_the_box(start):
    bounds = Bounds(centers=(-1, 1), widths=(0.7, 3.0), consequents=(-0.5, 0.5))
    rules = run(start, FAST, bounds, with_validation=False).rule_base
    for name, pair in (("centers", (-1, 1)), ("widths", (0.7, 3.0)), ("consequents", (-0.5, 0.5))):
        assert (getattr(rules, name).min(), getattr(rules, name).max()) == pair


@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_bounds_that_nothing_reaches_change_no_bit(start, averaging):
    config = replace(FAST, averaging=averaging, optimizer=Adam())
    free, wide = (run(start, config, bounds) for bounds in (None, Bounds(centers=(-1e9, 1e9), consequents=(None, 1e9))))
    assert free.rule_base == wide.rule_base
    np.testing.assert_array_equal(free.history["val_loss"], wide.history["val_loss"])


@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_equal_bounds_hold_parameters(start, averaging):
    """Constant consequents are slopes that are held at zero; everything else is trained."""
    slopes = np.where(np.arange(start.consequents.shape[2]) == 0, np.inf, 0.0)
    bounds = Bounds(consequents=(-slopes, slopes))
    rules = run(start, replace(FAST, averaging=averaging), bounds).rule_base
    np.testing.assert_array_equal(rules.consequents[:, :, 1:], 0.0)
    assert (rules.consequents[:, :, 0] != start.consequents[:, :, 0]).all()


def test_a_start_outside_is_moved_to_the_nearest_point_first(start):
    bounds = Bounds(centers=(-0.2, 0.2))
    moved = replace(start, centers=np.clip(start.centers, -0.2, 0.2))
    outside, inside = (run(rules, FAST, bounds) for rules in (start, moved))
    assert outside.rule_base == inside.rule_base
    assert outside.start_loss == inside.start_loss
    none = run(start, replace(FAST, max_iter=0), bounds)
    assert none.rule_base == moved


def test_rules_that_share_a_set_have_the_tightest_bounds():
    grid = to_takagi(make_rules(np.random.default_rng(9), n_rules=11, n_features=2, n_sets=3))
    one = int(np.flatnonzero(np.ptp(grid.sets, axis=0))[0])
    upper = np.full(grid.centers.shape, np.inf)
    upper[4, one] = grid.centers[4, one] - 1
    rules = run(grid, FAST, Bounds(centers=(None, upper))).rule_base
    same = grid.sets[:, one] == grid.sets[4, one]
    assert same.sum() > 1
    assert rules.centers[same, one].max() <= upper[4, one]
    assert len(set(rules.centers[same, one])) == 1


def test_a_tied_projection_has_the_tightest_bounds():
    start = to_takagi(make_rules(np.random.default_rng(4), projection="shared"))
    bounds = Bounds(antecedent_projection=(None, 0.1), consequent_projection=(-0.2, None))
    rules = run(start, FAST, bounds).rule_base
    assert rules.tied_projection
    assert rules.antecedent_projection.min() == -0.2
    assert 0.05 < rules.antecedent_projection.max() <= 0.1


def test_the_width_floor_gives_way_to_a_bound_of_widths():
    problem = make_problem(np.random.default_rng(5), n_rows=40)
    config = TrainConfig(Adam(), learning_rate=1.0, max_iter=100, keep_prob=1.0, width_floor=0.3)
    data = problem.X, problem.y, None, None, config
    least = [
        train(to_takagi(problem.rules), *data, bounds=bounds).rule_base.widths.min()
        for bounds in (None, Bounds(widths=(None, 5.0)), Bounds(widths=(0.2, 5.0)))
    ]
    assert least == [0.3, 0.3, 0.2]


@pytest.mark.parametrize(
    ("name", "pair", "message"),
    [
        ("centers", (1, 0), "must not have a lower bound above an upper bound"),
        ("centers", (0, 1, 2), "bounds of centers must be a pair of a lower and an upper bound, got 3"),
        ("centers", (np.zeros(7), None), r"bounds of centers must broadcast to shape \(5, 3\), got \(7,\)"),
        ("centers", (np.nan, None), "bounds of centers must be numbers, got NaN"),
        ("widths", (-1, None), "lower bounds of widths must not be negative, got -1"),
        ("antecedent_projection", (0, 1), "bounds has antecedent_projection, but the rules have none"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused(name, pair, message):
    with pytest.raises(ValueError, match=message):
        run(to_takagi(make_rules(np.random.default_rng(0))), PLAIN, Bounds(**{name: pair}))


# ----------------------------------------------------------------------------------------------------------------------
# Conditions that are absent
# ----------------------------------------------------------------------------------------------------------------------


def leave_out(rules: RuleBase, chance: float) -> RuleBase:
    absent = np.random.default_rng(2).random(rules.widths.shape) < chance
    return replace(rules, widths=np.where(absent, np.inf, rules.widths))


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("averaging", [0.0, 0.9])
@pytest.mark.parametrize("with_validation", [True, False])
@pytest.mark.parametrize("chance", [0.5, 1.1])
def test_absent_conditions_stay_absent(start, optimizer, averaging, with_validation, chance):
    sparse = leave_out(start, chance)
    config = replace(FAST, optimizer=optimizer, averaging=averaging, smoothness=0.1, learning_rate=0.01)
    result = run(sparse, config, Bounds(widths=(None, 50.0)), with_validation=with_validation)
    assert (result.stopped, result.n_iter) == ("max_iter", 60)
    assert result.best_iter > 0
    absent = np.isinf(sparse.widths)
    np.testing.assert_array_equal(np.isinf(result.rule_base.widths), absent)
    np.testing.assert_allclose(result.rule_base.centers[absent], sparse.centers[absent], rtol=1e-15)
    if chance < 1:
        assert (result.rule_base.widths[~absent] != sparse.widths[~absent]).all()


@pytest.mark.parametrize("powerball", [0.5, 0.7, 1.0])
def test_absent_conditions_train_as_very_wide_ones(start, powerball):
    """Others learn the same, up to what a set of a million widths still says."""
    sparse = leave_out(start, 0.4)
    absent = np.isinf(sparse.widths)
    wide = replace(sparse, widths=np.where(absent, 1e9, sparse.widths))
    config = replace(PLAIN, max_iter=20, powerball=powerball, width_floor=0.1)
    exact, near = (run(rules, config).rule_base for rules in (sparse, wide))
    np.testing.assert_allclose(exact.consequents, near.consequents, rtol=1e-6)
    np.testing.assert_allclose(exact.widths[~absent], near.widths[~absent], rtol=1e-6)
    np.testing.assert_allclose(exact.centers[~absent], near.centers[~absent], rtol=1e-6)


def test_rules_without_any_condition_are_least_squares():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, -2.0, 0.5] + 3.0 + 0.1 * rng.normal(size=50)
    start = RuleBase(np.zeros((1, 3)), np.full((1, 3), np.inf), np.zeros((1, 1, 4)))
    config = replace(PLAIN, optimizer=Adam(), learning_rate=0.05, schedule="cosine", max_iter=4000)
    rules = train(start, X, y, None, None, config).rule_base
    expected = np.linalg.lstsq(np.column_stack([np.ones(50), X]), y, rcond=None)[0]
    np.testing.assert_allclose(rules.consequents[0, 0], expected, atol=1e-6)


@pytest.mark.parametrize("with_validation", [True, False])
def test_divergence_is_seen_beside_absent_conditions(with_validation):
    start = leave_out(to_takagi(make_rules(np.random.default_rng(0))), 0.5)
    result = run(start, replace(PLAIN, learning_rate=1e300, max_iter=300), with_validation=with_validation)
    assert result.stopped == "diverged"
    assert np.isfinite(result.rule_base.centers).all()
