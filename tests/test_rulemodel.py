"""Sums of rule bases."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from takagi import Bend, RuleBase, RuleModel


def make_part(rng, asked, n_rules=2, n_features=4, n_outputs=1, **parts):
    """A part with conditions on some features."""
    widths = np.full((n_rules, n_features), np.inf)
    widths[:, asked] = rng.uniform(0.5, 2, size=(n_rules, len(asked)))
    n_bends = len(parts.get("bends", ()))
    consequents = rng.normal(size=(n_rules, n_outputs, 1 + n_features + n_bends))
    return RuleBase(rng.normal(size=(n_rules, n_features)), widths, consequents, **parts)


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    return RuleModel(
        (
            make_part(rng, [0, 1], n_rules=3, bends=[Bend(2, "above", 0.1)]),
            make_part(rng, [2], bends=[Bend(2, "above", 0.1), Bend(3, "log", -9.0, floor=0.1)]),
            make_part(rng, [], n_rules=1),
        )
    )


@pytest.fixture
def rows():
    return np.random.default_rng(1).normal(size=(50, 4))


def test_a_model_predicts_the_sum_of_its_parts(model, rows):
    np.testing.assert_allclose(model.predict(rows), sum(part.predict(rows) for part in model.parts), atol=1e-12)
    assert model.n_rules == 6
    share = model.firing_share(rows)
    assert share.shape == (50, 6)
    np.testing.assert_allclose(share.sum(axis=1), 3)


def test_a_model_can_be_one_rule_base_of_all_choices(model, rows):
    merged = model.merge()
    assert merged.n_rules == 6
    np.testing.assert_allclose(merged.predict(rows), model.predict(rows), atol=1e-12)


def test_a_bend_that_a_part_has_twice_counts_twice(rows):
    rng = np.random.default_rng(6)
    twice = make_part(rng, [0], bends=[Bend(1, "above", 0.2)] * 2)
    model = RuleModel((twice, make_part(rng, [2])))
    assert model.merge().bends == (Bend(1, "above", 0.2),)
    np.testing.assert_allclose(model.merge().predict(rows), model.predict(rows), atol=1e-12)


@pytest.mark.parametrize("limits", [[np.inf, np.inf], [-np.inf, -np.inf], [1.0, 0.0], [np.nan, 1.0]], ids=str)
def test_limits_of_no_values_are_refused(limits):
    part = make_part(np.random.default_rng(7), [0], n_rules=1)
    with pytest.raises(ValueError, match="the lower limit of an interval must not be above the upper limit"):
        replace(part, intervals=[[limits, [0, 1], [0, 1], [0, 1]]])


def test_parts_that_ask_about_one_feature_cannot_be_merged():
    rng = np.random.default_rng(0)
    model = RuleModel((make_part(rng, [0]), make_part(rng, [0, 1]))).rename(list("abcd"))
    with pytest.raises(ValueError, match="condition on a"):
        model.merge()


def test_a_model_of_one_part_is_that_rule_base(rows):
    part = make_part(np.random.default_rng(2), [0, 3])
    model = RuleModel((part,))
    assert model.merge() is part
    np.testing.assert_array_equal(model.predict(rows), part.predict(rows))
    assert part.parts == (part,)


def test_a_model_in_other_units_says_the_same(model, rows):
    rng = np.random.default_rng(3)
    mean, scale, y_mean, y_scale = rng.normal(size=4), rng.uniform(1, 3, size=4), np.array([5.0]), np.array([2.0])
    moved = model.rescale(mean, scale, y_mean, y_scale)
    np.testing.assert_allclose(moved.predict(rows * scale + mean), model.predict(rows) * 2 + 5, atol=1e-9)


def test_the_link_comes_after_the_sum(model, rows):
    linked = RuleModel(tuple(replace(part, link="logit") for part in model.parts))
    np.testing.assert_allclose(linked.predict(rows), expit(model.predict(rows)), atol=1e-12)


def test_a_model_is_a_value(model):
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again != RuleModel(model.parts[:2])
    assert "n_parts=3" in repr(model)


def test_parts_must_speak_of_the_same_things():
    rng = np.random.default_rng(4)
    with pytest.raises(ValueError, match="same n_features"):
        RuleModel((make_part(rng, [0]), make_part(rng, [0], n_features=3)))
    with pytest.raises(ValueError, match="one rule base or several"):
        RuleModel(())


def test_a_model_reads_as_main_rules_and_adjustments(model):
    text = str(model.rename(["age", "size", "rate", "load"], ["cost"]))
    assert text.startswith("Main rules\nRule 1\n  IF age is about")
    assert "Adjustment 1\nRule 4" in text
    assert "Adjustment 2\nRule 6\n  IF anything\n  ADD to cost:" in text
    assert "max(rate - 0.1, 0)" in text


def test_conditions_with_intervals_read_as_their_limits():
    inf = np.inf
    part = make_part(np.random.default_rng(5), [0, 1, 2], n_rules=1, feature_names=["age", "size", "rate", "load"])
    intervals = [[[-inf, 30], [7.25, inf], [300, 420], [-inf, inf]]]
    text = str(replace(part, intervals=intervals))
    assert "IF age below 30 and size above 7.25 and rate from 300 to 420\n" in text
    moved = replace(part, intervals=intervals).rescale(np.ones(4), np.full(4, 2.0), np.zeros(1), np.ones(1))
    np.testing.assert_array_equal(moved.intervals[0], [[-inf, 61], [15.5, inf], [601, 841], [-inf, inf]])


def test_all_parts_hold_at_the_same_limits(model):
    limits = np.array([[-1.0, 1.0], [0.5, 0.5], [-np.inf, np.inf], [-2.0, np.inf]])
    held = model.hold_at(limits)
    np.testing.assert_array_equal(held.limits, limits)
    X = np.random.default_rng(1).normal(scale=6, size=(20, 4))
    near = np.clip(X, limits[:, 0], limits[:, 1])
    for name in ("predict", "predict_raw", "firing_share"):
        np.testing.assert_array_equal(getattr(held, name)(X), getattr(model, name)(near))
    assert held.hold_at(None) == model
    assert RuleModel((model.parts[0], *held.parts[1:])) == held
    with pytest.raises(ValueError, match=r"must have the same limits, or none. Set those of a part with"):
        RuleModel((held.parts[0], replace(model.parts[1], limits=2 * limits)))


def test_bends_are_of_held_values():
    part = RuleBase([[0.0]], [[np.inf]], [[[0.0, 0.0, 1.0]]], bends=[Bend(0, "above", 2.0)], limits=[[-1.0, 5.0]])
    X = np.array([[-9.0], [4.0], [1e300]])
    np.testing.assert_array_equal(part.predict(X), [0.0, 2.0, 3.0])
    np.testing.assert_array_equal(part.expand_rows(X), [[-1.0, 0.0], [4.0, 2.0], [5.0, 3.0]])
    np.testing.assert_array_equal(part.expand().predict(part.expand_rows(X)), part.predict(X))


def test_a_merged_model_holds_as_its_parts_do():
    rng = np.random.default_rng(0)
    both = RuleModel((make_part(rng, [0]), make_part(rng, [1], bends=[Bend(2, "up to", 0.3)])))
    held = both.hold_at([[-0.5, 0.5]] * 4)
    X = rng.normal(scale=4, size=(20, 4))
    np.testing.assert_allclose(held.merge().predict(X), held.predict(X), atol=1e-12)
