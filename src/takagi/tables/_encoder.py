"""The encoder: a data frame with text, categories, booleans, numbers and missing values becomes a matrix."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from takagi._checks import is_dask
from takagi._compat import StrOptions, fit_context
from takagi._dask import map_rows
from takagi._messages import warn_user
from takagi._typing import FloatArray, Table
from takagi._validation import Interval
from takagi.tables._cells import read_cells
from takagi.tables._column import MEAN, Column, list_origins
from takagi.tables._describe import describe_column
from takagi.tables._errors import ColumnWarning
from takagi.tables._matrix import TableColumns, accept_table, find_places, split_columns
from takagi.tables._means import cross_fit


class TableEncoder(TableColumns, TransformerMixin, BaseEstimator):
    """Turn a table with text, categories, booleans, numbers and missing values into a matrix of numbers.

    A number or boolean is one input, and so is each useful part of a date: the year or the days since the first date,
    the month, the weekday, the hour. If it is missing, the input is NaN, which rules can handle. A category has a 0/1
    input for each of its levels, and a missing value is a level like the others. For a level that was not in training,
    and for a missing value if training had none, all inputs are 0. Unknown levels give a warning.

    Text is a number if all values are numbers, also with one unit or currency, thousands separators or a decimal comma.
    Text of true and false is a boolean, and dates in one form are dates. The levels of an ordered category are
    numbered. Empty text, "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "null" and "missing", in lower or upper case, count
    as missing. A column without any value has no input. Columns are found by name: their order does not matter, and
    additional columns are ignored.

    If `fit` gets a numeric target, a category of more than `max_levels` levels is one number (target encoding): the
    mean of the target at the level, shrunk toward the mean of all, more so for levels with few rows. `fit_transform`,
    and so a pipeline, uses out-of-fold means: those for each fifth of the rows come from the other rows.

    Parameters
    ----------
    max_levels : int, default=20
        Largest number of levels of a category. If there are more, the most frequent ones are kept, and of these only
        those that occur more than once, so that a column of names or item numbers has no inputs.
    min_frequency : int, default=1
        Smallest number of rows of a level; rarer ones count as unknown.
    missing : {"keep", "fill"}, default="keep"
        How to encode a missing number, boolean or date. "keep": it stays missing, NaN. "fill", for models that cannot
        handle NaN: it is replaced by the training median, or for booleans by the more frequent value; if training had
        missing values, a second input marks them with 1.

    Attributes
    ----------
    columns_ : tuple of Column
        The description of each column, in the order of training.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.

    Examples
    --------
    >>> from takagi.tables import TableEncoder
    >>> table = [[1.5, "diesel", True], [None, "petrol", False], [2.5, "diesel", True]]
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['x0', 'x1=diesel', 'x1=petrol', 'x2']
    >>> encoder.transform(table)
    array([[1.5, 1. , 0. , 1. ],
           [nan, 0. , 1. , 0. ],
           [2.5, 1. , 0. , 1. ]])
    >>> TableEncoder(missing="fill").fit(table).get_feature_names_out().tolist()
    ['x0', 'x0=missing', 'x1=diesel', 'x1=petrol', 'x2']
    """

    _parameter_constraints = {  # noqa: RUF012
        "max_levels": [Interval(Integral, 1, None, closed="left")],
        "min_frequency": [Interval(Integral, 1, None, closed="left")],
        "missing": [StrOptions({"keep", "fill"})],
    }

    def __init__(self, max_levels: int = 20, min_frequency: int = 1, missing: str = "keep") -> None:
        self.max_levels = max_levels
        self.min_frequency = min_frequency
        self.missing = missing

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: Any = None) -> "TableEncoder":
        """Learn the kind and the levels of each column, and medians if they replace missing values.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            The table.
        y : array of shape (n_rows,), optional
            The target, for target encoding of categories with many levels.

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        X = accept_table(X, min_rows=1)
        validate_data(self, X, reset=True, skip_check_array=True)
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{k}" for k in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        limits, target = (self.max_levels, self.min_frequency), _read_target(y, X.shape[0])
        columns: list[Column] = []
        for name, values in zip(names, split_columns(X), strict=True):
            described = describe_column(read_cells(values, name), name, limits, target)
            columns += map(_keep_missing, described) if self.missing == "keep" else described
        _warn_of_texts(columns)
        self._store(tuple(columns))
        return self

    def fit_transform(self, X: Table, y: Any = None) -> FloatArray:
        """Fit to a table, and return its matrix.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            The table.
        y : array of shape (n_rows,), optional
            The target. Its means at the levels of a category are out-of-fold, so that they leak no target of a training
            row.

        Returns
        -------
        ndarray of shape (n_rows, n_inputs)
        """
        matrix = self.fit(X, y)._make_matrix(X)
        target, start = _read_target(y, len(matrix)), 0
        if target is None or not any(column.reading == MEAN for column in self.columns_):
            return matrix
        for column, values in zip(self.columns_, self.pick_columns(accept_table(X, min_rows=1)), strict=True):
            if column.reading == MEAN:
                codes = find_places(read_cells(values, column.origin), column)
                matrix[:, start] = cross_fit(codes, target, len(column.levels))
            start += len(column.inputs)
        return matrix

    def transform(self, X: Table) -> FloatArray:
        """Return the matrix of a table.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            A table with the columns of training, in any order if they have names.

        Returns
        -------
        ndarray of shape (n_rows, n_inputs)
        """
        check_is_fitted(self, "columns_")
        if is_dask(X):
            return map_rows(self.transform, X, sum(len(column.inputs) for column in self.columns_))
        return self._make_matrix(X)

    def show(self, X: Table) -> list[list[str]]:
        """Return the cells of a table as text, row by row, in the order of `columns_`.

        An unknown level is marked as such, and a missing number that is filled is shown with its fill.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            A table with the columns of training.

        Returns
        -------
        list of list of str

        Examples
        --------
        >>> from takagi.tables import TableEncoder
        >>> TableEncoder().fit([[1.5, "diesel"], [2.5, "petrol"]]).show([[None, "diesel"], [0.1, "wood"]])
        [['missing', 'diesel'], ['0.1', 'wood (unknown)']]
        """
        check_is_fitted(self, "columns_")
        return super().show(X)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Return the names of the matrix's columns, such as "age" and "fuel=diesel".

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the table's columns, for a table that had none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "columns_")
        columns = self.columns_ if input_features is None else self._rename(list(input_features))
        return np.array([name for column in columns for name in column.inputs], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _check_columns(self, X: Table) -> None:
        validate_data(self, X, reset=False, skip_check_array=True)

    def _rename(self, names: list[str]) -> list[Column]:
        if hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_, the names of training.")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(names)}."
            )
        renamed = dict(zip(list_origins(self.columns_), names, strict=True))
        return [
            replace(column, name=renamed[column.origin] + column.name.removeprefix(column.origin), source="")
            for column in self.columns_
        ]


def _keep_missing(column: Column) -> Column:
    """Return a column of numbers that keeps missing values; target-encoded words do not."""
    if column.kind == "category" or column.reading == MEAN:
        return column
    return replace(column, fill=None, has_missing=False)


def _warn_of_texts(columns: Sequence[Column]) -> None:
    """Warn about columns whose words are all too rare to be levels, and about constant dates."""
    texts = [one for one in columns if one.kind == "category" and one.has_others]
    names = [repr(one.name) for one in texts if len(one.levels) == one.has_missing]
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        warn_user(
            f"Columns of texts that hardly occur twice, or of one day, make no inputs: {shown}. If they are names or "
            "numbers of items, drop them; else put the texts into groups, or raise max_levels.",
            ColumnWarning,
        )


def _read_target(y: Any, n_rows: int) -> FloatArray | None:
    """Return a single numeric target, None if there is none, or several, or classes."""
    values = None if y is None else np.asarray(y)
    if values is None or values.dtype.kind not in "fiub" or values.size != n_rows:
        return None
    numbers = values.astype(float).ravel()
    return numbers if np.isfinite(numbers).all() else None
