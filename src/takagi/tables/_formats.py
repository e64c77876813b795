"""Numbers and dates as people write them: "$1,234.50", "12.5 %", "1.234,5", "3 rooms", "03/11/2024 14:30".

A column has one form. It is detected from the distinct words of training and kept, so that new words are read in the
same way.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

_CURRENCY = (
    r"[A-Z]{0,2}[$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd\u20ba]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|BRL)\b"
)
_NUMBER = re.compile(
    rf"\s*(?P<open>\()?\s*(?P<sign>[-+\u2212])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[-\u2212])?"
    r"(?P<digits>\d[\d.,'\u2019\u00a0\u202f ]*|[.,]\d+)\s*(?P<after>[^\d\s.,()][^\d]{0,14}?)?\s*(?P<close>\))?\s*"
)
_GROUPS = {
    ".": re.compile(r"(\d{1,3}([,'\u2019\u00a0\u202f ]\d{3})+|\d+)?(\.\d*)?"),
    ",": re.compile(r"(\d{1,3}([.'\u2019\u00a0\u202f ]\d{3})+|\d+)?(,\d*)?"),
}
_SCALES = frozenset({"k", "m", "b", "bn", "mn", "mio", "mrd", "t", "e"})  # 3k and 3m would have different units
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s?([ap]m)?\s?(?:z|utc|[+-]\d{2}:?\d{2})?"
_TIMED = rf"(?:[t ,]+{_CLOCK})?"
_YEAR = r"(\d{4}|\d{2})"
_EPOCH = datetime(1970, 1, 1)


# -- numbers -----------------------------------------------------------------------------------------------------------


def find_number_form(words: Iterable[str]) -> str | None:
    """Return the form of numbers: the decimal sign and the unit; None if a word is not a number.

    >>> find_number_form(["$1,234.50", "$7"]), find_number_form(["1.234,5 kg", "0,5 kg"])
    ('.$', ',kg')
    >>> find_number_form(["$5", "7 EUR"]), find_number_form(["3k", "2k"]), find_number_form(["A1", "A2"])
    (None, None, None)
    """
    parted = [_part(word) for word in words]
    if not parted or None in parted:
        return None
    found = [one for one in parted if one is not None]
    units = {unit for _, unit, digits in found if unit or digits.strip("0.,")}
    unit = max(units, key=len, default="")
    if any(one.rstrip("s") != unit.rstrip("s") for one in units) or unit in _SCALES:
        return None
    for decimal, groups in _GROUPS.items():
        if all(groups.fullmatch(digits) for _, _, digits in found):
            return decimal + unit
    return None


def parse_in_form(word: str, form: str) -> float | None:
    """Return the number that a word represents, None if it does not have this form.

    >>> parse_in_form("-$1,234.50", ".$"), parse_in_form("(12)", "."), parse_in_form("3,5", ",kg")
    (-1234.5, -12.0, 3.5)
    >>> parse_in_form("5 EUR", ".$") is None
    True
    """
    parted, decimal, unit = _part(word), form[0], form[1:]
    if parted is None or (parted[1] and parted[1].rstrip("s") != unit.rstrip("s")):
        return None
    if _GROUPS[decimal].fullmatch(parted[2]) is None:
        return None
    digits = re.sub(r"[^\d.]", "", parted[2].replace("." if decimal == "," else ",", "").replace(",", "."))
    return parted[0] * float(digits)


def _part(word: str) -> tuple[float, str, str] | None:
    """Return the sign of a number in a word, its unit in lower case, and its digits with all separators."""
    match = _NUMBER.fullmatch(word)
    if match is None or (match["before"] and match["after"]) or bool(match["open"]) != bool(match["close"]):
        return None
    signs = (match["sign"] or "") + (match["inner"] or "")
    is_minus = bool(match["open"]) or "-" in signs or "\u2212" in signs
    unit = (match["before"] or match["after"] or "").strip().lower()
    return (-1.0 if is_minus else 1.0), unit, match["digits"].strip()


# -- dates -------------------------------------------------------------------------------------------------------------


def _match(pattern: str, order: str) -> tuple[re.Pattern[str], str]:
    return re.compile(rf"\s*{pattern}\s*", re.IGNORECASE), order


_DATES = {
    "y-m-d": _match(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_TIMED}", "ymd"),
    "d/m/y": _match(rf"(\d{{1,2}})[-/.](\d{{1,2}})[-/.]{_YEAR}{_TIMED}", "dmy"),
    "m/d/y": _match(rf"(\d{{1,2}})[-/.](\d{{1,2}})[-/.]{_YEAR}{_TIMED}", "mdy"),
    "d month y": _match(rf"(\d{{1,2}})[-. ]+([a-z]{{3,9}})[-., ]+{_YEAR}{_TIMED}", "dmy"),
    "month d y": _match(rf"([a-z]{{3,9}})\.? +(\d{{1,2}}),? +(\d{{4}}){_TIMED}", "mdy"),
    "y-m": _match(r"(\d{4})-(\d{2})", "ym"),
    "month y": _match(r"([a-z]{3,9})[- ](\d{4})", "my"),
    "y month": _match(r"(\d{4})[- ]([a-z]{3,9})", "ym"),
    "clock": _match(_CLOCK, ""),
}
DATE_FORMS = tuple(_DATES)


def find_date_form(words: Iterable[str]) -> str | None:
    """Return the form of dates, None if a word is not a date in the form of the others.

    If day and month cannot be distinguished, the day comes first.

    >>> find_date_form(["2024-03-01 10:30", "2024-12-24"]), find_date_form(["3/25/2024", "1/2/2024"])
    ('y-m-d', 'm/d/y')
    >>> find_date_form(["1 Mar 2024", "12 December 2023"]), find_date_form(["2024-03-01", "3/1/2024"])
    ('d month y', None)
    """
    words = list(words)
    forms = (form for form in DATE_FORMS if all(parse_date(word, form) is not None for word in words))
    return next(forms, None) if words else None


def parse_date(word: str, form: str) -> float | None:
    """Return the days since 1970 of a date, None if the word does not have this form.

    >>> parse_date("02.01.1970 12:00", "d/m/y"), parse_date("31.02.2020", "d/m/y"), parse_date("6:30 pm", "clock")
    (1.5, None, 0.7708333333333334)
    """
    pattern, order = _DATES[form]
    match = pattern.fullmatch(word)
    if match is None:
        return None
    groups = list(match.groups())
    numbers = {"y": 1970, "m": 1, "d": 1}
    for name, text in zip(order, groups, strict=False):
        number = _read_month(text) if name == "m" and not text.isdigit() else int(text)
        numbers[name] = number + (2000 if number < 70 else 1900) * (name == "y" and len(text) == 2)
    hours = _read_clock(groups[len(order) :])
    try:
        day = datetime(numbers["y"], numbers["m"], numbers["d"])
    except ValueError:
        return None
    return None if hours is None else (day - _EPOCH).days + hours / 24


def _read_month(name: str) -> int:
    """Return the number of a month, 0 if the word is not a month."""
    start = name.lower()[:3]
    return _MONTHS.index(start) + 1 if start in _MONTHS else 0


def _read_clock(groups: Sequence[str | None]) -> float | None:
    """Return the time of day in hours, None if it is invalid."""
    if not groups or groups[0] is None:
        return 0.0
    hour, minute, second = int(groups[0]), int(groups[1] or 0), float(groups[2] or 0)
    if groups[3]:
        hour = hour % 12 + 12 * (groups[3].lower() == "pm")
    return hour + minute / 60 + second / 3600 if hour < 24 and minute < 60 and second < 61 else None


# -- wrong words -------------------------------------------------------------------------------------------------------


def find_odd_word(words: Sequence[str]) -> tuple[str, int] | None:
    """Return what nearly all words are, "numbers" or "dates", and the index of the first that differs."""
    tests: list[tuple[str, Callable[[str], object]]] = [
        ("numbers", _part),
        ("dates", lambda word: any(parse_date(word, form) is not None for form in DATE_FORMS)),
    ]
    for what, is_one in tests:
        odd = [k for k, word in enumerate(words) if not is_one(word)]
        if len(words) > 4 and len(odd) <= 0.1 * len(words):
            return what, odd[0] if odd else _find_other_form(words, what)
    return None


def _find_other_form(words: Sequence[str], what: str) -> int:
    """Return the first word in another form than that of the first one."""
    form = (find_number_form if what == "numbers" else find_date_form)(words[:1])
    parse = parse_in_form if what == "numbers" else parse_date
    return next((k for k, word in enumerate(words) if form is None or parse(word, form) is None), 0)
