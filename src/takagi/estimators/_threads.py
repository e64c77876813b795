"""Threads of a fit, and one for linear algebra while rules are fitted, since many fits may run side by side."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import parent_process
from threading import Lock, current_thread, main_thread
from typing import Any

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

_LOCK = Lock()
_INSIDE: list[list[tuple[Any, int]]] = []  # libraries and their threads before, once for each caller who is inside


@contextmanager
def _use_one_thread() -> Iterator[None]:
    """Set a limit that the first to enter sets and the last to leave lifts, in whatever threads they are.

    Where someone else has set a limit, that one stays.
    """
    with _LOCK:
        before = _INSIDE[0] if _INSIDE else [(library, library.num_threads) for library in _list_libraries()]
        if not _INSIDE:
            for library, _ in before:
                library.set_num_threads(1)
            before = [(library, n_threads) for library, n_threads in before if library.num_threads == 1]
        _INSIDE.append(before)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            for library, n_threads in () if _INSIDE else before:
                # Else only the thread that set the limit could lift it; older versions know no such restriction.
                release = getattr(library, "clear_controlling_thread", lambda force: None)
                release(force=True)
                library.set_num_threads(n_threads)
                release(force=True)


@cache
def _list_libraries() -> list[Any]:
    """Return the libraries of linear algebra; looking through all that is loaded takes a while."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


# Decorates a function during which matrix products run in the thread that asks for them. Those of a fit are small, and
# fits that run in threads of their own would otherwise get in each other's way.
with_one_blas_thread = _use_one_thread()


def count_fit_threads(n_jobs: int | None) -> int:
    """Return in how many threads a fit may run trainings side by side.

    By default in as many as linear algebra had before the fit, which OMP_NUM_THREADS, threadpoolctl and joblib limit;
    in one where the fit is itself run in a thread or process among others.
    """
    if n_jobs is not None:
        return effective_n_jobs(n_jobs)
    if current_thread() is not main_thread() or parent_process() is not None:
        return 1
    told = os.environ.get("OMP_NUM_THREADS", "")
    limits = [n_threads for _, n_threads in (_INSIDE[0] if _INSIDE else ())] + ([int(told)] if told.isdigit() else [])
    return max(1, min([cpu_count(), *limits]))


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's `n_jobs` stands for, one by default."""
    return effective_n_jobs(n_jobs) if n_jobs is not None else 1
