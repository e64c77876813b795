"""An encoder's description of one column, and how its cells become numbers."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from takagi._typing import FloatArray
from takagi.tables._cells import Cells, as_dates, as_numbers, as_truth, as_words
from takagi.tables._formats import DATE_FORMS

MISSING = "missing"
MEAN, RANK = "mean", "rank"
_NUMBER, _OF, _DAYS = "number ", " of ", "days since "
_PARTS = ("year", "month", "weekday", "hour")
_NAMES = {
    "month": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}
_MANY_YEARS, _MANY_MONTHS, _MANY_DAYS = 730, 300, 14  # fewest days for years, months, weekdays


@dataclass(frozen=True)
class Column:
    """An encoder's description of one column of a table, or of one part of a date.

    Parameters
    ----------
    name : str
        Its name, or ``x0, x1, ...`` in a table without names; for a part of a date, such as "sold month".
    kind : {"number", "boolean", "category"}
        Its kind.
    levels : tuple of str, default=()
        For a category, the words that have their own input, sorted; "missing" comes last. For a number with `values`,
        the words for them.
    fill : float or None, default=0.0
        For a number or boolean, what replaces a missing value: the median, or the more frequent of 0 and 1; None if it
        stays missing.
    has_missing : bool, default=False
        Whether values were missing in training, so that a separate input marks them.
    has_others : bool, default=False
        For words, whether training had more than the levels, because some were rare.
    source : str, default=""
        The column of the table, if its name differs.
    reading : str, default=""
        How cells become numbers: "" unchanged; "number ,kg" with this decimal sign and unit; "month of d/m/y" and
        similar for a part of a date in this form; "rank" by the order of the levels; "mean" by the mean of the target
        at each level.
    values : tuple of float, default=()
        For a number, the values of its levels.

    Examples
    --------
    >>> from takagi.tables import Column
    >>> Column("age", "number", fill=41.0, has_missing=True).inputs
    ('age', 'age=missing')
    >>> Column("fuel", "category", levels=("diesel", "petrol")).inputs
    ('fuel=diesel', 'fuel=petrol')
    >>> Column("sold month", "number", source="sold", reading="month of y-m-d").inputs
    ('sold month',)
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: float | None = 0.0
    has_missing: bool = False
    has_others: bool = False
    source: str = ""
    reading: str = ""
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Raise an error if the reading is invalid."""
        if not _is_reading(self.reading) or (self.values and len(self.values) != len(self.levels)):
            raise ValueError(f"Column {self.name!r} has the reading {self.reading!r}, which does not fit it.")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of its columns of the matrix; none if it never had a value."""
        if self.kind == "category":
            return tuple(f"{self.name}={level}" for level in self.levels)
        return (self.name, f"{self.name}={MISSING}") if self.has_missing else (self.name,)

    @property
    def origin(self) -> str:
        """Name of the column of the table that it is read from."""
        return self.source or self.name

    @property
    def is_date(self) -> bool:
        """Whether it is a part of a date."""
        return _OF in self.reading

    @property
    def is_words(self) -> bool:
        """Whether its cells are words, which are levels or unknown."""
        return self.kind == "category" or self.reading in (MEAN, RANK)

    @property
    def is_plain(self) -> bool:
        """Whether it is a number whose cells are read unchanged."""
        return self.kind == "number" and not self.reading

    def read(self, cells: Cells) -> FloatArray:
        """Return the numbers of a column other than a category, NaN for missing values and unknown words."""
        if self.kind == "boolean":
            return as_truth(cells, self.origin)
        if self.reading in (MEAN, RANK):
            codes, words = as_words(cells)
            known = dict(zip(self.levels, self.values, strict=True))
            numbers = [*(known.get(word, np.nan) for word in words), known.get(MISSING, np.nan)]
            return np.array(numbers, dtype=float)[codes]
        if self.is_date:
            part, form = self.reading.split(_OF, 1)
            return _take_part(as_dates(cells, self.origin, form), part)
        return as_numbers(cells, self.origin, self.reading.removeprefix(_NUMBER))


def list_origins(columns: Iterable[Column]) -> list[str]:
    """Return the names of the table's columns that columns are read from."""
    return list(dict.fromkeys(column.origin for column in columns))


def _is_reading(reading: str) -> bool:
    if reading in ("", MEAN, RANK):
        return True
    if reading.startswith(_NUMBER):
        return reading.removeprefix(_NUMBER)[:1] in (".", ",") and reading != _NUMBER
    part, _, form = reading.partition(_OF)
    return form in DATE_FORMS and (part in _PARTS or _is_day(part))


def _is_day(part: str) -> bool:
    try:
        return part.startswith(_DAYS) and not np.isnat(np.datetime64(part.removeprefix(_DAYS), "D"))
    except ValueError:
        return False


# -- dates -------------------------------------------------------------------------------------------------------------


def split_date(days: FloatArray, name: str, form: str) -> list[Column]:
    """Return the useful parts of a column of dates, given as days since 1970."""
    has_missing = bool(np.isnan(days).any())
    columns: list[Column] = []
    for part in _choose_parts(days[~np.isnan(days)]):
        names = _NAMES.get(part, ())
        columns.append(
            Column(
                name if name.lower().endswith(part) else f"{name} {part}",
                "number",
                names,
                float(np.nanmedian(_take_part(days, part))),
                has_missing and not columns,  # one missing-value input for all parts
                source=name,
                reading=f"{part}{_OF}{form}",
                values=tuple(map(float, range(1, len(names) + 1))),
            )
        )
    return columns


def _choose_parts(days: FloatArray) -> list[str]:
    """Return the parts of dates that vary, and are distinguishable over their period."""
    dates, span = np.floor(days).astype("datetime64[D]"), float(np.ptp(days))
    months = dates.astype("datetime64[M]")
    has_hours = len(np.unique(np.floor(24 * (days % 1) + 1e-6))) > 1
    is_monthly = bool((dates == months).all()) and not has_hours
    is_yearly = is_monthly and bool((months == dates.astype("datetime64[Y]")).all())
    elapsed = "year" if span >= _MANY_YEARS else f"{_DAYS}{dates.min()}"
    chosen = {
        elapsed: span >= 1,
        "month": span >= _MANY_MONTHS and not is_yearly,
        "weekday": span >= _MANY_DAYS and not is_monthly,
        "hour": has_hours,
    }
    return [part for part, is_needed in chosen.items() if is_needed]


def _take_part(days: FloatArray, part: str) -> FloatArray:
    """Return a part of dates, given as days since 1970."""
    if part == "hour":
        return np.floor(24 * (days % 1) + 1e-6)
    if part.startswith(_DAYS):
        return days - float(np.datetime64(part.removeprefix(_DAYS), "D").astype(int))
    known = ~np.isnan(days)
    dates = np.floor(np.where(known, days, 0)).astype("datetime64[D]")
    years, months = dates.astype("datetime64[Y]"), dates.astype("datetime64[M]")
    if part == "month":
        numbers = 1.0 + (months - years.astype("datetime64[M]")).astype(float)
    elif part == "weekday":
        numbers = 1.0 + (dates.astype(int) + 3) % 7  # 1970 began on a Thursday
    else:
        start, stop = (moment.astype("datetime64[D]").astype(float) for moment in (years, years + 1))
        numbers = 1970.0 + years.astype(float) + (days - start) / (stop - start)
    return np.where(known, numbers, np.nan)
