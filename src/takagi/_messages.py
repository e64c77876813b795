"""Errors and warnings that several modules raise."""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

_MOST = 30  # names listed in an error
_LIBRARIES = (
    "takagi",
    "sklearn",
    "joblib",
    "functools",
    "contextlib",
    "concurrent",
    "threading",
)  # not the user's code


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, ignoring case, or None if none is similar.

    >>> find_nearest("prise", ["Price", "rooms"])
    'Price'
    """
    lowered = {word.lower(): word for word in known}
    near = get_close_matches(name.lower(), lowered, n=1, cutoff=0.55)
    return lowered[near[0]] if near else None


def unknown_name(what: str, name: object, known: Iterable[str]) -> ValueError:
    """Return an error that suggests the nearest known name and lists at most 30 known ones.

    >>> unknown_name("optimizer", "adma", ["sgdm", "adam"])
    ValueError("optimizer 'adma' is unknown, did you mean 'adam'? Choose from 'sgdm', 'adam'.")
    """
    known = list(known)
    near = find_nearest(str(name), known)
    hint = f", did you mean {near!r}?" if near is not None else "."
    listed = ", ".join(map(repr, known[:_MOST])) + (f" and {len(known) - _MOST} more" if len(known) > _MOST else "")
    return ValueError(f"{what} {name!r} is unknown{hint} Choose from {listed}.")


def need_extra(package: str, extra: str) -> Any:
    """Import an optional package, or raise an error that says what to install."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f'This needs {package}: pip install "takagi[{extra}]"') from error


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's own code, regardless of calls of libraries in between."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
