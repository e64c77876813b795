"""Settings resolved to numbers, and penalties scaled in one place."""

import numpy as np
import pytest

from takagi import RuleBase, TrainConfig, TSKRegressor
from takagi.fitting import Penalties, bound_by_range, heed_noise, make_plan
from takagi.training import Bounds


def plan(n_rows=500, n_features=4, **params):
    return make_plan(TSKRegressor(**params).get_params(), n_rows, n_features)


def test_a_plan_holds_no_words_where_numbers_are_needed():
    for recipe in ("auto", "accurate", "droprule"):
        made = plan(recipe=recipe, projection="shared")
        numbers = (made.n_rules, made.n_projections, made.config.keep_prob, made.config.batch_size)
        assert all(isinstance(number, int | float) for number in numbers)
        assert made.recipe in ("accurate", "droprule")


@pytest.mark.parametrize("n_rules", ["auto", 5])
def test_the_recipe_does_not_depend_on_the_number_of_rules(n_rules):
    assert plan(n_rules=n_rules).recipe == "accurate"
    assert plan(n_rules=n_rules, recipe="droprule").recipe == "droprule"


def test_the_droprule_recipe_has_its_own_defaults_and_holds_rows_out():
    made = plan(recipe="droprule")
    assert (made.config.keep_prob, made.penalties, made.holds_out) == (0.8, Penalties(0.05, 0.0), True)
    assert plan().penalties.are_open
    assert not plan().holds_out
    assert plan(n_iter_no_change=10).holds_out


def test_noisy_targets_have_fewer_iterations_with_longer_steps():
    quiet, loud = (heed_noise(plan(), Penalties(None, None, noise)) for noise in (0.02, 0.05))
    assert (quiet.config.max_iter, quiet.config.learning_rate, quiet.penalties.noise) == (5000, 0.03, 0.02)
    assert (loud.config.max_iter, loud.penalties.noise) == (3500, 0.05)
    assert loud.config.max_iter * loud.config.learning_rate == pytest.approx(5000 * 0.03)
    assert heed_noise(plan(), Penalties(None, None, 0.05, 0.6)).config.max_iter == 5000  # narrow sets: there is detail


def test_iterations_that_are_given_are_kept_however_noisy_the_target_is():
    noise = Penalties(None, None, 0.5)
    for made in (plan(max_iter=5000), plan(recipe="droprule"), plan(max_conditions=2)):
        assert not made.may_shorten
        assert heed_noise(made, noise).config == made.config
    classes = make_plan(TSKRegressor().get_params(), 500, 4, "log")
    assert heed_noise(classes, noise).config.max_iter == 5000


def test_given_settings_are_kept_in_both_recipes():
    for recipe in ("accurate", "droprule"):
        made = plan(recipe=recipe, keep_prob=0.6, l2=0.2, smoothness=0.3, batch_size=7, n_rules=3)
        assert (made.config.keep_prob, made.config.batch_size, made.n_rules) == (0.6, 7, 3)
        assert made.penalties == Penalties(0.2, 0.3)


@pytest.mark.parametrize(
    ("standardize", "scaled"), [(True, (True, True)), ("inputs", (True, False)), (False, (False,) * 2)]
)
def test_standardize_says_what_is_scaled(standardize, scaled):
    made = plan(standardize=standardize)
    assert (made.scales_inputs, made.scales_target) == scaled


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("recipe", "acurate", "recipe 'acurate' is unknown, did you mean 'accurate'"),
        ("projection", "share", "did you mean 'shared'"),
        ("n_projections", "log", "did you mean 'log2'"),
        ("standardize", "input", "did you mean 'inputs'"),
        ("init", "fmc", "init 'fmc' is unknown"),
        ("bounds", "dat", "bounds 'dat' is unknown, did you mean 'data'"),
        ("optimizer", "adma", "did you mean 'adam'"),
    ],
)
def test_unknown_words_are_named(name, value, message):
    with pytest.raises(ValueError, match=message):
        plan(**{name: value})


