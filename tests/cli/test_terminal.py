import os
import select
import subprocess
import sys
import time

import pytest
from made_cars import FIT

pytestmark = pytest.mark.slow


def run_on_terminal(*words, n_seconds=120):
    """Run the command on a terminal of 80 columns; return its exit code, and what the terminal shows."""
    pty = pytest.importorskip("pty")
    own, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-m", "takagi", *words]
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    shown, end = b"", time.monotonic() + n_seconds
    while time.monotonic() < end:
        if select.select([own], [], [], 0.5)[0]:
            try:
                piece = os.read(own, 65536)
            except OSError:  # the command has ended
                break
            shown += piece
    process.kill() if process.poll() is None and time.monotonic() >= end else None
    os.close(own)
    return process.wait(), shown.decode()


def test_a_fit_ends_on_a_terminal_and_its_bar_is_gone(scratch):
    code, shown = run_on_terminal("fit", "cars.csv", "-t", "price", "-o", "m.takagi", *FIT, "--no-score")
    assert code == 0
    assert "\u2501" in shown  # a bar was there
    assert shown.rstrip().splitlines()[-1].startswith("  takagi simplify m.takagi")


def test_predictions_on_a_terminal_have_no_bar_between_them(scratch):
    code, shown = run_on_terminal("predict", "cars.takagi", "cars.csv")
    assert code == 0
    assert "\u2501" not in shown
    assert len(shown.splitlines()) == 201
