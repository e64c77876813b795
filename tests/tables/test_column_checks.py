import numpy as np
import pandas as pd
import pytest

from takagi import check_table

N = 300


def find(values, target=None):
    """Return the findings of a column beside noise, as pairs of kind and evidence."""
    noise = np.random.default_rng(7).normal(size=len(values))
    check = check_table(pd.DataFrame({"c": values, "noise": noise}), target)
    return [(finding.kind, finding.evidence) for finding in check if finding.columns == ("c",)]


def draw(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["north"] * N, ("constant", "'north' in every row")),
        ([0] * (N - 2) + [1, 2], ("nearly constant", "'0' in all but 2 rows of 300")),
        (["a", "b"] * (N // 2 - 1) + ["c", "c"], ("rare levels", "'c' in 2 rows of 300")),
        (np.arange(1, N + 1), ("row number", "1 to 300 in the order of the rows")),
        (np.arange(N)[::-1], ("row number", "0 to 299 in the order of the rows")),
        (5000 + draw().permutation(N), ("identifier", "300 different whole numbers in 300 rows, 5000 to 5299")),
        ([f"A{k}" for k in range(N)], ("identifier", "300 different texts in 300 rows")),
        (draw().choice(draw(1).choice(90000, 20) + 10000, N), ("code", "20 different numbers, ")),
        ([-999.0] * 5 + list(draw().normal(size=N)), ("placeholder", "-999 in 5 rows, else -3.1063 to 3.066")),
        (
            [1e6, *draw().normal(size=N)],
            ("outliers", "1 row far out, 1,000,000 in row 0; nine of ten rows have -1.4739"),
        ),
    ],
)
def test_a_column_is_told_with_its_evidence(values, expected):
    ((kind, evidence),) = find(values)
    assert kind == expected[0]
    assert evidence.startswith(expected[1])


@pytest.mark.parametrize(
    "values",
    [
        np.arange(1800, 1800 + N),  # years
        draw().normal(size=N),
        draw().integers(0, 50, N),
        draw().choice([1000, 1500, 2000, 12500], N),  # rounded amounts
        np.round(draw().uniform(2e4, 9e4, N), -2),
        draw().lognormal(size=N),
        draw().choice(["a", "b", "c"], N),
    ],
)
def test_usual_columns_are_left_alone(values):
    assert find(values) == []


def test_names_tell_identifiers_and_codes():
    rng = draw()
    table = pd.DataFrame({"patientID": rng.choice(9000, N, replace=False), "shop_id": rng.integers(1, 30, N)})
    assert [(one.kind, one.column) for one in check_table(table)] == [("identifier", "patientID"), ("code", "shop_id")]


def test_values_that_are_missing_with_the_target_are_told():
    y = draw(3).normal(size=N)
    hidden = np.where(y > 1, np.nan, draw(4).normal(size=N))
    ((kind, evidence),) = find(hidden, y)
    assert kind == "missing with target"
    assert evidence.startswith(f"missing in {(y > 1).sum()} rows, where the target is 1.")
    at_random = np.where(draw(5).random(N) < 0.3, np.nan, hidden)
    assert find(np.where(draw(6).random(N) < 0.3, np.nan, draw(4).normal(size=N)), y) == []
    assert find(at_random, y)[0][0] == "missing with target"
