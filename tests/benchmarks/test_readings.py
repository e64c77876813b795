import numpy as np
import pytest

from _readings import (
    Condition,
    Readable,
    Rule,
    Size,
    find_outside,
    judge,
    keep_tightest,
    list_leaves,
    list_places,
    measure_rules,
    read_added,
    read_averaged,
    read_gaussians,
    share_rows,
    unscale,
)
from _rows import Scaling
from takagi import RuleBase

BELOW, ABOVE = Condition(0, True, 0.5), Condition(0, False, 0.5)
X = np.array([[0.0], [0.4], [0.6], [1.0]])
Y = np.array([0.0, 0.0, 4.0, 4.0])


def make_readable(rules, read):
    return Readable(measure_rules(rules), list_places(rules), read)


def test_disjoint_rules_are_as_good_alone_as_together():
    rules = [Rule((BELOW,), np.array([1.0, 0.0])), Rule((ABOVE,), np.array([2.0, 1.0]))]
    truth = judge(make_readable(rules, read_averaged(rules)), X, Y, X, Y)
    assert truth.strongest == pytest.approx(np.sqrt(np.mean([1, 1, 1.4**2, 1])), rel=1e-6)
    assert (truth.holds, truth.governs, truth.outside, truth.wild) == (1, 1, 0, 0)


def test_overlapping_rules_share_the_rows_that_they_average():
    rules = [Rule((), np.array([0.0, 0.0])), Rule((ABOVE,), np.array([2.0, 0.0]))]
    truth = judge(make_readable(rules, read_averaged(rules)), X, Y, X, Y)
    assert truth.strongest**2 == pytest.approx((0 + 0 + (16 + 4) / 2 + (16 + 4) / 2) / 4)
    assert truth.holds == 1
    assert truth.governs == pytest.approx(4 / 6)  # four rows, and six pairs of a row and a rule that holds


def test_rows_without_a_rule_get_the_value_for_them():
    rules = [Rule((ABOVE,), np.array([4.0, 0.0]))]
    truth = judge(make_readable(rules, read_averaged(rules, otherwise=3.0)), X, Y, X, Y)
    assert truth.strongest**2 == pytest.approx((9 + 9) / 4)
    assert (truth.holds, truth.governs) == (1, 1)


def test_of_rules_that_are_added_the_largest_speaks_alone():
    rules = [Rule((ABOVE,), np.array([3.0, 0.0])), Rule((), np.array([-1.0, 0.0]))]
    readable = make_readable(rules, read_added(rules, lambda X: np.full(len(X), 0.5)))
    truth = judge(readable, X, Y, X, Y)
    assert truth.strongest == pytest.approx(0.5)  # 0.5 - 1 where y is 0, 0.5 + 3 where it is 4
    assert truth.holds == 1
    assert truth.governs == pytest.approx(4 / 6)


def test_model_whose_rules_are_all_dropped_says_its_base():
    truth = judge(Readable(Size(), [], read_added([], lambda X: np.full(len(X), 1.0))), X, Y, X, Y)
    assert truth.strongest == pytest.approx(np.sqrt((1 + 1 + 9 + 9) / 4))
    assert np.isnan([truth.holds, truth.governs, truth.outside]).all()


def test_limits_hold_for_what_a_rule_says_and_not_for_what_its_formula_does():
    rules = [Rule((), np.array([0.0, 10.0]), low=0.0, high=4.0)]
    truth = judge(make_readable(rules, read_averaged(rules)), X, Y, X, Y)
    assert truth.strongest == pytest.approx(np.sqrt(16 / 4))
    assert truth.wild == 0.5  # 6 and 10, where 4.4 is allowed


def test_rules_of_equal_strength_share_a_row():
    share, silent = share_rows(np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.2, 0.1]]))
    assert share.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert silent.tolist() == [False, True, False]


def test_paths_keep_the_tightest_threshold_of_a_direction():
    path = [Condition(0, True, 3.0), Condition(1, False, 1.0), Condition(0, True, 2.0), Condition(0, False, 1.0)]
    assert keep_tightest(path) == (Condition(0, True, 2.0), Condition(1, False, 1.0), Condition(0, False, 1.0))


