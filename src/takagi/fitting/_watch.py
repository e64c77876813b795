"""A watch over a fit: what it has done so far, who is told, and whether it is to end."""

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from time import perf_counter
from typing import NamedTuple

import numpy as np

from takagi.training import Callback, Progress


class Stage(NamedTuple):
    """A part of a fit: its name, how many trainings it ran, their iterations together, and its seconds."""

    name: str
    n_fits: int
    n_iter: int
    seconds: float


class Watch:
    """Counts stages and iterations of a fit, tells the callback, and keeps its wish to end.

    Members of a committee share one watch, each in a thread of its own.

    Parameters
    ----------
    callback : callable, optional
        Called with a `takagi.training.Progress` between blocks of iterations; if it returns True, the training under
        way ends, and those that follow end after their first block.
    verbose : int
        Whether to print progress.
    """

    def __init__(self, callback: Callback | None = None, verbose: int = 0) -> None:
        self.callback, self.verbose = callback, verbose
        self.stages: list[Stage] = []
        self.n_expected = 0
        self.has_ended = False
        self._lock, self._since, self._n_iter = Lock(), perf_counter(), 0

    def expect(self, n_iter: int) -> None:
        """Count iterations that are to come, so that the callback is told how many there are in all."""
        self.n_expected += n_iter

    def begin(self, name: str) -> None:
        """Begin a stage."""
        self._since = perf_counter()
        self.stages.append(Stage(name, 0, 0, 0.0))

    def count(self, n_iter: int) -> None:
        """Count a training of the present stage that has ended."""
        with self._lock:
            last = self.stages[-1]
            self.stages[-1] = Stage(last.name, last.n_fits + 1, last.n_iter + n_iter, perf_counter() - self._since)

    def end(self) -> None:
        """Let every training end after its present block."""
        self.has_ended = True

    def follow(self, loss_factor: float) -> Callable[[Progress], bool]:
        """Return what one training is to call; losses are told in the units of the data."""
        n_known = 0

        def call(progress: Progress) -> bool:
            nonlocal n_known
            with self._lock:
                self._n_iter += progress.n_iter - n_known
                n_known = progress.n_iter
                self._tell(_in_units(progress, loss_factor), self.stages[-1].name)
                return self.has_ended

        return call

    def _tell(self, progress: Progress, stage: str) -> None:
        if self.verbose:
            print(_describe(progress, stage))  # noqa: T201
        if self.callback is not None:
            n_expected = max(self.n_expected, self._n_iter)
            wish = self.callback(replace(progress, stage=stage, n_iter=self._n_iter, max_iter=n_expected))
            self.has_ended |= isinstance(wish, bool | np.bool_) and bool(wish)

    def say(self, message: str) -> None:
        """Print a message where the fit is verbose."""
        if self.verbose:
            print(f"[takagi] {message}")  # noqa: T201


def _in_units(progress: Progress, factor: float) -> Progress:
    losses = {name: getattr(progress, name) * factor for name in ("train_loss", "val_loss", "best_loss")}
    return replace(progress, **losses)


def _describe(progress: Progress, stage: str) -> str:
    validation = (
        f", validation {progress.val_loss:.4g}, best {progress.best_loss:.4g} in iteration {progress.best_iter}"
    )
    return (
        f"[takagi] {stage}, iteration {progress.n_iter}/{progress.max_iter}: batch loss {progress.train_loss:.4g}"
        f"{'' if np.isnan(progress.val_loss) else validation}"
    )