def configure(penalties, part, n_features, variance):
    """Return the penalties of a batch that is a part of all rows."""
    config = penalties.configure(TrainConfig(batch_size=64), 64 / part, n_features, variance)
    return {"l2": config.l2, "smoothness": config.smoothness}


def test_a_penalty_of_a_pass_is_shared_among_its_batches():
    penalties = Penalties(None, None).with_noise(0.1)
    whole, tenth = (configure(penalties, part, 4, 1.0) for part in (1.0, 0.1))
    assert whole == pytest.approx({"l2": 0.3, "smoothness": 0.3})
    assert tenth == pytest.approx({name: value / 10 for name, value in whole.items()})


def test_penalties_grow_with_many_features_and_smoothness_with_the_variance():
    penalties = Penalties(None, None).with_noise(0.1)
    few, many = (configure(penalties, 1.0, n_features, 4.0) for n_features in (24, 48))
    assert many["l2"] == pytest.approx(2 * few["l2"])
    assert few["smoothness"] == pytest.approx(4 * few["l2"])


def test_the_noise_is_at_most_what_the_mean_leaves():
    assert Penalties(None, None).with_noise(7.0).noise == 1.0
    assert Penalties(None, None).with_noise(0.0).noise > 0
    assert configure(Penalties(None, None).with_noise(0.5).weaken(0.0), 1.0, 2, 1.0) == {"l2": 0.0, "smoothness": 0.0}


def test_a_pilot_has_the_penalties_that_it_is_told():
    found = configure(Penalties(None, None).for_pilot(0.02, 0.03, n_batches=8.0), 1 / 8, 4, 1.0)
    assert found == pytest.approx({"l2": 0.02, "smoothness": 0.03 / 8})


def test_given_penalties_are_those_of_a_batch_whatever_its_size():
    assert configure(Penalties(0.2, 0.0).with_noise(0.5), 0.01, 99, 3.0) == {"l2": 0.2, "smoothness": 0.0}


def test_log2_counts_projections_by_rules():
    assert plan(n_rules=16, projection="shared").n_projections == 4
    assert plan(n_rules=16, projection="shared", n_projections=2).n_projections == 2
    assert isinstance(np.asarray(plan(n_rules=1).n_projections).item(), int)


def test_bounds_are_the_range_of_the_data_in_the_accurate_recipe_unless_others_are_given():
    own = Bounds(centers=(-1, 1))
    assert [plan(recipe=recipe).stays_in_range for recipe in ("accurate", "droprule")] == [True, False]
    assert plan(recipe="droprule", bounds="data").stays_in_range
    found = [
        (plan(**params).bounds, plan(**params).stays_in_range) for params in ({}, {"bounds": None}, {"bounds": own})
    ]
    assert found == [(None, True), (None, False), (own, False)]


def test_the_price_of_disagreement_is_that_of_a_row_whatever_the_number_of_rows():
    made = plan(agreement=0.2)
    assert [made.penalties.configure(made.config, n_rows, 4, 1.0).agreement for n_rows in (64, 10_000)] == [0.2, 0.2]


def test_bounds_by_range_leave_alone_what_has_none():
    """Projected inputs come first; the second feature is constant, the third varies less than the narrowest set."""
    rules = RuleBase(np.zeros((2, 4)), np.full((2, 4), 5.0), np.zeros((2, 1, 4)), np.zeros((4, 1)))
    low, high = np.array([-1.0, 3.0, 0.0]), np.array([1.0, 3.0, 1e-9])
    bounds = bound_by_range(low, high, rules, TrainConfig())
    np.testing.assert_allclose(bounds.centers, [[-np.inf, -1, 3, 0], [np.inf, 1, 3, 1e-9]], atol=1e-5)
    np.testing.assert_array_equal(bounds.widths[1], [np.inf, 2, np.inf, np.inf])
    assert (bounds.centers[0][1:] >= low).all()
    assert (bounds.centers[1][1:] <= high).all()
