"""Fuzzy c-means as a scikit-learn clusterer."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from takagi._checks import reject_huge, reject_missing, reject_text, validate_rows
from takagi._compat import fit_context
from takagi._messages import warn_user
from takagi._typing import FloatArray, IntArray, Table
from takagi._validation import Interval, validate_weight
from takagi.fitting import Rows, merge_equal_rows
from takagi.initializers import count_distinct, draw_memberships, fuzzy_cmeans, measure_memberships


class FuzzyCMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Fuzzy c-means clustering: every row belongs to every cluster to some degree.

    Minimizes ``sum_nr u_nr^m |x_n - c_r|^2`` over centers ``c`` and memberships ``u`` whose rows sum to 1.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    m : float, default=2.0
        Fuzzifier, above 1: near 1, memberships are 0 or 1 as in k-means; a larger m makes them more equal. With many
        features and little structure a large m puts all centers on one point; `fit` then warns.
    n_init : int, default=1
        Number of random starts; the one with the smallest objective is kept.
    max_iter : int, default=300
        Iterations of one start.
    tol : float, default=1e-5
        A start ends when the relative change of its objective is smaller than this.
    random_state : int, RandomState instance or None, default=None
        Makes `fit` reproducible.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_rows,)
        The cluster with the largest membership.
    objective_ : float
        The minimized sum.
    n_iter_ : int
        Iterations of the kept start.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    See Also
    --------
    takagi.initializers.fuzzy_cmeans : The same from given memberships.

    References
    ----------
    J. C. Bezdek, Pattern Recognition with Fuzzy Objective Function Algorithms, 1981.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import FuzzyCMeans
    >>> X = np.array([[0.0, 0.0], [0.2, 0.0], [5.0, 5.0], [5.0, 5.2]])
    >>> clusterer = FuzzyCMeans(n_clusters=2, random_state=0).fit(X)
    >>> clusterer.transform([[2.5, 2.5]]).round(1)
    array([[0.5, 0.5]])
    """

    _parameter_constraints = {  # noqa: RUF012
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "m": [Interval(Real, 1, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 2.0,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.m = m
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Table, y: Any = None, sample_weight: Table = None) -> "FuzzyCMeans":
        """Find clusters.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers; at least as many rows as clusters.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows; a weight of 3 equals three copies.

        Returns
        -------
        FuzzyCMeans
            The fitted clusterer.
        """
        reject_text(X)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False)
        names = getattr(self, "feature_names_in_", None)
        reject_missing(X, "X", names, type(self).__name__)
        reject_huge(X, "X", names)
        if len(X) < self.n_clusters:
            raise ValueError(f"n_samples={len(X)} should be >= n_clusters={self.n_clusters}.")
        rows = merge_equal_rows(Rows(X, np.empty((len(X), 0)), validate_weight(sample_weight, X)))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**32, size=4, dtype=np.uint64))
        starts = [self._cluster(rows, rng) for _ in range(self.n_init)]
        self.cluster_centers_, objective = min(starts, key=lambda start: start[1][-1])
        self.objective_, self.n_iter_ = float(objective[-1]), len(objective)
        self.labels_ = self._memberships(X).argmax(axis=1)
        self._n_features_out = self.n_clusters
        self._warn_of_coincidence(X)
        return self

    def _cluster(self, rows: Rows, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        start = draw_memberships(len(rows.X), self.n_clusters, rng)
        middle = np.average(rows.X, axis=0, weights=rows.weight)
        centers, _, objective = fuzzy_cmeans(
            rows.X - middle,
            start,
            m=self.m,
            tol=0.0,
            rtol=self.tol,
            max_iter=self.max_iter,
            sample_weight=rows.weight,
        )
        return centers + middle, objective

    def _memberships(self, X: FloatArray) -> FloatArray:
        return measure_memberships(X, self.cluster_centers_, self.m)

    def _warn_of_coincidence(self, X: FloatArray) -> None:
        n_distinct = count_distinct(self.cluster_centers_, X)
        if n_distinct < self.n_clusters:
            warn_user(
                f"Only {n_distinct} of {self.n_clusters} centers are distinct: with m={self.m} and {X.shape[1]} "
                "features the clusters cannot be told apart. Lower m (1.1 to 1.5), ask for fewer clusters, or reduce "
                "the features.",
                ConvergenceWarning,
            )

    def predict(self, X: Table) -> IntArray:
        """Return the cluster with the largest membership for each row.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.transform(X).argmax(axis=1)

    def transform(self, X: Table) -> FloatArray:
        """Return the memberships of rows in the clusters.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
            Every row sums to 1.
        """
        check_is_fitted(self, "cluster_centers_")
        rows = validate_rows(self, X)
        reject_missing(rows, "X", getattr(self, "feature_names_in_", None), type(self).__name__)
        return self._memberships(rows)
