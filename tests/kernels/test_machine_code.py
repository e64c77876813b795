"""Where machine code is kept: old code never runs after an edit, damaged code never runs, and no folder is needed.

Each test works on a copy of the package in a process of its own. A folder that cannot be written to is a file of its
name: the administrator that tests may run as ignores permissions, but nobody can make a folder of a file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from takagi import kernels

# One kernel that calls functions of other files and compiles quickly.
PROGRAM = """
import logging
import numpy as np
from takagi import kernels
logging.basicConfig()
print(kernels.is_compiled(kernels.assign_memberships))
work = kernels.make_work(kernels.Shape(1, 2, 1, 1, 0, 0), kernels.BLOCK_ROWS)
work.inverse[:], work.offset[:] = 1.0, -kernels.to_lanes(np.array([[0.0], [3.0]]))
memberships = np.zeros((2, kernels.LANES))
kernels.assign_memberships(np.array([[0.0], [1.0]]), np.ones(2), memberships, 2.0, 2, work, 1)
stats = kernels.assign_memberships.stats
print(sum(stats.cache_misses.values()), stats.cache_path)
print(memberships[:, :2].round(6).tolist())
"""
UNWRITABLE = """
import tempfile
def refuse(*args, **options):
    raise PermissionError(13, "Permission denied")
tempfile.mkstemp = refuse
"""
PLACES = ("NUMBA_CACHE_DIR", "TAKAGI_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH")
BEFORE = "            za = zb = zc = zd = splat(0.0)\n"
AFTER = "            za = zb = zc = zd = splat(5.0)\n"


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels, in a package that has nothing else."""
    folder = tmp_path / "site" / "takagi"
    shutil.copytree(Path(kernels.__file__).parent, folder / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__init__.py").touch()
    return folder


class Outcome(NamedTuple):
    """What a process told."""

    was_there: bool
    n_compiled: int
    folder: Path | None
    numbers: str
    remarks: str = ""


def start(package: Path, program: str = PROGRAM, **variables: object) -> subprocess.Popen:
    kept = {name: value for name, value in os.environ.items() if name not in PLACES}
    own = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}  # Python goes by time and size
    environment = kept | own | {name: str(value) for name, value in variables.items()}
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def wait(process: subprocess.Popen) -> Outcome:
    out, remarks = process.communicate()
    assert process.returncode == 0, remarks
    was_there, second, numbers = out.splitlines()
    n_compiled, folder = second.split(" ", 1)
    return Outcome(was_there == "True", int(n_compiled), None if folder == "None" else Path(folder), numbers, remarks)


def run(package: Path, program: str = PROGRAM, **variables: object) -> Outcome:
    return wait(start(package, program, **variables))


def edit(package: Path, old: str, new: str) -> None:
    """Change a function that the kernel calls, in another file, without a trace in the file's time and size."""
    path = package / "kernels" / "_batch.py"
    times = path.stat()
    assert path.read_text().count(old) >= 1
    path.write_text(path.read_text().replace(old, new, 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.slow
def test_new_code_runs_after_an_edit_and_old_code_after_going_back(package):
    first = run(package)
    assert not first.was_there
    assert package / "kernels" / "__pycache__" in first.folder.parents
    edit(package, BEFORE, AFTER)
    second = run(package)
    assert not second.was_there
    assert second.numbers != first.numbers
    edit(package, AFTER, BEFORE)
    assert run(package) == first._replace(was_there=True, n_compiled=0)


@pytest.mark.parametrize("variable", ["TAKAGI_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_code_goes_to_the_folder_that_is_told(variable, package, tmp_path):
    assert tmp_path / "own" in run(package, **{variable: tmp_path / "own"}).folder.parents


@pytest.mark.slow
def test_code_goes_to_the_users_folder_if_the_installation_cannot_be_written_to(package, tmp_path):
    (package / "kernels" / "__pycache__").touch()
    first = run(package, XDG_CACHE_HOME=tmp_path / "cache")
    assert tmp_path / "cache" / "takagi" in first.folder.parents
    assert run(package, XDG_CACHE_HOME=tmp_path / "cache") == first._replace(was_there=True, n_compiled=0)


def test_code_stays_in_memory_if_no_folder_can_be_written_to(package, tmp_path):
    (package / "kernels" / "__pycache__").touch()
    (tmp_path / "cache").touch()
    outcome = run(package, XDG_CACHE_HOME=tmp_path / "cache", TAKAGI_CACHE_DIR=tmp_path / "cache")
    assert outcome[:3] == (False, 1, None)
    assert outcome.numbers.startswith("[[")
    assert outcome.remarks.count("no folder can be written to") == 1


@pytest.mark.slow
def test_a_filled_folder_serves_those_who_cannot_write_to_it(package, tmp_path):
    first = run(package, TAKAGI_CACHE_DIR=tmp_path / "filled")
    again = run(package, UNWRITABLE + PROGRAM, TAKAGI_CACHE_DIR=tmp_path / "filled")
    assert again == first._replace(was_there=True, n_compiled=0)


@pytest.mark.slow
def test_damaged_code_is_compiled_anew(package):
    first = run(package)
    (path,) = first.folder.glob("*.code")
    whole = path.read_bytes()
    for spoiled in (b"", whole[: len(whole) // 2], whole[:-100] + bytes(100)):
        path.write_bytes(spoiled)
        outcome = run(package)
        assert outcome.n_compiled == 1
        assert outcome.numbers == first.numbers
        assert outcome.remarks.count("is damaged") == 1
    assert run(package) == first._replace(was_there=True, n_compiled=0)


@pytest.mark.slow
def test_processors_do_not_share_code(package):
    first = run(package, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    other = run(package)
    assert other.n_compiled == 1
    assert other.numbers == first.numbers
    assert len(list(first.folder.glob("*.code"))) == 2


@pytest.mark.parametrize("n_processes", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_any_number_of_processes_may_fill_a_folder_at_once(n_processes, package):
    started = [start(package) for _ in range(n_processes)]
    outcomes = [wait(process) for process in started]
    assert len({outcome.numbers for outcome in outcomes}) == 1
    assert not any(outcome.remarks for outcome in outcomes)
    assert len(list(outcomes[0].folder.iterdir())) == 1
    assert run(package).n_compiled == 0
