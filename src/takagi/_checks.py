"""Checks that need only NumPy, with clear errors: rows to predict, and arrays of rules."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from takagi._frames import accept_arrow
from takagi._kinds import find_type
from takagi._messages import unknown_name
from takagi._typing import FloatArray, Table

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase

N_LEVELS = 21  # of the quantiles of a profile
LARGEST = 1e300  # largest number to train on
LINKS = ("identity", "logit", "softmax")  # kinds of outputs of rules
_WIDE = 1_000  # numbers that are compared at a time; fewer would take longer than the comparison itself


def is_dask(values: Any) -> bool:
    """Whether something is a Dask array, data frame or series."""
    return type(values).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(values, "__dask_graph__")


def validate_rows(estimator: Any, X: Table) -> FloatArray:
    """Return checked rows to predict."""
    names = getattr(estimator, "feature_names_in_", None)
    rows = _read_doubles(X, names, estimator.n_features_in_)
    if rows is None:
        X = accept_arrow(X)
        reject_text(X)
        from sklearn.utils.validation import validate_data  # takes a second, and plain rows do not need it

        rows = validate_data(estimator, X, reset=False, dtype=np.float64, ensure_all_finite=False)
    reject_infinite(rows, names)
    return rows


def _read_doubles(X: Any, names: Any, n_features: int) -> FloatArray | None:
    """Return a matrix of doubles, also from a data frame with the known columns; None if more checks are needed.

    For one row, the checks of scikit-learn take longer than the prediction.
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
    """Raise an error for dates and masked values, which scikit-learn would silently accept as numbers."""
    if getattr(getattr(values, "dtype", None), "kind", "") in ("M", "m"):
        raise ValueError(
            f"{what} must be numbers, got dates or times; convert them to numbers, such as days since a date."
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


def check_targets(y: Table, n_rows: int, n_outputs: int) -> FloatArray:
    """Return finite targets of shape (n_rows, n_outputs) for rows of a fitted model."""
    reject_bad_target(y, "y")
    targets = np.asarray(y, dtype=float)
    if targets.shape[:1] != (n_rows,) or targets.size != n_rows * n_outputs:
        raise ValueError(
            f"y must have {n_outputs} target(s) for each of {n_rows} rows of X, got shape {targets.shape}."
        )
    if not n_rows:
        raise ValueError("X must have at least one row, got none.")
    return targets.reshape(n_rows, n_outputs)


def are_finite(values: FloatArray) -> bool:
    """Return whether all numbers are finite; their sum is nearly always enough to decide."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def lie_within(rows: FloatArray, limits: FloatArray) -> bool:
    """Whether all values of rows lie within limits.

    Many rows are compared as one long row, which is several times faster for few columns.
    """
    low, high = limits.T
    n_side = _WIDE // max(1, len(low))
    if len(rows) > 2 * n_side > 2 and rows.flags.c_contiguous:
        n_wide = len(rows) // n_side
        wide, rows = rows[: n_wide * n_side].reshape(n_wide, -1), rows[n_wide * n_side :]
        if (wide < np.tile(low, n_side)).any() or (wide > np.tile(high, n_side)).any():
            return False
    return not ((rows < low).any() or (rows > high).any())


def check_features(X: FloatArray, names: Sequence[str] | None, must_have_values: bool) -> None:
    """Raise an error for features that cannot be trained on: infinite or huge ones, or a column without any value."""
    reject_infinite(X, names)
    reject_huge(X, "X", names)
    if must_have_values and not are_finite(X) and (empty := np.isnan(X).all(axis=0)).any():
        column = int(empty.argmax())
        raise ValueError(
            f"X has no value in column {(names[column] if names is not None else column)!r}: all are missing (NaN). "
            "Drop the column, or put takagi.TableEncoder() before the model in a pipeline, which does so."
        )


def reject_infinite(X: FloatArray, names: Sequence[str] | None) -> None:
    """Raise an error that names the first column with infinity; NaN is a missing value."""
    if are_finite(X) or not (bad := np.isinf(X)).any():
        return
    column = int(bad.any(axis=0).argmax())
    raise ValueError(
        f"X contains infinity in column {(names[column] if names is not None else column)!r} (first in row "
        f"{int(bad[:, column].argmax())}; {int(bad.sum())} such values in {int(bad.any(axis=0).sum())} column(s)). Put "
        "NaN where a value is missing, or drop these rows: numbers must be finite (no inf)."
    )


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
    if not values.size or max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)) <= LARGEST:
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


# -- rule bases --------------------------------------------------------------------------------------------------------


def check_rule_shapes(rules: "RuleBase") -> None:
    """Raise an error for arrays of a rule base that do not fit together."""
    centers, consequents = rules.centers, rules.consequents
    for name in ("antecedent_projection", "consequent_projection"):
        if getattr(rules, name) is not None and getattr(rules, name).ndim != 2:
            raise ValueError(f"{name} must have two dimensions, got shape {getattr(rules, name).shape}.")
    if centers.ndim != 2 or centers.shape[0] < 1 or rules.widths.shape != centers.shape:
        raise ValueError(
            "centers and widths must have the same shape (n_rules, n_inputs) with at least one rule, "
            f"got {centers.shape} and {rules.widths.shape}."
        )
    if consequents.ndim != 3 or consequents.shape[0] != len(centers) or consequents.shape[1] < 1:
        raise ValueError(
            f"consequents must have shape (n_rules, n_outputs, n_inputs + 1) with n_rules={len(centers)}, "
            f"got {consequents.shape}."
        )
    if rules.n_features < 1:
        raise ValueError(f"centers must have at least one feature besides projections, got shape {centers.shape}.")
    for name in ("antecedent_projection", "consequent_projection"):
        projection = getattr(rules, name)
        if projection is not None and len(projection) != rules.n_features + 1:
            expected = rules.n_features + 1
            raise ValueError(f"{name} must have n_features + 1 = {expected} rows, got shape {projection.shape}.")
    n_inputs = rules.n_features + rules.n_projected_consequents + len(rules.bends)
    if consequents.shape[2] != n_inputs + 1:
        raise ValueError(
            f"consequents must have {n_inputs + 1} numbers per rule and output (a bias and {n_inputs} slopes), "
            f"got {consequents.shape[2]}."
        )
    for name, count in (("feature_names", rules.n_features), ("output_names", rules.n_outputs)):
        if getattr(rules, name) is not None and len(getattr(rules, name)) != count:
            raise ValueError(f"{name} must be {count} names, got {len(getattr(rules, name))}.")
    if rules.bends and not (rules.antecedent_projection is None and rules.consequent_projection is None):
        raise ValueError("bends and projections cannot be combined.")
    if any(bend.feature >= rules.n_features for bend in rules.bends):
        raise ValueError(
            f"bends must refer to features 0 to {rules.n_features - 1}, got {max(b.feature for b in rules.bends)}."
        )
    if rules.intervals is not None and rules.intervals.shape != (rules.n_rules, rules.n_features, 2):
        raise ValueError(
            f"intervals must have shape {(rules.n_rules, rules.n_features, 2)}, got {rules.intervals.shape}."
        )
    if rules.limits is not None and rules.limits.shape != (rules.n_features, 2):
        raise ValueError(f"limits must have shape {(rules.n_features, 2)}, got {rules.limits.shape}.")
    if rules.usual is not None and rules.usual.shape != (rules.n_rules, rules.n_features):
        raise ValueError(f"usual must have shape {(rules.n_rules, rules.n_features)}, got {rules.usual.shape}.")
    if rules.usual is not None and (rules.n_projected or rules.consequent_projection is not None):
        raise ValueError("usual and projections cannot be combined: a projection needs every value.")
    if rules.sets is not None and rules.sets.shape != centers.shape:
        raise ValueError(f"sets must have the shape of centers {centers.shape}, got {rules.sets.shape}.")


def check_rule_values(rules: "RuleBase") -> None:
    """Raise an error for invalid numbers and texts of a rule base."""
    if rules.link not in LINKS:
        raise unknown_name("link", rules.link, LINKS)
    if (rules.link == "logit" and rules.n_outputs > 1) or (rules.link == "softmax" and rules.n_outputs < 2):
        raise ValueError(f"link 'logit' is for one output and 'softmax' for several, got {rules.n_outputs} outputs.")
    for name in ("centers", "consequents", "antecedent_projection", "consequent_projection"):
        if getattr(rules, name) is not None and not np.isfinite(getattr(rules, name)).all():
            raise ValueError(f"{name} must be finite numbers, got NaN or infinity.")
    for name, what in (("intervals", "an interval"), ("limits", "a feature")):
        if getattr(rules, name) is not None and not _are_intervals(getattr(rules, name)):
            raise ValueError(
                f"the lower limit of {what} must not be above the upper limit, and neither may be NaN. "
                "Where there is no limit, use minus infinity or infinity."
            )
    if rules.usual is not None and not _are_columns(rules.usual):
        raise ValueError("usual must have, for each feature, a finite number for every rule or NaN for all rules.")
    if not (rules.widths > 0).all():
        raise ValueError(f"widths must be positive, got {rules.widths.min()}.")
    profile = rules.profile
    if profile is not None and (
        profile.share.shape != (rules.n_rules,)
        or profile.mean.shape != (rules.n_features,)
        or profile.quantiles.shape != (N_LEVELS, rules.n_features)
        or profile.output_quantiles.shape != (N_LEVELS, rules.n_outputs)
    ):
        raise ValueError(
            f"profile must have {rules.n_rules} rules, {rules.n_features} features and {rules.n_outputs} outputs, got "
            f"{len(profile.share)}, {len(profile.mean)} and {profile.output_quantiles.shape[-1]}."
        )
    if rules.tied_projection and not np.array_equal(rules.antecedent_projection, rules.consequent_projection):  # type: ignore[arg-type]
        raise ValueError("tied_projection=True needs two equal projections.")
    if rules.sets is not None and not _is_tied(rules):
        raise ValueError(
            "rules that share a set (equal entries in a column of sets) must have equal centers and widths."
        )


def _are_intervals(limits: FloatArray) -> bool:
    low, high = limits[..., 0], limits[..., 1]
    return bool(((low <= high) & (low < np.inf) & (high > -np.inf)).all())


def _are_columns(usual: FloatArray) -> bool:
    is_known = np.isfinite(usual)
    return bool((is_known.all(axis=0) | np.isnan(usual).all(axis=0)).all())


def _is_tied(rules: "RuleBase") -> bool:
    assert rules.sets is not None
    first = [np.unique(column, return_index=True, return_inverse=True)[1:] for column in rules.sets.T]
    leader = np.column_stack([index[inverse] for index, inverse in first])
    along = [np.take_along_axis(values, leader, axis=0) for values in (rules.centers, rules.widths)]
    return np.array_equal(along[0], rules.centers) and np.array_equal(along[1], rules.widths)
