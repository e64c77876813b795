"""Class labels: checks, numbers, and conversion into the targets and weights of a fit."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from takagi._checks import check_features, reject_text
from takagi._frames import accept_arrow
from takagi._text import shorten
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import TrainingData, read_target_names, validate_weight

_NOT_THERE = ("NAType", "NaTType", "NoneType")  # pandas' missing values, and Python's
_SHOWN = 5  # labels in an error


def validate_classes(
    estimator: BaseEstimator, X: Table, y: Table, sample_weight: Table, min_rows: int = 2, reset: bool = True
) -> TrainingData:
    """Return checked rows, with class probabilities as targets: `validate_training` for classes.

    Two classes have one target, 1 for the second of them; with more, each class has a target. Class weights are
    multiplied into those of the rows. If the estimator has classes, labels must be among them; else the labels of y are
    set as its `classes_`. The estimator should be a copy of the user's.
    """
    X = accept_arrow(X)
    reject_text(X)
    X = validate_data(
        estimator, X, y if y is None else "no_validation", dtype=np.float64, ensure_all_finite=False,
        ensure_min_samples=min_rows, reset=reset,
    )  # fmt: skip
    names = getattr(estimator, "feature_names_in_", None)
    check_features(X, names, must_have_values=reset)
    labels, weight = read_labels(y, len(X)), validate_weight(sample_weight, X)
    is_first = not hasattr(estimator, "classes_")
    if is_first:
        estimator.classes_ = find_labels(labels)
    classes = estimator.classes_
    code = number_labels(labels, classes)
    mass: FloatArray = np.bincount(code, weights=weight, minlength=len(classes)).astype(float)
    weight = weight * weigh_classes(estimator.class_weight, classes, mass)[code]
    if is_first and len(np.unique(code[weight > 0])) < 2:
        raise ValueError(
            "At least two classes must have a positive weight, but sample_weight and class_weight leave fewer."
        )
    targets, names_out = make_targets(code, len(classes)), name_classes(classes)
    own_name = (read_target_names(y) or [""])[0] or None
    return TrainingData(X, targets, weight, names, names_out, len(classes) == 2, classes, own_name)


class WeighedClasses(NamedTuple):
    """The classes of rows that are read block by block, and the factors of the weights of their rows."""

    labels: np.ndarray
    weight: FloatArray

    def read(self, labels: np.ndarray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the targets and weights of rows, given their labels."""
        code = number_labels(labels, self.labels)
        return make_targets(code, len(self.labels)), weight * self.weight[code]


def find_labels(labels: Any) -> np.ndarray:
    """Return the distinct labels, sorted, at least two, or raise an error that says why they are not classes."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes, got {_list_labels(classes) or 'none'}.")
    return classes


def number_labels(labels: np.ndarray, classes: np.ndarray) -> IntArray:
    """Return the index of each label among known classes."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    code = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (code < 0).any():
        unknown = np.unique(labels[code < 0])
        raise ValueError(
            f"y has labels that are not among the classes of the model: {_list_labels(unknown)}. Its classes are "
            f"{_list_labels(classes)}."
        )
    return code


def make_targets(code: IntArray, n_classes: int) -> FloatArray:
    """Return probabilities of classes: of the second of two, or of all."""
    return (code[:, None] == 1).astype(float) if n_classes == 2 else np.eye(n_classes)[code]


def name_classes(classes: np.ndarray) -> list[str]:
    """Return the names of the outputs of rules for classes: the second of two classes, or all."""
    return [str(label) for label in (classes[1:] if len(classes) == 2 else classes)]


def weigh_classes(class_weight: Any, classes: np.ndarray, mass: FloatArray) -> FloatArray:
    """Return the weight of each class: 1, as given, or inversely proportional to the total weight of its rows."""
    if class_weight is None:
        return np.ones(len(classes))
    if not isinstance(class_weight, Mapping):  # "balanced"
        return np.where(mass > 0, mass.sum() / (len(classes) * np.where(mass > 0, mass, 1.0)), 0.0)
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"class_weight has labels that are not among the classes of y: {_list_labels(unknown)}. The classes "
            f"are {_list_labels(classes)}."
        )
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=float)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"class_weight must have finite numbers of at least 0, got {class_weight!r}.")
    return weights


def read_labels(y: Table, n_rows: int) -> np.ndarray:
    """Return labels as a one-dimensional array, or raise an error that says what is wrong."""
    values = np.asarray(y)
    if np.ma.is_masked(y):
        raise ValueError("y must not have masked values; leave these rows out.")
    if values.dtype.kind in "fc":
        missing = ~np.isfinite(values)
    elif values.dtype.kind == "O":
        missing = np.array([type(v).__name__ in _NOT_THERE or v != v for v in values.ravel()], dtype=bool)
    else:
        missing = np.zeros(1, dtype=bool)
    if missing.any():
        raise ValueError(
            f"y contains {int(missing.sum())} labels that are missing, NaN or infinity (first in row "
            f"{int(missing.ravel().argmax())}). Leave these rows out, or give them a class of their own."
        )
    labels = column_or_1d(values, warn=True)
    if len(labels) != n_rows:
        raise ValueError(f"y must have one label for each of {n_rows} rows of X, got {len(labels)}.")
    if values.dtype.kind in "mM":
        raise ValueError("y must be class labels, got dates or times; convert them to text.")
    try:
        check_classification_targets(labels)
    except TypeError as error:
        raise ValueError("y must have labels of one type, got several, such as text and numbers.") from error
    except ValueError as error:
        raise ValueError(
            f"{error} TSKClassifier takes class labels. Use TSKRegressor for a numeric target, or turn it into "
            "classes, for example by thresholds."
        ) from error
    return labels


def _list_labels(labels: Any) -> str:
    shown = [repr(label.item() if hasattr(label, "item") else label) for label in list(labels)[:_SHOWN]]
    return shorten(", ".join(shown)) + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "")
