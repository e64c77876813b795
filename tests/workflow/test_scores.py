import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from takagi import update
from takagi.known import KnownRows
from takagi.persistence import load, save
from takagi.scores import COVERAGE, Score, ScoreSheet
from takagi.workflow import (
    ModelSettings,
    TrainingTable,
    keep_rows,
    keep_scores,
    plan_splits,
    score_model,
    score_settings,
    split_off,
    train_model,
)
from takagi.workflow._scores import score_ways
from takagi.workflow._splits import find_groups

pytestmark = pytest.mark.usefixtures("one_process")
QUICK = ModelSettings(2, "droprule", max_iter=50)


def make_table(n_rows=120, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=list("abc"))
    y = pd.Series(X["a"] - 2 * X["b"] + noise * rng.normal(size=n_rows), name="y")
    return TrainingTable(X, y, [], 0, n_rows)


def score_two(data, splits=None, **ways):
    ways = ways or {"line": LinearRegression(), "always the mean": DummyRegressor()}
    return score_ways(ways, data, splits or plan_splits(len(data.y)))


def test_errors_are_those_of_cross_validation():
    data = make_table()
    splits = plan_splits(len(data.y))
    line, mean = score_two(data, splits).scores
    squares = []
    for train, test in splits.pairs:
        X, y = data.take(train)
        squares.append((LinearRegression().fit(X, y).predict(data.X.iloc[test]) - data.y.iloc[test]) ** 2)
    squared = np.concatenate(squares).mean()
    assert line.error == pytest.approx(np.sqrt(squared))
    assert line.second == pytest.approx(1 - squared / np.var(data.y))
    assert line.low < line.error < line.high < mean.low
    assert mean.ratio == pytest.approx(line.error / mean.error)
    assert mean.ratio_low < mean.ratio < mean.ratio_high < 1
    assert (line.ratio, line.ratio_low, line.ratio_high) == (1, 1, 1)


def test_units_scale_scores_and_change_no_verdict():
    data = make_table()
    large = TrainingTable(data.X, 1e150 * data.y, [], 0, len(data.y))
    for one, other in zip(score_two(data).scores, score_two(large).scores, strict=True):
        np.testing.assert_allclose(
            [other.error, other.low, other.high], np.array([one.error, one.low, one.high]) * 1e150
        )
        np.testing.assert_allclose([other.second, other.ratio], [one.second, one.ratio], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [60, 2500])
def test_intervals_hold_the_error_on_more_rows_as_often_as_they_say(n_rows):
    n_tables = 60
    held = []
    for seed in range(n_tables):
        data = make_table(n_rows + 4000, seed=seed)
        known = TrainingTable(data.X[:n_rows], data.y[:n_rows], [], 0, n_rows)
        score = score_two(known).scores[0]
        model = LinearRegression().fit(known.X, known.y)
        error = np.sqrt(np.mean((model.predict(data.X[n_rows:]) - data.y[n_rows:]) ** 2))
        held.append(score.low <= error <= score.high)
    assert np.mean(held) >= COVERAGE - 0.08


def test_rows_of_one_group_are_worth_less_than_as_many_rows():
    rng = np.random.default_rng(0)
    group = np.arange(200) // 20
    X = pd.DataFrame({"a": rng.normal(size=200)})
    y = pd.Series(rng.normal(size=10)[group] * 3 + rng.normal(size=200), name="y")
    ties = find_groups(pd.Series(group), "g")
    alone = TrainingTable(X, y, [], 0, 200)
    tied = TrainingTable(X, y, [], 0, 200, ties=ties)
    splits = plan_splits(200, 0, ties)
    widths = [np.log(one.high / one.low) for one in (score_two(data, splits).scores[0] for data in (alone, tied))]
    assert widths[1] > 1.5 * widths[0]


def test_a_model_that_is_no_better_than_the_mean_is_not_to_be_used():
    data = make_table(noise=1.0)
    noise = TrainingTable(data.X, data.y.sample(frac=1, random_state=0).reset_index(drop=True), [], 0, len(data.y))
    assert score_two(noise).describe() == ["No better than always the mean: do not use it."]


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ((1.17, 1.01, 1.37), "worse than trees by 17 % +- 16 %"),
        ((0.75, 0.58, 0.97), "better than trees by 25 % +- 22 %"),
        ((1.17, 0.98, 1.40), "about as good as trees (worse by 17 % +- 19 %)"),
    ],
)
def test_a_margin_is_smaller_than_a_difference_that_is_told(ratios, words):
    assert Score("trees", 1.0, 0.9, 1.1, 0.5, *ratios).compare() == words


