import numpy as np
import pandas as pd
import pytest
from scipy import stats

from _tables import (
    SELECTION,
    describe_cell,
    load_ratios,
    make_page,
    make_tables,
    mean_by_dataset,
    rank_methods,
)
from takagi.datasets import list_datasets

START, END = "<!-- tables: start -->", "<!-- tables: end -->"
FACTORS = {"ridge": 1.0, "takagi": 0.6, "takagi committee": 0.55, "CatBoost": 0.8, "EBM": 0.7, "SVR": 0.75}


@pytest.fixture(scope="module")
def results():
    """Made-up outcomes of three partitions; EBM has the first one only, and SVR fails on Protein."""
    rng = np.random.default_rng(0)
    rows = []
    for place, dataset in enumerate(list_datasets()):
        for repeat in (1, 2, 3):
            for method, factor in FACTORS.items():
                if method == "EBM" and repeat > 1:
                    continue
                noise = 0.0 if method == "ridge" else 0.1 * rng.random()
                note = "out of time" if (method, dataset) == ("SVR", "Protein") else ""
                rmse = (1 + place) * repeat * (1.5 if note else factor + noise)
                seconds = np.nan if note else 0.5
                rows.append((dataset, repeat, method, rmse, seconds, 0.01, 2000.0, note, ""))
    names = ["dataset", "repeat", "method", "rmse_test", "seconds", "predict_seconds", "n_bytes", "note", "error"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def ratios(results):
    return load_ratios(results)


def test_ratios_are_to_ridge_on_the_same_partition(ratios):
    assert (ratios.loc[ratios["method"] == "ridge", "ratio"] == 1).all()
    assert ratios.loc[ratios["method"] == "takagi", "ratio"].between(0.6, 0.7).all()


def test_outcomes_without_ridge_on_their_partition_are_left_out(results):
    without = results[(results["method"] != "ridge") | (results["repeat"] != 3)]
    assert set(load_ratios(without)["repeat"]) == {1, 2}


def test_means_are_over_the_partitions_that_all_have(ratios):
    first = ratios[(ratios["repeat"] == 1) & (ratios["method"] == "takagi")].set_index("dataset")["ratio"]
    table = mean_by_dataset(ratios, ["takagi", "EBM"])
    assert table["takagi"].to_numpy() == pytest.approx(first[table.index].to_numpy())


def test_ranks_and_friedman_are_those_of_scipy(ratios):
    most, everyone = rank_methods(ratios)
    methods = ["takagi", "takagi committee", "CatBoost", "SVR"]
    table = mean_by_dataset(ratios, methods)
    assert set(most.ranks) == set(methods)
    assert most.p_value == pytest.approx(stats.friedmanchisquare(*table.to_numpy().T).pvalue)
    expected = stats.rankdata(table, axis=1).mean(axis=0)
    assert list(map(most.ranks.get, methods)) == pytest.approx(expected)
    # Demsar 2006, table 5: q = 2.569 for four methods at level 0.05
    assert most.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 22)), abs=1e-3)
    assert set(everyone.ranks) == {*methods, "EBM"}


def test_halves_are_apart(results, ratios):
    text = make_tables(results)
    means = ratios[ratios["method"] == "takagi"].groupby("dataset")["ratio"].mean()
    chosen = means.index.isin(SELECTION)
    row = next(line for line in text.splitlines() if line.startswith("| takagi |"))
    assert f"| {means.mean():.3f} | {means[chosen].mean():.3f} | {means[~chosen].mean():.3f} |" in row
    assert len(SELECTION) == 11
    assert set(SELECTION) < set(list_datasets())


def test_tables_name_failures_and_what_was_not_run(results):
    text = make_tables(results)
    assert "SVR on Protein: out of time (3 times)" in text
    assert "1.500 (3 of 3: out of time)" in text
    assert "LightGBM (pip install lightgbm)" in text
    duel = next(line for line in text.splitlines() if line.startswith("| CatBoost | 22-0"))
    assert f"{stats.wilcoxon(np.arange(1, 23)).pvalue:.2g}" in duel
    assert [text.count(f"| {dataset} |") for dataset in list_datasets()] == [2] * 22  # groups that have outcomes


def test_cell_without_outcome_is_a_dash():
    assert describe_cell(None) == "-"


def test_store_without_outcomes_says_what_to_do(results):
    assert "accuracy.py run" in make_tables(results.iloc[:0])


def test_page_keeps_what_is_around_the_tables():
    page = f"before\n{START}\nold\n{END}\nafter\n"
    assert make_page(page, "new") == f"before\n{START}\n\nnew\n\n{END}\nafter\n"
    assert make_page(make_page(page, "new"), "new") == make_page(page, "new")
    with pytest.raises(SystemExit, match="needs the marks"):
        make_page("no marks", "new")
