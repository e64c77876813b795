"""One training run from start to end, in blocks of iterations that the kernel runs."""

import logging
from dataclasses import replace
from numbers import Integral

import numpy as np

from takagi import kernels
from takagi._checks import are_finite
from takagi._messages import warn_user
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.kernels import to_lanes
from takagi.rulebase import RuleBase, pack, pack_usual, unpack
from takagi.training._batches import Blocks, draw_blocks, replay_blocks
from takagi.training._config import (
    LOSSES,
    Bounds,
    Callback,
    Progress,
    TrainConfig,
    TrainResult,
    check_probabilities,
)
from takagi.training._own import FeasibleSet, advance_in_numpy, project
from takagi.training._scaled import ScaledTable

logger = logging.getLogger("takagi")
_ENDS = {kernels.GOES_ON: "", kernels.STALLED: "no_change", kernels.DIVERGED: "diverged"}
NEVER = 2**62  # iterations from one validation to the next, if only the end of a block is validated


def train(
    rule_base: RuleBase,
    X: FloatArray,
    y: FloatArray,
    X_val: FloatArray | None,
    y_val: FloatArray | None,
    config: TrainConfig | None = None,
    *,
    rng: np.random.Generator | None = None,
    batches: IntArray | None = None,
    keep: BoolArray | None = None,
    sample_weight: FloatArray | None = None,
    sample_weight_val: FloatArray | None = None,
    callback: Callback | None = None,
    bounds: Bounds | FeasibleSet | None = None,
    keep_interrupted: bool = True,
    every: int = 1,
) -> TrainResult:
    """Train a rule base by mini-batch gradient descent with L2, DropRule and the configured optimizer.

    Randomness comes from `rng`, or, to replay a recorded run, from `batches` and `keep`.

    Parameters
    ----------
    rule_base : RuleBase
        The initial rules.
    X, y : array of shape (n_rows, n_features) and (n_rows,) or (n_rows, n_outputs)
        Training rows. Features may be missing (NaN) if the rules have usual values for them.
    X_val, y_val : arrays as X and y, or None
        Validation rows, which choose the returned iterate; without them it is the last one.
    config : TrainConfig, optional
        Settings, the paper's by default.
    rng : Generator, optional
        Draws batches and masks; needed unless both are given or there is nothing to draw.
    batches : int array of shape (max_iter, batch_size), optional
        Rows of X per iteration.
    keep : bool array of shape (max_iter, batch_size, n_rules), optional
        The rules that DropRule keeps. Without it nothing is dropped from given batches.
    sample_weight, sample_weight_val : array of shape (n_rows,), optional
        Weights of the rows in gradients and errors.
    callback : callable, optional
        Called with a `Progress` after each block of iterations; training stops when it returns True.
    bounds : Bounds or FeasibleSet, optional
        Limits of the parameters. Initial rules beyond them are first moved to the nearest point within.
    keep_interrupted : bool, default=True
        Whether Ctrl-C keeps the best rules so far, if there are any, with a warning; if not, it raises
        KeyboardInterrupt.
    every : int, default=1
        Iterations from one validation to the next, since validation may take longer than training. The last iteration
        of a block of 250 is always validated.

    Returns
    -------
    TrainResult

    Notes
    -----
    As in the authors' code: gradients are sums of the loss over the batch, for the squared error half of it; the
    penalty is added once per batch, before the Powerball transform; the initial rules are no candidate for the best
    ones. Unlike it, shares are computed in log space, so no row is left out because its firing levels underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import RuleBase, TrainConfig, train
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> start = RuleBase([[-1.0], [1.0]], [[0.5], [0.5]], np.zeros((2, 1, 2)))
    >>> config = TrainConfig(learning_rate=0.03, keep_prob=1.0)
    >>> result = train(start, X, X[:, 0] ** 2, X, X[:, 0] ** 2, config)
    >>> result.best_loss < 0.1
    True
    """
    config = TrainConfig() if config is None else config
    if not isinstance(every, Integral) or every < 1:
        raise ValueError(f"every must be a whole number of at least 1, got {every!r}.")
    training = check_dataset(X, y, sample_weight, rule_base)
    if (X_val is None) != (y_val is None):
        raise ValueError(
            f"X_val and y_val must be given together, but {'X_val' if X_val is None else 'y_val'} is missing."
        )
    validation = check_dataset(X_val, y_val, sample_weight_val, rule_base)
    if not len(training[0]):
        raise ValueError("X must have at least one row to train on, got none.")
    if batches is not None:
        n_iter, blocks = len(batches), replay_blocks(batches, keep, len(training[0]), rule_base.n_rules)
    elif keep is not None:
        raise ValueError("keep needs the batches that its masks were recorded for, but batches is missing.")
    else:
        n_iter, blocks = config.max_iter, draw_blocks(config, len(training[0]), rule_base.n_rules, rng)
    run = Run(rule_base, config, training, validation, n_iter, every=every, bounds=bounds)
    announce_compilation()
    try:
        stopped = _run_blocks(run, blocks, callback)
    except KeyboardInterrupt:
        if not (keep_interrupted and run.state.best_iter[0]):
            raise
        warn_user(f"Training was interrupted; the best rules of {run.n_iter} iterations are kept.")
        stopped = "interrupted"
    return run.result(stopped)


