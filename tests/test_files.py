import os
import subprocess
import sys

import pytest

from takagi._files import open_regular, replace_when_whole, write_whole

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no such files and signals")


def leave_part(path, pid):
    """Leave a temporary file behind as a process of that number would that is killed while it writes."""
    with replace_when_whole(path) as temporary:
        left = temporary.with_name(temporary.name.replace(f"-{os.getpid()}-", f"-{pid}-"))
        temporary.write_bytes(b"")
    left.write_bytes(b"half of it")
    return left


@pytest.fixture(scope="session")
def dead():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_names_as_long_as_the_disk_allows_can_be_written(tmp_path):
    path = tmp_path / ("n" * 251 + ".csv")
    write_whole(path, b"1")
    assert path.read_bytes() == b"1"
    assert os.listdir(tmp_path) == [path.name]


def test_what_a_killed_process_has_left_is_removed_by_the_next_one(tmp_path, dead):
    left = leave_part(tmp_path / "out.csv", dead)
    write_whole(tmp_path / "other.csv", b"2")
    assert left.exists()  # it is of another file
    write_whole(tmp_path / "out.csv", b"3")
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "out.csv"]


def test_what_a_process_still_writes_is_left_alone(tmp_path):
    left = leave_part(tmp_path / "out.csv", os.getppid())
    write_whole(tmp_path / "out.csv", b"3")
    assert left.read_bytes() == b"half of it"


def test_only_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe is a pipe or a device"):
        open_regular(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")
