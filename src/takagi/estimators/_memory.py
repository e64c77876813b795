"""Learning a committee's memory: Nadaraya-Watson regression of out-of-fold errors, a bandwidth per feature.

The bandwidths are learned by leave-one-out: half of the rows, or up to 1,000, are used to learn, and as many others to
choose the iterate. Then the two halves are exchanged. Both results are kept and averaged, if the gain on the rows that
chose the iterate is clear.
"""

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.parallel import Parallel, delayed

from takagi import kernels
from takagi._typing import FloatArray, IntArray
from takagi.fitting import Rows, measure_columns, measure_rms
from takagi.memory import Memory, shelve

_FEWEST_ROWS, _FEWEST_JUDGES = 250, 40  # fewer are not enough to learn from, and to tell the gain
_MOST_ROWS = 50_000
_MOST_NUMBERS = 1_000_000  # numbers in the memory, which limits the time
_QUERIES = (200, 1_000)  # smallest and largest number of rows left out in a half
_PAIRS = 3_000_000  # pairs of a left-out row and another one; with more pairs, fewer rows are left out
_MANY_FEATURES, _FEWEST_QUERIES = 20, 50  # with more features, fewer rows are left out
_SLIGHT = 1e-3  # relative to the standard deviation of the targets; smaller errors need no memory
_EVEN_WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8)  # initial bandwidths, times the root of the number of features
_SINGLE_WIDTHS = (0.03, 0.1, 0.3)  # of one feature alone
_FAINT = 0.1  # all other features together, in a start from a single feature
_WIDTH_BOUNDS, _DAMPING_BOUNDS = (-7.0, 4.0), (-4.0, 5.0)  # logarithms
_MAX_ITER = 15
_CLEAR = 1.5  # standard errors of the gain


