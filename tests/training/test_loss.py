"""The log loss: values, gradients, and rules that tell classes apart."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

import reference as ref
from cases import GROUPS, explore, make_problem, problems, to_oracle, to_takagi
from takagi import RuleBase, TrainConfig, train
from takagi.optimizers import OPTIMIZERS, SGDM
from takagi.training import LOSSES, LogLoss, SquaredError


def make_targets(y):
    """Probabilities from any numbers."""
    return expit(y) if y.shape[1] == 1 else softmax(y, axis=1)


def descend(problem, rules, rate):
    """One step of plain gradient descent on the batch."""
    config = TrainConfig(
        SGDM(beta1=0.0), learning_rate=rate, powerball=1.0, width_floor=0.0, loss="log", **problem.penalties
    )
    keep = None if problem.keep is None else problem.keep[None]
    return train(
        to_takagi(rules), problem.X, problem.y, None, None, config,
        batches=np.arange(len(problem.X))[None], keep=keep, sample_weight=problem.weight,
    )  # fmt: skip


@explore
@given(problems(max_rules=12, max_features=6), st.integers(0, 1000))
def test_gradients_of_the_log_loss_equal_the_oracles_and_finite_differences(problem, seed):
    problem.y = make_targets(problem.y)
    rules, rate, rng = problem.rules, 2.0**-20, np.random.default_rng(seed)
    expected, _ = ref.gradient(rules, *problem.batch, kind="log")
    after = to_oracle(descend(problem, rules, rate).rule_base)
    size = 1 + max(np.abs(getattr(expected, name)).max() for name in GROUPS if getattr(expected, name) is not None)
    for name in GROUPS:
        if getattr(rules, name) is None:
            continue
        found = (getattr(rules, name) - getattr(after, name)) / rate
        np.testing.assert_allclose(found, getattr(expected, name), atol=1e-8 * size)
        if rules.sets is None and not rules.tied:
            direction = rng.normal(size=found.shape)
            ahead, behind = (
                ref.loss(replace(rules, **{name: getattr(rules, name) + h * direction}), *problem.batch, kind="log")
                for h in (1e-6, -1e-6)
            )
            assert (found * direction).sum() == pytest.approx((ahead - behind) / 2e-6, rel=1e-4, abs=1e-5 * size)


@explore
@given(problems())
def test_the_loss_of_a_batch_and_of_validation_equals_the_oracles(problem):
    problem.y = make_targets(problem.y)
    problem.weight = problem.weight + 0.1
    fired = ref.fire(problem.rules, problem.X, problem.keep).output
    expected = ref.mean_loss(fired, problem.y, problem.weight, "log")
    assert descend(problem, problem.rules, 0.0).history["train_loss"][0] == pytest.approx(expected, rel=1e-8)
    config = TrainConfig(max_iter=0, loss="log")
    data = (problem.X, problem.y) * 2
    found = train(
        to_takagi(problem.rules), *data, config, rng=np.random.default_rng(0), sample_weight_val=problem.weight
    )
    expected = ref.mean_loss(ref.predict(problem.rules, problem.X), problem.y, problem.weight, "log")
    assert found.start_loss == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_training_on_the_log_loss_follows_the_oracle(rule, n_outputs):
    rng = np.random.default_rng(1)
    problem = make_problem(rng, n_rows=30, n_rules=10, n_outputs=n_outputs, projection="separate", weighted=True)
    problem.y, weight = make_targets(problem.y), problem.weight + 0.5
    batches = np.array([rng.permutation(30)[:7] for _ in range(8)])
    keep = rng.random((8, 7, 10)) < 0.5
    data = problem.X, problem.y, weight
    found = train(
        to_takagi(problem.rules), *data[:2], *data[:2], TrainConfig(OPTIMIZERS[rule], loss="log"),
        batches=batches, keep=keep, sample_weight=weight, sample_weight_val=weight,
    )  # fmt: skip
    expected = ref.train(problem.rules, data, [data], batches, keep, ref.Settings(rule, loss="log"))
    np.testing.assert_allclose(found.history["train_loss"], expected.train, rtol=1e-9)
    np.testing.assert_allclose(found.history["val_loss"], expected.scores[0], rtol=1e-9)
    assert found.best_iter == expected.best_iter
    np.testing.assert_allclose(found.rule_base.consequents, expected.best.W, rtol=1e-8, atol=1e-10)


# ----------------------------------------------------------------------------------------------------------------------
# In NumPy
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_rows_are_those_of_training(name, n_outputs):
    problem = make_problem(np.random.default_rng(3), n_rows=20, n_outputs=n_outputs, weighted=True)
    y, loss = make_targets(problem.y), LOSSES[name]
    rules = replace(to_takagi(problem.rules), link=loss.links[n_outputs > 1])
    rows = loss.measure_rows(rules.predict_raw(problem.X), y)
    assert rows.shape == (20,)
    config = TrainConfig(max_iter=0, loss=name)
    data = (problem.X, y) * 2
    found = train(rules, *data, config, rng=np.random.default_rng(0), sample_weight_val=problem.weight).start_loss
    assert loss.report(np.average(rows, weights=problem.weight)) == pytest.approx(found, rel=1e-12)


def test_large_outputs_overflow_nowhere():
    """Right and wrong by a thousand, one class and three: losses 0 and 1000, finite gradients."""
    for n_outputs in (1, 3):
        outputs = np.zeros((2, n_outputs))
        outputs[:, 0] = 1000.0, -1000.0
        y = np.eye(n_outputs)[[0, 0]]
        expected = [0.0, 1000.0 if n_outputs == 1 else 1000.0 + np.log(2)]
        np.testing.assert_allclose(LogLoss().measure_rows(outputs, y), expected)
        consequents = np.zeros((1, n_outputs, 2))
        consequents[0, 0, 1] = 1000.0
        rules = RuleBase([[0.0]], [[1.0]], consequents, link=LogLoss().links[n_outputs > 1])
        X = np.array([[1.0], [-1.0]])
        config = TrainConfig(learning_rate=0.0, keep_prob=1.0, max_iter=1, loss="log")
        result = train(rules, X, y, X, y, config)
        assert result.history["val_loss"][0] == pytest.approx(np.mean(expected))
        assert result.history["train_loss"][0] == pytest.approx(np.mean(expected))
        assert np.isfinite(rules.predict(X)).all()


# ----------------------------------------------------------------------------------------------------------------------
# Classes
# ----------------------------------------------------------------------------------------------------------------------


def start_rules(n_outputs, n_rules=4):
    rng = np.random.default_rng(0)
    return RuleBase(rng.uniform(-2, 2, (n_rules, 2)), np.ones((n_rules, 2)), np.zeros((n_rules, n_outputs, 3)))


def test_two_classes_are_told_apart():
    """A disk within a ring, which no plane separates."""
    X = np.random.default_rng(1).uniform(-2, 2, size=(400, 2))
    y = (np.hypot(*X.T) < 1.2).astype(float)
    config = TrainConfig(learning_rate=0.03, max_iter=600, loss="log", l2=1e-3)
    result = train(start_rules(1), X[:300], y[:300], X[300:], y[300:], config, rng=np.random.default_rng(0))
    rules = result.rule_base
    assert rules.link == "logit"
    probability = rules.predict(X[300:])
    assert probability.shape == (100,)
    assert ((probability > 0.5) == y[300:]).mean() > 0.9
    assert result.best_loss < 0.3 < result.start_loss
    assert -np.mean(np.log(np.where(y[300:] == 1, probability, 1 - probability))) == pytest.approx(result.best_loss)
    np.testing.assert_allclose(expit(rules.predict_raw(X)[:, 0]), rules.predict(X), rtol=1e-14)


def test_three_classes_are_told_apart():
    X = np.random.default_rng(2).uniform(-2, 2, size=(400, 2))
    label = (np.arctan2(*X.T) // (2 * np.pi / 3)).astype(int) % 3
    y = np.eye(3)[label]
    config = TrainConfig(learning_rate=0.03, max_iter=600, loss="log", l2=1e-3)
    result = train(start_rules(3), X[:300], y[:300], X[300:], y[300:], config, rng=np.random.default_rng(0))
    probability = result.rule_base.predict(X[300:])
    assert result.rule_base.link == "softmax"
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert (probability.argmax(axis=1) == label[300:]).mean() > 0.9


def test_the_link_is_that_of_the_loss_whatever_the_start_had():
    X, y = np.random.default_rng(2).normal(size=(20, 2)), np.linspace(0, 1, 20)
    start = replace(start_rules(1), link="logit")
    rules = train(start, X, y, None, None, TrainConfig(max_iter=2), rng=np.random.default_rng(0)).rule_base
    assert rules.link == "identity"


@pytest.mark.parametrize(
    ("n_outputs", "y", "message"),
    [
        (1, [[0.0], [2.0]], "must be probabilities, from 0 to 1"),
        (1, [[0.0], [np.nan]], "must be probabilities, from 0 to 1"),
        (2, [[0.0, 1.0], [1.0, 1.0]], "must sum to 1 in each row"),
    ],
)
def test_targets_that_are_no_probabilities_are_refused(n_outputs, y, message):
    with pytest.raises(ValueError, match=message):
        train(start_rules(n_outputs), np.zeros((2, 2)), np.array(y), None, None, TrainConfig(loss="log", keep_prob=1.0))


def test_losses_are_named_in_the_error():
    with pytest.raises(ValueError, match="loss 'lgo' is unknown, did you mean 'log'"):
        TrainConfig(loss="lgo")


def test_losses_are_values():
    assert LOSSES["squared"] == SquaredError() == pickle.loads(pickle.dumps(SquaredError()))
    assert LogLoss() != SquaredError()
