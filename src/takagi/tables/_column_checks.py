"""Checks of single columns: identifiers, codes, constants, rare levels, outliers and missing values."""

import re
from collections.abc import Iterator

import numpy as np
from scipy.stats import kstest

from takagi._text import count, quote, shorten, write_number
from takagi._typing import FloatArray
from takagi.tables._findings import Finding
from takagi.tables._formats import find_odd_word
from takagi.tables._readings import ColumnReading

_FEWEST = 20  # fewest rows for which a column can be recognized as an identifier
_ID_NAMES = frozenset({"id", "key", "uid", "uuid", "idx", "index", "serial", "no", "nr", "number", "case", "record"})
_CODE_NAMES = frozenset(
    {"id", "key", "code", "zip", "zipcode", "postal", "postcode", "plz", "fips", "sic", "naics", "iso"}
)
_PLACEHOLDERS = frozenset(sign * value for value in (99.0, 999.0, 9999.0, 99999.0, 999999.0) for sign in (1, -1))
_YEARS = (1500, 2100)


def check_column(reading: ColumnReading, target: FloatArray | None) -> Iterator[Finding]:
    """Yield the findings about one column; `target` is a matrix with NaN where it is missing."""
    finding = (
        _check_constant(reading)
        or _check_mixed(reading)
        or _check_identifier(reading)
        or _check_code(reading)
        or _check_placeholder(reading)
        or _check_outliers(reading)
        or _check_levels(reading)
    )
    if finding is not None:
        yield finding
    if target is not None and (missing := _check_missing(reading, target)) is not None:
        yield missing


