"""Threads: one for linear algebra while rules are fitted, since many fits may run side by side."""

from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")


class _OneThread:
    """A limit that the first to enter sets and the last to leave lifts, in whatever threads they are.

    Where someone else has set a limit, that one stays.
    """

    def __init__(self) -> None:
        self.lock, self.n_inside = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def __enter__(self) -> None:
        with self.lock:
            self.n_inside += 1
            if self.n_inside == 1:
                libraries = [(library, library.num_threads) for library in _list_libraries()]
                for library, _ in libraries:
                    library.set_num_threads(1)
                self.before = [(library, n_threads) for library, n_threads in libraries if library.num_threads == 1]

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.n_inside -= 1
            if not self.n_inside:
                for library, n_threads in self.before:
                    _release(library)  # else only the thread that set the limit could lift it
                    library.set_num_threads(n_threads)
                    _release(library)


def _release(library: Any) -> None:
    """Let any thread set the number of threads; older versions of threadpoolctl know no such restriction."""
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


@cache
def _list_libraries() -> list[Any]:
    """Return the libraries of linear algebra; looking through all that is loaded takes a while."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


_ONE_THREAD = _OneThread()


def with_one_blas_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function during which matrix products run in the thread that asks for them.

    The products of a fit are small. Fits that run in threads of their own would otherwise get in each other's way.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with _ONE_THREAD:
            return function(*args, **kwargs)

    return call


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for, one by default."""
    return effective_n_jobs(n_jobs) if n_jobs is not None else 1
