import numpy as np
import pandas as pd
import pytest

from _tables import SELECTION
from _trials import Outcome, Trial
from ablation import PARTS, WHOLE, WHOLE_COMMITTEE, compare, main, run_part, sort_rows
from takagi.experiments import Store
from takagi.fitting import Rows, merge_equal_rows

SINGLE = [name for name, part in PARTS.items() if part.whole == WHOLE]


def fit(name, X, y, max_iter=20, weight=None):
    with PARTS[name].applied():
        return PARTS[name].make_model(0, max_iter).fit(X, y, weight)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=700)


@pytest.fixture(scope="module")
def stages(table):
    return {name: {stage.name: stage.n_fits for stage in fit(name, *table).stages_} for name in SINGLE}


@pytest.mark.slow
def test_pilots_and_teachers_run_where_the_part_says_so(stages):
    assert stages[WHOLE] == {"pilots": 7, "training": 1}
    assert stages["no pilots"] == {"training": 1}
    assert stages["usual smoothness"] == {"pilots": 3, "training": 1}
    assert stages["with 4 teachers"] == {"pilots": 7, "training": 1, "teachers": 3, "student": 1}


@pytest.mark.slow
def test_ridge_regression_is_taken_by_the_whole_recipe_and_not_without_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 30))
    y = X.sum(axis=1) + rng.normal(size=300)
    assert fit(WHOLE, X, y).stopped_ == "ridge"
    assert fit("never ridge", X, y).stopped_ == "max_iter"


@pytest.mark.parametrize(("name", "changes"), [("equal rows not merged", True), ("heavy rows not split", False)])
def test_parts_about_equal_rows_change_only_tables_that_have_some(table, name, changes):
    X, y = table
    np.testing.assert_array_equal(fit(name, X, y).predict(X), fit(WHOLE, X, y).predict(X))
    twice = np.r_[X, X[:100]], np.r_[y, y[:100]]
    assert changes == (fit(name, *twice).predict(X) != fit(WHOLE, *twice).predict(X)).any()


def test_heavy_rows_are_split_by_the_whole_recipe_alone(table):
    weight = np.ones(len(table[1]))
    weight[:3] = 100
    models = [fit(name, *table, weight=weight) for name in (WHOLE, "heavy rows not split")]
    assert (models[0].predict(table[0]) != models[1].predict(table[0])).any()


def test_rows_that_are_not_merged_keep_their_number_and_the_order_of_merged_ones():
    X = np.array([[3.0], [1.0], [3.0], [2.0], [3.0]])
    rows = Rows(X, 2 * X, np.ones(5))
    merged = merge_equal_rows(rows)
    kept = sort_rows(rows)
    assert sorted(kept.X[:, 0]) == [1, 2, 3, 3, 3]
    assert kept.weight.tolist() == [1] * 5
    assert pd.unique(kept.X[:, 0]).tolist() == merged.X[:, 0].tolist()


@pytest.mark.slow
def test_committee_without_a_part_has_no_memory_or_no_small_members(table):
    X, y = table
    y = y + np.sign(np.sin(40 * X[:, 0]))  # detail that only a memory finds
    whole, plain, even = (fit(name, X, y) for name in (WHOLE_COMMITTEE, "no memory", "members of one size"))
    sizes = [[member.rule_base_.n_rules for member in model.estimators_] for model in (whole, plain, even)]
    assert sizes == [[64, 32] * 4, [64, 32] * 4, [64] * 8]
    assert whole.memory_ is not None
    assert plain.memory_ is None


def test_outcome_of_the_whole_is_the_same_after_another_part(data_home):
    names = (WHOLE, "no pilots", "never ridge", "usual smoothness", WHOLE)
    outcomes = [run_part(Trial("Yacht", 1, name), 20, data_home) for name in names]
    assert {outcome.error for outcome in outcomes} == {""}
    assert outcomes[0].rmse_test == outcomes[4].rmse_test != outcomes[1].rmse_test


def test_trial_without_data_is_an_error(data_home):
    assert "No such set" in run_part(Trial("No such set", 1, WHOLE), 20, data_home).error


def test_comparison_adds_up():
    factors = {"Yacht": (1.1, 1.1 * 1.21), "NO2": (0.9, 0.9), "Airfoil": (5.0, 5.0)}
    rows = [(name, repeat, WHOLE, 0.5, 2.0) for name in factors for repeat in (1, 2, 3)]
    rows += [(name, i + 1, "no pilots", 0.5 * pair[i], 1.0) for name, pair in factors.items() for i in (0, 1)]
    frame = pd.DataFrame(rows, columns=["dataset", "repeat", "method", "ratio", "seconds"])
    found = compare(frame, "no pilots", SELECTION)
    logs = np.log([1.1 * 1.1, 0.9])
    assert found.n_sets == 2
    assert found.average == pytest.approx(0.5 * ((1.1 + 1.331) / 2 + 0.9) / 2)
    assert found.average_of_whole == 0.5
    assert found.ratio == pytest.approx(np.exp(logs.mean()))
    assert found.doubt == pytest.approx(found.ratio * abs(logs[0] - logs[1]) / 2)
    assert (found.n_wins, found.n_losses) == (1, 1)
    assert (found.seconds, found.seconds_ratio) == (1.0, 0.5)
    assert compare(frame, WHOLE, SELECTION).ratio == 1
    assert compare(frame, "no memory", SELECTION) is None
    assert compare(frame, "never ridge", SELECTION) is None


@pytest.mark.slow
def test_second_call_runs_only_what_is_new(data_home, tmp_path, call, monkeypatch):
    monkeypatch.setenv("TAKAGI_DATA", data_home)
    words = ("--store", tmp_path, "--sets", "Yacht", "--partitions", 1, "--parts")
    assert "2 trials, 0 are there." in call(main, *words, WHOLE)
    second = call(main, *words, "no pilots")
    assert "3 trials, 2 are there." in second
    frame = Store(tmp_path, Outcome).results().set_index("method")["rmse_test"]
    line = next(line for line in second.splitlines() if line.startswith("no pilots"))
    for other in ("ridge", "whole"):
        assert f" {frame['no pilots'] / frame[other]:.3f} " in line
