"""Profiles: summaries of the data for texts, explanations and exports of rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from takagi._checks import N_LEVELS, are_finite
from takagi._typing import ArrayLike, BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from takagi.rulebase import RuleBase

LEVELS = np.linspace(0.0, 1.0, N_LEVELS)
MAX_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Profile:
    """A summary of the rows that rules were fitted on, or are inspected with.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    share : array of shape (n_rules,)
        Mean firing share of each rule.
    mean : array of shape (n_features,)
        Means of the features.
    quantiles : array of shape (21, n_features)
        Quantiles of the features at 0, 5, ..., 100 %; each is a value that occurs.
    output_quantiles : array of shape (21, n_outputs)
        The same of the targets.
    uncovered : float, optional
        Part of the rows that lie in the intervals of no rule, if rules name intervals; the nearest rule governs there.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> profile = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y).rule_base_.profile
    >>> profile.n_rows, profile.span(2), profile.place(2, 42.2)
    (442, (18.0, 42.2), 1.0)
    """

    n_rows: int
    share: FloatArray
    mean: FloatArray
    quantiles: FloatArray
    output_quantiles: FloatArray
    uncovered: float | None = None

    def __post_init__(self) -> None:
        for name in ("share", "mean", "quantiles", "output_quantiles"):
            values = np.array(getattr(self, name), dtype=float, order="C")
            values.flags.writeable = False
            object.__setattr__(self, name, values)
            if not np.isfinite(values).all():
                raise ValueError(f"{name} of a profile must be finite numbers, got NaN or infinity.")

    def place(self, feature: int, value: float) -> float:
        """Return the fraction of the rows, from 0 to 1, whose feature is below a value."""
        column = self.quantiles[:, feature]
        below = LEVELS[min(int(column.searchsorted(value, side="left")), len(LEVELS) - 1)]
        above = LEVELS[max(int(column.searchsorted(value, side="right")) - 1, 0)]
        if above > below:  # many equal values: the middle of them
            return float(below + above) / 2
        if not column[0] < value < column[-1]:
            return float(LEVELS[0] if value <= column[0] else LEVELS[-1])
        k = int(column.searchsorted(value, side="right")) - 1
        scale = max(abs(column[k]), abs(column[k + 1]), 1.0)  # huge differences stay finite, tiny ones exact
        low, high, value = column[k] / scale, column[k + 1] / scale, value / scale
        return float(LEVELS[k] + (LEVELS[k + 1] - LEVELS[k]) * ((value - low) / (high - low)))

    def is_indicator(self, feature: int) -> bool:
        """Return whether a feature has only the values 0 and 1, up to rounding, and both occur."""
        column = self.quantiles[:, feature]
        if abs(column[0]) > 1e-9 or abs(column[-1] - 1) > 1e-9:
            return False
        return bool((np.minimum(np.abs(column), np.abs(column - 1)) <= 1e-9).all())

    def span(self, feature: int) -> tuple[float, float]:
        """Return the smallest and the largest value of a feature."""
        return float(self.quantiles[0, feature]), float(self.quantiles[-1, feature])

    def find_limits(self) -> FloatArray:
        """Return the limits of the features, of shape (n_features, 2): one range beyond the data.

        A feature from 2 to 5 has the limits -1 and 8; a feature that is always 3 is held at 3.
        """
        low, high = self.quantiles[0], self.quantiles[-1]
        with np.errstate(over="ignore"):
            span = high - low
            limits = np.column_stack([low - span, high + span])
        largest = np.finfo(float).max
        return np.clip(limits, -largest, largest)

    def rescale(self, x_mean: FloatArray, x_scale: FloatArray, y_mean: FloatArray, y_scale: FloatArray) -> "Profile":
        """Return the profile of ``x * x_scale + x_mean`` and ``y * y_scale + y_mean``."""
        return replace(
            self,
            mean=self.mean * x_scale + x_mean,
            quantiles=self.quantiles * x_scale + x_mean,
            output_quantiles=self.output_quantiles * y_scale + y_mean,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile):
            return NotImplemented
        return all(np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))


def measure_profile(
    rows: tuple[ArrayLike, ArrayLike],
    firing_share: Callable[[FloatArray], FloatArray],
    weight: ArrayLike | None = None,
    intervals: FloatArray | None = None,
) -> Profile:
    """Summarize features and targets: ranges of all rows, and other figures of at most ten thousand of them.

    Values that are missing (NaN) are left out of the summary of their column. The intervals are those that rules name,
    of shape (n_rules, n_features, 2).

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.profile import measure_profile
    >>> rules = RuleBase(centers=[[0.0], [10.0]], widths=[[2.0], [2.0]], consequents=[[[0.0, 1.0]], [[5.0, 0.0]]])
    >>> X = [[0.0], [1.0], [10.0]]
    >>> measure_profile((X, [[0.0], [1.0], [5.0]]), rules.firing_share).share.round(2)
    array([0.67, 0.33])
    """
    X, y = (np.asarray(part, dtype=float) for part in rows)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    sample = spread_rows(len(X), MAX_ROWS)
    X_sample, weight = X[sample], weight[sample]
    return Profile(
        n_rows=len(X),
        share=average_shares(firing_share(X_sample), weight),
        mean=_mean(X_sample, weight),
        quantiles=_quantiles(X, sample, weight),
        output_quantiles=_quantiles(y, sample, weight),
        uncovered=None if intervals is None else float(np.average(_is_uncovered(X_sample, intervals), weights=weight)),
    )


def average_shares(share: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weighted mean of firing shares, of shape (n_rows, n_rules), which it writes into."""
    share *= weight[:, None]
    return share.sum(axis=0) / weight[:, None].sum(axis=0)


