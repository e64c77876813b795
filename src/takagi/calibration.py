"""Calibration: the errors of predictions on held-out rows, rule by rule.

Every rule has a scale, and the spread at a row is the mean of the scales, weighted by the firing shares::

    spread(x) = sum_r share_r(x) scale_r

Scales come from held-out errors by maximum likelihood, under a Laplace distribution, which is robust to outliers. They
are shrunk toward one scale for all rules; cross-validation chooses how much. A quantile of the conformity scores
``|error| / spread`` is then the half-width of an interval in spreads: split conformal prediction with a normalized
score.

References
----------
H. Papadopoulos, A. Gammerman and V. Vovk, Normalized nonconformity measures for regression conformal prediction,
Artificial Intelligence and Applications (2008).

J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani and L. Wasserman, Distribution-free predictive inference for regression,
Journal of the American Statistical Association 113 (2018).
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from takagi._messages import unknown_name
from takagi._typing import ArrayLike, FloatArray, IntArray

SOURCES = ("held out", "pilots", "folds", "given")
MAX_SCORES = 1_000  # kept
MOST_ROWS = 5_000  # used to learn scales
_FOLDS = 4
_FEWEST_ROWS = 20  # with fewer, all rules have one scale
_SHRINKAGE = (10.0, 0.5)  # penalties on the logarithms of scales; the first candidate is one scale for all
_MOST_APART = np.log(4.0)  # largest distance of a scale from the common one, as a logarithm
_MAX_ITER = 15
_HAIR = 1e-12


@dataclass(frozen=True, eq=False)
class Calibration:
    """The errors of a model on held-out rows.

    Parameters
    ----------
    scale : array of shape (n_rules, n_outputs)
        The standard deviation of the errors where only this rule fires.
    scores : array of shape (n_scores, n_outputs)
        Absolute errors divided by the spread at their rows, in ascending order: all, or about 1,000 of them.
    levels : array of shape (n_scores, n_outputs)
        A lower bound of the fraction of new rows whose score is at most as large: for n rows of equal weight, the i-th
        smallest score has ``i / (n + 1)``.
    n_rows : int
        Number of rows.
    source : {"held out", "pilots", "folds", "given"}
        Where the errors come from: the model itself, on rows that it held out or got later; or fits to some of the
        training rows, in pilots or in cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.calibration import measure_calibration
    >>> errors = np.array([[3.0], [-1.0], [2.0], [4.0], [0.0], [-5.0], [6.0], [7.0], [8.0]])
    >>> known = measure_calibration(np.ones((9, 1)), errors)
    >>> (known.find_reach(0.9) * known.scale[0]).round(6).tolist(), known.n_rows
    ([8.0], 9)
    """

    scale: FloatArray
    scores: FloatArray
    levels: FloatArray
    n_rows: int
    source: str = "given"

    def __post_init__(self) -> None:
        for name in ("scale", "scores", "levels"):
            values = np.array(getattr(self, name), dtype=float, order="C")
            values.flags.writeable = False
            object.__setattr__(self, name, values)
            if values.ndim != 2 or not np.isfinite(values).all() or (values < 0).any():
                raise ValueError(f"{name} of a calibration must be a matrix of finite numbers of at least 0.")
        if self.scores.shape != self.levels.shape or self.scores.shape[1] != self.scale.shape[1]:
            raise ValueError(
                f"scores and levels of a calibration must have the same shape with {self.scale.shape[1]} column(s), "
                f"got {self.scores.shape} and {self.levels.shape}."
            )
        if not len(self.scores) or (np.diff(self.scores, axis=0) < 0).any() or (np.diff(self.levels, axis=0) < 0).any():
            raise ValueError("scores and levels of a calibration must have at least one row each, in ascending order.")
        if self.source not in SOURCES:
            raise unknown_name("source", self.source, SOURCES)

    def find_reach(self, coverage: float) -> FloatArray:
        """Return the half-width of an interval of a given coverage, in spreads, for each output.

        Raises
        ------
        ValueError
            If the coverage is not between 0 and 1, or there are too few rows for it.
        """
        check_coverage(coverage)
        if not (self.levels[-1] >= coverage - _HAIR).all():
            raise ValueError(
                f"Intervals with coverage {coverage:g} need at least {count_needed(coverage)} held-out rows of equal "
                f"weight, but the calibration has {self.n_rows}. Call calibrate with more held-out rows, or lower the "
                "coverage."
            )
        place = (self.levels >= coverage - _HAIR).argmax(axis=0)
        return np.take_along_axis(self.scores, place[None], axis=0)[0]

    def rescale(self, y_scale: FloatArray) -> "Calibration":
        """Return the calibration of predictions in other units, ``y * y_scale``."""
        return replace(self, scale=self.scale * np.abs(y_scale))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Calibration):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))


def check_coverage(coverage: float) -> None:
    """Raise an error unless a coverage is a number between 0 and 1."""
    if isinstance(coverage, bool) or not isinstance(coverage, int | float | np.number) or not 0 < coverage < 1:
        raise ValueError(f"coverage must be a number between 0 and 1, such as 0.9, got {coverage!r}.")


def count_needed(coverage: float) -> int:
    """Return how many rows of equal weight an interval of a given coverage needs.

    >>> count_needed(0.9), count_needed(0.95), count_needed(0.5)
    (9, 19, 1)
    """
    return max(1, int(np.ceil(coverage / (1 - coverage) - 1e-9)))


def make_intervals(prediction: FloatArray, half: FloatArray) -> FloatArray:
    """Return lower and upper limits around predictions, of shape (n_rows, n_outputs, 2), given half the widths."""
    return np.stack([prediction - half, prediction + half], axis=-1)


def measure_calibration(
    share: FloatArray, errors: FloatArray, weight: ArrayLike | None = None, source: str = "given"
) -> Calibration:
    """Learn scales and scores from errors on held-out rows.

    Parameters
    ----------
    share : array of shape (n_rows, n_rules)
        Firing shares of the rules; normalized to a sum of 1.
    errors : array of shape (n_rows, n_outputs)
        Targets minus predictions, at least one row.
    weight : array of shape (n_rows,), optional
        Weights of the rows.
    source : str
        See `Calibration`.

    Returns
    -------
    Calibration
    """
    given = np.ones(len(errors)) if weight is None else np.asarray(weight, dtype=float)
    order = np.random.default_rng(0).permutation(len(errors))[:MOST_ROWS]  # folds must not follow the order of rows
    share, errors, given = share[order], np.abs(errors[order]), given[order] / given[order].mean()
    share = share / share.sum(axis=1, keepdims=True)
    columns = [_measure_output(share, sizes, given) for sizes in errors.T]
    scale, scores, levels = (np.column_stack(parts) for parts in zip(*columns, strict=True))
    return Calibration(scale, scores, levels, len(errors), source)


def _measure_output(
    share: FloatArray, sizes: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scales of one output, its sorted scores and their levels."""
    peak = float(sizes.max())
    if peak == 0:  # no error at all
        scale, scores = np.zeros(share.shape[1]), np.zeros(len(sizes))
    else:
        scale, spread = learn_scales(share, sizes / peak, weight)
        scores = sizes / peak / spread
        deviation = np.sqrt(np.average(scores**2, weights=weight))  # turns scales into standard deviations
        scale, scores = scale * peak * deviation, scores / deviation
    return scale, *_sort_scores(scores, weight)


