"""The interface of an optimizer."""

from typing import ClassVar, Protocol

from takagi._typing import FloatArray


class Optimizer(Protocol):
    """One of the compiled update rules: its number in `takagi.kernels`, and its constants."""

    rule: ClassVar[int]

    @property
    def beta1(self) -> float:
        """Decay of the first moment."""
        ...

    @property
    def beta2(self) -> float:
        """Decay of the second moment."""
        ...

    @property
    def epsilon(self) -> float:
        """Constant that keeps step sizes finite."""
        ...


class OwnOptimizer(Protocol):
    """A user-defined update rule: the three functions of the paper's Algorithm 2 in NumPy.

    Iteration t, from 1, takes the gradient ``g`` after Powerball and sets::

        m_t     = phi(g_t, m_{t-1}, t)
        v_t     = psi(g_t, m_t, v_{t-1}, t)
        theta_t = the projection of  theta_{t-1} - omega(alpha, v_t, t) m_t

    All are flat vectors of all parameters. m and v start at zero; a correction for that bias belongs in omega.

    Examples
    --------
    RMSProp (Tieleman and Hinton, 2012):

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from takagi import RuleBase, TrainConfig, train
    >>> @dataclass(frozen=True)
    ... class RMSProp:
    ...     decay: float = 0.9
    ...     epsilon: float = 1e-8
    ...     def phi(self, g, m, t):
    ...         return g
    ...     def psi(self, g, m, v, t):
    ...         return self.decay * v + (1 - self.decay) * g**2
    ...     def omega(self, alpha, v, t):
    ...         return alpha / (np.sqrt(v) + self.epsilon)
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> start = RuleBase([[-1.0], [1.0]], [[0.5], [0.5]], np.zeros((2, 1, 2)))
    >>> config = TrainConfig(RMSProp(), keep_prob=1.0)
    >>> train(start, X, X[:, 0] ** 2, X, X[:, 0] ** 2, config).best_loss < 0.1
    True
    """

    def phi(self, g: FloatArray, m: FloatArray, t: int) -> FloatArray:
        """Return the direction m of iteration t, given that of the previous one."""
        ...

    def psi(self, g: FloatArray, m: FloatArray, v: FloatArray, t: int) -> FloatArray:
        """Return the second moment v of iteration t, given the new m and the old v."""
        ...

    def omega(self, alpha: float, v: FloatArray, t: int) -> FloatArray | float:
        """Return the step sizes, for a learning rate alpha."""
        ...
