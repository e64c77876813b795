"""The base class of all estimators: parameters, fitted attributes, and training block by block."""

from collections.abc import Mapping
from copy import copy
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from takagi._checks import validate_rows
from takagi._compat import HasMethods, StrOptions, fit_context
from takagi._conditions import name_features
from takagi._typing import FloatArray, Table
from takagi._validation import (
    Interval,
    TrainingData,
    Validate,
    check_start,
    make_rng,
    tell_repeats,
    validate_held_out,
    validate_training,
)
from takagi.estimators._threads import count_fit_threads, with_one_blas_thread
from takagi.fitting import Fitted, Rows, Watch, check_trains, fit_rules, make_plan, merge_equal_rows, widen_limits
from takagi.initializers import Initializer
from takagi.optimizers import OPTIMIZERS, Optimizer, OwnOptimizer
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.streaming import ASSUMED_ROWS, Passes, Stream, fit_passes
from takagi.tables import DatasetError
from takagi.training import Bounds, Callback, FeasibleSet

_AUTO = StrOptions({"auto"})
_USED = ("keep_prob", "batch_size", "l2", "smoothness")  # attributes with the values that were used


class BaseTSK(BaseEstimator):
    """Base class with the parameters and fitted attributes of the estimators; its subclasses document them."""

    _loss = "squared"
    _validate: Validate = staticmethod(validate_training)  # of rows and targets

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "n_rules": [None, _AUTO, Interval(Integral, 1, None, closed="left")],
        "recipe": [str],
        "max_conditions": [None, Interval(Integral, 1, None, closed="left")],
        "max_terms": [None, Interval(Integral, 1, None, closed="left")],
        "init": [str, HasMethods("make_rules")],
        "projection": [None, str],
        "n_projections": [str, Interval(Integral, 1, None, closed="left")],
        "optimizer": [str, type, *map(type, OPTIMIZERS.values()), HasMethods(["phi", "psi", "omega"])],
        "bounds": [None, str, Bounds, HasMethods("project")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "powerball": [Interval(Real, 0, None, closed="left")],
        "keep_prob": [_AUTO, Interval(Real, 0, 1, closed="right")],
        "l2": [_AUTO, Interval(Real, 0, None, closed="left")],
        "smoothness": [_AUTO, Interval(Real, 0, None, closed="left")],
        "agreement": [_AUTO, Interval(Real, 0, None, closed="left")],
        "batch_size": [_AUTO, Interval(Integral, 1, None, closed="left")],
        "max_iter": [_AUTO, Interval(Integral, 1, None, closed="left")],
        "schedule": [str],
        "averaging": [Interval(Real, 0, 1, closed="left")],
        "n_teachers": [_AUTO, Interval(Integral, 0, None, closed="left")],
        "n_adjustments": [_AUTO, Interval(Integral, 0, None, closed="left")],
        "standardize": ["boolean", str],
        "extrapolation": [str],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
        "n_iter_no_change": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_rules: int | str | None = None,
        *,
        recipe: str = "auto",
        max_conditions: int | None = None,
        max_terms: int | None = None,
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
        self.n_rules = n_rules
        self.recipe = recipe
        self.max_conditions = max_conditions
        self.max_terms = max_terms
        self.init = init
        self.projection = projection
        self.n_projections = n_projections
        self.optimizer = optimizer
        self.bounds = bounds
        self.learning_rate = learning_rate
        self.powerball = powerball
        self.keep_prob = keep_prob
        self.l2 = l2
        self.smoothness = smoothness
        self.agreement = agreement
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.schedule = schedule
        self.averaging = averaging
        self.n_teachers = n_teachers
        self.n_adjustments = n_adjustments
        self.standardize = standardize
        self.extrapolation = extrapolation
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- in memory -----------------------------------------------------------------------------------------------------

    def _fit(
        self, known: Any, X: Table, y: Table, sample_weight: Table, held_out: tuple[Table, Table], callback: Any
    ) -> Any:
        """Fit rules to rows in memory; `known` is a copy of the estimator with its columns and classes set."""
        start = self._find_start()
        data = self._validate(known, X, y, sample_weight, reset=start is None)
        check_start(start, data.y.shape[1])
        rows, judges = Rows(*data[:3]), None
        if held_out[0] is not None or held_out[1] is not None:
            judges = Rows(*validate_held_out(self._validate, known, *held_out, data.y.shape[1])[:3])
        if self.projection is not None:  # which needs every value
            rows, judges = rows.fill(), judges and judges.fill()
        rows = rows.take(np.flatnonzero(rows.weight > 0)) if judges else merge_equal_rows(rows, self._loss == "log")
        plan = make_plan(self.get_params(deep=False), len(rows.X), rows.X.shape[1], self._loss)
        rng, watch = make_rng(self.random_state), Watch(callback, self.verbose, count_fit_threads(self.n_jobs))
        fitted = fit_rules(rows, plan, rng, watch, held_out=judges, start=start)
        if fitted.repeats:
            tell_repeats(fitted.repeats, name_features(fitted.model.rename(data.feature_names)), rows.X)
        return self._take(fitted, data)

    # -- block by block ------------------------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    @with_one_blas_thread
    def partial_fit(self, X: Table, y: Table, sample_weight: Table = None) -> Any:
        """Train on a block of rows once, continuing from earlier blocks or from `fit`.

        The first rows are kept until there are eight for each rule (1,000 for `n_rules="auto"`) and a batch; then rules
        are made, and from then on rows train in batches. Rows that do not fill a batch wait for the next block.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; one row or more, always with the same columns.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            One target or several.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        TSKRegressor
            The estimator, with the best rules so far.

        Notes
        -----
        A hash of a row's values decides whether it validates instead of training. The validation rows are a fraction
        `validation_fraction`, at most 2,000, and always a uniform sample of all distinct rows so far. Rows may occur
        again in later passes. Means and deviations for `standardize` are those of all rows so far. The learning rate is
        constant, since a stream has no known end; `max_iter`, `schedule` and `n_iter_no_change` are not used. In the
        accurate recipe, "auto" penalties follow from the validation error and the number of distinct rows so far; they
        are zero in the first pass, in which no row can be memorized.

        A block that is refused changes nothing. Ctrl-C raises KeyboardInterrupt; the best rules so far can then be used
        and saved. A saved and loaded model continues exactly where it stopped.

        Examples
        --------
        >>> import numpy as np
        >>> from takagi import TSKRegressor
        >>> rng = np.random.default_rng(0)
        >>> model = TSKRegressor(n_rules=4, random_state=0)
        >>> for _ in range(20):
        ...     X = rng.uniform(-1, 1, size=(500, 2))
        ...     model = model.partial_fit(X, X[:, 0] * X[:, 1])
        >>> bool(model.score(X, X[:, 0] * X[:, 1]) > 0.9)
        True
        """
        return self._feed(copy(self), X, y, sample_weight)

    def _feed(self, known: Any, X: Table, y: Table, sample_weight: Table) -> Any:
        """Train on a block of rows; `known` is a copy of the estimator with its columns and classes set."""
        self._validate_params()  # scikit-learn does so in the first call only
        start, stream = self._find_rules_to_train(), getattr(self, "stream_", None)
        is_first = start is None and stream is None
        data = self._validate(known, X, y, sample_weight, min_rows=1, reset=is_first)
        if stream is None:
            names = data.target_names if start is None else start.output_names
            stream = Stream(make_rng(self.random_state), start, names)
        stream.check_block(data.y.shape[1], data.target_names)
        stream.warn_of_order(data.X, data.feature_names)
        check_start(start, data.y.shape[1])
        data = data._replace(target_names=stream.target_names)
        plan = make_plan(self.get_params(deep=False), ASSUMED_ROWS, data.X.shape[1], self._loss, streams=True)
        check_trains(plan)
        n_before, stopped = stream.n_iter, "interrupted"
        try:
            stream.feed(Rows(*data[:3]), plan)
            stopped = "stream"
        finally:
            if stream.n_iter > n_before:
                self._take(widen_limits(stream.read(plan, stopped), start), data, stream)
            elif stream.seen is not None:
                self._take_columns(data, stream)
        if self.verbose:
            print(f"[takagi] {stream}")  # noqa: T201
        return self

    @fit_context(prefer_skip_nested_validation=True)
    @with_one_blas_thread
    def fit_passes(
        self, X: Table, y: Table, sample_weight: Table, passes: Passes, *, callback: Callback | None = None
    ) -> Any:
        """Fit rules to rows that do not fit into memory; used by `fit_dataset` and by `fit` on Dask collections.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
            A sample of the rows.
        passes : takagi.streaming.Passes
            Reads all of them.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        TSKRegressor
            The fitted estimator.

        Raises
        ------
        DatasetError
            If rows cannot be read; its `model` is a copy of the estimator with the best rules so far.
        """
        start, known = self._find_start(), copy(self)
        if passes.classes is not None:
            known.classes_, weights = passes.classes
            known.class_weight = dict(zip(known.classes_.tolist(), weights.tolist(), strict=True))
        data = self._validate(known, X, y, sample_weight, reset=start is None)
        check_start(start, data.y.shape[1])
        plan = make_plan(self.get_params(deep=False), passes.n_rows, data.X.shape[1], self._loss, streams=True)
        check_trains(plan)
        watch = Watch(callback, self.verbose)
        try:
            fitted = fit_passes(Rows(*data[:3]), passes, plan, make_rng(self.random_state), watch, start)
        except DatasetError as error:
            error.model = None if error.model is None else copy(self)._take(error.model, data)
            raise
        return self._take(fitted, data)

    # -- fitted attributes ---------------------------------------------------------------------------------------------

    @classmethod
    def from_fitted(
        cls, fitted: Fitted, data: TrainingData, params: Mapping[str, Any], stream: Stream | None = None
    ) -> Any:
        """Return an estimator from fitted values: a member of a committee, or a model from a file.

        Parameters
        ----------
        fitted : takagi.fitting.Fitted
            The result of the fit.
        data : TrainingData
            Facts about the training table that the estimator keeps; the rows themselves may be left out.
        params : dict
            Its parameters.
        stream : Stream, optional
            The state from which `partial_fit` continues.

        Returns
        -------
        TSKRegressor
        """
        return cls(**params)._take(fitted, data, stream)

    def _take(self, fitted: Fitted, data: TrainingData, stream: Stream | None = None) -> Any:
        """Set the fitted attributes; no other place does."""
        self._take_columns(data, stream)
        for name in ("scores_", "known_rows_"):  # which are of another model
            self.__dict__.pop(name, None)
        self.model_ = fitted.model.rename(data.feature_names, data.target_names)
        for name in _USED:
            setattr(self, f"{name}_", getattr(fitted.config, name))
        self.n_rules_ = self.model_.n_rules
        for name in ("recipe", "history", "best_iter", "n_iter", "stopped", "stages"):
            setattr(self, f"{name}_", getattr(fitted, name))
        return self

    def _take_columns(self, data: TrainingData, stream: Stream | None) -> None:
        """Set the attributes about columns, before there are rules."""
        self.n_features_in_, self.is_single_target_ = data.X.shape[1], data.is_single_target
        given = {
            "feature_names_in_": data.feature_names, "classes_": data.classes, "target_name_": data.class_name,
            "stream_": stream,
        }  # fmt: skip
        for name, value in given.items():
            if value is not None:
                setattr(self, name, value)
            else:
                self.__dict__.pop(name, None)

    def _find_start(self) -> RuleBase | None:
        """Return the rules from which `fit` continues, None if there are none; adjustments are found again."""
        return self._find_rules_to_train(is_fit=True) if self.warm_start else None

    def _find_rules_to_train(self, is_fit: bool = False) -> RuleBase | None:
        """Return the rules from which training continues, None if there are none."""
        if not hasattr(self, "model_"):
            return None
        is_short = self.recipe_ == "short"
        if (is_short or not is_fit) and (len(self.model_.parts) > 1 or self.model_.first.bends):
            kind = "Short rules" if is_short else "Rules with adjustments (there are none with n_adjustments=0)"
            raise ValueError(
                f"{kind} are fitted as a whole and cannot be trained further. takagi.update(model, X, y) updates their "
                "formulas with new rows. To start over, call fit with warm_start=False."
            )
        return self.model_.first

    @property
    def rule_base_(self) -> RuleBase:
        """The fitted rules, if the model is one rule base."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no rules yet; call fit first.")
        if len(self.model_.parts) > 1:
            way = "model_.merge() for one with the same predictions"
            way = way if self.recipe_ == "short" else "fit with n_adjustments=0 for a single one"
            raise AttributeError(f"The model is a sum of {len(self.model_.parts)} rule bases: see model_, or {way}.")
        return self.model_.first

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule governs each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_rules)
            Normalized firing levels; every row sums to 1.
        """
        return self.find_rules().firing_share(validate_rows(self, X))

    def find_rules(self) -> RuleModel:
        """Return the fitted rules, or raise an error that says how many rows a stream still needs."""
        if hasattr(self, "model_"):
            return self.model_
        stream = getattr(self, "stream_", None)
        if stream is not None:
            raise NotFittedError(
                f"This {type(self).__name__} has no rules yet: it got {stream.n_waiting} rows and needs "
                f"{stream.n_needed}, with at least as many distinct rows as rules. Call partial_fit with more rows."
            )
        check_is_fitted(self, "model_")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")
