import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from _frontier_picture import FAMILIES, Mark, count_covered, draw_frontier, is_short, list_marks
from _frontier_tables import make_frontier_tables, make_set_table, rank_methods
from _readable_trials import ReadableOutcome
from frontier import list_trials, main
from takagi.datasets import list_datasets
from takagi.experiments import Store

ERRORS = {"tree 8": 1.2, "Cubist": 0.8, "EBM": 0.9}
WORDS = {"tree 8": 15.0, "Cubist": 300.0, "EBM": np.nan}


@pytest.fixture
def results():
    """Outcomes of three methods on all sets; EBM, which has no words, ran out of time on the last one."""
    rows = []
    for method, error in ERRORS.items():
        for level, dataset in enumerate(list_datasets()):
            for repeat in (1, 2):
                late = method == "EBM" and dataset == "Protein"
                sizes = dict.fromkeys(("n_rules", "n_conditions", "n_terms"), WORDS[method] / 3)
                ratio = np.nan if late else error + 0.01 * level + 0.1 * (-1) ** repeat
                rows.append(
                    {"dataset": dataset, "repeat": repeat, "method": method, "ratio": ratio, **sizes}
                    | {"max_conditions": 3.0, "max_terms": 0.0, "strongest": 2 * ratio + 0 * WORDS[method]}
                    | {"holds": 1.0, "governs": 0.5, "outside": 0.0, "wild": 0.25, "seconds": 1.0}
                    | {"note": "out of time" if late else "", "error": ""}
                )
    return pd.DataFrame(rows)


def find_line(tables, title, start):
    part = tables.split(f"### {title}\n")[1].split("###")[0]
    return next(line for line in part.splitlines() if line.startswith(f"| {start} "))


def test_errors_are_averaged_over_sets_with_and_without_tecator(results):
    words = [word.strip() for word in find_line(make_frontier_tables(results), "Errors", "Cubist").split("|")]
    levels = np.arange(22)
    tecator = [at for at, name in enumerate(list_datasets()) if name.startswith("Tecator")]
    assert words[2] == f"{0.8 + 0.01 * levels.mean():.3f}"
    assert words[3] == f"{0.8 + 0.01 * np.delete(levels, tecator).mean():.3f}"
    assert float(words[4]) + float(words[5]) == pytest.approx(2 * (0.8 + 0.01 * levels.mean()), abs=0.002)
    assert words[6] == "1.0"  # the mean rank
    assert words[9] == "2"  # partitions


def test_method_that_lacks_a_set_says_so_and_is_ranked_on_the_others(results):
    tables = make_frontier_tables(results)
    assert "(21 sets)" in find_line(tables, "Errors", "EBM")
    ranking = rank_methods(results[results["ratio"].notna()])
    assert dict(ranking.ranks) == {"tree 8": 3, "Cubist": 1, "EBM": 2}
    assert ranking.n_datasets == 21
    assert "21 sets that all ranked methods have" in tables
    assert "- EBM on Protein: out of time (2 times)" in tables


def test_method_with_few_sets_is_not_ranked(results):
    few = results[(results["method"] != "EBM") | results["dataset"].isin(["Yacht", "NO2"])]
    assert rank_methods(few) is None
    assert "all ranked methods" not in make_frontier_tables(few)


def test_sizes_and_truths_are_of_models_with_rules(results):
    tables = make_frontier_tables(results)
    assert [word.strip() for word in find_line(tables, "Sizes", "tree 8").split("|")][5] == "15.0"
    truth = find_line(tables, "Truth of single rules", "Cubist")
    assert "| 100 % | 50 % | 0 % | 25 % |" in truth
    for title in ("Sizes", "Truth of single rules", "Words, set by set"):
        assert "EBM" not in tables.split(f"### {title}\n")[1].split("###")[0]


def test_duels_are_on_the_partitions_that_both_have(results):
    ours = results[(results["method"] == "Cubist") & (results["repeat"] == 1)].assign(method="takagi 5")
    ours["ratio"] = np.where(ours["dataset"] == "Yacht", 9.0, ours["ratio"] - 0.1)
    tables = make_frontier_tables(pd.concat([results, ours]))
    words = [word.strip() for word in find_line(tables, "takagi 5 against the others", "Cubist").split("|")]
    assert words[2:4] == ["22", "22"]
    assert float(words[5]) == pytest.approx(0.8 + 0.01 * 10.5 - 0.1, abs=0.001)  # the first partition alone
    assert words[6] == "21-1"
    assert float(words[7]) < 0.05
    assert "takagi 5 has no outcomes." in make_frontier_tables(results)


