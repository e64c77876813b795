"""Splits into training and test rows: at random, by whole groups, or in the order of time."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, StratifiedKFold, TimeSeriesSplit

from takagi._text import count, quote
from takagi._typing import FloatArray, IntArray
from takagi.tables import (
    RequestError,
    as_dates,
    as_numbers,
    as_words,
    find_date_form,
    find_form,
    find_kind,
    read_cells,
)

MANY_ROWS = 2000  # from which on a part is held out once
N_FOLDS = 10  # with fewer, the models of the folds are worse than that of all rows
_N_TESTS = 5  # in the order of time
_LEAST_ROWS = 10  # that a model is fitted to
_PART = 0.2  # that is held out

RowPair = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class Ties:
    """Dependence between rows: the group of each row, or its place in time."""

    column: str
    codes: IntArray  # of each row, from 0 on; times are in their order
    is_time: bool

    def take(self, rows: IntArray) -> "Ties":
        """Return the ties of some rows."""
        return Ties(self.column, np.unique(self.codes[rows], return_inverse=True)[1], self.is_time)


@dataclass(frozen=True)
class Splits:
    """Pairs of training and test rows, and a description of how they were made."""

    pairs: tuple[RowPair, ...]
    n_repeats: int
    words: str

    @property
    def inflation(self) -> float:
        """Factor for the variance of a mean over all test rows, since models share training rows.

        This is the corrected resampled variance of Nadeau and Bengio (2003), (1 / J + n_test / n_train) for J tests,
        relative to that of independent rows. Existing models, without training rows here, share none.
        """
        n_folds = len(self.pairs) // self.n_repeats
        shared = [len(test) / len(train) if len(train) else 0.0 for train, test in self.pairs]
        return 1 / self.n_repeats + n_folds * float(np.mean(shared))


def plan_splits(
    n_rows: int,
    seed: int = 0,
    ties: Ties | None = None,
    *,
    once: bool = False,
    n_folds: int = N_FOLDS,
    n_repeats: int = 1,
    labels: Any = None,
) -> Splits:
    """Return how to score on a table: cross-validation of few rows, a part of many held out.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    seed : int, default=0
        Seed of random numbers.
    ties : Ties, optional
        Groups that stay whole, or the order of time; then later rows are test rows.
    once : bool, default=False
        Whether to hold out a part of few rows, too.
    n_folds : int, default=10
        Number of folds of cross-validation; groups may be fewer.
    n_repeats : int, default=1
        How often cross-validation is repeated.
    labels : array of shape (n_rows,), optional
        Classes of the rows. Without ties, splits are stratified by class; rows whose class has no training row are not
        tested.
    """
    if labels is None:
        return _plan(n_rows, seed, ties, None, once, (n_folds, n_repeats))
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    splits = _plan(n_rows, seed, ties, codes, once, (n_folds, n_repeats))
    return replace(splits, pairs=_keep_known(splits.pairs, codes))


def _plan(
    n_rows: int, seed: int, ties: Ties | None, codes: IntArray | None, once: bool, size: tuple[int, int]
) -> Splits:
    n_folds, n_repeats = size
    pairs = _go_forward(ties) if ties is not None and ties.is_time else ()
    if once or n_rows >= MANY_ROWS or (ties is not None and ties.is_time and not pairs):
        return _hold_out(n_rows, seed, ties, codes)
    if ties is not None and pairs:
        return Splits(pairs, 1, f"{len(pairs)} tests on later rows by {ties.column}, trained on earlier ones")
    if ties is None:
        groups, words = np.arange(n_rows), "cross-validation"
    else:
        groups, words = ties.codes, f"cross-validation by whole groups of {ties.column}"
        n_folds = min(n_folds, int(groups.max()) + 1)
    seeds = [(seed + k) % 2**32 for k in range(n_repeats)]
    if ties is None and codes is not None:
        pairs = tuple(pair for one in seeds for pair in _split_evenly(codes, one, n_folds))
        n_folds = len(pairs) // n_repeats
    else:
        repeats = [GroupKFold(n_folds, shuffle=True, random_state=one) for one in seeds]
        pairs = tuple(pair for folds in repeats for pair in folds.split(groups, groups=groups))
    return Splits(pairs, n_repeats, f"{n_folds}-fold {words}" + (f", {n_repeats} times" if n_repeats > 1 else ""))


def find_groups(values: Any, name: str) -> Ties:
    """Return the groups of rows given by a column; missing values form a group, too."""
    codes, words = as_words(read_cells(values, name))
    if len(words) < 2:
        raise RequestError(f"all rows are of one group of {quote(name)}, but a score needs two at least.", "group")
    return Ties(name, np.unique(codes, return_inverse=True)[1], False)


def find_times(values: Any, name: str) -> Ties:
    """Return the order of rows in time by a column of numbers or dates."""
    moments = _read_moments(values, name)
    if np.isnan(moments).any():
        row = int(np.argmax(np.isnan(moments)))
        n_missing = count(int(np.isnan(moments).sum()), "row")
        raise RequestError(f"{quote(name)} gives no time in {n_missing}, first in row {row}; fill them in.", "time")
    codes = np.unique(moments, return_inverse=True)[1]
    if not codes.max():
        raise RequestError(f"{quote(name)} has one time only, but a score needs earlier and later rows.", "time")
    return Ties(name, codes, True)


# -- parts -------------------------------------------------------------------------------------------------------------


def _hold_out(n_rows: int, seed: int, ties: Ties | None, codes: IntArray | None) -> Splits:
    if ties is None:
        pair = split_off(n_rows, _PART, seed) if codes is None else _split_evenly(codes, seed, round(1 / _PART))[0]
        return Splits((pair,), 1, f"{count(len(pair[1]), 'row')} of {n_rows:,} held out")
    if ties.is_time:
        is_late = ties.codes >= min(np.quantile(ties.codes, 1 - _PART, method="higher") or 1, ties.codes.max())
        pair = np.flatnonzero(~is_late), np.flatnonzero(is_late)
        return Splits((pair,), 1, f"the last {count(len(pair[1]), 'row')} of {n_rows:,} by {ties.column} held out")
    shuffle = GroupShuffleSplit(1, test_size=_PART, random_state=seed)
    pair = next(shuffle.split(ties.codes, groups=ties.codes))
    return Splits((pair,), 1, f"whole groups of {ties.column} held out, {count(len(pair[1]), 'row')} of {n_rows:,}")


def _split_evenly(codes: IntArray, seed: int, n_folds: int) -> list[RowPair]:
    """Return the folds of a cross-validation that have all classes in the same proportions."""
    n_folds = max(2, min(n_folds, int(np.bincount(codes).max())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes))


def _keep_known(pairs: tuple[RowPair, ...], codes: IntArray) -> tuple[RowPair, ...]:
    """Return pairs without test rows of classes that have no training row."""
    known = [(train, test[np.isin(codes[test], codes[train])]) for train, test in pairs]
    kept = tuple(pair for pair in known if len(pair[1]) and np.ptp(codes[pair[0]]) > 0)
    if not kept:
        raise RequestError("there are too few rows of each class for a score.", "no_score")
    return kept


def split_off(n_rows: int, fraction: float, seed: int) -> RowPair:
    """Return random training and test rows, in the order of the table."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = max(1, round(fraction * n_rows)) if fraction else 0
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _go_forward(ties: Ties) -> tuple[RowPair, ...]:
    """Return splits in which later rows test models of all earlier ones; rows of one time stay together.

    There are none if there are too few times or rows.
    """
    n_moments = int(ties.codes.max()) + 1
    if n_moments <= _N_TESTS:
        return ()
    forward = TimeSeriesSplit(_N_TESTS).split(np.empty(n_moments))
    pairs = [(_find(ties.codes, early), _find(ties.codes, late)) for early, late in forward]
    return tuple(pair for pair in pairs if len(pair[0]) >= _LEAST_ROWS)


def _find(codes: IntArray, wanted: IntArray) -> IntArray:
    return np.flatnonzero(np.isin(codes, wanted))


def _read_moments(values: Any, name: str) -> FloatArray:
    """Return times as numbers, NaN where there is none."""
    cells = read_cells(values, name)
    kind, is_read = find_kind(cells), cells.numbers is not None
    if kind == "date":
        return as_dates(cells, name, "y-m-d" if is_read else find_date_form(cells.words) or "")
    if kind == "number":
        return as_numbers(cells, name, None if is_read else find_form(cells.words))
    example = f"such as {quote(cells.words[0])}, " if cells.words else ""
    raise RequestError(
        f"{quote(name)} holds text, {example}which has no order in time; name a column of numbers, or of dates "
        "written in one way, such as 2026-11-17.",
        "time",
    )
