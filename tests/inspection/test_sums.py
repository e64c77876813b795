"""Sums of rule bases and bends: what explains a model says the same of them as of one rule base."""

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sums import cars_sum, diabetes_sum, make_part
from takagi import Bend, RuleBase, RuleModel, TSKCommittee, TSKRegressor
from takagi._model import open_model
from takagi.inspection import (
    HistoryDisplay,
    ImportanceDisplay,
    MembershipDisplay,
    ResponseDisplay,
    RuleGridDisplay,
    ShareDisplay,
    WaterfallDisplay,
    explain_local,
    export_text,
    feature_importance,
    rule_importance,
    rule_table,
)
from takagi.inspection._attribution import attribute

SUMS = {"diabetes": diabetes_sum, "cars": cars_sum}
every_sum = pytest.mark.parametrize("source", SUMS.values(), ids=SUMS)


def make_random(rng, asked, bends, n_features=4, n_outputs=2):
    """A part with random conditions on some features, and random formulas."""
    rules = [{m: (rng.normal(), rng.uniform(0.5, 2)) for m in asked} for _ in range(3)]
    part = make_part(n_features, rules, bends, n_outputs=n_outputs)
    return replace(part, consequents=rng.normal(size=part.consequents.shape))


@pytest.fixture(scope="module")
def mergeable():
    """A sum whose parts ask about different features, so that one rule base predicts the same; and rows."""
    rng = np.random.default_rng(0)
    bends = Bend(2, "above", 0.1), Bend(2, "up to", 0.5), Bend(3, "log", -9.0, floor=0.1)
    parts = make_random(rng, [0, 1], bends[:1]), make_random(rng, [2], bends[1:]), make_random(rng, [], bends)
    return RuleModel(parts), rng.normal(size=(60, 4))


# -- contributions -----------------------------------------------------------------------------------------------------


@every_sum
def test_contributions_add_up_to_the_prediction(source):
    model, X, _ = source()
    explained = explain_local(model, X)
    prediction = np.asarray(model.predict(X)).reshape(len(X), -1)
    scale = np.abs(explained.contributions).max()
    np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=2), prediction, atol=1e-12 * scale)
    np.testing.assert_allclose(explained.prediction, prediction, rtol=1e-12)
    assert explained.contributions.shape == (len(X), prediction.shape[1], X.shape[1])


@every_sum
def test_rules_and_their_shares_make_the_prediction(source):
    model, X, _ = source()
    explained = explain_local(model, X)
    made = np.einsum("nr,nro->no", explained.share, explained.rule_outputs)
    np.testing.assert_allclose(made, explained.prediction, rtol=1e-9)
    np.testing.assert_allclose(explained.share.sum(axis=1), len(open_model(model).model.parts))
    np.testing.assert_allclose(explained.member_predictions[:, 0], explained.prediction, rtol=1e-9)


def test_the_local_formula_has_the_bends_and_predicts_its_row():
    model, X, _ = diabetes_sum()
    explained = explain_local(model, X)
    assert explained.feature_names == (*X.columns, "log(s5 - 3)", "max(age - 60, 0)", "min(bmi, 30)")
    bent = [np.log(X["s5"] - 3), np.maximum(X["age"] - 60, 0), np.minimum(X["bmi"], 30)]
    terms = np.column_stack([X, *bent])
    local = explained.intercept + np.einsum("nom,nm->no", explained.slopes, terms)
    np.testing.assert_allclose(local, explained.prediction, rtol=1e-9)


def test_a_bend_moves_the_prediction_for_its_feature():
    rules = RuleBase([[0.0, 0.0]], [[np.inf] * 2], [[[1.0, 0.0, 5.0, 2.0]]], bends=[Bend(0, "log", 0.0, floor=1.0)])
    explained = explain_local(rules, [[8.0, 3.0], [0.5, 1.0]], baseline=[[2.0, 1.0]])
    expected = [[2 * np.log(4.0), 10.0], [-2 * np.log(2.0), 0.0]]  # below the floor of 1 the logarithm stays 0
    np.testing.assert_allclose(explained.by_consequent[:, 0], expected, atol=1e-12)
    np.testing.assert_allclose(explained.by_condition, 0.0, atol=1e-12)