def _run_blocks(run: "Run", blocks: Blocks, callback: Callback | None) -> str:
    """Run blocks until training ends, and return why it ended."""
    for batches, keep in blocks:
        ended = run.advance(batches, keep)
        wish = callback(run.progress()) if callback is not None and run.n_iter else None
        if isinstance(wish, (bool, np.bool_)) and wish:
            return "callback"
        if ended:
            return ended
    return "max_iter"


def announce_compilation() -> None:
    """Print once that the first fit on a machine compiles."""
    if not kernels.is_compiled(kernels.train_block):
        logger.warning("takagi compiles its kernels for this machine. This takes some seconds, only once.")


# -- between two blocks ------------------------------------------------------------------------------------------------


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
    """Training between blocks; only the kernel writes its state, so it is consistent after Ctrl-C.

    Parameters
    ----------
    rule_base : RuleBase
        The initial rules.
    config : TrainConfig
    training, validation : tuple of arrays
        X, y and weights, as `check_dataset` returns them.
    max_iter : int
        Number of iterations for which the history has room.
    state : State, optional
        The state at the end of an earlier run of the same rules, from which to continue; it is modified.
    every : int, default=1
        Iterations from one validation to the next, 1 as in the paper; the last one of a block is always validated.
    bounds : Bounds or FeasibleSet, optional
        Limits of the parameters.
    """

    def __init__(
        self,
        rule_base: RuleBase,
        config: TrainConfig,
        training: tuple,
        validation: tuple,
        max_iter: int,
        state: kernels.State | None = None,
        every: int = 1,
        bounds: Bounds | FeasibleSet | None = None,
    ) -> None:
        if config.loss == "log":
            check_probabilities(np.asarray(training[1]))
            check_probabilities(validation[1])
        link = LOSSES[config.loss].links[rule_base.n_outputs > 1]
        self.rule_base = rule_base if rule_base.link == link else replace(rule_base, link=link)
        self.config, self.given, self.training = config, training, training
        self.shape = pack(rule_base)[1]
        self.validation = tuple(map(to_lanes, (*validation[:2], validation[2][:, None])))
        self.settings = _settings(config, rule_base, every=every if len(validation[0]) else NEVER)
        self.tied_sets = None if rule_base.sets is None else _tie_sets(rule_base)
        self.usual = _find_usual(rule_base, training[0], validation[0])
        n_together = _count_together(config, min(config.batch_size, len(training[0])))
        self.work = kernels.make_work(self.shape, n_together, self.usual)
        self.columns = kernels.make_columns(self.shape, self.usual)
        self.state = begin_state(rule_base) if state is None else state
        self.first_iter = self.n_iter
        self._enter(bounds)
        self.history = np.empty((max_iter, 2))
        self.start_loss = self.validate(self.state.theta)

    def _enter(self, bounds: Bounds | FeasibleSet | None) -> None:
        """Set the bounds of the parameters, and move the start within them."""
        theta, self.feasible = self.state.theta, None
        if hasattr(bounds, "project"):
            self.feasible, bounds = bounds, None
        box = Bounds() if bounds is None else bounds
        if not isinstance(box, Bounds):
            raise TypeError(f"bounds must be a Bounds or an object that can project, got {bounds!r}.")
        self.limits = box.lay_out(self.rule_base, find_width_floor(self.config, self.rule_base), theta)
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
        """Run one block; return why training ended, or None if it continues."""
        n_together = _count_together(self.config, batches.shape[1])
        if n_together > len(self.work.price):
            self.work = kernels.make_work(self.shape, n_together, self.usual)
        history = self.history[self.n_iter - self.first_iter :][: len(batches)]
        batches = self._draw(batches)
        if self.feasible is not None or self.settings.rule == kernels.OWN:
            return _ENDS[advance_in_numpy(self, batches, keep, history)]
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

    def _draw(self, batches: IntArray) -> IntArray:
        """Make the rows of some batches those that train, if the table is scaled on demand; return their numbers."""
        X, y, weight = self.given
        if not isinstance(X, ScaledTable):
            return batches
        drawn, self.training = batches.ravel(), ()
        self.training = X[drawn], y[drawn], weight[drawn]
        return np.arange(len(drawn)).reshape(batches.shape)

    @property
    def n_iter(self) -> int:
        """Iterations done, including those of earlier runs."""
        return int(self.state.n_iter[0])

    def progress(self) -> Progress:
        """Return the argument of the callback."""
        train_loss, val_loss = self.history[self.n_iter - self.first_iter - 1]
        best_iter, best_loss = int(self.state.best_iter[0]), float(self.state.best_loss[0])
        return Progress(self.n_iter, len(self.history), float(train_loss), float(val_loss), best_iter, best_loss)

    def result(self, stopped: str) -> TrainResult:
        """Return the best rules and the history."""
        history = self.history[: self.n_iter - self.first_iter]
        return TrainResult(
            rule_base=unpack(self.state.best, self.rule_base),
            best_iter=int(self.state.best_iter[0]),
            history={"train_loss": history[:, 0].copy(), "val_loss": _fill_gaps(history[:, 1], self.start_loss)},
            stopped=stopped,
            start_loss=self.start_loss,
            n_iter=len(history),
        )


