"""The regressor: scikit-learn's interface around initialiser and training."""

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from takagi._compat import HasMethods, Interval, fit_context
from takagi._messages import unknown_name
from takagi._typing import FloatArray, Table
from takagi._validation import validate_rows
from takagi.estimators._base import validate_held_out, validate_training
from takagi.estimators._rows import Rows, Units, measure_units, merge_equal_rows, split_rows
from takagi.initializers import INITIALIZERS, Initializer, count_distinct
from takagi.optimizers import OPTIMIZERS, Optimizer
from takagi.profile import measure_profile
from takagi.rulebase import RuleBase
from takagi.training import Callback, Progress, TrainConfig, TrainResult, train

_PROJECTIONS = ("antecedent", "shared", "separate")
_SCHEDULES = ("constant", "cosine")


class TSKRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Takagi-Sugeno-Kang fuzzy regression: a handful of IF-THEN rules, trained by gradient descent.

    Rules start from fuzzy c-means clusters and are trained with mini-batches, L2, DropRule and Powerball AdaBelief; the
    iterate with the smallest error on held-out rows is kept. The fitted rules are in the units of the data.

    Parameters
    ----------
    n_rules : int, default=16
        Number of rules, the paper's R.
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
    keep_prob : float, default=0.8
        The paper's P: the chance that DropRule keeps a rule, for each row and rule.
    l2 : float, default=0.05
        The paper's lambda: penalty on all consequent weights but the bias.
    batch_size : int, default=64
        Rows per iteration.
    max_iter : int, default=5000
        Iterations.
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero along half a cosine.
    averaging : float, default=0.98
        Decay of a running mean of the parameters, which is then what is validated and kept; 0 for none.
    standardize : bool or "inputs", default=True
        Train on inputs and target of zero mean and unit variance ("inputs": the target is centred only, as in the
        paper; False: the inputs are taken as they are). The fitted rules are in the data's units in any case.
    validation_fraction : float, default=0.15
        Part of the rows held out to choose the best iterate, at most 2,000 rows; not used when `fit` gets `X_val`.
    n_iter_no_change : int, optional
        Stop when the validation error has not fallen for so many iterations.
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
        "train_rmse" of each batch and "val_rmse" on the held-out rows; in the target's units, or in standard deviations
        if there are several targets and they are standardised.
    best_iter_ : int
        The iteration, from 1, that `rule_base_` was taken from; 0 if none was better than the initial rules.
    n_iter_ : int
        Iterations done.
    stopped_ : {"max_iter", "no_change", "callback", "interrupted", "diverged"}
        Why training ended.
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
        "n_rules": [Interval(Integral, 1, None, closed="left")],
        "init": [str, HasMethods("make_rules")],
        "projection": [None, str],
        "n_projections": [str, Interval(Integral, 1, None, closed="left")],
        "optimizer": [str, HasMethods("spec")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "powerball": [Interval(Real, 0, None, closed="left")],
        "keep_prob": [Interval(Real, 0, 1, closed="right")],
        "l2": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "schedule": [str],
        "averaging": [Interval(Real, 0, 1, closed="left")],
        "standardize": ["boolean", str],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_rules: int = 16,
        *,
        init: str | Initializer = "fcm",
        projection: str | None = None,
        n_projections: int | str = "log2",
        optimizer: str | Optimizer = "adabelief",
        learning_rate: float = 0.03,
        powerball: float = 0.5,
        keep_prob: float = 0.8,
        l2: float = 0.05,
        batch_size: int = 64,
        max_iter: int = 5000,
        schedule: str = "cosine",
        averaging: float = 0.98,
        standardize: bool | str = True,
        validation_fraction: float = 0.15,
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
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.schedule = schedule
        self.averaging = averaging
        self.standardize = standardize
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @fit_context(prefer_skip_nested_validation=True)
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
            Numbers; at least two rows.
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
        initializer, config = self._resolve_names()
        rows, is_single = validate_training(self, X, y, sample_weight)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**32, size=4, dtype=np.uint64))
        training, validation = self._split(rows, X_val, y_val, rng)
        units = measure_units(training, self.standardize)
        scaled, validation = units.standardize(training), units.standardize(validation)
        start = self._initialize(initializer, scaled, rng)
        result = train(
            start,
            scaled.X,
            scaled.y,
            validation.X,
            validation.y,
            config,
            rng=rng,
            sample_weight=scaled.weight,
            sample_weight_val=validation.weight,
            callback=self._make_callback(callback, units),
        )
        result = _keep_start_if_better(result, start)
        rules = result.rule_base.rename(getattr(self, "feature_names_in_", None), _target_names(y))
        self._store(replace(result, rule_base=rules), training, units)
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
        """
        check_is_fitted(self, "rule_base_")
        prediction = self.rule_base_.predict(validate_rows(self, X), n_threads=_count_threads(self.n_jobs))
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
        check_is_fitted(self, "rule_base_")
        return self.rule_base_.firing_share(validate_rows(self, X))

    # -- the steps of fit ----------------------------------------------------------------------------------------------

    def _resolve_names(self) -> tuple[Initializer, TrainConfig]:
        """Return the objects that the parameters name, or an error with the nearest name."""
        for name, known in (("projection", _PROJECTIONS), ("schedule", _SCHEDULES)):
            if getattr(self, name) is not None and getattr(self, name) not in known:
                raise unknown_name(name, getattr(self, name), known)
        for name, word in (("n_projections", "log2"), ("standardize", "inputs")):
            if isinstance(getattr(self, name), str) and getattr(self, name) != word:
                raise unknown_name(name, getattr(self, name), [word])
        config = TrainConfig(
            optimizer=_look_up("optimizer", self.optimizer, OPTIMIZERS),
            learning_rate=self.learning_rate,
            powerball=self.powerball,
            keep_prob=self.keep_prob,
            l2=self.l2,
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            schedule=self.schedule,
            averaging=self.averaging,
            n_iter_no_change=self.n_iter_no_change,
        )
        return _look_up("init", self.init, INITIALIZERS), config

    def _split(self, rows: Rows, X_val: Table, y_val: Table, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Return training and validation rows, the weights of the former with mean 1."""
        if X_val is None and y_val is None:
            training, validation = split_rows(merge_equal_rows(rows), self.validation_fraction, rng)
        else:
            validation = validate_held_out(self, X_val, y_val, rows.y.shape[1])
            training = rows.take(np.flatnonzero(rows.weight > 0))
        return training._replace(weight=training.weight / training.weight.mean()), validation

    def _initialize(self, initializer: Initializer, rows: Rows, rng: np.random.Generator) -> RuleBase:
        """Return the initial rules, with projections onto principal components if wanted."""
        if self.projection is None:
            rules = initializer.make_rules(rows.X, rows.y, self.n_rules, rng, rows.weight)
        else:
            directions = self._principal_directions(rows.X)
            inputs = np.hstack([rows.X @ directions, rows.X])
            rules = initializer.make_rules(inputs, rows.y, self.n_rules, rng, rows.weight)
            rules = _add_projection(rules, directions, self.projection)
        if self.verbose and rules.n_rules > 1 and rules.sets is None:
            _tell_collapse(rules, rows.X)
        return rules

    def _principal_directions(self, X: FloatArray) -> FloatArray:
        wanted = max(1, round(np.log2(self.n_rules))) if self.n_projections == "log2" else int(self.n_projections)
        return PCA(min(wanted, *X.shape), svd_solver="full").fit(X).components_.T

    def _make_callback(self, callback: Callback | None, units: Units) -> Callback | None:
        """Return what to call between blocks: progress if verbose, then the user's callback, in the data's units."""
        if not self.verbose and callback is None:
            return None
        factor = _history_factor(units)

        def call(progress: Progress) -> object:
            scaled = {name: getattr(progress, name) * factor for name in ("train_rmse", "val_rmse", "best_rmse")}
            progress = replace(progress, **scaled)
            if self.verbose:
                _show(progress)
            return callback(progress) if callback is not None else None

        return call

    def _store(self, result: TrainResult, training: Rows, units: Units) -> None:
        """Set the fitted attributes, in the units of the data; the rules that govern most come first."""
        rules = result.rule_base.rescale(*units)
        profile = measure_profile((training.X, training.y), rules.firing_share, training.weight)
        order = np.argsort(-profile.share, kind="stable")
        self.rule_base_ = replace(rules.take(order), profile=replace(profile, share=profile.share[order]))
        factor = _history_factor(units)
        self.history_ = {name: values * factor for name, values in result.history.items()}
        self.best_iter_ = result.best_iter
        self.n_iter_ = result.n_iter
        self.stopped_ = result.stopped


