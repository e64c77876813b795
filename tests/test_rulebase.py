"""The rule base: checks, prediction, change of units, text, and being a value."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from cases import GROUPS, PROJECTIONS, explore, make_limits, make_rules, problems, to_oracle, to_takagi
from takagi import RuleBase
from takagi.rulebase import pack, unpack

ARRAYS = (*GROUPS.values(), "sets")


@pytest.fixture(params=PROJECTIONS)
def rules(request):
    drawn = make_rules(np.random.default_rng(0), n_rules=9, n_features=4, n_outputs=2, projection=request.param)
    return to_takagi(drawn, feature_names=["speed", "load", "x3", "height"], output_names=["force", "wear"])


@pytest.fixture
def grid():
    return to_takagi(make_rules(np.random.default_rng(1), n_rules=6, n_features=3, n_sets=2))


def with_change(**changes):
    """A small rule base of two rules, three features and one output, with some fields replaced."""
    fields = {"centers": np.zeros((2, 3)), "widths": np.ones((2, 3)), "consequents": np.zeros((2, 1, 4))}
    return RuleBase(**(fields | changes))


# ----------------------------------------------------------------------------------------------------------------------
# Checks
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"centers": np.zeros(3)}, r"centers and widths must have the same shape \(n_rules, n_inputs\).*got \(3,\)"),
        ({"centers": np.zeros((0, 3)), "widths": np.ones((0, 3))}, "with at least one rule"),
        ({"widths": np.ones((2, 2))}, r"centers and widths must have the same shape.*got \(2, 3\) and \(2, 2\)"),
        ({"consequents": np.zeros((2, 4))}, r"consequents must have shape.*n_rules=2, got \(2, 4\)"),
        ({"consequents": np.zeros((3, 1, 4))}, r"n_rules=2, got \(3, 1, 4\)"),
        ({"consequents": np.zeros((2, 0, 4))}, r"consequents must have shape.*got \(2, 0, 4\)"),
        ({"consequents": np.zeros((2, 1, 3))}, r"4 numbers per rule and output \(a bias and 3 slopes\), got 3"),
        ({"consequent_projection": np.zeros((4, 2))}, r"6 numbers per rule and output \(a bias and 5 slopes\), got 4"),
        ({"consequent_projection": np.zeros((3, 1))}, r"consequent_projection must have n_features \+ 1 = 4 rows"),
        ({"consequent_projection": np.zeros(4)}, r"consequent_projection must have.*got shape \(4,\)"),
        ({"antecedent_projection": np.zeros((4, 1))}, r"antecedent_projection must have n_features \+ 1 = 3 rows"),
        ({"feature_names": ["a", "b"]}, "feature_names must be 3 names, got 2"),
        ({"output_names": ["a", "b"]}, "output_names must be 1 names, got 2"),
        ({"sets": np.zeros((2, 2), dtype=int)}, r"sets must have the shape of centers \(2, 3\), got \(2, 2\)"),
        ({"centers": np.full((2, 3), np.nan)}, "centers must be finite numbers, got NaN or infinity"),
        ({"widths": np.full((2, 3), np.nan)}, "widths must be positive, got nan"),
        ({"consequents": np.full((2, 1, 4), -np.inf)}, "consequents must be finite numbers"),
        ({"widths": np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])}, "widths must be positive, got 0.0"),
        ({"widths": np.full((2, 3), -2.0)}, "widths must be positive, got -2.0"),
        (
            {"centers": np.eye(2, 3), "sets": np.zeros((2, 3), dtype=int)},
            r"rules that share a set \(equal entries in a column of sets\) must have equal centers and widths",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_numbers(changes, message):
    with pytest.raises(ValueError, match=message):
        with_change(**changes)


def test_a_flat_antecedent_projection_is_refused():
    with pytest.raises(ValueError, match="antecedent_projection must have two dimensions"):
        with_change(antecedent_projection=np.zeros(4))


def test_tied_projections_must_be_equal():
    projection = np.ones((3, 1))
    consequents = np.zeros((2, 1, 4))
    for other in (projection + 1, None):
        with pytest.raises(ValueError, match="tied_projection=True needs two equal projections"):
            RuleBase(
                np.zeros((2, 3)), np.ones((2, 3)), consequents if other is not None else consequents[:, :, :3],
                antecedent_projection=projection, consequent_projection=other, tied_projection=True,
            )  # fmt: skip


@pytest.mark.parametrize("X", [np.zeros(4), np.zeros((2, 3)), np.zeros((2, 2, 4)), 3.0])
def test_rows_of_another_width_are_refused(rules, X):
    for method in (rules.predict, rules.firing_share, rules.log_firing, rules.rule_outputs):
        with pytest.raises(ValueError, match=r"X must have shape \(n_rows, 4\), got \("):
            method(X)


# ----------------------------------------------------------------------------------------------------------------------
# Prediction
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(problems(max_rows=5))
def test_predictions_are_shares_times_outputs(problem):
    rules = to_takagi(problem.rules)
    expected = np.einsum("nr,nro->no", rules.firing_share(problem.X), rules.rule_outputs(problem.X))
    found = rules.predict(problem.X).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_shares_sum_to_one_with_ten_thousand_features():
    """Each firing level is exp(-5000) or so, a product that underflows; the authors' code would leave out all rows."""
    rng = np.random.default_rng(0)
    n_features, n_rules = 10_000, 5
    rules = RuleBase(
        rng.normal(size=(n_rules, n_features)),
        np.ones((n_rules, n_features)),
        rng.normal(size=(n_rules, 1, n_features + 1)),
    )
    X = rng.normal(size=(6, n_features))
    assert np.exp(rules.log_firing(X)).max() == 0.0
    shares = rules.firing_share(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(shares, ref.fire(to_oracle(rules), X).share, atol=1e-9)
    assert np.isfinite(rules.predict(X)).all()


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e100, 1e153, 1e160, 1e200])
def test_far_rows_get_finite_predictions(rules, distance):
    X = distance * np.array([[1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, 0.5], [1.0, 0.0, 0.0, 0.0]])
    shares = rules.firing_share(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)
    assert shares.min() >= 0
    assert np.isfinite(rules.predict(X)).all()


