"""Bends: curved terms of one feature."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takagi import Bend, RuleBase

BENDS = [Bend(0, "log", 0.0, floor=0.5), Bend(0, "log", -3.0, floor=0.1), Bend(0, "above", 2.0), Bend(0, "up to", 2.0)]


def test_a_bend_is_what_its_name_says():
    x = np.array([1.0, 2.0, 8.0])
    np.testing.assert_allclose(Bend(0, "log", 0.0, floor=0.5).evaluate(x), np.log(x))
    np.testing.assert_allclose(Bend(0, "above", 2.0).evaluate(x), [0, 0, 6])
    np.testing.assert_allclose(Bend(0, "up to", 2.0).evaluate(x), [1, 2, 2])
    assert Bend(0, "log", -3.0, floor=1.0).name("x") == "log(x + 3)"


def test_a_logarithm_is_finite_below_its_pole():
    bend = Bend(0, "log", 0.0, floor=0.5)
    np.testing.assert_allclose(bend.evaluate(np.array([-1e9, 0.0, 0.5])), np.log(0.5))


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.name("x"))
@given(mean=st.floats(-50, 50), scale=st.floats(0.1, 20))
def test_a_bend_in_other_units_says_the_same(bend, mean, scale):
    x = np.linspace(-5, 9, 30)
    moved, factor, constant = bend.rescale(mean, scale)
    np.testing.assert_allclose(factor * moved.evaluate(x * scale + mean) + constant, bend.evaluate(x), atol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bend(0, "square", 1.0),
        lambda: Bend(-1, "above", 1.0),
        lambda: Bend(0, "above", np.nan),
        lambda: Bend(0, "log", 0.0),
        lambda: Bend(0, "log", 0.0, floor=np.inf),
        lambda: Bend(0, "above", 0.0, floor=np.nan),
    ],
)
def test_bends_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError, match=r"kind|feature|knot|floor"):
        make()


def make_bent(rng, n_rules=3, n_outputs=2):
    bends = (Bend(1, "above", 0.3), Bend(0, "log", -4.0, floor=0.1))
    return RuleBase(
        rng.normal(size=(n_rules, 2)),
        rng.uniform(0.5, 2, size=(n_rules, 2)),
        rng.normal(size=(n_rules, n_outputs, 5)),
        bends=bends,
    )


def test_rules_with_bends_predict_what_their_formulas_say():
    rng = np.random.default_rng(0)
    rules, X = make_bent(rng), rng.normal(size=(40, 2))
    by_hand = np.column_stack([np.ones(40), X, np.maximum(X[:, 1] - 0.3, 0), np.log(np.maximum(X[:, 0] + 4, 0.1))])
    outputs = np.einsum("nm,rom->nro", by_hand, rules.consequents)
    np.testing.assert_allclose(rules.rule_outputs(X), outputs, atol=1e-12)
    expected = np.einsum("nr,nro->no", rules.firing_share(X), outputs)
    np.testing.assert_allclose(rules.predict(X), expected, atol=1e-12)
    plain = rules.expand()
    np.testing.assert_allclose(plain.predict(rules.expand_rows(X)), expected, atol=1e-12)


def test_rules_with_bends_can_change_their_units():
    rng = np.random.default_rng(1)
    rules, X = make_bent(rng), rng.normal(size=(40, 2))
    units = np.array([10.0, -2.0]), np.array([3.0, 0.5]), np.array([1.0, 2.0]), np.array([4.0, 5.0])
    moved = rules.rescale(*units)
    np.testing.assert_allclose(
        moved.predict(X * units[1] + units[0]), rules.predict(X) * units[3] + units[2], atol=1e-9
    )


def test_bends_need_features_and_no_projections():
    rng = np.random.default_rng(2)
    parts = rng.normal(size=(1, 3)), np.ones((1, 3)), rng.normal(size=(1, 1, 4))
    with pytest.raises(ValueError, match="features 0 to 2"):
        RuleBase(*parts[:2], rng.normal(size=(1, 1, 5)), bends=[Bend(3, "above", 0.0)])
    with pytest.raises(ValueError, match="projections"):
        RuleBase(
            *(rng.uniform(1, 2, size=(1, 4)) for _ in range(2)), rng.normal(size=(1, 1, 5)),
            antecedent_projection=np.ones((4, 1)), bends=[Bend(0, "above", 0.0)],
        )  # fmt: skip
