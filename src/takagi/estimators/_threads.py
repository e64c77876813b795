"""The threads of a fit; linear algebra uses one thread during a fit, since many fits may run in parallel."""

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
_INSIDE: list[list[tuple[Any, int]]] = []  # libraries and their earlier numbers of threads, once for each caller inside


@contextmanager
def _use_one_thread() -> Iterator[None]:
    """Limit the threads of linear algebra: the first caller to enter sets the limit, the last to leave removes it.

    A limit that was set elsewhere stays.
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
                # Otherwise only the thread that set the limit could remove it; older versions do not have this
                # restriction.
                release = getattr(library, "clear_controlling_thread", lambda force: None)
                release(force=True)
                library.set_num_threads(n_threads)
                release(force=True)


@cache
def _list_libraries() -> list[Any]:
    """Return the linear algebra libraries; cached, since the search through all loaded libraries is slow."""
    return ThreadpoolController().select(user_api="blas").lib_controllers


# Decorates a function so that its matrix products run in the calling thread. Those of a fit are small, and parallel
# fits would otherwise compete for the cores.
with_one_blas_thread = _use_one_thread()


def count_fit_threads(n_jobs: int | None) -> int:
    """Return the number of threads in which a fit runs trainings in parallel.

    By default it is that of linear algebra before the fit, which OMP_NUM_THREADS, threadpoolctl and joblib limit. It is
    one if the fit itself runs in one of several threads or processes.
    """
    if n_jobs is not None:
        return effective_n_jobs(n_jobs)
    if current_thread() is not main_thread() or parent_process() is not None:
        return 1
    told = os.environ.get("OMP_NUM_THREADS", "")
    limits = [n_threads for _, n_threads in (_INSIDE[0] if _INSIDE else ())] + ([int(told)] if told.isdigit() else [])
    return max(1, min([cpu_count(), *limits]))


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for scikit-learn's `n_jobs`, one by default."""
    return effective_n_jobs(n_jobs) if n_jobs is not None else 1
