"""The committee: the mean of several regressors, each trained without a part of the rows, and a memory of errors."""

from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from takagi._compat import HasMethods, Interval, fit_context, validate_parameters
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import TrainingData, is_dask, validate_rows, validate_training
from takagi._wording import name_outputs
from takagi.calibration import MOST_ROWS, Calibration, measure_calibration, split_scales
from takagi.estimators._base import check_trains, count_threads, make_rng, with_one_blas_thread
from takagi.estimators._intervals import PredictsIntervals, read_rows
from takagi.estimators._memory import Memory, choose_rows, learn_memory
from takagi.estimators._regressor import TSKRegressor
from takagi.fitting import (
    Fitted,
    Mix,
    Plan,
    Rows,
    Watch,
    finish_fit,
    fit_ridge_instead,
    make_plan,
    measure_rms,
    merge_equal_rows,
    run_pilots,
    train_rules,
)
from takagi.profile import spread_rows
from takagi.training import Callback

_FEWEST_ROWS = 3  # so that two are left to train on
_FEWEST_RULES = 4  # of a small member
_MOST_VALIDATION_ROWS = 500  # of a fold; more would take longer than the training


class TSKCommittee(PredictsIntervals, MultiOutputMixin, RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """Several fuzzy regressors that predict their mean: mostly more accurate than one, and the error is estimated.

    The rows are split into folds. Each member trains on the rows outside its fold and keeps the iterate with the
    smallest error on the fold (on 500 rows of it, if it is larger). So every row has a member that was not trained on
    it, and the predictions of these give an estimate of the error on new rows. Where pilot fits set the penalties, they
    are run once, on all rows, for all members; where the number of rules is open, every second member has half of them.

    What these predictions lack at a row is remembered, and added for rows that are like it: a rule of order zero for
    each training row. In which features rows must be alike is learned. It finds detail that is too fine for the
    members' rules; where it finds none, as on many small sets, nothing is remembered.

    Parameters
    ----------
    n_members : int, default=8
        Members, and folds. Fewer, with a warning, if there are fewer different rows.
    estimator : TSKRegressor, optional
        What a member is a copy of; ``TSKRegressor()`` by default. Its `random_state` is not used.
    remember : bool, default=True
        Whether to remember errors at training rows if that helps. The model then holds those rows (at most 50,000);
        without, it is the mean of its members and holds nothing but rules.
    extrapolation : {None, "hold", "linear"}, default=None
        What the model says of values far beyond its data, as in `TSKRegressor`; None is what `estimator` says. The
        limits are those of all rows, for all members, and hold for the memory as well.
    random_state : int, RandomState instance or None, default=None
        Makes `fit` reproducible, to the bit on one machine.
    n_jobs : int, optional
        Threads: members fitted at a time in `fit`, and threads of `predict`; -1 for all cores. Does not change the
        result.
    verbose : int, default=0
        Whether to tell the error of each member on its fold.

    Attributes
    ----------
    estimators_ : list of TSKRegressor
        The fitted members.
    oof_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Predictions for the training rows, each by the member that was not trained on it (out of fold), and what is
        remembered of other rows. Rows without weight train no member; theirs are those of `predict`.
    oof_rmse_ : float or ndarray of shape (n_outputs,)
        Root mean squared error of these predictions, an estimate of the error on new rows.
    calibration_ : Calibration or None
        What is known of errors on rows that no member at work was trained on: those of the predictions out of fold, or
        of the rows that `calibrate` got. There is a scale for each rule of each member.
    memory_ : Memory or None
        The remembered rows and the widths in which rows must be alike; None if nothing is remembered.
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
    Equal rows are one row with their weights added up, so that they are in one fold. The order of the rows does not
    matter.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKCommittee, TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKCommittee(4, TSKRegressor(n_rules=2, max_iter=300), random_state=0).fit(X, y)
    >>> len(model.estimators_), model.predict(X).shape, 50 < model.oof_rmse_ < 60
    (4, (442,), True)
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_members": [Interval(Integral, 2, None, closed="left")],
        "estimator": [None, HasMethods("fit")],
        "remember": ["boolean"],
        "extrapolation": [None, str],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

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
        self.n_members = n_members
        self.estimator = estimator
        self.remember = remember
        self.extrapolation = extrapolation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
            Called with a `takagi.training.Progress` every few hundred iterations, which counts those of all members, in
            the thread of a member. When it returns True, the members under way end, and the others after their first
            block.

        Returns
        -------
        TSKCommittee
            The fitted estimator.
        """
        base = _check_base(self.estimator)
        validate_parameters(base)
        data = validate_training(copy(self), X, y, sample_weight, _FEWEST_ROWS)
        given = Rows(*data[:3])
        rows = merge_equal_rows(given)
        rng, watch = check_random_state(self.random_state), Watch(callback, base.verbose)
        folds = np.array_split(rng.permutation(len(rows.X)), self._count_members(len(rows.X)))
        members = self._fit_members(base, data, rows, folds, rng, watch)
        prediction = _predict_out_of_fold(members, rows, folds)
        memory = None
        if self.remember:
            memory, correction = _remember(rows, prediction, rng, self.n_jobs)
            prediction += correction
        self._take(members, memory, data, watch)  # all at once, so that Ctrl-C leaves nothing half done
        self._estimate_error(given, rows, prediction)
        self.calibration_: Calibration | None = self._measure_calibration(rows, prediction, "folds")
        return self

    def predict(self, X: Table, return_std: bool = False) -> Any:
        """Predict the target of rows: the mean of what the members predict, and what is remembered of such rows.

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

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule of each member governs each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_rules)
            For the rules of the first member, then those of the second, and so on; every row sums to 1, or to the
            number of parts of the members' models.
        """
        check_is_fitted(self, "estimators_")
        rows = validate_rows(self, X)
        shares = [member.model_.firing_share(rows) for member in self.estimators_]
        return np.concatenate(shares, axis=1) / len(shares)

    # -- intervals -----------------------------------------------------------------------------------------------------

    @with_one_blas_thread
    def calibrate(self, X: Table, y: Table, sample_weight: Table = None) -> "TSKCommittee":
        """Find out how far predictions are off on rows that the committee has not seen.

        A fit does so by itself with the predictions out of fold, each of which is that of one member: these are off by
        somewhat more than the mean of all is. So calibration with rows of its own makes intervals slightly narrower.

        Parameters
        ----------
        X, y : arrays as in `fit`
            Rows that the committee was not fitted on; errors on those that it was are too small.
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
        scales = split_scales(calibration, [member.model_.n_rules for member in self.estimators_])
        spreads = [
            replace(member.model_, calibration=replace(calibration, scale=scale)).predict_spread(rows, n_threads)[1]
            for member, scale in zip(self.estimators_, scales, strict=True)
        ]
        return self._predict_rows(rows, n_threads), np.mean(spreads, axis=0)

    # -- the steps of fit ----------------------------------------------------------------------------------------------

    def _count_members(self, n_rows: int) -> int:
        """Return how many members there can be: every fold has a row."""
        if n_rows < _FEWEST_ROWS:
            raise ValueError(f"A committee needs at least {_FEWEST_ROWS} different rows with weight, got {n_rows}.")
        if n_rows < self.n_members:
            warn_user(
                f"There are {n_rows} different rows for {self.n_members} members, so there will be {n_rows} members. "
                f"Set n_members to at most {n_rows}."
            )
        return min(self.n_members, n_rows)

    def _fit_members(
        self,
        base: TSKRegressor,
        data: TrainingData,
        rows: Rows,
        folds: list[IntArray],
        rng: np.random.RandomState,
        watch: Watch,
    ) -> list[TSKRegressor]:
        """Return the members, one for each fold; every second one is small."""
        first_seed, *seeds = rng.randint(2**31 - 1, size=len(folds) + 1).tolist()
        params = base.get_params(deep=False)
        if self.extrapolation is not None:
            params["extrapolation"] = self.extrapolation
        plan = make_plan(params, *rows.X.shape)
        check_trains(plan)
        watch.expect(len(folds) * plan.config.max_iter)
        mix = Mix()
        if plan.penalties.are_open:
            found = run_pilots(rows, None, plan, make_rng(first_seed), watch)
            plan, mix = replace(plan, penalties=found.penalties), found.mix

        def fit_member(place: int) -> TSKRegressor:
            fold, own_plan = folds[place], _choose_size(plan, is_small=place % 2 == 1)
            if mix.has_rules:
                fitted = _fit_member(rows, fold, own_plan, mix, make_rng(seeds[place]), watch)
            else:
                fitted = fit_ridge_instead(_leave_out(rows, fold), rows, own_plan, mix, watch)
            self._tell_member(fitted, rows.take(fold))
            return TSKRegressor.from_fitted(fitted, data, {**params, "random_state": seeds[place]})

        watch.begin("members")
        try:
            run = Parallel(n_jobs=self.n_jobs, require="sharedmem")
            return run(delayed(fit_member)(place) for place in range(len(folds)))
        except BaseException:
            watch.end()  # members in other threads
            raise

    def _tell_member(self, fitted: Fitted, fold: Rows) -> None:
        if self.verbose:
            errors = fold.y - fitted.model.predict_raw(fold.X)
            shown = ", ".join(f"{rmse:.4g}" for rmse in np.sqrt((errors**2).mean(axis=0)))
            print(f"[takagi] member with {fitted.model.n_rules} rules: RMSE {shown} on its fold")  # noqa: T201

    def _take(self, members: list[TSKRegressor], memory: Memory | None, data: TrainingData, watch: Watch) -> None:
        """Set the fitted attributes but those about errors."""
        self.estimators_, self.memory_, self.stages_ = members, memory, tuple(watch.stages)
        self.n_features_in_, self.is_single_target_ = data.X.shape[1], data.is_single_target
        for name in ("feature_names_in_", "scores_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if data.feature_names is not None:
            self.feature_names_in_ = data.feature_names

    def _predict_rows(self, rows: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return predictions for checked rows, of shape (n_rows, n_outputs)."""
        mean = np.mean([member.model_.predict_raw(rows, n_threads) for member in self.estimators_], axis=0)
        if self.memory_ is None:
            return mean
        return mean + self.memory_.correct(self.estimators_[0].model_.hold_rows(rows), n_threads=n_threads)

    def _estimate_error(self, given: Rows, rows: Rows, distinct: FloatArray) -> None:
        """Set the out-of-fold predictions of rows and their errors, given the predictions for the distinct ones."""
        place = _find_rows(given, rows)
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
            print(f"[takagi] committee remembers {remembered}: RMSE {shown} out of fold")  # noqa: T201

    def _shape(self, targets: FloatArray) -> FloatArray:
        """Return targets as they came: a vector, or columns."""
        return targets.reshape(-1) if self.is_single_target_ else targets.reshape(len(targets), -1)


def _check_base(estimator: Any) -> TSKRegressor:
    if estimator is None:
        return TSKRegressor()
    if isinstance(estimator, TSKRegressor):
        return estimator
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an object, got the class; write {estimator.__name__}().")
    raise TypeError(
        f"estimator must be a TSKRegressor, got a {type(estimator).__name__}. Steps of a pipeline go before the "
        "committee: make_pipeline(TableEncoder(), TSKCommittee())."
    )


def _choose_size(plan: Plan, is_small: bool) -> Plan:
    """Return the plan of a member: where the number of rules is open, small members have half of them.

    Members that differ are a better mean.
    """
    if not (plan.may_be_ridge and is_small):
        return plan
    return replace(plan, n_rules=min(plan.n_rules, max(_FEWEST_RULES, plan.n_rules // 2)))


def _fit_member(rows: Rows, fold: IntArray, plan: Plan, mix: Mix, rng: np.random.Generator, watch: Watch) -> Fitted:
    """Return rules that are trained on the rows outside a fold and validated on rows of the fold."""
    training = _leave_out(rows, fold)
    plan = replace(plan, n_rules=min(plan.n_rules, len(training.X))) if plan.may_be_ridge else plan
    trained = train_rules(training, rows.take(fold[:_MOST_VALIDATION_ROWS]), plan, rng, watch)
    return finish_fit(trained, training, rows, plan, mix, watch)


def _leave_out(rows: Rows, fold: IntArray) -> Rows:
    return rows.take(np.delete(np.arange(len(rows.X)), fold))


def _predict_out_of_fold(members: list[TSKRegressor], rows: Rows, folds: list[IntArray]) -> FloatArray:
    """Return predictions for distinct rows, each by the member that was not trained on it."""
    prediction = np.empty_like(rows.y)
    for member, fold in zip(members, folds, strict=True):
        prediction[fold] = member.model_.predict_raw(rows.X[fold])
    return prediction


def _remember(
    rows: Rows, prediction: FloatArray, rng: np.random.RandomState, n_jobs: int | None
) -> tuple[Memory | None, FloatArray]:
    """Return a memory of what predictions lack, and what the other rows add to each of them."""
    chosen = choose_rows(rows.X, rng)
    memory = learn_memory(rows.take(chosen), prediction[chosen], n_jobs)
    if memory is None:
        return None, np.zeros_like(prediction)
    own = np.full(len(rows.X), -1)
    own[chosen] = np.arange(len(chosen))
    return memory, memory.correct(rows.X, own, count_threads(n_jobs))


def _find_rows(rows: Rows, distinct: Rows) -> IntArray:
    """Return the place of each row among distinct rows, -1 where it is not there."""
    stacked = np.vstack([np.hstack([part.X, part.y]) for part in (distinct, rows)])
    _, group = np.unique(stacked, axis=0, return_inverse=True)
    group = group.reshape(-1)
    place = np.full(len(stacked), -1)
    place[group[: len(distinct.X)]] = np.arange(len(distinct.X))
    return place[group[len(distinct.X) :]]
