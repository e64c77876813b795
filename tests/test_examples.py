import re
import runpy
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(path, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", [str(path), str(tmp_path / "picture.png")])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/reading.md",
        pytest.param("docs/simplification.md", marks=pytest.mark.slow),
        pytest.param("docs/committee.md", marks=pytest.mark.slow),
    ],
)
def test_code_of_a_page_runs_and_prints_what_it_shows(page, capsys):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, flags=re.DOTALL)
    assert blocks
    names = {}
    for code, shown in blocks:
        exec(compile(textwrap.dedent(code), page, "exec"), names)
        printed = capsys.readouterr().out
        if shown:
            assert _shape(printed) == _shape(shown)


def _shape(text):
    """Leave numbers out: their last digits may differ on another machine."""
    return " ".join(re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", text).replace("- #", "+ #").split())
