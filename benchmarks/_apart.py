"""Execution in a process of its own: a run that takes too long or kills its process does not stop the others."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

Call = Callable[[Any], Any]
OUT_OF_TIME = "out of time"


@contextmanager
def limit_processor_seconds(seconds: float) -> Iterator[None]:
    """End this process if the block takes more processor seconds, rounded up to whole ones.

    Only where the system knows such limits, so not on Windows.
    """
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))


def execute_apart(
    runs: Sequence[Any], call: Call, on_failure: Callable[[Any, str], Any], *, patience: float = 3600.0
) -> Iterator[Any]:
    """Yield the results of runs one after another; a process of its own makes them.

    Parameters
    ----------
    runs : sequence
    call : callable
        From a run to its result; a function of a module, which the other process can import. Inside it,
        `limit_processor_seconds` sets the limit of what is to be limited.
    on_failure : callable
        From a run whose process ended and the reason ("out of time", the signal or the exit code) to its result.
    patience : float, default=3600
        Seconds on the clock after which a process that does not answer is ended.

    Yields
    ------
    object
    """
    worker = None
    try:
        for run in runs:
            worker = worker or _Worker(call)
            reason, result = worker.ask(run, patience)
            if reason:
                worker, result = None, on_failure(run, reason)
            yield result
    finally:
        if worker is not None:
            worker.stop()


class _Worker:
    """A process that answers runs with results until it ends."""

    def __init__(self, call: Call) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, call), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, run: Any, patience: float) -> tuple[str, Any]:
        """Return the result of a run, or the reason why there is none."""
        try:
            self.connection.send(run)
            if self.connection.poll(patience):
                return "", self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return _name_end(self.process.exitcode), None
        self.stop()
        return OUT_OF_TIME, None

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def _name_end(code: int | None) -> str:
    if code == -signal.SIGXCPU:
        return OUT_OF_TIME
    return f"ended by {signal.Signals(-code).name}" if code and code < 0 else f"ended with code {code}"


def _serve(connection: Connection, call: Call) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends this process
    while True:
        try:
            run = connection.recv()
        except EOFError:
            return
        connection.send(call(run))
