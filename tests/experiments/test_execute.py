import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from takagi.experiments import Scope, Store, execute, pending_runs, plan_runs, run_experiment

DATA = Path(os.environ.get("TAKAGI_DATA") or Path(__file__).parents[3] / "shared" / "datasets")
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the datasets: set TAKAGI_DATA to their folder"),
    pytest.mark.filterwarnings("ignore"),  # filters are the process's, and some runs warn in threads
]

SCOPE = Scope(datasets=("Concrete-CS", "Yacht"), repeats=1, rules=(4,))
RUNS = plan_runs("fig4", SCOPE)


def errors_of(results):
    return {result.run: (result.rmse_val, result.rmse_test, result.best_iter) for result in results}


@pytest.fixture(scope="module")
def expected():
    return errors_of(execute(RUNS, n_workers=1, data_home=str(DATA)))


def test_runs_give_sensible_errors(expected):
    assert set(expected) == set(RUNS)
    assert np.isfinite(list(expected.values())).all()


@pytest.mark.parametrize("backend", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_results_depend_neither_on_workers_nor_on_order(expected, backend):
    results = execute(RUNS[::-1], backend=backend, n_workers=2, data_home=str(DATA))
    assert errors_of(results) == expected


def test_unknown_backend_gets_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'threads'"):
        next(execute(RUNS, backend="thread"))


def test_second_call_runs_only_what_is_new(tmp_path):
    store = Store(tmp_path)
    assert run_experiment("fig4", store, SCOPE, data_home=str(DATA)) == []
    assert pending_runs("fig4", store, SCOPE) == []
    wider = pending_runs("fig4", store, Scope(datasets=SCOPE.datasets, repeats=1, rules=(4, 8)))
    assert {run.n_rules for run in wider} == {8}


def test_failing_run_is_stored_with_its_error_and_tried_again(tmp_path):
    store = Store(tmp_path / "store")
    empty = tmp_path / "empty"
    (empty / "uci" / "yacht").mkdir(parents=True)
    (empty / "uci" / "yacht" / "yacht_hydrodynamics.data").write_text("not a table\n")
    scope = Scope(datasets=("Yacht",), repeats=1, rules=(4,))
    failed = run_experiment("fig8", store, scope, data_home=str(empty))
    assert len(failed) == 5
    assert all(store.results()["error"] != "")
    assert len(pending_runs("fig8", store, scope)) == 5


@pytest.mark.slow
def test_dask_cluster_survives_a_killed_worker(expected):
    distributed = pytest.importorskip("dask.distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        results = []
        for result in execute(RUNS, backend="dask", scheduler=cluster.scheduler_address, data_home=str(DATA)):
            results.append(result)
            if len(results) == 3:
                os.kill(pids[0], signal.SIGKILL)
        assert errors_of(results) == expected


@pytest.mark.slow
def test_unreachable_scheduler_is_named(monkeypatch):
    pytest.importorskip("dask.distributed")
    monkeypatch.setattr("takagi.experiments._execute._CONNECT_SECONDS", 1)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        next(execute(RUNS, backend="dask", scheduler="tcp://127.0.0.1:1"))


@pytest.mark.slow
def test_killed_experiment_goes_on_where_it_was(tmp_path, expected):
    command = [
        sys.executable, "-m", "takagi", "experiment", "run", "fig4", "--datasets", "Concrete-CS,Yacht",
        "--repeats", "1", "--rules", "4", "--workers", "1", "--data-home", str(DATA), "--store", str(tmp_path),
    ]  # fmt: skip
    journal = tmp_path / "journal.csv"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and (not journal.exists() or journal.read_text().count("\n") < 5):
            pass
        process.kill()
    done = Store(tmp_path).finished()
    assert done
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{len(done)} were there" in finished.stdout
    frame = Store(tmp_path).results()
    assert len(frame) == len(RUNS)
    for run, (_, rmse_test, _) in expected.items():
        row = frame[(frame[list(vars(run))] == list(vars(run).values())).all(axis=1)]
        assert row["rmse_test"].item() == pytest.approx(rmse_test, rel=1e-7)
