"""The committee: the mean of several regressors, each trained without one fold, and a memory of their errors."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from takagi._checks import is_dask, validate_rows
from takagi._compat import fit_context
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import validate_training
from takagi._wording import name_outputs
from takagi.calibration import MOST_ROWS, Calibration, measure_calibration
from takagi.estimators._intervals import read_rows
from takagi.estimators._members import FEWEST_ROWS, BaseCommittee, Joint, find_rows
from takagi.estimators._memory import choose_rows, learn_memory
from takagi.estimators._regressor import TSKRegressor
from takagi.estimators._threads import count_fit_threads, count_threads, with_one_blas_thread
from takagi.fitting import (
    Fitted,
    Rows,
    Watch,
    adjust_members,
    learn_adjustments,
    measure_left,
    measure_rms,
    merge_equal_rows,
    predict_out_of_fold,
)
from takagi.predictors import PredictsIntervals, average_outputs, average_spread
from takagi.profile import spread_rows
from takagi.training import Callback, SquaredError


class TSKCommittee(PredictsIntervals, MultiOutputMixin, RegressorMixin, BaseCommittee):
    """The mean of several fuzzy regressors: usually more accurate than one, with an out-of-fold error estimate.

    The rows are split into folds. Each member trains on the rows outside its fold. So every row has an out-of-fold
    prediction, and these give an estimate of the error on new rows. If pilot fits set the penalties, they run once, on
    all rows, for all members. With `n_rules="auto"`, every second member has half of the rules, and members are mixed
    with ridge regression as far as the out-of-fold predictions tell.

    The memory corrects predictions by the out-of-fold errors of similar training rows. It is Nadaraya-Watson regression
    [1]_ [2]_ of these errors, with a learned bandwidth for each feature: a rule of order zero for each training row. It
    captures detail that is too fine for the members' rules. If it does not help, as on many small sets, there is no
    memory.

    Parameters
    ----------
    n_members : int, default=8
        Number of members and folds. With fewer distinct rows there are fewer members, and a warning.
    estimator : TSKRegressor, optional
        The regressor that members are copies of; ``TSKRegressor()`` by default. Its `random_state` is not used.
    remember : bool, default=True
        Whether to learn a memory, which is kept if it helps. The model then holds training rows (at most 50,000).
        Without a memory, the model is the mean of its members and holds only rules.
    extrapolation : {None, "hold", "linear"}, default=None
        What the model predicts far beyond its data, as in `TSKRegressor`; None means as in `estimator`. All members and
        the memory have the same limits, from all rows.
    random_state : int, RandomState instance or None, default=None
        Makes `fit` reproducible, to the bit on one machine.
    n_jobs : int, optional
        Number of threads of `fit`, one for each member at work, and of `predict`; -1 for all cores. It does not change
        the result. By default `fit` uses all cores, or one thread inside other parallel work, and `predict` uses one.
    verbose : int, default=0
        Whether to print the error of each member on its fold.

    Attributes
    ----------
    estimators_ : list of TSKRegressor
        The fitted members.
    oof_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Out-of-fold predictions for the training rows: each by the member that was not trained on the row, with the
        memory of the other rows. Rows of weight zero get those of `predict`.
    oof_rmse_ : float or ndarray of shape (n_outputs,)
        Root mean squared error of these predictions, an estimate of the error on new rows.
    calibration_ : Calibration or None
        Held-out errors for intervals: those of the out-of-fold predictions, or of the rows given to `calibrate`. There
        is a scale for each rule of each member.
    memory_ : Memory or None
        The rows, errors and bandwidths of the memory; None if there is no memory.
    stages_ : tuple of Stage
        All that ran: "pilots" and "members", with `n_fits`, `n_iter` and `seconds`.
    is_single_target_ : bool
        Whether predictions are one number a row.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Notes
    -----
    Equal rows are merged into one row with the sum of their weights, so they are in one fold. The order of the rows
    does not matter.

    References
    ----------
    .. [1] E. A. Nadaraya, On estimating regression, Theory of Probability and Its Applications 9 (1), 1964.
    .. [2] G. S. Watson, Smooth regression analysis, Sankhya A 26 (4), 1964.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKCommittee, TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKCommittee(4, TSKRegressor(n_rules=2, max_iter=300), random_state=0).fit(X, y)
    >>> len(model.estimators_), model.predict(X).shape, 50 < model.oof_rmse_ < 60
    (4, (442,), True)
    """

    _member = TSKRegressor
    _parameter_constraints = {**BaseCommittee._parameter_constraints, "remember": ["boolean"]}  # noqa: RUF012

    def __init__(
        self,
        n_members: int = 8,
        estimator: TSKRegressor | None = None,
        *,
        remember: bool = True,
        extrapolation: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_members,
            estimator,
            extrapolation=extrapolation,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.remember = remember

    @fit_context(prefer_skip_nested_validation=False)
    @with_one_blas_thread
    def fit(
        self, X: Table, y: Table, sample_weight: Table = None, *, callback: Callback | None = None
    ) -> "TSKCommittee":
        """Fit the members.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; at least three different rows.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            One target or several.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        callback : callable, optional
            Called every few hundred iterations with a `takagi.training.Progress`, which counts the iterations of all
            members. It is called in the thread of a member. If it returns True, the current members stop, and the
            others stop after their first block.

        Returns
        -------
        TSKCommittee
            The fitted estimator.
        """
        base = self._check_base()
        data = validate_training(copy(self), X, y, sample_weight, FEWEST_ROWS)
        given = Rows(*data[:3])
        rows = merge_equal_rows(given)
        rng = check_random_state(self.random_state)
        watch = Watch(callback, base.verbose, count_fit_threads(self.n_jobs))
        folds = np.array_split(rng.permutation(len(rows.X)), self._count_members(len(rows.X)))
        members, joint = self._fit_members(base, data, rows, folds, rng, watch)
        self.memory_ = joint.memory  # from here on nothing takes long, so Ctrl-C leaves no half-fitted estimator
        self._take_members(members, data, watch)
        self._estimate_error(given, rows, joint.outputs)
        self.calibration_: Calibration | None = self._measure_calibration(rows, joint.outputs, "folds")
        return self

    def predict(self, X: Table, return_std: bool = False) -> Any:
        """Predict the target of rows: the mean of the members' predictions plus the memory's correction.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations of the predictions as well; see `predict_interval`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            With `return_std`, a tuple of two such arrays.

        Warns
        -----
        ExtrapolationWarning
            If values far beyond the training rows are held.
        """
        check_is_fitted(self, "estimators_")
        if return_std:
            return self._predict_both(X)
        rules = self.estimators_[0].model_
        if is_dask(X):
            return map_rows(self.predict, X, None if self.is_single_target_ else rules.n_outputs, name_outputs(rules))
        rows, n_threads = validate_rows(self, X), count_threads(self.n_jobs)
        warn_of_held(rows, rules.limits, rules.feature_names)
        return self._shape(self._predict_rows(rows, n_threads))

    # -- intervals -----------------------------------------------------------------------------------------------------

    @with_one_blas_thread
    def calibrate(self, X: Table, y: Table, sample_weight: Table = None) -> "TSKCommittee":
        """Measure the errors on held-out rows, which set the width of intervals.

        `fit` already does so with the out-of-fold predictions. Each of these comes from one member, which is somewhat
        less accurate than the mean of all. So calibration with separate rows makes intervals slightly narrower.

        Parameters
        ----------
        X, y : arrays as in `fit`
            Rows that the committee was not fitted on; errors on training rows are too small.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        TSKCommittee
            The estimator.
        """
        check_is_fitted(self, "estimators_")
        rows = read_rows(copy(self), (X, y, sample_weight), self.estimators_[0].model_.n_outputs)
        self.calibration_ = self._measure_calibration(rows, self._predict_rows(rows.X), "given")
        return self

    def _measure_calibration(self, rows: Rows, prediction: FloatArray, source: str) -> Calibration:
        sample = spread_rows(len(rows.X), MOST_ROWS)
        share = np.hstack([member.model_.firing_share(rows.X[sample]) for member in self.estimators_])
        return measure_calibration(share, (rows.y - prediction)[sample], rows.weight[sample], source)

    def _find_calibration(self) -> Calibration | None:
        check_is_fitted(self, "estimators_")
        return getattr(self, "calibration_", None)

    def _predict_spread(self, X: Table) -> tuple[FloatArray, FloatArray]:
        calibration, n_threads = self._find_calibration(), count_threads(self.n_jobs)
        assert calibration is not None
        rows, rules = validate_rows(self, X), self.estimators_[0].model_
        warn_of_held(rows, rules.limits, rules.feature_names)
        models = [member.model_ for member in self.estimators_]
        return self._predict_rows(rows, n_threads), average_spread(models, calibration, rows, n_threads)

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
        """Return the members and a memory, or with adjustments first if that is better by leave-one-out."""
        chosen = choose_rows(rows.X, rng) if self.remember else None

        def remember(outputs: FloatArray) -> Joint:
            return Joint(outputs) if chosen is None else _remember(rows.fill(), outputs, chosen, n_threads)

        outputs = predict_out_of_fold([fit.model for fit in fits], rows, folds)
        adjustments = learn_adjustments(rows, outputs, n_adjustments, SquaredError())
        plain = remember(outputs)
        if not adjustments.found:
            return fits, plain
        adjusted = remember(outputs + adjustments.correct(fits[0].model.first, rows.X))
        if measure_left(rows, plain.outputs) <= measure_left(rows, adjusted.outputs):
            return fits, plain
        return adjust_members(fits, adjustments, rows), adjusted

    def _describe_error(self, fitted: Fitted, fold: Rows) -> str:
        errors = fold.y - fitted.model.predict_raw(fold.X)
        return "RMSE " + ", ".join(f"{rmse:.4g}" for rmse in np.sqrt((errors**2).mean(axis=0)))

    def _predict_rows(self, rows: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return predictions for checked rows, of shape (n_rows, n_outputs)."""
        return average_outputs([member.model_ for member in self.estimators_], self.memory_, rows, n_threads)

    def _estimate_error(self, given: Rows, rows: Rows, distinct: FloatArray) -> None:
        """Set the out-of-fold predictions of rows and their errors, given the predictions for the distinct ones."""
        place = find_rows(given, rows)
        prediction = distinct[place]
        unused = place < 0
        if unused.any():
            prediction[unused] = self._predict_rows(given.X[unused])
        self.oof_prediction_ = self._shape(prediction)
        rmse = measure_rms(given.y - prediction, given.weight)
        self.oof_rmse_ = float(rmse[0]) if self.is_single_target_ else rmse
        if self.verbose:
            remembered = "nothing" if self.memory_ is None else f"{len(self.memory_.rows):,} rows"
            shown = ", ".join(f"{error:.4g}" for error in rmse)
            print(f"[takagi] committee remembers {remembered}: out-of-fold RMSE {shown}")  # noqa: T201

    def _shape(self, targets: FloatArray) -> FloatArray:
        """Return targets in the shape that they had in `fit`: a vector, or columns."""
        return targets.reshape(-1) if self.is_single_target_ else targets.reshape(len(targets), -1)


def _remember(rows: Rows, prediction: FloatArray, chosen: IntArray, n_threads: int) -> Joint:
    """Return a memory of out-of-fold errors of chosen rows, and predictions that the other rows correct."""
    memory = learn_memory(rows.take(chosen), prediction[chosen], n_threads)
    if memory is None:
        return Joint(prediction)
    own = np.full(len(rows.X), -1)
    own[chosen] = np.arange(len(chosen))
    return Joint(prediction + memory.correct(rows.X, own, n_threads), memory)
