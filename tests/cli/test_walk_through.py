"""Every command of docs/command-line.md runs as it stands, and prints what the page shows, but for the numbers."""

import io
import os
import re
import shlex
import subprocess
import sysconfig
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from takagi.cli import main

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")


def read_steps():
    """Return the commands of the page with the output that it shows for each."""
    steps = []
    for line in "".join(BLOCKS).splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return [(command, "\n".join(shown)) for command, shown in steps]


def shape(text):
    return " ".join(NUMBER.sub("#", text).replace("- #", "+ #").split())


def run_here(command):
    """Run a command that needs no shell in this process, which saves the start of one; return what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed), pytest.raises(SystemExit) as ended:
        main(shlex.split(command)[1:])
    return ended.value.code or 0, printed.getvalue()


def run_in_shell(command):
    command = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.returncode, done.stdout


@pytest.mark.skipif(os.name == "nt", reason="the page is for a POSIX shell")
def test_every_command_of_the_page_runs_and_prints_what_it_shows(tmp_path, monkeypatch, one_process):
    for package in ("onnx", "jinja2", "matplotlib", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    steps = read_steps()
    assert len(steps) > 15
    for command, shown in steps:
        needs_shell = not command.startswith("takagi ") or any(sign in command for sign in "|<>&;$")
        code, printed = (run_in_shell if needs_shell else run_here)(command)
        assert code == 0, f"{command}\n{printed}"
        pattern = ".*".join(re.escape(shape(part)) for part in re.split(r"(?m)^\.\.\.$", shown))
        assert re.fullmatch(pattern, shape(printed)), f"{command}\n{printed}"
