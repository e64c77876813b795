"""Scores of predictions, and methods to compare with: squared errors for numbers, the log loss for classes."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline

from takagi._scoring import make_logistic, make_ridge
from takagi._typing import FloatArray
from takagi.workflow._target import CLASSIFICATION, REGRESSION

_LEAST_CHANCE = float(np.finfo(float).eps)  # so that losses are finite


class Measure(ABC):
    """Base class of scores: the error is the mean loss of rows to a power, in units of the target.

    Parameters
    ----------
    y : array of shape (n_rows,)
        All targets.
    """

    name: ClassVar[str]  # of the error
    second: ClassVar[str]
    power: ClassVar[float]
    unit = 1.0

    @abstractmethod
    def __init__(self, y: Any) -> None: ...

    @staticmethod
    @abstractmethod
    def make_rivals(encoder: Any) -> dict[str, Any]:
        """Return other methods, given an encoder of tables; the simplest is the last."""

    @abstractmethod
    def encode(self, y: Any) -> FloatArray:
        """Return targets as numbers."""

    @abstractmethod
    def predict(self, way: Any, X: Any) -> FloatArray:
        """Return the predictions of a fitted method for rows."""

    @abstractmethod
    def guess(self, y: Any) -> tuple[str, FloatArray]:
        """Return the best constant prediction: its name, and the predictions."""

    @abstractmethod
    def look(self, y: Any, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return two numbers for each row: the loss, and the value that the second measure averages."""

    @abstractmethod
    def rate(self, mean: float, y: Any) -> float:
        """Return the second measure from the mean of its values and the targets."""

    def find_error(self, way: Any, X: Any, y: Any) -> float:
        """Return the error of a fitted method on rows."""
        return self.unit * float(self.look(y, self.predict(way, X))[0].mean()) ** self.power


class NumberMeasure(Measure):
    """Numbers: RMSE and R2."""

    name, second, power = "RMSE", "R2", 0.5

    def __init__(self, y: Any) -> None:
        self.unit = float(np.abs(np.asarray(y)).max()) or 1.0

    @staticmethod
    def make_rivals(encoder: Any) -> dict[str, Any]:
        """Return regressors."""
        return {
            "ridge regression": make_pipeline(fill_missing(encoder), make_ridge()),
            "boosted trees": make_pipeline(clone(encoder), HistGradientBoostingRegressor(random_state=0)),
            "always the mean": DummyRegressor(),
        }

    def encode(self, y: Any) -> FloatArray:
        """Return the targets."""
        return np.asarray(y, dtype=float)

    def predict(self, way: Any, X: Any) -> FloatArray:
        """Return predictions."""
        return np.asarray(way.predict(X))

    def guess(self, y: Any) -> tuple[str, FloatArray]:
        """Return the mean."""
        return "the mean of these rows", np.full(len(y), np.mean(y))

    def look(self, y: Any, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return squared errors, twice."""
        squared = np.square(np.asarray(y) / self.unit - predicted / self.unit)
        return squared, squared

    def rate(self, mean: float, y: Any) -> float:
        """Return R2."""
        has_spread = len(y) > 1 and np.ptp(y) > 0
        return 1 - mean / float(np.var(np.asarray(y) / self.unit)) if has_spread else np.nan


class ClassMeasure(Measure):
    """Classes: log loss and accuracy."""

    name, second, power = "log loss", "Accuracy", 1.0

    def __init__(self, y: Any) -> None:
        self.classes = np.unique(np.asarray(y))

    @staticmethod
    def make_rivals(encoder: Any) -> dict[str, Any]:
        """Return classifiers."""
        # Early stopping, which trees use from 10,000 rows on, fails if a class has a single row.
        trees = HistGradientBoostingClassifier(random_state=0, early_stopping=False)
        return {
            "logistic regression": make_pipeline(fill_missing(encoder), make_logistic()),
            "boosted trees": make_pipeline(clone(encoder), trees),
            "the class frequencies": DummyClassifier(strategy="prior"),
        }

    def encode(self, y: Any) -> FloatArray:
        """Return 1 for the second of two classes, or a 0/1 column per class if there are more."""
        is_class = (np.asarray(y)[:, None] == self.classes).astype(float)
        return is_class[:, 1:] if len(self.classes) == 2 else is_class

    def predict(self, way: Any, X: Any) -> FloatArray:
        """Return probabilities of all classes, 0 for classes without training rows."""
        chances, is_scored = np.zeros((len(X), len(self.classes))), np.isin(way.classes_, self.classes)
        places = np.searchsorted(self.classes, way.classes_[is_scored])
        chances[:, places] = way.predict_proba(X)[:, is_scored]
        return chances

    def guess(self, y: Any) -> tuple[str, FloatArray]:
        """Return the class frequencies."""
        shares = (np.asarray(y)[:, None] == self.classes).mean(axis=0)
        return "the class frequencies of these rows", np.tile(shares, (len(y), 1))

    def look(self, y: Any, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log losses, and 1 where the most probable class is the actual one."""
        code = np.searchsorted(self.classes, np.asarray(y))
        chance = np.clip(predicted[np.arange(len(code)), code], _LEAST_CHANCE, 1)
        return -np.log(chance), (predicted.argmax(axis=1) == code).astype(float)

    def rate(self, mean: float, y: Any) -> float:
        """Return the accuracy."""
        return mean


MEASURES: dict[str, type[Measure]] = {REGRESSION: NumberMeasure, CLASSIFICATION: ClassMeasure}


def fill_missing(encoder: Any) -> Any:
    """Return a new encoder for models that cannot handle NaN."""
    return clone(encoder).set_params(missing="fill")
