"""The prices of disagreement and of uneven shares: what they leave as it is, and what they do to rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import reference as ref
from cases import explore, make_rules, problems, to_oracle, to_takagi
from takagi import TrainConfig, TSKRegressor, train
from takagi.optimizers import OPTIMIZERS, SGDM
from takagi.training import LOSSES

CONFIG = TrainConfig(learning_rate=0.03, keep_prob=1.0, l2=0.0, max_iter=400, batch_size=60)


@pytest.fixture
def data():
    rng = np.random.default_rng(7)
    X = rng.uniform(-2, 2, size=(60, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1]


@pytest.fixture
def start():
    return to_takagi(make_rules(np.random.default_rng(8), n_rules=6, n_features=2))


def measure_disagreement(rules, X):
    return ref.disagreement(to_oracle(rules), X).mean()


def measure_alone(rules, X, y):
    """Mean over rules of the squared error that each makes by itself, where it governs."""
    departures = rules.rule_outputs(X)[:, :, 0] - y[:, None]
    return (rules.firing_share(X) * departures**2).sum(axis=1).mean()


def step(problem, config):
    """One step of plain gradient descent on the batch."""
    keep = None if problem.keep is None else problem.keep[None]
    return train(
        to_takagi(problem.rules), problem.X, problem.y, None, None, config,
        batches=np.arange(len(problem.X))[None], keep=keep, sample_weight=problem.weight,
    ).rule_base  # fmt: skip


PLAIN = TrainConfig(SGDM(beta1=0.0), learning_rate=1e-3, powerball=1.0, l2=0.0, width_floor=0.0)


PRICES = pytest.mark.parametrize("name", ["agreement", "uniformity"])


@PRICES
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_price_of_next_to_nothing_changes_no_bit(data, start, optimizer, loss, name):
    """The branch that prices does all else as the one without it."""
    X, y = data
    y = (y > 0).astype(float) if loss == "log" else y
    config = replace(CONFIG, optimizer=optimizer, max_iter=50, loss=loss, keep_prob=0.5)
    free, priced = (
        train(start, X, y, X, y, replace(config, **{name: price}), rng=np.random.default_rng(0))
        for price in (0.0, 1e-200)
    )
    assert free.rule_base == priced.rule_base
    np.testing.assert_array_equal(free.history["train_loss"], priced.history["train_loss"])


@explore
@given(problems(n_rules=1))
def test_a_rule_that_is_alone_pays_no_price(problem):
    assert step(problem, PLAIN) == step(problem, replace(PLAIN, agreement=10.0, uniformity=10.0))


@PRICES
@explore
@given(problem=problems(max_rules=6, masked=False, weighted=False))
def test_a_weight_of_two_prices_as_two_equal_rows_do(problem, name):
    config = replace(PLAIN, **{name: 2.0})
    twice = replace(problem, weight=2 * problem.weight)
    copies = replace(
        problem, X=np.r_[problem.X, problem.X], y=np.r_[problem.y, problem.y], weight=np.tile(problem.weight, 2)
    )
    weighted, repeated = step(twice, config), step(copies, config)
    np.testing.assert_allclose(weighted.consequents, repeated.consequents, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(weighted.centers, repeated.centers, rtol=1e-9, atol=1e-11)


@explore
@given(problems(l2=0.0, smoothness=0.0, agreement=1.0, uniformity=0.0))
def test_at_a_price_of_one_the_errors_of_the_rules_count_one_by_one(problem):
    share = ref.fire(problem.rules, problem.X, problem.keep).share
    departures = ref.rule_outputs(problem.rules, problem.X) - problem.y[:, None, :]
    one_by_one = (problem.weight[:, None, None] * share[:, :, None] * departures**2).sum() / 2
    assert ref.loss(problem.rules, *problem.batch) == pytest.approx(one_by_one, rel=1e-9)


@PRICES
def test_the_reported_loss_is_without_the_price(data, start, name):
    X, y = data
    found = [
        train(start, X, y, X, y, replace(CONFIG, **{name: price}, max_iter=1)).history["train_loss"][0]
        for price in (0.0, 5.0)
    ]
    assert found[0] == found[1]


def test_rules_agree_the_more_the_higher_the_price(data, start):
    X, y = data
    rules = [train(start, X, y, None, None, replace(CONFIG, agreement=a)).rule_base for a in (0.0, 0.1, 1.0, 100.0)]
    apart = [measure_disagreement(one, X) for one in rules]
    assert (np.diff(apart) < 0).all()
    assert apart[-1] < 1e-2 * apart[0]


def test_rules_get_right_one_by_one(data, start):
    """What each rule says by itself where it governs is nearer to the target, and all together are not far off."""
    X, y = data
    free, priced = (train(start, X, y, None, None, replace(CONFIG, agreement=a)).rule_base for a in (0.0, 0.1))
    assert measure_alone(priced, X, y) < 0.5 * measure_alone(free, X, y)
    assert np.mean((priced.predict(X) - y) ** 2) < 0.1 * y.var()


def test_mean_shares_are_the_more_even_the_higher_the_price_of_uneven_ones(data, start):
    X, y = data
    rules = [train(start, X, y, None, None, replace(CONFIG, uniformity=u)).rule_base for u in (0.0, 1.0, 100.0)]
    spread = [one.firing_share(X).mean(axis=0).std() for one in rules]
    assert (np.diff(spread) < 0).all()
    assert spread[-1] < 0.1 * spread[0]


@PRICES
def test_a_negative_price_is_refused(name):
    with pytest.raises(ValueError, match=rf"{name} must be at least 0, got -0\.1"):
        TrainConfig(**{name: -0.1})


def test_an_estimator_refuses_a_negative_price():
    with pytest.raises(ValueError, match=r"'agreement' parameter of TSKRegressor must be .*a float in the range"):
        TSKRegressor(agreement=-1.0).fit(np.eye(4), np.arange(4.0))
