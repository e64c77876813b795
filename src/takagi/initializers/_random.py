"""Random initialization."""

from dataclasses import dataclass

import numpy as np

from takagi._typing import FloatArray
from takagi.rulebase import RuleBase


@dataclass(frozen=True)
class RandomInitializer:
    """Rules drawn at random: the paper's rand.

    Centers and consequents are uniform in [0, 1] and widths in (0, 5], as in the paper's text (the authors' script
    draws centers and consequents from [-1, 1]). The inputs should be standardized.

    Parameters
    ----------
    max_width : float, default=5

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.initializers import RandomInitializer
    >>> rules = RandomInitializer().make_rules(np.zeros((9, 2)), np.zeros((9, 1)), 4, np.random.default_rng(0))
    >>> bool(rules.widths.max() <= 5)
    True
    """

    max_width: float = 5.0

    def __post_init__(self) -> None:
        if not self.max_width > 0:
            raise ValueError(f"max_width must be positive, got {self.max_width}.")

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
        return RuleBase(
            centers=rng.random((n_rules, n_inputs)),
            widths=self.max_width * (1.0 - rng.random((n_rules, n_inputs))),
            consequents=rng.random((n_rules, y.shape[1], n_inputs + 1)),
        )
