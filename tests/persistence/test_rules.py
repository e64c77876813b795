"""Rules as plain values, and models that are sums of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_models import FRAME, X, Y, assert_same_model, assert_same_rules, same_bits, save_and_load, small
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import explore, make_part, make_rules, make_sum, sums, to_takagi
from takagi import Bend, ExtrapolationWarning, RuleModel, TSKCommittee
from takagi.persistence import ModelFileError
from takagi.persistence._codec import decode_model, encode_model
from takagi.persistence._rules import decode_rules, encode_rules
from takagi.persistence._schema import Node
from takagi.tables import TableEncoder


def test_rules_with_and_without_a_link_come_back():
    rules = to_takagi(make_rules(np.random.default_rng(0)))
    linked = replace(rules, link="logit")
    assert decode_rules(Node(encode_rules(linked), "rules")) == linked
    assert decode_rules(Node(encode_rules(rules), "rules")) == rules


def test_an_unknown_link_is_refused():
    encoded = encode_rules(to_takagi(make_rules(np.random.default_rng(0)))) | {"link": "probit"}
    with pytest.raises(
        ModelFileError, match=r"rules.link must be one of 'identity', 'logit', 'softmax', got \"probit\""
    ):
        decode_rules(Node(encoded, "rules"))


# -- sums, bends and intervals -----------------------------------------------------------------------------------------


def assert_same_sum(loaded, model):
    assert len(loaded.parts) == len(model.parts)
    for part, expected in zip(loaded.parts, model.parts, strict=True):
        assert_same_rules(part, expected)


def fitted(model, **parts):
    """Return a regressor whose fit ended with a sum of two features."""
    regressor = small(**parts).fit(X, Y)
    regressor.model_, regressor.n_rules_ = model, model.n_rules
    return regressor


def test_rules_without_bends_and_intervals_have_no_fields_for_them():
    encoded = encode_rules(make_part(np.random.default_rng(0), [0]))
    assert "bends" not in encoded
    assert "intervals" not in encoded


@given(sums())
@explore
def test_any_sum_comes_back_to_the_bit(model):
    text = json.dumps(encode_model(model), allow_nan=False)
    loaded = decode_model(Node(json.loads(text), "model"))
    assert type(loaded) is RuleModel
    assert_same_sum(loaded, model)
    rows = np.random.default_rng(0).normal(size=(10, model.n_features))
    assert same_bits(loaded.predict(rows), model.predict(rows))
    assert json.dumps(encode_model(loaded)) == text


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_a_loaded_regressor_has_all_parts_of_the_saved_one(n_parts, tmp_path):
    rng = np.random.default_rng(n_parts)
    model = fitted(make_sum(rng, n_parts, n_features=2, feature_names=["speed", "load"], output_names=["wear"]))
    assert_same_model(save_and_load(model, tmp_path), model, X)


def test_a_loaded_pipeline_has_all_parts_of_the_saved_one(tmp_path):
    model = make_pipeline(TableEncoder(missing="fill"), StandardScaler(), small()).fit(FRAME, Y)
    names = {"feature_names": model[-1].model_.feature_names, "output_names": model[-1].model_.output_names}
    rules = make_sum(np.random.default_rng(5), 3, n_features=model[-1].n_features_in_, **names)
    model[-1].model_, model[-1].n_rules_ = rules, rules.n_rules
    assert_same_model(save_and_load(model, tmp_path), model, FRAME)


def test_a_loaded_committee_of_sums_is_the_saved_one(tmp_path):
    model = TSKCommittee(2, small(), remember=False, random_state=0).fit(X, Y)
    for seed, member in enumerate(model.estimators_):
        member.model_ = make_sum(np.random.default_rng(seed), 2, n_features=2)
    model = model.calibrate(X, Y)
    loaded = save_and_load(model, tmp_path)
    assert same_bits(loaded.predict_interval(X, 0.5), model.predict_interval(X, 0.5))
    assert same_bits(loaded.predict(X), model.predict(X))
    assert same_bits(loaded.firing_share(X), model.firing_share(X))
    for kept, member in zip(loaded.estimators_, model.estimators_, strict=True):
        assert_same_sum(kept.model_, member.model_)


def make_document():
    """A sum of two parts, the first with two bends and intervals."""
    rng = np.random.default_rng(0)
    bends = [Bend(0, "above", 1.0), Bend(1, "log", -3.0, floor=0.5)]
    main = make_part(rng, [0], n_features=2, bends=bends, with_intervals=True)
    return json.loads(json.dumps(encode_model(RuleModel((main, make_part(rng, [1], n_features=2))))))


INTERVALS = [[[0.0, 1.0], [None, 2.0]], [[None, None], [3.0, None]]]
EDITS = {
    "bends as text": (("bends",), "log", r"model.parts\[0\].bends must be a list, got \"log\""),
    "a bend as text": (("bends", 0), "log", r"bends\[0\] must be an object, got \"log\""),
    "no floor": (("bends", 0), {"feature": 0, "kind": "above", "knot": 0.0}, r"bends\[0\] has no field 'floor'"),
    "unknown field": (("bends", 0, "power"), 2, r"bends\[0\] has a field 'power', which is unknown"),
    "unknown kind": (("bends", 0, "kind"), "sqrt", r"bends\[0\].kind must be one of 'log', 'above', 'up to', got"),
    "kind is a list": (("bends", 0, "kind"), ["log"], r"bends\[0\].kind must be one of"),
    "feature beyond": (("bends", 1, "feature"), 2, r"parts\[0\] is refused: bends must refer to features 0 to 1"),
    "huge feature": (("bends", 1, "feature"), 10**31, r"bends\[1\].feature must be an integer .*, got a huge"),
    "feature below": (("bends", 1, "feature"), -1, r"bends\[1\].feature must be an integer .*, got -1"),
    "half a feature": (("bends", 1, "feature"), 0.5, r"bends\[1\].feature must be an integer .*, got 0.5"),
    "true feature": (("bends", 1, "feature"), True, r"bends\[1\].feature must be an integer .*, got true"),
    "no knot": (("bends", 1, "knot"), None, r"bends\[1\].knot must be a finite number, got null"),
    "huge knot": (("bends", 1, "knot"), 10**400, r"bends\[1\].knot must be a finite number, got a huge integer"),
    "floor of zero": (("bends", 1, "floor"), 0.0, r"bends\[1\] is refused: the floor of a logarithm must be positive"),
    "fewer bends": (("bends",), [], r"parts\[0\] is refused: consequents must have 3 numbers"),
    "no intervals": (("intervals",), None, r"parts\[0\].intervals must be numbers in lists nested 3 deep, got null"),
    "one limit": (("intervals",), [[[0.0]] * 2] * 2, r"intervals must be a lower and an upper limit for each rule"),
    "no limits": (("intervals",), [[[]] * 2] * 2, r"intervals must be a lower and an upper limit for each rule"),
    "empty": (("intervals",), [], r"intervals must be a lower and an upper limit for .*, got a list"),
    "fewer intervals": (("intervals",), INTERVALS[:1], r"parts\[0\] is refused: intervals must have shape"),
    "text": (("intervals", 0, 0, 1), "1", r"intervals\[0\]\[0\]\[1\] must be a finite number, got \"1\""),
    "upside down": (("intervals", 0, 0), [1.0, 0.0], r"parts\[0\] is refused: the lower limit of an interval"),
}  # fmt: skip


@pytest.mark.parametrize(("place", "value", "message"), EDITS.values(), ids=EDITS)
def test_edited_bends_and_intervals_are_refused(place, value, message):
    document = make_document()
    decode_model(Node(document, "model"))
    *way, last = place
    target = document["parts"][0]
    for step in way:
        target = target[step]
    target[last] = value
    with pytest.raises(ModelFileError, match=message):
        decode_model(Node(document, "model"))


def list_places(value, place=()):
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from list_places(item, (*place, key))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["log", "up to", "", "RuleBase"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["feature", "knot"]), inner),
    max_leaves=8,
)


@given(st.sampled_from([place for place in list_places(make_document()) if place]), VALUES)
@settings(deadline=None, max_examples=150)
def test_any_edit_is_refused_or_gives_a_sum_that_works(place, value):
    document = make_document()
    target = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    try:
        model = decode_model(Node(document, "model"))
    except ModelFileError:
        return
    assert model.predict(np.zeros((1, 2))).shape == (1,)
    encode_model(model)


def test_null_is_no_limit():
    document = make_document()
    document["parts"][0]["intervals"] = INTERVALS
    inf = np.inf
    expected = [[[0.0, 1.0], [-inf, 2.0]], [[-inf, inf], [3.0, inf]]]
    np.testing.assert_array_equal(decode_model(Node(document, "model")).first.intervals, expected)


PARTS = {
    "none": (lambda parts: parts.clear(), "model.parts is refused: parts must be one rule base or several"),
    "null": (lambda parts: parts.append(None), r"model.parts\[2\] must be an object, got null"),
    "other link": (lambda parts: parts[1].update(link="logit"), "model.parts is refused: .* the same link"),
    "other names": (
        lambda parts: parts[1].update(feature_names=["a" * 10**6, "b"]),
        "model.parts is refused: .* the same feature_names, got None and .{,100}$",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), PARTS.values(), ids=PARTS)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    document = make_document()
    change(document["parts"])
    with pytest.raises(ModelFileError, match=message):
        decode_model(Node(document, "model"))


def test_limits_come_back_with_null_where_there_is_none():
    limits = [[-1.0, 2.0], [-np.inf, 3.0], [-np.inf, np.inf]]
    rules = replace(to_takagi(make_rules(np.random.default_rng(0))), limits=limits)
    encoded = encode_rules(rules)
    assert encoded["limits"] == [[-1.0, 2.0], [None, 3.0], [None, None]]
    assert decode_rules(Node(encoded, "rules")) == rules
    assert "limits" not in encode_rules(replace(rules, limits=None))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([[0.0, 1.0, 2.0]] * 3, "rules.limits must be a lower and an upper limit for each feature"),
        ([[0.0, 1.0]], r"rules is refused: limits must have shape \(3, 2\)"),
        ([[2.0, 1.0]] * 3, "rules is refused: the lower limit of a feature must not be above"),
    ],
)
def test_bad_limits_are_refused(limits, message):
    encoded = encode_rules(to_takagi(make_rules(np.random.default_rng(0)))) | {"limits": limits}
    with pytest.raises(ModelFileError, match=message):
        decode_rules(Node(encoded, "rules"))


def test_a_loaded_model_holds_where_the_saved_one_does(tmp_path):
    model = small().fit(X, Y)
    loaded = save_and_load(model, tmp_path)
    np.testing.assert_array_equal(loaded.model_.limits, model.model_.limits)
    far = 50 * X
    with pytest.warns(ExtrapolationWarning):
        np.testing.assert_array_equal(loaded.predict(far), model.model_.predict(far))
    assert loaded.extrapolation == "hold"


def test_what_no_interval_names_comes_back_and_may_be_absent():
    part = small().fit(X, Y).model_.first
    told = replace(part, profile=replace(part.profile, uncovered=0.25))
    encoded = encode_rules(told)
    assert decode_rules(Node(encoded, "rules")).profile.uncovered == 0.25
    del encoded["profile"]["uncovered"]  # a file from before
    assert decode_rules(Node(encoded, "rules")).profile.uncovered is None
