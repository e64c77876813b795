"""Missing values in the inputs of rules: an independent oracle, all ways to predict, and what rules refuse."""

from dataclasses import replace

import numpy as np
import pytest
from tests.training.test_missing import make_problem, say

from takagi import Bend, RuleBase, RuleModel, kernels
from takagi.kernels import _plain
from takagi.profile import measure_profile

BENDS = (Bend(1, "above", 0.2), Bend(0, "log", -5.0, floor=0.1), Bend(1, "up to", -0.3))


def bend_rules(n_rules=5, n_features=3):
    rules, X, _, _ = make_problem(n_rules, n_features, 2)
    weights = np.random.default_rng(1).normal(size=(n_rules, 2, 1 + n_features + len(BENDS)))
    return replace(rules, consequents=weights, bends=BENDS), X


@pytest.mark.parametrize("n_rules", [1, 5, 8, 17])
def test_predictions_are_those_of_the_oracle(n_rules):
    rules, X, _, _ = make_problem(n_rules, 4, 2)
    np.testing.assert_allclose(rules.predict_raw(X), say(rules, X), atol=1e-12)
    share = np.exp(rules.log_firing(X))
    np.testing.assert_allclose(rules.firing_share(X), share / share.sum(axis=1, keepdims=True), atol=1e-12)
    mean = np.einsum("nr,nro->no", rules.firing_share(X), rules.rule_outputs(X))
    np.testing.assert_allclose(mean, say(rules, X), atol=1e-12)


def test_bends_take_what_is_usual():
    rules, X = bend_rules()
    expanded = rules.expand()
    values = np.where(np.isnan(X)[:, None, :], rules.usual, X[:, None, :])
    bent = [bend.evaluate(values[..., bend.feature]) for bend in BENDS]
    inputs = np.concatenate([values, np.stack(bent, axis=2)], axis=2)
    outputs = rules.consequents[:, :, 0] + np.einsum("nrm,rom->nro", inputs, rules.consequents[:, :, 1:])
    np.testing.assert_allclose(rules.rule_outputs(X), outputs, atol=1e-12)
    expected = np.einsum("nr,nro->no", expanded.firing_share(rules.expand_rows(X)), outputs)
    np.testing.assert_allclose(rules.predict_raw(X), expected, atol=1e-12)


def test_numpy_and_compiled_code_agree():
    rules, X = bend_rules(9)
    theta, shape, origin, usual, used = rules._packed
    block, columns = rules.expand_rows(X)[:, used] - origin, kernels.make_columns(shape, usual)
    found = []
    for predict in (kernels.predict_rows, _plain.predict_rows):
        prediction, share = np.empty((len(X), 2)), np.empty((len(X), 9))
        predict(theta, shape, columns, np.ascontiguousarray(block), prediction, share)
        found.append(np.hstack([prediction, share]))
    np.testing.assert_allclose(*found, atol=1e-12)


def test_features_that_no_rule_uses_do_not_change_a_bit():
    rules, X, _, _ = make_problem(4, 3, 2)
    spread = {"centers": 0.0, "widths": np.inf}
    wide = replace(
        rules,
        **{name: np.insert(getattr(rules, name), [1, 3], value, axis=1) for name, value in spread.items()},
        consequents=np.insert(rules.consequents, [2, 4], 0.0, axis=2),
        usual=None if rules.usual is None else np.insert(rules.usual, [1, 3], 0.0, axis=1),
    )
    rows = np.insert(X, [1, 3], 7.0, axis=1)
    np.testing.assert_array_equal(wide.predict(rows), rules.predict(X))
    np.testing.assert_array_equal(wide.firing_share(rows), rules.firing_share(X))
    assert wide._packed[1].n_features == 3


def test_units_do_not_change_what_is_said():
    rules, X, _, _ = make_problem(4, 3, 1)
    mean, scale = np.array([1e6, -3.0, 0.5]), np.array([10.0, 0.1, 1e3])
    moved = rules.rescale(mean, scale, np.zeros(1), np.ones(1))
    np.testing.assert_allclose(moved.predict(X * scale + mean), rules.predict(X), atol=1e-8)


