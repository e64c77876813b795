import numpy as np
import pandas as pd
import pytest

from takagi.report import ModelReport
from takagi.workflow import ModelSettings, TrainingTable, keep_rows, keep_scores, score_settings, train_model

pytest.importorskip("jinja2")
pytestmark = pytest.mark.usefixtures("one_process")


def make_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    return X, pd.Series(X["a"] + 0.3 * rng.normal(size=120), name="y")


def test_the_report_shows_the_score_of_the_fit_on_rows_that_trained_the_model():
    X, y = make_rows()
    data = TrainingTable(X, y, [], 0, len(y))
    model = train_model(X, y, ModelSettings(2, "droprule", max_iter=50))
    assert ModelReport(model, X, y, simplify=False).to_dict()["kept"] is None
    sheet = keep_scores(model, score_settings(data, ModelSettings(2, "droprule", max_iter=50)))
    keep_rows(model, data)
    report = ModelReport(model, X, y, simplify=False)
    kept = report.to_dict()["kept"]
    assert (kept["is_shown"], kept["seen"], kept["verdict"]) == (True, 1.0, sheet.describe())
    page = " ".join(report.to_html().split())
    assert "10-fold cross-validation, 120 rows" in page
    assert "100 % of the rows given to this report were used for training" in page
    assert "by 10-fold cross-validation" in repr(report)


def test_the_report_scores_other_rows_and_says_so():
    X, y = make_rows()
    model = train_model(X, y, ModelSettings(2, "droprule", max_iter=50))
    data = TrainingTable(X, y, [], 0, len(y))
    keep_scores(model, score_settings(data, ModelSettings(2, "droprule", max_iter=50)))
    keep_rows(model, data)
    report = ModelReport(model, X + 0.01, y, simplify=False)
    assert (report.to_dict()["kept"]["is_shown"], report.to_dict()["kept"]["seen"]) == (False, 0.0)
    page = " ".join(report.to_html().split())
    assert "scored on the rows given to this report, which were not used for training" in page
    assert "When the model was fitted, its RMSE was" in page


def test_a_report_without_scores_says_which_rows_trained_the_model():
    X, y = make_rows()
    model = train_model(X, y, ModelSettings(2, "droprule", max_iter=50))
    unknown = " ".join(ModelReport(model, X, y, simplify=False).to_html().split())
    assert "the model does not know whether they were used for training" in unknown
    keep_rows(model, TrainingTable(X, y, [], 0, len(y)))
    page = " ".join(ModelReport(model, X, y, simplify=False).to_html().split())
    assert (
        "100 % of the rows given to this report were used for training, so the error of the rules here is too small."
        in page
    )
    assert "On 120 rows of this report, 100 % of which trained the model: The model" in page
    assert "100 % of the rows of this report trained the model; on new rows it errs more." in page
    page = " ".join(ModelReport(model, X + 1, y, simplify=False).to_html().split())
    assert "The rules are scored on the rows given to this report, which were not used for training." in page
    assert "of the rules here is too small" not in page
    assert "On 120 rows of this report: The model" in page
    assert "it errs more" not in page
