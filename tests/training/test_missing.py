"""Training with missing values, against an oracle that is written for it, and finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from takagi import RuleBase, TrainConfig, train
from takagi.optimizers import SGDM

RATE = 1e-3


def make_problem(n_rules, n_features, n_outputs, seed=0):
    rng = np.random.default_rng(seed)
    shape = n_rules, n_features
    rules = RuleBase(
        centers=rng.normal(size=shape),
        widths=rng.uniform(0.5, 2.0, size=shape),
        consequents=rng.normal(size=(n_rules, n_outputs, 1 + n_features)),
        usual=rng.normal(size=shape),
    )
    X, y = rng.normal(size=(23, n_features)), rng.normal(size=(23, n_outputs))
    X[rng.random(X.shape) < 0.4] = np.nan
    X[7] = np.nan
    return rules, X, y, rng.uniform(0.5, 2.0, size=23)


def say(rules, X):
    """What rules say of rows, row by row and rule by rule: missing features have no membership, and usual values."""
    outputs = np.empty((len(X), rules.n_outputs))
    for n, row in enumerate(X):
        there = np.flatnonzero(~np.isnan(row))
        sets = zip(rules.centers, rules.widths, strict=True)
        level = [-0.5 * sum(((row[m] - c[m]) / s[m]) ** 2 for m in there) for c, s in sets]
        share = np.exp(np.array(level) - max(level))
        share /= share.sum()
        said = [
            [w[0] + w[1:] @ np.where(np.isnan(row), usual, row) for w in consequents]
            for consequents, usual in zip(rules.consequents, rules.usual, strict=True)
        ]
        outputs[n] = share @ np.array(said)
    return outputs


def measure(rules, X, y, weight, kind):
    """The summed loss of the rows, whose gradient training follows."""
    outputs = say(rules, X)
    if kind == "squared":
        return float(weight @ ((outputs - y) ** 2).sum(axis=1) / 2)
    return float(weight @ (np.logaddexp(0, outputs) - y * outputs).sum(axis=1))


@pytest.mark.parametrize("kind", ["squared", "log"])
@pytest.mark.parametrize(("n_rules", "n_features", "n_outputs"), [(1, 1, 1), (3, 4, 2), (9, 3, 1)])
def test_a_step_follows_finite_differences(n_rules, n_features, n_outputs, kind):
    n_outputs = 1 if kind == "log" else n_outputs
    rules, X, y, weight = make_problem(n_rules, n_features, n_outputs)
    y = (y > 0).astype(float) if kind == "log" else y
    config = TrainConfig(
        optimizer=SGDM(beta1=0.0), learning_rate=RATE, powerball=1.0, l2=0.0, keep_prob=1.0, max_iter=1,
        batch_size=len(X), loss=kind, width_floor=1e-3,
    )  # fmt: skip
    moved = train(rules, X, y, None, None, config, sample_weight=weight).rule_base
    for name in ("centers", "widths", "consequents"):
        values = getattr(rules, name)
        gradient = (values - getattr(moved, name)) / RATE
        for place in np.ndindex(values.shape):
            ends = []
            for step in (-1e-5, 1e-5):
                changed = values.copy()
                changed[place] += step
                ends.append(measure(replace(rules, **{name: changed}), X, y, weight, kind))
            assert gradient[place] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-5, abs=1e-6)
    np.testing.assert_array_equal(moved.usual, rules.usual)


def test_validation_and_batches_see_the_same_model():
    rules, X, y, weight = make_problem(5, 3, 2)
    config = TrainConfig(learning_rate=1e-12, keep_prob=1.0, l2=0.0, max_iter=1, batch_size=len(X))
    result = train(rules, X, y, X, y, config, sample_weight=weight, sample_weight_val=weight)
    expected = np.sqrt(np.average(((say(rules, X) - y) ** 2).mean(axis=1), weights=weight))
    assert result.start_loss == pytest.approx(expected, rel=1e-12)
    assert result.history["train_loss"][0] == pytest.approx(expected, rel=1e-12)


def test_complete_rows_train_to_the_same_bits_with_and_without_usual_values():
    rules, X, y, _ = make_problem(5, 3, 1)
    config, rng = TrainConfig(max_iter=50), np.random.default_rng
    first = train(rules, np.nan_to_num(X), y, None, None, config, rng=rng(0)).rule_base
    second = train(replace(rules, usual=None), np.nan_to_num(X), y, None, None, config, rng=rng(0)).rule_base
    assert replace(first, usual=None) == second


def test_rules_that_do_not_know_what_is_usual_are_refused():
    rules, X, y, _ = make_problem(2, 2, 1)
    with pytest.raises(ValueError, match="`usual`, the numbers that replace them"):
        train(replace(rules, usual=None), X, y, None, None, TrainConfig(max_iter=1), rng=np.random.default_rng(0))
