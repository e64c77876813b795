"""Whether few rows are predicted by compiled code, or at once by NumPy."""

from types import ModuleType
from typing import Any

from takagi.kernels import _plain
from takagi.kernels._arrays import is_compiled

_FEW = 2**22  # numbers that NumPy computes with in some hundredths of a second
_FIRST = ("predict_rows", "iterate_fuzzy_cmeans", "train_block")  # one of these is compiled before all others


class Choice:
    """Chooses between the kernels of a package and those of NumPy.

    A process that only predicts need not compile for seconds. One that trains computes with compiled code from the
    start, so that its numbers do not depend on what was compiled before, not even in their last bits.
    """

    def __init__(self, package: ModuleType) -> None:
        self.package, self.is_ready = package, False

    def find_kernel(self, name: str, n_numbers: int) -> Any:
        """Return a kernel: the compiled one, or NumPy's for few numbers while nothing is compiled."""
        if not self.is_ready and n_numbers <= _FEW:
            self.is_ready = any(is_compiled(getattr(self.package, first)) for first in _FIRST)
            if not self.is_ready:
                return getattr(_plain, name)
        return getattr(self.package, name)

    def expect_training(self) -> None:
        """Have everything compiled from now on."""
        self.is_ready = True
