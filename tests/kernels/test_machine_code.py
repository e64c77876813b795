"""Where machine code is kept: old code never runs after an edit, and an installation need not be writable.

Each test works on a copy of the package in a process of its own. A folder that cannot be written to is a file of its
name: the administrator that tests may run as ignores permissions, but nobody can make a folder of a file.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from takagi import kernels

# One kernel that calls functions of other files and compiles quickly.
PROGRAM = """
import numpy as np
from takagi import kernels
print(kernels.is_compiled(kernels.assign_memberships), kernels.assign_memberships.stats.cache_path)
work = kernels.make_work(kernels.Shape(1, 2, 1, 1, 0, 0), kernels.BLOCK_ROWS)
work.inverse[:], work.offset[:] = 1.0, -kernels.to_lanes(np.array([[0.0], [3.0]]))
memberships = np.zeros((2, kernels.LANES))
kernels.assign_memberships(np.array([[0.0], [1.0]]), np.ones(2), memberships, 2.0, 2, work, 1)
print(memberships[:, :2].round(6).tolist())
"""
BEFORE = "            za = zb = zc = zd = splat(0.0)\n"
AFTER = "            za = zb = zc = zd = splat(5.0)\n"


@pytest.fixture
def package(tmp_path):
    """A copy of the kernels, in a package that has nothing else."""
    folder = tmp_path / "site" / "takagi"
    shutil.copytree(Path(kernels.__file__).parent, folder / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__init__.py").touch()
    return folder


def run(package: Path, **variables: Path) -> tuple[bool, Path | None, str]:
    """Return whether code was there, the folder of the code, and the numbers that it computed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    own = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}  # Python goes by time and size
    environment = kept | own | {name: str(path) for name, path in variables.items()}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    first, numbers = done.stdout.splitlines()
    was_there, folder = first.split(" ", 1)
    return was_there == "True", None if folder == "None" else Path(folder), numbers


def edit(package: Path, old: str, new: str) -> None:
    """Change a function that the kernel calls, in another file, without a trace in the file's time and size."""
    path = package / "kernels" / "_batch.py"
    times = path.stat()
    assert path.read_text().count(old) >= 1
    path.write_text(path.read_text().replace(old, new, 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_new_code_runs_after_an_edit_and_old_code_after_going_back(package):
    first = run(package)
    assert not first[0]
    assert package / "kernels" / "__pycache__" in first[1].parents
    edit(package, BEFORE, AFTER)
    was_there, _, numbers = run(package)
    assert not was_there
    assert numbers != first[2]
    edit(package, AFTER, BEFORE)
    assert run(package) == (True, *first[1:])


def test_code_goes_to_the_folder_that_numba_is_told(package, tmp_path):
    _, folder, _ = run(package, NUMBA_CACHE_DIR=tmp_path / "own")
    assert tmp_path / "own" in folder.parents


def test_code_goes_to_the_users_folder_if_the_installation_cannot_be_written_to(package, tmp_path):
    (package / "kernels" / "__pycache__").touch()
    variables = {"XDG_CACHE_HOME": tmp_path / "cache"}
    first = run(package, **variables)
    assert tmp_path / "cache" / "takagi" in first[1].parents
    assert run(package, **variables) == (True, *first[1:])


def test_code_stays_in_memory_if_no_folder_can_be_written_to(package, tmp_path):
    (package / "kernels" / "__pycache__").touch()
    (tmp_path / "cache").touch()
    was_there, folder, numbers = run(package, XDG_CACHE_HOME=tmp_path / "cache", NUMBA_CACHE_DIR=tmp_path / "cache")
    assert (was_there, folder) == (False, None)
    assert numbers.startswith("[[")
