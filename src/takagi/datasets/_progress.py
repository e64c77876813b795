"""Progress of a download, on the standard error stream."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

Advance = Callable[[int, int | None], None]
"""Takes the bytes read so far and, if known, the total."""


@contextmanager
def show_download(name: str, url: str, quiet: bool = False) -> Iterator[Advance]:
    """Yield a function to report bytes to: a bar on a terminal with rich installed, else one line at the start."""
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty() and find_spec("rich"):
        with _bar(name) as advance:
            yield advance
    else:
        sys.stderr.write(f"downloading {url}\n")
        yield lambda done, total: None


@contextmanager
def _bar(name: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
