"""The root of the command line: its commands, and what happens to errors."""

from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from takagi.cli import _data, _experiment
from takagi.cli._console import print_error

COMMANDS = {
    "data": _data.app,
    "experiment": _experiment.app,
}

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for name, command in COMMANDS.items():
    app.add_typer(command, name=name)


def run(arguments: list[str]) -> NoReturn:
    """Run a command; an error, or each of a group, is a message and exit code 1, or with ``--debug`` a traceback."""
    debug = "--debug" in arguments
    try:
        app([word for word in arguments if word != "--debug"], prog_name="takagi")
    except KeyboardInterrupt:
        print_error("stopped; what was finished is kept.")
        raise SystemExit(130) from None
    except Exception as error:
        if debug:
            raise
        for one in error.exceptions if isinstance(error, ExceptionGroup) else [error]:
            print_error(str(one) or type(one).__name__)
    raise SystemExit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("takagi"))
        raise typer.Exit


@app.callback(epilog="Example: takagi data list")
def takagi(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Takagi-Sugeno-Kang fuzzy regression."""
