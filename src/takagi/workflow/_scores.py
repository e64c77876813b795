"""Scores of a model on held-out rows, beside those of other methods.

All are measured in the same way, on the same rows. There is one `Measure` for numbers and one for classes.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from takagi._text import count
from takagi._typing import FloatArray, IntArray
from takagi.known import KnownRows
from takagi.scores import COVERAGE, Score, ScoreSheet
from takagi.workflow._events import Event, Tell, ignore
from takagi.workflow._measures import MEASURES, Measure
from takagi.workflow._settings import ModelSettings, build_model
from takagi.workflow._splits import N_FOLDS, RowPair, Splits, plan_splits
from takagi.workflow._table import TrainingTable

N_JOBS = -1  # processes: all cores
_FEW_FOLDS = 5  # of a committee, which is eight models
_LEAST_LOSS = 1e-24  # so that ratios of losses are numbers
_MOST_CHANGE = 20.0  # of logarithms, so that limits are numbers


def score_settings(
    data: TrainingTable,
    settings: ModelSettings,
    also: Mapping[str, ModelSettings] | None = None,
    splits: Splits | None = None,
    tell: Tell = ignore,
) -> ScoreSheet:
    """Return the scores of settings on a table, beside those of other settings and other methods.

    Parameters
    ----------
    data : TrainingTable
        The table.
    settings : ModelSettings
        The settings to score.
    also : dict of ModelSettings, optional
        Settings to compare with, by name.
    splits : Splits, optional
        Training and test rows; by default chosen for the size of the table.
    tell : callable, optional
        Called with an `Event` after each fit.
    """
    if splits is None:
        n_folds = _FEW_FOLDS if settings.committee else N_FOLDS
        splits = plan_splits(len(data.y), settings.random_state, data.ties, n_folds=n_folds, labels=data.labels)
    model = build_model(settings)
    others = {who: build_model(one) for who, one in (also or {}).items()}
    rivals = MEASURES[data.task].make_rivals(model[0])
    return score_ways({"takagi": model, **others, **rivals}, data, splits, tell)


def score_ways(ways: Mapping[str, Any], data: TrainingTable, splits: Splits, tell: Tell = ignore) -> ScoreSheet:
    """Return the scores of methods, given as unfitted estimators, on a table; the first is the model."""
    measure = MEASURES[data.task](data.y)
    return _summarize(_run(ways, data, splits, measure, tell), data, splits, measure)


def score_model(model: Pipeline, data: TrainingTable, pair: RowPair) -> ScoreSheet:
    """Return the scores of a model that was trained without the given test rows."""
    splits = Splits((pair,), 1, f"{count(len(pair[1]), 'row')} held out")
    measure = MEASURES[data.task](data.y)
    look = _look(model, *data.take(pair[1]), measure)
    looks = _run(measure.make_rivals(model[0]), data, splits, measure, ignore)
    return _summarize({"takagi": [look], **looks}, data, splits, measure)


def compare_predictions(y: Any, predictions: Mapping[str, FloatArray], method: str, measure: Measure) -> ScoreSheet:
    """Return the scores of models, given their predictions; the first is compared with the others.

    Parameters
    ----------
    y : array of shape (n_rows,)
        The targets.
    predictions : dict of arrays of shape (n_rows,) or (n_rows, n_classes)
        The predictions of each, by `Measure.predict`.
    method : str
        Description of the rows.
    measure : Measure
        The measure of errors.
    """
    actual, rows = np.asarray(y), np.arange(len(y))
    looks = {who: [measure.look(actual, predicted)] for who, predicted in predictions.items()}
    data = TrainingTable(None, actual, [], 0, len(actual))
    return _summarize(looks, data, Splits(((rows[:0], rows),), 1, method), measure)


def keep_scores(model: Pipeline, sheet: ScoreSheet) -> ScoreSheet:
    """Store scores in the model that they are of, and return them with its size."""
    name = f"takagi, {describe_size(model)}"
    model[-1].scores_ = replace(sheet, scores=(replace(sheet.scores[0], who=name), *sheet.scores[1:]))
    return model[-1].scores_


def keep_rows(model: Pipeline, data: TrainingTable) -> None:
    """Let a model know the rows of the table that it was trained on."""
    target = MEASURES[data.task](data.y).encode(data.y)
    model[-1].known_rows_ = KnownRows.collect(model[:-1].transform(data.X), target)


def count_all_rules(model: Pipeline) -> int:
    """Return the number of rules of a model, or of all members of a committee."""
    return sum(member.n_rules_ for member in getattr(model[-1], "estimators_", [model[-1]]))


def describe_size(model: Pipeline) -> str:
    """Return the number of rules of a model as text."""
    rules, members = count(count_all_rules(model), "rule"), getattr(model[-1], "estimators_", [])
    return f"{rules} in {len(members)} members" if members else rules


# -- fits --------------------------------------------------------------------------------------------------------------

Looks = dict[str, list[tuple[FloatArray, FloatArray]]]  # two numbers for each row of each test


def _run(ways: Mapping[str, Any], data: TrainingTable, splits: Splits, measure: Measure, tell: Tell) -> Looks:
    """Fit all methods to all training rows, in separate processes, and score their predictions for the test rows."""
    found: list[tuple[FloatArray, FloatArray]] = []
    jobs = [(way, pair) for way in ways.values() for pair in splits.pairs]
    calls = (delayed(_fit_and_look)(clone(way), data.take(pair[0]), data.take(pair[1]), measure) for way, pair in jobs)
    task = f"Scoring: {splits.words}"
    tell(Event(task, 0, len(jobs), "fits"))
    for one in Parallel(n_jobs=N_JOBS, return_as="generator")(calls):
        found.append(one)
        tell(Event(task, len(found), len(jobs), "fits"))
    n_pairs = len(splits.pairs)
    return {who: found[k * n_pairs : (k + 1) * n_pairs] for k, who in enumerate(ways)}


def _fit_and_look(
    way: Any, training: tuple[Any, Any], test: tuple[Any, Any], measure: Measure
) -> tuple[FloatArray, FloatArray]:
    # Folds already use all cores: threads inside them would wait for each other.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to all rows warns
        way.fit(*training)
        if getattr(getattr(way, "steps", [("", way)])[-1][1], "stopped_", "") == "interrupted":
            raise KeyboardInterrupt
        return _look(way, *test, measure)


def _look(way: Any, X: Any, y: Any, measure: Measure) -> tuple[FloatArray, FloatArray]:
    """Return two numbers for each row of a test."""
    return measure.look(np.asarray(y), measure.predict(way, X))


# -- statistics --------------------------------------------------------------------------------------------------------


def _summarize(looks: Looks, data: TrainingTable, splits: Splits, measure: Measure) -> ScoreSheet:
    y = np.asarray(data.y)
    tested = np.unique(np.concatenate([test for _, test in splits.pairs]))
    clusters = tested if data.ties is None or data.ties.is_time else data.ties.codes[tested]
    losses = {who: np.maximum(_average(look, 0, splits, len(y))[tested], 0) for who, look in looks.items()}
    own = next(iter(losses.values()))
    scores = []
    for who, loss in losses.items():
        second = measure.rate(float(_average(looks[who], 1, splits, len(y))[tested].mean()), y[tested])
        error, low, high = (
            measure.unit * value for value in _find_limits(loss, clusters, splits.inflation, measure.power)
        )
        ratios = _compare(own, loss, clusters, splits.inflation, measure.power)
        scores.append(Score(who, error, low, high, second, *ratios))
    return ScoreSheet(measure.name, measure.second, splits.words, len(y), tuple(scores))


def _average(looks: list[tuple[FloatArray, FloatArray]], k: int, splits: Splits, n_rows: int) -> FloatArray:
    """Return the mean over repeats of a number for each row, 0 if the row was not tested."""
    total, times = np.zeros(n_rows), np.zeros(n_rows)
    for (_, test), look in zip(splits.pairs, looks, strict=True):
        total[test] += look[k]
        times[test] += 1
    return total / np.maximum(times, 1)


def _find_limits(loss: FloatArray, clusters: IntArray, inflation: float, power: float) -> tuple[float, float, float]:
    """Return the mean loss to a power, and the limits of its interval, which is symmetric on the log scale."""
    mean = max(float(loss.mean()), _LEAST_LOSS)
    reach = min(_find_reach(loss / mean, clusters, inflation), _MOST_CHANGE)
    return mean**power, (mean * np.exp(-reach)) ** power, (mean * np.exp(reach)) ** power


def _compare(
    own: FloatArray, other: FloatArray, clusters: IntArray, inflation: float, power: float
) -> tuple[float, float, float]:
    """Return the ratio of two mean losses to a power, and the limits of its interval; rows are compared in pairs."""
    means = [max(float(loss.mean()), _LEAST_LOSS) for loss in (own, other)]
    change = float(np.clip(np.log(means[0] / means[1]), -_MOST_CHANGE, _MOST_CHANGE))
    reach = min(_find_reach(own / means[0] - other / means[1], clusters, inflation), _MOST_CHANGE)
    ratio, low, high = (float(np.exp(power * value)) for value in (change, change - reach, change + reach))
    return ratio, low, high


def _find_reach(values: FloatArray, clusters: IntArray, inflation: float) -> float:
    """Return half the width of the interval of a mean; rows of one cluster are not independent of each other."""
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], weights=values - values.mean())
    n_clusters = len(sums)
    if n_clusters < 2:
        return np.inf
    variance = inflation * n_clusters / (n_clusters - 1) * float(np.sum(sums**2)) / len(values) ** 2
    return float(stats.t.ppf((1 + COVERAGE) / 2, n_clusters - 1) * np.sqrt(variance))
