"""The committee: the mean of several regressors, each trained without a part of the rows, and a memory of errors."""

from collections.abc import Callable
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from takagi._compat import HasMethods, Interval, fit_context
from takagi._dask import is_dask, map_rows
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import validate_rows
from takagi._wording import name_outputs
from takagi.estimators._base import count_threads, make_rng, read_target_names, validate_training
from takagi.estimators._memory import Memory, choose_rows, learn_memory
from takagi.estimators._regressor import TSKRegressor
from takagi.fitting._advice import seek_advice
from takagi.fitting._fitting import PilotEnded, take_line
from takagi.fitting._rows import Rows, measure_size, merge_equal_rows
from takagi.training import TrainConfig

_FEWEST_ROWS = 3  # so that two are left to train on
_FEWEST_RULES = 4  # of a small member
_MOST_VALIDATION_ROWS = 500  # of a fold; more would take longer than the training


class Findings(NamedTuple):
    """What pilots found on all rows: how many rules and which settings, and whether a straight line is preferred."""

    n_rules: int
    config: TrainConfig
    prefers_line: bool


class TSKCommittee(MultiOutputMixin, RegressorMixin, MetaEstimatorMixin, BaseEstimator):
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
    memory_ : Memory or None
        The remembered rows and the widths in which rows must be alike; None if nothing is remembered.
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
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_members = n_members
        self.estimator = estimator
        self.remember = remember
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Table,
        y: Table,
        sample_weight: Table = None,
        *,
        callback: Callable[[int, int], object] | None = None,
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
            Called after each member, in its thread, with the number of members that are fitted and that of all.

        Returns
        -------
        TSKCommittee
            The fitted estimator.
        """
        base = _check_base(self.estimator)
        base._validate_params()
        given, self._is_single_target = validate_training(self, X, y, sample_weight, _FEWEST_ROWS)
        rows = merge_equal_rows(given)
        rng = check_random_state(self.random_state)
        folds = np.array_split(rng.permutation(len(rows.X)), self._count_members(len(rows.X)))
        members = self._fit_members(base, rows, folds, rng, callback)
        self._name(members, read_target_names(y))
        prediction = _predict_out_of_fold(members, rows, folds)
        memory = None
        if self.remember:
            memory, correction = _remember(rows, prediction, rng, self.n_jobs)
            prediction += correction
        self.estimators_, self.memory_ = members, memory  # all at once, so that Ctrl-C leaves nothing half done
        self._estimate_error(given, rows, prediction)
        return self

    def predict(self, X: Table) -> FloatArray:
        """Predict the target of rows: the mean of what the members predict, and what is remembered of such rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        check_is_fitted(self, "estimators_")
        if is_dask(X):
            rules = self.estimators_[0].rule_base_
            return map_rows(self.predict, X, None if self._is_single_target else rules.n_outputs, name_outputs(rules))
        rows, n_threads = validate_rows(self, X), count_threads(self.n_jobs)
        return self._shape(self._predict_rows(rows, n_threads))

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule of each member governs each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_rules)
            For the rules of the first member, then those of the second, and so on; every row sums to 1.
        """
        check_is_fitted(self, "estimators_")
        rows = validate_rows(self, X)
        shares = [member.rule_base_.firing_share(rows) for member in self.estimators_]
        return np.concatenate(shares, axis=1) / len(shares)

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
        rows: Rows,
        folds: list[IntArray],
        rng: np.random.RandomState,
        callback: Callable[[int, int], object] | None,
    ) -> list[TSKRegressor]:
        """Return the members, one for each fold; every second one is small."""
        first_seed, *seeds = rng.randint(2**31 - 1, size=len(folds) + 1).tolist()
        found, done, lock = _measure(base, rows, first_seed), 0, Lock()

        def fit_member(place: int) -> TSKRegressor:
            member = self._fit_member(base, found, rows, folds[place], seeds[place], is_small=place % 2 == 1)
            nonlocal done
            with lock:
                done += 1
                if callback is not None:
                    callback(done, len(folds))
            return member

        run = Parallel(n_jobs=self.n_jobs, require="sharedmem")
        return run(delayed(fit_member)(place) for place in range(len(folds)))

    def _fit_member(
        self, base: TSKRegressor, found: Findings | None, rows: Rows, fold: IntArray, seed: int, is_small: bool
    ) -> TSKRegressor:
        """Return a regressor that was trained on the rows outside a fold and validated on the fold."""
        training, held_out = rows.take(np.delete(np.arange(len(rows.X)), fold)), rows.take(fold)
        member = clone(base).set_params(random_state=seed)
        if found is not None and found.prefers_line:
            member._store(take_line(training, found.config), None)
            member.n_features_in_ = rows.X.shape[1]
        else:
            if found is not None:
                member.set_params(**_use_findings(base, found, len(rows.X), len(training.X), is_small))
            judges = rows.take(fold[:_MOST_VALIDATION_ROWS])
            y, y_val = self._shape(training.y), self._shape(judges.y)
            member.fit(training.X, y, training.weight, X_val=judges.X, y_val=y_val)
        _heed_interrupt(member)
        member._is_single_target = self._is_single_target
        if self.verbose:
            errors = held_out.y - member.rule_base_.predict(held_out.X).reshape(held_out.y.shape)
            shown = ", ".join(f"{rmse:.4g}" for rmse in np.sqrt((errors**2).mean(axis=0)))
            print(f"[takagi] member with {member.n_rules_} rules: RMSE {shown} on its fold")  # noqa: T201
        return member

    def _name(self, members: list[TSKRegressor], target_names: list[str] | None) -> None:
        """Give the members the names of the columns, so that each can be used alone."""
        names = getattr(self, "feature_names_in_", None)
        for member in members:
            member.rule_base_ = member.rule_base_.rename(names, target_names)
            if names is not None:
                member.feature_names_in_ = names

    def _predict_rows(self, rows: FloatArray, n_threads: int = 1) -> FloatArray:
        """Return predictions for checked rows, of shape (n_rows, n_outputs)."""
        predictions = [member.rule_base_.predict(rows, n_threads=n_threads) for member in self.estimators_]
        mean = np.mean(predictions, axis=0).reshape(len(rows), -1)
        return mean if self.memory_ is None else mean + self.memory_.correct(rows, n_threads=n_threads)

    def _estimate_error(self, given: Rows, rows: Rows, distinct: FloatArray) -> None:
        """Set what is told of rows out of fold, given the predictions for the distinct ones."""
        place = _find_rows(given, rows)
        prediction = distinct[place]
        unused = place < 0
        if unused.any():
            prediction[unused] = self._predict_rows(given.X[unused])
        self.oof_prediction_ = self._shape(prediction)
        rmse = measure_size(given.y - prediction, given.weight)
        self.oof_rmse_ = float(rmse[0]) if self._is_single_target else rmse
        if self.verbose:
            remembered = "nothing" if self.memory_ is None else f"{len(self.memory_.rows):,} rows"
            shown = ", ".join(f"{error:.4g}" for error in rmse)
            print(f"[takagi] committee remembers {remembered}: RMSE {shown} out of fold")  # noqa: T201

    def _shape(self, targets: FloatArray) -> FloatArray:
        """Return targets as they came: a vector, or columns."""
        return targets.reshape(-1) if self._is_single_target else targets.reshape(len(targets), -1)


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


def _measure(base: TSKRegressor, rows: Rows, seed: int) -> Findings | None:
    """Return what pilots find, None if nothing is open."""
    recipe = base._choose_recipe(rows)
    if not recipe.measures:
        return None
    fitting, config = base._prepare(make_rng(seed))
    try:
        advice = seek_advice(fitting, recipe, config, rows, None, base.validation_fraction)
    except PilotEnded:
        raise KeyboardInterrupt from None
    config = recipe.configure(config, advice.strength, rows, fitting.scales_target)
    return Findings(recipe.n_rules, config, advice.prefers_line)


def _use_findings(base: TSKRegressor, found: Findings, n_rows: int, n_training: int, is_small: bool) -> dict[str, Any]:
    """Return the parameters for a member: those for all rows; measured penalties are in inverse proportion to rows.

    Where the number of rules is open, small members have half of them, since members that differ are a better mean.
    """
    penalties = {
        name: getattr(found.config, name) * n_rows / n_training
        for name in ("l2", "smoothness")
        if getattr(base, name) == "auto"
    }
    n_rules = base.n_rules
    if n_rules == "auto":
        n_rules = min(max(_FEWEST_RULES, found.n_rules // (2 if is_small else 1)), found.n_rules, n_training)
    config = found.config
    return {"n_rules": n_rules, "keep_prob": config.keep_prob, "batch_size": config.batch_size, **penalties}


def _predict_out_of_fold(members: list[TSKRegressor], rows: Rows, folds: list[IntArray]) -> FloatArray:
    """Return predictions for distinct rows, each by the member that was not trained on it."""
    prediction = np.empty_like(rows.y)
    for member, fold in zip(members, folds, strict=True):
        prediction[fold] = member.rule_base_.predict(rows.X[fold]).reshape(len(fold), -1)
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


def _heed_interrupt(regressor: TSKRegressor) -> None:
    """End the fit where Ctrl-C ended that of a regressor: a committee of half-trained members is of no use."""
    if regressor.stopped_ == "interrupted":
        raise KeyboardInterrupt


def _find_rows(rows: Rows, distinct: Rows) -> IntArray:
    """Return the place of each row among distinct rows, -1 where it is not there."""
    stacked = np.vstack([np.hstack([part.X, part.y]) for part in (distinct, rows)])
    _, group = np.unique(stacked, axis=0, return_inverse=True)
    group = group.reshape(-1)
    place = np.full(len(stacked), -1)
    place[group[: len(distinct.X)]] = np.arange(len(distinct.X))
    return place[group[len(distinct.X) :]]
