"""The root of the command line: its commands, and what happens to errors and warnings."""

import errno
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer

from takagi._extrapolation import ExtrapolationWarning
from takagi._text import remove_controls
from takagi.cli import (
    _compare,
    _data,
    _demo,
    _experiment,
    _explain,
    _export,
    _fit,
    _plot,
    _predict,
    _report,
    _rules,
    _simplify,
)
from takagi.cli._console import Misuse, forget, notes, print_error, print_note, set_output
from takagi.tables import DatasetError, HeaderWarning, RequestError, SheetWarning

_INTERRUPTED = 130  # what a shell makes of Ctrl-C

_OPTIONS = (
    "names",
    "no_header",
    "sheet",
    "drop",
    "target",
    "committee",
    "row",
    "intervals",
    "group",
    "time",
    "member",
)  # that errors are about
_HINTS: dict[type[Warning], str] = {
    HeaderWarning: "If its first line is data, pass --no-header or --names.",
    SheetWarning: "See --sheet.",
}

MAKE, READ, PAPER = "Make and use a model", "Read a model", "The paper"
COMMANDS: list[tuple[str, Callable, str, str]] = [
    ("fit", _fit.fit, MAKE, "takagi fit houses.csv --target price -o houses.takagi"),
    ("predict", _predict.predict, MAKE, "takagi predict houses.takagi new.csv -o out.csv --keep address"),
    ("rules", _rules.rules, READ, "takagi rules houses.takagi"),
    ("explain", _explain.explain, READ, "takagi explain houses.takagi new.csv --row 3"),
    ("report", _report.report, READ, "takagi report houses.takagi houses.csv -o report.html --open"),
    ("plot", _plot.plot, READ, "takagi plot houses.takagi membership houses.csv -o sets.png"),
    ("compare", _compare.compare, READ, "takagi compare old.takagi new.takagi houses.csv"),
    ("simplify", _simplify.simplify_model, MAKE, "takagi simplify houses.takagi houses.csv -o small.takagi"),
    ("export", _export.export, MAKE, "takagi export houses.takagi --to onnx"),
    ("demo", _demo.demo, MAKE, "takagi demo"),
]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for name, function, panel, example in COMMANDS:
    text = re.sub(r"(?<=\S)\n *(?=\S)", " ", function.__doc__ or "")  # typer would keep the line breaks
    has_arguments = name != "demo"
    app.command(name, help=text, epilog=f"Example: {example}", rich_help_panel=panel, no_args_is_help=has_arguments)(
        function
    )
app.add_typer(_data.data_app, name="data", rich_help_panel=PAPER)
app.add_typer(_experiment.experiment_app, name="experiment", rich_help_panel=PAPER)


def run(arguments: list[str]) -> NoReturn:
    """Run a command; an error, or each of a group, is a message and an exit code, or with ``--debug`` a traceback."""
    debug = "--debug" in arguments
    set_output()
    try:
        with _show_remarks(debug):
            code = app([word for word in arguments if word != "--debug"], prog_name="takagi", standalone_mode=False)
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except Exception as error:
        if debug:
            raise
        code = _tell(error)
        _forget_output()
    finally:
        set_output()
    if code == _INTERRUPTED:
        print_error("stopped; what was finished is kept, and no file is left half-written.")
    raise SystemExit(code or 0)


def _tell(error: Exception) -> int:
    """Print what went wrong, and return the exit code."""
    if hasattr(error, "format_message"):  # typer's own: an unknown option, a value out of range, no arguments
        if type(error).__name__ != "NoArgsIsHelpError":  # the help is printed by then
            context = getattr(error, "ctx", None)
            print_error(error.format_message() + (f"\nTry: {context.command_path} --help" if context else ""))
        return getattr(error, "exit_code", 1)
    if isinstance(error, BrokenPipeError):  # the reader, such as head, has what it wanted
        return 1
    for one in error.exceptions if isinstance(error, ExceptionGroup) else [error]:
        print_error(word_error(one))
    return 2 if isinstance(error, Misuse | RequestError) else 1


def _forget_output() -> None:
    """Drop what cannot be written to the standard output any more, so that Python does not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        forget(sys.stdout)


def word_error(error: Exception) -> str:
    """Say in a line what went wrong."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "there is no room for the output on the disk; nothing is left of it. Make room, or write elsewhere."
    if isinstance(error, OSError) and error.errno == errno.EBADF:
        return "the standard output is closed."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}{f': {os.fspath(error.filename)}' if error.filename else ''}"
    if isinstance(error, MemoryError):
        return "there is not enough memory. Take fewer rows or columns."
    about = error.about if isinstance(error, DatasetError) and error.about in _OPTIONS else ""
    return (str(error) or type(error).__name__) + (f" See --{about.replace('_', '-')}." if about else "")


@contextmanager
def _show_remarks(debug: bool) -> Iterator[None]:
    """Show the library's warnings and log messages as remarks; those for developers only with ``--debug``."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        hint = _HINTS.get(category, "")
        print_note(f"{message} {hint}".rstrip())

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notes.print(remove_controls(record.getMessage()), markup=False, highlight=False)

    logger, handler = logging.getLogger("takagi"), Handler()
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", UserWarning)
                warnings.filterwarnings("ignore", "Training was interrupted")  # `run` says so
                warnings.simplefilter("ignore", ExtrapolationWarning)  # `predict` counts all rows
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("takagi"))
        raise typer.Exit


@app.callback(epilog="Example: takagi demo")
def takagi(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere on the line.")
    ] = False,
) -> None:
    """Takagi-Sugeno-Kang fuzzy regression: from a table to a handful of IF-THEN rules."""
