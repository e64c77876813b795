"""Every command of docs/command-line.md runs as it stands, and prints what the page shows, but for the numbers."""

import os
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest

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


@pytest.mark.skipif(os.name == "nt", reason="the page is for a POSIX shell")
def test_every_command_of_the_page_runs_and_prints_what_it_shows(tmp_path):
    for package in ("onnx", "jinja2", "matplotlib", "pyarrow"):
        pytest.importorskip(package)
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "OMP_NUM_THREADS": "1"}
    steps = read_steps()
    assert len(steps) > 15
    for command, shown in steps:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        pattern = ".*".join(re.escape(shape(part)) for part in re.split(r"(?m)^\.\.\.$", shown))
        assert re.fullmatch(pattern, shape(done.stdout)), f"{command}\n{done.stdout}"
