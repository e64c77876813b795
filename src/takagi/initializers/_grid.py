"""Grid partition: shared sets, one rule for every combination of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from takagi._typing import FloatArray
from takagi.initializers._clusters import replace_zeros
from takagi.rulebase import RuleBase


@dataclass(frozen=True)
class GridInitializer:
    """Rules from a grid partition of the inputs: the paper's GP.

    Each input has `n_sets` shared sets with centers spread evenly from its smallest to its largest value and its
    standard deviation as width; every combination of sets is a rule; consequents start at zero.

    Parameters
    ----------
    n_sets : int, default=2
        Sets per input, the paper's M_m. There are ``n_sets ** n_inputs`` rules.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.initializers import GridInitializer
    >>> X = np.array([[0.0, 5.0], [1.0, 9.0]])
    >>> GridInitializer().make_rules(X, X[:, :1], 4, np.random.default_rng(0)).centers
    array([[0., 5.],
           [1., 5.],
           [0., 9.],
           [1., 9.]])
    """

    n_sets: int = 2
    has_fixed_rules: ClassVar[bool] = True  # no other number of rules is possible

    def __post_init__(self) -> None:
        if self.n_sets < 1:
            raise ValueError(f"n_sets must be at least 1, got {self.n_sets}.")

    def make_rules(
        self,
        X: FloatArray,
        y: FloatArray,
        n_rules: int,
        rng: np.random.Generator,
        sample_weight: FloatArray | None = None,
    ) -> RuleBase:
        """Return the initial rules."""
        n_inputs = X.shape[1]
        if n_inputs * np.log2(self.n_sets) > 20 or self.n_sets**n_inputs != n_rules:
            n_components = max(1, round(np.log(n_rules) / np.log(max(self.n_sets, 2))))
            raise ValueError(
                f"init='grid' makes n_sets ** n_features = {self.n_sets} ** {n_inputs} rules, but n_rules={n_rules}. "
                f"Set n_rules to that number, reduce the features (PCA(n_components={n_components}) in a pipeline), or "
                "use init='fcm', which makes any number of rules."
            )
        sets = np.arange(n_rules)[:, None] // self.n_sets ** np.arange(n_inputs) % self.n_sets
        grid = np.linspace(X.min(axis=0), X.max(axis=0), self.n_sets)
        deviations = _sample_deviations(X, sample_weight)
        return RuleBase(
            centers=np.take_along_axis(grid, sets, axis=0),
            widths=np.tile(replace_zeros(deviations), (n_rules, 1)),
            consequents=np.zeros((n_rules, y.shape[1], n_inputs + 1)),
            sets=sets,
        )


def _sample_deviations(X: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Return standard deviations with n - 1, n being the sum of the weights."""
    weight = np.ones(len(X)) if weight is None else weight
    mean = np.average(X, axis=0, weights=weight)
    return np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight) * weight.sum() / max(weight.sum() - 1.0, 1.0))
