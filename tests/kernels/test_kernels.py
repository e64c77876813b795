"""The compiled functions against the oracle and against finite differences, over all sizes and kinds of rules.

Gradients are read off one step of plain gradient descent, and losses off its batch error, so everything goes through
the public functions and no test knows how kernels are cut.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from cases import GROUPS, Problem, explore, make_problem, problems, to_oracle, to_takagi
from takagi import RuleBase, TrainConfig, kernels, train
from takagi.initializers import fuzzy_cmeans
from takagi.optimizers import SGDM


def descend(problem: Problem, rules: ref.Rules, rate: float):
    """One step of plain gradient descent on the batch, without validation."""
    config = TrainConfig(SGDM(beta1=0.0), learning_rate=rate, powerball=1.0, width_floor=0.0, **problem.penalties)
    rows = np.arange(len(problem.X))[None]
    keep = None if problem.keep is None else problem.keep[None]
    return train(
        to_takagi(rules), problem.X, problem.y, None, None, config,
        batches=rows, keep=keep, sample_weight=problem.weight,
    )  # fmt: skip


def measure_loss(problem: Problem, rules: ref.Rules) -> float:
    """takagi's loss of the batch, from the error that it reports."""
    rmse = descend(problem, rules, 0.0).history["train_loss"][0]
    penalty = problem.l2 / 2 * (rules.W[:, :, 1:] ** 2).sum() + problem.smoothness / 2 * (rules.S**-2.0).sum()
    share = ref.fire(rules, problem.X, problem.keep).share
    apart = problem.agreement / 2 * problem.weight @ ref.disagreement(rules, problem.X, problem.keep)
    apart += problem.uniformity * problem.weight.sum() * ref.unevenness(share, problem.weight)
    return rmse**2 * problem.weight.sum() * problem.y.shape[1] / 2 + apart + penalty


def measure_gradient(problem: Problem) -> dict:
    """takagi's gradient. The rate is a power of two, which costs no digits, and so small that widths stay positive."""
    steepest = np.abs(ref.gradient(problem.rules, *problem.batch)[0].S).max()
    rate = 2.0 ** np.floor(np.log2(min(problem.rules.S.min() / (4 * steepest), 1.0) if steepest else 1.0))
    after = to_oracle(descend(problem, problem.rules, rate).rule_base)
    groups = [letter for letter in GROUPS if getattr(problem.rules, letter) is not None]
    return {letter: (getattr(problem.rules, letter) - getattr(after, letter)) / rate for letter in groups}


def rounding(problem: Problem) -> float:
    """The size of what may cancel in a gradient: errors times outputs times squared distances over widths."""
    fired = ref.fire(problem.rules, problem.X, problem.keep)
    output = np.abs(ref.rule_outputs(problem.rules, problem.X)).max()
    error = np.abs(problem.weight[:, None] * (fired.output - problem.y)).sum()
    error += problem.agreement * problem.weight.sum() * output + problem.uniformity * problem.weight.sum()
    departure = 1 + np.abs(ref.departures(problem.rules, problem.X)).max() ** 2
    return (1 + error) * (1 + output) * departure * (1 + 1 / problem.rules.S.min()) * (1 + np.abs(problem.X).max())


# ----------------------------------------------------------------------------------------------------------------------
# Forward
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(problems(max_rows=70))
def test_shares_and_predictions_equal_the_oracles(problem):
    rules, fired = to_takagi(problem.rules), ref.fire(problem.rules, problem.X)
    np.testing.assert_allclose(rules.firing_share(problem.X), fired.share, rtol=1e-11)
    np.testing.assert_allclose(rules.log_firing(problem.X), ref.log_firing(problem.rules, problem.X), rtol=1e-12)
    np.testing.assert_allclose(rules.rule_outputs(problem.X), ref.rule_outputs(problem.rules, problem.X), atol=1e-12)
    predicted = rules.predict(problem.X)
    assert predicted.shape == (problem.y.shape if problem.y.shape[1] > 1 else (len(problem.X),))
    np.testing.assert_allclose(predicted.reshape(problem.y.shape), fired.output, rtol=1e-11, atol=1e-11)


@explore
@given(problems())
def test_the_error_of_a_batch_equals_the_oracles(problem):
    """Masks and weights show in the training error; a row that keeps no rule keeps all."""
    expected = 0.0
    if problem.weight.any():
        fired = ref.fire(problem.rules, problem.X, problem.keep)
        expected = ref.rmse(fired.output, problem.y, problem.weight)
    found = descend(problem, problem.rules, 0.0).history["train_loss"][0]
    assert found == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("n_rules", [2, 8, 10])
def test_shares_fall_with_the_distance_as_exp_does(n_rules):
    """Two rules fire, the others are out of reach; the ratio of two shares is exp(-z^2 / 2), to the last digits."""
    for distance in np.linspace(0.0, 36.0, 200):
        centers = np.resize([1e4, -1e4], (n_rules, 1))
        centers[:2, 0] = 0.0, distance
        shares = RuleBase(centers, np.ones((n_rules, 1)), np.zeros((n_rules, 1, 2))).firing_share([[0.0]])[0]
        np.testing.assert_allclose(shares[1] / shares[0], np.exp(-(distance**2) / 2), rtol=1e-12)


def test_a_row_that_keeps_no_rule_keeps_all():
    problem = make_problem(np.random.default_rng(0), n_rules=9, n_rows=3)
    none, every = (replace(problem, keep=np.full((3, 9), kept)) for kept in (False, True))
    for masked in (none, every):
        assert descend(masked, problem.rules, 0.1).rule_base == descend(problem, problem.rules, 0.1).rule_base