def join_profiles(first: Profile, second: Profile) -> Profile:
    """Return the joint profile of two sets of rows; inner quantiles are approximated from their quantiles.

    >>> import numpy as np
    >>> one = Profile(30, [1.0], [0.0], np.zeros((21, 1)), np.zeros((21, 1)))
    >>> two = Profile(10, [1.0], [4.0], np.full((21, 1), 4.0), np.ones((21, 1)))
    >>> both = join_profiles(one, two)
    >>> both.n_rows, both.mean.tolist(), both.span(0), both.quantiles[[10, 16], 0].tolist()
    (40, [1.0], (0.0, 4.0), [0.0, 4.0])
    """
    sizes = [first.n_rows, second.n_rows]
    weight, every = np.repeat(np.array(sizes, dtype=float), len(LEVELS)), np.arange(2 * len(LEVELS))
    columns = {name: [getattr(one, name) for one in (first, second)] for name in ("quantiles", "output_quantiles")}
    return Profile(
        n_rows=sum(sizes),
        share=np.average([first.share, second.share], axis=0, weights=sizes),
        mean=np.average([first.mean, second.mean], axis=0, weights=sizes),
        **{name: _quantiles(np.vstack(values), every, weight) for name, values in columns.items()},
        uncovered=_join_parts([first.uncovered, second.uncovered], sizes),
    )


def sort_rules(rules: "RuleBase", profile: Profile) -> "RuleBase":
    """Return rules with a profile that was measured with them, sorted by their shares, the largest first."""
    order = np.argsort(-profile.share, kind="stable")
    return replace(rules.take(order), profile=replace(profile, share=profile.share[order]))


def spread_rows(n_rows: int, most: int) -> IntArray:
    """Return at most `most` evenly spaced row numbers.

    >>> spread_rows(9, 3).tolist(), spread_rows(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp)


def _is_uncovered(X: FloatArray, intervals: FloatArray) -> BoolArray:
    """Return which rows lie in the intervals of no rule; a missing value lies in all."""
    covered = np.zeros(len(X), dtype=bool)
    for low, high in intervals.swapaxes(1, 2):
        asked = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
        values = X[:, asked]
        covered |= ~((values < low[asked]) | (values > high[asked])).any(axis=1)
    return ~covered


def _join_parts(parts: list[float | None], sizes: list[int]) -> float | None:
    known = [part for part in parts if part is not None]
    return float(np.average(known, weights=sizes)) if len(known) == len(parts) else None


def _mean(columns: FloatArray, weight: FloatArray) -> FloatArray:
    """Return weighted means, kept within the range of each column."""
    if not are_finite(columns):
        return np.array([_mean(values[:, None], own)[0] for values, own in _split_present(columns, weight)])
    peak = np.abs(columns).max(axis=0)
    peak[peak == 0] = 1.0
    mean = np.average(columns / peak, axis=0, weights=weight) * peak
    return np.clip(mean, columns.min(axis=0), columns.max(axis=0))


def _quantiles(columns: FloatArray, sample: IntArray, weight: FloatArray) -> FloatArray:
    """Return weighted quantiles that are values of the columns: the smallest value with enough weight up to it.

    Inner quantiles come from a sample of the rows, which may miss the smallest and the largest value of all.
    """
    quantiles = np.empty((len(LEVELS), columns.shape[1]))
    for m, (column, own) in enumerate(_split_present(columns[sample], weight)):
        order = np.argsort(column, kind="stable")
        reached = np.cumsum(own[order])
        quantiles[:, m] = column[order[np.searchsorted(reached, LEVELS * reached[-1] * (1 - 1e-12))]]
    quantiles[0], quantiles[-1] = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
    return quantiles


def _split_present(columns: FloatArray, weight: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the values of each column that are not missing, with their weights; zero for a column without any."""
    for column in columns.T:
        present = ~np.isnan(column)
        if present.all():
            yield column, weight
        elif present.any():
            yield column[present], weight[present]
        else:
            yield np.zeros(1), np.ones(1)
