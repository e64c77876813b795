import contextlib
import time

import numpy as np
import pytest
from hypothesis import given

from cases import PROJECTIONS, explore, make_rules, problems, to_takagi
from takagi import RuleBase
from takagi.inspection._attribution import _attribute_block, attribute


@explore
@given(problems())
def test_contributions_add_up_to_the_change_of_the_prediction(problem):
    rules = to_takagi(problem.rules)
    baseline = problem.X.mean(axis=0)
    parts = attribute(rules, problem.X, baseline)
    change = rules.predict(problem.X).reshape(len(problem.X), -1) - rules.predict(baseline[None]).reshape(1, -1)
    found = (parts.by_condition + parts.by_consequent).sum(axis=2)
    np.testing.assert_allclose(found, change, atol=1e-9 * max(1.0, np.abs(change).max()))


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_contributions_are_the_integral_of_the_gradient(projection):
    rng = np.random.default_rng(0)
    rules = to_takagi(make_rules(rng, n_outputs=2, projection=projection))
    x, baseline = rng.normal(size=(2, 3))
    places = (np.arange(4000) + 0.5) / 4000
    points = baseline + places[:, None] * (x - baseline)
    expected = np.empty((2, 3))
    for m in range(3):
        step = 1e-5 * np.eye(3)[m]
        slope = (rules.predict(points + step) - rules.predict(points - step)) / 2e-5
        expected[:, m] = slope.mean(axis=0) * (x - baseline)[m]
    parts = attribute(rules, x[None], baseline)
    np.testing.assert_allclose((parts.by_condition + parts.by_consequent)[0], expected, rtol=1e-5, atol=1e-6)


def test_one_rule_contributes_through_its_consequents_alone():
    rules = RuleBase([[0.0, 0.0]], [[1.0, 1.0]], [[[1.0, 2.0, -3.0]]])
    parts = attribute(rules, np.array([[1.0, 1.0]]), np.zeros(2))
    np.testing.assert_allclose(parts.by_consequent[0, 0], [2.0, -3.0])
    np.testing.assert_allclose(parts.by_condition, 0.0, atol=1e-12)


def test_constant_consequents_contribute_through_conditions_alone():
    rules = RuleBase([[0.0, 0.0], [4.0, 0.0]], [[1.0, 1.0]] * 2, [[[1.0, 0.0, 0.0]], [[5.0, 0.0, 0.0]]])
    parts = attribute(rules, np.array([[4.0, 3.0]]), np.zeros(2))
    assert parts.by_condition[0, 0, 0] == pytest.approx(4.0, abs=0.01)
    assert abs(parts.by_condition[0, 0, 1]) < 1e-12  # both rules ask the same of the second feature
    assert (parts.by_consequent == 0).all()


def test_a_feature_in_neither_part_contributes_nothing():
    rng = np.random.default_rng(0)
    rules = to_takagi(make_rules(rng))
    widths, consequents = rules.widths.copy(), rules.consequents.copy()
    widths[:, 1], consequents[:, :, 2] = np.inf, 0.0
    rules = RuleBase(rules.centers, widths, consequents)
    X = rng.normal(size=(20, 3))
    parts = attribute(rules, X, X.mean(axis=0))
    assert (parts.by_condition[:, :, 1] == 0).all()
    assert (parts.by_consequent[:, :, 1] == 0).all()


def test_sharp_rules_leave_nothing_over_to_spread():
    rng = np.random.default_rng(0)
    rules = RuleBase(rng.normal(size=(6, 3)), np.full((6, 3), 0.01), rng.normal(size=(6, 1, 4)))
    X = rng.normal(size=(30, 3))
    by_condition, by_consequent = _attribute_block(rules, X, np.zeros(3))
    change = rules.predict(X) - rules.predict(np.zeros((1, 3)))
    found = (by_condition + by_consequent).sum(axis=2)[:, 0]
    np.testing.assert_allclose(found, change, atol=1e-9 * np.abs(change).max())


def test_rows_beyond_the_range_of_numbers_are_refused():
    rules = to_takagi(make_rules(np.random.default_rng(0)))
    with pytest.raises(ValueError, match="too large or too small to explain"):
        attribute(rules, np.full((1, 3), 1e200), np.zeros(3))


@pytest.mark.parametrize("distance", [1e3, 1e8])
def test_far_rows_add_up_too(distance):
    rng = np.random.default_rng(0)
    rules = to_takagi(make_rules(rng))
    X = rng.normal(size=(5, 3)) * distance
    parts = attribute(rules, X, np.zeros(3))
    change = rules.predict(X) - rules.predict(np.zeros((1, 3)))
    np.testing.assert_allclose((parts.by_condition + parts.by_consequent).sum(axis=2)[:, 0], change, rtol=1e-9)


def explain_briefly(rules):
    """Explain 100 rows; return the time that it took, whether or not they can be explained."""
    rng, start = np.random.default_rng(0), time.process_time()
    with contextlib.suppress(ValueError), np.errstate(all="ignore"):
        attribute(rules, rng.normal(size=(100, 2)), np.array([0.3, 0.1]))
    return time.process_time() - start


@pytest.mark.parametrize("width", [1e-308, 1e-154, 1e-120, 1e-80, 1e-30])
def test_sharp_sets_cost_bounded_time(width):
    consequents = np.random.default_rng(0).normal(size=(3, 1, 3))
    rules = RuleBase([[0, 0], [1, 1], [-1, 0.5]], [[1, 1], [1, width], [1, 1]], consequents)
    assert explain_briefly(rules) < 4


def test_a_projection_beyond_the_range_of_numbers_costs_bounded_time():
    consequents = np.random.default_rng(0).normal(size=(2, 1, 3))
    projection = [[1e298], [1.0], [1.0]]
    rules = RuleBase(np.zeros((2, 3)), [[1.0] * 3, [2.0] * 3], consequents, antecedent_projection=projection)
    assert explain_briefly(rules) < 4
