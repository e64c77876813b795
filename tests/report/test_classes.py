"""What a report tells of a classifier."""

import json

import numpy as np
import pandas as pd
import pytest
from reported import make_report, three_classes, two_classes
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score

from takagi import RuleBase, TSKClassifier
from takagi.report import ModelReport


@pytest.fixture(params=[two_classes, three_classes])
def case(request):
    model, X, y = request.param()
    return model, X, np.asarray(y), make_report(request.param).to_dict()


def test_scores_are_log_loss_and_accuracy(case):
    model, X, y, summary = case
    (score,) = summary["scores"]
    own, logistic, frequencies = score["scores"]
    assert own["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(X), labels=model.classes_), rel=1e-6)
    assert own["accuracy"] == pytest.approx(accuracy_score(y, model.predict(X)))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    assert frequencies["log_loss"] == pytest.approx(-(shares @ np.log(shares)))
    assert frequencies["accuracy"] == pytest.approx(shares.max())
    assert logistic["log_loss"] < frequencies["log_loss"]


def test_confusion_matrix_and_curves_are_those_of_the_rows(case):
    model, X, y, summary = case
    told, probability = summary["told"], model.predict_proba(X)
    assert told["confusion"] == confusion_matrix(y, model.predict(X)).tolist()
    first = 1 if len(model.classes_) == 2 else 0
    for curve, label, column in zip(told["curves"], model.classes_[first:], probability.T[first:], strict=True):
        assert curve["roc"]["area"] == pytest.approx(roc_auc_score(y == label, column))
        assert np.mean(curve["predicted"]) == pytest.approx(column.mean())
        assert np.mean(curve["actual"]) == pytest.approx((y == label).mean())
    assert (told["at_least"] is None) == (len(model.classes_) > 2)


def test_page_is_made_of_plain_values_and_names_the_log_loss(case):
    *_, summary = case
    assert json.loads(json.dumps(summary, allow_nan=False)) == json.loads(json.dumps(summary))
    assert summary["error"] == "log loss"
    assert summary["formulas"][0].startswith(("log-odds of ", "score of "))
    assert all("of these are" in rule["classes"] for rule in summary["rules"]["list"])


def test_page_never_speaks_of_the_rmse():
    report = make_report(three_classes)
    assert repr(report).startswith("ModelReport('Model report: target', 3 rules, 60 rows, log")
    text = report.to_html().split("<script")[0]
    assert "RMSE" not in text
    assert "Ridge" not in text


def test_the_page_is_named_by_the_target_if_it_has_a_name():
    X = pd.DataFrame({"a": np.arange(60.0), "b": np.zeros(60)})
    y = pd.Series(np.where(X["a"] < 30, "no", "yes"), name="churn")
    model = TSKClassifier(recipe="short", n_rules=1, random_state=0).fit(X, y)
    report = ModelReport(model, X, y, simplify=False)
    assert (report.to_dict()["title"], report.to_dict()["what"]) == ("Model report: churn", "churn (no or yes)")
    assert "1 rule predicts <bdi>churn (no or yes)</bdi> from" in " ".join(report.to_html().split())
    assert report.to_dict()["importance"][0]["conditions"] == [0.0, 0.0]


def test_many_classes_are_joined_in_the_confusion_matrix():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(0, 30, 600)
    model = TSKClassifier(n_rules=2, max_iter=20, random_state=0).fit(X, y)
    told = ModelReport(model, X, y, simplify=False).to_dict()["told"]
    assert len(told["names"]) == 12
    assert told["names"][-1] == "19 others"
    assert np.sum(told["confusion"]) == 600
    np.testing.assert_array_equal(
        np.sum(told["confusion"], axis=1)[:-1], np.bincount(y)[list(map(int, told["names"][:-1]))]
    )


@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_few_rows_of_one_class_are_enough(n_rows):
    model, X, y = three_classes()
    here = np.flatnonzero(y == "setosa")[:n_rows]
    report = ModelReport(model, X.iloc[here], y.iloc[here], simplify=False)
    assert report.to_dict()["told"]["curves"][0]["roc"] is None
    assert "Logistic regression" not in report.to_html().split("<script")[0]


def test_logistic_regression_has_no_training_to_show():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    model = TSKClassifier(random_state=0).fit(X, y)
    assert model.stopped_ == "logistic"
    assert ModelReport(model, X, y, simplify=False).to_dict()["history"] is None


def test_rules_with_a_link_take_probabilities():
    rules = RuleBase([[0.0], [3.0]], [[1.0], [1.0]], [[[-2.0, 0.0]], [[2.0, 0.0]]], link="logit", output_names=["hot"])
    X = np.linspace(-1, 4, 40)[:, None]
    summary = ModelReport(rules, X, X[:, 0] > 1.5, simplify=False).to_dict()
    assert summary["classes"] == ["not hot", "hot"]
    assert summary["scores"][0]["scores"][0]["accuracy"] == 1


def test_wrong_labels_are_refused_in_words():
    model, X, _ = three_classes()
    with pytest.raises(ValueError, match="not among the classes of the model: 'rose'"):
        ModelReport(model, X, ["rose"] * len(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_that_is_certain_has_a_finite_loss(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(120) % n_classes
    X = y[:, None] + 0.1 * rng.normal(size=(120, 1))
    X[0] = 1e4  # so far out that its probability is 1, to the last digit
    X[1:] *= 1e-3
    model = TSKClassifier(n_rules=2, max_iter=20, random_state=0).fit(X, y)
    (score,) = ModelReport(model, X, y, simplify=False).to_dict()["scores"]
    assert all(np.isfinite(one["log_loss"]) for one in score["scores"])
    assert score["scores"][1]["who"] == "Logistic regression"
