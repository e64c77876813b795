"""What can go wrong with a table."""

from typing import Any


class DatasetError(ValueError):
    """A dataset cannot be read or learned from.

    Parameters
    ----------
    message : str
        What was expected, what came, what to do.
    about : str, default=""
        The parameter that would help, such as "names"; a program can add how it is set there.

    Attributes
    ----------
    model : Pipeline, TSKRegressor or None
        The best rules so far, if there were any when it happened; it predicts and can be saved.
    """

    model: Any = None

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about


class RequestError(DatasetError):
    """What is asked of a table is not there, such as a file, a column or a sheet: another request would do."""


class HeaderWarning(UserWarning):
    """The names of a table look like data."""


class ColumnWarning(UserWarning):
    """A column of a table makes no input."""


class TitleWarning(UserWarning):
    """A table has rows above its names, which are left out."""


class SheetWarning(UserWarning):
    """A file has several sheets, and the first one is read."""
