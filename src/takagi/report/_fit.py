"""The fit of the rules: scores beside those of simple models, residuals, and the training history."""

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, cross_val_predict

from takagi._scoring import make_ridge, mark_missing, score_predictions
from takagi._typing import FloatArray
from takagi._wording import name_outputs
from takagi.profile import spread_rows
from takagi.rulemodel import RuleModel
from takagi.scores import COVERAGE

_N_FOLDS = 5
_MOST_RIDGE_ROWS = 20_000
_MOST_POINTS = 800
_MOST_ITERATIONS = 300
_FEW_SEEN = 0.02  # largest fraction of training rows for which a score still counts as held-out


def score_outputs(
    rules: RuleModel, rows: FloatArray, target: FloatArray, said: dict[str, FloatArray], random_state: Any
) -> list[dict[str, Any]]:
    """Return RMSE and R2 of models, given predictions by name, of ridge regression and of the mean, for each output."""
    ridge_target, ridge = _predict_ridge(rows, target, random_state)
    scores = []
    for k, name in enumerate(name_outputs(rules)):
        actual = target[:, k]
        rivals = [score_predictions(who, actual, prediction[:, k]) for who, prediction in said.items()]
        if ridge is not None:
            rivals.append(score_predictions("Ridge regression", ridge_target[:, k], ridge[:, k]))
        rivals.append(score_predictions("The mean", actual, np.full(len(actual), actual.mean())))
        scores.append({"output": name, "scores": rivals})
    return scores


def measure_seen(regressor: Any, rows: FloatArray, target: FloatArray) -> float:
    """Return which part of some rows trained a model; NaN if it does not know."""
    known = getattr(regressor, "known_rows_", None)
    return np.nan if known is None else known.find_part(rows, target)


def find_kept_scores(regressor: Any, seen: float) -> dict[str, Any] | None:
    """Return the scores that a model keeps of its fit, and whether they are to be shown; None if it has none.

    They are, if more than a few of the rows of a report trained the model, or if that is not known.
    """
    sheet = getattr(regressor, "scores_", None)
    if sheet is None:
        return None
    return {
        **{name: getattr(sheet, name) for name in ("measure", "second", "method", "n_rows")},
        "coverage": COVERAGE,
        "scores": [asdict(score) for score in sheet.scores],
        "verdict": sheet.describe(),
        "seen": seen,
        "is_shown": not seen <= _FEW_SEEN,
    }


def _predict_ridge(rows: FloatArray, target: FloatArray, random_state: Any) -> tuple[FloatArray, FloatArray | None]:
    """Return targets and out-of-fold predictions of ridge regression; None if there are too few rows."""
    sample = spread_rows(len(rows), _MOST_RIDGE_ROWS)
    rows, target = mark_missing(rows[sample]), target[sample]
    if len(rows) < 2 * _N_FOLDS:
        return target, None
    rows, peak = rows / _find_peak(rows), _find_peak(target)
    folds = KFold(_N_FOLDS, shuffle=True, random_state=random_state)
    return target, peak * cross_val_predict(make_ridge(), rows, target / peak, cv=folds).reshape(target.shape)


def _find_peak(values: FloatArray) -> FloatArray:
    """Return the largest absolute value of each column, 1 if it is 0; columns divided by it can be squared."""
    peak = np.abs(values).max(axis=0)
    return np.where(peak > 0, peak, 1.0)


def find_residuals(target: FloatArray, prediction: FloatArray) -> list[dict[str, Any]]:
    """Return for each output some pairs of actual and predicted values, and the histogram of the residuals."""
    index = spread_rows(len(target), _MOST_POINTS)
    found = []
    for k in range(target.shape[1]):
        residual = target[:, k] - prediction[:, k]
        reach = float(np.abs(residual).max()) or 1.0
        found.append(
            {
                "actual": [_round(value) for value in target[index, k]],
                "predicted": [_round(value) for value in prediction[index, k]],
                "reach": reach,
                "counts": np.histogram(residual, bins=31, range=(-reach, reach))[0],
                "within": [np.quantile(np.abs(residual), part) for part in (0.5, 0.9)],
            }
        )
    return found


def summarize_history(regressor: Any) -> dict[str, Any] | None:
    """Return the training history, at most 300 points of each curve; None if there was no training."""
    history = getattr(regressor, "history_", None)
    if not history or not len(history["val_loss"]) or regressor.stopped_ == "logistic":  # one step without batches
        return None
    n_points = len(history["val_loss"])
    iterations = np.asarray(history.get("iteration", np.arange(1, n_points + 1)), dtype=np.intp)
    edges = np.unique(np.linspace(0, n_points, min(n_points, _MOST_ITERATIONS) + 1).astype(np.intp))
    best, has_validation = int(regressor.best_iter_), bool(np.isfinite(history["val_loss"]).any())
    return {
        "iterations": iterations[edges[1:] - 1],
        "n_iter": int(iterations[-1]),
        "train_loss": _thin(history["train_loss"], edges),
        "val_loss": _thin(history["val_loss"], edges) if has_validation else [],
        "best_iter": best,
        "best_loss": history["val_loss"][np.searchsorted(iterations, best)] if best and has_validation else None,
        "stopped": str(regressor.stopped_),
    }


def _thin(values: FloatArray, edges: np.ndarray) -> list[float]:
    """Return the means between edges, rounded."""
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return [_round(value) for value in means]


def _round(value: float) -> float:
    return float(f"{value:.6g}")
