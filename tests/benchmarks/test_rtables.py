import numpy as np
import pandas as pd
import pytest

import _r_tables
from _r_tables import METHODS, TableOutcome, TableTrial, choose_half, fail_trial, run_trial, split_table
from accuracy import ProgressLine
from rtables import compare, count_accidents, list_crashes, list_worst, make_tables
from takagi.experiments import Store

NAMES = ("a/one", "a/two", "b/three")


@pytest.fixture
def invented(monkeypatch):
    """A table whose second column is text and whose target is linear."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=90), "kind": rng.choice(["red", "blue"], 90)})
    y = 3 * X["x"] + (X["kind"] == "red") + 0.1 * rng.normal(size=90)
    monkeypatch.setattr(_r_tables, "read_table", lambda name: (X, y))
    return X, y


def test_trial_encodes_text_and_measures_on_the_rows_that_did_not_train(invented):
    outcome = run_trial(TableTrial("a/one", 1, "ridge"))
    assert (outcome.note, outcome.error) == ("", "")
    assert outcome.rmse_test < 0.2
    assert (outcome.n_rows, outcome.n_columns) == (60, 2)


def test_method_that_fails_counts_as_the_mean(invented, monkeypatch):
    monkeypatch.setitem(METHODS, "ridge", lambda seed: None)
    outcome = run_trial(TableTrial("a/one", 1, "ridge"))
    assert outcome.note.startswith("raised")
    assert outcome.rmse_test == run_trial(TableTrial("a/one", 1, "mean")).rmse_test
    assert fail_trial(TableTrial("a/one", 1, "ridge"), "out of time").note == "out of time"


def test_progress_names_the_table(capsys):
    with ProgressLine(1) as progress:
        progress.notify(TableOutcome(TableTrial("a/one", 1, "ridge")))
    assert capsys.readouterr().out in ("1/1 trials\n", "")


def test_two_thirds_train_and_splits_differ():
    train, test = split_table("a/one", 1, 91)
    assert (len(train), len(test)) == (60, 31)
    assert sorted([*train, *test]) == list(range(91))
    assert (split_table("a/one", 2, 91)[0] != train).any()
    assert (split_table("a/one", 1, 91)[0] == train).all()


def test_halves_take_turns():
    assert choose_half(NAMES, is_selection=True) == ("a/one", "b/three")
    assert choose_half(NAMES, is_selection=False) == ("a/two",)


@pytest.fixture
def results():
    """Outcomes in which takagi is 20 % worse than ridge on the second table, and fails on the third."""
    errors = {"ridge": (1.0, 1.0, 2.0), "mean": (2.0, 2.0, 1.0), "takagi": (0.5, 1.2, 1.0)}
    rows = [
        (name, 1, method, error, 60.0, 5.0, 0.1, "raised" if (method, name) == ("takagi", "b/three") else "", "")
        for method, values in errors.items()
        for name, error in zip(NAMES, values, strict=True)
    ]
    columns = ["table", "split", "method", "rmse_test", "n_rows", "n_columns", "seconds", "note", "error"]
    return pd.DataFrame(rows, columns=columns)


def test_errors_are_divided_by_the_smaller_one_of_ridge_and_mean(results):
    ratios = compare(results).set_index(["method", "table"])["ratio"]
    assert ratios["takagi"].tolist() == [0.5, 1.2, 1.0]
    assert ratios["ridge"].tolist() == [1.0, 1.0, 2.0]
    assert not len(compare(results[results["method"] != "mean"]))


def test_shares_are_those_of_tables_clearly_behind(results):
    line = next(line for line in count_accidents(compare(results)).splitlines() if line.startswith("| takagi |"))
    assert line == "| takagi | 3 | 1 | 1 | 33.3% | 0.0% | 1.000 | 33% | 1.2 | 0.1 |"


def test_worst_tables_and_crashes_are_named(results):
    ratios = compare(results)
    assert "a/two 1.20 (60 x 5), b/three 1.00" in list_worst(ratios)
    assert list_crashes(ratios) == "- b/three, takagi: raised"


def test_halves_are_shown_apart(results, tmp_path):
    selection, other = make_tables(results, NAMES).split("### Other half")
    assert "| takagi | 2 |" in selection
    assert "| takagi | 1 |" in other
    empty = Store(tmp_path, TableOutcome).results()
    assert "rtables.py run" in make_tables(empty, NAMES)
