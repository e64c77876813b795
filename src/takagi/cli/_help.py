"""The help of commands: how to call them, and what each argument and option is for, in two columns."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from takagi.cli._console import console

_MOST_WIDTH = 100  # of lines that are easy to read

Row = tuple[str, str]


class PlainCommand(TyperCommand):
    """A command whose help says what to type, without boxes and types."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print_start(self, ctx, [_name_argument(one) for one in self.params if _is_argument(one)])
        _print_parameters(self, ctx)
        _print_end(self)


class PlainGroup(TyperGroup):
    """A group of commands whose help lists them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print_start(self, ctx, ["COMMAND"])
        found: list[tuple[str, Any]] = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        for title in dict.fromkeys(_name_section(command, "Commands") for _, command in found):
            here = [(name, command) for name, command in found if _name_section(command, "Commands") == title]
            _print_rows(title, [(name, _unwrap(command.help).split("\n\n")[0]) for name, command in here])
        _print_parameters(self, ctx)
        _print_end(self)


def _print_start(command: Any, ctx: Any, places: Iterable[str]) -> None:
    """Print how a command is called, and what it does."""
    needed = [_name_option(one)[1] for one in command.params if not _is_argument(one) and one.required]
    _print_lines(" ".join(["Usage:", ctx.command_path, *places, *needed, "[OPTIONS]"]))
    for paragraph in _unwrap(command.help).split("\n\n"):
        _print_lines(f"\n{paragraph}")


def _print_parameters(command: Any, ctx: Any) -> None:
    """Print what arguments and options are for."""
    shown = [one for one in command.get_params(ctx) if not getattr(one, "hidden", False)]
    _print_rows("Arguments", [(_name_argument(one), _describe(one)) for one in shown if _is_argument(one)])
    options = [one for one in shown if not _is_argument(one)]
    for title in dict.fromkeys(_name_section(one, "Options") for one in options):
        here = [one for one in options if _name_section(one, "Options") == title]
        _print_rows(title, [("".join(_name_option(one)), _describe(one)) for one in here])


def _print_end(command: Any) -> None:
    _print_lines(f"\n{command.epilog}" if command.epilog else "")


def _print_rows(title: str, rows: list[Row]) -> None:
    """Print names and what they are for, side by side."""
    if not rows:
        return
    console.print(Text(f"\n{title}", style="bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, words in rows:
        table.add_row(Text(f"  {name}", style="cyan"), Text(words))
    console.print(table, width=min(console.width, _MOST_WIDTH))


def _print_lines(text: str) -> None:
    console.print(Text(text), width=min(console.width, _MOST_WIDTH))


def _name_section(one: Any, default: str) -> str:
    return getattr(one, "rich_help_panel", None) or default


def _is_argument(parameter: Any) -> bool:
    return parameter.param_type_name == "argument"


def _name_argument(parameter: Any) -> str:
    """Return how an argument stands on the line, such as "TABLE" or "[NAME]..."."""
    name = parameter.metavar or parameter.name.upper()
    if parameter.metavar:
        return name
    name = name if parameter.required else f"[{name}]"
    return name + ("..." if parameter.nargs != 1 else "")


def _name_option(parameter: Any) -> Row:
    """Return the short name of an option, and the long one with its value, such as "-o, " and "--output MODEL"."""
    short = [name for name in parameter.opts if not name.startswith("--")]
    long = [name for name in parameter.opts if name.startswith("--")]
    value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or parameter.name.upper()}"
    return f"{short[0]}, " if short else "    ", long[0] + value


def _describe(parameter: Any) -> str:
    """Say what a parameter is for, and what it is if it is not given."""
    words = _unwrap(parameter.help or "")
    if parameter.required:
        return words if _is_argument(parameter) else f"{words} [required]"
    default = parameter.show_default
    if default is True and not getattr(parameter, "is_flag", False) and parameter.default not in (None, ()):
        default = getattr(parameter.default, "value", parameter.default)
        return f"{words} [default: {default}]"
    return f"{words} [default: {default}]" if isinstance(default, str) else words


def _unwrap(text: str | None) -> str:
    """Return text without line breaks in paragraphs."""
    return re.sub(r"(?<=\S)\n *(?=\S)", " ", inspect.cleandoc(text or ""))
