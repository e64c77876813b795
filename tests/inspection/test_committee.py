import re

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TableEncoder, TSKCommittee, TSKRegressor
from takagi.export import to_c, to_fis, to_json, to_onnx
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
from takagi.simplification import simplify

COMMITTEE = TSKCommittee(3, TSKRegressor(n_rules=2, max_iter=300), random_state=0)


@pytest.fixture(scope="module")
def plain(diabetes):
    _, X, y = diabetes
    X = X[["bmi", "bp", "s5"]]
    return TSKCommittee(**COMMITTEE.get_params(deep=False)).fit(X, y.rename("progression")), X, y


@pytest.fixture(scope="module")
def piped(cars):
    _, table, price = cars
    return make_pipeline(TableEncoder(), StandardScaler(), COMMITTEE).fit(table, price), table, price


@pytest.fixture(scope="module")
def two_outputs(several):
    _, X, Y = several
    estimator = TSKRegressor(n_rules=3, projection="separate", max_iter=100)
    return TSKCommittee(3, estimator, random_state=0).fit(X, Y), X, Y


def take_member(model, i):
    return Pipeline([*model.steps[:-1], ("member", model[-1].estimators_[i])])


@pytest.fixture(params=["plain", "piped", "two_outputs"])
def any_committee(request):
    return request.getfixturevalue(request.param)


# -- one row -----------------------------------------------------------------------------------------------------------


def test_contributions_add_up_to_the_prediction(any_committee):
    model, X, _ = any_committee
    explained = explain_local(model, X)
    prediction = model.predict(X).reshape(len(X), -1)
    np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=2), prediction, rtol=1e-9)
    np.testing.assert_allclose(explained.prediction, prediction, rtol=1e-9)


def test_the_average_row_is_that_of_all_training_rows(plain):
    model, X, _ = plain
    average = X.mean().to_frame().T
    np.testing.assert_allclose(explain_local(model, X).base, model.predict(average), rtol=1e-3)


def test_contributions_are_the_mean_of_those_of_the_members(plain):
    baseline = plain[1].iloc[[5]]
    members = [explain_local(member, plain[1], baseline=baseline) for member in plain[0].estimators_]
    explained = explain_local(plain[0], plain[1], baseline=baseline)
    for name in ("base", "by_condition", "by_consequent", "intercept", "slopes"):
        mean = np.mean([getattr(member, name) for member in members], axis=0)
        np.testing.assert_allclose(getattr(explained, name), mean, rtol=1e-9, atol=1e-12)


def test_the_local_linear_model_gives_the_prediction(plain):
    model, X, _ = plain
    explained = explain_local(model, X)
    local = explained.intercept[:, 0] + (explained.slopes[:, 0] * X.to_numpy()).sum(axis=1)
    np.testing.assert_allclose(local, model.predict(X))


def test_an_explanation_tells_what_each_member_says(any_committee):
    model, X, _ = any_committee
    explained = explain_local(model, X)
    committee = model[-1] if isinstance(model, Pipeline) else model
    rows = model[:-1].transform(X) if isinstance(model, Pipeline) else X
    for i, member in enumerate(committee.estimators_):
        expected = member.predict(rows).reshape(len(X), -1)
        np.testing.assert_allclose(explained.member_predictions[:, i], expected, rtol=1e-9)


def test_the_text_lists_the_members(plain):
    text = str(explain_local(plain[0], plain[1].head(2))[1])
    assert text.startswith("row 1: progression = ")
    assert "\nMembers\n  Member 1 says " in text
    assert "\n  Member 3 says " in text
    assert "Rules that fire" not in text


