import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_files():
    folder = Path(os.environ.get("TAKAGI_DATA") or Path(__file__).parents[3] / "shared" / "datasets")
    if not folder.is_dir():
        pytest.skip("needs the archives' files: set TAKAGI_DATA to their folder")
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of one's own, empty, and no other place to find files."""
    monkeypatch.delenv("TAKAGI_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "takagi"


class Archive(ThreadingHTTPServer):
    """A real server on loopback: for every path a list of answers, the last of which is given again and again."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.answers = {}
        self.asked = []

    def handle_error(self, *_):
        """Say nothing when a client has gone."""

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self):
        self.server.asked.append(self.path)
        answers = self.server.answers.get(self.path, [404])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, int):
            self.send_error(answer)
        elif callable(answer):
            answer(self)
        else:
            self.send_bytes(answer, len(answer))

    def send_bytes(self, body, length):
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


@pytest.fixture
def archive(monkeypatch):
    with Archive() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("TAKAGI_MIRROR", server.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def no2():
    """A file with the shape and the mean target of NO2."""
    return b"A study in Oslo, Norway.\n" + b"3.6984\t7.5\t-1\t2\t0.1\t180\t12\t300\n" * 500