def _sort_scores(scores: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return scores and their levels in ascending order, only some of them if there are many.

    The new row has the mean weight, and its score may be the largest of all.
    """
    order = np.argsort(scores, kind="stable")
    levels = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
    kept = np.linspace(0, len(order) - 1, min(len(order), MAX_SCORES)).round().astype(np.intp)
    return scores[order][kept], levels[kept]


# -- scales ------------------------------------------------------------------------------------------------------------


def learn_scales(share: FloatArray, sizes: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scale of each rule, and the out-of-fold spread at each row.

    Both are known up to a common factor. The likelihood of the left-out rows chooses the shrinkage; if one scale for
    all rules is best, all rules have it.
    """
    common = float(np.average(sizes, weights=weight))
    best = np.full(share.shape[1], common), np.full(len(sizes), common)
    if len(sizes) < _FEWEST_ROWS or share.shape[1] == 1:
        return best
    least, chosen = _measure_surprise(sizes, best[1], weight), 0
    folds = [np.arange(len(sizes)) % _FOLDS == k for k in range(_FOLDS)]
    starts = [np.zeros(share.shape[1])] * _FOLDS
    for i, shrinkage in enumerate(_SHRINKAGE, start=1):
        spread = np.empty(len(sizes))
        for k, fold in enumerate(folds):
            starts[k] = _maximize_likelihood(share[~fold], sizes[~fold], weight[~fold], shrinkage, starts[k])
            spread[fold] = share[fold] @ np.exp(starts[k]) * np.average(sizes[~fold], weights=weight[~fold])
        surprise = _measure_surprise(sizes, spread, weight)
        if surprise < least:
            least, chosen, best = surprise, i, (best[0], spread)
    logs = np.zeros(share.shape[1])
    for shrinkage in _SHRINKAGE[:chosen]:
        logs = _maximize_likelihood(share, sizes, weight, shrinkage, logs)
    return common * np.exp(logs), best[1]


def _measure_surprise(sizes: FloatArray, spread: FloatArray, weight: FloatArray) -> float:
    """Return the mean negative log-likelihood of errors, given spreads up to their best common factor."""
    factor = max(float(np.average(sizes / spread, weights=weight)), _HAIR)
    return float(np.average(np.log(spread), weights=weight)) + float(np.log(factor))


def _maximize_likelihood(
    share: FloatArray, sizes: FloatArray, weight: FloatArray, shrinkage: float, start: FloatArray
) -> FloatArray:
    """Return the log scales, relative to the mean absolute error, of largest likelihood, shrunk toward 0."""
    sizes = sizes / max(float(np.average(sizes, weights=weight)), _HAIR)

    def measure(logs: FloatArray) -> tuple[float, FloatArray]:
        scale = np.exp(logs)
        spread = share @ scale
        ratio = sizes / spread
        loss = weight @ (np.log(spread) + ratio) + 0.5 * shrinkage * logs @ logs
        return float(loss), (share.T @ (weight * (1 - ratio) / spread)) * scale + shrinkage * logs

    bounds = [(-_MOST_APART, _MOST_APART)] * len(start)
    from scipy.optimize import minimize  # not at the top: predictions do not need scipy

    return minimize(measure, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": _MAX_ITER}).x


def split_scales(calibration: Calibration, sizes: IntArray | list[int]) -> list[FloatArray]:
    """Return the scales of groups of rules, given the number of rules in each group."""
    return np.split(calibration.scale, np.cumsum(sizes)[:-1])
