from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.pipeline import make_pipeline

from cases import explore, problems, to_takagi
from takagi import Bend, RuleBase, RuleModel, TableEncoder, TSKCommittee, TSKRegressor
from takagi._model import open_model
from takagi._wording import describe_model
from takagi.inspection import check_rules, measure_size
from takagi.inspection._held import describe_misfits
from takagi.profile import measure_profile

INF = float("inf")
SUMMARY = ["error", "strongest", "outside", "wild", "holds", "governs"]


def measure_truth(rules, X, y):
    """Measure a single rule base the way the script does that published these figures first."""
    member = np.exp(-0.5 * ((X[:, None, :] - rules.centers) / rules.widths) ** 2)
    printed = np.isfinite(rules.widths) & (member.min(0) < 0.5)
    outside = printed & ((rules.centers < X.min(0)) | (rules.centers > X.max(0)))
    governing = rules.firing_share(X).argmax(1)
    holds = (member[np.arange(len(X)), governing] >= 0.5) | ~printed[governing]
    w = rules.consequents[governing, 0]
    formula = w[:, 0] + (w[:, 1:] * X).sum(1)
    low, high = y.min() - 0.1 * np.ptp(y), y.max() + 0.1 * np.ptp(y)
    return {
        "error": np.sqrt(np.mean((rules.predict(X) - y) ** 2)),
        "strongest": np.sqrt(np.mean((formula - y) ** 2)),
        "outside": outside.sum() / printed.sum(),
        "wild": ((formula < low) | (formula > high)).mean(),
        "holds": holds.all(1).mean(),
    }


