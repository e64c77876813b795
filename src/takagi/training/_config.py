"""Settings of training."""

from dataclasses import dataclass, field

import numpy as np

from takagi._messages import unknown_name
from takagi.optimizers import AdaBelief, Optimizer, OwnOptimizer
from takagi.training._loss import LOSSES


@dataclass(frozen=True)
class TrainConfig:
    """Settings of `train`; the defaults are the paper's.

    Parameters
    ----------
    optimizer : Optimizer or OwnOptimizer, default=AdaBelief()
        One of the update rules of `takagi.optimizers`, or a rule of one's own.
    learning_rate : float, default=0.01
        The paper's alpha.
    powerball : float, default=0.5
        The paper's gamma: gradients become ``sign(g) |g|^gamma``; 1 leaves them as they are.
    keep_prob : float, default=0.5
        The paper's P: the chance that DropRule keeps a rule, for each row and rule; 1 keeps all.
    l2 : float, default=0.05
        The paper's lambda, on all consequent weights but the bias.
    smoothness : float, default=0
        Penalty on narrow sets: half of it times the sum of ``1 / widths**2`` is added to the loss of a batch. Not in
        the paper.
    batch_size : int, default=64
    max_iter : int, default=1000
    schedule : {"constant", "cosine"}, default="constant"
        "cosine" lets the learning rate fall to zero along half a cosine. Not in the paper.
    averaging : float, default=0
        Decay of a running mean of the parameters, which is then what is validated and returned; 0 for none. Not in the
        paper.
    n_iter_no_change : int, optional
        Stop when the validation error has not fallen for so many iterations. Not in the paper.
    loss : {"squared", "log"}, default="squared"
        What is made small: the squared error, or the log loss of probabilities of classes, which is not in the paper.
    width_floor : float, optional
        Widths are kept above it; by default a tenth of the smallest initial width, and the smallest initial width where
        rules share sets.
    """

    optimizer: Optimizer | OwnOptimizer = field(default_factory=AdaBelief)
    learning_rate: float = 0.01
    powerball: float = 0.5
    keep_prob: float = 0.5
    l2: float = 0.05
    smoothness: float = 0.0
    batch_size: int = 64
    max_iter: int = 1000
    schedule: str = "constant"
    averaging: float = 0.0
    n_iter_no_change: int | None = None
    width_floor: float | None = None
    loss: str = "squared"

    def __post_init__(self) -> None:
        is_rule = hasattr(self.optimizer, "rule") or all(hasattr(self.optimizer, part) for part in _PARTS)
        if isinstance(self.optimizer, (str, type)) or not is_rule:
            raise TypeError(
                "optimizer must be an object such as AdaBelief(), or one with phi, psi and omega, got "
                f"{self.optimizer!r}."
            )
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.loss not in LOSSES:
            raise unknown_name("loss", self.loss, LOSSES)
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                wanted = f"at least {low:g}" if high == _HUGE else f"from {low:g} to {high:g}"
                raise ValueError(f"{name} must be {wanted}, got {value!r}.")


SCHEDULES = ("constant", "cosine")
_PARTS = ("phi", "psi", "omega")
_HUGE = np.finfo(float).max
_RANGES = (
    ("learning_rate", 0.0, _HUGE),
    ("powerball", 0.0, _HUGE),
    ("keep_prob", 0.0, 1.0),
    ("l2", 0.0, _HUGE),
    ("smoothness", 0.0, _HUGE),
    ("batch_size", 1, _HUGE),
    ("max_iter", 0, _HUGE),
    ("averaging", 0.0, 0.999999),
    ("n_iter_no_change", 1, _HUGE),
    ("width_floor", 0.0, _HUGE),
)