def test_rules_that_fire_are_named_by_member(plain):
    model, X, _ = plain
    table = explain_local(model, X).rules_to_frame(7)
    assert set(zip(table["member"], table["rule"], strict=True)) == {(m, r) for m in (1, 2, 3) for r in (1, 2)}
    assert table["share"].sum() == pytest.approx(1)
    assert (table["share"] * table["output"]).sum() == pytest.approx(model.predict(X)[7])
    alone = explain_local(model.estimators_[1], X).rules_to_frame(7)
    assert "member" not in alone
    second = table[table["member"] == 2].reset_index()
    np.testing.assert_array_equal(second["rule"], alone["rule"])
    np.testing.assert_allclose(3 * second["share"], alone["share"])


# -- rules and columns -------------------------------------------------------------------------------------------------


def test_text_has_the_rules_of_each_member_under_its_heading(piped):
    model, X, _ = piped
    text = export_text(model)
    parts = [f"Member {i + 1} of 3\n\n{export_text(take_member(model, i))}" for i in range(3)]
    assert text == "\n\n".join(parts)
    assert "km is" in text
    assert export_text(model, X.head(50)) != text


def test_the_table_has_the_rules_of_each_member(plain):
    model = plain[0]
    table = rule_table(model)
    assert table["member"].tolist() == [1, 1, 2, 2, 3, 3]
    for i, member in enumerate(model.estimators_, 1):
        own = table[table["member"] == i].drop(columns="member").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, rule_table(member))


def test_the_loss_of_a_rule_is_that_of_the_committee(plain):
    model, X, y = plain
    table = rule_importance(model, X, y)
    assert table["member"].tolist() == [1, 1, 2, 2, 3, 3]
    first, *others = (member.rule_base_ for member in model.estimators_)
    left = [first.take([1]), *others]
    prediction = np.mean([rules.predict(X.to_numpy()) for rules in left], axis=0)
    loss = np.sqrt(np.mean((prediction - y) ** 2) / np.mean((model.predict(X) - y) ** 2)) - 1
    measured = table[(table["member"] == 1) & (table["rule"] == 1)]["loss"].item()
    assert measured == pytest.approx(loss)
    assert table.groupby("member")["share"].sum().to_numpy() == pytest.approx(1)


def test_importance_is_that_of_the_mean_contributions(any_committee):
    model, X, y = any_committee
    table = feature_importance(model, X, y, random_state=0).set_index("feature")
    explained = explain_local(model, X)
    for k, column in enumerate(explained.columns):
        assert table["overall"][column] == pytest.approx(np.abs(explained.contributions[:, 0, k]).mean())
    assert table["overall"].is_monotonic_decreasing


def test_permutation_importance_is_that_of_the_committee(plain):
    model, X, y = plain
    table = feature_importance(model, X, y, random_state=0).set_index("feature")
    expected = permutation_importance(model, X, y, scoring="neg_root_mean_squared_error", random_state=0)
    np.testing.assert_allclose(table["permutation"][list(X.columns)], expected.importances_mean)


# -- plots -------------------------------------------------------------------------------------------------------------


def test_the_response_is_the_prediction_of_the_committee(piped):
    model, X, _ = piped
    display = ResponseDisplay.from_estimator(model, X, "km", row=3)
    grid = pd.concat([X.iloc[[3]]] * 200, ignore_index=True).assign(km=display.sweeps[0].grid)
    np.testing.assert_allclose(display.response, model.predict(grid))


def test_the_waterfall_ends_at_the_prediction_of_the_committee(piped):
    model, X, _ = piped
    assert WaterfallDisplay.from_estimator(model, X, row=4).prediction == pytest.approx(model.predict(X)[4])


def test_the_importance_of_columns_is_drawn(two_outputs):
    model, X, Y = two_outputs
    display = ImportanceDisplay.from_estimator(model, X, Y, output="product")
    assert display.output_name == "product"
    pd.testing.assert_frame_equal(
        display.table.drop(columns="permutation"), feature_importance(model, X, output="product")
    )


# -- what needs one set of rules ---------------------------------------------------------------------------------------

