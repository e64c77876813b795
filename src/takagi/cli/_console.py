"""What commands share: how they print.

Results go to the standard output; remarks, progress and errors go to the standard error stream.
"""

import io
import json
import math
import os
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from takagi._text import remove_controls, shorten

_CONTROLS = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # that JSON may hold as they are


def forget(stream: TextIO) -> None:
    """Let go of what a stream cannot take any more, so that Python does not try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _PatientConsole(Console):
    """A console that falls silent when its reader, such as head, has gone, so that the command still does its work."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        forget(sys.stdout)


class _Remarks(io.TextIOBase):
    """The standard error stream; remarks that it cannot take are lost, and the command still does its work."""

    encoding = property(lambda self: sys.stderr.encoding)

    def write(self, text: str) -> int:
        try:
            return sys.stderr.write(text)
        except OSError:
            forget(sys.stderr)
            return len(text)

    def flush(self) -> None:
        try:
            sys.stderr.flush()
        except OSError:
            forget(sys.stderr)

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    def fileno(self) -> int:
        return sys.stderr.fileno()


console = _PatientConsole()
notes = Console(file=_Remarks())  # type: ignore[arg-type]
_error_console = Console(file=_Remarks())  # type: ignore[arg-type]


class Misuse(Exception):  # noqa: N818
    """What the command line asks for cannot be; the message says what to ask for. Exit code 2."""


def set_output(*, quiet: bool = False, silent: bool = False) -> None:
    """Say what a command prints: no remarks and progress if `quiet`, no text as its result if `silent`."""
    notes.quiet = quiet
    console.quiet = silent


def print_json(value: Any) -> None:
    """Print a value as JSON; what could steer a terminal is escaped."""
    text = json.dumps(_without_nan(value), indent=2, ensure_ascii=False, default=float)
    typer.echo(_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _without_nan(value: Any) -> Any:
    """Return the value with null for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_text(text: str) -> None:
    """Print text as it is: no markup, no colors, no other line breaks."""
    console.print(Text(remove_controls(text)), soft_wrap=True)


def print_note(message: str) -> None:
    """Print a remark on the standard error stream."""
    _print_message(notes, Text("Note:", style="yellow"), message)


def print_error(message: str) -> None:
    """Print what went wrong on the standard error stream."""
    _print_message(_error_console, Text("Error:", style="bold red"), message)


def _print_message(on: Console, start: Text, message: str) -> None:
    """Print a message; on a terminal lines end between words, and elsewhere it is one line."""
    on.print(Text.assemble(start, " ", remove_controls(message)), soft_wrap=not on.is_terminal)


def cell(text: str, longest: int = 40, style: str = "") -> Text:
    """Return text for a cell of a table: one line of bounded length, and right-to-left letters kept together."""
    line = shorten(text, longest)
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in line):
        line = f"\u2068{line}\u2069"
    return Text(line, style=style)


def make_table(*headings: str, title: str | None = None) -> Table:
    """Return an empty table; a heading that starts with ">" is of a column of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    for heading in headings:
        is_number = heading.startswith(">")
        table.add_column(heading.removeprefix(">"), justify="right" if is_number else "left", overflow="fold")
    return table


def write_errors(values: Sequence[float]) -> list[str]:
    """Write numbers that are compared with each other to one decimal place, the largest with four digits.

    >>> write_errors([2.655, 0.19814]), write_errors([3544.71, 12.2])
    (['2.655', '0.198'], ['3545', '12'])
    """
    largest = max(abs(value) for value in values)
    if not 1e-6 <= largest < 1e12:
        return [f"{value:.4g}" for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:.{decimals}f}" for value in values]