def test_a_missing_value_is_as_if_its_condition_were_not_there():
    rules, *_ = make_problem(4, 3, 1)
    row = np.array([[0.3, np.nan, -0.2]])
    widths, consequents = rules.widths.copy(), rules.consequents.copy()
    widths[:, 1] = np.inf
    consequents[:, 0, 0] += consequents[:, 0, 2] * rules.usual[:, 1]
    consequents[:, 0, 2] = 0
    without = RuleBase(rules.centers, widths, consequents)
    assert rules.predict(row) == pytest.approx(without.predict([[0.3, 99.0, -0.2]]), rel=1e-12)


def test_a_row_without_any_value_has_a_prediction():
    rules, _, _, _ = make_problem(4, 3, 1)
    nothing = np.full((1, 3), np.nan)
    np.testing.assert_allclose(rules.firing_share(nothing), 0.25)
    assert np.isfinite(rules.predict(nothing)).all()


def test_features_that_were_never_missing_count_as_their_mean():
    rules, X, y, _ = make_problem(4, 3, 1)
    usual = rules.usual.copy()
    usual[:, 2] = np.nan
    complete = np.nan_to_num(X)
    rules = replace(rules, usual=usual, profile=measure_profile((complete, y), rules.firing_share))
    filled = np.column_stack([X[:, :2], np.where(np.isnan(X[:, 2]), rules.profile.mean[2], X[:, 2])])
    np.testing.assert_array_equal(rules.predict(X), rules.predict(filled))
    plain = replace(rules, usual=None)
    everywhere = np.where(np.isnan(X), rules.profile.mean, X)
    np.testing.assert_array_equal(plain.predict(X), plain.predict(everywhere))


def test_rules_without_data_refuse_what_they_do_not_know():
    rules, X, _, _ = make_problem(2, 2, 1)
    with pytest.raises(ValueError, match=r"NaN in column 'x0'.*Fill in the missing values first"):
        replace(rules, usual=None).predict(X)
    with pytest.raises(ValueError, match="infinity in column 'x1'"):
        rules.predict([[0.0, np.inf]])


@pytest.mark.parametrize(
    ("usual", "message"),
    [
        ([[0.0]], "usual must have shape"),
        ([[0.0, np.nan], [0.0, 1.0]], "NaN for all rules"),
        ([[np.inf, 0.0]] * 2, "finite"),
    ],
)
def test_bad_usual_values_are_refused(usual, message):
    rules, _, _, _ = make_problem(2, 2, 1)
    with pytest.raises(ValueError, match=message):
        replace(rules, usual=usual)


def test_a_sum_with_common_usual_values_can_be_merged():
    rules, X, _, _ = make_problem(2, 2, 1)
    usual = np.tile([0.5, -1.0], (2, 1))
    first = replace(rules, usual=usual, widths=np.column_stack([rules.widths[:, 0], [np.inf, np.inf]]))
    second = replace(rules, usual=usual, widths=np.column_stack([[np.inf, np.inf], rules.widths[:, 1]]))
    model = RuleModel((first, second))
    np.testing.assert_allclose(model.merge().predict(X), model.predict(X), atol=1e-12)
    with pytest.raises(ValueError, match="different numbers"):
        RuleModel((first, replace(second, usual=rules.usual))).merge()


def test_a_profile_leaves_out_what_is_missing():
    rules, X, y, _ = make_problem(3, 2, 1)
    profile = measure_profile((X, y), rules.firing_share)
    np.testing.assert_allclose(profile.mean, np.nanmean(X, axis=0))
    np.testing.assert_array_equal(profile.quantiles[[0, -1]], [np.nanmin(X, axis=0), np.nanmax(X, axis=0)])
    np.testing.assert_allclose(profile.quantiles[10, 0], np.nanquantile(X[:, 0], 0.5, method="inverted_cdf"))
