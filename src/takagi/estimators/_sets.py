"""Prediction sets: sets of classes that contain the class of a row with a given probability."""

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
        """Measure the predicted probabilities of the true classes of held-out rows, for `predict_set`.

        Probabilities do not change. A new fit drops the calibration.

        Parameters
        ----------
        X, y : arrays as in `fit`
            Rows that the model was not fitted on; all have the same weight.

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
        """Return prediction sets, which contain the class of a new row with a given probability.

        This is split conformal prediction [1]_ with the rows of `calibrate`. The set of a row has all classes whose
        probability is above a threshold, which the true classes of a fraction `coverage` of those rows reach.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
        coverage : float, default=0.9
            The fraction of new rows whose class is in their set, between 0 and 1. It holds for all rows together, not
            for each class.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            In the order of `classes_`. The set of an unusual row may be empty.

        Raises
        ------
        ValueError
            If `calibrate` was not called, or had too few rows for that coverage.

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
            raise ValueError("This model is not calibrated. Call calibrate(X, y) with held-out rows first.")
        n_rows = len(self.set_scores_)
        place = int(np.ceil((n_rows + 1) * coverage - 1e-9))
        if place > n_rows:
            raise ValueError(
                f"Sets with coverage {coverage:g} need at least {count_needed(coverage)} held-out rows, but the "
                f"calibration has {n_rows}. Call calibrate with more held-out rows, or lower the coverage."
            )
        return 1 - proba <= self.set_scores_[place - 1]
