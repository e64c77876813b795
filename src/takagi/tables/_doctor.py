"""The check of a whole table before training."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

from takagi._frames import accept_arrow
from takagi._messages import unknown_name
from takagi._text import count, quote
from takagi._typing import IntArray, Table
from takagi.tables._column_checks import check_column, is_year
from takagi.tables._findings import Finding, TableCheck
from takagi.tables._leak_checks import find_leaks
from takagi.tables._readings import ColumnReading, list_targets, read_column

_MOST_ROWS = 20_000  # that are checked
_FEW_VALUES = 10
_ROWS_PER_INPUT = 5
_SURE = 1e-4  # probability of a false alarm about drift, over all columns
_CLEAR_GAP = 0.3  # between two distributions, from 0 to 1
_MOST_LISTED = 3


def check_table(frame: Table, target: Any = None) -> TableCheck:
    """Check a table for common problems before training.

    It finds identifiers and row numbers, codes that look like numbers, constant and nearly constant columns, equal
    rows and equal columns, leaks (columns that the target can be computed from, alone or as a sum or product), rare
    levels, outliers, numbers such as -999 that mark missing values, missing values that are related to the target, a
    target with few values, last rows that differ from the first, and too few rows. Nothing is changed.

    Parameters
    ----------
    frame : data frame of shape (n_rows, n_columns)
        The table, of pandas, polars or pyarrow, with its rows in their original order. Of more than 20,000 rows, the
        first and the last 10,000 are checked.
    target : str or array of shape (n_rows,), optional
        The column to predict, or its values. Without it, only the columns are checked.

    Returns
    -------
    TableCheck
        A tuple of findings, the most severe first; each has a kind, columns, evidence and advice.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from takagi import check_table
    >>> rng = np.random.default_rng(0)
    >>> area, age = rng.normal(100, 20, 200), rng.integers(0, 50, 200)
    >>> houses = pd.DataFrame({"house_id": range(1000, 1200), "area": area, "age": age})
    >>> houses["price"] = 3 * area - age + rng.normal(0, 20, 200)
    >>> houses["tax"] = houses["price"] * 0.02
    >>> print(check_table(houses, "price"))
    2 findings
    - 'tax', leak: it alone explains 99.99 % of the target's variance. If it is
      known only with the target, or computed from it, leave it out.
    - 'house_id', row number: 1000 to 1199 in the order of the rows. Leave it out,
      unless it is time and new rows come later.
    """
    frame = accept_arrow(frame)
    names = [str(name) for name in frame.columns]
    rows = _choose_rows(len(frame))
    columns = {name: _take(_pick(frame, k), rows) for k, name in enumerate(names)}
    if isinstance(target, str) and target not in columns:
        raise unknown_name("target", target, names)
    if isinstance(target, str):
        goal = read_column(columns.pop(target), target, len(frame))
    else:
        name = str(getattr(target, "name", "target"))
        goal = None if target is None else read_column(_take(target, rows), name, len(frame))
    found = [read_column(values, name, len(frame)) for name, values in columns.items()]
    read = [reading for reading in found if reading is not None]
    return TableCheck(_check(read, goal))


def _check(readings: list[ColumnReading], goal: ColumnReading | None) -> Iterator[Finding]:
    targets = None if goal is None else list_targets(goal)
    for reading in readings:
        yield from check_column(reading, targets)
    if targets is not None:
        yield from find_leaks(readings, targets)
    if goal is not None:
        yield from _check_target(goal)
    yield from _find_equal_columns(readings)
    yield from _find_equal_rows(readings, goal)
    yield from _find_drift(readings, goal)
    yield from _count_rows(readings)


# -- reading -----------------------------------------------------------------------------------------------------------


def _choose_rows(n_rows: int) -> np.ndarray | None:
    """Return which rows to check, None for all."""
    half = _MOST_ROWS // 2
    return None if n_rows <= _MOST_ROWS else np.r_[:half, n_rows - half : n_rows]


def _pick(frame: Any, place: int) -> Any:
    return frame.iloc[:, place] if hasattr(frame, "iloc") else frame[:, place]


def _take(values: Any, rows: np.ndarray | None) -> Any:
    values = values if hasattr(values, "dtype") else np.asarray(values)
    if rows is None:
        return values
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


# -- the target --------------------------------------------------------------------------------------------------------


def _check_target(goal: ColumnReading) -> Iterator[Finding]:
    """Find a target that is classes rather than amounts."""
    if goal.kind != "number" or goal.n_distinct <= 2 or (goal.n_distinct <= _FEW_VALUES and goal.n_present > 50):
        shown = ", ".join(map(quote, goal.words[:_MOST_LISTED])) + (", ..." if goal.n_distinct > _MOST_LISTED else "")
        yield Finding(
            "few values",
            (goal.name,),
            f"the target has {count(goal.n_distinct, 'value')}: {shown}",
            "If they are classes, this is classification.",
        )


# -- equal columns and rows --------------------------------------------------------------------------------------------


def _find_equal_columns(readings: Sequence[ColumnReading]) -> Iterator[Finding]:
    """Find columns that divide the rows like an earlier one, or equal it in other units."""
    seen: dict[bytes, str] = {}
    for reading in readings:
        if reading.n_distinct < 2:
            continue
        for key in _make_keys(reading):
            if key in seen:
                evidence = f"the same as {quote(seen[key])}, in other words or units"
                yield Finding("duplicate column", (reading.name,), evidence, "Leave one of them out.")
                break
        else:
            seen.update(dict.fromkeys(_make_keys(reading), reading.name))


def _make_keys(reading: ColumnReading) -> list[bytes]:
    """Return keys that equal columns share: the groups of equal rows, and standardized numbers."""
    keys = []
    if reading.n_distinct < 0.9 * reading.n_present:
        _, first, places = np.unique(reading.codes, return_index=True, return_inverse=True)
        keys.append(b"rows" + first[places].astype(np.int64).tobytes())
    if reading.numbers is not None and (spread := np.nanstd(reading.numbers)) > 0:
        scaled = (reading.numbers - np.nanmean(reading.numbers)) / spread
        sign = np.sign(scaled[np.flatnonzero(np.abs(scaled) > 1e-3)[0]])
        keys.append(b"numbers" + (np.round(sign * scaled, 6) + 0.0).tobytes())
    return keys


def _find_equal_rows(readings: Sequence[ColumnReading], goal: ColumnReading | None) -> Iterator[Finding]:
    """Find duplicate rows, if a column has so many values that duplicates are not a coincidence."""
    columns = [*readings, *([goal] if goal is not None else [])]
    n_rows = len(columns[0].codes) if columns else 0
    if not any(one.n_distinct > 0.5 * n_rows for one in columns):
        return
    n_equal = n_rows - len(np.unique(np.column_stack([one.codes for one in columns]), axis=0))
    if n_equal >= max(2, 0.005 * n_rows):
        evidence = f"{n_equal:,} of {n_rows:,} rows are equal to another one in all columns"
        advice = "If they are there twice by mistake, remove them: they make scores too good."
        yield Finding("duplicate rows", (), evidence, advice)


# -- order and number of rows ------------------------------------------------------------------------------------------


def _find_drift(readings: Sequence[ColumnReading], goal: ColumnReading | None) -> Iterator[Finding]:
    """Find columns whose last quarter of rows differs from the first half, unless the table is sorted by a column."""
    columns = [one for one in [*readings, *([goal] if goal is not None else [])] if not _counts_rows(one)]
    if not columns or any(map(_is_sorted, columns)):
        return
    gaps = {one.name: gap for one in columns if (gap := _measure_gap(one, _SURE / len(columns))) > 0}
    if gaps:
        names = sorted(gaps, key=lambda name: -gaps[name])
        distance = f"distance {gaps[names[0]]:.2f} of at most 1"
        evidence = f"the last quarter of the rows differs from the first half ({distance})"
        advice = "If rows are in the order of time, test on the last ones."
        yield Finding("drift", tuple(names), evidence, advice)


def _counts_rows(reading: ColumnReading) -> bool:
    """Whether a column rises by equal steps, or has years in order, and so is time itself."""
    if reading.numbers is None or reading.n_present < len(reading.codes):
        return False
    steps = np.diff(reading.numbers)
    is_even = len(steps) > 0 and steps[0] != 0 and np.allclose(steps, steps[0], rtol=1e-6, atol=0)
    return is_even or bool(reading.whole is not None and is_year(reading.whole) and (steps >= 0).all())


def _is_sorted(reading: ColumnReading) -> bool:
    """Whether the rows are sorted by a column, or grouped by its levels."""
    codes = reading.codes[reading.codes >= 0]
    if not 2 <= reading.n_distinct <= max(2, 0.5 * len(codes)) and reading.kind == "category":
        return False
    if reading.numbers is not None and reading.n_distinct > 2:
        steps = np.diff(reading.numbers[~np.isnan(reading.numbers)])
        return bool((steps >= 0).all() or (steps <= 0).all())
    return int((np.diff(codes) != 0).sum()) == reading.n_distinct - 1


def _measure_gap(reading: ColumnReading, sure: float) -> float:
    """Return the distance between the last quarter of the rows and the first half, 0 if it may be chance."""
    n_rows = len(reading.codes)
    first, last = slice(0, n_rows // 2), slice(n_rows - n_rows // 4, n_rows)
    if reading.numbers is not None:
        early, late = (part[~np.isnan(part)] for part in (reading.numbers[first], reading.numbers[last]))
        if min(len(early), len(late)) < 10:
            return 0.0
        test = ks_2samp(early, late, method="asymp")  # the exact test takes seconds
        return float(test.statistic) if test.pvalue < sure and test.statistic > _CLEAR_GAP else 0.0
    table = np.array([_count_codes(reading, rows) for rows in (first, last)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or table.shape[1] > 0.2 * n_rows or (table.sum(axis=1) == 0).any():
        return 0.0
    early, late = table / table.sum(axis=1, keepdims=True)
    gap = 0.5 * float(np.abs(early - late).sum())
    return gap if gap > _CLEAR_GAP and chi2_contingency(table).pvalue < sure else 0.0


def _count_codes(reading: ColumnReading, rows: slice) -> IntArray:
    codes = reading.codes[rows]
    return np.bincount(codes[codes >= 0], minlength=len(reading.words))


def _count_rows(readings: Sequence[ColumnReading]) -> Iterator[Finding]:
    """Yield a finding if there are too few rows to learn from."""
    if not readings:
        return
    n_rows = len(readings[0].codes)
    n_inputs = sum(min(one.n_distinct, 20) if one.kind == "category" else 1 for one in readings)
    if n_rows < _ROWS_PER_INPUT * n_inputs:
        evidence = f"{n_rows:,} rows for {count(n_inputs, 'input')} (columns, and levels of categories)"
        advice = "Leave out what cannot matter, ask for few rules, and do not trust small differences in scores."
        yield Finding("few rows", (), evidence, advice)
