"""The four update rules of the paper's Table IV.

Each takes gradients ``g`` after Powerball, ``sign(g) |g|^gamma``. gamma is a setting of training, and 1 means plain
gradients, so four rules give the paper's eight methods.
"""

from dataclasses import dataclass
from typing import ClassVar

from takagi import kernels
from takagi.optimizers._spec import Optimizer


@dataclass(frozen=True)
class SGDM:
    """Stochastic gradient descent with momentum.

    ``m_t = beta1 m_{t-1} + g_t`` and ``theta_t = theta_{t-1} - alpha m_t``.

    Examples
    --------
    >>> from takagi.optimizers import SGDM
    >>> SGDM(beta1=0.8).beta1
    0.8
    """

    beta1: float = 0.9
    beta2: ClassVar[float] = 0.0
    epsilon: ClassVar[float] = 0.0
    rule: ClassVar[int] = kernels.MOMENTUM

    def __post_init__(self) -> None:
        _check_constants(self)


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba, 2015).

    ``m_t = beta1 m_{t-1} + (1 - beta1) g_t``, ``v_t = beta2 v_{t-1} + (1 - beta2) g_t^2``; with
    ``m^ = m_t / (1 - beta1^t)`` and ``v^ = v_t / (1 - beta2^t)``,
    ``theta_t = theta_{t-1} - alpha m^ / (sqrt(v^) + epsilon)``.

    Examples
    --------
    >>> from takagi.optimizers import Adam
    >>> Adam().epsilon
    1e-08
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    rule: ClassVar[int] = kernels.ADAM

    def __post_init__(self) -> None:
        _check_constants(self)


@dataclass(frozen=True)
class AdaBound:
    """AdaBound (Luo et al., 2019): Adam with step sizes clipped to a range that shrinks to alpha.

    ``theta_t = theta_{t-1} - clip(alpha / (sqrt(v^) + epsilon), lower_t, upper_t) m^`` with ``m^`` and ``v^`` as in
    `Adam`, ``lower_t = alpha (1 - 1 / ((1 - beta2) t + 1))`` and ``upper_t = alpha (1 + 1 / ((1 - beta2) t))``.

    Examples
    --------
    >>> from takagi.optimizers import AdaBound
    >>> AdaBound().beta2
    0.999
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    rule: ClassVar[int] = kernels.ADABOUND

    def __post_init__(self) -> None:
        _check_constants(self)


@dataclass(frozen=True)
class AdaBelief:
    """AdaBelief (Zhuang et al., 2020): Adam with the spread of the gradient around its mean in place of its square.

    ``v_t = beta2 v_{t-1} + (1 - beta2) (g_t - m_t)^2`` with the new, uncorrected ``m_t``; the step is that of `Adam`.
    As in the authors' code of the paper, `epsilon` is added to the root only and not to ``v_t``.

    Examples
    --------
    >>> from takagi.optimizers import AdaBelief
    >>> AdaBelief(epsilon=1e-12)
    AdaBelief(beta1=0.9, beta2=0.999, epsilon=1e-12)
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    rule: ClassVar[int] = kernels.ADABELIEF

    def __post_init__(self) -> None:
        _check_constants(self)


def _check_constants(optimizer: Optimizer) -> None:
    for name in ("beta1", "beta2"):
        if not 0 <= getattr(optimizer, name) < 1:
            raise ValueError(f"{name} must be in [0, 1), got {getattr(optimizer, name)}.")
    if optimizer.epsilon < 0:
        raise ValueError(f"epsilon must not be negative, got {optimizer.epsilon}.")
