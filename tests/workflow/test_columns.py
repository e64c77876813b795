import numpy as np
import pandas as pd
import pytest

from takagi.workflow._columns import ColumnSummary, summarize_columns
from takagi.workflow._target import read_target

N = 40
MANY = ", ".join(sorted(f"n{k}" for k in range(40))[:8])


def one(values):
    """Understand a single column beside a number."""
    table = pd.DataFrame({"c": values, "x": np.arange(len(values))})
    column, number = summarize_columns(table, np.arange(float(len(values))))
    assert number == ColumnSummary("x", "number", f"0 to {len(values) - 1}")
    return column.read_as, column.what, column.n_missing


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.linspace(-1, 123456, N), ("number", "-1 to 123,456", 0)),
        ([1.5, None] * (N // 2), ("number", "1.5", N // 2)),
        (["1", "2", "?", "4"] * (N // 4), ("number", "1 to 4", N // 4)),
        ([True, False, False, False] * (N // 4), ("boolean", "true in 25 %", 0)),
        (["yes", "no"] * (N // 2), ("category", "2: no, yes", 0)),
        (["a", None] * (N // 2), ("category", "1: a", N // 2)),
        ([f"level number {k % 15}" for k in range(45)], ("category", "15: level number 0, level number 1, ...", 0)),
        (["rare" + str(k) if k % 4 == 0 else "often" for k in range(88)], ("category", "1 of 23: often", 0)),
        ([f"name {k}" for k in range(N)], ("left out", f"{N} different texts", 0)),
        ([f"n{k // 2}" for k in range(80)], ("category", f"40, by the target's means: {MANY}, ...", 0)),
        ([7.0] * N, ("left out", "always 7", 0)),
        (["same"] * N, ("left out", "always same", 0)),
        ([None] * N, ("left out", "empty", N)),
        (pd.date_range("2020-01-01", periods=N), ("date", "days since 2020-01-01, weekday", 0)),
        ([f"2020-01-{k % 28 + 1:02d}" for k in range(N)], ("date", "days since 2020-01-01, weekday", 0)),
        ([f"{k % 24}:{k:02d}" for k in range(N)], ("date", "hour", 0)),
        (["2020-01-01"] * N, ("left out", "always 2020-01-01", 0)),
        ([f"${k},000.50" for k in range(1, N + 1)], ("number", "1000.5 to 40000 ($)", 0)),
        ([f"{k} rooms" for k in range(N)], ("number", "0 to 39 (rooms)", 0)),
        (pd.Categorical(["S", "L"] * (N // 2), ["S", "M", "L"], ordered=True), ("category", "3, in order: S, M, L", 0)),
        ([[1, 2]] * N, ("left out", "neither numbers, dates nor text", 0)),
    ],
)  # fmt: skip
def test_columns_are_understood(values, expected):
    assert one(values) == expected


def test_numbers_with_points_are_no_dates():
    assert one([f"{k}.5" for k in range(N)])[0] == "number"
    assert one(["1.2.3", "a"] * (N // 2))[0] == "category"


def test_target_is_numbers_where_there_are_some():
    numbers, present = read_target(pd.DataFrame({"y": ["1", "", "NA", "2.5"]}, dtype=object), "y")
    np.testing.assert_array_equal(numbers, [1, np.nan, np.nan, 2.5])
    assert present.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", "2", "many"], r"must be numbers, got 'many' \(first in row 2\)"),
        (["2020-01-01", "2020-01-02", "2020-01-03"], "'y' holds dates, but must be numbers; write days"),
        (["$5", "$6", "7 EUR"], r"must be numbers, got '\$5' \(first in row 0\)"),
        ([True, False, True], "write 1 and 0"),
        (["1", "2", "y", "3"], "row 2 of the table repeats the names of its columns"),
        ([None, None, None], "no value in any row"),
        ([1.0, np.inf, 2.0], "contains infinity"),
    ],
)
def test_targets_that_cannot_be_learned_say_why(values, message):
    with pytest.raises(ValueError, match=message):
        read_target(pd.DataFrame({"y": values}), "y")
