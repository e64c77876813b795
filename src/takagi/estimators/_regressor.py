"""The regressor: scikit-learn's interface around a fit."""

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from takagi._checks import is_dask, validate_rows
from takagi._compat import fit_context
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._typing import FloatArray, Table
from takagi._validation import make_rng
from takagi._wording import name_outputs
from takagi.calibration import Calibration
from takagi.estimators._base import BaseTSK
from takagi.estimators._collections import open_collections
from takagi.estimators._intervals import read_rows
from takagi.estimators._threads import count_threads, with_one_blas_thread
from takagi.fitting import (
    Mix,
    Rows,
    Watch,
    calibrate_model,
    cross_validate,
    find_errors,
    fit_ridge_instead,
    fit_rules,
    make_plan,
    merge_equal_rows,
)
from takagi.predictors import PredictsIntervals
from takagi.rulemodel import RuleModel
from takagi.training import Callback


class TSKRegressor(PredictsIntervals, MultiOutputMixin, RegressorMixin, BaseTSK):
    """Takagi-Sugeno-Kang fuzzy regression: a handful of IF-THEN rules, trained by gradient descent.

    Rules start from fuzzy c-means clusters and are trained with mini-batches and Powerball AdaBelief. The accurate
    recipe aims at a small error: pilot fits on some of the rows measure the noise of the target and set the penalties,
    and then all rows train. The DropRule recipe is the paper's: rules are dropped at random during training, so that
    every rule learns to predict by itself, and the iterate with the smallest error on held-out rows is kept. The fitted
    rules are in the units of the data.

    Parameters
    ----------
    n_rules : int, "auto" or None, default=None
        Number of rules, the paper's R. "auto" means the power of two nearest to an eighth of the rows, from 8 to 64,
        and 128 above 1,000 rows; one rule if pilot fits are no better than ridge regression. For short rules it is the
        largest total number in all parts, and with "auto" cross-validation chooses it: the smallest of 1, 2, 3, 5, 7, 9
        and 12 whose error is within one standard error of the best. None means 5 for short rules, else "auto".
    recipe : {"auto", "accurate", "droprule", "short"}, default="auto"
        How the rules are learned. "accurate": penalties are set by pilot fits, and all rows train to the end.
        "droprule": DropRule is on, and held-out rows choose the iterate. "short": few rules with few conditions and
        terms, each true by itself; the model may then be a sum of rule bases, and formulas may bend. "auto" is "short"
        if `max_conditions` or `max_terms` is given, else "accurate".
    max_conditions, max_terms : int, optional
        Largest number of conditions and of terms of a short rule, 3 and 4 by default.
    init : {"fcm", "kmeans", "random", "grid"} or initializer, default="fcm"
        How the initial rules are made; an object of `takagi.initializers` to set its options.
    projection : {None, "antecedent", "shared", "separate"}, default=None
        Affine combinations of the features, trained with the rules and put before the features: in the conditions
        (FCM-RDpA'), one for conditions and consequents (FCM-RDpA''), or one for each (FCM-RDpAx).
    n_projections : int or "log2", default="log2"
        Number of combinations; "log2" takes log2(n_rules).
    optimizer : {"adabelief", "adam", "adabound", "sgdm"} or optimizer, default="adabelief"
        Update rule; an object of `takagi.optimizers` to set its constants, or one of your own with the methods `phi`,
        `psi` and `omega` of `takagi.optimizers.OwnOptimizer`.
    bounds : {"auto", "data", None} or Bounds or FeasibleSet, default="auto"
        Limits of the parameters during training. "data" keeps centers between the smallest and the largest value of
        their column in the training rows, and widths at most as large as that range; None sets no limits. "auto" is
        "data" in the accurate recipe and None in the DropRule one. Or, in standardized units, a
        `takagi.training.Bounds`, or an object of your own with the method `project` of `takagi.training.FeasibleSet`;
        `partial_fit` does not use these two.
    learning_rate : float, default=0.03
        The paper's alpha.
    powerball : float, default=0.5
        The paper's gamma: gradients become ``sign(g) |g|^gamma``; 1 means plain gradients.
    keep_prob : float or "auto", default="auto"
        The paper's P: the probability that DropRule keeps a rule, for each row and rule. "auto" is 0.8 in the DropRule
        recipe, and 1 (no rule is dropped) in the accurate one.
    l2 : float or "auto", default="auto"
        The paper's lambda: penalty on all consequent weights but the bias. "auto" is 0.05 in the DropRule recipe; in
        the accurate one, pilot fits set it.
    smoothness : float or "auto", default="auto"
        Penalty on narrow sets: half of it times the sum of ``1 / widths**2`` (of standardized inputs) is added to the
        loss of a batch. "auto" is 0 in the DropRule recipe; in the accurate one, pilot fits set it.
    agreement : float or "auto", default="auto"
        Penalty on rules that disagree where they govern: half of it times the sum over rules of ``share * (output -
        prediction)**2`` is added to the loss of each row, which is half the squared error. With 0.03 the rule that
        governs a row is hardly ever far off by itself, and the error of the model is 10 to 15 % larger on average.
        "auto" is 0.1 for short rules, else 0.
    batch_size : int or "auto", default="auto"
        Rows per iteration. "auto" is 64; in the accurate recipe 256 from 2,000 rows on.
    max_iter : int or "auto", default="auto"
        Iterations; half as many for a pilot fit. "auto" is 5,000. In the accurate recipe of a regressor it is 3,500,
        with 10/7 of the learning rate, if pilot fits find that more than 3 % of the target's variance is noise and do
        not choose narrow sets. With "auto", a member of a committee stops when a third of the iterations have brought
        no improvement.
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero along half a cosine.
    averaging : float, default=0.98
        Decay of a running mean of the parameters; the mean is validated and kept. 0 for none.
    n_teachers : int or "auto", default="auto"
        Number of fits whose mean prediction is distilled into one rule base [1]_, unless rows are held out; 0 or 1 for
        none. "auto" is 4 in the accurate recipe below 1,000 rows and up to 24 features, which takes twice as long, else
        0.
    n_adjustments : int or "auto", default="auto"
        Largest number of columns that are adjusted for: for single values of a column, such as a school or a year, the
        mean of what the rules leave over is added, if that clearly helps. Each is one more part of `model_`. "auto" is
        3 in the accurate recipe with `n_rules="auto"`, else 0. With 0, and unless rules are short, the model is one
        rule base, `rule_base_`.
    standardize : bool or "inputs", default=True
        Train on inputs and target of zero mean and unit variance ("inputs": the target is only centered, as in the
        paper; False: the inputs are not scaled). The fitted rules are always in the data's units.
    extrapolation : {"hold", "linear"}, default="hold"
        What the model predicts far beyond its data. "hold": each feature has limits, one range of the training rows
        below the smallest and above the largest training value. Values beyond a limit count as the limit, and `predict`
        warns. A feature that is constant in the training rows is held at its value. "linear": no limits, as in the
        paper.
    validation_fraction : float, default=0.15
        Fraction of the rows that is held out, at most 2,000 rows: to choose the best iterate, or to judge pilot fits.
        Not used if `fit` gets `X_val`.
    warm_start : bool, default=False
        Whether `fit` starts from the rules that the model has, if any, instead of initial ones; `n_rules`, `init` and
        `projection` are then ignored.
    n_iter_no_change : int, optional
        Stop when the error on held-out rows has not fallen for this number of iterations. With it, the accurate recipe
        also holds out rows.
    random_state : int, RandomState instance or None, default=None
        Makes `fit` reproducible, to the bit on one machine.
    n_jobs : int, optional
        Number of threads of `fit`, which runs pilots and teachers in parallel, and of `predict`; -1 for all cores. It
        does not change the result. By default `fit` uses all cores, or one thread inside other parallel work (such as a
        search of scikit-learn) or if OMP_NUM_THREADS is 1, and `predict` uses one.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    model_ : RuleModel
        The fitted rules, in the units of the data: a sum of rule bases, usually one. Rules that govern most of the
        training rows come first. Print it to read them.
    rule_base_ : RuleBase
        The only part of `model_`, if it has just one.
    calibration_ : Calibration or None
        The errors on held-out rows, for intervals; see `calibrate`.
    history_ : dict of str to ndarray of shape (n_iter_,)
        Losses of the training that made `rule_base_`: "train_loss" of each batch and "val_loss" on held-out rows, NaN
        if there are none. They are RMSEs in the target's units, or in standard deviations if there are several targets
        and they are standardized. After `partial_fit` there are at most 1,000 entries, with fewer of the older ones,
        and their "iteration".
    best_iter_ : int
        The iteration of that training, from 1, that `rule_base_` was taken from: the last one, or the best one on
        held-out rows; 0 if none was better than the initial rules.
    n_iter_ : int
        Iterations of that training.
    stages_ : tuple of Stage
        The stages of the fit, with `name`, `n_fits`, `n_iter` and `seconds`: "pilots", "training", "teachers",
        "student".
    recipe_ : {"accurate", "droprule", "short"}
        The recipe that was used.
    n_rules_, keep_prob_, l2_, smoothness_, batch_size_ : int or float
        The values that were used for "auto".
    stopped_ : {"max_iter", "no_change", "callback", "interrupted", "diverged", "ridge", "stream", "limits"}
        Why training ended; "ridge": there was no training, since ridge regression was better than pilot fits, and is
        the only rule; "stream": it continues with the next `partial_fit`; "limits": short rules have reached `n_rules`.
    stream_ : takagi.streaming.Stream
        The state from which `partial_fit` continues; only after `partial_fit`.
    is_single_target_ : bool
        Whether predictions are one number a row.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if they had names.

    Notes
    -----
    If `fit` splits the rows itself, it first merges equal rows into one row with the sum of their weights, and sorts
    the rows by their values. So no row both trains and validates, a weight of 3 equals three copies, and the order of
    the rows does not matter. Rows given together with `X_val` are neither merged nor sorted, as in the paper.

    References
    ----------
    Z. Shi, D. Wu, C. Guo, C. Zhao, Y. Cui and F.-Y. Wang, FCM-RDpA: TSK fuzzy regression model construction using fuzzy
    c-means clustering, regularization, DropRule, and Powerball AdaBelief, Information Sciences 574 (2021).

    .. [1] G. Hinton, O. Vinyals and J. Dean, Distilling the knowledge in a neural network, arXiv:1503.02531 (2015).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=500, random_state=0).fit(X[["bmi", "bp"]], y)
    >>> print(model.rule_base_)
    Rule 1 (66 % of the data)
      IF bmi is medium (about -0.023 +- 0.046)
         and bp is medium (about -0.018 +- 0.048)
      THEN target = 133 + 390 bmi + 180 bp
    Rule 2 (34 % of the data)
      IF bmi is high (about 0.042 +- 0.038) and bp is high (about 0.044 +- 0.040)
      THEN target = 184 + 420 bmi + 350 bp
    """

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
            Numbers; at least two rows. If X is a Dask collection, y and `sample_weight` must be Dask collections, too;
            above 50,000 rows, training goes partition by partition, as in `fit_dataset`.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            One target or several.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        X_val, y_val : arrays as X and y, optional
            Validation rows, which choose the best iterate instead of a part of X.
        callback : callable, optional
            Called with a `takagi.training.Progress` every few hundred iterations of all stages, including pilots. If it
            returns True, the current training stops, and later ones stop after their first block. Pilots and teachers
            call it from their own threads, one call at a time.

        Returns
        -------
        TSKRegressor
            The fitted estimator.

        Notes
        -----
        While the rules themselves train, Ctrl-C keeps the best rules so far, with a warning. During a pilot fit it
        raises KeyboardInterrupt, and the estimator does not change.
        """
        if is_dask(X):
            X, y, sample_weight, passes = open_collections(self, X, y, sample_weight, (X_val, y_val))
            if passes is not None:
                return self.fit_passes(X, y, sample_weight, passes, callback=callback)
        return self._fit(copy(self), X, y, sample_weight, (X_val, y_val), callback)

    def predict(self, X: Table, return_std: bool = False) -> Any:
        """Predict the target of rows.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
        return_std : bool, default=False
            Whether to return the standard deviations of the predictions as well. This needs a calibration; see
            `predict_interval`.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            For a Dask collection, a lazy array, or for a data frame a lazy series or data frame with its index. With
            `return_std`, a tuple of two such arrays.

        Warns
        -----
        ExtrapolationWarning
            If values far beyond the training rows are held; see `extrapolation`, and `takagi.inspection.find_outside`.
        """
        rules = self.find_rules()
        if return_std:
            return self._predict_both(X)
        if is_dask(X):
            n_outputs = None if self.is_single_target_ else rules.n_outputs
            return map_rows(self.predict, X, n_outputs, name_outputs(rules))
        rows = validate_rows(self, X)
        warn_of_held(rows, rules.limits, rules.feature_names)
        prediction = rules.predict(rows, n_threads=count_threads(self.n_jobs))
        return prediction if self.is_single_target_ else prediction.reshape(len(prediction), -1)

    # -- intervals -----------------------------------------------------------------------------------------------------

    @property
    def calibration_(self) -> Calibration | None:
        """The errors on held-out rows, for intervals; None if there are none."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"This {type(self).__name__} has no rules yet; call fit first.")
        return self.model_.calibration

    @with_one_blas_thread
    def calibrate(self, X: Table, y: Table, sample_weight: Table = None, *, cv: int | None = None) -> "TSKRegressor":
        """Measure the errors on held-out rows, which `predict_interval` needs.

        `fit` already does so if it can: the DropRule recipe with its held-out rows, the accurate one with the held-out
        rows of pilot fits. Pilots have fewer rules, so their errors are somewhat too large, and the intervals somewhat
        too wide. This method replaces that calibration, with other rows or by cross-validation.

        Parameters
        ----------
        X, y : arrays as in `fit`
            Rows that the model was not fitted on; with training rows, the intervals would be too narrow. With `cv`, the
            rows that it was fitted on.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.
        cv : int, optional
            Number of folds of cross-validation. For each fold, a copy with as many rules and the same penalties is
            fitted to the other rows. The model itself does not change.

        Returns
        -------
        TSKRegressor
            The estimator.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from takagi import TSKRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = TSKRegressor(recipe="short", n_rules=1, random_state=0).fit(X[:400], y[:400])
        >>> model = model.calibrate(X[:400], y[:400], cv=3)
        >>> intervals = model.predict_interval(X[400:], coverage=0.8)
        >>> intervals.shape, bool((intervals[:, 0] < intervals[:, 1]).all())
        ((42, 2), True)
        """
        model = self.find_rules()
        rows = read_rows(copy(self), (X, y, sample_weight), model.n_outputs)
        if cv is None:
            self.model_ = calibrate_model(model, find_errors(model, rows), "given")
        else:
            self.model_ = calibrate_model(model, self._cross_validate(rows, cv), "folds")
        return self

    def _cross_validate(self, rows: Rows, cv: int) -> Rows:
        """Return the out-of-fold errors of fits with the same settings."""
        rows = merge_equal_rows(rows)
        if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or not 2 <= cv <= len(rows.X):
            raise ValueError(
                f"cv must be a number of folds from 2 to {len(rows.X)}, the number of distinct rows, got {cv!r}."
            )
        rng, watch = make_rng(self.random_state), Watch(None, self.verbose)
        params = self.get_params(deep=False)
        params |= {name: getattr(self, f"{name}_") for name in ("recipe", "l2", "smoothness")}
        if self.recipe_ != "short":
            params |= {"n_rules": self.model_.first.n_rules, "n_adjustments": len(self.model_.parts) - 1}
        elif self.n_adjustments in ("auto", 0):  # else the number of rules counts adjustments, too
            params["n_rules"] = self.n_rules_
        plan = make_plan(params, *rows.X.shape)

        def fit(training: Rows) -> RuleModel:
            n_rules = plan.n_rules if plan.has_fixed_rules else min(plan.n_rules, len(training.X))
            own = replace(plan, n_rules=n_rules)
            if self.stopped_ == "ridge":
                return fit_ridge_instead(training, training, own, Mix(rules=0.0), watch).model
            fitted = fit_rules(training, own, rng, watch)
            if fitted.stopped == "interrupted":
                raise KeyboardInterrupt
            return fitted.model

        return cross_validate(rows, fit, rng, int(cv))

    def _find_calibration(self) -> Calibration | None:
        return self.find_rules().calibration

    def _predict_spread(self, X: Table) -> tuple[FloatArray, FloatArray]:
        rows = validate_rows(self, X)
        warn_of_held(rows, self.model_.limits, self.model_.feature_names)
        return self.model_.predict_spread(rows, count_threads(self.n_jobs))

    def _say_how(self) -> str:
        return super()._say_how()[:-1] + ", or calibrate(X, y, cv=5) with the training rows."
