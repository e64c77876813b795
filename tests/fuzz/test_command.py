"""The command in strange environments: an exit code and a message, never a traceback."""

import os
import subprocess
import sys

import pytest
from hostile import attack
from hypothesis import given, settings
from hypothesis import strategies as st

from takagi import RuleBase, save

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no such devices"),
]
STREAMS = st.sampled_from(["", "<&-", ">&-", "2>&-", ">/dev/full", "2>/dev/full", "| head -c 1", ">&- 2>&- <&-"])
VALUES = st.sampled_from(["0", "-1", "1", "999999999", "", "x", "\u202e", "C", "dumb", "/dev/full", "/nowhere/at/all"])
VARIABLES = st.sampled_from([
    "COLUMNS", "LINES", "TERM", "LANG", "LC_ALL", "PYTHONIOENCODING", "NO_COLOR", "FORCE_COLOR", "HOME", "TMPDIR",
    "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TAKAGI_DATA",
])  # fmt: skip
COMMANDS = st.sampled_from(["rules m.takagi", "rules m.takagi --json", "predict m.takagi t.csv", "data path", "--help"])


@settings(attack, max_examples=min(attack.max_examples, 600))
@given(COMMANDS, STREAMS, st.dictionaries(VARIABLES, VALUES, max_size=3))
def test_no_environment_gives_a_traceback(tmp_path, command, streams, variables):
    save(RuleBase([[0.0]], [[2.0]], [[[1.0, 0.5]]], feature_names=["speed"]), tmp_path / "m.takagi")
    (tmp_path / "t.csv").write_text("speed\n1\n2\n")
    variables = {name: value for name, value in variables.items() if (name, value) != ("PYTHONIOENCODING", "x")}
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m takagi {command} {streams}"],
        capture_output=True, cwd=tmp_path, env=os.environ | variables, timeout=120, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 1, 2)
    if not streams and not done.returncode:
        assert done.stdout
