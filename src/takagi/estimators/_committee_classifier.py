"""The committee of classifiers: the mean of the probabilities of several, each trained without one fold."""

from copy import copy

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from takagi._checks import is_dask, validate_rows
from takagi._compat import fit_context
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._labels import validate_classes
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import make_rng
from takagi.estimators._classifier import TSKClassifier
from takagi.estimators._members import FEWEST_ROWS, BaseCommittee, Joint, find_rows
from takagi.estimators._threads import count_fit_threads, count_threads, with_one_blas_thread
from takagi.fitting import (
    Fitted,
    Rows,
    Watch,
    adjust_members,
    draw_order,
    learn_adjustments,
    merge_equal_rows,
    sharpen_members,
)
from takagi.predictors import average_chances, spread_classes
from takagi.rulebase import apply_link
from takagi.training import LOSSES, Callback

_TINY = 1e-300  # the smallest probability whose logarithm is taken


class TSKCommitteeClassifier(ClassifierMixin, BaseCommittee):
    """The mean probability of several fuzzy classifiers, with an out-of-fold estimate of the log loss.

    It works like `TSKCommittee`: each member trains on the rows outside its fold, and keeps the iterate with the
    smallest log loss on the fold. Folds are stratified by class. There is no memory.

    Parameters
    ----------
    n_members : int, default=8
        Number of members and folds. With fewer distinct rows there are fewer members, and a warning.
    estimator : TSKClassifier, optional
        The classifier that members are copies of; ``TSKClassifier()`` by default. Its `random_state` is not used.
    extrapolation, random_state, n_jobs, verbose
        As in `TSKCommittee`.

    Attributes
    ----------
    estimators_ : list of TSKClassifier
        The fitted members.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, of the type that they have in y.
    oof_proba_ : ndarray of shape (n_rows, n_classes)
        Out-of-fold probabilities of the training rows, each by the member that was not trained on the row, with the
        temperature of a single member. Rows of weight zero get those of `predict_proba`.
    oof_log_loss_ : float
        Mean log loss of these probabilities, an estimate of that on new rows.
    stages_, is_single_target_, n_features_in_, feature_names_in_
        As in `TSKCommittee`; there is a single target if there are two classes.

    See Also
    --------
    TSKCommittee : The same for targets that are numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from takagi import TSKClassifier, TSKCommitteeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TSKCommitteeClassifier(3, TSKClassifier(n_rules=3, max_iter=300), random_state=0).fit(X, y)
    >>> len(model.estimators_), model.predict_proba(X).shape, model.oof_log_loss_ < 0.3
    (3, (150, 3), True)
    """

    _member = TSKClassifier

    @fit_context(prefer_skip_nested_validation=False)
    @with_one_blas_thread
    def fit(
        self, X: Table, y: Table, sample_weight: Table = None, *, callback: Callback | None = None
    ) -> "TSKCommitteeClassifier":
        """Fit the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; at least three different rows.
        y : array of shape (n_rows,)
            Labels of at least two classes.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        callback : callable, optional
            As in `TSKCommittee.fit`.

        Returns
        -------
        TSKCommitteeClassifier
            The fitted estimator.
        """
        base, known = self._check_base(), copy(self)
        known.__dict__.pop("classes_", None)  # of an earlier fit
        known.class_weight = base.class_weight
        data = validate_classes(known, X, y, sample_weight, FEWEST_ROWS)
        given = Rows(*data[:3])
        rows = merge_equal_rows(given, has_classes=True)
        rng = check_random_state(self.random_state)
        watch = Watch(callback, base.verbose, count_fit_threads(self.n_jobs))
        n_members, order = self._count_members(len(rows.X)), np.concatenate(draw_order(rows, make_rng(rng), True))
        folds = np.array_split(order, n_members)
        members, joint = self._fit_members(base, data, rows, folds, rng, watch)
        self.classes_ = data.classes
        self._take_members(members, data, watch)
        self._estimate_loss(given, rows, joint.outputs)
        return self

    def predict(self, X: Table) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels, of the type of `classes_`; lazy for a Dask collection, as in `TSKClassifier.predict`.
        """
        check_is_fitted(self, "estimators_")
        if is_dask(X):
            return map_rows(self.predict, X, None, ["class"], self.classes_.dtype)
        code = self.predict_proba(X).argmax(axis=1)
        return self.classes_[code]

    def predict_proba(self, X: Table) -> FloatArray:
        """Return the probabilities of the classes: the mean of those of the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`; every row sums to 1.

        Warns
        -----
        ExtrapolationWarning
            If values far beyond the training rows are held.
        """
        check_is_fitted(self, "estimators_")
        if is_dask(X):
            return map_rows(self.predict_proba, X, len(self.classes_), [*map(str, self.classes_)])
        rows, rules = validate_rows(self, X), self.estimators_[0].model_
        warn_of_held(rows, rules.limits, rules.feature_names)
        return self._predict_rows(rows, count_threads(self.n_jobs))

    def predict_log_proba(self, X: Table) -> FloatArray:
        """Return the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self, "estimators_")
        if is_dask(X):
            return map_rows(self.predict_log_proba, X, len(self.classes_), [*map(str, self.classes_)])
        return np.log(np.maximum(self.predict_proba(X), _TINY))

    # -- the steps of fit ----------------------------------------------------------------------------------------------

    def _join_members(
        self,
        fits: list[Fitted],
        rows: Rows,
        folds: list[IntArray],
        n_adjustments: int,
        rng: np.random.RandomState,
        n_threads: int,
    ) -> tuple[list[Fitted], Joint]:
        fits, outputs = sharpen_members(fits, rows, folds)
        adjustments = learn_adjustments(rows, outputs, n_adjustments, LOSSES["log"])
        outputs = outputs + adjustments.correct(fits[0].model.first, rows.X)
        return adjust_members(fits, adjustments, rows), Joint(outputs)

    def _describe_error(self, fitted: Fitted, fold: Rows) -> str:
        losses = LOSSES["log"].measure_rows(fitted.model.predict_raw(fold.X), fold.y)
        return f"log loss {losses.mean():.4g}"

    def _predict_rows(self, rows: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return probabilities for checked rows, of shape (n_rows, n_classes)."""
        return average_chances([member.model_ for member in self.estimators_], rows, n_threads)

    def _estimate_loss(self, given: Rows, rows: Rows, outputs: FloatArray) -> None:
        """Set the out-of-fold probabilities of rows and their log loss, given the outputs of the distinct ones."""
        distinct = spread_classes(apply_link(outputs, self.estimators_[0].model_.link))
        place = find_rows(given, rows)
        self.oof_proba_ = distinct[place]
        if (unused := place < 0).any():
            self.oof_proba_[unused] = self._predict_rows(given.X[unused])
        losses = -(spread_classes(given.y) * np.log(np.maximum(self.oof_proba_, _TINY))).sum(axis=1)
        self.oof_log_loss_ = float(np.average(losses, weights=given.weight))
        if self.verbose:
            print(f"[takagi] committee: out-of-fold log loss {self.oof_log_loss_:.4g}")  # noqa: T201
