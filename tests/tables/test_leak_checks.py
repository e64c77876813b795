import numpy as np
import pandas as pd
import pytest

from takagi import check_table

N = 300
RNG = np.random.default_rng(0)
Y = RNG.gamma(3.0, 10.0, N)
TABLE = pd.DataFrame({"a": RNG.normal(100, 20, N), "b": RNG.gamma(4.0, 10.0, N), "c": RNG.normal(size=N)})


def find(y=Y, **columns):
    check = check_table(TABLE.assign(**columns), y)
    return [(finding.kind, finding.columns, finding.evidence) for finding in check if finding.kind in ("leak", "sum")]


@pytest.mark.parametrize(
    "leak",
    [
        2.54 * Y,
        235 / Y,
        np.log(Y),
        Y + RNG.normal(0, 0.3, N),
        np.digitize(Y, np.linspace(0, 100, 60)).astype(str),
    ],
)
def test_a_column_that_gives_the_target_is_a_leak(leak):
    assert [one[:2] for one in find(x=leak)] == [("leak", ("x",))]


def test_strong_columns_are_no_leaks():
    assert find(x=Y + RNG.normal(0, 0.2 * Y.std(), N)) == []
    assert find(x=np.round(Y / 20)) == []
    assert find(x=(Y - 30) ** 2) == []  # two values of the target for each of it


@pytest.mark.parametrize(
    ("y", "columns", "formula"),
    [
        (TABLE["a"] - TABLE["b"], ("a", "b"), "a - b"),
        (7 + TABLE["a"] + 2.5 * TABLE["b"], ("a", "b"), "7 + a + 2.5 b"),
        (TABLE["a"] / TABLE["b"], ("a", "b"), "a * b^-1, times a number"),
    ],
)
def test_columns_that_give_the_target_together_are_told_with_the_formula(y, columns, formula):
    assert find(y) == [("sum", columns, f"the target is {formula}")]


def test_a_sum_with_noise_is_none():
    assert find(TABLE["a"] - TABLE["b"] + RNG.normal(0, 2, N)) == []


def test_classes_can_leak_too():
    classes = np.where(Y > 30, "dear", "cheap")
    assert [one[1] for one in find(classes, shade=np.where(Y > 30, "red", "blue"))] == [("shade",)]
