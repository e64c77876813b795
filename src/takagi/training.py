"""Training: a rule base in, the best rule base and a history out.

Each iteration draws a mini-batch, drops rules, steps along the gradient and validates, as in the paper's Algorithm 1;
`takagi.kernels.train_block` runs many of them at a time, and between two blocks Python shows progress, calls back and
heeds Ctrl-C.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from takagi import kernels
from takagi._batches import Draws, Recorded
from takagi._messages import unknown_name
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.kernels import LANES, to_lanes
from takagi.optimizers import AdaBelief, Optimizer
from takagi.rulebase import RuleBase, pack, unpack

logger = logging.getLogger("takagi")


@dataclass(frozen=True)
class TrainConfig:
    """Settings of `train`; the defaults are the paper's.

    Parameters
    ----------
    optimizer : Optimizer, default=AdaBelief()
        One of the update rules of `takagi.optimizers`.
    learning_rate : float, default=0.01
        The paper's alpha.
    powerball : float, default=0.5
        The paper's gamma: gradients become ``sign(g) |g|^gamma``; 1 leaves them as they are.
    keep_prob : float, default=0.5
        The paper's P: the chance that DropRule keeps a rule, for each row and rule; 1 keeps all.
    l2 : float, default=0.05
        The paper's lambda, on all consequent weights but the bias.
    smoothness : float, default=0
        Penalty on narrow sets: half of it times the sum of ``1 / widths**2`` is added to the loss of a batch. Not in
        the paper.
    batch_size : int, default=64
    max_iter : int, default=1000
    schedule : {"constant", "cosine"}, default="constant"
        "cosine" lets the learning rate fall to zero along half a cosine. Not in the paper.
    averaging : float, default=0
        Decay of a running mean of the parameters, which is then what is validated and returned; 0 for none. Not in the
        paper.
    n_iter_no_change : int, optional
        Stop when the validation error has not fallen for so many iterations. Not in the paper.
    width_floor : float, optional
        Widths are kept above it; by default a tenth of the smallest initial width, and the smallest initial width where
        rules share sets.
    """

    optimizer: Optimizer = field(default_factory=AdaBelief)
    learning_rate: float = 0.01
    powerball: float = 0.5
    keep_prob: float = 0.5
    l2: float = 0.05
    smoothness: float = 0.0
    batch_size: int = 64
    max_iter: int = 1000
    schedule: str = "constant"
    averaging: float = 0.0
    n_iter_no_change: int | None = None
    width_floor: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.optimizer, (str, type)):
            raise TypeError(f"optimizer must be an object such as AdaBelief(), got {self.optimizer!r}.")
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                wanted = f"at least {low:g}" if high == _HUGE else f"from {low:g} to {high:g}"
                raise ValueError(f"{name} must be {wanted}, got {value!r}.")


SCHEDULES = ("constant", "cosine")
_HUGE = np.finfo(float).max
_RANGES = (
    ("learning_rate", 0.0, _HUGE),
    ("powerball", 0.0, _HUGE),
    ("keep_prob", 0.0, 1.0),
    ("l2", 0.0, _HUGE),
    ("smoothness", 0.0, _HUGE),
    ("batch_size", 1, _HUGE),
    ("max_iter", 0, _HUGE),
    ("averaging", 0.0, 0.999999),
    ("n_iter_no_change", 1, _HUGE),
    ("width_floor", 0.0, _HUGE),
)


@dataclass(frozen=True)
class Progress:
    """What a callback is told between two blocks of iterations."""

    n_iter: int
    max_iter: int
    train_rmse: float
    val_rmse: float
    best_iter: int
    best_rmse: float


Callback = Callable[[Progress], object]


@dataclass(frozen=True)
class TrainResult:
    """What `train` returns.

    Attributes
    ----------
    rule_base : RuleBase
        The rules after iteration `best_iter`.
    best_iter : int
        The first iteration, from 1, of smallest validation RMSE; 0 if no iteration ended with finite numbers, and then
        `rule_base` is the initial one.
    history : dict of str to ndarray of shape (n_iter,)
        "train_rmse" of each batch with the kept rules, before the update, and "val_rmse" with all rules, after it.
    stopped : {"max_iter", "no_change", "callback", "interrupted", "diverged"}
        Why training ended.
    start_rmse : float
        Validation RMSE of the initial rules, which the paper does not let compete.
    """

    rule_base: RuleBase
    best_iter: int
    history: dict[str, FloatArray]
    stopped: str
    start_rmse: float

    @property
    def n_iter(self) -> int:
        """Number of iterations done."""
        return len(self.history["train_rmse"])

    @property
    def best_rmse(self) -> float:
        """Validation RMSE of the returned rules."""
        return float(self.history["val_rmse"][self.best_iter - 1]) if self.best_iter else self.start_rmse


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
) -> TrainResult:
    """Train a rule base by mini-batch gradient descent with L2, DropRule and the configured optimiser.

    Randomness comes from `rng`, or, to replay a recorded run, from `batches` and `keep`.

    Parameters
    ----------
    rule_base : RuleBase
        Where to start.
    X, y : array of shape (n_rows, n_features) and (n_rows,) or (n_rows, n_outputs)
        Training rows.
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

    Returns
    -------
    TrainResult

    Notes
    -----
    As in the authors' code: gradients are sums over the batch of half the squared error; the penalty is added once per
    batch, before the Powerball transform; the initial rules are no candidate for the best ones. Unlike it, shares are
    computed in log space, so no row is ever left out because its firing levels underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import RuleBase, TrainConfig, train
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> start = RuleBase([[-1.0], [1.0]], [[0.5], [0.5]], np.zeros((2, 1, 2)))
    >>> config = TrainConfig(learning_rate=0.03, keep_prob=1.0)
    >>> result = train(start, X, X[:, 0] ** 2, X, X[:, 0] ** 2, config)
    >>> result.best_rmse < 0.1
    True
    """
    config = TrainConfig() if config is None else config
    training = _dataset(X, y, sample_weight, rule_base)
    if (X_val is None) != (y_val is None):
        raise ValueError(f"X_val and y_val go together, but {'X_val' if X_val is None else 'y_val'} is missing.")
    validation = _dataset(X_val, y_val, sample_weight_val, rule_base)
    if not len(training[0]):
        raise ValueError("X must have at least one row to train on, got none.")
    if batches is not None:
        source: Draws | Recorded = Recorded(batches, keep, len(training[0]), rule_base.n_rules)
    elif keep is not None:
        raise ValueError("keep is a recorded mask for recorded batches, but batches is missing.")
    else:
        source = Draws(
            config.max_iter,
            config.batch_size,
            config.keep_prob,
            n_rows=len(training[0]),
            n_rules=rule_base.n_rules,
            rng=rng,
        )
    run = _Run(rule_base, config, training, validation, source.n_iter)
    announce_compilation()
    stopped = _run_blocks(run, source, callback)
    return run.result(stopped)


def _run_blocks(run: "_Run", source: Draws | Recorded, callback: Callback | None) -> str:
    """Run blocks until an end is reached and say which; Ctrl-C ends training once something was learned."""
    try:
        while run.n_iter < source.n_iter:
            batches, keep = source.next_block(run.n_iter)
            ended = run.advance(batches, keep)
            wish = callback(run.progress()) if callback is not None and run.n_iter else None
            if isinstance(wish, (bool, np.bool_)) and wish:
                return "callback"
            if ended:
                return ended
    except KeyboardInterrupt:
        if not run.state.best_iter[0]:
            raise
        warnings.warn(f"Training was interrupted; the best rules of {run.n_iter} iterations are kept.", stacklevel=3)
        return "interrupted"
    return "max_iter"


class _Run:
    """The state of one training run between blocks, all of it written by the kernel: Ctrl-C finds it consistent."""

    def __init__(
        self, rule_base: RuleBase, config: TrainConfig, training: tuple, validation: tuple, max_iter: int
    ) -> None:
        theta, self.shape = pack(rule_base)
        self.rule_base, self.config, self.training = rule_base, config, training
        self.validation = _lay_out(*validation)
        self.settings = _settings(config, rule_base)
        self.tied_sets = _tied_sets(rule_base)
        self.work = kernels.make_work(self.shape, min(config.batch_size, len(training[0])))
        self.columns = kernels.make_columns(self.shape)
        self.state = kernels.State(
            theta=theta,
            grad=np.zeros_like(theta),
            mean=np.zeros_like(theta),
            spread=np.zeros_like(theta),
            average=np.zeros_like(theta),
            candidate=np.zeros_like(theta),
            best=theta.copy(),
            best_rmse=np.array([np.inf]),
            best_iter=np.zeros(1, dtype=np.intp),
            n_iter=np.zeros(1, dtype=np.intp),
        )
        self.history = np.empty((max_iter, 2))
        self.start_rmse = self._validate_start()

    def _validate_start(self) -> float:
        if not len(self.validation[2]):
            return np.nan
        return kernels.weighted_rmse(self.state.theta, self.shape, self.columns, *self.validation)

    def advance(self, batches: IntArray, keep: BoolArray) -> str:
        """Run one block; return why training ended with it, or nothing."""
        self._make_room(batches.shape[1])
        finite = kernels.train_block(
            self.shape,
            self.settings,
            self.state,
            self.work,
            self.columns,
            self.tied_sets,
            self.training,
            self.validation,
            batches,
            keep,
            self.history,
        )
        if not finite:
            return "diverged"
        has_stalled = 0 < self.settings.patience == self.n_iter - int(self.state.best_iter[0])
        return "no_change" if has_stalled else ""

    @property
    def n_iter(self) -> int:
        return int(self.state.n_iter[0])

    def _make_room(self, batch_size: int) -> None:
        if batch_size * self.shape.n_outputs > len(self.work.value):
            self.work = kernels.make_work(self.shape, batch_size)

    def progress(self) -> Progress:
        train_rmse, val_rmse = self.history[self.n_iter - 1]
        best_iter, best_rmse = int(self.state.best_iter[0]), float(self.state.best_rmse[0])
        if not len(self.validation[2]):
            val_rmse = best_rmse = np.nan
        return Progress(self.n_iter, len(self.history), float(train_rmse), float(val_rmse), best_iter, best_rmse)

    def result(self, stopped: str) -> TrainResult:
        history = self.history[: self.n_iter]
        val_rmse = history[:, 1] if len(self.validation[2]) else np.full(len(history), np.nan)
        return TrainResult(
            rule_base=unpack(self.state.best, self.rule_base),
            best_iter=int(self.state.best_iter[0]),
            history={"train_rmse": history[:, 0].copy(), "val_rmse": val_rmse.copy()},
            stopped=stopped,
            start_rmse=self.start_rmse,
        )


def _dataset(X: FloatArray | None, y: FloatArray | None, weight: FloatArray | None, rules: RuleBase) -> tuple:
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


def _lay_out(X: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return validation rows as the kernel reads them, eight side by side."""
    n_padded = -(-len(X) // LANES) * LANES
    laid = np.zeros(n_padded * X.shape[1]), np.zeros(n_padded * y.shape[1]), np.zeros(n_padded)
    kernels.lay_dataset(X, y, weight, *laid)
    return laid


def _settings(config: TrainConfig, rules: RuleBase) -> kernels.Settings:
    spec = config.optimizer.spec()
    floor = config.width_floor
    if floor is None:
        floor = rules.widths.min() * (0.1 if rules.sets is None else 1.0)
    return kernels.Settings(
        rule=spec.rule,
        beta1=float(spec.beta1),
        beta2=float(spec.beta2),
        epsilon=float(spec.epsilon),
        learning_rate=float(config.learning_rate),
        powerball=float(config.powerball),
        l2=float(config.l2),
        smoothness=float(config.smoothness),
        cosine=config.schedule == "cosine",
        averaging=float(config.averaging),
        width_floor=float(floor),
        max_iter=int(config.max_iter),
        patience=config.n_iter_no_change or 0,
        tied_projection=bool(rules.tied_projection),
    )


def _tied_sets(rules: RuleBase) -> IntArray:
    """Return, for every entry of the flat centers, the first entry that is the same parameter, or nothing."""
    if rules.sets is None:
        return np.empty(0, dtype=np.intp)
    n_rules, n_inputs = rules.sets.shape
    own = to_lanes(np.arange(n_rules * n_inputs, dtype=float).reshape(n_rules, n_inputs), fill=-1.0)
    place = {int(number): at for at, number in enumerate(own) if number >= 0}
    leader = np.empty((n_rules, n_inputs))
    for m, column in enumerate(rules.sets.T):
        _, index, inverse = np.unique(column, return_index=True, return_inverse=True)
        leader[:, m] = [place[int(r) * n_inputs + m] for r in index[inverse]]
    return to_lanes(leader, fill=-1.0).astype(np.intp)


def announce_compilation() -> None:
    """Tell once that the first fit on a machine compiles."""
    if not kernels.is_compiled():
        logger.warning("takagi compiles its kernels for this machine, once; this takes about fifteen seconds.")
