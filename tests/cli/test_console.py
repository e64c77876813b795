import io
import json
import os

import pytest
from rich.cells import cell_len
from rich.console import Console

from takagi._text import quote, remove_controls
from takagi.cli._console import cell, make_table, print_json, print_note, print_text, set_output

NAMES = [
    "plain",
    "a" * 100,
    "👩‍🚗 owner",
    "مالك السيارة",
    "車の色",
    "[red]x[/red]",
    "tab\there\nline",
    "\x1b[31mred\x07",
    "",
]


def draw(table, width):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table)
    return console.file.getvalue()


def test_tables_hold_any_name_at_80_and_120_columns():
    for width in (80, 120):
        table = make_table("Name", "What", ">Number")
        for name in NAMES:
            table.add_row(cell(name), cell(name, 20), "12.5")
        lines = draw(table, width).splitlines()
        assert len(lines) == 1 + len(NAMES)
        assert all(line.rstrip().endswith("12.5") for line in lines[1:])
        assert {cell_len(line) for line in lines} == {cell_len(lines[0])}
        assert cell_len(lines[0]) <= width
        assert "[red]x[/red]" in lines[6]


def test_no_name_can_steer_the_terminal(capsys):
    set_output()
    print_text("\x1b[2Jcleared\r\nnext")
    print_note("\x1b]0;title\x07")
    out, err = capsys.readouterr()
    assert out == "\ufffd[2Jcleared\nnext\n"
    assert err == "Note: \ufffd]0;title\ufffd\n"
    assert remove_controls("👩‍🚗\n") == "👩‍🚗\n"
    assert remove_controls("a\u202eb\u2066c\x9bd\x7f") == "a\ufffdb\ufffdc\ufffdd\ufffd"
    assert cell("a\u202eb").plain == "a\ufffdb"


def test_json_escapes_what_could_steer_the_terminal(capsys):
    names = {"\x1b\x7f\x9b": "\u202e\u2028é"}
    print_json(names)
    out = capsys.readouterr().out
    assert out == '{\n  "\\u001b\\u007f\\u009b": "\\u202e\\u2028é"\n}\n'
    assert json.loads(out) == names


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no such device")
def test_remarks_that_cannot_be_written_are_lost_without_an_error(monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stderr", full)
        print_note("no room")
        print_note("still none")


def test_right_to_left_names_are_kept_apart_from_their_neighbors():
    assert cell(NAMES[3]).plain == f"\u2068{NAMES[3]}\u2069"
    assert cell("owner").plain == "owner"


def test_names_in_messages_are_on_one_short_line():
    assert quote("a\nb") == "'a b'"
    assert len(quote("x" * 1000)) == 42


def test_json_has_null_for_nan(capsys):
    print_json({"a": [float("nan"), 1.5], "ü": None})
    assert capsys.readouterr().out == '{\n  "a": [\n    null,\n    1.5\n  ],\n  "ü": null\n}\n'
