"""Explanations of a committee of classifiers: the mean of probabilities, as a sum of contributions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKClassifier, TSKCommitteeClassifier
from takagi.inspection import (
    ImportanceDisplay,
    ResponseDisplay,
    WaterfallDisplay,
    explain_local,
    feature_importance,
    rule_importance,
)


def make_rows(n_classes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    X = X + rng.normal(0, 0.4, X.shape)
    labels = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y], name="kind")
    return (X, labels) if n_classes == 3 else (X[50:], labels[50:])


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    X, y = make_rows(request.param)
    member = TSKClassifier(4, recipe="droprule", max_iter=200)
    return TSKCommitteeClassifier(3, member, random_state=0).fit(X, y), X, y


def test_contributions_add_up_to_the_log_odds_of_the_mean_probability(fitted):
    model, X, _ = fitted
    explained = explain_local(model, X)
    proba = model.predict_proba(X)
    expected = np.log(proba) - np.log(proba).mean(axis=1, keepdims=True)
    if len(model.classes_) == 2:
        expected = np.log(proba[:, 1:] / proba[:, :1])
    np.testing.assert_allclose(explained.base + explained.contributions.sum(axis=2), explained.prediction, atol=1e-9)
    np.testing.assert_allclose(explained.prediction, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(explained.probability, proba if proba.shape[1] > 2 else proba[:, 1:], atol=1e-9)


def test_columns_have_the_mean_of_what_the_members_say_and_disagreement_the_rest(fitted):
    model, X, _ = fitted
    baseline = X.iloc[[5]]
    explained = explain_local(model, X, baseline=baseline)
    members = [explain_local(member, X, baseline=baseline) for member in model.estimators_]
    assert explained.columns == (*X.columns, "disagreement")
    mean = np.mean([member.contributions for member in members], axis=0)
    np.testing.assert_allclose(explained.contributions[:, :, :-1], mean, atol=1e-9)
    said = np.array([member.prediction for member in members])
    rest = explained.contributions[:, :, -1]
    np.testing.assert_allclose(rest, explained.prediction - said.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(explained.member_predictions, said.transpose(1, 0, 2), atol=1e-9)
    spread = [float(cells[-1].split(", ")[0]) for cells in explained.cells]
    np.testing.assert_allclose(spread, said.std(axis=0)[:, 0], rtol=0.01, atol=1e-3)


def test_members_that_agree_leave_nothing_to_disagreement(fitted):
    model, X, _ = fitted
    alike = TSKCommitteeClassifier(2)
    alike.__dict__.update(model.__dict__, estimators_=[model.estimators_[0]] * 2)
    explained = explain_local(alike, X)
    np.testing.assert_allclose(explained.contributions[:, :, -1], 0.0, atol=1e-9)
    np.testing.assert_allclose(explained.prediction, explain_local(model.estimators_[0], X).prediction, atol=1e-9)


def test_text_tells_the_probability_and_what_is_left_out(fitted):
    model, X, _ = fitted
    text = str(explain_local(model, X.head(1)))
    assert ", probability " in text.splitlines()[0]
    assert "\n  disagreement " in text
    assert "Members, without disagreement\n  Member 1 says " in text
    assert "Here, without disagreement, " in text


def test_the_loss_without_a_rule_is_that_of_the_mean_probability(fitted):
    model, X, y = fitted
    table = rule_importance(model, X, y)
    first = table.iloc[0]
    member = model.estimators_[0]
    others = np.setdiff1d(np.arange(member.n_rules_), [int(first["rule"]) - 1])
    without = member.rule_base_.take(others).predict(X.to_numpy())
    without = np.column_stack([1 - without, without]) if without.ndim == 1 else without
    proba = np.mean([without, *(one.predict_proba(X) for one in model.estimators_[1:])], axis=0)
    losses = [log_loss(y, values, labels=model.classes_) for values in (proba, model.predict_proba(X))]
    assert first["loss"] == pytest.approx(losses[0] / losses[1] - 1, rel=1e-6)


def test_importance_of_columns_and_of_disagreement(fitted):
    model, X, y = fitted
    table = feature_importance(model, X, y, random_state=0).set_index("feature")
    explained = explain_local(model, X)
    np.testing.assert_allclose(
        table.loc["disagreement", "overall"], np.abs(explained.contributions[:, 0, -1]).mean(), rtol=1e-9
    )
    assert table["permutation"].drop("disagreement").max() > 0.05


def test_displays_draw_probabilities_of_the_committee(fitted):
    model, X, y = fitted
    display = ResponseDisplay.from_estimator(model, X, "petal width (cm)", output=0)
    assert ((display.response > 0) & (display.response < 1)).all()
    ImportanceDisplay.from_estimator(model, X, y)
    WaterfallDisplay.from_explanation(explain_local(model, X.head(2)), 1)
    plt.close("all")


def test_a_pipeline_that_ends_in_one_is_explained():
    X, y = make_rows(2)
    table = X.assign(size=np.where(X["petal width (cm)"] > 1.6, "large", "small"))
    member = TSKClassifier(2, recipe="droprule", max_iter=50)
    model = make_pipeline(TableEncoder(), TSKCommitteeClassifier(2, member, random_state=0)).fit(table, y)
    explained = explain_local(model, table.head(3))
    np.testing.assert_allclose(explained.probability[:, 0], model.predict_proba(table.head(3))[:, 1], atol=1e-9)