def _fill_gaps(losses: FloatArray, start_loss: float) -> FloatArray:
    """Return validation losses with each NaN replaced by the last loss before it."""
    known = np.maximum.accumulate(np.where(np.isnan(losses), 0, np.arange(1, len(losses) + 1)))
    return np.r_[start_loss, losses][known]


def check_dataset(X: FloatArray | None, y: FloatArray | None, weight: FloatArray | None, rules: RuleBase) -> tuple:
    """Return (X, y, weight) in the layout of the kernels."""
    if X is None or y is None:
        X, y = np.empty((0, rules.n_features)), np.empty((0, rules.n_outputs))
    rows, target = (
        table if isinstance(table, ScaledTable) else np.asarray(table, dtype=float, order="C") for table in (X, y)
    )
    if target.ndim == 1:
        target = target[:, None]
    weight = np.ones(len(rows)) if weight is None else np.ascontiguousarray(weight, dtype=float)
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


def _count_together(config: TrainConfig, n_rows: int) -> int:
    """Return how many rows of a batch are processed together: all if their mean shares are penalized."""
    return n_rows if config.uniformity else min(n_rows, kernels.PART_ROWS)


def _find_usual(rules: RuleBase, *tables: FloatArray) -> FloatArray | None:
    """Return what missing values count as, as the kernels want it; None if there are none."""
    if all(isinstance(X, ScaledTable) or are_finite(X) for X in tables):
        return None
    if rules.usual is None:
        raise ValueError(
            "X has NaN or infinity. To train on missing values, rules need `usual`, the numbers that replace them."
        )
    return pack_usual(rules)


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
        uniformity=float(config.uniformity) or None,
        cosine=config.schedule == "cosine",
        averaging=float(config.averaging),
        max_iter=int(config.max_iter),
        patience=config.n_iter_no_change or 0,
        every=every,
        tied_projection=bool(rules.tied_projection),
    )


def find_width_floor(config: TrainConfig, rules: RuleBase) -> float:
    """Return the lower bound of widths in a training that starts from given rules."""
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
