"""A training run: what the kernel reads and writes between two blocks of iterations."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takagi import kernels
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.kernels import to_lanes
from takagi.rulebase import RuleBase, pack, unpack
from takagi.training._bounds import Bounds, FeasibleSet, project
from takagi.training._config import LOSSES, TrainConfig, check_probabilities


@dataclass(frozen=True)
class Progress:
    """What a callback is told between two blocks of iterations.

    Attributes
    ----------
    n_iter, max_iter : int
        Iterations done and to come; in a fit of several trainings, those of all of them.
    train_loss, val_loss : float
        Of the last iteration; the latter is NaN if no rows are held out.
    best_iter : int
        The best iteration of the present training so far, from 1.
    best_loss : float
        Its loss on held-out rows.
    stage : str
        What the training is for: "training", or another stage of a fit.
    """

    n_iter: int
    max_iter: int
    train_loss: float
    val_loss: float
    best_iter: int
    best_loss: float
    stage: str = "training"


Callback = Callable[[Progress], object]

_ENDS = {kernels.GOES_ON: "", kernels.STALLED: "no_change", kernels.DIVERGED: "diverged"}
_NEVER = 2**62  # iterations from one validation to the next, if only the end of a block is validated


@dataclass(frozen=True)
class TrainResult:
    """What `train` returns.

    Attributes
    ----------
    rule_base : RuleBase
        The rules after iteration `best_iter`, with the link of the loss.
    best_iter : int
        The first iteration, from 1, of smallest validation loss; 0 if no iteration ended with finite numbers, and then
        `rule_base` is the initial one.
    history : dict of str to ndarray of shape (n_iter,)
        "train_loss" of each batch with the kept rules, before the update, and "val_loss" with all rules, after it: the
        RMSE, or the mean log loss.
    stopped : {"max_iter", "no_change", "callback", "interrupted", "diverged"}
        Why training ended.
    start_loss : float
        Validation loss of the initial rules, which the paper does not let compete.
    n_iter : int
        Iterations done.
    """

    rule_base: RuleBase
    best_iter: int
    history: dict[str, FloatArray]
    stopped: str
    start_loss: float
    n_iter: int

    @property
    def best_loss(self) -> float:
        """Validation loss of the returned rules."""
        return float(self.history["val_loss"][self.best_iter - 1]) if self.best_iter else self.start_loss


def begin_state(rules: RuleBase) -> kernels.State:
    """Return the state before the first iteration."""
    theta, _ = pack(rules)
    return kernels.State(
        theta=theta,
        grad=np.zeros_like(theta),
        mean=np.zeros_like(theta),
        spread=np.zeros_like(theta),
        average=np.zeros_like(theta),
        candidate=np.zeros_like(theta),
        best=theta.copy(),
        best_loss=np.array([np.inf]),
        best_iter=np.zeros(1, dtype=np.intp),
        n_iter=np.zeros(1, dtype=np.intp),
    )


class Run:
    """Training between blocks, its state all written by the kernel: Ctrl-C finds it consistent.

    Parameters
    ----------
    rule_base : RuleBase
        The initial rules.
    config : TrainConfig
    training, validation : tuple of arrays
        X, y and weights, as `check_dataset` returns them.
    max_iter : int
        Iterations that there is to be room for in the history.
    state : State, optional
        Where an earlier run of the same rules ended, to go on from; it is written to.
    is_thorough : bool, default=True
        Whether every iterate is validated, as in the paper, or only the last one of each block.
    bounds : Bounds or FeasibleSet, optional
        Where parameters may go.
    """

    def __init__(
        self,
        rule_base: RuleBase,
        config: TrainConfig,
        training: tuple,
        validation: tuple,
        max_iter: int,
        state: kernels.State | None = None,
        is_thorough: bool = True,
        bounds: Bounds | FeasibleSet | None = None,
    ) -> None:
        if config.loss == "log":
            check_probabilities(training[1])
            check_probabilities(validation[1])
        link = LOSSES[config.loss].links[rule_base.n_outputs > 1]
        self.rule_base = rule_base if rule_base.link == link else replace(rule_base, link=link)
        self.config, self.training = config, training
        self.shape = pack(rule_base)[1]
        self.validation = tuple(map(to_lanes, (*validation[:2], validation[2][:, None])))
        self.settings = _settings(config, rule_base, every=1 if is_thorough else _NEVER)
        self.tied_sets = np.empty(0, dtype=np.intp) if rule_base.sets is None else _tie_sets(rule_base)
        self.work = kernels.make_work(self.shape, min(config.batch_size, len(training[0])))
        self.columns = kernels.make_columns(self.shape)
        self.state = begin_state(rule_base) if state is None else state
        self.first_iter = self.n_iter
        self._enter(bounds)
        self.history = np.empty((max_iter, 2))
        self.start_loss = self.validate(self.state.theta)

    def _enter(self, bounds: Bounds | FeasibleSet | None) -> None:
        """Take in where parameters may go, and move the start there."""
        floor, theta = find_width_floor(self.config, self.rule_base), self.state.theta
        self.feasible = bounds if hasattr(bounds, "project") else None
        if isinstance(bounds, Bounds):
            self.limits = bounds.lay_out(self.rule_base, floor, theta)
        elif bounds is None or self.feasible is not None:
            self.limits = np.full_like(theta, -np.inf), np.full_like(theta, np.inf)
            self.limits[0][slice(*kernels.sections(self.shape)[1:3])] = floor
            self.limits[0][np.isinf(theta)] = np.inf  # an absent condition stays absent
        else:
            raise TypeError(f"bounds must be a Bounds or an object that can project, got {bounds!r}.")
        np.clip(theta, *self.limits, out=theta)
        if self.feasible is not None:
            project(self.feasible, theta, np.ones_like(theta), self.shape)
        if not self.n_iter:
            self.state.best[:] = theta

    def validate(self, theta: FloatArray) -> float:
        """Return the error of parameters on the validation rows, NaN if there are none."""
        if not len(self.validation[2]):
            return np.nan
        return kernels.weighted_loss(theta, self.shape, self.columns, *self.validation, self.settings.loss)

    def advance(self, batches: IntArray, keep: BoolArray) -> str:
        """Run one block; return why training ended with it, or nothing."""
        if batches.shape[1] * self.shape.n_outputs > len(self.work.value):
            self.work = kernels.make_work(self.shape, batches.shape[1])
        history = self.history[self.n_iter - self.first_iter :][: len(batches)]
        if self.feasible is not None or self.settings.rule == kernels.OWN:
            return _ENDS[self._run_in_python(batches, keep, history)]
        ended = kernels.train_block(
            self.shape,
            self.settings,
            self.state,
            self.limits,
            self.work,
            self.columns,
            self.tied_sets,
            self.training,
            self.validation,
            batches,
            keep,
            history,
        )
        return _ENDS[ended]

    def _run_in_python(self, batches: IntArray, keep: BoolArray, history: FloatArray) -> int:
        """Run one iteration per batch as `kernels.train_block` does, with an optimizer or a feasible set in NumPy.

        One iteration of the paper's Algorithm 2 is a gradient, which is compiled, a step, a projection, and the
        judgement of the iterate, which is compiled again. The price, with validation rows: for 8 features and 16 rules
        an iteration takes three times as long with an optimizer of one's own and seven times with a feasible set (32,
        94 and 236 microseconds); for 100 features and 64 rules there is hardly a difference.
        """
        settings, state = self.settings, self.state
        for b, rows in enumerate(batches):
            loss = kernels.find_gradient(
                self.shape, settings, state, self.work, self.tied_sets, self.training, rows, keep[b : b + 1]
            )
            if settings.rule == kernels.OWN:
                self._step_in_python()
            else:
                kernels.move_parameters(settings, state, self.limits)
            if self.feasible is not None:
                v = np.ones_like(state.theta) if settings.rule == kernels.MOMENTUM else state.spread
                project(self.feasible, state.theta, v, self.shape)
            is_judged = (b + 1) % settings.every == 0 or b + 1 == len(batches)
            ended = kernels.judge_iterate(
                self.shape, settings, state, self.limits, self.columns, self.validation, loss, is_judged, history[b]
            )
            if ended != kernels.GOES_ON:
                return ended
        return kernels.GOES_ON

    def _step_in_python(self) -> None:
        """Move theta by an optimizer in NumPy, up to its bounds."""
        optimizer: Any = self.config.optimizer
        state, t, rate = self.state, self.n_iter + 1, self.config.learning_rate
        if self.config.schedule == "cosine":
            rate *= 0.5 * (1.0 + math.cos(math.pi * (t - 1) / self.config.max_iter))
        with np.errstate(over="ignore", invalid="ignore"):  # training that diverges is told as such
            state.mean[:] = optimizer.phi(state.grad, state.mean, t)
            state.spread[:] = optimizer.psi(state.grad, state.mean, state.spread, t)
            step = optimizer.omega(rate, state.spread, t) * state.mean
            state.theta[:] = np.clip(state.theta - step, *self.limits)

    @property
    def n_iter(self) -> int:
        """Iterations done, those of earlier runs counted."""
        return int(self.state.n_iter[0])

    def progress(self) -> Progress:
        """Return what a callback is told."""
        train_loss, val_loss = self.history[self.n_iter - self.first_iter - 1]
        best_iter, best_loss = int(self.state.best_iter[0]), float(self.state.best_loss[0])
        return Progress(self.n_iter, len(self.history), float(train_loss), float(val_loss), best_iter, best_loss)

    def result(self, stopped: str) -> TrainResult:
        """Return the best rules and the history."""
        history = self.history[: self.n_iter - self.first_iter]
        return TrainResult(
            rule_base=unpack(self.state.best, self.rule_base),
            best_iter=int(self.state.best_iter[0]),
            history={"train_loss": history[:, 0].copy(), "val_loss": history[:, 1].copy()},
            stopped=stopped,
            start_loss=self.start_loss,
            n_iter=len(history),
        )


def check_dataset(X: FloatArray | None, y: FloatArray | None, weight: FloatArray | None, rules: RuleBase) -> tuple:
    """Return (X, y, weight) as the kernels want them."""
    if X is None or y is None:
        X, y = np.empty((0, rules.n_features)), np.empty((0, rules.n_outputs))
    rows, target = np.array(X, dtype=float, order="C"), np.array(y, dtype=float, order="C")
    if target.ndim == 1:
        target = target[:, None]
    weight = np.ones(len(rows)) if weight is None else np.array(weight, dtype=float)
    if (
        rows.shape != (len(target), rules.n_features)
        or target.shape[1] != rules.n_outputs
        or weight.shape != (len(rows),)
    ):
        raise ValueError(
            f"the rule base has {rules.n_features} features and {rules.n_outputs} outputs, got X of shape "
            f"{rows.shape}, y of shape {np.shape(y)} and weights of shape {weight.shape}."
        )
    if (weight < 0).any():
        raise ValueError(f"sample weights must not be negative, got {weight.min():g}.")
    return rows, target, weight


def _settings(config: TrainConfig, rules: RuleBase, every: int) -> kernels.Settings:
    optimizer = config.optimizer
    beta1, beta2, epsilon = (float(getattr(optimizer, name, 0.0)) for name in ("beta1", "beta2", "epsilon"))
    return kernels.Settings(
        loss=LOSSES[config.loss].code,
        rule=getattr(optimizer, "rule", kernels.OWN),
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        learning_rate=float(config.learning_rate),
        powerball=float(config.powerball),
        l2=float(config.l2),
        smoothness=float(config.smoothness),
        agreement=float(config.agreement),
        uniformity=float(config.uniformity),
        cosine=config.schedule == "cosine",
        averaging=float(config.averaging),
        max_iter=int(config.max_iter),
        patience=config.n_iter_no_change or 0,
        every=every,
        tied_projection=bool(rules.tied_projection),
    )


def find_width_floor(config: TrainConfig, rules: RuleBase) -> float:
    """Return what widths are kept above in a training that starts from given rules."""
    if config.width_floor is not None:
        return float(config.width_floor)
    smallest = rules.widths.min()  # infinite if no rule has a condition
    return float(smallest * (0.1 if rules.sets is None else 1.0)) if np.isfinite(smallest) else 0.0


def _tie_sets(rules: RuleBase) -> IntArray:
    """Return, for every entry of the flat centers, the first entry that is the same parameter."""
    assert rules.sets is not None
    n_rules, n_inputs = rules.sets.shape
    own = to_lanes(np.arange(n_rules * n_inputs, dtype=float).reshape(n_rules, n_inputs), fill=-1.0)
    place = {int(number): at for at, number in enumerate(own) if number >= 0}
    leader = np.empty((n_rules, n_inputs))
    for m, column in enumerate(rules.sets.T):
        _, index, inverse = np.unique(column, return_index=True, return_inverse=True)
        leader[:, m] = [place[int(r) * n_inputs + m] for r in index[inverse]]
    return to_lanes(leader, fill=-1.0).astype(np.intp)
