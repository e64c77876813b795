"""What commands share: how they print."""

import json
from typing import Any

import typer
from rich.console import Console

console = Console()
_error_console = Console(stderr=True)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(_without_nan(value), indent=2, ensure_ascii=False, default=float))


def _without_nan(value: Any) -> Any:
    """Return the value with null for NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and value != value else value


def print_error(message: str) -> None:
    """Print what went wrong on the standard error stream."""
    _error_console.print("Error:", style="bold red", end=" ")
    _error_console.print(message, markup=False, highlight=False, soft_wrap=True)
