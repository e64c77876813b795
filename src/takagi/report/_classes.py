"""The fit of a classifier: scores beside those of simple models, the confusion matrix, and curves of probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from takagi._scoring import make_logistic, mark_missing
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.profile import spread_rows
from takagi.training import LogLoss

_N_FOLDS = 5
_MOST_LOGISTIC_ROWS = 20_000
_MOST_CLASSES = 12  # in the confusion matrix; the least frequent others are one row and column
_MOST_POINTS = 200
_N_BINS = 10
_N_STEPS = 100  # of the threshold's slider


def score_classes(
    rows: FloatArray, target: FloatArray, said: dict[str, FloatArray], random_state: Any
) -> list[dict[str, Any]]:
    """Return log loss and accuracy of models, given outputs by name, of logistic regression and of the frequencies."""
    code = number_classes(target)
    rivals = [*(_score(who, target, outputs) for who, outputs in said.items())]
    rivals += _score_logistic(rows, code, random_state)
    frequencies = np.bincount(code) / len(code)
    known = frequencies[frequencies > 0]
    rivals.append({"who": "The frequencies", "log_loss": float(-(known @ np.log(known))), "accuracy": known.max()})
    return [{"output": None, "scores": rivals}]


def _score(who: str, target: FloatArray, outputs: FloatArray) -> dict[str, Any]:
    return {
        "who": who,
        "log_loss": float(LogLoss().measure_rows(outputs, target).mean()),
        "accuracy": float((number_classes(outputs, middle=0.0) == number_classes(target)).mean()),
    }


def _score_logistic(rows: FloatArray, code: IntArray, random_state: Any) -> list[dict[str, Any]]:
    """Return the scores of out-of-fold predictions of logistic regression; none if a class has too few rows."""
    sample = spread_rows(len(rows), _MOST_LOGISTIC_ROWS)
    classes, code = np.unique(code[sample], return_inverse=True)
    if len(classes) < 2 or np.bincount(code).min() < _N_FOLDS:
        return []
    rows = mark_missing(rows[sample])
    rows = rows / np.maximum(np.abs(rows).max(axis=0), np.finfo(float).tiny)
    folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=random_state)
    outputs = cross_val_predict(make_logistic(), rows, code, cv=folds, method="decision_function")
    target = np.eye(len(classes))[code] if len(classes) > 2 else code[:, None].astype(float)
    return [_score("Logistic regression", target, outputs.reshape(len(code), -1))]


def number_classes(values: FloatArray, middle: float = 0.5) -> IntArray:
    """Return the class of each row, given targets or outputs: for two classes, the second one above a threshold."""
    return values.argmax(axis=1) if values.shape[1] > 1 else (values[:, 0] > middle).astype(np.intp)


def describe_classes(classes: Sequence[str], target: FloatArray, probability: FloatArray) -> dict[str, Any]:
    """Return the confusion matrix, and for each output the curves of its probability."""
    two = len(classes) == 2
    return {
        **_count_confusion(classes, number_classes(target), number_classes(probability)),
        "curves": [_draw_curves(target[:, k] > 0.5, probability[:, k]) for k in range(target.shape[1])],
        "at_least": [_count_above(probability[target[:, 0] == label, 0]) for label in (0, 1)] if two else None,
    }


def _count_confusion(classes: Sequence[str], actual: IntArray, predicted: IntArray) -> dict[str, Any]:
    """Return the confusion matrix: rows of each actual class by predicted class."""
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (actual, predicted), 1)
    names = list(classes)
    if len(names) > _MOST_CLASSES:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        kept, others = np.sort(order[: _MOST_CLASSES - 1]), order[_MOST_CLASSES - 1 :]
        for axis in (0, 1):
            joined = counts.take(others, axis=axis).sum(axis=axis, keepdims=True)
            counts = np.concatenate([counts.take(kept, axis=axis), joined], axis=axis)
        names = [*(names[k] for k in kept), f"{len(others)} others"]
    return {"names": names, "confusion": counts}


def _draw_curves(is_class: BoolArray, probability: FloatArray) -> dict[str, Any]:
    """Return the reliability curve, in bins of equal counts, and the ROC curve if both kinds of rows occur."""
    bins = np.array_split(np.argsort(probability, kind="stable"), min(_N_BINS, len(probability)))
    curves: dict[str, Any] = {
        "predicted": [probability[part].mean() for part in bins],
        "actual": [is_class[part].mean() for part in bins],
        "roc": None,
    }
    if 0 < is_class.sum() < len(is_class):
        false, true, _ = roc_curve(is_class, probability)
        kept = spread_rows(len(false), _MOST_POINTS)
        area = roc_auc_score(is_class, probability)
        curves["roc"] = {"false": np.round(false[kept], 4), "true": np.round(true[kept], 4), "area": area}
    return curves


def _count_above(probability: FloatArray) -> IntArray:
    """Return how many probabilities reach each step of the threshold, from 0 to 1."""
    ordered = np.sort(probability)
    return len(ordered) - np.searchsorted(ordered, np.arange(_N_STEPS + 1) / _N_STEPS)
