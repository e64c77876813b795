"""What the training kernel needs to know of an optimiser."""

from typing import NamedTuple, Protocol


class OptimizerSpec(NamedTuple):
    """An update rule as numbers."""

    rule: int
    beta1: float
    beta2: float
    epsilon: float


class Optimizer(Protocol):
    """Anything that turns into an `OptimizerSpec`."""

    def spec(self) -> OptimizerSpec:
        """Return the numbers for the kernel."""
        ...
