"""Checks for leaks: a column that determines the target, or several whose sum or product is the target."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from takagi._text import format_number, join_terms
from takagi._typing import FloatArray, IntArray
from takagi.tables._findings import Finding
from takagi.tables._readings import ColumnReading

_LEAK = 0.99  # share of the target's variance that one column explains
_EXACT = 1e-4  # share of the variance that a formula may leave unexplained
_MOST_COLUMNS = 150
_MOST_TERMS = 6
_FEWEST_ROWS = 20


def find_leaks(readings: Sequence[ColumnReading], target: FloatArray) -> Iterator[Finding]:
    """Yield columns, alone or together, that the target can be computed from."""
    known = ~np.isnan(target[:, 0])
    y = target[known]
    if len(y) < _FEWEST_ROWS or not y.std(axis=0).any():
        return
    leaks = set()
    for reading in readings:
        share = _explain(reading, known, y)
        if share >= _LEAK:
            leaks.add(reading.name)
            evidence = f"it alone explains {100 * min(share, 0.9999):.4g} % of the target's variance"
            advice = "If it is known only with the target, or computed from it, leave it out."
            yield Finding("leak", (reading.name,), evidence, advice)
    others = [one for one in readings if one.kind == "number" and one.n_distinct > 1 and one.name not in leaks]
    if y.shape[1] == 1 and len(others) > 1:
        yield from _find_formula(others, known, y[:, 0])


# -- one column --------------------------------------------------------------------------------------------------------


def _explain(reading: ColumnReading, known: np.ndarray, y: FloatArray) -> float:
    """Return the share of the target's variance that other rows with similar values explain.

    Ranks of the target are tried as well, since a few large values may hide a relation.
    """
    present = known & (reading.codes >= 0)
    kept = present[known]
    if kept.sum() < max(_FEWEST_ROWS, 0.5 * len(y)):
        return 0.0
    if reading.numbers is None:
        places = reading.codes[present]
        return _share_left_out(places, y[kept], None)
    values, places = np.unique(reading.numbers[present], return_inverse=True)
    shares = [_share_left_out(places, y[kept], values)]
    if y.shape[1] == 1:
        shares.append(_share_left_out(places, rankdata(y[kept], axis=0), values))
    return max(shares)


def _share_left_out(places: IntArray, y: FloatArray, values: FloatArray | None) -> float:
    """Return 1 - the leave-one-out squared error of predicting each row by rows of the same value, over the variance.

    A number that occurs once is predicted by linear interpolation between its neighbors, a word that occurs once by the
    mean.
    """
    counts = np.bincount(places).astype(float)
    sums = np.column_stack([np.bincount(places, column) for column in y.T])
    total = float(((y - y.mean(axis=0)) ** 2).sum())
    if total == 0:
        return 0.0
    lone = np.tile(y.mean(axis=0), (len(counts), 1)) if values is None else _interpolate(values, sums / counts[:, None])
    others = (sums[places] - y) / np.maximum(counts[places] - 1, 1)[:, None]
    predicted = np.where(counts[places, None] > 1, others, lone[places])
    return 1 - float(((y - predicted) ** 2).sum()) / total


def _interpolate(values: FloatArray, means: FloatArray) -> FloatArray:
    """Interpolate linearly at each of some sorted numbers between its neighbors; at an end, use its neighbor."""
    if len(values) < 3:
        return means[::-1]
    part = ((values[1:-1] - values[:-2]) / (values[2:] - values[:-2]))[:, None]
    return np.concatenate([means[1:2], (1 - part) * means[:-2] + part * means[2:], means[-2:-1]])


# -- several columns ---------------------------------------------------------------------------------------------------


def _find_formula(readings: Sequence[ColumnReading], known: np.ndarray, y: FloatArray) -> Iterator[Finding]:
    """Yield a sum, difference, product or ratio of columns that gives the target."""
    names, X = _gather(readings, known)
    complete = ~np.isnan(X).any(axis=1)
    X, y = X[complete], y[complete]
    if (found := _solve(X, y, names)) is not None:
        text = _write_sum(*found)
    elif (found := _solve_logs(X, y, names)) is not None:
        text = _write_product(found[0][1:], found[1])
    else:
        return
    advice = "If these are known only together with the target, leave one of them out."
    yield Finding("sum", tuple(found[1]), f"the target is {text}", advice)


def _gather(readings: Sequence[ColumnReading], known: np.ndarray) -> tuple[list[str], FloatArray]:
    """Return names and numbers of the columns with almost no missing values."""
    full = [one for one in readings if one.numbers is not None and not np.isnan(one.numbers[known]).mean() > 0.1]
    full = full[:_MOST_COLUMNS]
    columns = [one.numbers[known] for one in full if one.numbers is not None]
    return [one.name for one in full], np.column_stack(columns) if columns else np.empty((int(known.sum()), 0))


def _solve(X: FloatArray, y: FloatArray, names: list[str]) -> tuple[FloatArray, list[str]] | None:
    """Return the weights, bias first, of the few columns whose sum is the target, or None.

    Columns are dropped one by one, that with the smallest loss first, while the unexplained variance stays tiny.
    """
    n_rows, n_columns = X.shape
    if n_columns < 2 or n_rows < 2 * n_columns + _FEWEST_ROWS or y.std() == 0:
        return None
    kept = [k for k in range(n_columns) if X[:, k].std() > 0]
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    z = (y - y.mean()) / y.std()
    gram, moment = Z.T @ Z / n_rows, Z.T @ z / n_rows
    while kept:
        inverse = np.linalg.inv(gram[np.ix_(kept, kept)] + 1e-9 * np.eye(len(kept)))
        weights = inverse @ moment[kept]
        left = 1 - float(weights @ moment[kept])
        losses = weights**2 / np.diag(inverse)
        if left + losses.min() > _EXACT:
            break
        del kept[int(losses.argmin())]
    if not 2 <= len(kept) <= _MOST_TERMS or left > _EXACT:
        return None
    solved = np.linalg.lstsq(np.column_stack([np.ones(n_rows), X[:, kept]]), y, rcond=None)
    return np.asarray(solved[0], dtype=float), [names[k] for k in kept]


def _solve_logs(X: FloatArray, y: FloatArray, names: list[str]) -> tuple[FloatArray, list[str]] | None:
    """Return the exponents, after a constant, of the few positive columns whose product is the target, or None."""
    if not len(y) or (y <= 0).any():
        return None
    positive = np.flatnonzero((X > 0).all(axis=0))
    return _solve(np.log(X[:, positive]), np.log(y), [names[k] for k in positive])


def _write_sum(weights: FloatArray, names: Sequence[str]) -> str:
    """Write a sum of columns, without a negligible bias.

    >>> _write_sum(np.array([1e-9, 1.0, -1.0, 2.5]), ["total", "tax", "fee"])
    'total - tax + 2.5 fee'
    """
    texts = [format_number(weight) for weight in weights]
    texts[0] = "0" if abs(weights[0]) < 1e-6 * np.abs(weights[1:]).max() else texts[0]
    return re.sub(r"(^|[+-] )1 ", r"\1", " ".join(join_terms(texts, names)))


def _write_product(exponents: FloatArray, names: Sequence[str]) -> str:
    """Write a product of columns.

    >>> _write_product(np.array([1.0, -2.0]), ["mass", "height"])
    'mass * height^-2, times a number'
    """
    written = [format_number(exponent) for exponent in exponents]
    powers = [name if e == "1" else f"{name}^{e}" for e, name in zip(written, names, strict=True)]
    return f"{' * '.join(powers)}, times a number"
