"""Arrays and sizes that Python hands to compiled code; plain Python, so that nothing here needs numba."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import NamedTuple

import numpy as np

LANES = 8  # rules, or rows, side by side in a vector
ROW_TILE = 4
BLOCK_ROWS = 64
PART_ROWS = 32  # of a batch, that pass through the kernels together, so that what they leave stays in the cache
PARAMETERS = ("centers", "widths", "consequents", "antecedent_projection", "consequent_projection")
MOMENTUM, ADAM, ADABOUND, ADABELIEF = 0, 1, 2, 3  # update rules
OWN = -1  # an update rule in Python
SQUARED, LOG = None, 1  # losses; None is a type of its own, and what only others need is not compiled for it
GOES_ON, STALLED, DIVERGED = 0, 1, 2  # how a block of iterations ended
_FEW = 2**22  # numbers that NumPy computes with in some hundredths of a second
_FIRST = ("predict_rows", "iterate_fuzzy_cmeans", "train_block")  # one of these is compiled before all others
_FILL = {"centers": -1e200, "widths": 1.0}  # parameters of rules that only fill up a block: too far away to fire


class Shape(NamedTuple):
    """Sizes of a rule base in compiled code."""

    n_features: int  # columns of X
    n_rules: int
    n_blocks: int  # blocks of LANES rules
    n_outputs: int
    n_projected_a: int  # projected inputs of the antecedents, before the features
    n_projected_c: int  # projected inputs of the consequents, before the features


def sections(shape):
    """Return where centers, widths, consequents, both projections and the end lie in theta."""
    n_sets = shape.n_blocks * (shape.n_projected_a + shape.n_features) * LANES
    n_weights = shape.n_outputs * shape.n_blocks * (shape.n_projected_c + shape.n_features + 1) * LANES
    a = 2 * n_sets + n_weights
    c = a + (shape.n_features + 1) * shape.n_projected_a
    return 0, n_sets, 2 * n_sets, a, c, c + (shape.n_features + 1) * shape.n_projected_c


def has_projection(shape):
    """Tell whether conditions and consequents may have different inputs.

    If not, their buffers are None: that is a type of its own, and what only projections need is not compiled.
    """
    return shape.n_projected_a + shape.n_projected_c > 0


def to_lanes(values, fill=0.0):
    """Lay an array of shape (n_rules, n_inputs), or of rows, out as (n_blocks, n_inputs, LANES), flat."""
    n_rules, n_inputs = values.shape
    padded = np.full((count_blocks(n_rules) * LANES, n_inputs), fill)
    padded[:n_rules] = values
    return np.ascontiguousarray(padded.reshape(-1, LANES, n_inputs).transpose(0, 2, 1)).reshape(-1)


def from_lanes(flat, n_rules, n_inputs):
    """Undo `to_lanes`."""
    blocks = flat.reshape(-1, n_inputs, LANES).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks.reshape(-1, n_inputs)[:n_rules])


def count_blocks(n_rules):
    """Return the number of blocks of LANES rules."""
    return -(-n_rules // LANES)


def flatten(parts, fill=_FILL):
    """Lay arrays of the shapes of parameters out in the order of the kernels; `fill` is for rules that fill a block."""
    flat = []
    for name in PARAMETERS[:3]:
        pages = parts[name].swapaxes(0, 1) if name == "consequents" else parts[name][None]
        flat += [to_lanes(page, fill.get(name, 0.0)) for page in pages]
    flat += [parts[name].ravel() for name in PARAMETERS[3:] if name in parts]
    flat.append(np.zeros(-sum(map(len, flat)) % LANES))
    return np.concatenate(flat)


def split(theta, shape):
    """Return the parameters by name that lie in a flat vector."""
    n_inputs_a = shape.n_projected_a + shape.n_features
    n_inputs_c = shape.n_projected_c + shape.n_features
    centers, widths, weights, *projections = (theta[a:b] for a, b in pairwise(sections(shape)))
    outputs = weights.reshape(shape.n_outputs, -1)
    parts = {
        "centers": from_lanes(centers, shape.n_rules, n_inputs_a),
        "widths": from_lanes(widths, shape.n_rules, n_inputs_a),
        "consequents": np.stack([from_lanes(w, shape.n_rules, n_inputs_c + 1) for w in outputs], axis=1),
    }
    counts = shape.n_projected_a, shape.n_projected_c
    return parts | {
        name: values.reshape(-1, count)
        for name, values, count in zip(PARAMETERS[3:], projections, counts, strict=True)
        if count
    }


class Work(NamedTuple):
    """Buffers for so many rows at a time, named for what they hold (r: rows, l: lanes of all rules)."""

    inputs_a: np.ndarray  # (r, n_inputs of the antecedents)
    inputs_c: np.ndarray | None  # (r, n_inputs of the consequents), where there are projections
    absent: np.ndarray | None  # (r, n_features) one where a value is missing, else zero; None if none is
    usual: np.ndarray | None  # like centers: what a missing value counts as in a formula
    distance: np.ndarray  # (r, l) squared distance to each rule in widths
    output: np.ndarray  # (n_outputs, r, l) consequents
    share: np.ndarray  # (r, l) normalized firing levels
    pull: np.ndarray  # (r, l) derivative of the loss by the log of a firing level
    value: np.ndarray  # (r, n_outputs) prediction, before the link
    error: np.ndarray  # (r, n_outputs) weighted error
    kept: np.ndarray  # (r, l) one for the rules that DropRule kept, else zero
    every_rule: np.ndarray  # (r, l) one for rules, zero for the filling
    rate: np.ndarray  # (r, l) weight of each row and rule in `sum_outer`
    price: np.ndarray  # (r) weight of the disagreement of the rules
    mean_share: np.ndarray  # (l) mean over the batch
    inverse: np.ndarray  # like centers: 1 / width
    offset: np.ndarray  # like centers: -center / width
    tied: np.ndarray  # like centers: sums over tied parameters


def make_work(shape, n_rows, usual=None):
    """Allocate the buffers for at most `n_rows` rows; with missing values, `usual` is what they count as."""
    rows = -(-n_rows // ROW_TILE) * ROW_TILE
    lanes = shape.n_blocks * LANES
    n_inputs_a = shape.n_projected_a + shape.n_features
    every_rule = np.tile((np.arange(lanes) < shape.n_rules).astype(float), rows)
    return Work(
        inputs_a=np.zeros(rows * n_inputs_a),
        inputs_c=np.zeros(rows * (shape.n_projected_c + shape.n_features)) if has_projection(shape) else None,
        absent=None if usual is None else np.zeros(rows * n_inputs_a),
        usual=usual,
        distance=np.zeros(rows * lanes),
        output=np.zeros(shape.n_outputs * rows * lanes),
        share=np.zeros(rows * lanes),
        pull=np.zeros(rows * lanes),
        value=np.zeros(rows * shape.n_outputs),
        error=np.zeros(rows * shape.n_outputs),
        kept=np.zeros(rows * lanes),
        every_rule=every_rule,
        rate=np.zeros(rows * lanes),
        price=np.zeros(rows),
        mean_share=np.zeros(lanes),
        inverse=np.zeros(shape.n_blocks * n_inputs_a * LANES),
        offset=np.zeros(shape.n_blocks * n_inputs_a * LANES),
        tied=np.zeros(shape.n_blocks * n_inputs_a * LANES),
    )


class Columns(NamedTuple):
    """Buffers for eight rows at a time, side by side."""

    features: np.ndarray  # (n_features, LANES)
    inputs_a: np.ndarray | None  # (n_inputs of the antecedents, LANES), where there are projections or missing values
    inputs_c: np.ndarray | None  # (n_inputs of the consequents, LANES), where there are projections
    absent: np.ndarray | None  # (n_features, LANES) one where a value is missing, else zero; None if none is
    usual: np.ndarray | None  # like centers: what a missing value counts as in a formula
    firing: np.ndarray  # (rules, LANES) minus the log of firing levels, then firing levels
    scale: np.ndarray  # (LANES) what makes shares of the firing levels
    value: np.ndarray  # (n_outputs, LANES) predictions
    inverse: np.ndarray  # like centers: sqrt(1/2) / width, so that squared distances are minus the log of firing
    offset: np.ndarray  # like centers: -sqrt(1/2) * center / width


def make_columns(shape, usual=None):
    """Allocate the buffers; with missing values, `usual` is what they count as, and there are no projections."""
    n_inputs_a, n_inputs_c = shape.n_projected_a + shape.n_features, shape.n_projected_c + shape.n_features
    return Columns(
        features=np.zeros(shape.n_features * LANES),
        inputs_a=np.zeros(n_inputs_a * LANES) if has_projection(shape) or usual is not None else None,
        inputs_c=np.zeros(n_inputs_c * LANES) if has_projection(shape) else None,
        absent=None if usual is None else np.zeros(n_inputs_a * LANES),
        usual=usual,
        firing=np.zeros(shape.n_blocks * LANES * LANES),
        scale=np.zeros(LANES),
        value=np.zeros(shape.n_outputs * LANES),
        inverse=np.zeros(shape.n_blocks * n_inputs_a * LANES),
        offset=np.zeros(shape.n_blocks * n_inputs_a * LANES),
    )


class Settings(NamedTuple):
    """What the training loop needs to know, as scalars."""

    loss: int | None  # SQUARED or LOG
    rule: int  # MOMENTUM, ADAM, ADABOUND or ADABELIEF
    beta1: float
    beta2: float
    epsilon: float
    learning_rate: float
    powerball: float
    l2: float
    smoothness: float
    agreement: float
    uniformity: float | None  # None for zero: what it needs is then not compiled
    cosine: bool  # the rate falls to zero as half a cosine
    averaging: float  # decay of the running mean of the parameters, 0 for none
    max_iter: int
    patience: int  # iterations without improvement before training ends, 0 for no end
    every: int  # iterations from one validation to the next; the last one of a block is always validated
    tied_projection: bool


class State(NamedTuple):
    """All that one iteration hands to the next."""

    theta: np.ndarray
    grad: np.ndarray
    mean: np.ndarray  # first moment
    spread: np.ndarray  # second moment
    average: np.ndarray  # running mean of theta, not yet corrected for its start
    candidate: np.ndarray  # what is validated: theta, or its running mean
    best: np.ndarray
    best_loss: np.ndarray  # one entry
    best_iter: np.ndarray  # one entry, from 1
    n_iter: np.ndarray  # one entry, iterations done


def is_compiled(entry):
    """Tell whether a compiled function is in memory or on disk, or is never compiled."""
    return bool(getattr(entry, "signatures", True)) or entry.stats.cache_path is not None


class Choice:
    """Chooses between the kernels of a package and those of NumPy, which are at once ready.

    A process that only predicts need not compile for seconds. One that trains computes with compiled code from the
    start, so that its numbers do not depend on what was compiled before, not even in their last bits.
    """

    def __init__(self, package, plain):
        self.package, self.plain, self.is_ready, self.is_short = package, plain, False, False

    def find_kernel(self, name, n_numbers):
        """Return a kernel: the compiled one, or NumPy's for few numbers while nothing is compiled."""
        if not self.is_ready and n_numbers <= _FEW:
            self.is_ready = not self.is_short and any(is_compiled(getattr(self.package, first)) for first in _FIRST)
            if not self.is_ready:
                return getattr(self.plain, name)
        self.is_ready = True
        return getattr(self.package, name)

    @contextmanager
    def prefer_plain(self, is_short=True):
        """Have few numbers computed by NumPy, unless compiled code is in use: numba is then not even imported."""
        before, self.is_short = self.is_short, is_short
        try:
            yield
        finally:
            self.is_short = before

    def expect_training(self):
        """Have everything compiled from now on."""
        self.is_ready = True


def run_blocks(work, starts, n_threads):
    """Do the work of each block of rows, given where it starts, in so many threads; compiled code runs side by side."""
    if n_threads == 1 or len(starts) <= 1:
        for start in starts:
            work(start)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, starts))
