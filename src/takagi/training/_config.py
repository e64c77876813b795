"""The inputs and outputs of training: losses, settings, bounds, progress and result.

Both losses have their canonical link, so the gradient with respect to an output before the link is the prediction
minus the target.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from takagi import kernels
from takagi._messages import unknown_name
from takagi._typing import ArrayLike, FloatArray
from takagi.kernels import PARAMETERS, flatten
from takagi.optimizers import AdaBelief, Optimizer, OwnOptimizer
from takagi.rulebase import RuleBase

Pair = tuple[ArrayLike | None, ArrayLike | None]


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

    code: ClassVar[int | None] = kernels.SQUARED
    links: ClassVar[tuple[str, str]] = ("identity", "identity")  # of rules with one output and with several

    def measure_rows(self, outputs: FloatArray, y: FloatArray) -> FloatArray:
        """Return the mean over outputs of the squared errors, of shape (n_rows,)."""
        return ((outputs - y) ** 2).mean(axis=1)

    def report(self, mean: float) -> float:
        """Return the reported value of a mean over rows: its root, the RMSE."""
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

    code: ClassVar[int | None] = kernels.LOG
    links: ClassVar[tuple[str, str]] = ("logit", "softmax")

    def measure_rows(self, outputs: FloatArray, y: FloatArray) -> FloatArray:
        """Return the log loss of each row from its outputs before the link, of shape (n_rows,)."""
        if outputs.shape[1] == 1:
            return (np.logaddexp(0.0, outputs) - outputs * y)[:, 0]
        highest = outputs.max(axis=1, keepdims=True)  # so that nothing overflows
        total = np.log(np.exp(outputs - highest).sum(axis=1, keepdims=True))
        return (y * (highest + total - outputs)).sum(axis=1)

    def report(self, mean: float) -> float:
        """Return the reported value of a mean over rows: the mean itself."""
        return mean


def check_probabilities(y: FloatArray) -> None:
    """Raise an error if targets are not probabilities, which the log loss needs."""
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
        One of the update rules of `takagi.optimizers`, or your own.
    learning_rate : float, default=0.01
        The paper's alpha.
    powerball : float, default=0.5
        The paper's gamma: gradients become ``sign(g) |g|^gamma``; 1 means plain gradients.
    keep_prob : float, default=0.5
        The paper's P: the probability that DropRule keeps a rule, for each row and rule; 1 keeps all.
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
        Uniform regularization [1]_: this factor times the sum over rules of the squared mean share in the batch is
        added to the loss of each row. The sum is smallest if all rules govern equally many rows. Not in the paper.
    batch_size : int, default=64
    max_iter : int, default=1000
    schedule : {"constant", "cosine"}, default="constant"
        "cosine" lets the learning rate fall to zero along half a cosine. Not in the paper.
    averaging : float, default=0
        Decay of a running mean of the parameters; the mean is validated and returned. 0 for none. Not in the paper.
    n_iter_no_change : int, optional
        Stop when the validation error has not fallen for this number of iterations. Not in the paper.
    loss : {"squared", "log"}, default="squared"
        What is minimized: the squared error, or the log loss of class probabilities, which is not in the paper.
    width_floor : float, optional
        Lower bound of the widths; by default a tenth of the smallest initial width, or the smallest initial width if
        rules share sets.

    References
    ----------
    .. [1] Y. Cui, D. Wu and J. Huang, Optimize TSK fuzzy systems for classification problems: mini-batch gradient
       descent with uniform regularization and batch normalization, IEEE Transactions on Fuzzy Systems 28(12), 2020.
       Their penalty, the distance of mean shares from a constant, differs by a constant, since shares sum to 1.
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


# -- bounds of parameters ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bounds:
    """A lower and an upper bound for every parameter, in the units that rules are trained in.

    The paper's Algorithm 2 projects every iterate onto a feasible set in the norm of the fourth root of ``v``, the
    second moment of the gradient. Bounds are a box, in which each parameter is independent. So the nearest point of the
    box is the same for all weights of the norm, and the projection clips each parameter at its bounds.

    Each part is a pair of a lower and an upper bound, numbers or arrays that broadcast to the shape of the parameters;
    None is no bound. Equal bounds fix a parameter. If rules share a set, the tightest of their bounds holds. Training
    starts from the nearest rules within the bounds. A running mean of the parameters (`averaging`) is within them up to
    rounding.

    Parameters
    ----------
    centers, widths, consequents, antecedent_projection, consequent_projection : pair, optional
        Bounds of the parameters of a `RuleBase` with these names. Without a given lower bound, widths stay above the
        `width_floor` of training. Absent conditions, with infinite widths, stay absent.

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
        lower, upper = self._lay_out_side(rules, 0, -np.inf, floor), self._lay_out_side(rules, 1, np.inf, np.inf)
        if (lower > upper).any():
            raise ValueError(
                "bounds must not have a lower bound above an upper bound, also among rules that share a set."
            )
        lower[np.isinf(theta)] = upper[np.isinf(theta)] = np.inf  # an absent condition stays absent
        return lower, upper

    def _lay_out_side(self, rules: RuleBase, side: int, free: float, width: float) -> FloatArray:
        parts = {}
        for name in PARAMETERS:
            values, pair = getattr(rules, name), getattr(self, name)
            if values is None and pair is not None:
                raise ValueError(f"bounds has {name}, but the rules have none.")
            if values is None:
                continue
            parts[name] = np.full(values.shape, width if name == "widths" else free)
            if pair is not None and pair[side] is not None:
                try:
                    parts[name][:] = pair[side]
                except ValueError:
                    shapes = f"{values.shape}, got {np.shape(pair[side])}"
                    raise ValueError(f"bounds of {name} must broadcast to shape {shapes}.") from None
        if rules.sets is not None or rules.tied_projection:
            _tie(parts, rules, np.minimum if side else np.maximum, free)
        return flatten(parts, dict.fromkeys(parts, free))


