"""Rules from clusters, and fuzzy c-means (Bezdek, 1981), the paper's clustering."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from takagi import kernels
from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.kernels import LANES, count_blocks, from_lanes, to_lanes
from takagi.rulebase import RuleBase


class Initializer(Protocol):
    """The interface of an initializer, which makes the initial rules from data."""

    def make_rules(
        self,
        X: FloatArray,
        y: FloatArray,
        n_rules: int,
        rng: np.random.Generator,
        sample_weight: FloatArray | None = None,
    ) -> RuleBase:
        """Return the initial rules for inputs of shape (n_rows, n_inputs) and targets of shape (n_rows, n_outputs)."""
        ...


def limit_rules(n_rules: int, n_rows: int) -> int:
    """Return the number of rules, or fewer, with a warning, if there are fewer distinct rows."""
    if n_rules <= n_rows:
        return n_rules
    warn_user(f"n_rules={n_rules} is more than the {n_rows} distinct rows to train on; {n_rows} rules are made.")
    return n_rows


def rules_from_clusters(
    centers: FloatArray, memberships: FloatArray, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None
) -> RuleBase:
    """Make one rule per cluster: its center, its standard deviations, and its mean target as bias.

    Rows are weighted by the memberships u, of shape (n_rows, n_clusters), not by u^m, as in the paper. A deviation of
    zero, up to rounding, is replaced by the mean of all deviations, zeros included, as in the authors' code.
    """
    weights = memberships.copy() if sample_weight is None else memberships * sample_weight[:, None]
    mass = weights.sum(axis=0)
    weights[:, ~(mass > 0)] = 1.0
    weights /= np.where(mass > 0, mass, len(X))
    widths, rounding = np.empty((len(centers), X.shape[1])), 1e-12 * np.abs(X).max(axis=0)
    for r, u in enumerate(weights.T):
        deviations = np.sqrt(np.einsum("n,nm->m", u, (X - np.einsum("n,nm->m", u, X)) ** 2))
        widths[r] = np.where(deviations <= rounding, 0.0, deviations)
    consequents = np.zeros((len(centers), y.shape[1], X.shape[1] + 1))
    consequents[:, :, 0] = np.einsum("nr,no->ro", weights, y)
    return RuleBase(centers, replace_zeros(widths), consequents)


def replace_zeros(widths: FloatArray) -> FloatArray:
    """Replace widths of zero by the mean of all, or by 1 if all are zero."""
    return np.where(widths > 0, widths, widths.mean() or 1.0)


def fuzzy_cmeans(
    X: FloatArray,
    memberships: FloatArray,
    *,
    m: float = 2.0,
    tol: float = 1e-3,
    rtol: float = 0.0,
    max_iter: int = 100,
    sample_weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Cluster rows from given memberships.

    Minimizes ``sum_nr u_nr^m |x_n - c_r|^2`` in alternation: ``c_r`` is the mean of the rows weighted by ``u_nr^m``,
    then ``u_nr`` is proportional to ``|x_n - c_r|^(-2 / (m - 1))``.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    memberships : array of shape (n_rows, n_clusters)
        Initial memberships; rows sum to 1.
    m : float, default=2
        Fuzzifier, above 1.
    tol, rtol : float, default=1e-3 and 0
        Clustering ends when the objective changes by less than ``tol + rtol * objective``.
    max_iter : int, default=100
    sample_weight : array of shape (n_rows,), optional

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
    memberships : ndarray of shape (n_rows, n_clusters)
        Updated once more than the centers.
    objective : ndarray of shape (n_iter,)
        With the memberships before and the centers after their update.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.initializers import fuzzy_cmeans
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> centers, memberships, objective = fuzzy_cmeans(X, np.array([[0.6, 0.4]] * 2 + [[0.4, 0.6]] * 2))
    >>> centers.round(2)
    array([[0.05],
           [5.05]])
    """
    n_rows, n_clusters = memberships.shape
    if len(X) != n_rows or (sample_weight is not None and len(sample_weight) != n_rows):
        raise ValueError(f"memberships and sample_weight must have an entry for each of the {len(X)} rows of X.")
    if not m > 1 or max_iter < 1:
        raise ValueError(f"m must be above 1 and max_iter at least 1, got m={m} and max_iter={max_iter}.")
    padded = np.zeros((n_rows, count_blocks(n_clusters) * LANES))
    padded[:, :n_clusters] = memberships
    centers, objective = _cluster(X, padded, n_clusters, (m, tol, rtol, max_iter), sample_weight)
    return centers, padded[:, :n_clusters].copy(), objective


