"""Pilot fits: how much of the target is noise, and how smooth the rules should therefore be.

Pilots are fitted to a part of the rows, and their error on the rest is taken for the noise, to which penalties are in
proportion (see `Penalties`). Where the held-out rows are many enough to tell, they also choose how strongly narrow sets
are penalized. With these penalties pilots show what rules are worth beside ridge regression and the mean: how much of
the model each of them is to be (see `Mix`). For classes, the loss is the log loss, and the noise the part of it that is
left of what the class frequencies have.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray
from takagi.fitting._honest import Honest, measure_honest, stack_honest
from takagi.fitting._logistic import choose_penalty, find_logits
from takagi.fitting._plan import Penalties, Plan
from takagi.fitting._ridge import Mix, choose_mix, fit_ridge, measure_sharpness
from takagi.fitting._rows import HEAVY, MAX_VALIDATION_ROWS, Rows, draw_order, is_clearly_less, measure_columns
from takagi.fitting._training import Watch, train_rules
from takagi.rulebase import RuleBase
from takagi.training import LOSSES, Loss

SMOOTHNESS_PER_NOISE = (3.0, 0.02, 0.1, 0.6, 15.0)  # the usual one first
_FIRST = (0.02, 0.03)  # penalties of the pilots that measure the noise: l2 of a batch, smoothness of a pass
_ENOUGH_ROWS = 75  # held-out rows that tell the noise
_MAX_ROWS = 50_000  # that pilots are given
_MAX_RULES = (16, 32)  # of the pilots that measure the noise, and of those that choose
_SHORTER, _MUCH_SHORTER = 2, 4  # times fewer iterations: of most pilots, and of those that show the worth of rules
_HUGE = 1e100  # an error that is as good as infinite

Split = tuple[Rows, Rows]


class Findings(NamedTuple):
    """What pilots found: the penalties, and how much of the model is to be rules."""

    penalties: Penalties
    mix: Mix
    honest: Honest | None = None  # errors of the pilots that did best, mixed so, on rows held out


class _Pilot(NamedTuple):
    """Rules of a pilot, and their losses on the rows that judge it."""

    rules: RuleBase
    losses: FloatArray


def run_pilots(rows: Rows, held_out: Rows | None, plan: Plan, rng: np.random.Generator, watch: Watch) -> Findings:
    """Return what pilots find that are judged on a part of the rows, or on held-out rows, for a fit to all rows."""
    if len(rows.X) > _MAX_ROWS:
        rows = rows.take(rng.choice(len(rows.X), _MAX_ROWS, replace=False))
    if held_out is not None:
        splits = [(rows, held_out)]
    else:
        splits = list(_split(rows, plan.validation_fraction, rng, plan.has_classes))
    pilots = _Pilots(plan, rng, watch)
    chooses = len(splits) == 1 and rows.X.shape[1] <= len(rows.X)  # else too few rows to choose by
    mixes = plan.may_be_ridge
    watch.begin("pilots")
    watch.expect(pilots.count_iterations(len(splits), chooses, mixes))
    weight = np.concatenate([judges.weight for _, judges in splits])
    fitted = [pilots.measure_noise(split) for split in splits]
    losses = np.concatenate([pilot.losses for pilot in fitted])
    penalties = plan.penalties.with_noise(float(np.average(losses, weights=weight)))
    if chooses and not watch.has_ended:
        penalties, best = pilots.choose_smoothness(splits[0], penalties)
        fitted = [best]
    elif mixes and not watch.has_ended:
        fitted = [pilots.show_worth(split, penalties) for split in splits]
    mix = Mix()
    if mixes and not watch.has_ended:
        choose = partial(_choose_class_mix, rows) if plan.has_classes else _choose_mix
        mix = choose(splits, fitted, weight)
    _tell(penalties, mix, plan, watch)
    if len(rows.X) == 1:
        return Findings(penalties, mix)
    judged = [mix.apply(pilot.rules, training) for pilot, (training, _) in zip(fitted, splits, strict=True)]
    if plan.has_classes:
        said = np.vstack([rules.predict_raw(judges.X) for rules, (_, judges) in zip(judged, splits, strict=True)])
        target = np.vstack([judges.y for _, judges in splits])
        return Findings(penalties, mix._replace(sharpness=measure_sharpness(target, said, weight)))
    most = np.inf if held_out is not None else HEAVY * rows.weight.mean()
    parts = [measure_honest(rules, judges, "pilots", most) for rules, (_, judges) in zip(judged, splits, strict=True)]
    return Findings(penalties, mix, stack_honest(parts))


def _choose_mix(splits: list[Split], fitted: list[_Pilot], weight: FloatArray) -> Mix:
    """Return how much of the model is to be rules, given a pilot for each split, which its held-out rows judge."""
    parts = []
    for (training, judges), pilot in zip(splits, fitted, strict=True):
        mean, scale = measure_columns(training.y, training.weight)
        said = (rules.predict_raw(judges.X) for rules in (fit_ridge(training), pilot.rules))
        parts.append([(values - mean) / scale for values in (judges.y, *said)])
    target, ridge, rules = (np.concatenate(values) for values in zip(*parts, strict=True))
    return choose_mix(target, ridge, rules, weight)


def _choose_class_mix(rows: Rows, splits: list[Split], fitted: list[_Pilot], weight: FloatArray) -> Mix:
    """Return the same for classes; all rows choose the penalty of logistic regression, which is one number."""
    line, parts = Mix(penalty=choose_penalty(rows)), []
    for (training, judges), pilot in zip(splits, fitted, strict=True):
        prior = np.broadcast_to(find_logits(training.y, training.weight), judges.y.shape)
        said = (rules.predict_raw(judges.X) for rules in (line.fit_line(training, True), pilot.rules))
        parts.append((judges.y, *said, prior))
    target, ridge, rules, prior = (np.concatenate(values) for values in zip(*parts, strict=True))
    return choose_mix(target, ridge, rules, weight, prior)._replace(penalty=line.penalty)


class _Pilots(NamedTuple):
    """How pilots are run."""

    plan: Plan
    rng: np.random.Generator
    watch: Watch

    def count_iterations(self, n_splits: int, chooses: bool, mixes: bool) -> int:
        """Return the iterations of all pilots."""
        noise = n_splits * self._shorten(_SHORTER)
        if chooses:
            return noise + len(SMOOTHNESS_PER_NOISE) * self._shorten(_SHORTER)
        return noise + mixes * n_splits * self._shorten(_MUCH_SHORTER)

    def fit(
        self, split: Split, penalties: Penalties, max_rules: int, *, keeps_best: bool, shorter: int = _SHORTER
    ) -> _Pilot:
        """Return a pilot and its losses on the held-out rows, which choose its iterate if it keeps the best."""
        training, judges = split
        n_rules = self.plan.n_rules if self.plan.has_fixed_rules else min(self.plan.n_rules, max_rules, len(training.X))
        config = replace(self.plan.config, max_iter=self._shorten(shorter), n_iter_no_change=None)
        plan = replace(self.plan, n_rules=n_rules, penalties=penalties, config=config)
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

    def show_worth(self, split: Split, penalties: Penalties) -> _Pilot:
        """Return a pilot with the penalties of the fit, in which the held-out rows have no part."""
        return self.fit(split, penalties, _MAX_RULES[0], keeps_best=False, shorter=_MUCH_SHORTER)

    def _shorten(self, times: int) -> int:
        return max(1, self.plan.config.max_iter // times)


def measure_losses(rules: RuleBase, split: Split, loss: Loss) -> FloatArray:
    """Return losses of held-out rows, of shape (n_rows,), in units of what the best constant leaves in training."""
    training, judges = split
    outputs = rules.predict_raw(judges.X)
    with np.errstate(over="ignore"):
        if loss.code == LOSSES["squared"].code:
            scale = measure_columns(training.y, training.weight)[1]
            return np.minimum(loss.measure_rows(outputs / scale, judges.y / scale), _HUGE)
        return loss.measure_rows(outputs, judges.y) / measure_entropy(
            np.average(training.y, axis=0, weights=training.weight)
        )


def measure_entropy(part: FloatArray) -> float:
    """Return the mean log loss of class frequencies: that of one of two classes, or those of all."""
    part = np.r_[part, 1 - part] if len(part) == 1 else part
    return max(float(-(part * np.log(np.maximum(part, 1e-300))).sum()), 1e-12)


def _tell(penalties: Penalties, mix: Mix, plan: Plan, watch: Watch) -> None:
    line, whole = ("logistic", "class frequencies' log loss") if plan.has_classes else ("ridge", "target's variance")
    simple = "" if mix.has_rules else f"; {line} regression does better"
    if 0 < mix.rules < 1:
        simple = f"; a mean of {mix.rules:.0%} rules and {1 - mix.rules:.0%} {line} regression does best"
    watch.say(
        f"pilot fits leave {penalties.noise:.1%} of the {whole}{simple}; smoothness "
        f"{penalties.smoothness_per_noise:g} times that"
    )


def _split(rows: Rows, fraction: float, rng: np.random.Generator, by_class: bool = False) -> Iterator[Split]:
    """Yield parts to train on and to judge by, until enough rows have judged; one row serves as both."""
    order, heavy = draw_order(rows, rng, by_class)
    n_rows = len(order)
    if n_rows == 1:
        yield rows, rows
        return
    n_val = int(np.clip(round(fraction * n_rows), 1, min(MAX_VALIDATION_ROWS, n_rows - 1)))
    for start in range(0, min(_ENOUGH_ROWS, n_rows - n_val + 1), n_val):
        chosen = order[start : start + n_val]
        training = np.setdiff1d(np.r_[order, heavy], chosen)
        yield rows.take(training), rows.take(np.r_[chosen, heavy])
