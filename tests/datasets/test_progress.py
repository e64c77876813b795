import os
import sys

import pytest

from takagi.datasets._fetch import show_download


def test_without_a_terminal_one_line_says_what_comes_from_where(capsys):
    with show_download("a.data", "http://archive/a.data") as advance:
        advance(10, 100)
    assert capsys.readouterr() == ("", "downloading http://archive/a.data\n")


def test_quiet_says_nothing(capsys):
    with show_download("a.data", "http://archive/a.data", quiet=True) as advance:
        advance(10, None)
    assert capsys.readouterr() == ("", "")


def read_all(terminal):
    """Yield what a terminal shows until the other end is closed."""
    try:
        while chunk := os.read(terminal, 4096):
            yield chunk
    except OSError:  # how Linux says that it is
        return


@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_terminal_gets_a_bar(monkeypatch):
    pytest.importorskip("rich")
    terminal, other_end = os.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(other_end, "w") as stream, monkeypatch.context() as context:
        context.setattr(sys, "stderr", stream)
        with show_download("a.data", "http://archive/a.data") as advance:
            advance(50_000, 200_000)
            advance(200_000, 200_000)
    shown = b"".join(read_all(terminal)).decode()
    os.close(terminal)
    assert "a.data" in shown
    assert "200.0/200.0 kB" in shown
