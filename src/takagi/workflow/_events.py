"""What a long piece of work tells on its way."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """How far a task is.

    Parameters
    ----------
    task : str
        What is done, in words, such as "Training 3 rules on 158 rows".
    done : int
        How many steps are done.
    total : int or None
        How many steps there are; None if nobody knows.
    unit : str
        What the steps are, such as "iterations".
    """

    task: str
    done: int
    total: int | None
    unit: str


Tell = Callable[[Event], object]  # an exception that it raises ends the work


def ignore(event: Event) -> None:
    """Take an event, and do nothing."""
