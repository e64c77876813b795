"""Training in memory: a model for a table, held-out rows, and the search for settings."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from takagi.estimators import calibrate
from takagi.training import Progress
from takagi.workflow._events import Event, Tell, ignore
from takagi.workflow._measures import MEASURES, Measure
from takagi.workflow._settings import ModelSettings, build_model
from takagi.workflow._target import CLASSIFICATION

_MANY_ROWS = 1000
_FOLDS = 5  # for intervals


def train_model(X: Any, y: Any, settings: ModelSettings, tell: Tell = ignore, task: str = "") -> Pipeline:
    """Return a fitted pipeline of table encoder and estimator.

    Parameters
    ----------
    X : data frame of shape (n_rows, n_columns)
        The columns to learn from.
    y : series of shape (n_rows,)
        The target.
    settings : ModelSettings
        The settings.
    tell : callable, optional
        Called with an `Event` during training.
    task : str, optional
        Its name in events.

    Raises
    ------
    KeyboardInterrupt
        If training was interrupted; then there is no model.
    """
    task = task or f"Training {settings.words} on {len(y):,} rows"
    model = build_model(settings)
    tell(Event(task, 0, None, "iterations"))

    def show(progress: Progress) -> None:
        tell(Event(task, progress.n_iter, progress.max_iter, "iterations"))

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Columns that repeat")  # the look at the table says so, with their names
        model.fit(X, y, **{f"{model.steps[-1][0]}__callback": show})
    if getattr(model[-1], "stopped_", "") == "interrupted":  # the library would keep the best rules so far
        raise KeyboardInterrupt
    return model


def calibrate_by_folds(model: Pipeline, X: Any, y: Any, tell: Tell = ignore) -> Pipeline:
    """Return the model after calibration by five-fold cross-validation.

    Parameters
    ----------
    model : Pipeline
        A fitted pipeline that ends in a `TSKRegressor`.
    X, y : data frame and series
        The rows that it was fitted on.
    tell : callable, optional
        Called with an `Event` at the start.
    """
    tell(Event(f"Fitting {_FOLDS} parts of the rows for intervals", 0, None, "fits"))
    return calibrate(model, X, y, cv=min(_FOLDS, len(y)))


# -- search ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """Settings, and their errors on the folds of a cross-validation."""

    settings: ModelSettings
    errors: tuple[float, ...]

    @property
    def error(self) -> float:
        """Mean error."""
        return float(np.mean(self.errors))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over the folds."""
        return float(np.std(self.errors, ddof=1) / np.sqrt(len(self.errors)))


def search_settings(
    X: Any, y: Any, settings: Sequence[ModelSettings], seed: int = 0, tell: Tell = ignore
) -> list[Candidate]:
    """Return settings with their errors in cross-validation, the best first; uses all cores in threads.

    Parameters
    ----------
    X : data frame of shape (n_rows, n_columns)
        The columns to learn from.
    y : series of shape (n_rows,)
        The target.
    settings : sequence of ModelSettings
        Settings to try; no committees.
    seed : int, default=0
        Seed of the folds, which are the same for all settings.
    tell : callable, optional
        Called with an `Event` after each fit.
    """
    n_folds = 5 if len(y) < _MANY_ROWS else 3
    task = settings[0].task
    if task == CLASSIFICATION:  # no more folds than the largest class has rows
        n_folds = max(2, min(n_folds, int(np.unique(y, return_counts=True)[1].max())))
    words = f"Trying {len(settings)} settings on {n_folds} folds"
    counter = _Counter(tell, words, n_folds * len(settings), MEASURES[task](y))
    model = build_model(settings[0])
    last = model.steps[-1][0]
    grid = [{f"{last}__{name}": [value] for name, value in one.parameters.items()} for one in settings]
    folds = (StratifiedKFold if task == CLASSIFICATION else KFold)(n_folds, shuffle=True, random_state=seed)
    search = GridSearchCV(
        model,
        grid,
        scoring=counter.score,
        cv=folds,
        refit=False,
        n_jobs=-1,
        error_score="raise",
    )
    try:
        with parallel_config("threading"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows warns
            search.fit(X, y, **{f"{last}__callback": lambda _: counter.is_stopped})
    finally:
        counter.is_stopped = True  # stops the running fits after an exception
    errors = -np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(n_folds)])
    candidates = [Candidate(one, tuple(row.tolist())) for one, row in zip(settings, errors, strict=True)]
    return sorted(candidates, key=lambda candidate: candidate.error)


def choose_simplest(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate that is easiest to read among those within one standard error of the best.

    References
    ----------
    Breiman, Friedman, Olshen, Stone. Classification and Regression Trees. 1984: the one-standard-error rule.
    """
    best = min(candidates, key=lambda one: one.error)
    good = [one for one in candidates if one.error <= best.error + best.standard_error]
    return min(good, key=lambda one: (one.settings.complexity, one.error))


class _Counter:
    """Scores the fits of a search, and reports how many are done."""

    def __init__(self, tell: Tell, task: str, total: int, measure: Measure) -> None:
        self.tell, self.task, self.total, self.measure = tell, task, total, measure
        self.done, self.is_stopped, self.lock = 0, False, Lock()
        tell(Event(task, 0, total, "fits"))

    def score(self, model: Pipeline, X: Any, y: Any) -> float:
        """Return the negative error of a model, since larger scores are better."""
        error = self.measure.find_error(model, X, y)
        with self.lock:
            self.done += 1
            self.tell(Event(self.task, self.done, self.total, "fits"))
        return -error