def test_a_far_row_belongs_to_the_nearest_rule():
    rules = RuleBase([[0.0], [10.0], [20.0]], np.ones((3, 1)), [[[1.0, 0.0]], [[2.0, 0.0]], [[3.0, 0.0]]])
    np.testing.assert_array_equal(rules.predict([[-1e6], [1e6], [1e3], [10.0]]), [1.0, 3.0, 3.0, 2.0])


@pytest.mark.parametrize("far", [1e9, 1e20, 1e200])
def test_a_far_rule_does_not_disturb_the_others(far):
    rules = RuleBase([[0.0], [1.0], [far]], np.ones((3, 1)), [[[0.0, 1.0]], [[0.0, 1.0]], [[5.0, 1.0]]])
    np.testing.assert_allclose(rules.predict([[0.3], [0.7]]), [0.3, 0.7], rtol=1e-12)


def test_data_far_from_the_origin_lose_no_digits():
    near = to_takagi(make_rules(np.random.default_rng(2), n_rules=5, n_features=3))
    X, shift = np.random.default_rng(3).normal(size=(20, 3)), 2.0**26
    X = np.round(X * 2**20) / 2**20  # so that shifting the rows is exact
    far = replace(near, centers=np.round(near.centers * 2**20) / 2**20 + shift)
    near = replace(near, centers=far.centers - shift)
    np.testing.assert_allclose(far.firing_share(X + shift), near.firing_share(X), rtol=1e-12)