def _tie(parts: dict[str, FloatArray], rules: RuleBase, tightest: np.ufunc, free: float) -> None:
    """Give tied parameters the tightest of their bounds."""
    for m, column in enumerate(() if rules.sets is None else rules.sets.T):
        _, group = np.unique(column, return_inverse=True)
        for name in ("centers", "widths"):
            bound = np.full(group.max() + 1, free)
            tightest.at(bound, group, parts[name][:, m])
            parts[name][:, m] = bound[group]
    if rules.tied_projection:
        both = tightest(parts["antecedent_projection"], parts["consequent_projection"])
        parts["antecedent_projection"] = parts["consequent_projection"] = both


# -- progress and result -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """The argument of a callback, between two blocks of iterations.

    Attributes
    ----------
    n_iter, max_iter : int
        Iterations done, and in total; in a fit of several trainings, those of all of them.
    train_loss, val_loss : float
        Losses of the last iteration; `val_loss` is NaN if no rows are held out.
    best_iter : int
        The best iteration of the current training so far, from 1.
    best_loss : float
        Its loss on held-out rows.
    stage : str
        Name of the stage of a fit, such as "training".
    """

    n_iter: int
    max_iter: int
    train_loss: float
    val_loss: float
    best_iter: int
    best_loss: float
    stage: str = "training"


Callback = Callable[[Progress], object]


@dataclass(frozen=True)
class TrainResult:
    """What `train` returns.

    Attributes
    ----------
    rule_base : RuleBase
        The rules after iteration `best_iter`, with the link of the loss.
    best_iter : int
        The first iteration, from 1, with the smallest validation loss; 0 if no iteration ended with finite numbers.
        Then `rule_base` is the initial one.
    history : dict of str to ndarray of shape (n_iter,)
        "train_loss" of each batch with the kept rules, before the update, and "val_loss" with all rules, after it: the
        RMSE, or the mean log loss. Iterations without validation have the loss of the last validated one.
    stopped : {"max_iter", "no_change", "callback", "interrupted", "diverged"}
        Why training ended.
    start_loss : float
        Validation loss of the initial rules, which are no candidate for the best rules, as in the paper.
    n_iter : int
        Iterations done.
    """

    rule_base: RuleBase
    best_iter: int
    history: dict[str, FloatArray]
    stopped: str
    start_loss: float
    n_iter: int

    @property
    def best_loss(self) -> float:
        """Validation loss of the returned rules."""
        return float(self.history["val_loss"][self.best_iter - 1]) if self.best_iter else self.start_loss
