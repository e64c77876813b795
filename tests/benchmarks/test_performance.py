"""The benchmark that writes docs/performance.md, in a process of its own: it limits the threads."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words):
    script = ROOT / "benchmarks" / "performance.py"
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_part_is_measured_kept_and_written_into_the_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "performance.md").read_text())
    words = ["--quick", "--results", str(tmp_path), "--page", str(page)]
    done = run("overhead", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "overhead.json").read_text())
    assert found["machine"]["cores"] >= 1
    assert found["found"]["fit"] > found["found"]["train_block"] > 0
    text = page.read_text()
    assert f"| ms | {found['found']['fit']:.1f} |" in text
    assert found["machine"]["python"] in text


@pytest.mark.slow
def test_an_unknown_part_is_refused():
    done = run("nothing")
    assert done.returncode == 2
    assert "no such part: nothing" in done.stderr


def test_every_part_has_a_place_on_the_page():
    page = (ROOT / "docs" / "performance.md").read_text()
    source = (ROOT / "benchmarks" / "_performance_parts.py").read_text()
    names = re.findall(r'^    "(\w+)": \(measure_', source, re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if page.count(f"<!-- {name}: start -->") != 1] == []
