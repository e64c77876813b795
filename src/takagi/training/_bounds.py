"""Where parameters may go, the paper's feasible set: a box, or a set of one's own."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from takagi import kernels
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

    def __post_init__(self) -> None:
        for name in PARAMETERS:
            pair = (None, None) if getattr(self, name) is None else getattr(self, name)
            if len(pair) != 2:
                raise ValueError(f"bounds of {name} must be a pair of a lower and an upper bound, got {len(pair)}.")
            if any(bound is not None and np.isnan(bound).any() for bound in pair):
                raise ValueError(f"bounds of {name} must be numbers, got NaN; use None for no bound.")
        if self.widths is not None and self.widths[0] is not None and np.min(self.widths[0]) < 0:
            raise ValueError(f"lower bounds of widths must not be negative, got {np.min(self.widths[0]):g}.")

    def lay_out(self, rules: RuleBase, floor: float, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper bounds as two flat vectors in the order of the kernels."""
        lower = self._lay_out_side(rules, 0, -np.inf, floor)
        upper = self._lay_out_side(rules, 1, np.inf, np.inf)
        if (lower > upper).any():
            raise ValueError(
                "bounds must not have a lower bound above an upper one, those of shared sets taken together."
            )
        lower[np.isinf(theta)] = upper[np.isinf(theta)] = np.inf  # an absent condition stays absent
        return lower, upper

    def _lay_out_side(self, rules: RuleBase, side: int, free: float, width: float) -> FloatArray:
        parts = {}
        for name in PARAMETERS:
            values, pair = getattr(rules, name), getattr(self, name)
            if values is None and pair is not None:
                raise ValueError(f"bounds has {name}, but the rules have none.")
            if values is not None:
                parts[name] = np.full(values.shape, width if name == "widths" else free)
                if pair is not None and pair[side] is not None:
                    parts[name][:] = _broadcast(name, pair[side], values.shape)
        _tie(parts, rules, np.minimum if side else np.maximum, free)
        return flatten(parts, dict.fromkeys(parts, free))


def _broadcast(name: str, bound: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    try:
        return np.broadcast_to(np.asarray(bound, dtype=float), shape)
    except ValueError:
        raise ValueError(f"bounds of {name} must broadcast to shape {shape}, got {np.shape(bound)}.") from None


def _tie(parts: dict[str, FloatArray], rules: RuleBase, tightest: np.ufunc, free: float) -> None:
    """Give parameters that are one the tightest of their bounds."""
    for m, column in enumerate(() if rules.sets is None else rules.sets.T):
        _, group = np.unique(column, return_inverse=True)
        for name in ("centers", "widths"):
            bound = np.full(group.max() + 1, free)
            tightest.at(bound, group, parts[name][:, m])
            parts[name][:, m] = bound[group]
    if rules.tied_projection:
        both = tightest(parts["antecedent_projection"], parts["consequent_projection"])
        parts["antecedent_projection"] = parts["consequent_projection"] = both


# -- a set of one's own ------------------------------------------------------------------------------------------------


class FeasibleSet(Protocol):
    """Where parameters may go, if that is not a box: anything that can `project`.

    Examples
    --------
    Centers that stay in order, by isotonic regression in the norm of Algorithm 2, whose squares have the weights
    ``sqrt(v)``:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sklearn.isotonic import isotonic_regression
    >>> from takagi import RuleBase, TrainConfig, train
    >>> @dataclass(frozen=True)
    ... class OrderedCenters:
    ...     def project(self, parameters, v):
    ...         weights = np.sqrt(v["centers"][:, 0]) + 1e-12
    ...         ordered = isotonic_regression(parameters["centers"][:, 0], sample_weight=weights)
    ...         return parameters | {"centers": ordered[:, None]}
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> start = RuleBase([[-0.5], [0.0], [0.5]], np.full((3, 1), 0.3), np.zeros((3, 1, 2)))
    >>> config = TrainConfig(learning_rate=0.1, keep_prob=1.0, max_iter=100)
    >>> rules = train(start, X, np.sin(5 * X[:, 0]), None, None, config, bounds=OrderedCenters()).rule_base
    >>> print((np.diff(rules.centers[:, 0]) >= 0).all())
    True
    """

    def project(self, parameters: dict[str, FloatArray], v: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the nearest parameters in the set, in the norm of the fourth root of v.

        Parameters
        ----------
        parameters : dict of str to ndarray
            "centers", "widths", "consequents" and, if there are any, "antecedent_projection" and
            "consequent_projection", in the shapes of a `RuleBase`. Widths are above the floor, and infinite where a
            rule has no condition, which stays so.
        v : dict of str to ndarray
            The second moment of the gradient in the same shapes; ones before the first step, and for `SGDM`.

        Returns
        -------
        dict of str to ndarray
            The same names and shapes. Parameters that rules share have to stay equal.
        """
        ...


def project(feasible: FeasibleSet, theta: FloatArray, v: FloatArray, shape: kernels.Shape) -> None:
    """Move theta into a feasible set; conditions that are absent stay so."""
    parameters = kernels.split(theta, shape)
    projected = feasible.project(dict(parameters), kernels.split(v, shape))
    moved = {name: np.asarray(projected.get(name), dtype=float) for name in parameters}
    for name, values in parameters.items():
        if moved[name].shape != values.shape:
            raise ValueError(f"project must return {name} of shape {values.shape}, got shape {moved[name].shape}.")
    theta[:] = np.where(np.isinf(theta), theta, kernels.flatten(moved))