def _cluster(
    X: FloatArray,
    memberships: FloatArray,
    n_clusters: int,
    settings: tuple[float, float, float, int],
    sample_weight: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Move memberships, whose columns fill all lanes, in place; return centers and the objective of each iteration."""
    m, tol, rtol, max_iter = settings
    shape = kernels.Shape(X.shape[1], n_clusters, count_blocks(n_clusters), 1, 0, 0)
    work = kernels.make_work(shape, kernels.BLOCK_ROWS)
    weight = np.ones(len(X)) if sample_weight is None else np.array(sample_weight, dtype=float)
    objective = np.empty(max_iter)
    sums = np.empty((2, shape.n_blocks * LANES * (X.shape[1] + 1)))
    rows = np.array(X, dtype=float, order="C")
    n_iter = kernels.iterate_fuzzy_cmeans(
        rows, weight, memberships, float(m), float(tol), float(rtol), max_iter, n_clusters, work, *sums, objective
    )
    return -from_lanes(work.offset, n_clusters, X.shape[1]), objective[:n_iter].copy()


def measure_memberships(X: FloatArray, centers: FloatArray, m: float) -> FloatArray:
    """Return the memberships, of shape (n_rows, n_clusters), of rows in clusters with given centers."""
    n_clusters = len(centers)
    shape = kernels.Shape(X.shape[1], n_clusters, count_blocks(n_clusters), 1, 0, 0)
    work = kernels.make_work(shape, kernels.BLOCK_ROWS)
    work.inverse[:] = 1.0
    work.offset[:] = -to_lanes(centers)
    memberships = np.zeros((len(X), shape.n_blocks * LANES))
    rows = np.array(X, dtype=float, order="C")
    kernels.assign_memberships(rows, np.ones(len(X)), memberships, float(m), n_clusters, work, shape.n_blocks)
    return memberships[:, :n_clusters].copy()


def draw_memberships(n_rows: int, n_clusters: int, rng: np.random.Generator) -> FloatArray:
    """Return random memberships whose rows sum to 1."""
    memberships = rng.random((n_rows, n_clusters))
    memberships /= memberships.sum(axis=1, keepdims=True)
    return memberships


def count_distinct(centers: FloatArray, X: FloatArray) -> int:
    """Return the number of distinct centers; those within a thousandth of the data's spread count as one."""
    reach = 1e-3 * np.sqrt(X.var(axis=0).sum())
    distinct: list[FloatArray] = []
    for center in centers:
        if all(np.linalg.norm(center - other) > reach for other in distinct):
            distinct.append(center)
    return len(distinct)


@dataclass(frozen=True)
class FuzzyCMeansInitializer:
    """Rules from fuzzy c-means, as in the paper.

    Centers are the cluster centers, widths the standard deviations weighted by the memberships, biases the weighted
    means of the target, and slopes zero.

    Parameters
    ----------
    m : float, default=2
        Fuzzifier. With many unstructured features, 2 puts all centers on one point; 1.1 to 1.5 does not.
    tol : float, default=1e-3
        Clustering ends when its objective changes by less.
    max_iter : int, default=100
    max_samples : int, default=10000
        Largest number of rows that are clustered; of more rows, a random subset, as the paper suggests.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.initializers import FuzzyCMeansInitializer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> FuzzyCMeansInitializer(m=1.5).make_rules(X, X[:, :1], 4, rng)
    RuleBase(n_rules=4, n_features=3, n_outputs=1)
    """

    m: float = 2.0
    tol: float = 1e-3
    max_iter: int = 100
    max_samples: int = 10_000

    def __post_init__(self) -> None:
        if not self.m > 1:
            raise ValueError(f"m must be above 1, got {self.m}.")
        if self.tol < 0 or self.max_iter < 1 or self.max_samples < 1:
            raise ValueError(
                "tol must not be negative, max_iter and max_samples must be at least 1, got "
                f"tol={self.tol}, max_iter={self.max_iter}, max_samples={self.max_samples}."
            )

    def make_rules(
        self,
        X: FloatArray,
        y: FloatArray,
        n_rules: int,
        rng: np.random.Generator,
        sample_weight: FloatArray | None = None,
    ) -> RuleBase:
        """Return the initial rules."""
        n_rules = limit_rules(n_rules, len(X))
        if len(X) > self.max_samples:
            rows = rng.choice(len(X), self.max_samples, replace=False)
            X, y = X[rows], y[rows]
            sample_weight = None if sample_weight is None else sample_weight[rows]
        X, y = np.asarray(X), np.asarray(y)
        memberships = np.zeros((len(X), count_blocks(n_rules) * LANES))
        memberships[:, :n_rules] = draw_memberships(len(X), n_rules, rng)
        centers, _ = _cluster(X, memberships, n_rules, (self.m, self.tol, 0.0, self.max_iter), sample_weight)
        return rules_from_clusters(centers, memberships[:, :n_rules], X, y, sample_weight)
