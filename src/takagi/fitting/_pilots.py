"""Pilot fits: how much of the target is noise, how smooth rules should be, and how much of the model is to be rules.

Pilots are fitted to a part of the rows, and their error on the rest is taken for the noise, to which penalties are in
proportion (see `Penalties`). Where the held-out rows are many enough to tell, they also choose how strongly narrow sets
are penalized. With these penalties pilots show what rules are worth beside ridge regression and the mean (see `Mix`).

On a small, noisy or wide table the best model lies between something simple and something that could follow every
detail: simple + share * (detailed - simple). The share that has the smallest squared error on rows that neither has
seen is a regression with one slope, and as such it has a standard error, which tells how far to trust it. Ridge
regression is detailed beside the mean of the target, and rules are beside ridge regression. The firing shares of rules
sum to 1, so that rules that are mixed with a line are rules again, with other consequents.

For classes all of this is said of log-odds and log loss: the noise is the part of it that is left of what the class
frequencies have, logistic regression is the line, and log-odds are multiplied by one number more, the inverse of a
temperature (Guo et al., 2017), so that probabilities are those that rows held out have.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray
from takagi.fitting._logistic import (
    choose_penalty,
    find_logits,
    fit_logistic,
    measure_log_step,
    measure_sharpness,
    sharpen,
)
from takagi.fitting._plan import Penalties, Plan
from takagi.fitting._ridge import fit_ridge, mix_usual
from takagi.fitting._rows import (
    HEAVY,
    MAX_VALIDATION_ROWS,
    Rows,
    draw_order,
    find_errors,
    is_clearly_less,
    measure_columns,
    shrink_share,
    stack_rows,
)
from takagi.fitting._screening import choose_features
from takagi.fitting._training import Prepared, Watch, prepare_training
from takagi.profile import MAX_ROWS, spread_rows
from takagi.rulebase import RuleBase
from takagi.training import LOSSES, Loss

SMOOTHNESS_PER_NOISE = (3.0, 0.6, 15.0, 0.1, 0.02)  # the usual one first, then its neighbors
_N_NEAR = 3  # of them, that are tried first
EXACT = 1e-4  # of the target's variance: a line that leaves less than that is a law, which holds beyond the data, too
_FIRST = (0.02, 0.03)  # penalties of the pilots that measure the noise: l2 of a batch, smoothness of a pass
_ENOUGH_ROWS = 75  # held-out rows that tell the noise
_MAX_ROWS = 50_000  # that pilots are given
_MAX_RULES = (16, 32)  # of the pilots that measure the noise, and of those that choose
_SHORTER = (2, 4)  # times fewer iterations: of most pilots, and of those that choose or show the worth of rules
_N_VALIDATIONS = 100  # of a pilot, if many rows validate
_HUGE = 1e100  # an error, or a square, that is as good as infinite
_LITTLE, _MUCH = 0.1, 0.8  # shares that are as good as none, and as all

Split = tuple[Rows, Rows]


class Mix(NamedTuple):
    """How much of a model is what: mean + slopes * (ridge - mean), and from there `rules` of the way to the rules."""

    slopes: float = 1.0
    rules: float = 1.0
    penalty: float = 1.0  # of logistic regression; ridge regression finds its own
    sharpness: float = 1.0  # what log-odds are multiplied with
    is_exact: bool = False  # whether ridge regression alone leaves next to nothing

    def apply(self, rules: RuleBase, rows: Rows) -> RuleBase:
        """Return trained rules, mixed with the ridge or logistic regression of their rows where that is wanted.

        Consequents of projected inputs cannot be mixed with it.
        """
        if self.rules < 1 and rules.consequent_projection is None:
            line = self.fit_line(rows, rules.link != "identity")
            usual = None if rules.usual is None else mix_usual(line, rules, self.rules, rows.X)
            consequents = self.rules * rules.consequents + (1 - self.rules) * line.consequents
            rules = replace(rules, consequents=consequents, usual=usual)
        return rules if self.sharpness == 1 else sharpen(rules, self.sharpness)

    def fit_line(self, rows: Rows, has_classes: bool) -> RuleBase:
        """Return ridge regression, or logistic regression for classes, as one rule, with so much of its slopes."""
        return fit_logistic(rows, self.slopes, self.penalty) if has_classes else fit_ridge(rows, self.slopes)


class Findings(NamedTuple):
    """What pilots found: the penalties, and how much of the model is to be rules."""

    penalties: Penalties
    mix: Mix
    errors: Rows | None = None  # of the pilots that did best, mixed so, on rows held out; see `find_errors`


class _Pilot(NamedTuple):
    """Rules of a pilot, and their losses on the rows that judge it."""

    rules: RuleBase
    losses: FloatArray


def run_pilots(rows: Rows, held_out: Rows | None, plan: Plan, rng: np.random.Generator, watch: Watch) -> Findings:
    """Return what pilots find that are judged on a part of the rows, or on held-out rows, for a fit to all rows."""
    if len(rows.X) > _MAX_ROWS:
        rows = rows.take(rng.choice(len(rows.X), _MAX_ROWS, replace=False))
    splits = [(rows, held_out)] if held_out is not None else list(_split(rows, plan, rng))
    chooses = len(splits) == 1 and rows.X.shape[1] <= len(rows.X)  # else too few rows to choose by
    mixes, n_iter, n_few = plan.may_be_ridge, *(max(1, plan.config.max_iter // times) for times in _SHORTER)
    watch.begin("pilots")
    n_more = n_iter + n_few * len(SMOOTHNESS_PER_NOISE) if chooses else mixes * n_few * len(splits)
    watch.expect(n_iter * len(splits) + n_more)
    bench = _Bench(splits, plan, rng, watch)
    weight = np.concatenate([judges.weight for _, judges in splits])

    # how much is noise, by pilots with penalties that suit most tables
    n_batches = [len(training.X) / plan.config.batch_size for training, _ in splits]
    first = [[plan.penalties.for_pilot(*_FIRST, number)] for number in n_batches]
    pilots = bench.train(first, _MAX_RULES[0], n_iter, keeps_best=True)
    noise = float(np.average(np.concatenate([pilot.losses for pilot in pilots]), weights=weight))
    penalties, mix = plan.penalties.with_noise(noise), Mix()

    # how smooth rules should be, and what rules with these penalties are worth
    if chooses and not watch.has_ended:
        penalties = _choose_smoothness(bench, penalties, n_few)
        (best,) = pilots = bench.train([[penalties]], _MAX_RULES[1], n_iter)
        penalties = penalties.with_noise(min(noise, float(np.average(best.losses, weights=weight))))
    elif mixes and not watch.has_ended:
        pilots = bench.train([[penalties]] * len(splits), _MAX_RULES[0], n_few)
    del bench  # and what it has prepared
    if mixes and not watch.has_ended:
        mix = _mix_rules(rows, splits, [pilot.rules for pilot in pilots], weight, plan.has_classes)
    watch.say(_describe(penalties, mix, plan.has_classes))

    # how far off, or how sure, such a model is on rows that it has not seen
    if len(rows.X) == 1:
        return Findings(penalties, mix)
    judged = [(mix.apply(pilot.rules, split[0]), split[1]) for pilot, split in zip(pilots, splits, strict=True)]
    if plan.has_classes:
        said = np.vstack([rules.predict_raw(judges.X) for rules, judges in judged])
        target = np.vstack([judges.y for _, judges in judged])
        return Findings(penalties, mix._replace(sharpness=measure_sharpness(target, said, weight)))
    most = np.inf if held_out is not None else HEAVY * rows.weight.mean()
    return Findings(penalties, mix, stack_rows(*(find_errors(*one, most) for one in judged)))


def _split(rows: Rows, plan: Plan, rng: np.random.Generator) -> Iterator[Split]:
    """Yield parts to train on and to judge by, until enough rows have judged; one row serves as both."""
    order, heavy = draw_order(rows, rng, plan.has_classes)
    n_rows = len(order)
    if n_rows == 1:
        yield rows, rows
        return
    n_val = int(np.clip(round(plan.validation_fraction * n_rows), 1, min(MAX_VALIDATION_ROWS, n_rows - 1)))
    for start in range(0, min(_ENOUGH_ROWS, n_rows - n_val + 1), n_val):
        chosen = order[start : start + n_val]
        training = np.setdiff1d(np.r_[order, heavy], chosen)
        yield rows.take(training), rows.take(np.r_[chosen, heavy])


class _Bench:
    """Trains pilots; those of one split and size start from the same rules."""

    def __init__(self, splits: list[Split], plan: Plan, rng: np.random.Generator, watch: Watch) -> None:
        self.splits, self.plan, self.rng, self.watch = splits, plan, rng, watch
        self.features = [choose_features(training, plan) for training, _ in splits]
        self._prepared: dict[tuple[int, int, bool], Prepared] = {}
        self._drawn: dict[tuple[int, int, bool, int], np.random.Generator] = {}

    def train(
        self, penalties: Sequence[Sequence[Penalties]], max_rules: int, n_iter: int, *, keeps_best: bool = False
    ) -> list[_Pilot]:
        """Return a pilot for each of the penalties of each split, which held-out rows judge and may stop."""
        return self.watch.run(
            pilot
            for place, tried in enumerate(penalties)
            for pilot in self._begin(place, tried, max_rules, n_iter, keeps_best)
        )

    def _begin(
        self, place: int, penalties: Sequence[Penalties], max_rules: int, n_iter: int, keeps_best: bool
    ) -> Iterator[Callable[[], _Pilot]]:
        """Yield pilots that differ in their penalties only: they get the same batches."""
        plan, split = self.plan, self.splits[place]
        n_rules = plan.n_rules if plan.has_fixed_rules else min(plan.n_rules, max_rules, len(split[0].X))
        config = replace(plan.config, max_iter=n_iter, n_iter_no_change=None)
        plan = replace(plan, n_rules=n_rules, config=config)
        key = place, n_rules, keeps_best
        if key not in self._prepared:
            rows, judges = split[0], split[1] if keeps_best else None
            self._prepared[key] = prepare_training(
                rows, judges, plan, self.rng, self.watch, features=self.features[place]
            )
        prepared, every = self._prepared[key], 1 if len(self.splits) > 1 else max(1, n_iter // _N_VALIDATIONS)
        if (*key, n_iter) not in self._drawn:
            self._drawn[*key, n_iter] = prepared.fork(plan, self.rng)
        for one in penalties:
            tried, drawn = replace(plan, penalties=one), deepcopy(self._drawn[*key, n_iter])
            yield partial(_train_pilot, prepared, tried, drawn, self.watch, every, split)


def _train_pilot(
    prepared: Prepared, plan: Plan, rng: np.random.Generator, watch: Watch, every: int, split: Split
) -> _Pilot:
    """Train a pilot and measure its losses on the held-out rows."""
    rules = prepared.train(plan, rng, watch, every=every).rules
    return _Pilot(rules, measure_losses(rules, split, LOSSES[plan.config.loss]))


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


def _choose_smoothness(bench: _Bench, usual: Penalties, n_iter: int) -> Penalties:
    """Return penalties with the best smoothness, the usual one in doubt.

    Less of it is tried only where somewhat less is not clearly worse.
    """
    weight = bench.splits[0][1].weight
    tried = [usual.with_noise(usual.noise, factor) for factor in SMOOTHNESS_PER_NOISE]
    near, far = tried[:_N_NEAR], tried[_N_NEAR:]
    losses = [pilot.losses for pilot in bench.train([near], _MAX_RULES[1], n_iter)]
    if far and not is_clearly_less(losses[0], losses[1], weight):
        losses += [pilot.losses for pilot in bench.train([far], _MAX_RULES[1], n_iter)]
    else:
        bench.watch.expect(-n_iter * len(far))
    best = int(np.average(losses, axis=1, weights=weight).argmin())
    return tried[best] if is_clearly_less(losses[best], losses[0], weight) else usual


def _describe(penalties: Penalties, mix: Mix, has_classes: bool) -> str:
    line, whole = ("logistic", "class frequencies' log loss") if has_classes else ("ridge", "target's variance")
    simple = "" if mix.rules else f"; {line} regression does better"
    if 0 < mix.rules < 1:
        simple = f"; a mean of {mix.rules:.0%} rules and {1 - mix.rules:.0%} {line} regression does best"
    return (
        f"pilot fits leave {penalties.noise:.1%} of the {whole} unexplained{simple}; smoothness "
        f"is {penalties.smoothness_per_noise:g} times that"
    )


# -- how much of the model is to be rules ------------------------------------------------------------------------------


def _mix_rules(
    rows: Rows, splits: list[Split], trained: Sequence[RuleBase], weight: FloatArray, has_classes: bool
) -> Mix:
    """Return how much of the model is to be rules, given those of each split, which its held-out rows judge.

    All rows choose the penalty of logistic regression, which is one number.
    """
    line, parts = Mix(penalty=choose_penalty(rows)) if has_classes else Mix(), []
    for (training, judges), own in zip(splits, trained, strict=True):
        found = [judges.y, *(r.predict_raw(judges.X) for r in (line.fit_line(training, has_classes), own))]
        if has_classes:
            parts.append([*found, np.broadcast_to(find_logits(training.y, training.weight), judges.y.shape)])
        else:
            mean, scale = measure_columns(training.y, training.weight)
            parts.append([(values - mean) / scale for values in found])
    target, ridge, rules, *prior = (np.concatenate(values) for values in zip(*parts, strict=True))
    return choose_mix(target, ridge, rules, weight, *prior)._replace(penalty=line.penalty)


def mix_members(members: Sequence[RuleBase], rows: Rows, splits: list[Split]) -> Mix:
    """Return how much of a committee is to be rules, given rules that are trained and judged by the parts of splits.

    All rows together should judge. They tell the share of a single member. Random errors of a member attenuate the
    slope of a regression on it [1]_. The mean of the members has smaller ones, so its share is larger: by the ratio of
    the mean square of the members' differences from ridge regression to that of the mean difference.

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", American Journal of Psychology
       15 (1), 1904.
    """
    mix = _mix_rules(rows, splits, members, np.concatenate([judges.weight for _, judges in splits]), False)
    if not 0 < mix.rules < 1:
        return mix
    sample = spread_rows(len(rows.X), MAX_ROWS)
    X, scale = rows.X[sample], measure_columns(rows.y, rows.weight)[1]
    line = mix.fit_line(rows, False).predict_raw(X)
    steps = [(rules.predict_raw(X) - line) / scale for rules in members]
    of_mean = (np.mean(steps, axis=0) ** 2).mean()
    return mix._replace(rules=_round(float(mix.rules * np.square(steps).mean() / of_mean))) if of_mean > 0 else mix


def choose_mix(
    target: FloatArray, ridge: FloatArray, rules: FloatArray, weight: FloatArray, prior: FloatArray | None = None
) -> Mix:
    """Return the mix for rows that neither ridge regression nor rules have seen.

    In doubt, ridge regression keeps its slopes, whose size its penalty has chosen already, and rules are given up: of
    the slope b of the regression with standard error e, they get b * b^2 / (b^2 + 2 e^2).

    Parameters
    ----------
    target, ridge, rules : ndarray of shape (n_rows, n_outputs)
        Targets and predictions, all minus the mean of the rows that trained, in units of the target's deviation. For
        classes, probabilities and outputs before the link.
    weight : ndarray of shape (n_rows,)
    prior : ndarray of shape (n_rows, n_outputs), optional
        For classes, the outputs that stand for the class frequencies of the rows that trained.

    Returns
    -------
    Mix

    Examples
    --------
    >>> import numpy as np
    >>> line = np.linspace(-1, 1, 100)[:, None]
    >>> bend, weight = line**2 - 0.34, np.ones(100)
    >>> [choose_mix(target, line, line + bend, weight).rules for target in (line + bend, line)]
    [1.0, 0.0]
    """
    if prior is None:
        slopes = _round(sum(measure_step(target, ridge, weight)))
        simple = slopes * ridge
        part, doubt = measure_step(target - simple, rules - simple, weight)
        is_exact = bool(np.average(((target - simple) ** 2).mean(axis=1), weights=weight) < EXACT)
    else:
        slopes = _round(sum(measure_log_step(target, prior, ridge - prior, weight)))
        simple = prior + slopes * (ridge - prior)
        part, doubt = measure_log_step(target, simple, rules - simple, weight)
        is_exact = False
    return Mix(slopes, _round(shrink_share(part, doubt)) if part > 0 else 0.0, is_exact=is_exact)


def measure_step(left: FloatArray, step: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Return how much of a step leads to what is left, both of shape (n_rows, n_outputs), and the standard error.

    It is a regression through the origin; the error heeds that rows differ in their noise (White, 1980).

    References
    ----------
    .. [1] H. White, "A heteroskedasticity-consistent covariance matrix estimator and a direct test for
       heteroskedasticity", Econometrica 48 (4), 1980.
    """
    with np.errstate(over="ignore"):
        size = float(weight @ (step**2).sum(axis=1))
    if not 0 < size < _HUGE:  # both are the same, or the detailed one is beyond all bounds
        return 0.0, 0.0
    part = float(weight @ (left * step).sum(axis=1)) / size
    errors = ((left - part * step) * step).sum(axis=1)
    return part, float(np.sqrt(weight**2 @ errors**2)) / size


def _round(share: float) -> float:
    """Return a share from 0 to 1; a little is none, and much is all."""
    return 0.0 if share < _LITTLE else 1.0 if share > _MUCH else share
