"""The command ``takagi``: one module a command."""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 for success, 1 for failure, 2 for misuse.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Examples
    --------
    >>> from takagi.cli import main
    >>> main(["data", "path"])  # doctest: +SKIP
    /home/ada/.cache/takagi
    """
    _mend_environment()
    try:
        from takagi.cli._app import run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f'The command takagi needs {package}: pip install "takagi[cli]"')
    run(sys.argv[1:] if arguments is None else list(arguments))


def _mend_environment() -> None:
    """Let streams that are closed be there, in the order of their numbers, and the width of lines not be zero.

    Where the standard output is closed, writing to it is an error, as for other commands.
    """
    for name, access, mode in (("stdin", os.O_RDONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode))
    if os.environ.get("COLUMNS", "80").strip("0") == "":  # as some containers have it; rich would print nothing
        del os.environ["COLUMNS"]


__all__ = ["main"]
