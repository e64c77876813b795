"""The base class of both committees: folds, pilots, and members that are each trained without one fold."""

from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from takagi._checks import validate_rows
from takagi._compat import HasMethods, validate_parameters
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import Interval, TrainingData, make_rng
from takagi.estimators._base import BaseTSK
from takagi.fitting import (
    Fitted,
    Mix,
    Plan,
    Rows,
    Trained,
    Watch,
    check_trains,
    finish_fit,
    fit_ridge_instead,
    heed_noise,
    make_plan,
    mix_members,
    run_pilots,
    train_rules,
)
from takagi.memory import Memory

FEWEST_ROWS = 3  # so that two remain for training
_FEWEST_RULES = 4  # of a small member
_MOST_VALIDATION_ROWS = 500  # of a fold; more would take longer than training
_MANY_CELLS = 10**7  # above which rows are not kept for all members at a time
_N_VALIDATIONS = 350  # of a member, except in the paper's recipe


class Joint(NamedTuple):
    """What members are together."""

    outputs: FloatArray  # out of fold: the output of a row comes from the member that was not trained on it
    memory: Memory | None = None


class BaseCommittee(MetaEstimatorMixin, BaseEstimator):
    """Base class with the parameters and members of a committee; its subclasses document them."""

    _member: type[BaseTSK]  # what members are

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_members": [Interval(Integral, 2, None, closed="left")],
        "estimator": [None, HasMethods("fit")],
        "extrapolation": [None, str],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_members: int = 8,
        estimator: Any = None,
        *,
        extrapolation: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_members = n_members
        self.estimator = estimator
        self.extrapolation = extrapolation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- the steps of fit ----------------------------------------------------------------------------------------------

    def _check_base(self) -> BaseTSK:
        """Return the estimator that members are copies of, with valid parameters."""
        kind, estimator = self._member, self.estimator
        if estimator is None:
            return kind()
        if isinstance(estimator, kind):
            validate_parameters(estimator)
            return estimator
        if isinstance(estimator, type):
            raise TypeError(f"estimator must be an object, got the class; write {estimator.__name__}().")
        raise TypeError(
            f"estimator must be a {kind.__name__}, got a {type(estimator).__name__}. Steps of a pipeline go before the "
            f"committee: make_pipeline(TableEncoder(), {type(self).__name__}())."
        )

    def _count_members(self, n_rows: int) -> int:
        """Return the number of members; every fold needs a row."""
        if n_rows < FEWEST_ROWS:
            raise ValueError(
                f"A committee needs at least {FEWEST_ROWS} distinct rows with a positive weight, got {n_rows}."
            )
        if n_rows < self.n_members:
            warn_user(
                f"There are only {n_rows} distinct rows for {self.n_members} members, so {n_rows} members are fitted. "
                f"Set n_members to at most {n_rows}."
            )
        return min(self.n_members, n_rows)

    def _fit_members(
        self,
        base: BaseTSK,
        data: TrainingData,
        rows: Rows,
        folds: list[IntArray],
        rng: np.random.RandomState,
        watch: Watch,
    ) -> tuple[list[Any], Joint]:
        """Return the members, one per fold, every second one small, and what they are together."""
        first_seed, *seeds = rng.randint(2**31 - 1, size=len(folds) + 1).tolist()
        params = base.get_params(deep=False)
        if self.extrapolation is not None:
            params["extrapolation"] = self.extrapolation
        plan = make_plan(params, len(rows.X), rows.X.shape[1], self._member._loss)
        rows = rows if plan.projection is None else rows.fill()
        check_trains(plan)
        n_adjustments, plan = plan.n_adjustments, replace(plan, n_adjustments=0)  # which all members share
        mix, n_iter = Mix(), plan.config.max_iter
        watch.expect(len(folds) * n_iter)
        if plan.penalties.are_open:
            found = run_pilots(rows, None, plan, make_rng(first_seed), watch)
            plan, mix = heed_noise(plan, found.penalties), found.mix
            watch.expect(len(folds) * (plan.config.max_iter - n_iter))
        watch.begin("members")
        fits = _fit_outside(folds, rows, plan, mix, seeds, watch)
        if self.verbose:
            self._tell_errors(fits, rows, folds)
        fits, joint = self._join_members(fits, rows, folds, n_adjustments, rng, watch.n_threads)
        make = self._member.from_fitted
        members = [make(fit, data, {**params, "random_state": seed}) for fit, seed in zip(fits, seeds, strict=True)]
        return members, joint

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule of each member governs each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_rules)
            The rules of the first member come first, then those of the second, and so on. Every row sums to 1, or to
            the number of parts of the members' models.
        """
        check_is_fitted(self, "estimators_")
        rows = validate_rows(self, X)
        shares = [member.model_.firing_share(rows) for member in self.estimators_]
        return np.concatenate(shares, axis=1) / len(shares)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _join_members(
        self,
        fits: list[Fitted],
        rows: Rows,
        folds: list[IntArray],
        n_adjustments: int,
        rng: np.random.RandomState,
        n_threads: int,
    ) -> tuple[list[Fitted], Joint]:
        """Return the fits of the members, ready to be averaged, and what they are together."""
        raise NotImplementedError

    def _tell_errors(self, fits: list[Fitted], rows: Rows, folds: list[IntArray]) -> None:
        """Print the error of each member on its fold."""
        for fitted, fold in zip(fits, folds, strict=True):
            error = self._describe_error(fitted, rows.take(fold))
            print(f"[takagi] member with {fitted.model.n_rules} rules: {error} on its fold")  # noqa: T201

    def _describe_error(self, fitted: Fitted, fold: Rows) -> str:
        """Return the error of a member on its fold as text."""
        raise NotImplementedError

    def _take_members(self, members: list[Any], data: TrainingData, watch: Watch) -> None:
        """Set the fitted attributes, except those about errors."""
        self.estimators_, self.stages_ = members, tuple(watch.stages)
        self.n_features_in_, self.is_single_target_ = data.X.shape[1], data.is_single_target
        for name in ("feature_names_in_", "scores_", "known_rows_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if data.feature_names is not None:
            self.feature_names_in_ = data.feature_names


def _fit_outside(
    folds: list[IntArray], rows: Rows, plan: Plan, mix: Mix, seeds: list[int], watch: Watch
) -> list[Fitted]:
    """Return a fit to the rows outside each fold, every second one small, given the mix that pilots found.

    Out-of-fold predictions of all rows tell more about the mix than pilots, which few rows judge. In a large table many
    do, and the rows of all members are not kept at a time.
    """
    plans = [_choose_size(plan, is_small=place % 2 == 1) for place in range(len(folds))]
    members = list(zip(folds, plans, seeds, strict=True))
    if not mix.rules and (plan.has_classes or mix.is_exact):
        return [fit_ridge_instead(_leave_out(rows, fold), rows, plan, mix, watch) for fold in folds]

    def train(fold: IntArray, plan: Plan, seed: int) -> Trained:
        return _train_member(rows, fold, plan, make_rng(seed), watch)

    def finish(trained: Trained, fold: IntArray) -> Fitted:
        part = _leave_out(rows, fold)
        if not mix.rules:
            return fit_ridge_instead(part, rows, plan, mix, watch)
        return finish_fit(trained, part, rows, plan, mix, watch)

    mixes = plan.penalties.are_open and plan.may_be_ridge and not plan.has_classes
    if not mixes or rows.X.size > _MANY_CELLS:
        return watch.run(partial(lambda fold, *other: finish(train(fold, *other), fold), *one) for one in members)
    trained = watch.run(partial(train, *one) for one in members)
    judged = [(_leave_out(rows, fold), rows.take(fold)) for fold in folds]
    mix = mix_members([one.rules for one in trained], rows, judged)
    return [finish(*one) for one in zip(trained, folds, strict=True)]


def _choose_size(plan: Plan, is_small: bool) -> Plan:
    """Return the plan of a member; with `n_rules="auto"`, small members have half of the rules.

    The mean of different members is more accurate.
    """
    if not (plan.may_be_ridge and is_small):
        return plan
    return replace(plan, n_rules=min(plan.n_rules, max(_FEWEST_RULES, plan.n_rules // 2)))


def _train_member(rows: Rows, fold: IntArray, plan: Plan, rng: np.random.Generator, watch: Watch) -> Trained:
    """Train rules on the rows outside a fold.

    As in the fit of a single model, they are trained to the end, unless the plan wants held-out rows to choose the
    iterate. Then rows of the fold do, as always for classes.
    """
    part = _leave_out(rows, fold)
    plan = replace(plan, n_rules=min(plan.n_rules, len(part.X))) if plan.may_be_ridge else plan
    every = 1 if plan.recipe == "droprule" else max(1, plan.config.max_iter // _N_VALIDATIONS)
    held_out = rows.take(fold[:_MOST_VALIDATION_ROWS]) if plan.holds_out or plan.has_classes else None
    return train_rules(part, held_out, plan, rng, watch, every=every)


def _leave_out(rows: Rows, fold: IntArray) -> Rows:
    return rows.take(np.delete(np.arange(len(rows.X)), fold))


def find_rows(rows: Rows, distinct: Rows) -> IntArray:
    """Return the index of each row among distinct rows, -1 if it is not among them."""
    stacked = np.vstack([np.hstack([part.X, part.y]) for part in (distinct, rows)])
    stacked[np.isnan(stacked)] = np.inf  # equal to itself
    _, group = np.unique(stacked, axis=0, return_inverse=True)
    group = group.reshape(-1)
    place = np.full(len(stacked), -1)
    place[group[: len(distinct.X)]] = np.arange(len(distinct.X))
    return place[group[len(distinct.X) :]]
