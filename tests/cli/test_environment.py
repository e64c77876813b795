"""The command where streams are closed or full and variables are strange."""

import os
import shlex
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no such devices"),
]


def shell(line, **variables):
    """Run a line of a shell in which TAKAGI is the command; return its exit code, output and errors."""
    command = f"{shlex.quote(sys.executable)} -m takagi"
    done = subprocess.run(
        ["sh", "-c", line.replace("TAKAGI", command)],
        capture_output=True, text=True, env=os.environ | variables, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("columns", ["0", "00", "", "1", "-3", "wide", "99999999"])
def test_any_width_of_lines_shows_the_rules(scratch, columns):
    code, out, _ = shell("TAKAGI rules cars.takagi", COLUMNS=columns)
    assert code == 0
    assert "THEN price =" in out


@pytest.mark.parametrize("words", ["rules cars.takagi", "rules cars.takagi --json", "predict cars.takagi cars.csv"])
def test_a_closed_output_is_an_error(scratch, words):
    code, _, err = shell(f"TAKAGI {words} >&-")
    assert code == 1
    assert err.endswith("Error: the standard output is closed.\n")


def test_a_closed_input_is_an_empty_one(scratch):
    code, _, err = shell("TAKAGI predict cars.takagi - <&-")
    assert code == 1
    assert "the standard input is empty" in err


@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-"])
def test_remarks_that_cannot_be_written_do_not_cost_the_output(scratch, errors):
    code, out, _ = shell(f"TAKAGI predict cars.takagi cars.csv -o out.csv {errors}")
    assert (code, out) == (0, "Wrote out.csv: 200 rows\n")
    assert len((scratch / "out.csv").read_text().splitlines()) == 201


def test_a_full_output_is_an_error(scratch):
    code, _, err = shell("TAKAGI rules cars.takagi >/dev/full")
    assert code == 1
    assert "there is no room for the output" in err