def test_leaves_of_a_tree_have_the_conditions_of_their_paths():
    tree = (0, 0.5, "a", (1, 2.0, "b", "c"))
    leaves = list(list_leaves(tree, lambda node: None if isinstance(node, str) else node))
    assert [leaf for _, leaf in leaves] == ["a", "b", "c"]
    assert leaves[1][0] == (Condition(0, False, 0.5), Condition(1, True, 2.0))


def test_size_counts_shared_conditions_once_if_told_so():
    rules = [Rule((BELOW,), np.array([1.0, 0.0])), Rule((ABOVE,), np.array([1.0, 2.0]))]
    assert measure_rules(rules) == (2, 2, 1, 1, 1)
    assert measure_rules(rules, n_conditions=1) == (2, 1, 1, 1, 1)


def test_interval_is_one_condition():
    interval = (Condition(0, False, 0.2), Condition(0, True, 0.8), Condition(1, True, 3.0))
    assert measure_rules([Rule(interval, np.zeros(3))]) == (1, 2, 0, 2, 0)


def test_places_outside_the_range_of_their_columns_are_counted():
    rows = np.array([[0.0, 5.0], [1.0, 6.0]])
    assert find_outside([(0, 0.5), (0, 1.1), (1, 5.0 - 1e-7), (1, 0.5)], rows) == 0.5


# -- fuzzy sets --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fuzzy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    centers, widths, formulas = X[:4], rng.uniform(0.5, 1.5, size=(4, 3)), rng.normal(size=(4, 4))
    widths[0, 1] = 100.0  # a set that excludes no row
    return X, centers, widths, formulas


def test_memberships_are_averaged_as_in_a_rule_base_with_wider_sets(fuzzy):
    X, centers, widths, formulas = fuzzy
    rules = RuleBase(centers, widths * np.sqrt(3), formulas[:, None, :])
    reading = read_gaussians(centers, widths, formulas, X).read(X)
    np.testing.assert_allclose(reading.strength, rules.firing_share(X), atol=1e-12)
    np.testing.assert_allclose((reading.strength * reading.said).sum(axis=1), rules.predict(X))


def test_fuzzy_condition_that_excludes_nothing_is_not_read(fuzzy):
    X, centers, widths, formulas = fuzzy
    readable = read_gaussians(centers, widths, formulas, X)
    assert readable.size == (4, 11, 12, 3, 3)
    assert len(readable.places) == 11
    assert (1, centers[0, 1]) not in readable.places


def test_fuzzy_rule_holds_where_all_memberships_are_one_half(fuzzy):
    X, centers, widths, formulas = fuzzy
    membership = np.exp(-0.5 * ((X[:, None, :] - centers) / widths) ** 2)
    held = read_gaussians(centers, widths, formulas, X).read(X).held
    np.testing.assert_array_equal(held, (membership >= 0.5).all(axis=2))


def test_floor_of_memberships_changes_shares_far_away(fuzzy):
    _, centers, widths, formulas = fuzzy
    far = np.array([[0.0, 0.0, 50.0]])
    plain, floored = (read_gaussians(centers, widths, formulas, far, floor).read(far).strength for floor in (0, 1e-7))
    assert plain.max() == pytest.approx(1)
    assert floored.max() < 0.5


def test_model_of_scaled_data_is_read_in_the_units_of_the_data(fuzzy):
    X, centers, widths, formulas = fuzzy
    X = 100 + 10 * X
    y = 5 * X[:, 0]
    scaling = Scaling(X, y)
    scaled_X, _ = scaling.scale(X, y)
    inner = read_gaussians(centers, widths, formulas, scaled_X)
    outer = unscale(inner, scaling.unscale(None))
    column, value = outer.places[0]
    assert value == pytest.approx(X[:, column].mean() + X[:, column].std() * inner.places[0][1])
    np.testing.assert_allclose(outer.read(X).said, y.mean() + y.std() * inner.read(scaled_X).said)
    np.testing.assert_array_equal(outer.read(X).held, inner.read(scaled_X).held)
