"""Tables as they are: a data frame with text, categories, booleans, numbers and missing values becomes a matrix."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from takagi._compat import Interval, fit_context
from takagi._dask import map_rows
from takagi._messages import find_nearest, warn_user
from takagi._text import format_number
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import is_dask
from takagi.tables._cells import Cells, as_numbers, as_truth, as_words, find_kind, read_cells
from takagi.tables._errors import ColumnWarning

MISSING = "missing"


@dataclass(frozen=True)
class Column:
    """What an encoder knows of one column of a table.

    Parameters
    ----------
    name : str
        Its name, or ``x0, x1, ...`` in a table without names.
    kind : {"number", "boolean", "category"}
        How it is read.
    levels : tuple of str, default=()
        Of a category, the words that have an input of their own, sorted; "missing" comes last.
    fill : float, default=0.0
        Of a number or boolean, what stands for a missing value: the median, or the more frequent of 0 and 1.
    has_missing : bool, default=False
        Whether values were missing in training, so that an input of its own marks them.
    has_others : bool, default=False
        Of a category, whether training had words beyond its levels, because they were rare.

    Examples
    --------
    >>> from takagi.tables import Column
    >>> Column("age", "number", fill=41.0, has_missing=True).inputs
    ('age', 'age=missing')
    >>> Column("fuel", "category", levels=("diesel", "petrol")).inputs
    ('fuel=diesel', 'fuel=petrol')
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: float = 0.0
    has_missing: bool = False
    has_others: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns of the matrix that it makes; none if it never had a value."""
        if self.kind == "category":
            return tuple(f"{self.name}={level}" for level in self.levels)
        return (self.name, f"{self.name}={MISSING}") if self.has_missing else (self.name,)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with text, categories, booleans, numbers and missing values into a matrix of numbers.

    A number or boolean is one input. A missing number is replaced by the training median, a missing boolean by the more
    frequent value, and where training had missing values a second input marks them with 1. A category is one 0/1 input
    for each of its levels, and a missing value is a level like the others. A level that training did not have, and a
    missing value where training had none, is none of them: all inputs are 0. Levels never seen are warned of once.

    Text all of whose values are numbers is a number, and text of true and false a boolean. Empty text, "?", "NA",
    "N/A", "#N/A", "<NA>", "NaN", "null" and "missing", in small letters or capitals, count as missing. A column
    without any value makes no input. Columns go by their names: their order does not matter, and further ones are
    left out.

    Parameters
    ----------
    max_levels : int, default=20
        Most levels of a category. If there are more, the most frequent ones are kept, and of these only those that
        occur more than once, so that a column of names or numbers of items makes no inputs.
    min_frequency : int, default=1
        Rows that a level must occur in; rarer ones are treated as none of the levels.

    Attributes
    ----------
    columns_ : tuple of Column
        What is known of each column, in the order of training.
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
    ['x0', 'x0=missing', 'x1=diesel', 'x1=petrol', 'x2']
    >>> encoder.transform(table)
    array([[1.5, 0. , 1. , 0. , 1. ],
           [2. , 1. , 0. , 1. , 0. ],
           [2.5, 0. , 1. , 0. , 1. ]])
    """

    _parameter_constraints = {  # noqa: RUF012
        "max_levels": [Interval(Integral, 1, None, closed="left")],
        "min_frequency": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, max_levels: int = 20, min_frequency: int = 1) -> None:
        self.max_levels = max_levels
        self.min_frequency = min_frequency

    @classmethod
    def from_columns(cls, columns: Sequence[Column], *, has_names: bool = True, **params: Any) -> "TableEncoder":
        """Return a fitted encoder from what it knows of its columns.

        Parameters
        ----------
        columns : sequence of Column
            As in `columns_`.
        has_names : bool, default=True
            Whether the table has names to look columns up by.
        **params : dict
            Parameters of the encoder.

        Returns
        -------
        TableEncoder
            The fitted encoder.

        Examples
        --------
        >>> from takagi.tables import Column, TableEncoder
        >>> TableEncoder.from_columns([Column("x0", "boolean")], has_names=False).transform([["true"]])
        array([[1.]])
        """
        encoder = cls(**params)
        encoder._store(tuple(columns))
        encoder.n_features_in_ = len(columns)
        if has_names:
            encoder.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        return encoder

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: Any = None) -> "TableEncoder":
        """Find out what each column is, and remember levels and medians.

        Parameters
        ----------
        X : data frame or array of shape (n_rows, n_columns)
            The table.
        y : None
            Not used.

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        X = _check_table(X, min_rows=1)
        validate_data(self, X, reset=True, skip_check_array=True)
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{k}" for k in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        columns = [
            _describe(read_cells(values, name), name, self.max_levels, self.min_frequency)
            for name, values in zip(names, _split(X), strict=True)
        ]
        _warn_of_texts(columns)
        self._store(tuple(columns))
        return self

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
        X = _check_table(X, min_rows=0)
        matrix = np.empty((len(X), sum(len(column.inputs) for column in self.columns_)))
        start = 0
        for column, values in zip(self.columns_, self.pick_columns(X), strict=True):
            stop = start + len(column.inputs)
            if stop > start:
                self._encode(read_cells(values, column.name), column, matrix[:, start:stop])
            start = stop
        return matrix

    def show(self, X: Table) -> list[list[str]]:
        """Return the cells of a table as text, row by row, in the order of `columns_`.

        A missing number tells what it is taken as, and a level never seen is said to be unknown.

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
        [['missing (taken as 2)', 'diesel'], ['0.1', 'wood (unknown)']]
        """
        check_is_fitted(self, "columns_")
        X = _check_table(X, min_rows=0)
        read = [
            read_cells(values, column.name) for column, values in zip(self.columns_, self.pick_columns(X), strict=True)
        ]
        shown = [_show_cells(cells, column) for column, cells in zip(self.columns_, read, strict=True)]
        return [list(row) for row in zip(*shown, strict=True)]

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Return the names of the matrix's columns, such as "age", "age=missing" and "fuel=diesel".

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

    def _store(self, columns: tuple[Column, ...]) -> None:
        repeated = [name for name, n in Counter(n for column in columns for n in column.inputs).items() if n > 1]
        if repeated:
            raise ValueError(f"Two columns of X make inputs of one name, {repeated[0]!r}. Rename one of them.")
        if not any(column.inputs for column in columns):
            raise ValueError("X has no column to learn from: each is empty, or text with hardly a word twice.")
        self.columns_ = columns
        self._told: set[str] = set()

    def pick_columns(self, X: Table) -> list[Any]:
        """Return the columns of training, by name if there are names, else by place."""
        names = getattr(self, "feature_names_in_", None)
        given = list(X.columns) if _is_frame(X) else []
        if names is None or not given or not all(isinstance(name, str) for name in given):
            validate_data(self, X, reset=False, skip_check_array=True)
            return _split(X)
        known = set(given)
        lacking = [name for name in names if name not in known]
        if lacking:
            raise _lacking_error(lacking, given)
        return [X[name] for name in names]

    def _encode(self, cells: Cells, column: Column, out: FloatArray) -> None:
        """Write the inputs of one column."""
        if column.kind == "category":
            codes, words = as_words(cells)
            place = {level: k for k, level in enumerate(column.levels)}
            index = np.array([*(place.get(word, -1) for word in words), place.get(MISSING, -1)])[codes]
            self._tell_unseen(column, Counter({words[k]: n for k, n in _count(codes) if words[k] not in place}))
            out[:] = index[:, None] == np.arange(len(column.levels))
            return
        values = (as_numbers if column.kind == "number" else as_truth)(cells, column.name)
        missing = np.isnan(values)
        out[:, 0] = np.where(missing, column.fill, values)
        if column.has_missing:
            out[:, 1] = missing

    def _tell_unseen(self, column: Column, unseen: "Counter[str]") -> None:
        if not unseen or column.has_others or column.name in self._told:
            return
        self._told.add(column.name)
        shown = ", ".join(f"{word!r} in {count} row(s)" for word, count in unseen.most_common(3))
        warn_user(
            f"Column {column.name!r} has {len(unseen)} level(s) that training did not have: {shown}"
            f"{', ...' if len(unseen) > 3 else ''}. A level never seen is treated as none of the known ones; this is "
            "told once a column.",
            UserWarning,
        )

    def _rename(self, names: list[str]) -> list[Column]:
        if hasattr(self, "feature_names_in_") and names != list(self.feature_names_in_):
            raise ValueError("input_features is not equal to feature_names_in_, the names of training.")
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(names)}."
            )
        return [replace(column, name=str(name)) for column, name in zip(self.columns_, names, strict=True)]


def _show_cells(cells: Cells, column: Column) -> list[str]:
    if column.kind == "category":
        codes, words = as_words(cells)
        is_known = column.has_others or not column.levels
        shown = [word if is_known or word in column.levels else f"{word} (unknown)" for word in words] + [MISSING]
        return [shown[code] for code in codes]
    values = (as_numbers if column.kind == "number" else as_truth)(cells, column.name)
    write = format_number if column.kind == "number" else lambda value: str(bool(value)).lower()
    return [f"{MISSING} (taken as {write(column.fill)})" if np.isnan(value) else write(value) for value in values]


def _describe(cells: Cells, name: str, max_levels: int, min_frequency: int) -> Column:
    """Find out what a column is, and what stands for its missing values."""
    kind = find_kind(cells)
    if kind == "nothing":
        return Column(name, "category", has_missing=True, has_others=True)
    if kind == "category":
        codes, words = as_words(cells)
        counts = {words[k]: count for k, count in _count(codes)}
        levels = _choose_levels(counts, max_levels, min_frequency)
        has_missing = bool((codes < 0).any())
        return Column(name, kind, tuple(levels + [MISSING] * has_missing), 0.0, has_missing, len(levels) < len(counts))
    values = (as_numbers if kind == "number" else as_truth)(cells, name)
    missing = np.isnan(values)
    present = values[~missing] if missing.any() else values
    fill = 2 * float(np.median(0.5 * present)) if kind == "number" else float(present.mean() > 0.5)  # no overflow
    return Column(name, kind, (), fill, bool(missing.any()))


def _count(codes: IntArray) -> list[tuple[int, int]]:
    """Return the codes that occur, and how often; missing values are not counted."""
    return [(k, count) for k, count in enumerate(np.bincount(codes[codes >= 0]).tolist()) if count]


def _warn_of_texts(columns: Sequence[Column]) -> None:
    """Warn of columns all of whose words are too rare to be levels."""
    names = [repr(column.name) for column in columns if column.has_others and len(column.levels) == column.has_missing]
    if names:
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        warn_user(
            f"Columns of texts that hardly occur twice make no inputs: {shown}. If they are names or numbers of items, "
            "drop them; else put the texts into groups, or raise max_levels.",
            ColumnWarning,
        )


def _choose_levels(counts: dict[str, int], max_levels: int, min_frequency: int) -> list[str]:
    levels = sorted(word for word, count in counts.items() if count >= min_frequency)
    if len(levels) > max_levels:
        frequent = sorted((word for word in levels if counts[word] > 1), key=lambda word: -counts[word])
        levels = sorted(frequent[:max_levels])
    return levels


def _check_table(X: Table, min_rows: int) -> Table:
    """Return a frame as it is, anything else as an array of two dimensions."""
    if is_dask(X):
        raise TypeError(
            "X is a Dask collection; takagi.fit_dataset(frame, target) fits one, text and missing values included."
        )
    if hasattr(X, "collect"):
        raise TypeError("X is a lazy frame; call .collect() on it first.")
    if not _is_frame(X):
        X = np.where(X.mask, None, X.data.astype(object)) if np.ma.is_masked(X) else X
        return check_array(
            X, dtype=None, ensure_all_finite=False, ensure_min_samples=min_rows, estimator="TableEncoder"
        )
    repeated = [name for name, count in Counter(X.columns).items() if count > 1]
    if repeated:
        raise ValueError(f"X has several columns named {repeated[0]!r}. Rename or drop all but one.")
    for what, count, least in (("sample", X.shape[0], min_rows), ("feature", X.shape[1], 1)):
        if count < least:
            raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of {least} is required.")
    return X


def _is_frame(X: Table) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _split(X: Table) -> list[Any]:
    if not _is_frame(X):
        return list(X.T)
    return [X.iloc[:, k] for k in range(X.shape[1])] if hasattr(X, "iloc") else list(X.iter_columns())


def _lacking_error(lacking: list[str], given: list[str]) -> ValueError:
    shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
    near = find_nearest(lacking[0], given)
    hint = f" Did you mean {near!r} for {lacking[0]!r}?" if near is not None else ""
    return ValueError(f"X lacks {len(lacking)} column(s) that training had: {shown}.{hint}")
