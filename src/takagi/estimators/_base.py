"""Checks of the user's data, with errors that name the column."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from takagi._compat import check_sample_weight
from takagi._typing import FloatArray, Table
from takagi.estimators._rows import Rows


def validate_training(
    estimator: BaseEstimator, X: Table, y: Table, sample_weight: Table, min_rows: int = 2
) -> tuple[Rows, bool]:
    """Return checked rows, and whether the target came as one column of its own."""
    reject_text(X)
    X, y = validate_data(
        estimator, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False,
        ensure_min_samples=min_rows,
    )  # fmt: skip
    reject_missing(X, "X", getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    targets = _as_columns(y)
    reject_missing(targets, "y", None, type(estimator).__name__)
    return Rows(X, targets, validate_weight(sample_weight, X)), y.ndim == 1


def validate_held_out(estimator: BaseEstimator, X_val: Table, y_val: Table, n_outputs: int) -> Rows:
    """Return checked validation rows; they must have the columns of the training rows."""
    if X_val is None or y_val is None:
        missing = "y_val" if y_val is None else "X_val"
        raise ValueError(f"X_val and y_val go together, but {missing} is missing.")
    try:
        reject_text(X_val)
        X, y = validate_data(
            estimator, X_val, y_val, reset=False, dtype=np.float64, multi_output=True, y_numeric=True,
            ensure_all_finite=False,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"In X_val and y_val: {error}") from error
    reject_missing(X, "X_val", getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    targets = _as_columns(y)
    reject_missing(targets, "y_val", None, type(estimator).__name__)
    if targets.shape[1] != n_outputs:
        raise ValueError(f"y_val must have {n_outputs} target(s) as y has, got {targets.shape[1]}.")
    return Rows(X, targets, np.ones(len(X)))


def validate_rows(estimator: BaseEstimator, X: Table) -> FloatArray:
    """Return checked rows to predict."""
    reject_text(X)
    X = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite=False)
    reject_missing(X, "X", getattr(estimator, "feature_names_in_", None), type(estimator).__name__)
    return X


def validate_weight(sample_weight: Table, X: FloatArray) -> FloatArray:
    """Return row weights, ones if there are none."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must be positive for at least one row, but all weights are zero.")
    return weight


def reject_text(X: Any) -> None:
    """Raise an error that names the columns of a data frame that are not numbers."""
    columns, dtypes = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if columns is None or dtypes is None:
        return
    text = [str(name) for name, dtype in zip(columns, dtypes, strict=True) if _is_text(dtype)]
    if text:
        raise ValueError(
            f"X must be numbers, but {_list_columns(text)} not. Encode text and categories first, for example with "
            "sklearn.preprocessing.OneHotEncoder in a pipeline. (could not convert string to float)"
        )


def _is_text(dtype: Any) -> bool:
    name = str(dtype).lower()
    return any(word in name for word in ("str", "object", "categor", "enum", "utf8", "date", "time", "duration"))


def reject_missing(values: FloatArray, what: str, names: Sequence[str] | None, estimator: str) -> None:
    """Raise an error that names the columns with NaN or infinity."""
    if np.isfinite(values.sum()) or np.isfinite(values).all():
        return
    bad = ~np.isfinite(values)
    column = int(bad.any(axis=0).argmax())
    kind = "NaN" if np.isnan(values[:, column]).any() else "infinity"
    shown = names[column] if names is not None else column
    where = f" in column {shown!r}" if what.startswith("X") else ""
    raise ValueError(
        f"{what} contains {kind}{where} (first in row {int(bad[:, column].argmax())}; {int(bad.sum())} such values in "
        f"{int(bad.any(axis=0).sum())} column(s)). {estimator} takes finite numbers only (no NaN, no inf): drop these "
        "rows or fill them in, for example with sklearn.impute.SimpleImputer."
    )


def _list_columns(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
    return f"column {shown} is" if len(names) == 1 else f"columns {shown} are"


def _as_columns(y: FloatArray) -> FloatArray:
    return np.asarray(y, dtype=np.float64).reshape(len(y), -1)
