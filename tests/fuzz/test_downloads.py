"""Archives that answer anything: an error that says why, soon, with nothing left behind."""

import os
import socket
import threading
from dataclasses import replace

import pytest
from hostile import attack, bounded
from hypothesis import given
from hypothesis import strategies as st

from takagi.datasets import DownloadError
from takagi.datasets._fetch import Patience, download_file
from takagi.datasets._registry import DATASETS

SOURCE = DATASETS["NO2"].source
HEADS = st.sampled_from(
    [b"HTTP/1.1 200 OK", b"HTTP/1.0 302 Found", b"HTTP/1.1 503 x", b"HTTP/9.9 -1 ?", b"", b"\0\xff", b"H" * 70_000]
)
FIELDS = st.sampled_from([
    b"Content-Length: 10", b"Content-Length: -5", b"Content-Length: " + b"9" * 30, b"Content-Length: abc",
    b"Location: file:///etc/passwd", b"Location: ftp://127.0.0.1:1/", b"Location: /again", b"Location: \xff",
    b"Transfer-Encoding: chunked", b"Content-Encoding: gzip", b"X: y\r\n" * 300, b"\xff\0: \r",
])  # fmt: skip
BODIES = st.sampled_from([b"", b"1 2 3\n", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\xff" * 1_000, b"ffffffff\r\n1"])


@pytest.fixture(scope="module")
def archive():
    """An address, and a list whose bytes it gives to everyone who asks."""
    answer = [b""]
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(5)
                    try:
                        connection.recv(4096)
                        connection.sendall(answer[0])
                    except OSError:
                        continue

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", answer


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # urllib leaves sockets to be collected
@attack
@given(HEADS, st.lists(FIELDS, max_size=4), st.one_of(BODIES, st.binary(max_size=200)), st.booleans())
def test_no_answer_gets_through(archive, monkeypatch, tmp_path, head, fields, body, is_zip):
    address, answer = archive
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TAKAGI_MIRROR", address)
    answer[0] = b"\r\n".join([head, *fields, b"", body])
    source = replace(SOURCE, urls=("http://archive.invalid/NO2.zip" if is_zip else "http://archive.invalid/NO2.dat",))
    with bounded(seconds=20), pytest.raises(DownloadError, match=r"NO2\.dat could not be downloaded"):
        download_file(source, tmp_path, quiet=True, patience=Patience(attempts=2, backoff=0.001, timeout=2, longest=4))
    assert os.listdir(tmp_path) == []
