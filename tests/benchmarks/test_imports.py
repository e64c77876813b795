import ast
import importlib
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_a_benchmark_takes_from_the_library_is_there(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "takagi":
            module = importlib.import_module(node.module)
            for name in {alias.name for alias in node.names} - set(dir(module)):
                importlib.import_module(f"{node.module}.{name}")
