"""Prediction sets: the classes that a row may have, so that its own is among them in a given part of cases."""

from copy import copy
from typing import Any

import numpy as np

from takagi._labels import validate_classes
from takagi._typing import FloatArray, Table
from takagi.calibration import check_coverage, count_needed


class PredictsSets:
    """The methods `calibrate` and `predict_set` of a classifier."""

    set_scores_: FloatArray

    def calibrate(self, X: Table, y: Table) -> Any:
        """Find out how improbable the classes of rows seem that the model has not seen, for `predict_set`.

        Probabilities stay as they are. A new fit forgets it.

        Parameters
        ----------
        X, y : arrays as in `fit`
            Rows that the model was not fitted on; all count the same.

        Returns
        -------
        TSKClassifier
            The estimator.
        """
        proba = self.predict_proba(X)  # type: ignore[attr-defined]
        targets = validate_classes(copy(self), X, y, None, min_rows=1, reset=False).y
        code = targets.argmax(axis=1) if targets.shape[1] > 1 else targets[:, 0].astype(np.intp)
        self.set_scores_ = np.sort(1 - proba[np.arange(len(code)), code])
        return self

    def predict_set(self, X: Table, coverage: float = 0.9) -> np.ndarray:
        """Return which classes rows may have: sets that hold the class of new rows in a given part of cases.

        That is split conformal prediction [1]_ by the rows of `calibrate`: a class belongs to the set of a row unless
        it is less probable than are the classes of all but a part `coverage` of those rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
        coverage : float, default=0.9
            The part of new rows whose class is to be in its set, between 0 and 1. It is that of all rows, not of each
            class.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            In the order of `classes_`. A row may have no class at all, which is as unusual as its probabilities are.

        Raises
        ------
        ValueError
            If `calibrate` has not been called, or with too few rows for that coverage.

        References
        ----------
        .. [1] M. Sadinle, J. Lei and L. Wasserman, Least ambiguous set-valued classifiers with bounded error levels,
           Journal of the American Statistical Association 114 (525), 2019.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from takagi import TSKClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = TSKClassifier(n_rules=3, max_iter=300, random_state=0).fit(X[::2], y[::2])
        >>> model.calibrate(X[1::2], y[1::2]).predict_set(X[:2], coverage=0.95)
        array([[ True, False, False],
               [ True, False, False]])
        """
        check_coverage(coverage)
        proba = self.predict_proba(X)  # type: ignore[attr-defined]
        if not hasattr(self, "set_scores_"):
            raise ValueError("Call calibrate(X, y) with rows that the model has not seen first.")
        n_rows = len(self.set_scores_)
        place = int(np.ceil((n_rows + 1) * coverage - 1e-9))
        if place > n_rows:
            raise ValueError(
                f"Sets with coverage {coverage:g} need at least {count_needed(coverage)} rows that the model has not "
                f"seen, and {n_rows} are known. Call calibrate with more of them, or lower the coverage."
            )
        return 1 - proba <= self.set_scores_[place - 1]
