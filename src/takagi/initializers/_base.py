"""What every initialiser does: rules from memberships of rows in clusters."""

from typing import Protocol

import numpy as np

from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.rulebase import RuleBase


class Initializer(Protocol):
    """Anything that makes the first rule base from data."""

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
    """Return a number of clusters that the rows can have, with a warning if it is smaller."""
    if n_rules <= n_rows:
        return n_rules
    warn_user(f"n_rules={n_rules} is more than the {n_rows} distinct rows to train on; {n_rows} rules are made.")
    return n_rows


def rules_from_clusters(
    centers: FloatArray, memberships: FloatArray, X: FloatArray, y: FloatArray, sample_weight: FloatArray | None
) -> RuleBase:
    """Make one rule per cluster: its center, its standard deviations, and its mean target as bias.

    The memberships of shape (n_rows, n_clusters) weigh the rows; as in the paper it is u, not u^m. A deviation of zero
    is replaced by the mean of all deviations, zeros counted, as in the authors' code.
    """
    weights = memberships if sample_weight is None else memberships * sample_weight[:, None]
    mass = weights.sum(axis=0)
    weights = np.where(mass > 0, weights, 1.0) / np.where(mass > 0, mass, len(X))
    widths = np.stack([_deviations(X, u) for u in weights.T])
    consequents = np.zeros((len(centers), y.shape[1], X.shape[1] + 1))
    consequents[:, :, 0] = np.einsum("nr,no->ro", weights, y)
    return RuleBase(centers, replace_zeros(widths), consequents)


def _deviations(X: FloatArray, weight: FloatArray) -> FloatArray:
    """Return weighted standard deviations; exactly zero where only rounding keeps them from it."""
    mean = np.einsum("n,nm->m", weight, X)
    deviations = np.sqrt(np.einsum("n,nm->m", weight, (X - mean) ** 2))
    return np.where(deviations <= 1e-12 * np.abs(X).max(axis=0), 0.0, deviations)


def replace_zeros(widths: FloatArray) -> FloatArray:
    """Replace widths of zero by the mean of all, or by 1 where all are zero."""
    return np.where(widths > 0, widths, widths.mean() or 1.0)
