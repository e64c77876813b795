"""Imports point down only, and heavy packages stay where they belong."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "takagi"

LAYERS = [
    ["_typing", "_compat", "_kinds", "_lazy", "_messages", "_text", "_files", "_rounding", "_notebook"],
    ["_frames"],
    ["bend", "_checks"],
    ["_validation"],
    ["kernels", "datasets", "profile", "calibration", "known", "scores", "_extrapolation", "_dask", "_scoring"],
    ["_labels", "_conditions", "_inputs", "tables"],
    ["_listing"],
    ["_wording"],
    ["rulebase", "memory"],
    ["rulemodel"],
    ["_model", "predictors", "optimizers", "initializers"],
    ["training"],
    ["fitting"],
    ["streaming"],
    ["estimators", "inspection", "export"],
    ["simplification"],
    ["report", "persistence", "experiments"],
    ["workflow"],
    ["cli"],
    ["__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE)


def imported_names(path):
    """Yield every imported module, dotted, but not those for type checkers only."""
    tree = ast.parse(path.read_text())
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def noun(dotted):
    return dotted.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for name in imported_names(path):
        if name.startswith("takagi.") and noun(name) != own:
            level = LEVEL.get(noun(name), LEVEL["experiments"])  # other names are those that takagi itself exports
            assert level < LEVEL[own], f"{own} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_packages_stay_in_their_place(path):
    place = str(path.relative_to(SOURCE))
    packages = {name.split(".")[0] for name in imported_names(path)}
    assert place.startswith("kernels/") or not packages & {"numba", "llvmlite"}
    assert place.startswith(("inspection/_plot", "experiments/_figures")) or "matplotlib" not in packages
    assert place.startswith(("experiments", "datasets", "cli")) or not packages & {"pandas", "dask", "typer", "rich"}
    assert place.startswith("report") or "jinja2" not in packages
    assert place.startswith("export/_onnx") or not packages & {"onnx", "onnxruntime"}
    assert not packages & {"polars", "torch"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_packages_take_from_each_other_what_is_public(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("takagi."):
            _, package, *rest = node.module.split(".")
            assert package == own or not any(part.startswith("_") for part in rest), f"{own} imports {node.module}"


def test_core_imports_no_optional_package():
    code = "import sys, takagi, takagi.experiments; print(*(name.split('.')[0] for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(loaded) & {"matplotlib", "dask", "typer", "jinja2", "onnx"}  # scikit-learn may load pandas and rich


def test_every_module_has_a_layer():
    assert {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES} <= set(LEVEL)
