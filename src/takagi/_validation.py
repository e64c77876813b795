"""Checks of the user's rows, with errors that name the column."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from takagi._compat import check_sample_weight
from takagi._frames import accept_arrow
from takagi._kinds import find_type
from takagi._typing import FloatArray, Table

LARGEST = 1e300  # number to train on


class TrainingData(NamedTuple):
    """Checked rows to train on, and what a fitted estimator keeps of their table."""

    X: FloatArray
    y: FloatArray  # of shape (n_rows, n_outputs)
    weight: FloatArray
    feature_names: Any  # array of str, or None
    target_names: Sequence[str] | None
    is_single_target: bool  # whether y came as one column of its own
    classes: Any = None  # array of labels, if targets are classes
    class_name: str | None = None  # of the column that has them


Validate: TypeAlias = Callable[..., TrainingData]  # validate_training, or what takes its place for classes


def validate_training(
    estimator: BaseEstimator, X: Table, y: Table, sample_weight: Table, min_rows: int = 2, reset: bool = True
) -> TrainingData:
    """Return checked rows; without `reset` the columns must be those that the estimator knows.

    Sets `n_features_in_` and `feature_names_in_` of the estimator, which is best a copy of the user's.
    """
    X = accept_arrow(X)
    reject_text(X)
    if y is not None:
        reject_bad_target(y, "y")
    target_names = read_target_names(y)
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False,
        ensure_min_samples=min_rows, reset=reset,
    )  # fmt: skip
    names = getattr(estimator, "feature_names_in_", None)
    reject_missing(X, "X", names, type(estimator).__name__)
    targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    reject_huge(X, "X", names)
    reject_huge(targets, "y", None)
    return TrainingData(X, targets, validate_weight(sample_weight, X), names, target_names, y.ndim == 1)


def validate_held_out(
    validate: Validate, estimator: BaseEstimator, X_val: Table, y_val: Table, n_outputs: int
) -> TrainingData:
    """Return validation rows, checked as the training rows were, whose columns they must have."""
    if X_val is None or y_val is None:
        missing = "y_val" if y_val is None else "X_val"
        raise ValueError(f"X_val and y_val go together, but {missing} is missing.")
    reject_bad_target(y_val, "y_val")
    try:
        data = validate(estimator, X_val, y_val, None, min_rows=1, reset=False)
    except ValueError as error:
        raise ValueError(f"In X_val and y_val: {error}") from error
    if data.y.shape[1] != n_outputs:
        raise ValueError(f"y_val must have {n_outputs} target(s) as y has, got {data.y.shape[1]}.")
    return data


def validate_weight(sample_weight: Table, X: FloatArray) -> FloatArray:
    """Return row weights, ones if there are none."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weight / weight.max() if weight.max() > 1e100 else weight  # so that their sum stays finite


