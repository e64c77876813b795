"""Settings of training, among them the loss, and the link between outputs and what they predict.

Either loss has its canonical link, so the gradient by an output before the link is the response minus the target.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from takagi import kernels
from takagi._messages import unknown_name
from takagi._typing import FloatArray
from takagi.optimizers import AdaBelief, Optimizer, OwnOptimizer


@dataclass(frozen=True)
class SquaredError:
    """Half the squared error, summed over rows and outputs; reported as the root of its mean.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.training import SquaredError
    >>> loss = SquaredError()
    >>> rows = loss.measure_rows(np.array([[1.0], [5.0]]), np.array([[1.0], [1.0]]))
    >>> rows, round(loss.report(rows.mean()), 3)
    (array([ 0., 16.]), 2.828)
    """

    code: ClassVar[int] = kernels.SQUARED
    links: ClassVar[tuple[str, str]] = ("identity", "identity")  # of rules with one output and with several

    def measure_rows(self, outputs: FloatArray, y: FloatArray) -> FloatArray:
        """Return the mean over outputs of the squared errors, of shape (n_rows,)."""
        return ((outputs - y) ** 2).mean(axis=1)

    def report(self, mean: float) -> float:
        """Return what is reported of a mean over rows: its root, the RMSE."""
        return float(np.sqrt(mean))


@dataclass(frozen=True)
class LogLoss:
    """Minus the log of the probability of the class, summed over rows; reported as its mean.

    One output before the link is the log-odds of a class, and targets are its probability: 1 for rows of the class,
    else 0. Several outputs are the logits of as many classes, and targets of a row are probabilities that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.training import LogLoss
    >>> LogLoss().measure_rows(np.array([[0.0], [200.0]]), np.array([[1.0], [0.0]])).round(3)
    array([  0.693, 200.   ])
    """

    code: ClassVar[int] = kernels.LOG
    links: ClassVar[tuple[str, str]] = ("logit", "softmax")

    def measure_rows(self, outputs: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log loss of each row from its outputs before the link, of shape (n_rows,)."""
        if outputs.shape[1] == 1:
            return (np.logaddexp(0.0, outputs) - outputs * y)[:, 0]
        highest = outputs.max(axis=1, keepdims=True)  # so that nothing overflows
        total = np.log(np.exp(outputs - highest).sum(axis=1, keepdims=True))
        return (y * (highest + total - outputs)).sum(axis=1)

    def report(self, mean: float) -> float:
        """Return what is reported of a mean over rows: the mean itself."""
        return mean


def check_probabilities(y: FloatArray) -> None:
    """Raise an error for targets that are no probabilities, which the log loss needs."""
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("targets of the log loss must be probabilities, from 0 to 1.")
    if y.shape[1] > 1 and not np.allclose(y.sum(axis=1), 1.0):
        raise ValueError("targets of the log loss must sum to 1 in each row, one column for each class.")


Loss = SquaredError | LogLoss
LOSSES: dict[str, Loss] = {"squared": SquaredError(), "log": LogLoss()}


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
    agreement : float, default=0
        Penalty on the disagreement of the rules that govern a row: half of it times the sum over rules of ``share *
        (output - prediction)**2``, outputs before the link, is added to the loss of each row and output. So every rule
        has to be right by itself where it governs. Not in the paper.
    uniformity : float, default=0
        Uniform regularization [1]_: so many times the sum over rules of the squared mean share in the batch is added to
        the loss of each row, which is least where all rules govern equally many rows. Not in the paper.
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

    References
    ----------
    .. [1] Y. Cui, D. Wu and J. Huang, Optimize TSK fuzzy systems for classification problems: mini-batch gradient
       descent with uniform regularization and batch normalization, IEEE Transactions on Fuzzy Systems 28(12), 2020.
       Their distance of mean shares from a constant differs by a constant, since shares sum to 1.
    """

    optimizer: Optimizer | OwnOptimizer = field(default_factory=AdaBelief)
    learning_rate: float = 0.01
    powerball: float = 0.5
    keep_prob: float = 0.5
    l2: float = 0.05
    smoothness: float = 0.0
    agreement: float = 0.0
    uniformity: float = 0.0
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
    ("agreement", 0.0, _HUGE),
    ("uniformity", 0.0, _HUGE),
    ("batch_size", 1, _HUGE),
    ("max_iter", 0, _HUGE),
    ("averaging", 0.0, 0.999999),
    ("n_iter_no_change", 1, _HUGE),
    ("width_floor", 0.0, _HUGE),
)
