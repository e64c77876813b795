"""One fit: rows in the user's units become rules in the user's units."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.fitting._pilots import fit_line
from takagi.fitting._rows import Rows, Units, measure_units, spread_weights
from takagi.fitting._warm_start import close_sets, enter_units, no_units, reopen_sets
from takagi.initializers import Initializer, count_distinct
from takagi.profile import measure_profile
from takagi.rulebase import RuleBase
from takagi.training import Callback, Progress, TrainConfig, TrainResult, train


@dataclass(frozen=True)
class Fitted:
    """What training returned, in the units that it was done in, with the rows and settings that it was done with."""

    result: TrainResult
    start: RuleBase
    units: Units
    training: Rows
    config: TrainConfig

    @property
    def rules(self) -> RuleBase:
        """The rules in the units of the data."""
        return self.result.rule_base.rescale(*self.units)

    @property
    def ordered_rules(self) -> RuleBase:
        """The same with a profile of the training rows, those that govern most first."""
        rules = self.rules
        profile = measure_profile((self.training.X, self.training.y), rules.firing_share, self.training.weight)
        order = np.argsort(-profile.share, kind="stable")
        return replace(rules.take(order), profile=replace(profile, share=profile.share[order]))

    @property
    def is_worse_than_start(self) -> bool:
        """Whether the initial rules have smaller errors on the validation rows.

        Without such rows: whether errors on training rows are larger than theirs and than those of the mean.
        """
        if not np.isnan(self.result.start_loss):
            return self.result.best_loss > self.result.start_loss
        sample = slice(None, None, max(1, len(self.training.X) // 2_000))
        rows = self.units.standardize(Rows(*(part[sample] for part in self.training)))
        guesses = [rules.predict(rows.X).reshape(rows.y.shape) for rules in (self.result.rule_base, self.start)]
        errors = [np.minimum(np.abs(guess - rows.y), 1e100) for guess in (*guesses, np.zeros_like(rows.y))]
        trained, *others = (np.average((error**2).mean(axis=1), weights=rows.weight) for error in errors)
        return not trained <= max(others) * (1 + 1e-9)

    @property
    def history(self) -> dict[str, FloatArray]:
        """The errors in the units of the data."""
        factor = history_factor(self.units)
        return {name: values * factor for name, values in self.result.history.items()}


class PilotEnded(Exception):  # noqa: N818
    """Ctrl-C in a pilot fit: its rules are what there is."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted = fitted


@dataclass(frozen=True)
class Fitting:
    """How rows become rules.

    Parameters
    ----------
    initializer : Initializer
        Makes the first rules.
    projection : {None, "antecedent", "shared", "separate"}
        Where affine combinations of the features are used.
    n_projections : int or "log2"
        How many.
    standardize : bool or "inputs"
        The units to train in.
    rng : Generator
        All randomness.
    verbose : int
        Whether to tell when initial rules coincide.
    start : RuleBase, optional
        Rules in the units of the data to go on from, in place of initial ones.
    """

    initializer: Initializer
    projection: str | None
    n_projections: int | str
    standardize: bool | str
    rng: np.random.Generator
    verbose: int = 0
    start: RuleBase | None = None

    @property
    def scales_target(self) -> bool:
        """Whether targets are divided by their deviation."""
        return bool(self.standardize) and not isinstance(self.standardize, str)

    def run(
        self,
        training: Rows,
        validation: Rows | None,
        n_rules: int,
        config: TrainConfig,
        callback: Callback | None = None,
    ) -> Fitted:
        """Fit rules to rows; validation rows choose the iterate, without them it is the last one."""
        training = training._replace(weight=training.weight / training.weight.mean())
        units = measure_units(training, self.standardize)
        scaled = spread_weights(units.standardize(training))
        held_out = None if validation is None else units.standardize(validation)
        start = self.initialize(scaled, n_rules) if self.start is None else enter_units(self.start, units)
        result = train(
            close_sets(start),
            scaled.X,
            scaled.y,
            None if held_out is None else held_out.X,
            None if held_out is None else held_out.y,
            config,
            rng=self.rng,
            sample_weight=scaled.weight,
            sample_weight_val=None if held_out is None else held_out.weight,
            callback=None if callback is None else _in_units(callback, units),
        )
        result = replace(result, rule_base=reopen_sets(result.rule_base, start))
        return Fitted(result, start, units, training, config)

    def initialize(self, rows: Rows, n_rules: int) -> RuleBase:
        """Return the initial rules, with projections onto principal components if wanted."""
        make = self.initializer.make_rules
        if self.projection is None:
            rules = make(rows.X, rows.y, n_rules, self.rng, rows.weight)
        else:
            directions = self._principal_directions(rows.X, n_rules)
            rules = make(np.hstack([rows.X @ directions, rows.X]), rows.y, n_rules, self.rng, rows.weight)
            rules = _add_projection(rules, directions, self.projection)
        if self.verbose and rules.n_rules > 1 and rules.sets is None:
            _tell_collapse(rules, rows.X)
        return rules

    def _principal_directions(self, X: FloatArray, n_rules: int) -> FloatArray:
        wanted = max(1, round(np.log2(n_rules))) if self.n_projections == "log2" else int(self.n_projections)
        return PCA(min(wanted, *X.shape), svd_solver="full").fit(X).components_.T


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


def take_line(training: Rows, config: TrainConfig) -> Fitted:
    """Return ridge regression, as one rule without conditions, in place of a fit."""
    training = training._replace(weight=training.weight / training.weight.mean())
    line = fit_line(training)
    history = {"train_loss": np.empty(0), "val_loss": np.empty(0)}
    units = no_units(line.n_features, line.n_outputs)
    return Fitted(TrainResult(line, 0, history, "line", np.nan), line, units, training, config)


def keep_start_if_better(fitted: Fitted) -> Fitted:
    """Return the initial rules, with a warning, where training only made things worse."""
    result = fitted.result
    if result.best_iter and not fitted.is_worse_than_start:
        if result.stopped == "diverged":
            warn_user(
                f"Training diverged in iteration {result.n_iter + 1}; the rules of iteration {result.best_iter} are "
                "kept. Lower learning_rate.",
                ConvergenceWarning,
            )
        return fitted
    warn_user(
        f"Training did not improve on the initial rules, which are kept (training ended: {result.stopped}). Lower "
        "learning_rate if the target depends on the features.",
        ConvergenceWarning,
    )
    return replace(fitted, result=replace(result, rule_base=fitted.start, best_iter=0))


def _tell_collapse(rules: RuleBase, X: FloatArray) -> None:
    n_distinct = count_distinct(rules.centers[:, -X.shape[1] :], X)
    if n_distinct < rules.n_rules:
        print(  # noqa: T201
            f"[takagi] the {rules.n_rules} initial rules have {n_distinct} distinct centers; training tells them "
            "apart. FuzzyCMeansInitializer(m=1.2) or init='kmeans' start apart."
        )


def history_factor(units: Units) -> float:
    """Return the target's scale, which takes errors back to its units; with several scales there is no such number."""
    return float(units.y_scale[0]) if len(units.y_scale) == 1 else 1.0


def _in_units(callback: Callback, units: Units) -> Callback:
    """Return a callback that is told errors in the units of the data."""
    factor = history_factor(units)

    def call(progress: Progress) -> object:
        names = ("train_loss", "val_loss", "best_loss")
        return callback(replace(progress, **{name: getattr(progress, name) * factor for name in names}))

    return call
