"""Rules for classes are read on the scale of log-odds or scores, and judged by log loss."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleBase, TSKClassifier
from takagi.inspection import (
    HistoryDisplay,
    ImportanceDisplay,
    MembershipDisplay,
    ResponseDisplay,
    RuleGridDisplay,
    ShareDisplay,
    WaterfallDisplay,
    check_rules,
    explain_local,
    export_text,
    feature_importance,
    rule_importance,
    rule_table,
)
from takagi.tables import TableEncoder

pytest.importorskip("pandas")


def make_two():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, [0, 1, 4]], pd.Series(np.where(y == 0, "malignant", "benign"))


def make_three():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"})


@pytest.fixture(scope="module", params=[make_two, make_three], ids=["two", "three"])
def fitted(request):
    X, y = request.param()
    return TSKClassifier(n_rules=3, max_iter=200, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def two():
    X, y = make_two()
    return TSKClassifier(n_rules=3, max_iter=200, random_state=0).fit(X, y), X, y


def test_text_says_what_formulas_give(fitted):
    model, _, _ = fitted
    text = export_text(model)
    names = model.model_.output_names
    for name in names:
        assert f"THEN {'log-odds' if len(names) == 1 else 'score'} of {name} = " in text
    assert "of these are" not in text
    assert "TSKRegressor" not in text


def test_labels_tell_which_classes_a_rule_governs(two):
    model, X, y = two
    share = model.firing_share(X)
    expected = share.T @ (y == "malignant") / share.sum(axis=0)
    table = rule_table(model, X, y)
    np.testing.assert_allclose(table["share of malignant"], expected[table["rule"] - 1])
    first = table.loc[0]
    heading = f"({100 * first['share']:.0f} % of the data; {100 * expected[0]:.0f} % of these are malignant)"
    assert export_text(model, X, y).splitlines()[0] == f"Rule {first['rule']} {heading}"


def test_labels_of_many_classes_name_the_most_frequent():
    X = np.arange(8.0)[:, None]
    rules = RuleBase([[0.0]], [[np.inf]], np.zeros((1, 4, 2)), link="softmax", output_names=["a", "b{", "c", "d"])
    y = np.eye(4)[[0, 0, 0, 0, 1, 1, 2, 3]]
    assert export_text(rules, X, y).startswith("Rule 1 (100 % of the data; 50 % of these are a, 25 % b{, 12 % c)")


def test_hundreds_of_classes_name_the_first():
    rules = RuleBase([[0.0]], [[np.inf]], np.zeros((1, 300, 2)), link="softmax")
    heading = export_text(rules, np.zeros((300, 1)), np.eye(300)).splitlines()[0]
    assert heading == "Rule 1 (100 % of the data; <1 % of these are y0)"


def test_explanations_add_up_and_have_the_probability_beside(fitted):
    model, X, _ = fitted
    explained = explain_local(model, X.head(20))
    total = explained.base + explained.contributions.sum(axis=2)
    outputs = model.decision_function(X.head(20)).reshape(total.shape)
    np.testing.assert_allclose(total, outputs, atol=1e-9)
    n_outputs = outputs.shape[1]
    np.testing.assert_allclose(explained.probability, model.predict_proba(X.head(20))[:, -n_outputs:], atol=1e-12)
    kind = "log-odds" if n_outputs == 1 else "score"
    first = str(explained[0]).splitlines()[0]
    assert first.startswith(f"row 0: {kind} of {explained.output_names[0]} = ")
    assert ", probability " in first


def test_rules_and_columns_matter_by_log_loss(fitted):
    model, X, y = fitted
    loss = log_loss(y, model.predict_proba(X))
    table = rule_importance(model, X, y).set_index("rule")
    others = model.rule_base_.take(np.array([1, 2])).predict(X.to_numpy())
    without = log_loss(y, others if others.ndim == 2 else np.column_stack([1 - others, others]))
    np.testing.assert_allclose(table.loc[1, "loss"], without / loss - 1, rtol=1e-6)
    found = feature_importance(model, X, y, random_state=0).set_index("feature")["permutation"]
    rng = np.random.default_rng(0)
    shuffled = [X.assign(**{X.columns[0]: rng.permutation(X.iloc[:, 0])}) for _ in range(50)]
    expected = np.mean([log_loss(y, model.predict_proba(rows)) for rows in shuffled]) - loss
    np.testing.assert_allclose(found[X.columns[0]], expected, rtol=0.3)


def test_checks_of_rules_go_by_log_loss(fitted):
    model, X, y = fitted
    check = check_rules(model, X, y)
    np.testing.assert_allclose(check.summary["error"], log_loss(y, model.predict_proba(X)), rtol=1e-6)
    assert check.summary["strongest"] > check.summary["error"]
    assert check.summary["wild"] == 0
    assert str(check).count("log loss") == 1
    assert "own loss" in str(check)
    assert "range of the target" not in " ".join(str(check).split())
    assert all(rule.stays for rule in check.rules)


def test_pipelines_are_read_in_the_units_of_the_table(two):
    _, X, y = two
    X = X.assign(site=np.where(np.arange(len(X)) % 2, "left", "right"))
    classifier = TSKClassifier(n_rules=2, max_iter=100, random_state=0)
    model = make_pipeline(TableEncoder(), StandardScaler(), classifier).fit(X, y)
    explained = explain_local(model, X.head(5))
    np.testing.assert_allclose(explained.probability[:, 0], model.predict_proba(X.head(5))[:, 1], atol=1e-9)
    assert list(feature_importance(model, X, y, n_repeats=1)["permutation"]) != [0.0] * 4
    assert "site" in export_text(model, X, y)


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y: HistoryDisplay.from_estimator(model),
        lambda model, X, y: ImportanceDisplay.from_estimator(model, X, y),
        lambda model, X, y: MembershipDisplay.from_estimator(model, X),
        lambda model, X, y: ResponseDisplay.from_estimator(model, X, X.columns[0]),
        lambda model, X, y: ResponseDisplay.from_estimator(model, X, list(X.columns[:2])),
        lambda model, X, y: RuleGridDisplay.from_estimator(model, X),
        lambda model, X, y: ShareDisplay.from_estimator(model, X),
        lambda model, X, y: WaterfallDisplay.from_estimator(model, X),
    ],
)
def test_all_displays_take_classifiers(draw, fitted):
    pytest.importorskip("matplotlib")
    draw(*fitted).figure_.canvas.draw()


def test_displays_name_their_scale(two):
    pytest.importorskip("matplotlib")
    model, X, _ = two
    response = ResponseDisplay.from_estimator(model, X, X.columns[0])
    assert response.output_name == "probability of malignant"
    assert ((response.response > 0) & (response.response < 1)).all()
    assert HistoryDisplay.from_estimator(model).label == "log loss"
    waterfall = WaterfallDisplay.from_estimator(model, X, row=3)
    assert waterfall.output_name == "log-odds of malignant"
    np.testing.assert_allclose(waterfall.probability, model.predict_proba(X[3:4])[0, 1])


def test_logistic_regression_has_no_history_to_draw():
    rng = np.random.default_rng(0)
    model = TSKClassifier(random_state=0).fit(rng.normal(size=(300, 2)), rng.integers(0, 2, 300))
    assert model.stopped_ == "logistic"
    with pytest.raises(ValueError, match="logistic regression did better than the pilot fits"):
        HistoryDisplay.from_estimator(model)


def test_wrong_labels_are_refused_in_words(two):
    model, X, y = two
    for read in (check_rules, rule_importance, feature_importance, export_text):
        with pytest.raises(ValueError, match="labels that are not among the classes of the model: 'healthy'"):
            read(model, X, y.replace("benign", "healthy"))
        with pytest.raises(ValueError, match="one label for each of 569 rows of X, got 5"):
            read(model, X, y[:5])
    with pytest.raises(ValueError, match="give X as well"):
        rule_table(model, y=y)
    with pytest.raises(ValueError, match="must be probabilities"):
        check_rules(model.rule_base_, X, np.arange(len(X)))


def test_numbers_have_no_class_shares():
    rules = RuleBase([[0.0]], [[2.0]], [[[1.0, 0.5]]])
    with pytest.raises(ValueError, match="y is for classifiers"):
        export_text(rules, [[0.0]], [1.0])
