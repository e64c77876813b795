"""Bends: the nonlinear terms of a formula, in addition to slopes."""

from dataclasses import dataclass, replace

import numpy as np

from takagi._messages import unknown_name
from takagi._text import format_number
from takagi._typing import FloatArray

KINDS = ("log", "above", "up to")


@dataclass(frozen=True)
class Bend:
    """A nonlinear term of one feature: ``log(x - knot)``, ``max(x - knot, 0)`` or ``min(x, knot)``.

    Parameters
    ----------
    feature : int
        The feature, from 0.
    kind : {"log", "above", "up to"}
        The logarithm of the distance of x above the knot; that distance itself, zero below the knot; or x up to the
        knot, and the knot above it.
    knot : float
        Where the term bends; for a logarithm, the position of its pole, usually 0.
    floor : float, default=0.0
        For a logarithm, the smallest distance from the knot: smaller and negative distances are replaced by it, so that
        every row has a prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi import Bend
    >>> bend = Bend(feature=0, kind="above", knot=60.0)
    >>> bend.evaluate(np.array([50.0, 60.0, 75.0]))
    array([ 0.,  0., 15.])
    >>> bend.name("age"), Bend(0, "log", 0.0, floor=1.0).name("age"), Bend(0, "up to", 60.0).name("age")
    ('max(age - 60, 0)', 'log(age)', 'min(age, 60)')
    """

    feature: int
    kind: str
    knot: float
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown_name("kind", self.kind, KINDS)
        object.__setattr__(self, "feature", int(self.feature))
        for name in ("knot", "floor"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.feature < 0 or not (np.isfinite(self.knot) and np.isfinite(self.floor)):
            raise ValueError(
                "a bend needs a feature of at least 0, a finite knot and a finite floor, "
                f"got {self.feature}, {self.knot} and {self.floor}."
            )
        if self.kind == "log" and self.floor <= 0:
            raise ValueError(f"the floor of a logarithm must be positive, got {self.floor}.")

    def evaluate(self, values: FloatArray) -> FloatArray:
        """Return the term for values of the feature."""
        if self.kind == "above":
            return np.maximum(values - self.knot, 0.0)
        if self.kind == "up to":
            return np.minimum(values, self.knot)
        return np.log(np.maximum(values - self.knot, self.floor))

    def rescale(self, mean: float, scale: float) -> tuple["Bend", float, float]:
        """Return the bend for ``x * scale + mean``, with the factor and the constant that turn it into this one.

        This term of x is the factor times the new term of ``x * scale + mean``, plus the constant.
        """
        moved = replace(self, knot=self.knot * scale + mean, floor=self.floor * scale)
        if self.kind == "above":
            return moved, 1 / scale, 0.0
        if self.kind == "up to":
            return moved, 1 / scale, -mean / scale
        return moved, 1.0, -float(np.log(scale))

    def name(self, feature: str) -> str:
        """Return how the term is written, given the name of its feature."""
        knot = format_number(abs(self.knot))
        if self.kind == "up to":
            return f"min({feature}, {format_number(self.knot)})"
        inner = feature if self.knot == 0 else f"{feature} {'-' if self.knot > 0 else '+'} {knot}"
        return f"max({inner}, 0)" if self.kind == "above" else f"log({inner})"


def rescale_bends(
    bends: tuple[Bend, ...], mean: FloatArray, scale: FloatArray
) -> tuple[tuple[Bend, ...], FloatArray, FloatArray]:
    """Return bends in other units, with the factors for their weights and the constants for the bias."""
    moved = [bend.rescale(float(mean[bend.feature]), float(scale[bend.feature])) for bend in bends]
    return tuple(bend for bend, *_ in moved), np.array([m[1] for m in moved]), np.array([m[2] for m in moved])
