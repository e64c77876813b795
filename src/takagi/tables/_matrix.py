"""The fitted part of an encoder, which turns a table into a matrix without scikit-learn."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from takagi._checks import is_dask
from takagi._frames import accept_arrow
from takagi._messages import find_nearest, warn_user
from takagi._typing import FloatArray, IntArray, Table
from takagi.tables._cells import Cells, as_words, read_cells
from takagi.tables._column import MISSING, Column, list_origins
from takagi.tables._describe import count_codes, show_cells


class TableColumns:
    """The fitted part of a `TableEncoder`, which turns a table into a matrix.

    Attributes
    ----------
    columns_ : tuple of Column
        The description of each column, in the order of training.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if they had names.
    """

    columns_: tuple[Column, ...]
    n_features_in_: int
    feature_names_in_: np.ndarray

    @classmethod
    def from_columns(cls, columns: Sequence[Column], *, has_names: bool = True, **params: Any) -> Any:
        """Return a fitted encoder from descriptions of its columns.

        Parameters
        ----------
        columns : sequence of Column
            As in `columns_`.
        has_names : bool, default=True
            Whether columns are found by name.
        **params : dict
            Parameters of the encoder.

        Returns
        -------
        TableColumns or TableEncoder
            The fitted encoder.

        Examples
        --------
        >>> from takagi.tables import Column, TableEncoder
        >>> TableEncoder.from_columns([Column("x0", "boolean")], has_names=False).transform([["true"]])
        array([[1.]])
        """
        encoder = cls(**params)
        encoder._store(tuple(columns))
        origins = list_origins(columns)
        encoder.n_features_in_ = len(origins)
        if has_names:
            encoder.feature_names_in_ = np.array(origins, dtype=object)
        return encoder

    def transform(self, X: Table) -> FloatArray:
        """Return the matrix of a table."""
        return self._make_matrix(X)

    def show(self, X: Table) -> list[list[str]]:
        """Return the cells of a table as text, row by row, in the order of `columns_`."""
        X = accept_table(X, min_rows=0)
        read = [
            read_cells(values, column.origin)
            for column, values in zip(self.columns_, self.pick_columns(X), strict=True)
        ]
        shown = [show_cells(cells, column) for column, cells in zip(self.columns_, read, strict=True)]
        return [list(row) for row in zip(*shown, strict=True)]

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _make_matrix(self, X: Table) -> FloatArray:
        X = accept_table(X, min_rows=0)
        matrix = np.empty((len(X), sum(len(column.inputs) for column in self.columns_)))
        start = 0
        for column, values in zip(self.columns_, self.pick_columns(X), strict=True):
            stop = start + len(column.inputs)
            if stop > start:
                self._encode(read_cells(values, column.origin), column, matrix[:, start:stop])
            start = stop
        return matrix

    def _store(self, columns: tuple[Column, ...]) -> None:
        repeated = [name for name, n in Counter(n for column in columns for n in column.inputs).items() if n > 1]
        if repeated:
            raise ValueError(f"Two columns of X make inputs of one name, {repeated[0]!r}. Rename one of them.")
        if not any(column.inputs for column in columns):
            raise ValueError("X has no column to learn from: each is empty, or text with hardly a word twice.")
        self.columns_ = columns
        self._told: set[str] = set()

    def pick_columns(self, X: Table) -> list[Any]:
        """Return the table's column for each of `columns_`, by name if there are names, else by position."""
        names = getattr(self, "feature_names_in_", None)
        given = list(X.columns) if is_frame(X) else []
        if names is None or not given or not all(isinstance(name, str) for name in given):
            self._check_columns(X)
            found = dict(zip(list_origins(self.columns_), split_columns(X), strict=True))
            return [found[column.origin] for column in self.columns_]
        known = set(given)
        lacking = [name for name in names if name not in known]
        if lacking:
            raise _lacking_error(lacking, given)
        return [X[column.origin] for column in self.columns_]

    def _check_columns(self, X: Table) -> None:
        """Raise an error unless a table without names has as many columns as in training."""
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns, but training had {self.n_features_in_}.")

    def _encode(self, cells: Cells, column: Column, out: FloatArray) -> None:
        """Write the inputs of one column."""
        if column.is_words:
            codes, words = as_words(cells)
            known = set(column.levels)
            self._tell_unseen(column, Counter({words[k]: n for k, n in count_codes(codes) if words[k] not in known}))
        if column.kind == "category":
            out[:] = find_places(cells, column)[:, None] == np.arange(len(column.levels))
            return
        values = column.read(cells)
        missing = np.isnan(values)
        out[:, 0] = values if column.fill is None else np.where(missing, column.fill, values)
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


def find_places(cells: Cells, column: Column) -> IntArray:
    """Return the index of each row's word among the levels, -1 for an unknown word."""
    codes, words = as_words(cells)
    place = {level: k for k, level in enumerate(column.levels)}
    return np.array([*(place.get(word, -1) for word in words), place.get(MISSING, -1)])[codes]


def accept_table(X: Table, min_rows: int) -> Table:
    """Return a data frame unchanged, a pyarrow table as a data frame, and anything else as a 2-D array."""
    if is_dask(X):
        raise TypeError(
            "X is a Dask collection; takagi.fit_dataset(frame, target) fits one, text and missing values included."
        )
    if hasattr(X, "collect"):
        raise TypeError("X is a lazy frame; call .collect() on it first.")
    X = accept_arrow(X)
    if not is_frame(X):
        X = np.where(X.mask, None, X.data.astype(object)) if np.ma.is_masked(X) else X
        from sklearn.utils.validation import check_array  # takes a second, and data frames do not need it

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


def is_frame(X: Table) -> bool:
    """Whether a table is a data frame."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def split_columns(X: Table) -> list[Any]:
    """Return the columns of a table, by position."""
    if not is_frame(X):
        return list(X.T)
    return [X.iloc[:, k] for k in range(X.shape[1])] if hasattr(X, "iloc") else list(X.iter_columns())


def _lacking_error(lacking: list[str], given: list[str]) -> ValueError:
    shown = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
    near = find_nearest(lacking[0], given)
    hint = f" Did you mean {near!r} for {lacking[0]!r}?" if near is not None else ""
    return ValueError(f"X lacks {len(lacking)} column(s) that training had: {shown}.{hint}")
