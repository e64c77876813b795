"""Another program than the command line can be built on these packages: no message speaks of its options."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "takagi"
FILES = [path for package in ("workflow", "tables") for path in sorted((SOURCE / package).glob("*.py"))]
OPTION = re.compile(r"(^|\s)--\w|\btakagi (fit|predict|rules|explain|report|plot|simplify|export)\b")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_text_names_an_option_or_a_command(path):
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and OPTION.search(text)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_is_printed(path):
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    assert "print" not in [getattr(call, "id", "") for call in calls]
