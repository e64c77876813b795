import numpy as np
import pytest

import extrapolation
from takagi import RuleBase, RuleModel


def test_a_table_has_a_line_for_each_dataset_and_one_for_all(call, data_home, monkeypatch):
    monkeypatch.setenv("TAKAGI_DATA", data_home)
    head, rule, yacht, total = call(extrapolation.main, "--datasets", "Yacht").splitlines()
    assert head.count("|") == rule.count("|") == yacht.count("|") == total.count("|") == 9
    cells = [cell.strip() for cell in yacht.split("|")[1:-1]]
    assert cells[0] == "Yacht"
    assert cells[1:3] == ["0", "1.000"]
    assert [cell.strip() for cell in total.split("|")[2:-1]] == cells[1:]


def test_held_values_spare_a_model_most_of_what_wrong_units_cost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    found = extrapolation.measure(X, X.sum(axis=1) + 0.1 * rng.normal(size=300))
    assert 1 < found.planted_held < 0.1 * found.planted_linear


def test_planted_values_are_few_and_a_thousand_times_too_large():
    rows = np.ones((400, 3))
    wrong = extrapolation.plant(rows, [0, 2], np.random.default_rng(0))
    changed = wrong != rows
    assert 5 < changed.sum() < 40
    assert changed.sum(axis=1).max() == 1
    assert not changed[:, 1].any()
    assert (wrong[changed] == 1000).all()
    assert extrapolation.plant(rows[:1], [1], np.random.default_rng(0)).tolist() == [[1, 1000, 1]]


def test_the_leading_column_varies_and_goes_with_the_target():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 2, 50), rng.normal(size=50)])
    assert extrapolation.find_lead(X, X[:, 1] + 2 * X[:, 2]) == 2


def test_rows_with_held_values_are_counted():
    rules = RuleModel((RuleBase([[0.0]], [[1.0]], [[[0.0, 1.0]]], limits=[[-1.0, 1.0]]),))
    assert extrapolation.count_held(rules, np.array([[0.0], [2.0], [-1.0], [-3.0]])) == 2
    assert extrapolation.find_error(rules, np.array([[5.0]]), np.array([0.0])) == pytest.approx(1.0)