def read_target_names(y: Table) -> list[str] | None:
    """Return the name or names of the target, if it has any."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [str(name)] if name else None


def is_dask(values: Any) -> bool:
    """Whether something is a Dask array, data frame or series."""
    return type(values).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(values, "__dask_graph__")


def validate_rows(estimator: BaseEstimator, X: Table) -> FloatArray:
    """Return checked rows to predict."""
    names = getattr(estimator, "feature_names_in_", None)
    rows = _read_doubles(X, names, estimator.n_features_in_)
    if rows is None:
        X = accept_arrow(X)
        reject_text(X)
        rows = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite=False)
    reject_missing(rows, "X", names, type(estimator).__name__)
    return rows


def _read_doubles(X: Any, names: Any, n_features: int) -> FloatArray | None:
    """Return a matrix of doubles, or of a data frame with the known columns, and None for what needs more checks.

    For one row, those of scikit-learn take longer than the prediction.
    """
    values = X
    if names is not None:
        if not hasattr(X, "to_numpy") or list(getattr(X, "columns", ())) != list(names):
            return None
        values = X.to_numpy()
    is_plain = type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2
    return values if is_plain and len(values) and values.shape[1] == n_features else None


def reject_text(X: Any) -> None:
    """Raise an error that names the columns of a data frame that are not numbers."""
    _reject_kind(X, "X")
    columns, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if columns is None or dtypes is None:
        return
    if len(set(columns)) < len(columns):
        repeated = next(name for name in columns if list(columns).count(name) > 1)
        raise ValueError(f"X has several columns named {repeated!r}. Rename or drop all but one.")
    text = [str(name) for k, (name, dtype) in enumerate(zip(columns, dtypes, strict=True)) if _is_text(X, k, dtype)]
    if text:
        raise ValueError(
            f"X must be numbers, but {_list_columns(text)} not. Put takagi.TableEncoder() before the model in a "
            "pipeline; it takes text and categories as they are. (could not convert string to float)"
        )


def _is_text(X: Any, k: int, dtype: Any) -> bool:
    kind = find_type(dtype)
    if kind == "object" and hasattr(X, "iloc"):
        return any(isinstance(value, str) for value in X.iloc[:, k])
    return kind in ("text", "category", "date", "other")


def _reject_kind(values: Any, what: str) -> None:
    """Raise an error for what scikit-learn would silently take for numbers: dates, and the hidden values of a mask."""
    if getattr(getattr(values, "dtype", None), "kind", "") in ("M", "m"):
        raise ValueError(
            f"{what} must be numbers, got dates or times; turn them into numbers, such as days since a day."
        )
    if np.ma.is_masked(values):
        raise ValueError(f"{what} must not have masked values; fill them in first, for example with .filled().")


def reject_bad_target(y: Any, what: str) -> None:
    """Raise an error that says where a target is missing."""
    _reject_kind(y, what)
    try:
        values = np.asarray(y)
        values = values.astype(float) if values.dtype.kind != "c" else values
    except (TypeError, ValueError):
        return  # scikit-learn says what is wrong
    if values.ndim in (1, 2) and values.size and not np.isfinite(values).all():
        reject_missing(values.reshape(len(values), -1), what, None, "The model")


def check_targets(y: Table, n_rows: int, n_outputs: int, suffix: str = "") -> FloatArray:
    """Return finite targets of shape (n_rows, n_outputs) for rows of a fitted model; `suffix` as in X_val, y_val."""
    reject_bad_target(y, f"y{suffix}")
    targets = np.asarray(y, dtype=float)
    if targets.shape[:1] != (n_rows,) or targets.size != n_rows * n_outputs:
        raise ValueError(
            f"y{suffix} must have {n_outputs} target(s) for each of {n_rows} rows of X{suffix}, got shape "
            f"{targets.shape}."
        )
    if not n_rows:
        raise ValueError(f"X{suffix} must have at least one row, got none.")
    return targets.reshape(n_rows, n_outputs)


def are_finite(values: FloatArray) -> bool:
    """Return whether all numbers are finite; one look at their sum tells nearly always."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def reject_missing(values: FloatArray, what: str, names: Sequence[str] | None, estimator: str) -> None:
    """Raise an error that names the columns with NaN or infinity."""
    if are_finite(values):
        return
    bad = ~np.isfinite(values)
    column = int(bad.any(axis=0).argmax())
    kind = "NaN" if np.isnan(values[:, column]).any() else "infinity"
    shown = names[column] if names is not None else column
    where = f" in column {shown!r}" if what.startswith("X") else ""
    raise ValueError(
        f"{what} contains {kind}{where} (first in row {int(bad[:, column].argmax())}; {int(bad.sum())} such values in "
        f"{int(bad.any(axis=0).sum())} column(s)). {estimator} takes finite numbers only (no NaN, no inf): drop these "
        "rows, fill them in, or put takagi.TableEncoder() before the model in a pipeline."
    )


def reject_huge(values: FloatArray, what: str, names: Sequence[str] | None) -> None:
    """Raise an error that names the column of a number too large to train on: means and ranges would overflow."""
    if not values.size or max(values.max(), -values.min()) <= LARGEST:
        return
    row, column = np.argwhere(np.abs(values) > LARGEST)[0]
    where = f" in column {(names[column] if names is not None else int(column))!r}" if what == "X" else ""
    raise ValueError(
        f"{what} has numbers beyond {LARGEST:g}{where} (first in row {row}), which are too large to train on: divide "
        "them by a power of ten, or drop these rows."
    )


def _list_columns(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"