def choose_rows(X: FloatArray, rng: np.random.RandomState) -> IntArray:
    """Return the rows of the memory, in random order: all, or as many as can be searched in reasonable time."""
    n_rows, n_features = X.shape
    return rng.permutation(n_rows)[: min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_NUMBERS // n_features))]


def learn_memory(rows: Rows, prediction: FloatArray, n_threads: int = 1) -> Memory | None:
    """Return a memory of the errors of out-of-fold predictions; None if it would not help.

    The rows must be in random order, because the first of them are left out in turn.
    """
    if _count_effective(rows.weight) < _FEWEST_ROWS:
        return None
    errors = rows.y - prediction
    size = measure_rms(errors, rows.weight)
    outputs = np.flatnonzero(size > _SLIGHT * measure_columns(rows.y, rows.weight)[1])
    weight = rows.weight / rows.weight.mean()
    mean, scale = measure_columns(rows.X, rows.weight)
    standard = (rows.X - mean) / scale
    n_queries = _count_queries(*rows.X.shape)
    halves = np.arange(n_queries), np.arange(n_queries, 2 * n_queries)
    trials = [_Trial(standard, weight, errors[:, k] / size[k]) for k in outputs]
    found = Parallel(n_jobs=n_threads, require="sharedmem")(
        delayed(_learn_widths)(trial, *roles) for trial in trials for roles in (halves, halves[::-1])
    )
    widths, damping = np.ones((2, len(size), len(scale))), np.full((2, len(size)), np.inf)
    for k, pair in zip(outputs, zip(found[::2], found[1::2], strict=True), strict=True):
        logs, gains = zip(*pair, strict=True)
        if _is_clear(np.concatenate(gains), weight[np.r_[halves[1], halves[0]]]):
            widths[:, k] = [np.exp(one[:-1]) * scale for one in logs]
            damping[:, k] = [np.exp(one[-1]) for one in logs]
    if np.isinf(damping).all():
        return None
    return Memory(rows.X, weight, errors, widths, damping)


def _count_effective(weight: FloatArray) -> float:
    """Return the effective number of rows: as many rows of equal weight have the same information."""
    weight = weight / weight.max()
    return float(weight.sum() ** 2 / (weight**2).sum())


def _count_queries(n_rows: int, n_features: int) -> int:
    """Return how many rows are left out in turn to learn."""
    wanted = int(np.clip(_PAIRS // n_rows, *_QUERIES))
    if n_features > _MANY_FEATURES:
        wanted = max(_FEWEST_QUERIES, wanted * _MANY_FEATURES // n_features)
    return min(wanted, n_rows // 2)


def _is_clear(gains: FloatArray, weight: FloatArray) -> bool:
    """Return whether the mean gain is well above its standard error, with enough rows to decide."""
    if _count_effective(weight) < _FEWEST_JUDGES:
        return False
    weight = weight / weight.sum()
    mean = float(weight @ gains)
    return mean > _CLEAR * float(np.sqrt(weight**2 @ (gains - mean) ** 2))


class _Trial:
    """Rows in standard units, for which bandwidths are learned."""

    def __init__(
        self, rows: FloatArray, weight: FloatArray, errors: FloatArray, orders: IntArray | None = None
    ) -> None:
        self.rows, self.weight, self.errors = rows, weight, errors
        self.orders = np.argsort(rows, axis=0, kind="stable") if orders is None else orders

    def take_column(self, j: int) -> "_Trial":
        return _Trial(self.rows[:, [j]], self.weight, self.errors, self.orders[:, [j]])

    def score(self, logs: FloatArray, queries: IntArray) -> tuple[float, FloatArray]:
        """Return the leave-one-out mean squared error, and its gradient with respect to the logarithms."""
        shelf = shelve(self.rows, np.exp(logs[:-1]), self.orders)
        share = self.weight[queries] / self.weight[queries].sum()
        known = shelf.arrange(self.weight), shelf.arrange(self.errors), float(np.exp(logs[-1]))
        slopes, sorted_slopes = np.empty((2, len(logs)))
        loss = kernels.score_widths(shelf.place[queries], share, shelf.rows, *known, sorted_slopes)
        slopes[shelf.columns], slopes[-1] = sorted_slopes[:-1], sorted_slopes[-1]
        return loss, slopes

    def measure_gains(self, logs: FloatArray, queries: IntArray) -> FloatArray:
        """Return the reduction of the squared error of each row, with leave-one-out."""
        shelf = shelve(self.rows, np.exp(logs[:-1]), self.orders)
        known = self.weight, self.errors, float(np.exp(logs[-1]))
        blended, _ = shelf.blend(self.rows[queries], queries, *known)
        return self.errors[queries] ** 2 - (self.errors[queries] - blended) ** 2


def _learn_widths(trial: _Trial, learners: IntArray, judges: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the iterate, from two starts, with the largest gain on the validation rows, and the gains there.

    An iterate has the logarithms of the bandwidths, then that of the damping.
    """
    weight = trial.weight[judges]
    found: list[tuple[FloatArray, FloatArray]] = []

    def keep(logs: FloatArray) -> None:
        found.append((logs.copy(), trial.measure_gains(logs, judges)))

    bounds = [_WIDTH_BOUNDS] * trial.rows.shape[1] + [_DAMPING_BOUNDS]
    for start in (_start_even(trial, learners), _start_single(trial, learners)):
        keep(start)
        minimize(trial.score, start, (learners,), "L-BFGS-B", jac=True, bounds=bounds, callback=keep,
                 options={"maxiter": _MAX_ITER})  # fmt: skip
    return max(found, key=lambda one: float(weight @ one[1]))


def _start_even(trial: _Trial, learners: IntArray) -> FloatArray:
    """Return the best start with equal bandwidths."""
    n_features = trial.rows.shape[1]
    starts = [np.r_[np.full(n_features, np.log(width * np.sqrt(n_features))), 0.0] for width in _EVEN_WIDTHS]
    return min(starts, key=lambda logs: trial.score(logs, learners)[0])


def _start_single(trial: _Trial, learners: IntArray) -> FloatArray:
    """Return the best start in which one feature counts and all others together hardly count."""
    n_features = trial.rows.shape[1]
    losses = {
        (j, width): single.score(np.array([np.log(width), 1.0]), learners)[0]
        for j, single in enumerate(map(trial.take_column, range(n_features)))
        for width in _SINGLE_WIDTHS
    }
    j, width = min(losses, key=losses.__getitem__)
    logs = np.r_[np.full(n_features, 0.5 * np.log(n_features / _FAINT)), 1.0]
    logs[j] = np.log(width)
    return logs
