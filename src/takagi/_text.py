"""Formatting of numbers, names and lines."""

import math
import re
import unicodedata
from collections.abc import Sequence

LINE = 80
_LONGEST_NAME = 40
_DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # of Unicode's bidirectional algorithm
_SMALLEST, _LARGEST = 5e-324, 1.7e308  # range of positive numbers with a power of ten


def format_number(value: float) -> str:
    """Write a number with four significant digits, or all those before the point; no trailing zeros, no minus zero.

    >>> format_number(83791.4), format_number(0.000123456), format_number(-0.0), format_number(2.5e12)
    ('83791', '0.0001235', '0', '2.5e+12')
    """
    text = f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return "0" if float(text) == 0 else text


def format_to_step(value: float, step: float) -> str:
    """Write a number to the decimal place of a step, a power of ten; any finite number can be written.

    >>> format_to_step(26.26, 0.1), format_to_step(1234.5, 100.0), format_to_step(-0.004, 0.01)
    ('26.3', '1200', '0')
    """
    value = float(value)  # NumPy rounds by multiplication, which overflows
    decimals = -round(math.log10(max(step, _SMALLEST)))
    rounded = round(value, decimals) if abs(decimals) < 300 else value
    if rounded == 0 or abs(value) < step / 2:
        return "0"
    if 1e-4 <= abs(rounded) < 1e7 and decimals <= 8:
        return f"{rounded:.{max(decimals, 0)}f}"
    digits = math.floor(math.log10(abs(rounded))) + decimals + 1
    digits = 17 if abs(rounded) >= 1e308 else digits  # rounding up could overflow
    return f"{rounded:.{min(max(digits, 1), 17)}g}"


def step_below(size: float) -> float:
    """Return the largest power of ten that is not above a positive number, 0 if the number is too small."""
    return 10.0 ** math.floor(math.log10(min(max(size, _SMALLEST), _LARGEST)) + 1e-12)


def format_share(share: float) -> str:
    """Write a fraction of the data in percent.

    >>> format_share(0.456), format_share(0.004), format_share(0.0)
    ('46 %', '<1 %', '0 %')
    """
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def format_probability(probability: float) -> str:
    """Write a probability in percent; rounding never makes it 0 or 100 %.

    >>> format_probability(0.8312), format_probability(0.99999), format_probability(0.0002)
    ('83.1 %', '>99.9 %', '<0.1 %')
    """
    if probability < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if probability > 0.9995 else f"{100 * probability:.1f} %"


def remove_controls(text: str) -> str:
    r"""Return text without characters that control a terminal or the direction of letters.

    Control characters other than line breaks, and those that override the direction of letters, are replaced by a mark.

    >>> remove_controls("\x1b[31mred\u202e")
    '\ufffd[31mred\ufffd'
    """
    text = text.replace("\r\n", "\n")
    return text if text.isascii() and text.isprintable() else "".join(map(_show, text))


def _show(letter: str) -> str:
    is_control = unicodedata.category(letter) == "Cc" or unicodedata.bidirectional(letter) in _DIRECTIONS
    return "\ufffd" if is_control and letter != "\n" else letter


def shorten(name: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name on one line, without control characters; a long one is shortened in the middle.

    >>> shorten("a  name "), shorten("x" * 30 + "y" * 30, longest=11)
    ('a name', 'xxxxx...yyy')
    """
    line = remove_controls(re.sub(r"\s+", " ", name)).strip() or repr(name)
    if len(line) <= longest:
        return line
    tail = (longest - 3) * 2 // 5
    return f"{line[: longest - 3 - tail]}...{line[len(line) - tail :]}"


def quote(name: str) -> str:
    """Return a name for a message, in quotation marks and on one line."""
    return f"'{shorten(name)}'"


def count(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else re.sub('y$', 'ie', noun) + 's'}"


def write_number(value: float) -> str:
    """Write a number for a table, with a power of ten only if it is very large or small.

    >>> write_number(11488.0), write_number(1234567.8), write_number(0.123456789), write_number(-0.0)
    ('11488', '1,234,568', '0.12346', '0')
    """
    if 1e5 <= abs(value) < 1e12:
        return f"{value:,.0f}"
    return f"{value:.5g}" if value else "0"


def join_terms(weights: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the terms of a linear formula, each with its sign; weights are text, bias first; "0" is omitted."""
    terms = [(w, f" {name}" if name else "") for w, name in zip(weights, ["", *names], strict=True) if w != "0"]
    first, *rest = terms or [("0", "")]
    return ["".join(first), *(f"{'-' if w.startswith('-') else '+'} {w.lstrip('-')}{name}" for w, name in rest)]


def wrap(head: str, words: Sequence[str], indent: str, line: int = LINE) -> str:
    """Join words to lines of limited length, without breaking words that fit on one line."""
    lines = [head]
    for word in words:
        pieces = [word] if len(indent) + len(word) < line else word.split(" ")
        for piece in pieces:
            if len(lines[-1]) + 1 + len(piece) > line and lines[-1].strip():
                lines.append(indent)
            lines[-1] += (" " if not lines[-1].endswith(" ") and lines[-1] else "") + piece
    return "\n".join(lines)