def test_dropped_rules_are_left_alone_without_a_penalty():
    problem = make_problem(np.random.default_rng(1), n_rules=9, n_rows=6, l2=0.0)
    problem.keep = np.tile(np.arange(9) % 2 == 0, (6, 1))
    before, after = to_takagi(problem.rules), descend(problem, problem.rules, 0.01).rule_base
    for name in ("centers", "widths", "consequents"):
        changed = (getattr(before, name) != getattr(after, name)).reshape(9, -1).any(axis=1)
        np.testing.assert_array_equal(changed, problem.keep[0])


# ----------------------------------------------------------------------------------------------------------------------
# Backward
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(problems())
def test_gradients_equal_the_oracles(problem):
    expected, _ = ref.gradient(problem.rules, *problem.batch)
    found = measure_gradient(problem)
    for letter, values in found.items():
        np.testing.assert_allclose(values, getattr(expected, letter), rtol=1e-10, atol=1e-13 * rounding(problem))


def draw_direction(rng, rules: ref.Rules, letter: str):
    """A random direction for one group of parameters, the same for all that are tied, and how often each is stored."""
    direction = rng.normal(size=getattr(rules, letter).shape)
    copies = np.ones_like(direction)
    if letter in "CS" and rules.sets is not None:
        same = rules.sets[:, None, :] == rules.sets[None, :, :]
        direction = np.take_along_axis(direction, same.argmax(axis=1), axis=0)
        copies = same.sum(axis=1)
    return direction, copies


def shift(rules: ref.Rules, letter: str, change) -> ref.Rules:
    letters = ("PA", "PC") if rules.tied and letter in ("PA", "PC") else (letter,)
    return replace(rules, **{each: getattr(rules, letter) + change for each in letters})


def assert_slopes(problem, gradient, loss, seed):
    """Compare a gradient with central differences of a loss, along a random direction in every group."""
    rng = np.random.default_rng(seed)
    for letter, values in gradient.items():
        direction, copies = draw_direction(rng, problem.rules, letter)
        step = 1e-5 * direction
        ahead, behind = (loss(shift(problem.rules, letter, sign * step)) for sign in (1, -1))
        expected = (ahead - behind) / 2e-5
        assert (values * direction / copies).sum() == pytest.approx(expected, rel=1e-5, abs=1e-8 * rounding(problem))


@explore
@given(problems(max_rules=12, max_features=6), st.integers(0, 1000))
def test_gradients_equal_finite_differences_of_the_loss(problem, seed):
    assert_slopes(problem, measure_gradient(problem), lambda rules: measure_loss(problem, rules), seed)


@explore
@given(problems(max_rules=12, max_features=6), st.integers(0, 1000))
def test_gradients_of_the_oracle_equal_finite_differences_of_its_loss(problem, seed):
    found, _ = ref.gradient(problem.rules, *problem.batch)
    gradient = {letter: getattr(found, letter) for letter in GROUPS if getattr(found, letter) is not None}
    assert_slopes(problem, gradient, lambda rules: ref.loss(rules, *problem.batch), seed)


@explore
@given(problems(n_sets=2, projection="antecedent"))
def test_a_shared_set_gets_the_sum_of_the_gradients_of_its_rules(problem):
    """The gradient of a grid is that of independent rules, summed over those that share a set."""
    tolerance = 1e-13 * rounding(problem)
    independent = replace(problem, rules=replace(problem.rules, sets=None))
    tied, free = measure_gradient(problem), measure_gradient(independent)
    for letter in "CS":
        for m, column in enumerate(problem.rules.sets.T):
            for chosen in np.unique(column):
                users = column == chosen
                expected = np.full(users.sum(), free[letter][users, m].sum())
                np.testing.assert_allclose(tied[letter][users, m], expected, rtol=1e-10, atol=tolerance)
    np.testing.assert_allclose(tied["W"], free["W"], rtol=1e-10, atol=tolerance)


# ----------------------------------------------------------------------------------------------------------------------
# Batches and clusters
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 100))
def test_batches_hold_no_row_twice(n_rows, batch_size, seed):
    size = min(n_rows, batch_size)
    batches = np.full((5, size), -1)
    kernels.draw_batches(np.random.default_rng(seed).random((5, size)), np.arange(n_rows), batches)
    assert batches.min() >= 0
    assert batches.max() < n_rows
    assert all(len(set(batch)) == size for batch in batches.tolist())


def test_batches_draw_every_row_equally_often_at_every_place():
    batches = np.empty((20_000, 3), dtype=np.intp)
    kernels.draw_batches(np.random.default_rng(0).random(batches.shape), np.arange(10), batches)
    for place in batches.T:  # 2000 of each expected, standard deviation 42
        np.testing.assert_allclose(np.bincount(place, minlength=10), 2000, atol=5 * 42)


@explore
@given(
    n_rows=st.integers(20, 150),
    n_clusters=st.integers(1, 10),
    n_features=st.integers(1, 6),
    m=st.sampled_from([1.3, 2.0, 3.0]),
    seed=st.integers(0, 1000),
)
def test_fuzzy_cmeans_equals_the_oracles(n_rows, n_clusters, n_features, m, seed):
    rng = np.random.default_rng(seed)
    X, U = rng.normal(size=(n_rows, n_features)), rng.random((n_clusters, n_rows))
    U /= U.sum(axis=0)
    centers, memberships, objective = fuzzy_cmeans(X, U.T, m=m, tol=0.0, max_iter=5)
    expected_centers, expected_U, expected_objective = ref.fuzzy_cmeans(X, U, m=m, tol=0.0, max_iter=5)
    np.testing.assert_allclose(centers, expected_centers, atol=1e-10)
    np.testing.assert_allclose(memberships, expected_U.T, rtol=1e-6)  # of those below 2.2e-16, too, which become that
    np.testing.assert_allclose(objective, expected_objective, rtol=1e-10)
