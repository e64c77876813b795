"""Errors and warnings about tables."""

from typing import Any


class DatasetError(ValueError):
    """A dataset cannot be read or learned from.

    Parameters
    ----------
    message : str
        What was expected, what was found, and what to do.
    about : str, default=""
        The parameter that would help, such as "names"; a program can add how to set it.

    Attributes
    ----------
    model : Pipeline, TSKRegressor or None
        The best rules so far, if there were any; they can predict and be saved.
    """

    model: Any = None

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about


class RequestError(DatasetError):
    """A requested file, column or sheet does not exist; another request would work."""


class HeaderWarning(UserWarning):
    """The names of a table look like data."""


class ColumnWarning(UserWarning):
    """A column of a table makes no input."""


class TitleWarning(UserWarning):
    """A table has rows above its names, which are ignored."""


class SheetWarning(UserWarning):
    """A file has several sheets, and the first one is read."""
