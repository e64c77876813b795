"""Where parameters may go: the paper's feasible set."""

from dataclasses import dataclass

import numpy as np

from takagi._typing import ArrayLike, FloatArray
from takagi.kernels import PARAMETERS, flatten
from takagi.rulebase import RuleBase

Pair = tuple[ArrayLike | None, ArrayLike | None]


@dataclass(frozen=True)
class Bounds:
    """A lower and an upper bound for every parameter, in the units that rules are trained in.

    The paper's Algorithm 2 projects every iterate onto a feasible set in the norm of the fourth root of ``v``, the
    second moment of the gradient. A set of bounds is a box: there each parameter is on its own, so the nearest point of
    the box is the same whatever the weights of the norm are, and the projection cuts each parameter off at its bounds.

    Each part is a pair of a lower and an upper bound, numbers or arrays that broadcast to the shape of the parameters;
    None is no bound. Equal bounds hold a parameter where they are. Rules that share a set have the tightest of their
    bounds. Training starts from the nearest rules within the bounds. A running mean of the parameters (`averaging`) is
    within them up to rounding.

    Parameters
    ----------
    centers, widths, consequents, antecedent_projection, consequent_projection : pair, optional
        Bounds of the parameters of a `RuleBase` of these names. Without a lower bound of their own, widths stay above
        the `width_floor` of training; conditions that are absent, with infinite widths, stay absent.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import RuleBase, TrainConfig, train
    >>> from takagi.training import Bounds
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> start = RuleBase([[-1.0], [1.0]], [[0.5], [0.5]], np.zeros((2, 1, 2)))
    >>> bounds = Bounds(centers=(-1, 1), consequents=(0, None))
    >>> rules = train(start, X, X[:, 0], None, None, TrainConfig(keep_prob=1.0), bounds=bounds).rule_base
    >>> print(np.abs(rules.centers).max(), rules.consequents.min())
    1.0 0.0
    """

    centers: Pair | None = None
    widths: Pair | None = None
    consequents: Pair | None = None
    antecedent_projection: Pair | None = None
    consequent_projection: Pair | None = None

    def lay_out(self, rules: RuleBase, floor: float, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper bounds as two flat vectors in the order of the kernels."""
        lower: dict[str, FloatArray] = {}
        upper: dict[str, FloatArray] = {}
        for name in PARAMETERS:
            values = getattr(rules, name)
            if values is not None:
                defaults = (floor if name == "widths" else -np.inf), np.inf
                lower[name], upper[name] = _read_pair(name, getattr(self, name), defaults, values.shape)
            elif getattr(self, name) is not None:
                raise ValueError(f"bounds has {name}, but the rules have none.")
        for side, tightest, free in ((lower, np.maximum, -np.inf), (upper, np.minimum, np.inf)):
            _tie(side, rules, tightest, free)
        if any((lower[name] > upper[name]).any() for name in lower):
            raise ValueError(
                "bounds must not have a lower bound above an upper one, those of shared sets taken together."
            )
        flat = flatten(lower, dict.fromkeys(lower, -np.inf)), flatten(upper, dict.fromkeys(upper, np.inf))
        for values in flat:
            values[np.isinf(theta)] = np.inf  # an absent condition stays absent
        return flat


def _read_pair(name: str, pair: Pair | None, defaults: tuple[float, float], shape: tuple) -> list[FloatArray]:
    """Return both bounds in the shape of the parameters."""
    if pair is None:
        pair = None, None
    if len(pair) != 2:
        raise ValueError(f"bounds of {name} must be a pair of a lower and an upper bound, got {len(pair)} of them.")
    read = []
    for bound, default in zip(pair, defaults, strict=True):
        values = np.asarray(default if bound is None else bound, dtype=float)
        if np.isnan(values).any():
            raise ValueError(f"bounds of {name} must be numbers, got NaN; use None or infinity for no bound.")
        try:
            read.append(np.broadcast_to(values, shape).copy())
        except ValueError:
            raise ValueError(f"bounds of {name} must broadcast to shape {shape}, got {values.shape}.") from None
    if name == "widths" and read[0].min() < 0:
        raise ValueError(f"lower bounds of widths must not be negative, got {read[0].min():g}.")
    return read


def _tie(side: dict[str, FloatArray], rules: RuleBase, tightest: np.ufunc, free: float) -> None:
    """Give parameters that are one the tightest of their bounds."""
    for m, column in enumerate(() if rules.sets is None else rules.sets.T):
        _, group = np.unique(column, return_inverse=True)
        for name in ("centers", "widths"):
            bound = np.full(group.max() + 1, free)
            tightest.at(bound, group, side[name][:, m])
            side[name][:, m] = bound[group]
    if rules.tied_projection:
        both = tightest(side["antecedent_projection"], side["consequent_projection"])
        side["antecedent_projection"] = side["consequent_projection"] = both
