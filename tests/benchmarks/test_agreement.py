import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from agreement import (
    VARIANTS,
    Result,
    Task,
    Variant,
    compare,
    load_results,
    load_task,
    main,
    measure_truth,
    run_variant,
)
from agreement import save_results as save
from takagi import RuleBase


def make_result(variant, dataset="Yacht", partition=1, **measured):
    numbers = {"rmse": 1.0, "ridge": 2.0, "alone": 3.0, "outside": 0.1, "holds": 0.2, "wild": 0.3, "seconds": 1.0}
    return Result(dataset, partition, **asdict(variant), **numbers | measured)


def make_task(X_test, y_test):
    return Task(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), np.array(X_test), np.array(y_test), 0)


def test_a_task_leaves_the_test_part_of_the_partition_alone(data_home):
    task = load_task("Yacht", 1, data_home)
    n_rows = len(task.y) + len(task.y_test)
    assert n_rows < 308
    assert len(task.y_test) == round(0.15 * n_rows)
    rows = np.vstack([task.X, task.X_test])
    assert len(np.unique(rows, axis=0)) == n_rows
    assert load_task("Yacht", 2, data_home).seed != task.seed


def test_truth_is_measured_on_the_governing_rule():
    """The left rule is centered outside and wrong by 1; the right one is right, and does not hold at 0.1."""
    rules = RuleBase([[-1.5], [0.9]], [[0.5], [0.5]], [[[-2.0, 0.0]], [[0.0, 1.0]]])
    found = measure_truth(rules, make_task([[-1.0], [0.1], [1.0]], [-1.0, 0.1, 1.0]))
    assert found["alone"] == pytest.approx(np.sqrt(1 / 3))
    assert found["outside"] == 0.5
    assert found["holds"] == pytest.approx(2 / 3)
    assert found["wild"] == pytest.approx(1 / 3)


def test_conditions_that_exclude_nothing_do_not_count():
    rules = RuleBase([[50.0], [0.0]], [[100.0], [np.inf]], [[[0.0, 1.0]], [[0.0, 1.0]]])
    found = measure_truth(rules, make_task([[0.0]], [0.0]))
    assert found == {"alone": 0.0, "outside": 0.0, "holds": 1.0, "wild": 0.0}


def test_variants_differ_in_what_they_say(data_home):
    task = load_task("Yacht", 1, data_home)
    free, bounded = (run_variant(Variant("five rules", 0.0, b), task, 200) for b in (False, True))
    priced = run_variant(Variant("five rules", 0.3, True), task, 200)
    assert free["ridge"] == bounded["ridge"] == priced["ridge"]
    assert free["rmse"] != bounded["rmse"] != priced["rmse"]
    assert bounded["outside"] == 0
    assert priced["alone"] < bounded["alone"]


def test_comparison_adds_up():
    free, priced = Variant("default", 0.0, False), Variant("default", 0.1, True)
    assert {free, priced} <= set(VARIANTS)
    results = [make_result(free, name, part) for name in ("Yacht", "NO2") for part in (1, 2)]
    results += [make_result(priced, "Yacht", part, rmse=1.21, seconds=1.5, wild=0.1) for part in (1, 2)]
    results += [make_result(priced, "NO2", 1, rmse=1.0, wild=0.3), make_result(priced, "NO2", 3, rmse=100.0)]
    words = compare(results, priced)
    assert words == ["1.100 +- 0.105", "0-1", "0.552", "1.500", "10.0 %", "20.0 %", "20.0 %", "1.33"]
    assert compare(results, replace(priced, agreement=0.3)) is None


def test_results_are_kept_in_a_file(tmp_path):
    results = [make_result(variant) for variant in VARIANTS]
    save(tmp_path / "results.json", results)
    assert load_results(tmp_path / "results.json") == results
    assert load_results(tmp_path / "none.json") == []


def test_what_is_kept_is_shown_without_a_fit(tmp_path, call):
    store = tmp_path / "results.json"
    save(store, [make_result(Variant("default", a, b)) for a in (0.0, 0.1) for b in (False, True)])
    before = json.loads(store.read_text())
    shown = call(main, "--show", "--store", store)
    assert "default: 1 sets, 1 tasks" in shown
    assert shown.count("0.500") == 4
    assert json.loads(store.read_text()) == before
