import os
import subprocess
import sys
from pathlib import Path

import pytest

from _trials import Outcome, Trial, fail_trial
from accuracy import main
from takagi.experiments import Store

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CHANGED = """
import sys
from dataclasses import replace
sys.path.insert(0, {folder!r})
import accuracy
from _methods import METHODS

def spin(rows, seed):
    while True:
        pass

METHODS["SVR"] = replace(METHODS["SVR"], needs="no_such_module", pip="no-such-package")
METHODS["MLP"] = replace(METHODS["MLP"], fit=spin)
if __name__ == "__main__":
    accuracy.main()
"""


@pytest.fixture
def changed(tmp_path):
    """A script like accuracy.py in which SVR is missing and MLP never ends."""
    path = tmp_path / "changed.py"
    path.write_text(CHANGED.format(folder=str(BENCHMARKS)))
    return path


def start(data_home, *words, script=BENCHMARKS / "accuracy.py"):
    """Run the script in a process of its own."""
    environment = {**os.environ, "TAKAGI_DATA": data_home}
    command = [sys.executable, str(script), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900)


def test_second_call_runs_only_what_is_new(data_home, tmp_path, call, monkeypatch):
    monkeypatch.setenv("TAKAGI_DATA", data_home)
    words = ("--store", str(tmp_path), "--datasets", "Yacht", "--methods", "ridge,ridge both parts", "--partitions")
    first = start(data_home, "run", *words, "1")
    assert "2 trials, 0 are there." in first.stdout, first.stderr
    assert "4 trials, 2 are there." in call(main, "run", *words, "1,2")
    frame = Store(tmp_path, Outcome).results()
    assert len(frame) == 4
    assert (frame["note"] == "").all()
    assert "| ridge both parts |" in call(main, "show", "--store", tmp_path)


def test_missing_peer_is_named_and_a_fit_out_of_time_counts_as_the_mean_predictor(data_home, tmp_path, changed, call):
    store = tmp_path / "store"
    words = ("--store", str(store), "--datasets", "Yacht", "--partitions", "1", "--methods", "SVR,MLP,ridge")
    done = start(data_home, "run", *words, "--limit", "3", script=changed)
    assert "SVR: missing, not run (pip install no-such-package)" in done.stdout, done.stderr
    frame = Store(store, Outcome).results().set_index("method")
    assert frame["note"].to_dict() == {"MLP": "out of time", "ridge": ""}
    expected = fail_trial(Trial("Yacht", 1, "MLP"), "out of time", data_home=data_home)
    assert frame.loc["MLP", "rmse_test"] == pytest.approx(expected.rmse_test, rel=1e-6)
    assert "MLP on Yacht: out of time (1 times)" in call(main, "show", "--store", store)


@pytest.mark.parametrize(
    ("option", "message"),
    [("--methods", "did you mean 'CatBoost'"), ("--datasets", "dataset 'Catboost' is unknown"),
     ("--partitions", "Choose from '1', '2'")],
)  # fmt: skip
def test_unknown_names_are_refused(tmp_path, call, option, message):
    with pytest.raises(SystemExit, match=message):
        call(main, "run", "--store", tmp_path, option, "Catboost")
