"""Which rules are found again on bootstrap samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TableEncoder, TSKCommittee, TSKRegressor
from takagi.workflow import rule_stability
from takagi.workflow._stability import mark_governed, match_rules

RNG = np.random.default_rng(0)
SIDE = np.repeat([-1.0, 1.0], 75)
X = np.column_stack([2 * SIDE + RNG.uniform(-1, 1, 150), RNG.uniform(-1, 1, 150)])  # two groups of rows
Y = SIDE * X[:, 0] + 0.3 * X[:, 1]
QUICK = {"recipe": "droprule", "max_iter": 200, "random_state": 0, "init": "kmeans"}


@pytest.fixture(scope="module")
def stability():
    model = TSKRegressor(2, **QUICK).fit(X, Y)
    return rule_stability(model, X, Y, n_refits=6)


def test_rules_of_two_groups_of_rows_are_found_again(stability):
    assert [rule.n_found for rule in stability.rules] == [6, 6]
    assert stability.found == 1.0


def test_limits_hold_the_centers_and_slopes_of_the_rules(stability):
    model = TSKRegressor(2, **QUICK).fit(X, Y)
    rules = model.rule_base_
    for rule in stability.rules:
        r = rule.reading.number - 1
        assert rule.centers.shape == (2, 2)
        assert rule.slopes.shape == (1, 2, 2)
        assert (rule.centers[:, 0] <= rule.centers[:, 1]).all()
        low, high = rule.slopes[0, 1]
        assert low - 0.1 < 0.3 < high + 0.1
        assert np.sign(rule.slopes[0, 0]).tolist() == [np.sign(rules.consequents[r, 0, 1])] * 2


def test_the_text_says_how_often_each_rule_is_found(stability):
    text = str(stability)
    assert text.startswith("100 % of the rules are found again, on average over 6 refits.")
    assert "Rule 1: found in 6 of 6 refits\n  IF x0 is" in text
    assert "  slopes: x0 " in text
    assert max(map(len, text.splitlines())) <= 80


def test_columns_of_a_pipeline_are_compared_by_name():
    frame = pd.DataFrame({"a": X[:, 0] * 100, "b": X[:, 1], "kind": np.where(np.arange(150) == 3, "rare", "usual")})
    model = make_pipeline(TableEncoder(), StandardScaler(), TSKRegressor(2, **QUICK)).fit(frame, Y)
    found = rule_stability(model, frame, pd.Series(Y), n_refits=5)
    assert found.feature_names[0] == "a"
    assert np.nanmax(np.abs(found.rules[0].centers[0])) > 1
    assert "found in" in str(found)


def test_a_rule_is_matched_with_one_rule_at_most():
    one = np.array([[1.0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    assert sorted(match_rules(one, one[[0, 2]]).tolist()) == [-1, 0, 1]


def test_every_row_is_governed_by_one_rule_of_each_part():
    model = TSKRegressor(3, **QUICK).fit(X, Y).model_
    np.testing.assert_array_equal(mark_governed(model, X).sum(axis=0), np.ones(150))


def test_the_model_stays_as_it_is():
    model = TSKRegressor(2, **QUICK).fit(X, Y)
    before = model.model_
    rule_stability(model, X, Y, n_refits=1)
    assert model.model_ is before


@pytest.mark.parametrize("n_refits", [0, 1.5, True, "3"])
def test_a_number_of_refits_that_is_none_is_refused(n_refits):
    model = TSKRegressor(2, **QUICK).fit(X, Y)
    with pytest.raises(ValueError, match="n_refits must be a whole number"):
        rule_stability(model, X, Y, n_refits=n_refits)


def test_models_that_cannot_be_refitted_are_refused():
    with pytest.raises(TypeError, match="rules alone"):
        rule_stability(TSKRegressor(2, **QUICK).fit(X, Y).model_, X, Y)
    with pytest.raises(TypeError, match="committee"):
        rule_stability(TSKCommittee(2, TSKRegressor(2, max_iter=20), random_state=0).fit(X, Y), X, Y)
