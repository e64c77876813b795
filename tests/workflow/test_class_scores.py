import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss

from takagi.persistence import load, save
from takagi.tables import RequestError
from takagi.workflow import (
    ModelSettings,
    TrainingTable,
    keep_rows,
    keep_scores,
    plan_splits,
    score_settings,
    search_settings,
    train_model,
)
from takagi.workflow._scores import score_ways
from takagi.workflow._splits import Ties

pytestmark = pytest.mark.usefixtures("one_process")
QUICK = ModelSettings(2, "droprule", max_iter=50, task="classification")


def make_table(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    score = X["a"] - X["b"] + 0.5 * rng.normal(size=n_rows)
    y = pd.Series(np.select([score < -1, score < 1], ["low", "medium"], "high"), name="level")
    return TrainingTable(X, y, [], 0, n_rows, task="classification")


def test_scores_are_log_loss_and_accuracy_of_cross_validation():
    data = make_table()
    splits = plan_splits(len(data.y), labels=data.labels)
    ways = {"line": LogisticRegression(), "frequencies": DummyClassifier(strategy="prior")}
    sheet = score_ways(ways, data, splits)
    losses, hits = [], []
    for train, test in splits.pairs:
        line, y = LogisticRegression().fit(*data.take(train)), data.y.iloc[test]
        losses += [log_loss([one], chances[None], labels=line.classes_)
                   for one, chances in zip(y, line.predict_proba(data.X.iloc[test]), strict=True)]  # fmt: skip
        hits.append(accuracy_score(y, line.predict(data.X.iloc[test])))
    line, frequencies = sheet.scores
    assert (sheet.measure, sheet.second) == ("log loss", "Accuracy")
    assert line.error == pytest.approx(np.mean(losses))
    assert line.second == pytest.approx(np.mean(hits))
    assert line.low < line.error < line.high < frequencies.low
    assert frequencies.ratio == pytest.approx(line.error / frequencies.error)


def test_settings_are_scored_beside_logistic_regression_trees_and_the_class_frequencies():
    sheet = score_settings(make_table(), QUICK)
    rivals = ["logistic regression", "boosted trees", "the class frequencies"]
    assert [score.who for score in sheet.scores] == ["takagi", *rivals]
    assert "logistic regression by" in sheet.describe()[0] or "logistic regression (" in sheet.describe()[0]


def test_a_model_of_noise_is_no_better_than_the_class_frequencies():
    data = make_table()
    noise = TrainingTable(data.X, data.y.sample(frac=1, random_state=0, ignore_index=True), [], 0, 150, task=data.task)
    assert score_settings(noise, QUICK).describe() == ["No better than the class frequencies: do not use it."]


def test_model_files_keep_the_scores_the_name_of_the_target_and_know_their_rows(tmp_path):
    data = make_table()
    splits = plan_splits(150, once=True, labels=data.labels)
    model = train_model(data.X, data.y, QUICK)
    sheet = keep_scores(model, score_settings(data, QUICK, splits=splits))
    keep_rows(model, data)
    save(model, tmp_path / "m.takagi")
    again = load(tmp_path / "m.takagi")[-1]
    assert (again.scores_, again.target_name_) == (sheet, "level")
    target = (data.labels[:, None] == again.classes_).astype(float)
    assert again.known_rows_.find_part(model[:-1].transform(data.X), target) == 1
    assert again.known_rows_.find_part(model[:-1].transform(data.X), target[:, ::-1]) < 0.7  # other classes, other rows


def test_parts_have_all_classes_in_proportion():
    labels = np.array(["rare"] * 10 + ["common"] * 90)
    for splits, n_rare in [(plan_splits(100, labels=labels), 1), (plan_splits(100, once=True, labels=labels), 2)]:
        assert all((labels[test] == "rare").sum() == n_rare for _, test in splits.pairs)
    folds = plan_splits(100, labels=labels)
    assert (len(folds.pairs), folds.words) == (10, "10-fold cross-validation")
    assert sorted(np.concatenate([test for _, test in folds.pairs])) == list(range(100))
    ((train, test),) = plan_splits(5000, labels=np.arange(5000) % 2).pairs
    assert (len(train), len(test)) == (4000, 1000)


def test_rows_are_not_tested_whose_class_no_training_row_has():
    labels = np.array(["single"] + ["a", "b"] * 20)
    splits = plan_splits(41, labels=labels)
    assert len(splits.pairs) == 10
    assert all(0 not in test for _, test in splits.pairs)
    by_time = Ties("day", np.arange(60), True)
    late = np.array(["a", "b"] * 25 + ["late"] * 10)
    assert max(test.max() for _, test in plan_splits(60, 0, by_time, labels=late).pairs) < 50


def test_classes_that_no_split_can_tell_apart_are_refused():
    groups = Ties("place", np.repeat([0, 1], 10), False)
    with pytest.raises(RequestError, match="too few rows of each class"):
        plan_splits(20, 0, groups, labels=np.repeat(["a", "b"], 10))


def test_a_search_goes_by_log_loss():
    data = make_table()
    found = search_settings(data.X, data.y, [QUICK, ModelSettings(1, "droprule", max_iter=5, task=data.task)])
    assert [one.error for one in found] == sorted(one.error for one in found)
    assert 0 < found[0].error < np.log(3)


def test_small_classes_have_fewer_folds():
    data = make_table(12)
    y = pd.Series(np.repeat(list("abcd"), 3), name="level")
    (found,) = search_settings(data.X, y, [QUICK])
    assert len(found.errors) == 3
    assert plan_splits(12, labels=y).words == "3-fold cross-validation"