def test_what_is_better_than_a_useless_model_is_named():
    useless = Score("takagi", 2.0, 1.9, 2.1, 0.0)
    better = Score("the accurate model", 1.0, 0.9, 1.1, 0.7, 2.0, 1.8, 2.2)
    alike = Score("boosted trees", 2.0, 1.9, 2.1, 0.0, 1.0, 0.9, 1.1)
    mean = Score("always the mean", 2.0, 1.9, 2.1, 0.0, 1.0, 0.9, 1.1)
    assert ScoreSheet("RMSE", "R2", "folds", 50, (useless, better, alike, mean)).describe() == [
        "No better than always the mean: do not use it.",
        "Worse than the accurate model by 100 % +- 20 %.",
    ]


def test_errors_of_nothing_have_finite_ratios():
    data = make_table(noise=0.0)
    sheet = score_two(data, line=LinearRegression(), again=LinearRegression(), mean=DummyRegressor())
    assert sheet.scores[0].error < 1e-9
    assert all(np.isfinite([s.ratio, s.ratio_low, s.ratio_high, s.low, s.high]).all() for s in sheet.scores)
    assert sheet.describe()[0].startswith("About as good as again")


def test_settings_are_scored_beside_others_and_told_of():
    data, events = make_table(60), []
    sheet = score_settings(data, QUICK, {"one rule": ModelSettings(1, "droprule", max_iter=50)}, tell=events.append)
    ways = [score.who for score in sheet.scores]
    assert ways == ["takagi", "one rule", "ridge regression", "boosted trees", "always the mean"]
    assert [event.done for event in events] == list(range(51))
    assert {(event.task, event.total) for event in events} == {("Scoring: 10-fold cross-validation", 50)}
    assert sheet == score_settings(data, QUICK, {"one rule": ModelSettings(1, "droprule", max_iter=50)})


def test_what_the_listener_raises_ends_scoring():
    def stop(event):
        if event.done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        score_settings(make_table(60), QUICK, tell=stop)


def test_a_model_is_scored_on_rows_held_out():
    data = make_table(100)
    pair = split_off(100, 0.2, 0)
    model = train_model(*data.take(pair[0]), QUICK)
    sheet = score_model(model, data, pair)
    error = np.sqrt(np.mean((model.predict(data.X.iloc[pair[1]]) - data.y.iloc[pair[1]]) ** 2))
    assert (sheet.scores[0].error, sheet.method) == (pytest.approx(error), "20 rows held out")
    assert [score.who for score in sheet.scores[1:]] == ["ridge regression", "boosted trees", "always the mean"]


def test_a_model_keeps_its_scores(tmp_path):
    data = make_table(700)
    model = train_model(data.X, data.y, QUICK)
    sheet = keep_scores(model, score_two(data))
    assert sheet.scores[0].who == "takagi, 2 rules"
    save(model, tmp_path / "m.takagi")
    assert load(tmp_path / "m.takagi")[-1].scores_ == sheet
    assert not hasattr(model.fit(data.X, data.y)[-1], "scores_")


def test_a_model_knows_its_rows_with_and_without_a_score(tmp_path):
    data = make_table(700)
    model = train_model(data.X, data.y, QUICK)
    keep_rows(model, data)
    save(model, tmp_path / "m.takagi")
    known = load(tmp_path / "m.takagi")[-1].known_rows_
    assert known == model[-1].known_rows_
    rows, y = data.X.to_numpy(), data.y.to_numpy()
    assert known.find_part(rows, y) == 1.0
    assert known.find_part(rows + 1, y) == 0.0
    assert 0.3 < known.find_part(np.vstack([rows, rows + 1]), np.hstack([y, y])) < 0.7
    assert not hasattr(model.fit(data.X, data.y)[-1], "known_rows_")


def test_an_update_adds_the_new_rows_to_the_known_ones():
    data = make_table(300)
    old, new = np.arange(200), np.arange(200, 300)
    model = train_model(*data.take(old), QUICK)
    keep_rows(model, TrainingTable(*data.take(old), [], 0, 200))
    update(model, *data.take(new))
    assert model[-1].known_rows_ == KnownRows.collect(data.X.to_numpy(), data.y.to_numpy())