@pytest.mark.parametrize("spread", [0.5, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_single_rule_base_gets_the_figures_of_the_first_script(seed, spread):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    rules = RuleBase(
        rng.normal(size=(6, 3)) * spread,
        rng.choice([0.7, 2.0, 4.0, 9.0, INF], size=(6, 3)),
        rng.normal(size=(6, 1, 4)),
    )
    y = X.sum(axis=1) ** 2
    expected = measure_truth(rules, X, y)
    summary = check_rules(rules, X, y).summary
    assert list(summary) == SUMMARY
    assert {name: summary[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    with_profile = replace(rules, profile=measure_profile((X, y[:, None]), rules.firing_share))
    assert check_rules(with_profile, X, y).summary == pytest.approx(summary, rel=1e-9)


def test_a_fitted_model_gets_the_figures_of_the_first_script(diabetes):
    model, X, y = diabetes
    expected = measure_truth(model.rule_base_, X.to_numpy(), y.to_numpy())
    summary = check_rules(model, X, y).summary
    assert {name: summary[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def test_counts_by_hand():
    rules = RuleBase([[0.0], [10.0], [30.0]], [[2.0], [2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]], [[9.0, 0.0]]])
    X = [[0.0], [1.0], [4.0], [8.0], [10.0]]
    check = check_rules(rules, X, [0.0, 1.0, 4.0, 7.0, 5.0])
    first, second, third = check.rules
    assert (first.share, first.holds, first.governs) == (0.6, 2 / 3, 1.0)
    assert (second.share, second.holds, second.governs) == (0.4, 1.0, 1.0)
    assert (third.share, third.is_inside, third.stays) == (0.0, False, True)
    assert np.isnan([third.holds, third.governs, third.own_error, third.model_error, *third.lowest]).all()
    assert (first.lowest, first.highest, second.lowest) == ((0.0,), (4.0,), (5.0,))
    assert first.own_error == 0
    assert second.own_error == pytest.approx(np.sqrt(2))
    assert check.summary["strongest"] == pytest.approx(np.sqrt(4 / 5))
    assert check.summary["outside"] == 1 / 3
    assert check.summary["holds"] == 4 / 5
    assert check.summary["governs"] == 1.0
    assert "1 more rule governs no row." in str(check).splitlines()


def test_intervals_are_what_conditions_mean():
    rules = RuleBase(
        [[2.0], [8.0]], [[1.0], [1.0]], [[[1.0, 0.0]], [[2.0, 0.0]]], intervals=[[[-INF, 6.0]], [[6.0, INF]]]
    )
    X = [[1.0], [4.0], [5.5], [9.0]]  # the first rule governs below 5
    check = check_rules(rules, X, [1.0, 1.0, 2.0, 2.0])
    assert [rule.holds for rule in check.rules] == [1.0, 0.5]
    assert [rule.governs for rule in check.rules] == [2 / 3, 1.0]
    assert check.summary["holds"] == check.summary["governs"] == 3 / 4
    assert check_rules(replace(rules, intervals=None), X, [1.0, 1.0, 2.0, 2.0]).summary["holds"] == 2 / 4


def test_ranges_are_those_of_training_where_the_rules_have_a_profile():
    rules = RuleBase([[0.0], [12.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[30.0, 0.0]]])
    seen = np.linspace(0, 20, 30)[:, None]
    X, y = [[0.0], [1.0], [10.0]], [0.0, 1.0, 10.0]
    bare = check_rules(rules, X, y)
    assert [rule.is_inside for rule in bare.rules] == [True, False]
    assert bare.summary["wild"] == 1 / 3
    profile = measure_profile((seen, 2 * seen), rules.firing_share)
    trained = check_rules(replace(rules, profile=profile), X, y)
    assert [rule.is_inside for rule in trained.rules] == [True, True]
    assert trained.summary["outside"] == trained.summary["wild"] == 0.0


def test_in_a_sum_the_other_parts_stay_as_they_are():
    main = RuleBase([[0.0, 0.0], [10.0, 0.0]], [[2.0, INF], [2.0, INF]], [[[0.0, 1.0, 0.0]], [[10.0, 0.0, 0.0]]])
    extra = RuleBase([[0.0, 0.0], [0.0, 4.0]], [[INF, 1.0], [INF, 1.0]], [[[0.0, 0.0, 0.0]], [[3.0, 0.0, 0.0]]])
    X = np.array([[0.0, 0.0], [1.0, 1.9], [9.0, 4.0], [10.0, 2.5]])
    model = RuleModel([main, extra])
    y = model.predict(X) + np.array([1.0, -1.0, 1.0, -1.0])
    check = check_rules(model, X, y)
    assert [(rule.part, rule.rule) for rule in check.rules] == [(1, 1), (1, 2), (2, 3), (2, 4)]
    governing = [part.firing_share(X).argmax(axis=1) for part in (main, extra)]
    formulas = [part.rule_outputs(X)[np.arange(4), who, 0] for part, who in zip((main, extra), governing, strict=True)]
    assert check.summary["strongest"] == pytest.approx(np.sqrt(np.mean((sum(formulas) - y) ** 2)))
    last = governing[1] == 1
    alone = (main.predict(X) + 3.0)[last]
    assert check.rules[3].own_error == pytest.approx(np.sqrt(np.mean((alone - y[last]) ** 2)))
    assert check.rules[3].model_error == pytest.approx(1.0)
    assert check.rules[3].lowest == check.rules[3].highest == (3.0,)
    text = str(check)
    assert "Main rules\n" in text
    assert "Adjustment\n" in text
    assert "the strongest rule of each part alone" in " ".join(text.split())


def test_bends_are_part_of_a_rules_own_formula():
    rules = RuleBase([[0.0]], [[INF]], [[[1.0, 0.0, 2.0]]], bends=[Bend(0, "above", 5.0)])
    check = check_rules(rules, [[0.0], [5.0], [6.0]], [1.0, 1.0, 3.0])
    assert check.summary == {"error": 0, "strongest": 0, "outside": 0, "wild": 0, "holds": 1, "governs": 1}
    assert (check.rules[0].lowest, check.rules[0].highest) == ((1.0,), (3.0,))


@pytest.fixture
def fuels():
    """An encoder that is fitted, with rules over its inputs: fuel, garage and km, which may be missing."""
    table = pd.DataFrame(
        {
            "fuel": ["diesel", "gas", "petrol", "diesel", "gas", "petrol"],
            "garage": [True, False, True, False, True, False],
            "km": [10.0, 20.0, np.nan, 40.0, 50.0, 60.0],
        }
    )
    encoder = TableEncoder(missing="fill").fit(table)
    names = [name for column in encoder.columns_ for name in column.inputs]
    assert names == ["fuel=diesel", "fuel=gas", "fuel=petrol", "garage", "km", "km=missing"]
    return table, encoder, names


class _Rules:
    """A regressor of given rules, as much of one as the inspection of a pipeline needs."""

    def __init__(self, rules):
        self.model_ = RuleModel([rules])

    def fit(self, X, y=None):
        return self

    def firing_share(self, X):
        return self.model_.firing_share(X)


@pytest.mark.parametrize("has_intervals", [True, False])
def test_conditions_on_categories_mean_the_levels_that_they_name(fuels, has_intervals):
    table, encoder, names = fuels
    is_diesel = [[0.5, INF], *[[-INF, INF]] * 5]
    is_other = [[-INF, 0.5], *[[-INF, INF]] * 5]
    rules = RuleBase(
        [[1.5, 0, 0, 0, 0, 0], [-0.5, 0, 0, 0, 0, 0]],  # centers beyond 0 and 1 still name levels
        [[0.5, *[INF] * 5]] * 2,
        [[[1.0, *[0.0] * 6]], [[2.0, *[0.0] * 6]]],
        feature_names=names,
        intervals=[is_diesel, is_other] if has_intervals else None,
    )
    model = make_pipeline(encoder, _Rules(rules))
    check = check_rules(model, table, [1.0, 2.0, 2.0, 1.0, 2.0, 2.0])
    assert [rule.share for rule in check.rules] == pytest.approx([1 / 3, 2 / 3])
    assert check.summary["holds"] == check.summary["governs"] == 1.0
    assert check.summary["outside"] == 0.0
    assert measure_size(model) == (2, 2, 0, 1, 0)
    assert "fuel is diesel" in open_text(model)
    unknown = table.assign(fuel="wood")
    with pytest.warns(UserWarning, match="wood"):
        holds = [rule.holds for rule in check_rules(model, unknown, np.ones(6)).rules]
    assert np.isnan(holds[0])  # wood is not diesel: the second rule governs
    assert holds[1] == (1.0 if "not diesel" in open_text(model) else 0.0)


def open_text(model):
    opened = open_model(model)
    return describe_model(opened.model, opened.columns)


def test_conditions_on_booleans_and_missing_values_mean_yes_or_no(fuels):
    table, encoder, names = fuels
    anything = [-INF, INF]
    rules = RuleBase(
        [[0, 0, 0, 2.0, 30.0, 0], [0, 0, 0, 0.0, 0.0, 1.0]],
        [[INF, INF, INF, 0.5, 20.0, INF], [INF, INF, INF, 0.5, INF, 0.2]],
        np.zeros((2, 1, 7)),
        feature_names=names,
        intervals=[
            [*[anything] * 3, [0.5, INF], [15.0, 45.0], anything],
            [*[anything] * 3, [-INF, 0.5], anything, [0.5, INF]],
        ],
    )
    model = make_pipeline(encoder, _Rules(rules))
    assert "garage is true and km from 15 to 45" in open_text(model)
    assert "garage is false and km is missing" in open_text(model)
    assert measure_size(model) == (2, 4, 0, 2, 0)
    satisfied = [row for row in range(6) if table["garage"][row] and 15 <= table["km"].fillna(40)[row] <= 45]
    check = check_rules(model, table, np.zeros(6))
    share = rules.firing_share(encoder.transform(table)).argmax(axis=1)
    assert check.rules[0].governs == np.mean(share[satisfied] == 0)
    assert np.isnan(check.rules[1].governs)  # the only car without a km has a garage


def test_a_column_counts_once_in_the_size(fuels):
    _, encoder, names = fuels
    rules = RuleBase(
        [[1, 0, 0, 1, 30, 0], [0, 0, 0, 0, 0, 0]],
        [[0.2, 0.2, 0.2, 0.2, 5, 0.2], [INF] * 6],
        [[[1.0, 0, 2.0, 0, 3.0, 0, 0]], [[4.0, 0, 0, 0, 0, 0, 0]]],
        feature_names=names,
    )
    assert measure_size(make_pipeline(encoder, _Rules(rules))) == (2, 3, 2, 3, 2)
    assert measure_size(rules) == (2, 6, 2, 6, 2)


def test_the_size_counts_bends_and_all_parts():
    main = RuleBase([[0.0]], [[INF]], [[[1.0, 1.0, 2.0, 0.0]]], bends=[Bend(0, "above", 5.0), Bend(0, "up to", 5.0)])
    extra = RuleBase([[0.0], [1.0]], [[1.0], [1.0]], [[[1.0, 0.0]], [[0.0, 1.0]]])
    assert measure_size(RuleModel([main, extra])) == (3, 2, 3, 1, 2)


def test_the_size_counts_conditions_that_the_text_shows():
    rules = RuleBase([[0.0, 5.0]], [[1.0, 1e3]], [[[1.0, 0.0, 0.0]]])
    X = np.random.default_rng(0).normal(size=(30, 2))
    profile = measure_profile((X, X[:, :1]), rules.firing_share)
    assert measure_size(rules).n_conditions == 2
    assert measure_size(replace(rules, profile=profile)).n_conditions == 1


def test_several_outputs_are_averaged(several):
    model, X, Y = several
    check = check_rules(model, X, Y)
    rules = model.rule_base_
    errors = np.sqrt(((rules.predict(X.to_numpy()) - Y.to_numpy()) ** 2).mean(axis=0))
    assert check.summary["error"] == pytest.approx(errors.mean())
    frame = check.to_frame()
    assert {"lowest sum", "lowest product", "highest sum", "highest product"} < set(frame.columns)
    assert len(frame) == rules.n_rules
    assert frame["share"].sum() == pytest.approx(1.0)


def test_probabilities_are_measured_by_log_loss():
    rules = RuleBase([[0.0]], [[INF]], [[[0.0, 20.0]]], link="logit")
    check = check_rules(rules, [[-1.0], [0.0], [1.0]], [0.0, 0.5, 1.0])
    assert check.summary["strongest"] == pytest.approx(np.log(2) / 3, abs=1e-8)  # of a probability of one half
    assert check.summary["wild"] == 0.0


@explore
@given(problems())
def test_the_summary_pools_what_is_true_of_the_rules(problem):
    rules = to_takagi(problem.rules)
    check = check_rules(rules, problem.X, problem.y)
    share = rules.firing_share(problem.X)
    frame = check.to_frame().fillna(0.0)
    assert frame["share"].tolist() == pytest.approx(
        np.bincount(share.argmax(axis=1), minlength=rules.n_rules) / len(share)
    )
    assert check.summary["holds"] == pytest.approx((frame["share"] * frame["holds"]).sum())
    own = rules.rule_outputs(problem.X)[np.arange(len(share)), share.argmax(axis=1)]
    errors = np.sqrt(((own - problem.y) ** 2).mean(axis=0))
    assert check.summary["strongest"] == pytest.approx(errors.mean(), rel=1e-6, abs=1e-9)
    assert max(map(len, str(check).splitlines())) <= 80


def test_the_text_of_a_check_fits_eighty_columns(diabetes, cars, several):
    for model, X, y in (diabetes, cars, several):
        text = str(check_rules(model, X, y))
        assert max(map(len, text.splitlines())) <= 80
        assert "nan" not in text
    rules = RuleBase(
        [[0.0], [5e150], [1e200]], [[1.0], [1.0], [1.0]], [[[-1.234e150, 1.234]], [[1.0, 9e120]], [[0, 0]]]
    )
    text = str(check_rules(rules, [[0.0], [1.0]], [1e100, -1e100]))
    assert max(map(len, text.splitlines())) <= 80
    assert "2 more rules govern no row." in text


def test_a_row_that_no_rule_fits_is_told():
    rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]])
    rows = np.array([[0.0], [13.0], [5.0], [16.0], [200.0]])
    lines = describe_misfits(open_model(rules), rows)
    assert lines[:2] == [[], []]
    assert lines[2:] == [
        [f"No rule fits this row: the largest firing level is {level}."]
        for level in ("0.04", "0.01", "less than 0.000001")
    ]
    always = RuleBase([[0.0]], [[INF]], [[[1.0, 0.0]]])
    (lines,) = describe_misfits(open_model(RuleModel([always, rules])), np.array([[20.0]]))
    assert lines == ["Adjustment: no rule fits this row: the largest firing level is 0.000004."]


def test_a_row_in_the_intervals_of_a_rule_fits_however_far_it_is_from_the_center():
    rules = RuleBase(
        [[0.0], [10.0]], [[1.5], [1.5]], [[[0.0, 1.0]], [[5.0, 0.0]]], intervals=[[[-INF, 5.0]], [[6.0, INF]]]
    )
    told = [bool(lines) for lines in describe_misfits(open_model(rules), np.array([[-50.0], [5.5], [5.01], [50.0]]))]
    assert told == [False, True, True, False]


def test_bad_input_is_refused(diabetes, by_hand):
    model, X, y = diabetes
    with pytest.raises(ValueError, match="1 target"):
        check_rules(model, X, y[:10])
    with pytest.raises(ValueError, match="at least one row"):
        check_rules(by_hand[0], np.empty((0, 2)), [])
    member = TSKRegressor(n_rules=2, max_iter=50)
    committee = TSKCommittee(2, member, remember=False, random_state=0).fit(X, y)
    for function in (lambda: check_rules(committee, X, y), lambda: measure_size(committee)):
        with pytest.raises(TypeError, match="committee of 2"):
            function()


def test_missing_values_count_as_what_is_usual_for_the_strongest_rule():
    rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 1.0]]], usual=[[1.0], [9.0]])
    X = np.array([[0.0], [10.0], [np.nan]])
    summary = check_rules(rules, X, [0.0, 15.0, 3.0]).summary
    assert summary["strongest"] == pytest.approx(np.sqrt((1.0 - 3.0) ** 2 / 3))
