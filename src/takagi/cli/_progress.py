"""Progress: a bar on a terminal, a plain line now and then elsewhere."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from takagi._text import remove_controls
from takagi.cli._console import notes
from takagi.workflow import Event

_SECONDS_BETWEEN_LINES = 10.0

_T = TypeVar("_T")


class ProgressBars:
    """Shows events on the standard error stream: one task after the other, each with a bar of its own.

    Bars are hidden where results are written at the same time, which may be on the same terminal.
    """

    def __init__(self, is_hidden: bool = False) -> None:
        self.task, self.last, self.bar, self.is_hidden = "", 0.0, Progress(disable=True), is_hidden

    def __enter__(self) -> "ProgressBars":
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def __call__(self, event: Event) -> None:
        """Show how far a task is."""
        if event.task != self.task:
            self._begin(event)
        of = "" if event.total is None else f" of {event.total:,}"
        state = f"{event.done:,}{of} {event.unit}" if event.done else ""
        self.bar.update(self.bar.task_ids[0], completed=event.done, total=event.total, state=state)
        if not notes.is_terminal and time.monotonic() - self.last > _SECONDS_BETWEEN_LINES:
            self.last = time.monotonic()
            _say(f"  {state}")

    def _begin(self, event: Event) -> None:
        self.bar.stop()
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}", markup=False),  # a file may be named "[/red].csv"
            BarColumn(),
            TextColumn("{task.fields[state]}", markup=False),
        ]
        columns += [TimeRemainingColumn()] if event.total is not None else []
        is_off = self.is_hidden or notes.quiet or not notes.is_terminal
        # rich would put itself in the place of the streams, and `notes`, which writes to these, would write to itself.
        self.bar = Progress(
            *columns, console=notes, disable=is_off, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self.bar.start()
        self.bar.add_task(remove_controls(event.task), total=event.total, state="")
        self.task, self.last = event.task, time.monotonic()
        if not notes.is_terminal:
            _say(event.task)


def run_watched(work: Callable[..., _T], *arguments: Any, **options: Any) -> _T:
    """Call what takes a listener as `tell`, and show its progress, which is gone when it returns."""
    with ProgressBars() as watch:
        return work(*arguments, tell=watch, **options)


def _say(line: str) -> None:
    notes.print(remove_controls(line), markup=False, highlight=False, soft_wrap=True)
