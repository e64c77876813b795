"""Progress: a bar on a terminal, a plain line now and then elsewhere."""

import time

from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from takagi.cli._console import notes

_SECONDS_BETWEEN_LINES = 10.0


class Watch:
    """Progress of one piece of work on the standard error stream.

    Parameters
    ----------
    label : str
        What is going on.
    total : int or None
        How many steps there are; None if nobody knows.
    unit : str
        What the steps are.
    """

    def __init__(self, label: str, total: int | None, unit: str) -> None:
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        columns: list[ProgressColumn] = [
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[state]}"),
        ]
        columns += [TimeRemainingColumn()] if total is not None else []
        self.bar = Progress(*columns, console=notes, disable=notes.quiet or not notes.is_terminal, transient=True)

    def __enter__(self) -> "Watch":
        self.bar.start()
        self.task = self.bar.add_task(self.label, total=self.total, state="")
        self.last = time.monotonic()
        if not notes.is_terminal:
            self._say(self.label)
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def advance(self, n_steps: int = 1) -> None:
        """Tell that some more steps are done."""
        self.done += n_steps
        of = "" if self.total is None else f" of {self.total:,}"
        state = f"{self.done:,}{of} {self.unit}"
        self.bar.update(self.task, completed=self.done, total=self.total, state=state)
        if not notes.is_terminal and time.monotonic() - self.last > _SECONDS_BETWEEN_LINES:
            self.last = time.monotonic()
            self._say(f"  {state}")

    def reach(self, n_done: int, total: int) -> None:
        """Tell how many steps are done, of how many."""
        self.total = total
        self.advance(n_done - self.done)

    def _say(self, line: str) -> None:
        notes.print(line, markup=False, highlight=False, soft_wrap=True)
