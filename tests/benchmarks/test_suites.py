import numpy as np
import pandas as pd
import pytest

from _suites import PAPER, SECOND, SUITES, load_parts, read_second
from _tables import load_ratios, make_tables
from takagi.datasets import list_datasets


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "suite2").mkdir()
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(5, 2, 100), "b": rng.normal(size=100), "target": rng.normal(size=100)})
    table.to_csv(tmp_path / "suite2" / "laser.csv.gz", index=False)
    read_second.cache_clear()
    return str(tmp_path)


def test_parts_of_the_second_suite_are_as_they_are_and_disjoint(folder):
    parts = load_parts("laser", 1, 0, folder)
    assert [len(X) for X, _ in parts] == [70, 15, 15]
    X, _ = read_second("laser", folder)
    stacked = np.concatenate([part[0] for part in parts])
    assert np.sort(stacked[:, 0]) == pytest.approx(np.sort(X[:, 0]))
    assert (load_parts("laser", 2, 0, folder)[2][0] != parts[2][0]).any()


def test_folder_that_is_not_named_says_so(monkeypatch):
    monkeypatch.delenv("TAKAGI_DATA", raising=False)
    read_second.cache_clear()
    with pytest.raises(FileNotFoundError, match="TAKAGI_DATA must name"):
        read_second("laser")


def test_selection_halves_are_fixed():
    assert SECOND.selection == SECOND.datasets[::2]
    assert list(SECOND.datasets) == sorted(SECOND.datasets)
    assert PAPER.datasets == tuple(list_datasets())
    assert not set(PAPER.datasets) & set(SECOND.datasets)
    assert set(SUITES) == {"paper", "second"}


def test_tables_of_a_suite_have_its_sets_its_divisor_and_its_halves():
    rows = [
        (dataset, 1, method, error, 0.5, 0.01, 1e3, "", "")
        for dataset in (*SECOND.datasets, "Yacht")
        for method, error in (("ridge tuned", 2.0), ("takagi", 1.0 if dataset in SECOND.selection else 1.5))
    ]
    names = ["dataset", "repeat", "method", "rmse_test", "seconds", "predict_seconds", "n_bytes", "note", "error"]
    results = pd.DataFrame(rows, columns=names)
    assert set(load_ratios(results, SECOND)["dataset"]) == set(SECOND.datasets)
    line = next(line for line in make_tables(results, SECOND).splitlines() if line.startswith("| takagi |"))
    assert "| 0.625 | 0.500 | 0.750 |" in line
