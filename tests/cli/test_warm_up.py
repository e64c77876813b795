import json
import subprocess
import sys
from pathlib import Path

import pytest

from takagi import workflow
from takagi.cli import main


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_it_tells_where_the_code_is(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["warm-up", *words])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    folder = json.loads(out)["folder"] if words else out.removeprefix("Compiled code is in ").rpartition(" (")[0]
    assert any(Path(folder).glob("_training.train_block-*"))


def test_without_a_folder_it_says_what_to_do(monkeypatch, capsys):
    def refuse():
        raise OSError("no folder for compiled code can be written to; set TAKAGI_CACHE_DIR to one that can.")

    monkeypatch.setattr(workflow, "warm_up", refuse)
    with pytest.raises(SystemExit) as ended:
        main(["warm-up"])
    assert ended.value.code == 1
    assert "set TAKAGI_CACHE_DIR" in capsys.readouterr().err


@pytest.mark.slow
def test_afterwards_a_fit_compiles_nothing(tmp_path, monkeypatch):
    """In a process that cannot write, as in an image whose files are read-only."""
    monkeypatch.setenv("TAKAGI_CACHE_DIR", str(tmp_path))
    subprocess.run([sys.executable, "-m", "takagi", "warm-up"], check=True, timeout=600)
    program = """
import tempfile
import numpy as np
from takagi import TSKClassifier, TSKRegressor, kernels
from takagi.initializers import GridInitializer
def refuse(*args, **options):
    raise PermissionError(13, "Permission denied")
tempfile.mkstemp = refuse
X = np.random.default_rng(0).normal(size=(300, 3))
TSKRegressor(max_iter=10).fit(X, X[:, 0] * X[:, 1]).predict(X)
TSKRegressor(8, max_iter=10, recipe="droprule", init=GridInitializer(2)).fit(X, X[:, 0] * X[:, 1])
TSKClassifier(max_iter=10).fit(X, X[:, 0] * X[:, 1] > 0).predict(X)
kinds = [kernel for kernel in vars(kernels).values() if hasattr(kernel, "stats")]
print(sum(sum(kernel.stats.cache_misses.values()) for kernel in kinds))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("0\n", "")
