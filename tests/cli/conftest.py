import shutil
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from made_cars import FIT, make_cars

from takagi.cli import main


@pytest.fixture
def call(capsys, one_process):
    """Run a command in this process; return its exit code, output and errors."""

    def run(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        return ended.value.code, *capsys.readouterr()

    return run


@pytest.fixture(scope="session")
def fitted(tmp_path_factory, one_process):
    """A folder with cars.csv and a model of it, made once."""
    folder = tmp_path_factory.mktemp("fitted")
    make_cars().to_csv(folder / "cars.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(folder / "cars.csv"), "-t", "price", "-o", str(folder / "cars.takagi"), *FIT, "--quiet"])
    assert not ended.value.code
    return folder


@pytest.fixture
def scratch(tmp_path, monkeypatch, fitted):
    """A scratch folder to work in, with cars.csv and cars.takagi."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for path in fitted.iterdir():
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.fixture
def listing(scratch):
    """What is in the scratch folder beside what was put there."""
    before = set(scratch.iterdir())
    return lambda: sorted(path.name for path in set(Path(scratch).iterdir()) - before)
