"""One training from start to end."""

import logging

import numpy as np

from takagi import kernels
from takagi._messages import warn_user
from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.rulebase import RuleBase
from takagi.training._bounds import Bounds, FeasibleSet
from takagi.training._config import TrainConfig
from takagi.training._run import Callback, Run, TrainResult, check_dataset

logger = logging.getLogger("takagi")
_NUMBERS_PER_BLOCK = 2**18  # random numbers drawn at a time, which bounds the memory of a block
_ITERATIONS_PER_BLOCK = 250


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
) -> TrainResult:
    """Train a rule base by mini-batch gradient descent with L2, DropRule and the configured optimizer.

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
    bounds : Bounds or FeasibleSet, optional
        Where parameters may go. A start beyond them is moved to the nearest point within first.
    keep_interrupted : bool, default=True
        Whether Ctrl-C keeps the best rules so far, once there are any, with a warning; if not, it is raised.

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
    training = check_dataset(X, y, sample_weight, rule_base)
    if (X_val is None) != (y_val is None):
        raise ValueError(f"X_val and y_val go together, but {'X_val' if X_val is None else 'y_val'} is missing.")
    validation = check_dataset(X_val, y_val, sample_weight_val, rule_base)
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
    run = Run(rule_base, config, training, validation, source.n_iter, bounds=bounds)
    announce_compilation()
    try:
        stopped = _run_blocks(run, source, callback)
    except KeyboardInterrupt:
        if not (keep_interrupted and run.state.best_iter[0]):
            raise
        warn_user(f"Training was interrupted; the best rules of {run.n_iter} iterations are kept.")
        stopped = "interrupted"
    return run.result(stopped)


def _run_blocks(run: Run, source: "Draws | Recorded", callback: Callback | None) -> str:
    """Run blocks until an end is reached and say which."""
    while run.n_iter < source.n_iter:
        batches, keep = source.next_block(run.n_iter)
        ended = run.advance(batches, keep)
        wish = callback(run.progress()) if callback is not None and run.n_iter else None
        if isinstance(wish, (bool, np.bool_)) and wish:
            return "callback"
        if ended:
            return ended
    return "max_iter"


def announce_compilation() -> None:
    """Tell once that the first fit on a machine compiles."""
    if not kernels.is_compiled(kernels.train_block):
        logger.warning("takagi compiles its kernels for this machine, once; this takes some seconds.")


# -- where batches and DropRule masks come from ------------------------------------------------------------------------


class Draws:
    """Batches and masks drawn at random, a block at a time."""

    def __init__(
        self,
        n_iter: int,
        batch_size: int,
        keep_prob: float,
        *,
        n_rows: int,
        n_rules: int,
        rng: np.random.Generator | None,
    ) -> None:
        self.n_iter, self.n_rules, self.keep_prob = n_iter, n_rules, keep_prob
        self.batch_size = min(batch_size, n_rows)
        self.order = np.arange(n_rows)
        if rng is None and (self.keep_prob < 1 or self.batch_size < n_rows):
            raise ValueError("train needs rng, or recorded batches and masks, to draw batches and dropped rules.")
        self.rng = rng
        per_iteration = self.batch_size * (n_rules if self.keep_prob < 1 else 1)
        self.size = int(np.clip(_NUMBERS_PER_BLOCK // per_iteration, 1, _ITERATIONS_PER_BLOCK))

    def next_block(self, start: int) -> tuple[IntArray, BoolArray]:
        size = min(self.size, self.n_iter - start)
        batches = np.empty((size, self.batch_size), dtype=np.intp)
        if self.batch_size < len(self.order):
            kernels.draw_batches(self.rng.random(batches.shape), self.order, batches)  # type: ignore[union-attr]
        else:
            batches[:] = self.order
        return batches, draw_keep((size, self.batch_size, self.n_rules), self.keep_prob, self.rng)  # type: ignore[arg-type]


class Recorded:
    """Batches and masks of a recorded run."""

    def __init__(self, batches: IntArray, keep: BoolArray | None, n_rows: int, n_rules: int) -> None:
        self.batches = np.ascontiguousarray(batches, dtype=np.intp)
        if self.batches.ndim != 2 or not self.batches.size or not ((self.batches >= 0) & (self.batches < n_rows)).all():
            raise ValueError(f"batches must be rows 0 to {n_rows - 1} of X, of shape (n_iter, batch_size).")
        self.n_iter = len(self.batches)
        self.keep = np.empty((0, self.batches.shape[1], n_rules), dtype=bool)
        if keep is not None:
            self.keep = np.array(keep, dtype=bool)
            if self.keep.shape != (*self.batches.shape, n_rules):
                raise ValueError(f"keep must have shape {(*self.batches.shape, n_rules)}, got {self.keep.shape}.")

    def next_block(self, start: int) -> tuple[IntArray, BoolArray]:
        here = slice(start, start + _ITERATIONS_PER_BLOCK)
        return self.batches[here].copy(), self.keep[here].copy()


def draw_keep(shape: tuple[int, int, int], keep_prob: float, rng: np.random.Generator) -> BoolArray:
    """Draw masks from 32 bits per rule, which is twice as fast as from uniform numbers; none where all are kept."""
    if keep_prob >= 1:
        return np.empty((0, *shape[1:]), dtype=bool)
    n_masks = int(np.prod(shape))
    words = rng.integers(2**64, size=-(-n_masks // 2), dtype=np.uint64).view(np.uint32)
    return (words[:n_masks] < np.uint32(keep_prob * 2**32)).reshape(shape)