def test_two_bends_that_make_a_straight_line_contribute_as_the_line_does():
    rng = np.random.default_rng(0)
    bent = make_random(rng, [0, 1], [Bend(0, "up to", 0.3), Bend(0, "above", 0.3)], n_features=3)
    weights = bent.consequents.copy()
    weights[:, :, 4] = weights[:, :, 5]
    straight = weights[:, :, :4].copy()
    straight[:, :, 1] += weights[:, :, 4]
    rows, baseline = rng.normal(size=(30, 3)), rng.normal(size=(1, 3))
    found = explain_local(replace(bent, consequents=weights), rows, baseline=baseline)
    expected = explain_local(RuleBase(bent.centers, bent.widths, straight), rows, baseline=baseline)
    for name in ("by_condition", "by_consequent", "prediction", "share"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_a_feature_without_conditions_contributes_nothing_through_them():
    model, X, _ = diabetes_sum()
    explained = explain_local(model, X)
    asked = np.array([column in ("bmi", "bp") for column in explained.columns])
    assert (explained.by_condition[:, :, ~asked] == 0).all()
    assert (explained.by_condition[:, :, asked] != 0).any(axis=(0, 1)).all()


# -- a sum and one rule base that predict the same ---------------------------------------------------------------------


def test_a_sum_and_its_merged_rules_contribute_the_same(mergeable):
    model, rows = mergeable
    explained, merged = (explain_local(m, rows, baseline=rows[:1]) for m in (model, model.merge()))
    for name in ("prediction", "base", "by_condition", "by_consequent", "intercept", "slopes"):
        np.testing.assert_allclose(getattr(explained, name), getattr(merged, name), atol=1e-9, err_msg=name)
    assert explained.feature_names == merged.feature_names


def test_a_sum_and_its_merged_rules_have_the_same_important_features(mergeable):
    model, rows = mergeable
    target = model.predict(rows) + np.random.default_rng(1).normal(size=(60, 2))
    one, other = (feature_importance(m, rows, target, output=1, random_state=0) for m in (model, model.merge()))
    assert one["feature"].tolist() == other["feature"].tolist()
    columns = ["conditions", "consequents", "overall", "permutation"]
    np.testing.assert_allclose(one[columns], other[columns], atol=1e-9)


def test_contributions_of_a_sum_are_the_sums_of_those_of_its_parts(mergeable):
    model, rows = mergeable
    whole = explain_local(model, rows, baseline=rows[:1])
    parts = [explain_local(part, rows, baseline=rows[:1]) for part in model.parts]
    for name in ("by_condition", "by_consequent"):
        np.testing.assert_allclose(getattr(whole, name), sum(getattr(part, name) for part in parts), atol=1e-12)
    np.testing.assert_array_equal(whole.share, np.hstack([part.share for part in parts]))


def test_a_sum_of_one_part_is_explained_as_that_rule_base(diabetes):
    model, X, y = diabetes
    rules, X = model.rule_base_, X.to_numpy()
    one = RuleModel([rules])
    assert export_text(one, X) == export_text(rules, X)
    assert str(explain_local(one, X[:3])) == str(explain_local(rules, X[:3]))
    for function, arguments in (
        (rule_table, (X,)), (rule_importance, (X, y)), (feature_importance, (X, None)),
    ):  # fmt: skip
        assert function(one, *arguments).equals(function(rules, *arguments))
        assert "part" not in function(one, *arguments)


def test_scalers_before_a_sum_are_undone():
    model, X, y = diabetes_sum()
    scaler = StandardScaler().fit(X)
    scaled = model.model_.rescale(-scaler.mean_ / scaler.scale_, 1 / scaler.scale_, np.zeros(1), np.ones(1))
    pipeline = make_pipeline(scaler, TSKRegressor(n_rules=1, max_iter=5, random_state=0)).fit(X, y)
    pipeline[-1].model_ = scaled
    one, other = (explain_local(m, X.head(20)) for m in (model, pipeline))
    np.testing.assert_allclose(other.by_consequent, one.by_consequent, atol=1e-8)
    np.testing.assert_allclose(other.by_condition, one.by_condition, atol=1e-8)
    assert "max(age - 60, 0)" in export_text(pipeline, X)


@pytest.mark.parametrize("seed", range(8))
def test_random_sums_add_up_and_agree_with_the_integral_of_the_gradient(seed):
    rng = np.random.default_rng(seed)
    kinds = [
        Bend(m, kind, rng.normal() - 9 * (kind == "log"), floor=0.1) for m in range(4) for kind in ("log", "above")
    ]
    parts = [
        make_random(rng, rng.permutation(4)[: rng.integers(0, 4)], list(rng.permutation(np.array(kinds))[:k]))
        for k in (0, 2, 3)
    ]
    model, rows, baseline = RuleModel(parts), rng.normal(size=(5, 4)), rng.normal(size=4)
    found = attribute(model, rows, baseline)
    change = model.predict_raw(rows) - model.predict_raw(baseline[None])
    np.testing.assert_allclose((found.by_condition + found.by_consequent).sum(axis=2), change, atol=1e-11)
    # Straight lines of features and bends from the baseline to the first row; slopes by central differences.
    expected = np.zeros((2, 4))
    for part in parts:
        plain, start, end = part.expand(), *part.expand_rows(np.vstack([baseline, rows[0]]))
        points = start + (np.arange(4000) + 0.5)[:, None] / 4000 * (end - start)
        owner = [*range(4), *(bend.feature for bend in part.bends)]
        for m, step in enumerate(1e-5 * np.eye(len(start))):
            slope = (plain.predict_raw(points + step) - plain.predict_raw(points - step)).mean(axis=0) / 2e-5
            expected[:, owner[m]] += slope * (end - start)[m]
    np.testing.assert_allclose((found.by_condition + found.by_consequent)[0], expected, rtol=1e-5, atol=1e-6)


def test_a_committee_of_sums_is_the_mean_of_its_members(mergeable):
    model, rows = mergeable
    target = model.predict(rows)
    committee = TSKCommittee(2, TSKRegressor(n_rules=1, max_iter=5), random_state=0).fit(rows, target)
    committee.memory_, models = None, (model, RuleModel(model.parts[:2]))
    for member, rules in zip(committee.estimators_, models, strict=True):
        member.model_ = rules
    explained = explain_local(committee, rows, baseline=rows[:1])
    members = [explain_local(rules, rows, baseline=rows[:1]) for rules in models]
    for name in ("prediction", "by_condition", "by_consequent"):
        expected = np.mean([getattr(member, name) for member in members], axis=0)
        np.testing.assert_allclose(getattr(explained, name), expected, atol=1e-12)
    predictions = np.stack([member.prediction for member in members], axis=1)
    np.testing.assert_allclose(explained.member_predictions, predictions, atol=1e-9)
    frame = explained.rules_to_frame(3)
    assert (frame["share"] * frame["output"]).sum() == pytest.approx(explained.prediction[3, 0])
    assert frame.groupby("member")["rule"].apply(sorted).tolist() == [[*range(1, 10)], [*range(1, 7)]]
    assert set(rule_table(committee, rows)["part"]) == {"Main rules", "Adjustment 1", "Adjustment 2"}
    table = rule_importance(committee, rows, target)
    assert table.groupby(["member", "part"], sort=False).size().tolist() == [3] * 5
    np.testing.assert_allclose(table.groupby(["member", "part"])["share"].sum(), 1.0)


def test_a_part_with_projections_and_one_with_bends_are_explained_together(several):
    model, X, _ = several
    bent = make_random(np.random.default_rng(0), [1], [Bend(0, "above", 0.2)], n_features=3)
    rules = RuleModel([model.rule_base_, bent.rename(model.rule_base_.feature_names, model.rule_base_.output_names)])
    rows = X.to_numpy()
    explained = explain_local(rules, rows)
    total = explained.base + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(total, rules.predict(rows), atol=1e-9)
    terms = np.column_stack([rows, np.maximum(rows[:, 0] - 0.2, 0)])
    local = explained.intercept + np.einsum("nom,nm->no", explained.slopes, terms)
    np.testing.assert_allclose(local, explained.prediction, atol=1e-9)
    (sets,) = MembershipDisplay.from_estimator(rules, rows, ["p0"]).sets
    np.testing.assert_array_equal(sets.centers[:4], model.rule_base_.centers[:, 0])
    assert sets.asks.tolist() == [True] * 4 + [False] * 3
    assert len(RuleGridDisplay.from_estimator(rules, rows).share) == 7


# -- words and tables --------------------------------------------------------------------------------------------------


@every_sum
def test_rules_are_numbered_through_the_parts_and_the_table_says_what_the_text_says(source):
    model, X, _ = source()
    table, text = rule_table(model, X), " ".join(export_text(model, X).split())
    parts = open_model(model).model.parts
    assert sorted(table["rule"]) == list(range(1, 1 + sum(part.n_rules for part in parts)))
    names = ["Main rules", *(["Adjustment"] if len(parts) == 2 else ["Adjustment 1", "Adjustment 2"])]
    assert table["part"].tolist() == [
        name for name, part in zip(names, parts, strict=True) for _ in range(part.n_rules)
    ]
    assert [text.index(f"{name} Rule") for name in names] == sorted(text.index(f"{name} Rule") for name in names)
    np.testing.assert_allclose(table.groupby("part")["share"].sum(), 1.0)
    for _, row in table.iterrows():
        start = text.index(f"Rule {row['rule']} (")
        places = r" \((very )?(low|high)\)| \(medium\)"  # which only the table gives
        assert text[start:].split(" IF ")[1].startswith(re.sub(places, "", row["if"]))


def test_firing_rules_are_listed_part_by_part():
    model, X, _ = diabetes_sum()
    explained = explain_local(model, X.head(1))
    frame = explained.rules_to_frame()
    assert frame["part"].unique().tolist() == ["Main rules", "Adjustment 1", "Adjustment 2"]
    assert sorted(frame["rule"]) == [1, 2, 3, 4, 5, 6]
    assert all(part["share"].is_monotonic_decreasing for _, part in frame.groupby("part"))
    assert (frame["share"] * frame["output"]).sum() == pytest.approx(explained.prediction[0, 0])
    text = str(explained)
    heads = [text.index(line) for line in ("Rules that fire\n  Main rules\n    Rule", "  Adjustment 1\n    Rule")]
    assert heads == sorted(heads)
    assert "    Rule 6: 100 %, adds " in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_loss_of_a_rule_is_that_of_the_sum_without_it():
    model, X, y = diabetes_sum()
    table = rule_importance(model, X, y).set_index("rule")
    parts, rows = model.model_.parts, X.to_numpy()
    whole, number = root_mean_squared_error(y, model.predict(X)), 1
    for k, part in enumerate(parts):
        others = sum(other.predict(rows) for other in (*parts[:k], *parts[k + 1 :]))
        for r in range(part.n_rules):
            left = [i for i in range(part.n_rules) if i != r]
            without = others + (part.take(left).predict(rows) if left else 0.0)
            assert table["loss"][number] == pytest.approx(root_mean_squared_error(y, without) / whole - 1)
            assert table["share"][number] == pytest.approx(part.firing_share(rows)[:, r].mean())
            number += 1
    assert table["part"].tolist() == ["Main rules"] * 3 + ["Adjustment 1"] * 2 + ["Adjustment 2"]


def test_a_data_frame_measures_the_shares_of_all_parts():
    model, X, _ = diabetes_sum()
    young = X[X["age"] < 40]
    table = rule_table(model, young).set_index("rule").sort_index()
    np.testing.assert_allclose(table["share"], model.model_.firing_share(young).mean(axis=0))


# -- plots -------------------------------------------------------------------------------------------------------------


def read_ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@every_sum
def test_memberships_are_those_of_the_rules_of_all_parts(source):
    model, X, _ = source()
    opened = open_model(model)
    names = opened.model.feature_names
    for sets in MembershipDisplay.from_estimator(model, X, ["power" if "power" in X else "bmi"]).sets:
        m = names.index(sets.name)
        np.testing.assert_array_equal(sets.centers, np.concatenate([part.centers[:, m] for part in opened.model.parts]))
        np.testing.assert_array_equal(sets.widths, np.concatenate([part.widths[:, m] for part in opened.model.parts]))


def test_memberships_have_the_limits_of_the_words_and_a_legend_by_parts():
    model, X, _ = diabetes_sum()
    display = MembershipDisplay.from_estimator(model, X, ["bp", "bmi"])
    ax = display.axes_[0]
    limits = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert limits == [95, 95]
    assert not any(line.get_linestyle() == ":" for line in display.axes_[1].lines)
    assert ax.get_title(loc="left") == "no condition in rules 1, 2, 3, 6"
    labels = [text.get_text() for text in display.axes_[-1].get_legend().get_texts()]
    assert [label.split(" (")[0] for label in labels] == [
        "Main rules", "rule 1", "rule 2", "rule 3", "Adjustment 1", "rule 4", "rule 5", "Adjustment 2", "rule 6",
    ]  # fmt: skip


def test_the_grid_has_the_parts_one_below_the_other_and_adds_from_one_line():
    model, X, _ = diabetes_sum()
    display = RuleGridDisplay.from_estimator(model, X)
    part_of = np.repeat([0, 1, 2], [3, 2, 1])
    assert (np.diff(part_of[display.rules]) >= 0).all()
    parts, rows = model.model_.parts, X.to_numpy()
    assert display.mean_output == pytest.approx(parts[0].predict(rows).mean())
    expected = [np.average(p.rule_outputs(rows)[:, r, 0], weights=p.firing_share(rows)[:, r])
                for p in parts for r in range(p.n_rules)]  # fmt: skip
    np.testing.assert_allclose(display.typical_output, expected)
    ax = display.axes_[0]
    lengths = np.array([bar.get_width() for bar in ax.patches if np.isclose(bar.get_height(), 0.5)])
    wanted = np.where(part_of == 0, np.array(expected) - display.mean_output, expected)[display.rules]
    np.testing.assert_allclose(lengths / lengths[-1], wanted / wanted[-1])
    heads = [label.split("\n")[0] for label in read_ticks(ax.yaxis) if "\n" in label]
    assert heads == ["Main rules", "Adjustment 1", "Adjustment 2"]


def test_cells_of_the_grid_are_filled_where_the_text_has_a_condition():
    for source in SUMS.values():
        model, X, _ = source()
        display = RuleGridDisplay.from_estimator(model, X)
        texts = rule_table(model, X).set_index("rule").sort_index()["if"]
        asks = {sets.name: sets.asks.tolist() for sets in display.sets}
        if "power" in asks:  # one rule asks whether it is missing, and none for its value
            assert not any(asks.pop("power"))
        assert asks == {name: [f"{name} " in text for text in texts] for name in asks}


def test_the_grid_keeps_the_parts_in_order_when_it_leaves_rules_out():
    model, X, _ = diabetes_sum()
    display = RuleGridDisplay.from_estimator(model, X, max_rules=4)
    assert set(display.rules) == set(np.argsort(-display.share)[:4])
    assert display.rules.tolist() == sorted(display.rules, key=lambda r: ([0, 0, 0, 1, 1, 2][r], -display.share[r]))
    assert display.axes_[0].get_title(loc="left") == "4 of 6 rules"


def test_shares_stand_part_by_part_and_add_up_to_one_in_each():
    model, X, _ = diabetes_sum()
    display = ShareDisplay.from_estimator(model, X)
    shares = [part.firing_share(X.to_numpy()) for part in model.model_.parts]
    np.testing.assert_allclose(display.effective_rules, sum(1 / (share**2).sum(axis=1) for share in shares))
    left, right = display.axes_
    numbers = [int(text) - 1 for text in read_ticks(left.xaxis)]
    np.testing.assert_allclose([bar.get_height() for bar in left.patches], display.share[numbers])
    np.testing.assert_allclose([sum(display.share[r] for r in part) for part in ([0, 1, 2], [3, 4], [5])], 1.0)
    assert left.get_title(loc="left") == "Main rules (3), Adjustment 1 (2), Adjustment 2 (1)"
    assert right.get_xlim()[0] == 3.0
    equal = [line.get_ydata()[0] for line in left.lines]
    np.testing.assert_allclose(equal, [1 / 3, 1 / 2, 1])


@every_sum
def test_the_other_displays_draw_sums(source):
    model, X, y = source()
    response = ResponseDisplay.from_estimator(model, X, X.columns[0], row=0)
    sweep = X.iloc[[0] * len(response.response)].assign(**{X.columns[0]: response.sweeps[0].grid})
    np.testing.assert_allclose(response.response, np.asarray(model.predict(sweep)).reshape(len(sweep), -1)[:, 0])
    steps = WaterfallDisplay.from_estimator(model, X, row=4)
    assert steps.prediction == pytest.approx(np.asarray(model.predict(X)).reshape(len(X), -1)[4, 0])
    assert ImportanceDisplay.from_estimator(model, X, y, random_state=0).table["overall"].is_monotonic_decreasing
    assert ResponseDisplay.from_estimator(model, X, list(X.columns[:2])).response.ndim == 2


def test_the_history_of_a_sum_is_that_of_its_estimator():
    model, X, _ = diabetes_sum()
    model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=20, random_state=0).fit(X, X["bmi"])
    model.model_ = diabetes_sum()[0].model_
    assert len(HistoryDisplay.from_estimator(model).train_loss) == model.n_iter_
