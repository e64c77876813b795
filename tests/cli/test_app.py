import subprocess
import sys

import pytest

from takagi import __version__
from takagi.cli import main

pytest.importorskip("typer")
pytest.importorskip("rich")


def run(*words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    return caught.value.code


def test_version_is_the_packages(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"{__version__}\n"


@pytest.mark.parametrize("words", [(), ("data",), ("data", "list"), ("data", "fetch"), ("data", "path")])
def test_help_shows_an_example_of_every_command(words, capsys):
    assert run(*words, "--help") == 0
    assert "Example: takagi data" in capsys.readouterr().out


@pytest.mark.parametrize("words", [("dta",), ("data", "lst"), ("data", "list", "--jsn")])
def test_misuse_is_exit_code_two_without_a_traceback(words, capsys):
    assert run(*words) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_debug_shows_where_an_error_comes_from(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TAKAGI_DATA", raising=False)
    assert run("data", "path", "NO2") == 1
    with pytest.raises(FileNotFoundError):
        main(["data", "path", "NO2", "--debug"])


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_missing_package_is_one_line_with_what_to_install(package):
    code = f"import sys; sys.modules['{package}'] = None; from takagi.cli import main; main(['data', 'path'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f'The command takagi needs {package}: pip install "takagi[cli]"\n'


def test_module_runs_as_the_command():
    done = subprocess.run([sys.executable, "-m", "takagi", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")