def test_set_without_outcome_is_a_dash(results):
    frame = results[results["ratio"].notna()]
    line = make_set_table(frame, "ratio", 3).splitlines()[-2]
    assert line == "| Protein | 1.410 | 1.010 | - |"


def test_empty_store_says_what_to_do(tmp_path):
    results = Store(tmp_path, ReadableOutcome).results()
    assert "no outcomes yet" in make_frontier_tables(results)
    with pytest.raises(SystemExit, match="no outcomes yet"):
        draw_frontier(results, tmp_path / "x.png")


def test_picture_has_a_mark_per_method(results, tmp_path):
    marks = {mark.name: mark for mark in list_marks(results)}
    assert marks["Cubist"].words == pytest.approx(300)
    assert marks["Cubist"].error == pytest.approx(0.8 + 0.01 * 10)  # without Protein, which EBM does not have
    assert np.isnan(marks["EBM"].words)
    assert {mark.n_sets for mark in marks.values()} == {21}
    path = draw_frontier(results, tmp_path / "frontier.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_method_with_few_sets_is_not_drawn(results):
    few = results[(results["method"] != "EBM") | results["dataset"].isin(["Yacht", "NO2"])]
    marks = list_marks(few)
    assert [mark.name for mark in marks] == ["tree 8", "Cubist"]
    assert {mark.n_sets for mark in marks} == {22}


def test_look_is_that_of_the_family():
    assert Mark("linear tree 4", 1.0, 1.0, 22).look == FAMILIES["linear tree"]
    assert Mark("tree 8", 1.0, 1.0, 22).look == FAMILIES["tree"]
    assert Mark("EBM", 1.0, 1.0, 22).look[0] not in {color for color, _ in FAMILIES.values()}


def test_line_joins_the_sizes_of_short_rules_alone():
    names = ["takagi 3", "takagi 12", "takagi default", "tree 8"]
    assert [is_short(Mark(name, 1.0, 1.0, 22)) for name in names] == [True, True, False, False]


def test_label_on_a_point_or_outside_costs_more_than_one_beside_it():
    from matplotlib.transforms import Bbox

    frame, point = Bbox([[0, 0], [200, 200]]), (50.0, 50.0)
    beside, over, outside = (Bbox([[x, 45], [x + 40, 55]]) for x in (60, 40, 180))
    costs = [count_covered(box, [point], [], frame) for box in (beside, over, outside)]
    assert costs[0] == 0 < costs[1] < costs[2]
    assert count_covered(beside, [], [over], frame) > costs[1]


def test_trials_of_a_method_come_before_those_of_the_next():
    trials = list_trials(["tree 8", "Cubist"], ["Yacht", "NO2"], [1, 2])
    assert [trial.method for trial in trials] == ["tree 8"] * 4 + ["Cubist"] * 4
    assert [(trial.repeat, trial.dataset) for trial in trials[:3]] == [(1, "Yacht"), (1, "NO2"), (2, "Yacht")]


@pytest.mark.slow
def test_second_call_runs_only_what_is_new(data_home, tmp_path, call, monkeypatch):
    monkeypatch.setenv("TAKAGI_DATA", data_home)
    store = ("--store", tmp_path / "store")
    chosen = (*store, "--datasets", "Yacht", "--partitions", 1, "--methods")
    script = Path(__file__).parents[2] / "benchmarks" / "frontier.py"
    first = subprocess.run([sys.executable, script, *map(str, chosen), "tree 8"], capture_output=True, text=True)
    assert "1 trials, 0 are there." in first.stdout, first.stderr
    assert "2 trials, 1 are there." in call(main, *chosen, "tree 8,tree 20")
    assert "2 trials, 0 are there." in call(main, *chosen, "tree 8,tree 20", "--again")
    assert len(Store(tmp_path / "store", ReadableOutcome).results()) == 2
    assert "| Yacht |" in call(main, *store, "--show")
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- tables: start -->\n<!-- tables: end -->\nafter\n")
    assert str(page) in call(main, *store, "--page", page)
    assert "### Sizes" in page.read_text()
    assert page.read_text().startswith("before")
