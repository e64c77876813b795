"""The classifier: scikit-learn's interface around a fit to classes."""

from collections.abc import Mapping
from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin

from takagi._checks import is_dask, validate_rows
from takagi._compat import StrOptions, fit_context
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._labels import find_labels, validate_classes
from takagi._typing import FloatArray, Table
from takagi._validation import Interval, TrainingData
from takagi._wording import name_outputs
from takagi.estimators._base import BaseTSK
from takagi.estimators._collections import open_collections
from takagi.estimators._sets import PredictsSets
from takagi.estimators._threads import count_threads, with_one_blas_thread
from takagi.fitting import Fitted
from takagi.initializers import Initializer
from takagi.optimizers import Optimizer, OwnOptimizer
from takagi.predictors import choose_labels, find_chances
from takagi.streaming import Stream
from takagi.training import Bounds, Callback, FeasibleSet


class TSKClassifier(PredictsSets, ClassifierMixin, BaseTSK):
    """Takagi-Sugeno-Kang fuzzy classification: IF-THEN rules whose formulas are log-odds.

    Two classes have one output, the log-odds of the second one: ``P(classes_[1]) = 1 / (1 + exp(-output))``. With more
    classes there is one output per class, and probabilities are their softmax; outputs of a row sum to zero. Rules are
    made, trained and penalized as those of `TSKRegressor`, with the log loss in place of the squared error. Each starts
    with the log-odds of the class frequencies among the rows that it governs.

    Stratified held-out rows set how the model is mixed from rules, logistic regression and the class frequencies. They
    also set the temperature [1]_: all log-odds are divided by this number, which minimizes the log loss on the held-out
    rows. Both are part of the fitted rules.

    Parameters
    ----------
    n_rules : int, "auto" or None, default=None
        Number of rules. None and "auto" mean the power of two nearest to an eighth of the rows, from 8 to 64, and 128
        above 1,000 rows; one rule if pilot fits are no better than logistic regression.
    recipe : {"auto", "accurate", "droprule", "short"}, default="auto"
        How the rules are learned, as in `TSKRegressor`. Short rules are distilled from accurate ones.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; they multiply the weights of the rows. "balanced" gives all classes the same total
        weight. Probabilities then refer to a table with such weights, not to the data.
    uniformity : float, default=0
        Uniform regularization: the penalty on rules that govern unequal numbers of rows, as in `TrainConfig`; 0 for
        none.
    max_conditions, max_terms, init, projection, n_projections, optimizer, bounds, learning_rate, powerball, \
    keep_prob, l2, smoothness, agreement, batch_size, max_iter, schedule, averaging, n_teachers, \
    n_adjustments, standardize, extrapolation, validation_fraction, warm_start, n_iter_no_change, random_state, \
    n_jobs, verbose
        As in `TSKRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted, of the type that they have in y.
    model_ : RuleModel
        The fitted rules, with the link "logit" for two classes and "softmax" for more. `model_.predict_raw` returns
        log-odds. `model_.predict` returns the probability of the second of two classes, or of all classes if there are
        more. Outputs are named after their classes.
    rule_base_ : RuleBase
        The only part of `model_`, if it has just one.
    history_ : dict of str to ndarray of shape (n_iter_,)
        Mean log losses of the training that made `rule_base_`, as in `TSKRegressor`.
    stopped_ : {"max_iter", "no_change", "callback", "interrupted", "diverged", "logistic", "stream", "limits"}
        Why training ended, as in `TSKRegressor`; "logistic": there was no training, since logistic regression was
        better than pilot fits; it is the only rule.
    is_single_target_ : bool
        Whether there are two classes, and therefore one output.
    target_name_ : str
        The name of y, only if it has one.
    n_iter_, best_iter_ : int
        As in `TSKRegressor`; logistic regression counts as one iteration.
    set_scores_ : ndarray of shape (n_rows,)
        What `calibrate` found, sorted: 1 minus the probability of the class of each row.
    stages_, recipe_, n_rules_, keep_prob_, l2_, smoothness_, batch_size_, stream_, \
    n_features_in_, feature_names_in_
        As in `TSKRegressor`.

    See Also
    --------
    TSKRegressor : The same for targets that are numbers.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, On calibration of modern neural networks, ICML (2017).

    Y. Cui, D. Wu and J. Huang, Optimize TSK fuzzy systems for classification problems: minibatch gradient descent with
    uniform regularization and batch normalization, IEEE Transactions on Fuzzy Systems 28 (12), 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from takagi import TSKClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TSKClassifier(n_rules=3, max_iter=300, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    _loss = "log"
    _validate = staticmethod(validate_classes)

    _parameter_constraints = {  # noqa: RUF012
        **BaseTSK._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "uniformity": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_rules: int | str | None = None,
        *,
        recipe: str = "auto",
        max_conditions: int | None = None,
        max_terms: int | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        uniformity: float = 0.0,
        init: str | Initializer = "fcm",
        projection: str | None = None,
        n_projections: int | str = "log2",
        optimizer: str | Optimizer | OwnOptimizer = "adabelief",
        bounds: Bounds | FeasibleSet | str | None = "auto",
        learning_rate: float = 0.03,
        powerball: float = 0.5,
        keep_prob: float | str = "auto",
        l2: float | str = "auto",
        smoothness: float | str = "auto",
        agreement: float | str = "auto",
        batch_size: int | str = "auto",
        max_iter: int | str = "auto",
        schedule: str = "cosine",
        averaging: float = 0.98,
        n_teachers: int | str = "auto",
        n_adjustments: int | str = "auto",
        standardize: bool | str = True,
        extrapolation: str = "hold",
        validation_fraction: float = 0.15,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_rules,
            recipe=recipe,
            max_conditions=max_conditions,
            max_terms=max_terms,
            init=init,
            projection=projection,
            n_projections=n_projections,
            optimizer=optimizer,
            bounds=bounds,
            learning_rate=learning_rate,
            powerball=powerball,
            keep_prob=keep_prob,
            l2=l2,
            smoothness=smoothness,
            agreement=agreement,
            batch_size=batch_size,
            max_iter=max_iter,
            schedule=schedule,
            averaging=averaging,
            n_teachers=n_teachers,
            n_adjustments=n_adjustments,
            standardize=standardize,
            extrapolation=extrapolation,
            validation_fraction=validation_fraction,
            warm_start=warm_start,
            n_iter_no_change=n_iter_no_change,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight
        self.uniformity = uniformity

    # -- fitting -------------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    @with_one_blas_thread
    def fit(
        self,
        X: Table,
        y: Table,
        sample_weight: Table = None,
        *,
        X_val: Table = None,
        y_val: Table = None,
        callback: Callback | None = None,
    ) -> "TSKClassifier":
        """Fit rules to rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; at least two rows. If X is a Dask collection, y and `sample_weight` must be Dask collections, too;
            above 50,000 rows, training goes partition by partition, as in `fit_dataset`.
        y : array of shape (n_rows,)
            Labels of at least two classes: text, integers or booleans.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        X_val, y_val : arrays as X and y, optional
            Validation rows, which choose the best iterate and the temperature instead of a part of X. Their classes
            must be among those of y.
        callback : callable, optional
            As in `TSKRegressor.fit`.

        Returns
        -------
        TSKClassifier
            The fitted estimator.
        """
        if is_dask(X):
            X, y, sample_weight, passes = open_collections(self, X, y, sample_weight, (X_val, y_val))
            if passes is not None:
                return self.fit_passes(X, y, sample_weight, passes, callback=callback)
        known = copy(self)
        if self._find_start() is None:
            known.__dict__.pop("classes_", None)  # of an earlier fit
        return self._fit(known, X, y, sample_weight, (X_val, y_val), callback)

    @fit_context(prefer_skip_nested_validation=True)
    @with_one_blas_thread
    def partial_fit(self, X: Table, y: Table, classes: Table = None, sample_weight: Table = None) -> "TSKClassifier":
        """Train on a block of rows once, continuing from earlier blocks or from `fit`.

        Parameters
        ----------
        X, y : arrays as in `fit`
            One row or more, with any of the classes.
        classes : array of shape (n_classes,), optional
            All labels that can occur; needed in the first call, unless the model is fitted.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        TSKClassifier
            The estimator, with the best rules so far.

        Notes
        -----
        As in `TSKRegressor.partial_fit`. No temperature is fitted.

        Examples
        --------
        >>> import numpy as np
        >>> from takagi import TSKClassifier
        >>> rng = np.random.default_rng(0)
        >>> model = TSKClassifier(n_rules=4, random_state=0)
        >>> for _ in range(20):
        ...     X = rng.uniform(-1, 1, size=(500, 2))
        ...     y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
        ...     model = model.partial_fit(X, y, classes=["same", "other"])
        >>> bool(model.score(X, y) > 0.9)
        True
        """
        known = copy(self)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once, which partial_fit does not have. Give the weights as "
                "a dict, such as {label: weight}."
            )
        if classes is not None:
            known.classes_ = self._agree(find_labels(np.asarray(classes)))
        elif not hasattr(self, "classes_"):
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that y can have.")
        return self._feed(known, X, y, sample_weight)

    def _agree(self, classes: np.ndarray) -> np.ndarray:
        """Return the classes of a block, which must be those of the blocks before it."""
        known = getattr(self, "classes_", classes)
        if not np.array_equal(known, classes):
            raise ValueError(f"classes must be {known.tolist()}, as in the first call, got {classes.tolist()}.")
        return known

    def _take(self, fitted: Fitted, data: TrainingData, stream: Stream | None = None) -> Any:
        self.__dict__.pop("set_scores_", None)  # of other rules
        return super()._take(fitted, data, stream)

    # -- prediction ----------------------------------------------------------------------------------------------------

    def predict(self, X: Table) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels, of the type of `classes_`. For Dask collections, all methods return a lazy array, or for a data
            frame a series with its index.

        Warns
        -----
        ExtrapolationWarning
            If values far beyond the training rows are held; see `extrapolation`, and `takagi.inspection.find_outside`.
        """
        self.find_rules()
        if is_dask(X):
            return map_rows(self.predict, X, None, [getattr(self, "target_name_", "class")], self.classes_.dtype)
        return choose_labels(self._predict_raw(X), self.classes_)

    def decision_function(self, X: Table) -> FloatArray:
        """Return the log-odds of the second of two classes, or one logit per class if there are more.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        rules = self.find_rules()
        if is_dask(X):
            n_outputs = None if self.is_single_target_ else rules.n_outputs
            return map_rows(self.decision_function, X, n_outputs, name_outputs(rules))
        outputs = self._predict_raw(X)
        return outputs if outputs.shape[1] > 1 else outputs[:, 0]

    def predict_proba(self, X: Table) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`; every row sums to 1.
        """
        self.find_rules()
        if is_dask(X):
            return map_rows(self.predict_proba, X, len(self.classes_), [*map(str, self.classes_)])
        return find_chances(self._predict_raw(X))

    def predict_log_proba(self, X: Table) -> FloatArray:
        """Return the log-probabilities of the classes; they are finite even for tiny probabilities.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        self.find_rules()
        if is_dask(X):
            return map_rows(self.predict_log_proba, X, len(self.classes_), [*map(str, self.classes_)])
        outputs = self._predict_raw(X)
        return log_softmax(outputs if outputs.shape[1] > 1 else np.hstack([np.zeros_like(outputs), outputs]), axis=1)

    def _predict_raw(self, X: Table) -> FloatArray:
        model, rows = self.find_rules(), validate_rows(self, X)
        warn_of_held(rows, model.limits, model.feature_names)
        return model.predict_raw(rows, count_threads(self.n_jobs))
