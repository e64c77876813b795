import errno
import subprocess
import sys

import pytest

from takagi import __version__
from takagi.cli import main
from takagi.cli._app import COMMANDS, word_error


def run(*words):
    with pytest.raises(SystemExit) as caught:
        main(words)
    return caught.value.code


def test_version_is_the_packages(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"{__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        (),
        *((command.name,) for command in COMMANDS if command.example),
        *(("data", *words) for words in ([], ["list"], ["fetch"], ["path"])),
        *(("experiment", name) for name in ("run", "draw", "show", "claims")),
    ],
)
def test_help_shows_an_example_of_every_command(words, capsys):
    assert run(*words, "--help") == 0
    assert f"Example: {' '.join(['takagi', *words])}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [(), ("data", "fetch"), ("experiment", "run"), *((command.name,) for command in COMMANDS)]
)
def test_help_is_plain_and_fits_the_screen(words, capsys, monkeypatch):
    monkeypatch.setattr("takagi.cli._console.console._width", 80)
    run(*words, "--help")
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert not set("<>{}╭│") & set(shown)
    assert "--no-quick" not in shown


def test_help_says_how_to_call_a_command_and_what_its_defaults_are(capsys):
    run("fit", "--help")
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("Usage: takagi fit TABLE... --target COLUMN --output MODEL [OPTIONS] Fit a few rules")
    assert "-t, --target COLUMN The column to predict. [required]" in shown
    assert "--max-levels N The most levels of a category that are told apart;" in shown
    assert "means. [default: 20]" in shown
    assert "--accurate Many rules" in shown
    run("data", "fetch", "--help")
    assert "Usage: takagi data fetch [NAMES]... [OPTIONS]" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_summaries_are_what_the_commands_say_of_themselves(command, capsys):
    run(command.name, "--help")
    assert command.summary in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [["--version"], ["--help"]])
def test_what_needs_no_command_starts_quickly(words):
    """Time differs by machine and load; what is imported does not."""
    code = f"import sys; from takagi.cli import main; sys.argv[1:] = {words}\n"
    code += "try: main()\nexcept SystemExit: sys.exit(' '.join({'numpy', 'sklearn', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout
    assert (done.returncode, done.stderr) == (1, "\n")


@pytest.mark.parametrize("name", [command.name for command in COMMANDS if command.example])
def test_every_command_has_json_and_quiet(name, capsys):
    run(name, "--help")
    shown = capsys.readouterr().out
    assert "--json" in shown
    assert "--quiet" in shown


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


@pytest.mark.slow
@pytest.mark.parametrize("package", ["typer", "rich"])
def test_missing_package_is_one_line_with_what_to_install(package):
    code = f"import sys; sys.modules['{package}'] = None; from takagi.cli import main; main(['data', 'path'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f'The command takagi needs {package}: pip install "takagi[cli]"\n'


@pytest.mark.slow
def test_module_runs_as_the_command():
    done = subprocess.run([sys.executable, "-m", "takagi", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_errors_are_a_line_or_two_and_an_exit_code(capsys):
    assert run("fitt") == 2
    assert capsys.readouterr() == ("", "Error: No such command 'fitt'. Did you mean 'fit'?\nTry: takagi --help\n")
    assert run("fit", "cars.csv", "--target", "price") == 2
    assert capsys.readouterr().err == "Error: Missing option '--output' / '-o'.\nTry: takagi fit --help\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "there is no room for the output on the disk"),
        (PermissionError(errno.EACCES, "Permission denied", "/cars.csv"), "Permission denied: /cars.csv"),
        (MemoryError(), "there is not enough memory"),
        (KeyError(), "KeyError"),
    ],
)
def test_errors_of_the_system_are_in_words(error, message):
    assert word_error(error).startswith(message)
