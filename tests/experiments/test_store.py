from dataclasses import dataclass, field

import numpy as np
import pytest

from takagi.experiments import Store
from takagi.experiments._plan import Scope, make_run, plan_runs
from takagi.experiments._run import CURVE_POINTS, Result
from takagi.experiments._store import StoreError

RUNS = plan_runs("fig4", Scope(datasets=("Yacht",), repeats=2))


def make_result(run, **values):
    curve = np.linspace(2, 1, len(CURVE_POINTS)) if run.keeps_curve else np.empty(0)
    return Result(run, **{"rmse_val": 1.5, "rmse_test": 2.5, "best_iter": 7, "seconds": 0.1, "curve": curve, **values})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_results_come_back(store):
    store.append(map(make_result, RUNS))
    assert Store(store.folder).finished() == set(RUNS)
    frame = store.results()
    assert len(frame) == len(RUNS)
    assert set(frame["rmse_test"]) == {2.5}
    assert len(store.curves()) == sum(run.keeps_curve for run in RUNS)
    assert store.curves()[1000].tolist()[0] == 1.0


def test_compacting_changes_nothing_but_the_files(store):
    store.append(map(make_result, RUNS[:10]))
    store.compact()
    store.append(map(make_result, RUNS[10:]))
    before, curves = store.results(), store.curves()
    store.compact()
    assert sorted(path.name for path in store.folder.iterdir()) == ["FORMAT", "curves.parquet", "results.parquet"]
    assert store.results().equals(before)
    assert store.curves().equals(curves)
    assert store.finished() == set(RUNS)


def test_failed_run_is_not_finished_until_it_succeeds(store):
    run = RUNS[3]
    store.append([make_result(run, error='ValueError: a, b "c"')])
    assert store.finished() == set()
    assert store.results()["error"].tolist() == ['ValueError: a, b "c"']
    store.append([make_result(run)])
    assert store.finished() == {run}
    assert len(store.results()) == 1


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_line_cut_short_by_a_kill_is_dropped(store, cut):
    store.append(map(make_result, RUNS[:5]))
    path = store.folder / "journal.csv"
    path.write_bytes(path.read_bytes()[:-cut])
    assert store.finished() == set(RUNS[:4])
    store.append([make_result(RUNS[9])])
    assert store.finished() == {*RUNS[:4], RUNS[9]}


def test_damaged_lines_are_named_and_nothing_is_overwritten(store):
    store.append(map(make_result, RUNS[:5]))
    path = store.folder / "journal.csv"
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = "garbage\n"
    lines[4] = lines[4].replace("2.5", "two")
    path.write_text("".join(lines))
    with pytest.raises(StoreError, match=r"damaged in line\(s\) 3, 5"):
        store.results()
    with pytest.raises(StoreError):
        store.compact()
    assert path.read_text() == "".join(lines)


def test_damaged_parquet_is_named(store):
    store.append(map(make_result, RUNS[:5]))
    store.compact()
    path = store.folder / "results.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match=r"results\.parquet is damaged"):
        store.results()


def test_store_of_another_version_is_refused(store):
    (store.folder / "FORMAT").write_text("99\n")
    with pytest.raises(StoreError, match="format 99"):
        Store(store.folder)
    (store.folder / "FORMAT").unlink()
    (store.folder / "journal.csv").write_text("a,b\n")
    with pytest.raises(StoreError, match="unknown version"):
        Store(store.folder)


def test_numbers_are_kept_to_eight_digits(store):
    store.append([make_result(make_run("Yacht", 1, "RR", 0), rmse_test=1.23456789012, seconds=0.000123456)])
    row = store.results().iloc[0]
    assert row["rmse_test"] == 1.2345679
    assert row["seconds"] == 0.0001235


def test_store_has_one_seed(store):
    store.claim_seed(0)
    store.claim_seed(0)
    with pytest.raises(StoreError, match="has results of seed 0, not 7"):
        store.claim_seed(7)


def test_file_is_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        Store(tmp_path / "file")


@dataclass(frozen=True)
class Toss:
    coin: str
    turn: int


@dataclass(frozen=True)
class Side:
    run: Toss
    height: float = field(default=np.nan, metadata={"digits": 3})
    note: str = ""
    error: str = ""


def test_results_of_another_kind_have_their_own_columns_and_digits(tmp_path):
    store = Store(tmp_path / "store", Side)
    tosses = [Toss("penny", 1), Toss("penny", 2)]
    store.append([Side(tosses[0], 1.23456, note="on its edge, for once"), Side(tosses[1], error="lost")])
    store.compact()
    frame = store.results()
    assert frame.columns.tolist() == ["coin", "turn", "height", "note", "error"]
    assert frame["height"].tolist()[0] == 1.23
    assert frame["note"].tolist() == ["on its edge, for once", ""]
    assert store.finished() == {tosses[0]}
    with pytest.raises(StoreError, match="columns of another version"):
        Store(store.folder).results()
