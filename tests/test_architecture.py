"""docs/architecture.md is true of the sources."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SOURCE = ROOT / "src" / "takagi"


def list_paths():
    """Return the paths that the page names, those in the path of the data below the package."""
    diagram = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    below = re.findall(r"\b\w+/(?:\w+\.py)?(?=[, ])|\b(?<!/)\w+\.py(?=[, ])", diagram)
    modules = re.findall(r"`(\w+\.py)`", PAGE)
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w./-]+|[A-Z]+\.md)`", PAGE)
    return {*named, *(f"src/takagi/{path}" for path in below + modules)}


def test_every_path_that_the_page_names_exists():
    paths = list_paths()
    assert len(paths) > 40
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []


def test_every_name_on_the_page_is_in_a_file_on_the_page():
    names = {name.split(".")[-1] for name in re.findall(r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`", PAGE)}
    names -= {"py", "to_name", "numba", "fis"}
    assert len(names) > 40
    files = [ROOT / path for path in list_paths()]
    text = "\n".join(path.read_text() for path in files if path.suffix == ".py")
    text += "\n".join(path.read_text() for folder in files if folder.is_dir() for path in folder.glob("*.py"))
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", text)) == []


def test_every_package_has_its_line():
    listed = re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
