"""What commands share: how they print."""

import json
from typing import Any

import typer
from rich.console import Console

console = Console()
_error_console = Console(stderr=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_error(message: str) -> None:
    """Print what went wrong on the standard error stream."""
    _error_console.print("Error:", style="bold red", end=" ")
    _error_console.print(message, markup=False, highlight=False, soft_wrap=True)
