import sys
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parents[2] / "benchmarks"), str(Path(__file__).parent)]


@pytest.fixture(scope="session")
def data_home(tmp_path_factory):
    """A folder of data in which Yacht is an invented set, of as many rows as the real one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(308, 6))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * rng.normal(size=308)
    y += 10.4954 - y.mean()  # the loader checks the mean
    folder = tmp_path_factory.mktemp("data") / "uci" / "yacht"
    folder.mkdir(parents=True)
    np.savetxt(folder / "yacht_hydrodynamics.data", np.column_stack([X, y]), fmt="%.9f")
    return str(folder.parents[1])


@pytest.fixture
def call(monkeypatch, capsys):
    """Call the main function of a script in this process, and return what it prints."""

    def run(main, *words):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["script.py", *map(str, words)])
        main()
        return capsys.readouterr().out

    return run
