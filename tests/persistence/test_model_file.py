import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_models import (
    load_bytes,
    seal,
)

from takagi import RuleBase
from takagi.export import to_json
from takagi.persistence import ModelFileError, load, save


def test_sealing_in_these_tests_is_what_save_does(small_file):
    assert seal(json.loads(small_file)) == small_file


def test_every_flipped_byte_is_found(small_file, tmp_path):
    for k in range(len(small_file)):
        damaged = bytearray(small_file)
        damaged[k] ^= (1, 0x20, 0x80, 0xFF)[k % 4]
        with pytest.raises(ModelFileError):
            load_bytes(damaged, tmp_path)


def test_a_file_cut_short_anywhere_is_found(small_file, tmp_path):
    for k in range(len(small_file)):
        with pytest.raises(ModelFileError, match=r"empty|cut short|checksum"):
            load_bytes(small_file[:k], tmp_path)


@pytest.mark.parametrize("extra", [b"\n", b" ", b"}", b"\0", b"PK"])
def test_a_file_with_more_at_its_end_is_found(extra, small_file, tmp_path):
    with pytest.raises(ModelFileError):
        load_bytes(small_file + extra, tmp_path)


def test_a_file_written_anew_by_another_program_is_edited(small_file, tmp_path):
    with pytest.raises(ModelFileError, match="edited by hand"):
        load_bytes(json.dumps(json.loads(small_file), indent=1).encode(), tmp_path)


@given(st.binary(max_size=200), st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_refused(tmp_path, content, with_start):
    start = b'{"format":"takagi-model","version":1,' if with_start else b""
    with pytest.raises(ModelFileError):
        load_bytes(start + content, tmp_path)


# -- foreign files -----------------------------------------------------------------------------------------------------


def zipped():
    path = Path("model.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", "b")
    return path.read_bytes()


FOREIGN = {
    "nothing": (lambda: b"", "is empty"),
    "pickle": (lambda: pickle.dumps({"a": 1}), "looks like a pickle"),
    "zip": (zipped, "not a model file of takagi"),
    "other JSON": (lambda: b'{"format": "other"}', "not a model file of takagi"),
    "rules for a page": (
        lambda: to_json(RuleBase(centers=[[0]], widths=[[1]], consequents=[[[0, 1]]])).encode(),
        "rules exported for a web page",
    ),
    "text": (lambda: "Überschrift".encode("utf-16"), "not a model file of takagi"),
    "newer": (
        lambda: b'{"format":"takagi-model","version":3,"x":[',
        r"format version 3.*reads versions up to 2.*Upgrade",
    ),
    "spaced newer": (lambda: b'{ "format": "takagi-model",\n "version": 17, }', "format version 17"),
    "version 0": (lambda: b'{"format":"takagi-model","version":0,', "version 0, which does not exist"),
}


@pytest.mark.parametrize(("make", "message"), FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_named(make, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelFileError, match=rf"model.takagi cannot be loaded: .*{message}"):
        load_bytes(make(), tmp_path)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.takagi"):
        load(tmp_path / "nowhere.takagi")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_a_device_and_a_pipe_that_nobody_writes_to_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(OSError, match=f"{path} is a pipe or a device"):
            load(path)


def test_a_large_file_is_refused_unless_asked_for(small_file, tmp_path):
    with pytest.raises(ModelFileError, match=f"larger than {len(small_file) - 1:,} bytes; raise max_bytes"):
        load_bytes(small_file, tmp_path, max_bytes=len(small_file) - 1)
    load_bytes(small_file, tmp_path, max_bytes=len(small_file))


def test_bad_paths_are_refused(tmp_path):
    rules = RuleBase(centers=[[0]], widths=[[1]], consequents=[[[0, 1]]])
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere does not exist"):
        save(rules, tmp_path / "nowhere" / "model.takagi")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(rules, tmp_path)


# -- writing -----------------------------------------------------------------------------------------------------------

CHILD = """
import sys
import numpy as np
from takagi import RuleBase
from takagi.persistence import save

models = [RuleBase(centers=np.full((200, 50), k), widths=np.ones((200, 50)), consequents=np.zeros((200, 1, 51)))
          for k in (1.0, 2.0)]
print("ready", flush=True)
while True:
    for model in models:
        save(model, sys.argv[1])
"""


@pytest.mark.slow
def test_a_kill_while_saving_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.takagi"
    dice = random.Random(0)
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            while not path.exists():
                pass
            deadline = time.monotonic() + dice.uniform(0.0, 0.2)
            n_loaded = 0
            while time.monotonic() < deadline or n_loaded < 3:  # a reader beside the writer sees whole files, too
                assert load(path).centers[0, 0] in (1.0, 2.0)
                n_loaded += 1
            os.kill(child.pid, signal.SIGKILL)
        assert load(path).centers[0, 0] in (1.0, 2.0)


FULL_DISK = """
import resource, signal, sys
from takagi.persistence import load, save

model = load(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save(model, sys.argv[1])
except OSError as error:
    print("refused", error.errno)
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_file, tmp_path):
    path = tmp_path / "model.takagi"
    path.write_bytes(small_file)
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused")
    assert path.read_bytes() == small_file
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_replaces_what_it_points_to(small_file, tmp_path):
    target, link = tmp_path / "v1.takagi", tmp_path / "current.takagi"
    target.write_bytes(b"old")
    link.symlink_to(target)
    save(RuleBase(centers=[[0]], widths=[[1]], consequents=[[[0, 1]]]), link)
    assert link.is_symlink()
    assert load(target) == load(link)
