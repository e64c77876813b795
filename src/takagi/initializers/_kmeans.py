"""k-means initialization, with scikit-learn's k-means."""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from takagi._typing import FloatArray
from takagi.initializers._clusters import limit_rules, rules_from_clusters
from takagi.rulebase import RuleBase


@dataclass(frozen=True)
class KMeansInitializer:
    """Rules from k-means: the paper's kM.

    Centers are the cluster centers, widths the standard deviations of the members, biases the mean targets of the
    members, and slopes zero. A cluster of one member has no deviation and gets the mean of all widths; the authors'
    code takes the deviation across the features of that one row instead, which mixes units.

    Parameters
    ----------
    n_init : int, default=3
        Number of random starts; the best is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.initializers import KMeansInitializer
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> KMeansInitializer().make_rules(X, X[:, :1], 4, rng)
    RuleBase(n_rules=4, n_features=3, n_outputs=1)
    """

    n_init: int = 3

    def __post_init__(self) -> None:
        if self.n_init < 1:
            raise ValueError(f"n_init must be at least 1, got {self.n_init}.")

    def make_rules(
        self,
        X: FloatArray,
        y: FloatArray,
        n_rules: int,
        rng: np.random.Generator,
        sample_weight: FloatArray | None = None,
    ) -> RuleBase:
        """Return the initial rules."""
        n_rules = limit_rules(n_rules, _count_distinct_rows(X, n_rules))
        clusterer = KMeans(n_rules, n_init=self.n_init, random_state=int(rng.integers(2**31)))
        with threadpool_limits(1, user_api="openmp"):  # several threads would change the last bits
            clusterer.fit(X, sample_weight=sample_weight)
        memberships = (clusterer.labels_[:, None] == np.arange(n_rules)).astype(float)
        return rules_from_clusters(clusterer.cluster_centers_, memberships, X, y, sample_weight)


def _count_distinct_rows(X: FloatArray, enough: int) -> int:
    """Return the number of distinct rows, or at least `enough`; stop early if the first rows have that many."""
    n_distinct = len(np.unique(X[: 20 * enough], axis=0))
    return n_distinct if n_distinct >= enough else len(np.unique(X, axis=0))