def split_name(name: str) -> list[str]:
    """Return the words of a name.

    >>> split_name("orderID"), split_name("zip_code.2")
    (['order', 'id'], ['zip', 'code', '2'])
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+|(?<=[A-Za-z])(?=\d)", " ", name)
    return parted.lower().split()


# -- constants and levels ----------------------------------------------------------------------------------------------


def _check_constant(reading: ColumnReading) -> Finding | None:
    n_rows, most = len(reading.codes), int(reading.counts.max())
    word = shorten(reading.words[int(reading.counts.argmax())])
    if most == n_rows:
        return Finding("constant", (reading.name,), f"{quote(word)} in every row", "Leave it out.")
    n_other = reading.n_present - most
    if n_rows >= 100 and 0 < n_other <= 0.01 * n_rows and reading.n_present == n_rows:
        return Finding(
            "nearly constant",
            (reading.name,),
            f"{quote(word)} in all but {count(n_other, 'row')} of {n_rows:,}",
            "What rules say of the others rests on these few rows.",
        )
    return None


def _check_levels(reading: ColumnReading) -> Finding | None:
    """Find levels of a category that occur in only a few rows."""
    if reading.kind != "category":
        return None
    rare = [k for k, n in enumerate(reading.counts) if 0 < n <= 5 and n < 0.01 * len(reading.codes)]
    if not rare or len(rare) > 0.5 * reading.n_distinct:  # names rather than levels
        return None
    shown = ", ".join(f"{quote(reading.words[k])} in {count(int(reading.counts[k]), 'row')}" for k in rare[:3])
    return Finding(
        "rare levels",
        (reading.name,),
        f"{shown}{', ...' if len(rare) > 3 else ''} of {len(reading.codes):,}",
        "Merge them with others, or do not rely on what rules say of them.",
    )


def _check_mixed(reading: ColumnReading) -> Finding | None:
    """Find text that is nearly all numbers or dates, but not in one form."""
    if reading.cells.kind != "text" or reading.kind != "category":
        return None
    odd = find_odd_word(reading.words)
    if odd is None or any(re.fullmatch(r"0\d+", word) for word in reading.words):
        return None
    row, usual = int(np.argmax(reading.codes == odd[1])), reading.words[0 if odd[1] else 1]
    evidence = f"{odd[0]} such as {quote(usual)}, but {quote(reading.words[odd[1]])} in row {row}"
    advice = f"It is read as words: write all of them alike, or empty the cells that are no {odd[0]}."
    return Finding("mixed", (reading.name,), evidence, advice)


# -- identifiers and codes ---------------------------------------------------------------------------------------------


def _check_identifier(reading: ColumnReading) -> Finding | None:
    """Find a column that names the rows."""
    n = reading.n_present
    if n < _FEWEST or n < 0.9 * len(reading.codes) or reading.n_distinct < 0.95 * n:
        return None
    if reading.kind == "category":
        evidence = f"{reading.n_distinct:,} different texts in {n:,} rows"
        return Finding("identifier", (reading.name,), evidence, "It names the rows: nothing is learned from it.")
    if reading.whole is None or is_year(reading.whole):
        return None
    if np.isin(np.diff(reading.whole), [1.0, -1.0]).sum() >= n - 2 and reading.n_distinct == n:  # or a gap between them
        evidence = f"{_write_range(reading.whole)} in the order of the rows"
        advice = "Leave it out, unless it is time and new rows come later."
        return Finding("row number", (reading.name,), evidence, advice)
    if _looks_numbered(reading):
        evidence = f"{reading.n_distinct:,} different whole numbers in {n:,} rows, {_write_range(reading.whole)}"
        return Finding("identifier", (reading.name,), evidence, "If it only names the rows, leave it out.")
    return None


def _looks_numbered(reading: ColumnReading) -> bool:
    """Whether distinct integers look like row numbers: a full range, by name, or of a fixed number of digits."""
    assert reading.whole is not None
    low, high = reading.whole.min(), reading.whole.max()
    if low < 0:
        return False
    if high - low < 1.2 * reading.n_rows and reading.n_distinct >= 50:
        return True
    words = split_name(reading.name)
    if words and words[-1] in _ID_NAMES | _CODE_NAMES:
        return True
    n_digits = len(str(int(low)))
    if n_digits < 5 or n_digits != len(str(int(high))) or _are_rounded(reading.whole):
        return False
    limits = 10.0 ** (n_digits - 1), 10.0**n_digits
    return bool(kstest(reading.whole, "uniform", (limits[0], limits[1] - limits[0])).pvalue > 0.01)


def _check_code(reading: ColumnReading) -> Finding | None:
    """Find numbers that are codes: postal codes, numbers of shops or persons."""
    if reading.whole is None or reading.n_distinct < 3 or is_year(reading.whole) or reading.whole.min() < 0:
        return None
    words = split_name(reading.name)
    is_named = bool(words) and (words[-1] in _CODE_NAMES or words[0] in _CODE_NAMES) and reading.n_distinct >= 5
    if not (is_named or _looks_coded(reading)):
        return None
    evidence = f"{reading.n_distinct:,} different numbers, {_write_range(reading.whole)}"
    advice = "If they are codes, not amounts, read it as a category."
    return Finding("code", (reading.name,), evidence, advice)


def _looks_coded(reading: ColumnReading) -> bool:
    """Whether long numbers of one length repeat, while most numbers between them never occur."""
    assert reading.whole is not None
    low, high = int(reading.whole.min()), int(reading.whole.max())
    has_digits = len(str(low)) == len(str(high)) >= 4
    is_sparse = 3 * reading.n_distinct <= reading.n_present and high - low >= 10 * reading.n_distinct
    return has_digits and is_sparse and not _are_rounded(reading.whole)


def _are_rounded(whole: FloatArray) -> bool:
    """Whether most numbers end in zero or five, as rounded amounts do."""
    return bool((np.unique(whole) % 5 == 0).mean() > 0.5)


def is_year(whole: FloatArray) -> bool:
    """Whether integers may be years."""
    return bool(whole.min() >= _YEARS[0] and whole.max() <= _YEARS[1])


def _write_range(values: FloatArray) -> str:
    """Write the smallest and the largest of some numbers."""
    return f"{write_number(values.min())} to {write_number(values.max())}"


# -- outliers and placeholders -----------------------------------------------------------------------------------------


def _check_placeholder(reading: ColumnReading) -> Finding | None:
    """Find numbers such as -999 that may mark missing values: beyond all others, and more than once."""
    if reading.kind != "number" or reading.numbers is None:
        return None
    present = reading.numbers[~np.isnan(reading.numbers)]
    for value in (present.min(), present.max()):
        others, n_times = present[present != value], int((present == value).sum())
        if value in _PLACEHOLDERS and n_times > 1 and len(others) and not _is_close(value, others):
            evidence = f"{write_number(value)} in {n_times:,} rows, else {_write_range(others)}"
            advice = "If it means that a value is missing, empty the cells."
            return Finding("placeholder", (reading.name,), evidence, advice)
    return None


def _is_close(value: float, others: FloatArray) -> bool:
    """Whether the distance of a value from the others is at most their range."""
    return bool(np.abs(others - value).min() <= max(np.ptp(others), 1.0))


def _check_outliers(reading: ColumnReading) -> Finding | None:
    """Find outliers: values farther from the middle nine tenths of the rows than five times their range."""
    if reading.kind != "number" or reading.numbers is None or reading.n_distinct < 10:
        return None
    low, high = np.nanquantile(reading.numbers, [0.05, 0.95])
    far = np.maximum(low - reading.numbers, reading.numbers - high) > 5 * (high - low)
    if high == low or not far.any():
        return None
    row = int(np.nanargmax(np.abs(reading.numbers - 0.5 * (low + high))))
    evidence = (
        f"{count(int(far.sum()), 'row')} far out, {write_number(reading.numbers[row])} in row {row}; nine of ten rows "
        f"have {write_number(low)} to {write_number(high)}"
    )
    return Finding("outliers", (reading.name,), evidence, "Correct mistakes; take the logarithm of a long tail.")


def _check_missing(reading: ColumnReading, target: FloatArray) -> Finding | None:
    """Find missing values that are related to a high or low target."""
    known = ~np.isnan(target[:, 0])
    missing, y = (reading.codes < 0)[known], target[known]
    if min(missing.sum(), (~missing).sum()) < 10 or not y.std(axis=0).any():
        return None
    gap = y[missing].mean(axis=0) - y[~missing].mean(axis=0)
    error = np.sqrt(y[missing].var(axis=0) / missing.sum() + y[~missing].var(axis=0) / (~missing).sum())
    spread = y.std(axis=0)
    found = (np.abs(gap) > 0.4 * spread) & (np.abs(gap) > 4 * error) & (spread > 0)
    if not found.any():
        return None
    place = int(found.argmax())
    evidence = (
        f"missing in {missing.sum():,} rows, where the target is {write_number(y[missing, place].mean())} on average, "
        f"and {write_number(y[~missing, place].mean())} elsewhere"
    )
    advice = "Find out why it is missing, and whether it will be so in new rows."
    return Finding("missing with target", (reading.name,), evidence, advice)
