"""Tables on disk with any bytes: refused with a reason, or read and predicted."""

import csv
import io
import random
import warnings

import pytest
from hostile import ANYTHING, attack, bounded, has_controls
from hypothesis import given
from hypothesis import strategies as st

from takagi.cli import main


def write_table(names, cells, seed):
    """Return comma-separated values with some cells in random places of a plain table."""
    rng = random.Random(seed)
    rows = [[*map(str, names), "y"], *([*(f"{rng.random():.3f}" for _ in names), f"{k}"] for k in range(30))]
    for cell in cells:
        rows[rng.randrange(31)][rng.randrange(len(names) + 1)] = str(cell)
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode("utf-8", "surrogatepass")


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended, warnings.catch_warnings(), bounded():
            main(list(words))
        return ended.value.code or 0, *capsys.readouterr()

    return run


FIT = [
    "fit",
    "t.csv",
    "-t",
    "y",
    "-o",
    "m.takagi",
    "--recipe",
    "droprule",
    "--rules",
    "2",
    "--iterations",
    "5",
    "--force",
]


@attack
@given(st.lists(ANYTHING, min_size=1, max_size=3), st.lists(ANYTHING, max_size=3), st.integers(0, 2**32), st.booleans())
def test_commands_refuse_or_work_and_never_steer_the_terminal(call, tmp_path, names, cells, seed, is_json):
    (tmp_path / "t.csv").write_bytes(write_table(names, cells, seed))
    json = ["--json"] if is_json else []
    lines = [FIT, ("rules", "m.takagi", *json), ("explain", "m.takagi", "t.csv", "--row", "2", *json)]
    for line in lines:
        code, out, err = call(*line)
        assert code in (0, 1, 2)
        assert not has_controls(out + err)
        if code:
            assert "Error: " in err
            break


@attack
@given(st.binary(max_size=300))
def test_any_bytes_are_no_table_or_one(call, tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    code, out, err = call(*FIT)
    assert code in (0, 1, 2)
    assert not has_controls(out + err)
