"""The text of adjustments: a list of values of one column, with what is added for each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from takagi._text import wrap

if TYPE_CHECKING:
    from takagi._wording import Reading
    from takagi.rulebase import RuleBase

_MOST_RULES = 3  # of an adjustment, that are written one by one


def list_values(part: "RuleBase", readings: "Sequence[Reading]", outputs: Sequence[str]) -> list[str]:
    """Write rules that only add a number in each interval of one column as a list; nothing for other rules."""
    columns = {one.column for reading in readings for one in reading.conditions}
    adds_numbers = part.intervals is not None and not part.consequents[:, :, 1:].any()
    is_list = adds_numbers and len(columns) == 1 and all(len(reading.conditions) == 1 for reading in readings)
    if not is_list or len(readings) <= _MOST_RULES or readings[0].part == 0:
        return []
    readings = sorted(readings, key=lambda reading: reading.number)
    lines = [f"Rules {readings[0].number} to {readings[-1].number}, by {columns.pop()}"]
    for k, name in enumerate(outputs):
        entries = [f"{reading.conditions[0].word}: {_sign(reading.formulas[k][0])};" for reading in readings]
        lines.append(wrap(f"  ADD to {name}:", [*entries[:-1], entries[-1].rstrip(";")], " " * 5))
    return lines


def _sign(number: str) -> str:
    """Write the sign of a number, also if it is positive.

    >>> _sign("1.8"), _sign("-0.6"), _sign("0")
    ('+1.8', '-0.6', '0')
    """
    return number if number.startswith("-") or number == "0" else f"+{number}"
