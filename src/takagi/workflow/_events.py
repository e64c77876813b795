"""Progress of long tasks."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """The progress of a task.

    Parameters
    ----------
    task : str
        Description of the task, such as "Training 3 rules on 158 rows".
    done : int
        Number of steps done.
    total : int or None
        Total number of steps; None if it is not known.
    unit : str
        What the steps are, such as "iterations".
    """

    task: str
    done: int
    total: int | None
    unit: str


Tell = Callable[[Event], object]  # an exception that it raises ends the task


def ignore(event: Event) -> None:
    """Take an event, and do nothing."""