def _look_up(parameter: str, value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, type):
        raise ValueError(f"{parameter} must be a name or an object, got the class; write {value.__name__}().")
    if not isinstance(value, str):
        return value
    if value not in known:
        raise unknown_name(parameter, value, known)
    return known[value]


def _add_projection(rules: RuleBase, directions: FloatArray, kind: str) -> RuleBase:
    """Make rules over [X P, X] rules over X with a projection for the conditions and, by kind, for the consequents."""
    projection = np.vstack([np.zeros(directions.shape[1]), directions])
    if kind == "antecedent":
        slopes = np.delete(rules.consequents, np.arange(1, 1 + directions.shape[1]), axis=2)
        return replace(rules, consequents=slopes, antecedent_projection=projection)
    return replace(
        rules,
        antecedent_projection=projection,
        consequent_projection=projection,
        tied_projection=kind == "shared",
    )


def _keep_start_if_better(result: TrainResult, start: RuleBase) -> TrainResult:
    """Return the initial rules, with a warning, where training only made things worse."""
    if result.best_iter and not result.best_rmse > result.start_rmse:
        if result.stopped == "diverged":
            warnings.warn(
                f"Training diverged in iteration {result.n_iter + 1}; the rules of iteration {result.best_iter} are "
                "kept. Lower learning_rate.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result
    warnings.warn(
        f"No iteration was better than the initial rules on the validation rows, which are kept (training ended: "
        f"{result.stopped}). Lower learning_rate if the target depends on the features.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return replace(result, rule_base=start, best_iter=0)


def _tell_collapse(rules: RuleBase, X: FloatArray) -> None:
    n_distinct = count_distinct(rules.centers[:, -X.shape[1] :], X)
    if n_distinct < rules.n_rules:
        print(  # noqa: T201
            f"[takagi] the {rules.n_rules} initial rules have {n_distinct} distinct centers; training tells them "
            "apart. FuzzyCMeansInitializer(m=1.2) or init='kmeans' start apart."
        )


def _history_factor(units: Units) -> float:
    """Return the target's scale, which takes errors back to its units; with several scales there is no such number."""
    return float(units.y_scale[0]) if len(units.y_scale) == 1 else 1.0


def _show(progress: Progress) -> None:
    print(  # noqa: T201
        f"[takagi] iteration {progress.n_iter}/{progress.max_iter}: batch RMSE {progress.train_rmse:.4g}, validation "
        f"{progress.val_rmse:.4g}, best {progress.best_rmse:.4g} in iteration {progress.best_iter}"
    )


def _target_names(y: Table) -> list[str] | None:
    """Return the name or names of the target, if it has any."""
    if hasattr(y, "columns"):
        return [str(name) for name in y.columns]
    name = getattr(y, "name", None)
    return [str(name)] if name else None


def _count_threads(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    return effective_n_jobs(n_jobs) if n_jobs is not None else 1
