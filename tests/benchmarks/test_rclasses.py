import numpy as np
import pandas as pd
import pytest

import _r_classes
from _r_classes import METHODS, fail_class_table, has_classes, run_class_table
from _r_tables import TableTrial, make_encoder
from rtables import CLASSES, compare, count_accidents, list_worst, make_tables

TRIAL = TableTrial("a/one", 1, "logistic regression")


@pytest.fixture
def invented(monkeypatch):
    """A table with text and missing numbers, whose class is told by a number."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=120), "kind": rng.choice(["red", "blue"], 120)})
    y = pd.Series(np.where(X["x"] + 0.3 * rng.normal(size=120) > 0, "yes", "no"))
    X.loc[::10, "x"] = np.nan
    monkeypatch.setattr(_r_classes, "read_classes", lambda name: (X, y))
    return X, y


def test_trial_encodes_text_and_missing_numbers(invented):
    outcome = run_class_table(TRIAL)
    assert (outcome.note, outcome.error) == ("", "")
    assert outcome.log_loss < 0.5
    assert (outcome.n_rows, outcome.n_columns, outcome.n_classes) == (80, 2, 2)


def test_method_that_fails_counts_as_the_class_frequencies(invented, monkeypatch):
    monkeypatch.setitem(METHODS, "takagi", lambda seed: None)
    outcome = run_class_table(TableTrial("a/one", 1, "takagi"))
    assert outcome.note.startswith("raised")
    assert outcome.log_loss == run_class_table(TableTrial("a/one", 1, "class frequencies")).log_loss
    assert fail_class_table(TRIAL, "out of time").note == "out of time"


def test_linear_methods_get_every_value_and_others_do_not():
    assert make_encoder("ridge").missing == make_encoder("logistic regression").missing == "fill"
    assert make_encoder("takagi").missing == "keep"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b"] * 30, True),
        ([0, 1] * 30, True),
        ([True, False] * 30, True),
        ([1, 2, 3] * 30, False),
        (["a", "b", "c"] * 30, True),
        (["a"] * 60, False),
        (["a"] * 60 + ["b"] * 5, False),
        ([*"abcdefghijk"] * 20, False),
    ],
)
def test_target_has_a_few_classes_of_enough_rows(values, expected):
    assert has_classes(pd.Series(values)) is expected


def test_log_losses_are_divided_by_logistic_regression():
    losses = {"logistic regression": (0.5, 0.4), "takagi": (0.52, 0.2)}
    rows = [
        (name, 1, method, loss, 60.0, 5.0, 2.0, 0.1, "", "")
        for method, values in losses.items()
        for name, loss in zip(("a/one", "a/two"), values, strict=True)
    ]
    columns = ["table", "split", "method", "log_loss", "n_rows", "n_columns", "n_classes", "seconds", "note", "error"]
    results = pd.DataFrame(rows, columns=columns)
    ratios = compare(results, CLASSES)
    assert ratios.loc[ratios["method"] == "takagi", "ratio"].tolist() == pytest.approx([1.04, 0.5])
    table = count_accidents(ratios, CLASSES)
    assert "worse by over 2 % | worse by over 10 %" in table
    assert "| takagi | 2 | 1 |  | 50.0% | 0.0% | 0.770 | 50% | 1.0 | 0.1 |" in table
    assert "a/one 1.04 (60 x 5)" in list_worst(ratios, CLASSES)
    assert "### Other half" in make_tables(results, ("a/one", "a/two"), CLASSES)
