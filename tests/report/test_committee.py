"""What a report tells of a committee: scores of all members together, and rules of one."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi.inspection import feature_importance
from takagi.report import ModelReport

SMALL = {"n_rules": 3, "max_iter": 200}


@pytest.fixture(scope="module", params=[2, 3])
def classes(request):
    """A committee of two or three classes behind an encoder, rows, and its report."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))
    X, y = X[y != "setosa"] if request.param == 2 else X, y[y != "setosa"] if request.param == 2 else y
    committee = TSKCommitteeClassifier(3, TSKClassifier(**SMALL), random_state=0)
    model = make_pipeline(TableEncoder(), committee).fit(X[::2], y[::2])
    return model, X[1::2], y[1::2], ModelReport(model, X[1::2], y[1::2])


def find_distances(model, X):
    """Return how far the probabilities of members are from the committee's."""
    rows = model[:-1].transform(X)
    said = model[-1].predict_proba(rows)
    found = [np.abs(member.predict_proba(rows) - said) for member in model[-1].estimators_]
    return [(part[:, 1] if part.shape[1] == 2 else part).mean() for part in found]


def test_scores_and_curves_are_those_of_the_committee(classes):
    model, X, y, report = classes
    summary, probability = report.to_dict(), model.predict_proba(X)
    whole, member, *others = summary["scores"][0]["scores"]
    assert whole["who"] == "The committee"
    assert whole["log_loss"] == pytest.approx(log_loss(y, probability))
    assert member["who"] == f"Member {summary['members']['shown']}"
    assert [rival["who"] for rival in others] == ["Logistic regression", "The frequencies"]
    assert summary["told"]["confusion"] == confusion_matrix(y, model.predict(X)).tolist()
    last = summary["told"]["curves"][-1]
    assert last["roc"]["area"] == pytest.approx(roc_auc_score(y == "virginica", probability[:, -1]))


def test_rules_are_those_of_the_member_nearest_to_the_committee(classes):
    model, X, _, report = classes
    summary, distances = report.to_dict(), find_distances(model, X)
    shown = summary["members"]["shown"] - 1
    assert shown == np.argmin(distances)
    assert summary["members"]["distance"] == pytest.approx(min(distances))
    rules = model[-1].estimators_[shown].rule_base_
    assert summary["n_rules"] == len(summary["rules"]["list"]) == rules.n_rules
    assert [rule["share"] for rule in summary["rules"]["list"]] == pytest.approx(sorted(rules.profile.share)[::-1])


def test_what_matters_is_that_of_the_committee(classes):
    model, X, _, report = classes
    summary = report.to_dict()
    table = feature_importance(model, X, output=0).set_index("feature")["overall"]
    names = [column["name"] for column in summary["data"]["columns"]]
    assert summary["importance"][0]["overall"] == pytest.approx([table[name] for name in names])


def test_page_says_whose_rules_it_shows(classes):
    _, _, _, report = classes
    text = " ".join(report.to_html().split("<script")[0].split())
    assert "A committee of 3 models predicts" in text
    assert f"those of member {report.to_dict()['members']['shown']}, which is nearest to it" in text
    assert "percentage points on average" in text
    assert "3 members" in repr(report)


def test_committee_of_numbers_has_a_report_too():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["bmi", "bp", "s5"]]
    model = TSKCommittee(3, TSKRegressor(**SMALL), random_state=0).fit(X[:300], y[:300])
    report = ModelReport(model, X[300:], y[300:], simplify=False)
    whole = report.to_dict()["scores"][0]["scores"][0]
    assert (whole["who"], whole["rmse"]) == (
        "The committee",
        pytest.approx(root_mean_squared_error(y[300:], model.predict(X[300:]))),
    )
    assert "of their standard deviation on average" in report.to_html()
