"""The regressor: scikit-learn's interface around initialiser and training."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from takagi._compat import HasMethods, Interval, StrOptions, fit_context
from takagi._dask import is_dask, map_rows
from takagi._messages import unknown_name
from takagi._threads import with_one_blas_thread
from takagi._typing import FloatArray, Table
from takagi._validation import validate_rows
from takagi._wording import name_outputs
from takagi.estimators._base import (
    count_threads,
    make_rng,
    read_target_names,
    validate_held_out,
    validate_training,
)
from takagi.estimators._dask_fit import fit_partitions, takes_collections
from takagi.estimators._partial_fit import PartialFitMixin
from takagi.fitting._advice import seek_advice
from takagi.fitting._distillation import run_taught
from takagi.fitting._fitting import Fitted, Fitting, PilotEnded, keep_start_if_better, take_line
from takagi.fitting._recipe import Recipe, choose_recipe
from takagi.fitting._rows import Rows, merge_equal_rows, split_rows
from takagi.fitting._verbose import show_progress
from takagi.fitting._warm_start import check_start
from takagi.initializers import INITIALIZERS, Initializer
from takagi.optimizers import OPTIMIZERS, Optimizer
from takagi.training import Callback, TrainConfig

_PROJECTIONS = ("antecedent", "shared", "separate")
_AUTO = StrOptions({"auto"})


class TSKRegressor(PartialFitMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Takagi-Sugeno-Kang fuzzy regression: a handful of IF-THEN rules, trained by gradient descent.

    Rules start from fuzzy c-means clusters and are trained with mini-batches and Powerball AdaBelief. A given number of
    rules is meant to be read: DropRule is on, which makes every rule predict on its own, and the iterate with the
    smallest error on held-out rows is kept. Without one the aim is to predict: rules are as many as the rows can tell
    apart, pilot fits on a part of the rows find out how noisy the target is, penalties are set accordingly, and all
    rows train; below 2,000 rows four such fits teach their mean to one. The fitted rules are in the units of the data.

    Parameters
    ----------
    n_rules : int or "auto", default="auto"
        Number of rules, the paper's R. "auto" takes the power of two nearest to an eighth of the rows, from 8 to 64,
        128 above 1,000 rows, fewer for more than 25 features, and one where ridge regression beats the pilot fits.
    init : {"fcm", "kmeans", "random", "grid"} or initialiser, default="fcm"
        How the rules start; an object of `takagi.initializers` to set its options.
    projection : {None, "antecedent", "shared", "separate"}, default=None
        Affine combinations of the features, trained with the rules and put before the features: in the conditions
        (FCM-RDpA'), one for conditions and consequents (FCM-RDpA''), or one for each (FCM-RDpAx).
    n_projections : int or "log2", default="log2"
        Number of combinations; "log2" takes log2(n_rules).
    optimizer : {"adabelief", "adam", "adabound", "sgdm"} or optimiser, default="adabelief"
        Update rule; an object of `takagi.optimizers` to set its constants.
    learning_rate : float, default=0.03
        The paper's alpha.
    powerball : float, default=0.5
        The paper's gamma: gradients become ``sign(g) |g|^gamma``; 1 leaves them as they are.
    keep_prob : float or "auto", default="auto"
        The paper's P: the chance that DropRule keeps a rule, for each row and rule. "auto" is 0.8 for a given number of
        rules and 1, which drops none, for `n_rules="auto"`.
    l2 : float or "auto", default="auto"
        The paper's lambda: penalty on all consequent weights but the bias. "auto" is 0.05 with DropRule; without it,
        pilot fits set it.
    smoothness : float or "auto", default="auto"
        Penalty on narrow sets: half of it times the sum of ``1 / widths**2`` (of standardised inputs) is added to the
        loss of a batch. "auto" is 0 with DropRule; without it, pilot fits set it.
    batch_size : int or "auto", default="auto"
        Rows per iteration. "auto" is 64; without DropRule 256 from 2,000 rows on.
    max_iter : int, default=5000
        Iterations; half as many for a pilot fit.
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero along half a cosine.
    averaging : float, default=0.98
        Decay of a running mean of the parameters, which is then what is validated and kept; 0 for none.
    standardize : bool or "inputs", default=True
        Train on inputs and target of zero mean and unit variance ("inputs": the target is centred only, as in the
        paper; False: the inputs are taken as they are). The fitted rules are in the data's units in any case.
    validation_fraction : float, default=0.15
        Part of the rows held out, at most 2,000: to choose the best iterate by, or, where pilot fits set a penalty, to
        judge these. Not used when `fit` gets `X_val`.
    warm_start : bool, default=False
        Whether `fit` goes on from the rules that the model has, if it has any, in place of initial ones; `n_rules`,
        `init` and `projection` are then not looked at.
    n_iter_no_change : int, optional
        Stop when the error on held-out rows, which then do not train in any case, has not fallen for so many
        iterations.
    random_state : int, RandomState instance or None, default=None
        Makes `fit` reproducible, to the bit on one machine.
    n_jobs : int, optional
        Threads of `predict`; -1 for all cores. Does not change the result.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    rule_base_ : RuleBase
        The fitted rules, in the units of the data, those that govern most of the training rows first. Print it to read
        them.
    history_ : dict of str to ndarray of shape (n_iter_,)
        "train_loss" of each batch and "val_loss" on held-out rows, NaN where all rows trained; in the target's units,
        or in standard deviations if there are several targets and they are standardised. Where several fits teach one,
        that of the first. After `partial_fit`, at most 1,000 entries, older ones thinned out, and their "iteration".
    best_iter_ : int
        The iteration, from 1, that `rule_base_` was taken from: the last one, or the best one on held-out rows; 0 if
        none was better than the initial rules.
    n_rules_, keep_prob_, l2_, smoothness_, batch_size_ : int or float
        What was used where the parameter is "auto".
    n_iter_ : int
        Iterations done.
    stopped_ : {"max_iter", "no_change", "callback", "interrupted", "diverged", "line", "stream"}
        Why training ended; "line": it did not begin, since ridge regression did better than pilot fits and is the one
        rule; "stream": it goes on with the next `partial_fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Notes
    -----
    When `fit` splits the rows itself, equal rows are one row with their weights added up, and rows are put in an order
    of their own first. So a row does not train and validate at once, a weight of 3 equals three copies, and the order
    of the rows does not matter. Rows given together with `X_val` are taken as they come, as in the paper.

    References
    ----------
    Z. Shi, D. Wu, C. Guo, C. Zhao, Y. Cui and F.-Y. Wang, FCM-RDpA: TSK fuzzy regression model construction using fuzzy
    c-means clustering, regularization, DropRule, and Powerball AdaBelief, Information Sciences 574 (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=2, max_iter=500, random_state=0).fit(X[["bmi", "bp"]], y)
    >>> print(model.rule_base_)
    Rule 1 (66 % of the data)
      IF bmi is medium (about -0.023 +- 0.046)
         and bp is medium (about -0.018 +- 0.048)
      THEN target = 133 + 390 bmi + 180 bp
    Rule 2 (34 % of the data)
      IF bmi is high (about 0.042 +- 0.038) and bp is high (about 0.044 +- 0.040)
      THEN target = 184 + 420 bmi + 350 bp
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_rules": [_AUTO, Interval(Integral, 1, None, closed="left")],
        "init": [str, HasMethods("make_rules")],
        "projection": [None, str],
        "n_projections": [str, Interval(Integral, 1, None, closed="left")],
        "optimizer": [str, HasMethods("spec")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "powerball": [Interval(Real, 0, None, closed="left")],
        "keep_prob": [_AUTO, Interval(Real, 0, 1, closed="right")],
        "l2": [_AUTO, Interval(Real, 0, None, closed="left")],
        "smoothness": [_AUTO, Interval(Real, 0, None, closed="left")],
        "batch_size": [_AUTO, Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "schedule": [str],
        "averaging": [Interval(Real, 0, 1, closed="left")],
        "standardize": ["boolean", str],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "warm_start": ["boolean"],
        "n_iter_no_change": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_rules: int | str = "auto",
        *,
        init: str | Initializer = "fcm",
        projection: str | None = None,
        n_projections: int | str = "log2",
        optimizer: str | Optimizer = "adabelief",
        learning_rate: float = 0.03,
        powerball: float = 0.5,
        keep_prob: float | str = "auto",
        l2: float | str = "auto",
        smoothness: float | str = "auto",
        batch_size: int | str = "auto",
        max_iter: int = 5000,
        schedule: str = "cosine",
        averaging: float = 0.98,
        standardize: bool | str = True,
        validation_fraction: float = 0.15,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_rules = n_rules
        self.init = init
        self.projection = projection
        self.n_projections = n_projections
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.powerball = powerball
        self.keep_prob = keep_prob
        self.l2 = l2
        self.smoothness = smoothness
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.schedule = schedule
        self.averaging = averaging
        self.standardize = standardize
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
    ) -> "TSKRegressor":
        """Fit rules to rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; at least two rows. With Dask collections, y and `sample_weight` are such, too; beyond 50,000 rows
            they are trained on partition by partition, as `fit_dataset` does.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            One target or several.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        X_val, y_val : arrays as X and y, optional
            Rows to choose the best iterate by, in place of a part of X.
        callback : callable, optional
            Called with a `takagi.training.Progress` every few hundred iterations; training ends when it returns True.

        Returns
        -------
        TSKRegressor
            The fitted estimator.
        """
        if takes_collections(X, X_val, y_val):
            fit_partitions(self, X, y, sample_weight, callback)
            return self
        rng = make_rng(self.random_state)
        fitting, config = self._prepare(rng)
        start = getattr(self, "rule_base_", None) if self.warm_start else None
        rows, is_single = validate_training(self, X, y, sample_weight, reset=start is None)
        if start is not None:
            check_start(start, rows.y.shape[1])
        rows, held_out = self._gather(rows, X_val, y_val)
        recipe = self._choose_recipe(rows)
        tell = show_progress(callback) if self.verbose else callback
        try:
            advice = seek_advice(fitting, recipe, config, rows, held_out, self.validation_fraction)
            training, validation = self._split(recipe, rows, held_out, rng)
            config = recipe.configure(config, advice.strength, training, fitting.scales_target)
            if advice.prefers_line and start is None:
                fitted = take_line(training, config)
            elif recipe.is_taught and validation is None and start is None:
                fitted = keep_start_if_better(run_taught(fitting, training, recipe.n_rules, config, tell))
            else:
                last = replace(fitting, start=start)
                fitted = keep_start_if_better(last.run(training, validation, recipe.n_rules, config, tell))
        except PilotEnded as end:
            fitted = end.fitted
        self._store(fitted, read_target_names(y))
        self._is_single_target = is_single
        return self

    def predict(self, X: Table) -> FloatArray:
        """Predict the target of rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            For a Dask collection a lazy one: an array, or of a data frame a series or a data frame with its index.
        """
        self._check_has_rules()
        if is_dask(X):
            n_outputs = None if self._is_single_target else self.rule_base_.n_outputs
            return map_rows(self.predict, X, n_outputs, name_outputs(self.rule_base_))
        prediction = self.rule_base_.predict(validate_rows(self, X), n_threads=count_threads(self.n_jobs))
        return prediction if self._is_single_target else prediction.reshape(len(prediction), -1)

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule governs each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_rules)
            Normalised firing levels; every row sums to 1.
        """
        self._check_has_rules()
        return self.rule_base_.firing_share(validate_rows(self, X))

    # -- the steps of fit ----------------------------------------------------------------------------------------------

    def _prepare(self, rng: np.random.Generator) -> tuple[Fitting, TrainConfig]:
        """Return how fits are run, and their settings but for what is "auto"."""
        initializer, config = self._resolve_names()
        fitting = Fitting(initializer, self.projection, self.n_projections, self.standardize, rng, self.verbose)
        return fitting, config

    def _resolve_names(self) -> tuple[Initializer, TrainConfig]:
        """Return the objects that the parameters name, or an error with the nearest name."""
        if self.projection is not None and self.projection not in _PROJECTIONS:
            raise unknown_name("projection", self.projection, _PROJECTIONS)
        for name, word in (("n_projections", "log2"), ("standardize", "inputs")):
            if isinstance(getattr(self, name), str) and getattr(self, name) != word:
                raise unknown_name(name, getattr(self, name), [word])
        config = TrainConfig(
            optimizer=_look_up("optimizer", self.optimizer, OPTIMIZERS),
            learning_rate=self.learning_rate,
            powerball=self.powerball,
            max_iter=self.max_iter,
            schedule=self.schedule,
            averaging=self.averaging,
            n_iter_no_change=self.n_iter_no_change,
        )
        return _look_up("init", self.init, INITIALIZERS), config

    def _gather(self, rows: Rows, X_val: Table, y_val: Table) -> tuple[Rows, Rows | None]:
        """Return the rows to fit and those given to validate on."""
        if X_val is None and y_val is None:
            return merge_equal_rows(rows), None
        held_out = validate_held_out(self, X_val, y_val, rows.y.shape[1])
        return rows.take(np.flatnonzero(rows.weight > 0)), held_out

    @property
    def _wishes(self) -> tuple[int | str, float | str, int | str, float | str, float | str]:
        return self.n_rules, self.keep_prob, self.batch_size, self.l2, self.smoothness

    def _choose_recipe(self, rows: Rows) -> Recipe:
        return choose_recipe(*self._wishes, n_rows=len(rows.X), n_features=rows.X.shape[1])

    def _split(
        self, recipe: Recipe, rows: Rows, held_out: Rows | None, rng: np.random.Generator
    ) -> tuple[Rows, Rows | None]:
        """Return training and validation rows; without the latter all rows train to the end."""
        if held_out is not None:
            return rows, held_out
        if recipe.measures and self.n_iter_no_change is None:
            return rows, None
        return split_rows(rows, self.validation_fraction, rng)

    def _store(self, fitted: Fitted, target_names: list[str] | None) -> None:
        """Set the fitted attributes, in the units of the data; a stream that went on before is at its end."""
        self.__dict__.pop("_stream", None)
        self.rule_base_ = fitted.ordered_rules.rename(getattr(self, "feature_names_in_", None), target_names)
        for name in ("keep_prob", "batch_size", "l2", "smoothness"):
            setattr(self, f"{name}_", getattr(fitted.config, name))
        self.n_rules_ = self.rule_base_.n_rules
        self.history_ = fitted.history
        self.best_iter_ = fitted.result.best_iter
        self.n_iter_ = fitted.result.n_iter
        self.stopped_ = fitted.result.stopped


def _look_up(parameter: str, value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, type):
        raise ValueError(f"{parameter} must be a name or an object, got the class; write {value.__name__}().")
    if not isinstance(value, str):
        return value
    if value not in known:
        raise unknown_name(parameter, value, known)
    return known[value]
