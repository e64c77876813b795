"""Pilot fits: how much of the target is noise, and how smooth the rules should therefore be.

Pilots are fitted to a part of the rows, and their error on the rest is taken for the noise, to which penalties are in
proportion (see `Penalties`). Where the held-out rows are many enough to tell, they also choose how strongly narrow sets
are penalized. And where ridge regression clearly does better on them than the pilots, or nearly as well if there are
many features, the model is ridge regression.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from takagi._typing import FloatArray
from takagi.fitting._honest import Honest, measure_honest, stack_honest
from takagi.fitting._plan import MANY_FEATURES, Penalties, Plan
from takagi.fitting._rows import HEAVY, MAX_VALIDATION_ROWS, Rows, draw_order, measure_columns
from takagi.fitting._training import Watch, train_rules
from takagi.rulebase import RuleBase
from takagi.training import LOSSES, Loss

SMOOTHNESS_PER_NOISE = (3.0, 0.02, 0.1, 0.6, 15.0)  # the usual one first
_FIRST = (0.02, 0.03)  # penalties of the pilots that measure the noise: l2 of a batch, smoothness of a pass
_ENOUGH_ROWS = 75  # held-out rows that tell the noise
_MAX_ROWS = 50_000  # that pilots are given
_MAX_RULES = (16, 32)  # of the pilots that measure the noise, and of those that choose
_HUGE = 1e100  # an error that is as good as infinite
_ALPHAS = np.logspace(-2, 5, 22)
_MAX_RIDGE_CELLS = 2 * 10**7

Split = tuple[Rows, Rows]


class Findings(NamedTuple):
    """What pilots found: the penalties, and whether ridge regression is to be preferred to rules with them."""

    penalties: Penalties
    prefers_ridge: bool
    honest: Honest | None = None  # errors of the pilots that did best, or of ridge regression, on rows held out


class _Pilot(NamedTuple):
    """Rules of a pilot, and their losses on the rows that judge it."""

    rules: RuleBase
    losses: FloatArray


def run_pilots(rows: Rows, held_out: Rows | None, plan: Plan, rng: np.random.Generator, watch: Watch) -> Findings:
    """Return what pilots find that are judged on a part of the rows, or on held-out rows, for a fit to all rows."""
    if len(rows.X) > _MAX_ROWS:
        rows = rows.take(rng.choice(len(rows.X), _MAX_ROWS, replace=False))
    splits = [(rows, held_out)] if held_out is not None else list(_split(rows, plan.validation_fraction, rng))
    config = replace(plan.config, max_iter=max(1, plan.config.max_iter // 2), n_iter_no_change=None)
    pilots = _Pilots(replace(plan, config=config), rng, watch)
    chooses = len(splits) == 1 and rows.X.shape[1] <= len(rows.X)  # else too few rows to choose by
    watch.begin("pilots")
    watch.expect(config.max_iter * (len(splits) + len(SMOOTHNESS_PER_NOISE) * chooses))
    weight = np.concatenate([judges.weight for _, judges in splits])
    fitted = [pilots.measure_noise(split) for split in splits]
    losses = np.concatenate([pilot.losses for pilot in fitted])
    penalties = plan.penalties.with_noise(float(np.average(losses, weights=weight)))
    if chooses and not watch.has_ended:
        penalties, best = pilots.choose_smoothness(splits[0], penalties)
        fitted, losses = [best], best.losses
    if plan.config.loss != "squared":
        _tell(penalties, False, watch)
        return Findings(penalties, False)
    ridges = [fit_ridge(training) for training, _ in splits]
    prefers_ridge = _prefers_ridge(splits, ridges, losses, weight)
    _tell(penalties, prefers_ridge, watch)
    prefers_ridge = prefers_ridge and plan.may_be_ridge
    judged = ridges if prefers_ridge else [pilot.rules for pilot in fitted]
    most = np.inf if held_out is not None else HEAVY * rows.weight.mean()
    parts = [measure_honest(rules, judges, "pilots", most) for rules, (_, judges) in zip(judged, splits, strict=True)]
    return Findings(penalties, prefers_ridge, stack_honest(parts) if len(rows.X) > 1 else None)


def _prefers_ridge(splits: list[Split], ridges: list[RuleBase], losses: FloatArray, weight: FloatArray) -> bool:
    """Whether ridge regression does better than pilots with such losses; with many features, nearly as well."""
    loss = LOSSES["squared"]
    of_ridge = np.concatenate([measure_losses(ridge, split, loss) for ridge, split in zip(ridges, splits, strict=True)])
    if splits[0][0].X.shape[1] > MANY_FEATURES:
        return not is_clearly_less(losses, of_ridge, weight)
    return is_clearly_less(of_ridge, losses, weight)


class _Pilots(NamedTuple):
    """How pilots are run."""

    plan: Plan
    rng: np.random.Generator
    watch: Watch

    def fit(self, split: Split, penalties: Penalties, max_rules: int, *, keeps_best: bool) -> _Pilot:
        """Return a pilot and its losses on the held-out rows, which choose its iterate if it keeps the best."""
        training, judges = split
        n_rules = self.plan.n_rules if self.plan.has_fixed_rules else min(self.plan.n_rules, max_rules, len(training.X))
        plan = replace(self.plan, n_rules=n_rules, penalties=penalties)
        trained = train_rules(training, judges if keeps_best else None, plan, self.rng, self.watch)
        return _Pilot(trained.rules, measure_losses(trained.rules, split, LOSSES[plan.config.loss]))

    def measure_noise(self, split: Split) -> _Pilot:
        """Return a pilot with penalties that suit most tables."""
        n_batches = len(split[0].X) / self.plan.config.batch_size
        penalties = self.plan.penalties.for_pilot(*_FIRST, n_batches)
        return self.fit(split, penalties, _MAX_RULES[0], keeps_best=True)

    def choose_smoothness(self, split: Split, usual: Penalties) -> tuple[Penalties, _Pilot]:
        """Return penalties with the best smoothness, the usual one in doubt, and the pilot with the smallest losses."""
        weight, noise = split[1].weight, usual.noise
        fitted: list[_Pilot] = []
        for factor in SMOOTHNESS_PER_NOISE:
            fitted.append(self.fit(split, usual.with_noise(noise, factor), _MAX_RULES[1], keeps_best=False))
            if self.watch.has_ended:
                break
        means = np.average([pilot.losses for pilot in fitted], axis=1, weights=weight)
        best = int(means.argmin())
        chosen = best if is_clearly_less(fitted[best].losses, fitted[0].losses, weight) else 0
        return usual.with_noise(min(noise, float(means[best])), SMOOTHNESS_PER_NOISE[chosen]), fitted[best]


def fit_ridge(rows: Rows) -> RuleBase:
    """Return ridge regression, its penalty chosen by leave-one-out, as one rule without conditions."""
    mean, scale = measure_columns(rows.X, rows.weight)
    y_mean, y_scale = measure_columns(rows.y, rows.weight)
    sample = slice(None, None, -(-rows.X.size // _MAX_RIDGE_CELLS))
    ridge = RidgeCV(_ALPHAS) if len(rows.X) > 2 else Ridge()  # two rows cannot choose
    ridge.fit(((rows.X - mean) / scale)[sample], ((rows.y - y_mean) / y_scale)[sample], rows.weight[sample])
    coef, intercept = np.reshape(ridge.coef_, (rows.y.shape[1], -1)), np.reshape(ridge.intercept_, -1)
    consequents = np.concatenate([intercept[:, None], coef], axis=1)[None]
    n_features = rows.X.shape[1]
    standard = RuleBase(np.zeros((1, n_features)), np.full((1, n_features), np.inf), consequents)
    return standard.rescale(mean, scale, y_mean, y_scale)


def measure_losses(rules: RuleBase, split: Split, loss: Loss) -> FloatArray:
    """Return losses of held-out rows, of shape (n_rows,), in units of what the best constant leaves in training."""
    training, judges = split
    outputs = rules.predict_raw(judges.X)
    with np.errstate(over="ignore"):
        if loss.code == LOSSES["squared"].code:
            scale = measure_columns(training.y, training.weight)[1]
            return np.minimum(loss.measure_rows(outputs / scale, judges.y / scale), _HUGE)
        return loss.measure_rows(outputs, judges.y) / _measure_entropy(training)


def _measure_entropy(rows: Rows) -> float:
    """Return the mean log loss of the class frequencies."""
    part = np.average(rows.y, axis=0, weights=rows.weight)
    part = np.r_[part, 1 - part] if len(part) == 1 else part
    return max(float(-(part * np.log(np.maximum(part, 1e-300))).sum()), 1e-12)


def is_clearly_less(errors: FloatArray, others: FloatArray, weight: FloatArray) -> bool:
    """Whether errors are smaller by more than the standard error of the weighted mean difference."""
    gain = others - errors
    mean = np.average(gain, weights=weight)
    doubt = np.sqrt(np.average((gain - mean) ** 2, weights=weight) / len(gain))
    return bool(mean > doubt)


def _tell(penalties: Penalties, prefers_ridge: bool, watch: Watch) -> None:
    ridge = "; ridge regression does better" if prefers_ridge else ""
    watch.say(
        f"pilot fits leave {penalties.noise:.1%} of the target's variance{ridge}; smoothness "
        f"{penalties.smoothness_per_noise:g} times that"
    )


def _split(rows: Rows, fraction: float, rng: np.random.Generator) -> Iterator[Split]:
    """Yield parts to train on and to judge by, until enough rows have judged; one row serves as both."""
    order, heavy = draw_order(rows, rng)
    n_rows = len(order)
    if n_rows == 1:
        yield rows, rows
        return
    n_val = int(np.clip(round(fraction * n_rows), 1, min(MAX_VALIDATION_ROWS, n_rows - 1)))
    for start in range(0, min(_ENOUGH_ROWS, n_rows - n_val + 1), n_val):
        chosen = order[start : start + n_val]
        training = np.setdiff1d(np.r_[order, heavy], chosen)
        yield rows.take(training), rows.take(np.r_[chosen, heavy])