def test_a_prediction_does_not_depend_on_the_other_rows(rules):
    X = np.random.default_rng(4).normal(size=(150, 4))
    alone = np.concatenate([rules.predict(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(rules.predict(X), alone)


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_any_number_of_threads_predicts_the_same_bits(rules, n_threads):
    X = np.random.default_rng(5).normal(size=(150_000, 4))
    np.testing.assert_array_equal(rules.predict(X, n_threads=n_threads), rules.predict(X))


def test_threads_of_the_caller_may_share_a_rule_base(rules):
    X = np.random.default_rng(6).normal(size=(8, 500, 4))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(rules.predict, X))
    np.testing.assert_array_equal(together, [rules.predict(part) for part in X])


def test_order_and_type_of_rows_do_not_matter(rules):
    X = np.random.default_rng(7).integers(-3, 4, size=(70, 4)).astype(float)
    frozen = X.copy()
    frozen.flags.writeable = False
    spaced = np.zeros((140, 8))
    spaced[::2, ::2] = X
    views = [np.asfortranarray(X), frozen, spaced[::2, ::2], X[::-1].copy()[::-1], X.tolist()]
    for other in [*views, X.astype(np.float32), X.astype(np.int8), X.astype(">f8"), X.astype(object)]:
        np.testing.assert_array_equal(rules.predict(other), rules.predict(X))


def test_no_rows_give_no_predictions(rules):
    assert rules.predict(np.empty((0, 4))).shape == (0, 2)
    assert rules.firing_share(np.empty((0, 4))).shape == (0, 9)


def test_one_output_is_predicted_without_an_axis(grid):
    assert grid.predict(np.zeros((3, 3))).shape == (3,)


# ----------------------------------------------------------------------------------------------------------------------
# Units and names
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(problems(max_rules=9, max_features=6), st.integers(0, 1000))
def test_a_change_of_units_leaves_predictions_the_same(problem, seed):
    rng = np.random.default_rng(seed)
    n_features, n_outputs = problem.X.shape[1], problem.y.shape[1]
    x_mean, x_scale = rng.normal(size=n_features), rng.uniform(0.1, 10.0, size=n_features)
    y_mean, y_scale = rng.normal(size=n_outputs), rng.uniform(0.1, 10.0, size=n_outputs)
    rules = to_takagi(problem.rules)
    rescaled = rules.rescale(x_mean, x_scale, y_mean, y_scale)
    X = problem.X * x_scale + x_mean
    np.testing.assert_allclose(rescaled.firing_share(X), rules.firing_share(problem.X), rtol=1e-9, atol=1e-12)
    shape = (len(X), n_outputs)
    expected = rules.predict(problem.X).reshape(shape) * y_scale + y_mean
    np.testing.assert_allclose(rescaled.predict(X).reshape(shape), expected, rtol=1e-9, atol=1e-8)


def test_a_change_of_units_keeps_what_is_shared(grid):
    rescaled = grid.rescale(np.array([0.1, 0.2, 0.3]), np.array([3.0, 1 / 3, 7.0]), np.zeros(1), np.ones(1))
    np.testing.assert_array_equal(rescaled.sets, grid.sets)
    tied = to_takagi(make_rules(np.random.default_rng(8), projection="shared"))
    assert tied.rescale(np.full(3, 0.1), np.full(3, 0.3), np.zeros(1), np.ones(1)).tied_projection


def test_rules_speak_the_new_units():
    rules = RuleBase([[0.0]], [[1.0]], [[[1.0, 2.0]]])
    rescaled = rules.rescale(np.array([45.0]), np.array([12.0]), np.array([100.0]), np.array([6.0]))
    np.testing.assert_allclose(rescaled.centers, [[45.0]])
    np.testing.assert_allclose(rescaled.widths, [[12.0]])
    np.testing.assert_allclose(rescaled.consequents, [[[100.0 + 6.0 - 45.0, 1.0]]])


@explore
@given(problems())
def test_folding_projections_leaves_rule_outputs_the_same(problem):
    rules = to_takagi(problem.rules)
    folded = rules.fold_consequents()
    assert folded.consequent_projection is None
    assert folded.consequents.shape[2] == rules.n_features + 1
    np.testing.assert_allclose(folded.rule_outputs(problem.X), rules.rule_outputs(problem.X), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(folded.predict(problem.X), rules.predict(problem.X), rtol=1e-10, atol=1e-10)


def test_taken_rules_are_these_rules(rules):
    some = rules.take([1, 0])
    np.testing.assert_array_equal(some.centers, rules.centers[[1, 0]])
    np.testing.assert_array_equal(some.consequents, rules.consequents[[1, 0]])
    assert some.profile is None


def test_renaming_changes_names_only(rules):
    renamed = rules.rename(["a", "b", "c", "d"], ["u", "v"])
    assert (renamed.feature_names, renamed.output_names) == (("a", "b", "c", "d"), ("u", "v"))
    assert renamed.rename(rules.feature_names, rules.output_names) == rules


def test_renaming_features_leaves_the_names_of_outputs(rules):
    assert rules.rename(feature_names=["a", "b", "c", "d"]).output_names == ("force", "wear")


# ----------------------------------------------------------------------------------------------------------------------
# The link
# ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["logit", "softmax"])
def classes(request):
    n_outputs = 1 if request.param == "logit" else 3
    drawn = make_rules(np.random.default_rng(0), n_outputs=n_outputs, projection="separate")
    return replace(to_takagi(drawn), link=request.param)


def test_with_a_link_predictions_are_probabilities(classes):
    X = np.random.default_rng(1).normal(size=(30, 3))
    outputs = replace(classes, link="identity").predict(X)
    np.testing.assert_array_equal(classes.predict_raw(X), outputs.reshape(30, -1))
    expected = 1 / (1 + np.exp(-outputs))
    if classes.n_outputs > 1:
        expected = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(classes.predict(X), expected, rtol=1e-12)


def test_a_link_is_kept_by_all_that_makes_new_rules(classes):
    others = [
        classes.take([1, 0]),
        classes.rename(["a", "b", "c"]),
        classes.fold_consequents(),
        classes.rescale(np.ones(3), np.full(3, 2.0), np.zeros(1), np.ones(1)),
        pickle.loads(pickle.dumps(classes)),
        unpack(pack(classes)[0], classes),
    ]
    assert {rules.link for rules in others} == {classes.link}
    assert classes != replace(classes, link="identity")


def test_probabilities_have_no_units(classes):
    for y_mean, y_scale in ((1.0, 1.0), (0.0, 2.0)):
        with pytest.raises(ValueError, match="predict probabilities, whose units cannot be changed"):
            classes.rescale(np.zeros(3), np.ones(3), np.array([y_mean]), np.array([y_scale]))


def test_a_link_must_fit_the_number_of_outputs():
    with pytest.raises(ValueError, match="'logit' is for one output and 'softmax' for several, got 1 outputs"):
        with_change(link="softmax")
    with pytest.raises(ValueError, match="got 2 outputs"):
        with_change(consequents=np.zeros((2, 2, 4)), link="logit")
    with pytest.raises(ValueError, match="link 'logti' is unknown, did you mean 'logit'"):
        with_change(link="logti")


# ----------------------------------------------------------------------------------------------------------------------
# A value
# ----------------------------------------------------------------------------------------------------------------------


def test_rules_equal_rules_with_the_same_numbers_and_names(rules):
    assert rules == replace(rules)
    assert rules != replace(rules, centers=np.nextafter(rules.centers, np.inf))
    assert rules != replace(rules, consequents=rules.consequents * 2)
    assert rules != rules.rename(["a", "b", "c", "d"], ["u", "v"])
    assert rules != "rules"
    assert with_change() != with_change(sets=np.zeros((2, 3), dtype=int))
    assert with_change() != RuleBase(np.zeros((1, 3)), np.ones((1, 3)), np.zeros((1, 1, 4)))


def test_rules_cannot_be_changed(rules, grid):
    with pytest.raises(FrozenInstanceError):
        rules.centers = np.zeros((2, 3))
    for owner in (rules, grid):
        for name in ARRAYS:
            if getattr(owner, name) is not None:
                with pytest.raises(ValueError, match="read-only"):
                    getattr(owner, name)[0, 0] = 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(rules)


def test_rules_do_not_share_memory_with_what_they_were_made_of():
    centers = np.zeros((2, 3))
    rules = with_change(centers=centers)
    centers[:] = 1.0
    np.testing.assert_array_equal(rules.centers, 0.0)


def test_pickled_rules_predict_the_same_bits(rules, grid):
    X = np.random.default_rng(9).normal(size=(20, 4))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps(rules, protocol))
        assert loaded == rules
        np.testing.assert_array_equal(loaded.predict(X), rules.predict(X))
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert copy.deepcopy(grid) == grid


def test_pickled_rules_cannot_be_changed_either(rules):
    for other in (pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules)):
        assert not any(getattr(other, name).flags.writeable for name in ("centers", "widths", "consequents"))


@explore
@given(problems())
def test_rules_packed_for_the_kernels_come_back_the_same(problem):
    rules = to_takagi(problem.rules)
    assert unpack(pack(rules)[0], rules) == rules


# ----------------------------------------------------------------------------------------------------------------------
# Text
# ----------------------------------------------------------------------------------------------------------------------


@explore
@given(problems(), st.integers(1, 30), st.integers(-12, 12))
def test_text_is_at_most_eighty_columns_wide(problem, name_length, magnitude):
    n_features, n_outputs = problem.X.shape[1], problem.y.shape[1]
    features = [f"{m:x}".rjust(name_length, "f") for m in range(n_features)]
    outputs = [f"{o}".rjust(name_length, "t") for o in range(n_outputs)]
    scaled = replace(problem.rules, W=problem.rules.W * 10.0**magnitude)
    text = str(to_takagi(scaled, feature_names=features, output_names=outputs))
    assert max(map(len, text.splitlines())) <= 80
    assert all(line == line.rstrip() for line in text.splitlines())
    for name in (*features, *outputs):
        assert name in text
    assert text.count("IF") == text.count("Rule ") == len(problem.rules.C)
    assert text.count("THEN") == len(problem.rules.C) * n_outputs


def test_text_reads_as_rules():
    rules = RuleBase(
        [[0.5, 45.0], [2.0, 60.0]],
        [[0.25, 12.0], [1.0, 6.123456]],
        [[[3.2, 0.4, -1.0], [0.0, 0.0, 0.0]], [[-1.5, 0.0, 1e-7], [0.0, -2.0, 0.0]]],
        feature_names=["rooms", "age"],
        output_names=["price", "rent"],
    )
    assert str(rules).splitlines() == [
        "Rule 1",
        "  IF rooms is about 0.50 +- 0.25 and age is about 45 +- 12",
        "  THEN price = 3.2 + 0.4 rooms - 1 age",
        "  THEN rent = 0",
        "Rule 2",
        "  IF rooms is about 2.0 +- 1.0 and age is about 60.0 +- 6.1",
        "  THEN price = -1.5 + 1e-07 age",
        "  THEN rent = -2 rooms",
    ]


def test_text_tells_what_projections_are():
    common = {"centers": [[1.0, 0.0]], "widths": [[1.0, 2.0]], "antecedent_projection": [[0.5], [2.0]]}
    lines = str(RuleBase(consequents=[[[0.0, 1.0]]], **common)).splitlines()
    assert lines[1] == "  IF p0 is about 1.0 +- 1.0 and x0 is about 0 +- 2.0"
    assert lines[-1] == "where p0 = 0.5 + 2 x0"
    separate = RuleBase(consequents=[[[0.0, 3.0, 1.0]]], consequent_projection=[[0.0], [-1.0]], **common)
    assert str(separate).splitlines()[2:] == [
        "  THEN y = 3 q0 + 1 x0",
        "where p0 = 0.5 + 2 x0",
        "where q0 = -1 x0",
    ]
    shared = replace(separate, consequent_projection=[[0.5], [2.0]], tied_projection=True)
    assert str(shared).splitlines()[2:] == ["  THEN y = 3 p0 + 1 x0", "where p0 = 0.5 + 2 x0"]


def test_an_infinite_width_is_no_condition():
    rules = RuleBase(
        [[0.0, 3.0], [1.0, 1.0]], [[1.0, np.inf], [np.inf, np.inf]], [[[1.0, 0.0, 0.0]], [[2.0, 0.0, 0.0]]]
    )
    X = np.random.default_rng(0).normal(0, 5, (50, 2))
    firing = np.exp(-0.5 * X[:, 0] ** 2)
    np.testing.assert_allclose(rules.predict(X), (firing + 2) / (firing + 1), rtol=1e-14)
    np.testing.assert_allclose(rules.firing_share(X)[:, 1], 1 / (firing + 1), rtol=1e-14)
    assert str(rules).splitlines()[1] == "  IF x0 is about 0 +- 1.0"
    assert str(rules).splitlines()[4] == "  IF anything"


@pytest.mark.parametrize("name", ["a + b", "x - mean"])
def test_names_with_signs_are_left_as_they_are(name):
    text = str(RuleBase([[0.0]], [[1.0]], [[[0.0, 2.0]]], feature_names=[name]))
    assert text.endswith(f"THEN y = 2 {name}")


def test_repr_tells_the_sizes(rules):
    assert repr(rules) == "RuleBase(n_rules=9, n_features=4, n_outputs=2)"
    assert (rules.n_rules, rules.n_features, rules.n_outputs) == (9, 4, 2)


# -- values far beyond the data ----------------------------------------------------------------------------------------


def test_what_rules_say_of_far_rows_is_said_of_held_ones(rules):
    limits = make_limits(np.random.default_rng(3), 4)
    held, X = replace(rules, limits=limits), np.random.default_rng(4).normal(scale=5, size=(30, 4))
    X[0] = np.where(np.isinf(limits).any(axis=1), 0.0, 1e300)
    near = np.clip(X, limits[:, 0], limits[:, 1])
    np.testing.assert_array_equal(held.hold_rows(X), near)
    for name in ("antecedent_inputs", "consequent_inputs", "log_firing", "firing_share", "rule_outputs", "predict"):
        np.testing.assert_array_equal(getattr(held, name)(X), getattr(rules, name)(near))


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-100, 100))
@explore
def test_limits_follow_the_units(seed, scale, mean):
    rng = np.random.default_rng(seed)
    rules = replace(to_takagi(make_rules(rng)), limits=make_limits(rng, 3))
    moved = rules.rescale(np.full(3, mean), np.full(3, scale), np.zeros(1), np.ones(1))
    assert ((rules.limits[:, 0] == rules.limits[:, 1]) <= (moved.limits[:, 0] == moved.limits[:, 1])).all()
    X = rng.normal(scale=4, size=(10, 3))
    np.testing.assert_allclose(moved.hold_rows(X * scale + mean), rules.hold_rows(X) * scale + mean, atol=1e-9)
    np.testing.assert_allclose(moved.predict(X * scale + mean), rules.predict(X), rtol=1e-6, atol=1e-6)


def test_limits_stay_with_the_rules(rules):
    held = replace(rules, limits=[[-1.0, 1.0]] * 4)
    copied = pickle.loads(pickle.dumps(held))
    for other in (held.take([2, 0]), held.rename(list("abcd")), held.fold_consequents(), copied):
        np.testing.assert_array_equal(other.limits, held.limits)
    assert held != rules
    assert not held.limits.flags.writeable


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([[0.0, 1.0]], r"limits must have shape \(4, 2\), got \(1, 2\)"),
        ([[1.0, 0.0]] * 4, "lower limit of a feature must not be above the upper"),
        ([[np.nan, 0.0]] * 4, "neither may be NaN"),
        ([[np.inf, np.inf]] * 4, "use minus infinity or infinity"),
    ],
)
def test_limits_are_checked(rules, limits, message):
    with pytest.raises(ValueError, match=message):
        replace(rules, limits=limits)
