"""What training makes small: a loss, and the link between outputs and what they predict.

Either loss has its canonical link, so the gradient by an output before the link is the response minus the target.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from takagi import kernels
from takagi._typing import FloatArray


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
        return (y * (logsumexp(outputs, axis=1, keepdims=True) - outputs)).sum(axis=1)

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
