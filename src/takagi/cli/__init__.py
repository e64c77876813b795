"""The command ``takagi``: one module a command."""

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
    try:
        from takagi.cli._app import run
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("typer", "rich"):
            raise
        sys.exit(f'The command takagi needs {package}: pip install "takagi[cli]"')
    run(sys.argv[1:] if arguments is None else list(arguments))


__all__ = ["main"]
