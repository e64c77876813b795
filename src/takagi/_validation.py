"""Checks of what users give to estimators: parameters, tables to train on, and rules to continue from."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from takagi import _compat
from takagi._checks import check_features, reject_bad_target, reject_huge, reject_text
from takagi._frames import accept_arrow
from takagi._messages import warn_user
from takagi._typing import FloatArray, Table

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase


class Interval(_compat.Interval):
    """A range of numbers without True and False, which would count as 1 and 0, and fail later."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number in the range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


class TrainingData(NamedTuple):
    """Checked training rows, and the facts about their table that a fitted estimator keeps."""

    X: FloatArray
    y: FloatArray  # of shape (n_rows, n_outputs)
    weight: FloatArray
    feature_names: Any  # array of str, or None
    target_names: Sequence[str] | None
    is_single_target: bool  # whether y is one-dimensional
    classes: Any = None  # array of labels, if targets are classes
    class_name: str | None = None  # of the column that has them


Validate: TypeAlias = Callable[..., TrainingData]  # validate_training, or its counterpart for classes


def validate_training(
    estimator: BaseEstimator, X: Table, y: Table, sample_weight: Table, min_rows: int = 2, reset: bool = True
) -> TrainingData:
    """Return checked rows; without `reset` the columns must be those of the fitted estimator.

    Sets `n_features_in_` and `feature_names_in_` of the estimator, which should be a copy of the user's.
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
    check_features(X, names, must_have_values=reset)
    targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    reject_huge(targets, "y", None)
    return TrainingData(X, targets, validate_weight(sample_weight, X), names, target_names, y.ndim == 1)


def validate_held_out(
    validate: Validate, estimator: BaseEstimator, X_val: Table, y_val: Table, n_outputs: int
) -> TrainingData:
    """Return validation rows, checked like the training rows; they must have the same columns."""
    if X_val is None or y_val is None:
        missing = "y_val" if y_val is None else "X_val"
        raise ValueError(f"X_val and y_val must be given together, but {missing} is missing.")
    reject_bad_target(y_val, "y_val")
    try:
        data = validate(estimator, X_val, y_val, None, min_rows=1, reset=False)
    except ValueError as error:
        raise ValueError(f"In X_val and y_val: {error}") from error
    if data.y.shape[1] != n_outputs:
        raise ValueError(f"y_val must have {n_outputs} target(s), like y, got {data.y.shape[1]}.")
    return data


def validate_weight(sample_weight: Table, X: FloatArray) -> FloatArray:
    """Return row weights, ones if there are none."""
    weight = _compat.check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return weight / weight.max() if weight.max() > 1e100 else weight  # so that their sum stays finite


def read_target_names(y: Table) -> list[str] | None:
    """Return the name or names of the target, if it has any."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [str(name)] if name else None


def check_start(rules: "RuleBase | None", n_outputs: int) -> None:
    """Raise an error if there are rules to continue from and they have another number of outputs."""
    if rules is not None and rules.n_outputs != n_outputs:
        raise ValueError(
            f"Training continues from rules with {rules.n_outputs} target(s), but y has {n_outputs}. To start over, "
            "set warm_start=False or clone the model."
        )


def make_rng(random_state: Any) -> np.random.Generator:
    """Return a NumPy generator, seeded by a scikit-learn `random_state`."""
    return np.random.default_rng(check_random_state(random_state).randint(2**32, size=4, dtype=np.uint64))


def tell_repeats(repeats: Sequence[tuple[int, int]], names: Sequence[str], X: FloatArray) -> None:
    """Warn about columns that repeat others; two 0/1 columns that repeat each other are usual, so no warning."""
    told = [(j, i) for j, i in repeats if len(np.unique(X[:, j])) > 2]
    if told:
        named = ", ".join(f"{names[j]} (repeats {names[i]})" for j, i in told[:5]) + (", ..." if len(told) > 5 else "")
        warn_user(f"Columns that repeat another column in other units are not used in the rules: {named}.")
