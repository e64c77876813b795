import io

import pytest
from rich.console import Console

from takagi._text import remove_controls
from takagi.cli import _progress
from takagi.workflow import Event


def work(n_tasks, tell):
    for k in range(n_tasks):
        for done in (0, 5):
            tell(Event(f"Task {k}", done, 10, "fits"))
    return n_tasks


@pytest.fixture
def screen(monkeypatch):
    """A terminal, and what was written on it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(_progress, "notes", console)
    return console


def test_a_bar_on_a_terminal_is_gone_when_the_work_is_done(screen):
    watches = []

    def watched(n_tasks, tell):
        watches.append(tell)
        return work(n_tasks, tell)

    assert _progress.run_watched(watched, 2) == 2
    shown = screen.file.getvalue()
    assert "5 of 10 fits" in shown
    assert not watches[0].bar.live.is_started
    screen.print("after")
    assert screen.file.getvalue()[len(shown) :] == "after\n"  # nothing is drawn around it


@pytest.mark.parametrize("name", ["[/red].csv", "[red]x.csv", "a\x1b]0;title\x07\u202eb.csv"])
def test_names_of_files_are_shown_as_they_are_but_for_controls(screen, name):
    def watch(tell):
        tell(Event(f"Predicting {name}", 5, None, "rows"))

    _progress.run_watched(watch)
    assert f"Predicting {remove_controls(name)}" in screen.file.getvalue()
    assert "\x1b]0" not in screen.file.getvalue()


def test_a_bar_is_gone_after_an_error(screen):
    def fail(tell):
        tell(Event("Task", 1, None, "rows"))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        _progress.run_watched(fail)
    screen.print("after")
    assert screen.file.getvalue().endswith("after\n")


def test_elsewhere_each_task_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "notes", Console(stderr=True))
    _progress.run_watched(work, 2)
    assert capsys.readouterr().err == "Task 0\nTask 1\n"
