"""What a method of `accuracy.py` gets: the training and the validation part, scaled or not."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from takagi._typing import FloatArray

TRAIN = "training part"
BOTH = "both parts as training rows"
STOPPED = "training part; stopped on the validation part"
TUNED = "tuned on the validation part, then both parts as training rows"


@dataclass(frozen=True)
class Rows:
    """The rows that a method may use."""

    X_train: FloatArray
    y_train: FloatArray
    X_val: FloatArray
    y_val: FloatArray

    @property
    def both(self) -> tuple[FloatArray, FloatArray]:
        """Features and target of both parts."""
        return np.concatenate([self.X_train, self.X_val]), np.concatenate([self.y_train, self.y_val])


@dataclass(frozen=True)
class Scaled:
    """A predictor of scaled data, for data that is not."""

    model: Any
    x_scaler: StandardScaler
    y_scaler: StandardScaler

    def predict(self, X: FloatArray) -> FloatArray:
        """Return predictions in the target's own units."""
        predicted = np.asarray(self.model.predict(self.x_scaler.transform(X)), dtype=float)
        return self.y_scaler.inverse_transform(predicted.reshape(-1, 1))[:, 0]


class Scaling:
    """Scaling of features and target to mean 0 and deviation 1, measured on some rows.

    Parameters
    ----------
    X, y : ndarray
        The rows.
    """

    def __init__(self, X: FloatArray, y: FloatArray) -> None:
        self.x_scaler, self.y_scaler = StandardScaler().fit(X), StandardScaler().fit(y[:, None])

    def scale(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scaled features and target."""
        return self.x_scaler.transform(X), self.y_scaler.transform(y[:, None])[:, 0]

    def unscale(self, model: Any) -> Scaled:
        """Return a predictor of data as it was."""
        return Scaled(model, self.x_scaler, self.y_scaler)


def draw_rows(X: FloatArray, y: FloatArray, most: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return all rows, or a random choice of `most` of them."""
    if len(y) <= most:
        return X, y
    chosen = np.random.default_rng(seed).choice(len(y), most, replace=False)
    return X[chosen], y[chosen]
