"""How a committee's memory is learned: which widths make it bring most.

The widths are learned by leaving out one row at a time: half of the rows, or up to 1,000, are left out in turn to
learn, as many others to choose among the iterates, and once more with the two exchanged. Both results are kept and
their mean is used, if the gain on the rows that chose is clear.
"""

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.parallel import Parallel, delayed

from takagi import kernels
from takagi._typing import FloatArray, IntArray
from takagi.fitting import Rows, measure_columns, measure_rms
from takagi.memory import Memory, shelve

_FEWEST_ROWS = 80  # fewer tell too little
_MOST_ROWS = 50_000
_MOST_NUMBERS = 1_000_000  # remembered features, which bounds the time
_QUERIES = (200, 1_000)  # rows that are left out in a half, fewest and most
_PAIRS = 3_000_000  # of a row that is left out and another one; fewer are left out if there are more
_MANY_FEATURES, _FEWEST_QUERIES = 20, 50  # with more features, fewer rows are left out
_SLIGHT = 1e-3  # of the targets' deviation; smaller errors are not worth a memory
_EVEN_WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8)  # to start from, times the root of the number of features
_SINGLE_WIDTHS = (0.03, 0.1, 0.3)  # of one feature alone
_FAINT = 0.1  # all other features together, to start from one alone
_WIDTH_BOUNDS, _DAMPING_BOUNDS = (-7.0, 4.0), (-4.0, 5.0)  # logarithms
_MAX_ITER = 15
_CLEAR = 1.5  # standard errors of the gain


def choose_rows(X: FloatArray, rng: np.random.RandomState) -> IntArray:
    """Return which rows to remember, in random order: all, or as many as can be searched in reasonable time."""
    n_rows, n_features = X.shape
    return rng.permutation(n_rows)[: min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_NUMBERS // n_features))]


def learn_memory(rows: Rows, prediction: FloatArray, n_threads: int = 1) -> Memory | None:
    """Return a memory of what predictions for rows lacked; None if it would bring nothing.

    The rows stand in random order: those that are left out in turn are the first of them.
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
    """Return how many rows of equal weight would tell as much."""
    weight = weight / weight.max()
    return float(weight.sum() ** 2 / (weight**2).sum())


def _count_queries(n_rows: int, n_features: int) -> int:
    """Return how many rows are left out in turn to learn."""
    wanted = int(np.clip(_PAIRS // n_rows, *_QUERIES))
    if n_features > _MANY_FEATURES:
        wanted = max(_FEWEST_QUERIES, wanted * _MANY_FEATURES // n_features)
    return min(wanted, n_rows // 2)


def _is_clear(gains: FloatArray, weight: FloatArray) -> bool:
    """Return whether the mean gain is well above its standard error, and there are enough rows to tell."""
    if _count_effective(weight) < _FEWEST_ROWS / 2:
        return False
    weight = weight / weight.sum()
    mean = float(weight @ gains)
    return mean > _CLEAR * float(np.sqrt(weight**2 @ (gains - mean) ** 2))


class _Trial:
    """Rows in standard units whose widths are sought."""

    def __init__(
        self, rows: FloatArray, weight: FloatArray, errors: FloatArray, orders: IntArray | None = None
    ) -> None:
        self.rows, self.weight, self.errors = rows, weight, errors
        self.orders = np.argsort(rows, axis=0, kind="stable") if orders is None else orders

    def take_column(self, j: int) -> "_Trial":
        return _Trial(self.rows[:, [j]], self.weight, self.errors, self.orders[:, [j]])

    def score(self, logs: FloatArray, queries: IntArray) -> tuple[float, FloatArray]:
        """Return the mean squared error at rows that are left out one at a time, and its slopes by the logarithms."""
        shelf = shelve(self.rows, np.exp(logs[:-1]), self.orders)
        share = self.weight[queries] / self.weight[queries].sum()
        known = shelf.arrange(self.weight), shelf.arrange(self.errors), float(np.exp(logs[-1]))
        slopes, sorted_slopes = np.empty((2, len(logs)))
        loss = kernels.score_widths(shelf.place[queries], share, shelf.rows, *known, sorted_slopes)
        slopes[shelf.columns], slopes[-1] = sorted_slopes[:-1], sorted_slopes[-1]
        return loss, slopes

    def measure_gains(self, logs: FloatArray, queries: IntArray) -> FloatArray:
        """Return by how much the squared errors at rows shrink, which are left out one at a time."""
        shelf = shelve(self.rows, np.exp(logs[:-1]), self.orders)
        known = self.weight, self.errors, float(np.exp(logs[-1]))
        blended, _ = shelf.blend(self.rows[queries], queries, *known)
        return self.errors[queries] ** 2 - (self.errors[queries] - blended) ** 2


def _learn_widths(trial: _Trial, learners: IntArray, judges: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the iterate, from two starts, that brings most at the judges, and the gains in squared error there.

    An iterate is the logarithms of widths, and then that of the damping.
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
    """Return the best start in which all features count alike."""
    n_features = trial.rows.shape[1]
    starts = [np.r_[np.full(n_features, np.log(width * np.sqrt(n_features))), 0.0] for width in _EVEN_WIDTHS]
    return min(starts, key=lambda logs: trial.score(logs, learners)[0])


def _start_single(trial: _Trial, learners: IntArray) -> FloatArray:
    """Return the best start in which one feature counts, and all others together hardly."""
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