SINGLE = {
    "to_c": lambda model, X, y: to_c(model),
    "to_fis": lambda model, X, y: to_fis(model),
    "to_json": lambda model, X, y: to_json(model),
    "to_onnx": lambda model, X, y: to_onnx(model),
    "simplify": simplify,
    "history": lambda model, X, y: HistoryDisplay.from_estimator(model),
    "membership": lambda model, X, y: MembershipDisplay.from_estimator(model, X),
    "grid": lambda model, X, y: RuleGridDisplay.from_estimator(model, X),
    "share": lambda model, X, y: ShareDisplay.from_estimator(model, X),
}


@pytest.mark.parametrize("use", SINGLE.values(), ids=SINGLE)
def test_what_needs_one_set_of_rules_asks_for_a_member(use, plain):
    with pytest.raises(TypeError, match=r"committee of 3.*Use a member: model\.estimators_\[0\]\.$"):
        use(*plain)
    use(plain[0].estimators_[0], *plain[1:])


def test_the_advice_for_a_pipeline_works(piped):
    model = piped[0]
    with pytest.raises(TypeError, match="Use a member") as caught:
        to_c(model)
    advice = str(caught.value).partition("Use a member: ")[2].rstrip(".")
    member = eval(advice, {"Pipeline": Pipeline, "model": model})
    assert "km" in to_c(member)


def test_a_committee_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="This TSKCommittee is not fitted yet"):
        export_text(TSKCommittee())


# -- what is remembered ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def remembering():
    """Return a pipeline with a memory, and rows that it has not seen; the target has a level of its own on each day."""
    rng = np.random.default_rng(0)
    day = rng.integers(30, size=500)
    X = pd.DataFrame({"day": day, "wind": rng.normal(size=500), "road": rng.choice(["main", "side"], 500)})
    y = 5 * np.random.default_rng(9).normal(size=30)[day] + X["wind"] + 0.3 * rng.normal(size=500)
    model = make_pipeline(TableEncoder(), StandardScaler(), COMMITTEE).fit(X[:400], y[:400].rename("dust"))
    return model, X[400:], y[400:]


def test_similar_rows_are_a_contribution(remembering):
    model, X, _ = remembering
    explained = explain_local(model, X)
    memory, scaled = model[-1].memory_, model[:-1].transform(X)
    assert explained.columns == ("day", "wind", "road", "similar rows")
    np.testing.assert_allclose(explained.prediction[:, 0], model.predict(X))
    np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=2), explained.prediction)
    np.testing.assert_allclose(explained.by_condition[:, :, -1], memory.correct(scaled), rtol=1e-9, atol=1e-12)
    assert (explained.by_consequent[:, :, -1] == 0).all()
    mean = explained.prediction[:, 0] - explained.contributions[:, 0, -1]
    np.testing.assert_allclose(explained.member_predictions[:, :, 0].mean(axis=1), mean)


def test_the_text_and_the_plot_name_similar_rows_and_their_number(remembering):
    model, X, _ = remembering
    explained = explain_local(model, X)[3]
    number = model[-1].memory_.recall(model[:-1].transform(X.iloc[[3]]))[1][0, 0]
    found = re.search(r"similar rows +([\d.]+) ", str(explained))
    assert float(found[1]) == pytest.approx(number, rel=1e-3)
    assert "Members, without similar rows\n" in str(explained)
    assert "Here, without similar rows, dust = " in str(explained)
    display = explained.plot()
    assert any("similar rows" in label.get_text() for label in display.axes_[0].get_yticklabels())


def test_the_importance_of_similar_rows_is_what_is_lost_without(remembering):
    model, X, y = remembering
    table = feature_importance(model, X, y, random_state=0).set_index("feature")
    plain = np.mean([take_member(model, i).predict(X) for i in range(3)], axis=0)
    errors = [np.sqrt(np.mean((prediction - y) ** 2)) for prediction in (plain, model.predict(X))]
    assert table["permutation"]["similar rows"] == pytest.approx(errors[0] - errors[1])
    assert table["permutation"]["day"] > table["permutation"]["road"]
    assert table["overall"]["similar rows"] == pytest.approx(np.abs(model.predict(X) - plain).mean())
