"""The root of the command line: its commands, and what happens to errors and warnings."""

import errno
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, NamedTuple, NoReturn

import typer

from takagi import __version__
from takagi._text import remove_controls
from takagi.cli._console import Misuse, forget, notes, print_error, print_note, set_output
from takagi.cli._help import PlainCommand, PlainGroup

_INTERRUPTED = 130  # what a shell makes of Ctrl-C

_HINTS = {
    "HeaderWarning": "If its first line is data, pass --no-header or --names.",
    "SheetWarning": "See --sheet.",
    "TitleWarning": "See --header-row.",
}
_OPTIONS = (
    "names", "no_header", "sheet", "drop", "target", "committee", "row", "intervals", "group", "time", "member",
    "task", "no_score", "interval", "header_row", "query",
)  # that errors are about  # fmt: skip

_OPTIONS_OF_FIT = ("intervals", "committee")  # that errors of other commands are about

MAKE, READ, PAPER = "Make and use a model", "Read a model", "The paper"


class Command(NamedTuple):
    """A command, or a group of them, whose module is imported when it is called: `takagi --help` needs none."""

    name: str
    place: str  # module and name in it
    section: str
    summary: str  # the first sentence of its help
    example: str = ""


COMMANDS = [
    Command(
        "fit",
        "_fit.fit",
        MAKE,
        "Fit a few rules to a table, say how well they predict, print them and write them to a file.",
        "takagi fit houses.csv --target price -o houses.takagi",
    ),
    Command(
        "predict",
        "_predict.predict",
        MAKE,
        "Predict every row of a table.",
        "takagi predict houses.takagi new.csv -o out.csv --keep address",
    ),
    Command(
        "update",
        "_update.update_file",
        MAKE,
        "Let a model go on with the new rows of TABLE, which holds the target, too, and say what changed.",
        "takagi update houses.takagi new.csv -o houses-2.takagi",
    ),
    Command(
        "rules",
        "_rules.rules",
        READ,
        "Print the rules of a model, those that govern most rows first.",
        "takagi rules houses.takagi",
    ),
    Command(
        "explain",
        "_explain.explain",
        READ,
        "Explain predictions: what each column adds to the average row's, and which rules fire.",
        "takagi explain houses.takagi new.csv --row 3",
    ),
    Command(
        "report",
        "_report.report",
        READ,
        "Write a page about a model: its rules, its score, what matters, and what would happen if.",
        "takagi report houses.takagi houses.csv -o report.html --open",
    ),
    Command(
        "plot",
        "_plot.plot",
        READ,
        "Draw a model: its sets, its rules at a glance, training, shares, response, importance, or one prediction.",
        "takagi plot houses.takagi membership houses.csv -o sets.png",
    ),
    Command(
        "compare",
        "_compare.compare",
        READ,
        "Compare two models on the rows of TABLE, which holds the target, too.",
        "takagi compare old.takagi new.takagi houses.csv",
    ),
    Command(
        "simplify",
        "_simplify.simplify_model",
        MAKE,
        "Make a model smaller: without limits, at most 5 rules with at most 3 conditions and 4 terms each.",
        "takagi simplify houses.takagi houses.csv -o small.takagi",
    ),
    Command(
        "export",
        "_export.export",
        MAKE,
        "Write the rules for another runtime: ONNX, Matlab or Octave, C, or JSON for a web page.",
        "takagi export houses.takagi --to onnx",
    ),
    Command(
        "demo",
        "_demo.demo",
        MAKE,
        "Fit a small table, print score and rules, and write nothing unless asked.",
        "takagi demo",
    ),
    Command(
        "warm-up",
        "_warm_up.fill_cache",
        MAKE,
        "Compile what fits and predictions need and keep it, so that the first fit does not wait.",
        "takagi warm-up",
    ),
    Command(
        "data",
        "_data.data_app",
        PAPER,
        "List and fetch the paper's 22 regression sets.",
    ),
    Command(
        "experiment",
        "_experiment.experiment_app",
        PAPER,
        "Run the paper's experiments, draw its figures, judge its claims.",
    ),
]
_WITHOUT_ARGUMENTS = ("demo", "warm-up")


def make_app(words: list[str]) -> typer.Typer:
    """Return the command line, with what belongs to the command that is called, and the others by name only."""
    app = typer.Typer(cls=PlainGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback(epilog="Example: takagi demo")(takagi)
    called = next((word for word in words if not word.startswith("-")), "")
    for command in COMMANDS:
        if command.name != called:
            app.command(command.name, help=command.summary, rich_help_panel=command.section)(_stand_in)
        else:
            _add_command(app, command)
    return app


def _add_command(app: typer.Typer, command: Command) -> None:
    """Import a command and add it with its options."""
    module, name = command.place.split(".")
    function = getattr(import_module(f"takagi.cli.{module}"), name)
    if isinstance(function, typer.Typer):
        app.add_typer(function, name=command.name, rich_help_panel=command.section)
        return
    app.command(
        command.name,
        cls=PlainCommand,
        help=function.__doc__,
        epilog=f"Example: {command.example}",
        rich_help_panel=command.section,
        no_args_is_help=command.name not in _WITHOUT_ARGUMENTS,
    )(function)


def _stand_in() -> None:
    """Stand for a command that is not called."""


def run(arguments: list[str]) -> NoReturn:
    """Run a command; an error, or each of a group, is a message and an exit code, or with ``--debug`` a traceback."""
    debug, words = "--debug" in arguments, [word for word in arguments if word != "--debug"]
    set_output()
    try:
        with _show_remarks(debug):
            code = make_app(words)(words, prog_name="takagi", standalone_mode=False)
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
    from takagi.tables import RequestError

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
    from takagi.tables import DatasetError

    if isinstance(error, MemoryError):
        return "there is not enough memory. Take fewer rows or columns."
    about = error.about if isinstance(error, DatasetError) and error.about in _OPTIONS else ""
    option = f"{'takagi fit ' if about in _OPTIONS_OF_FIT else ''}--{about.replace('_', '-')}"
    return (str(error) or type(error).__name__) + (f" See {option}." if about else "")


@contextmanager
def _show_remarks(debug: bool) -> Iterator[None]:
    """Show the library's warnings and log messages as remarks; those for developers only with ``--debug``."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        from takagi import ExtrapolationWarning

        if debug or not issubclass(category, ExtrapolationWarning):  # `predict` counts all rows
            print_note(f"{message} {_HINTS.get(category.__name__, '')}".rstrip())

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
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def takagi(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere on the line.")
    ] = False,
) -> None:
    """Takagi-Sugeno-Kang fuzzy models: from a table to a handful of IF-THEN rules."""
