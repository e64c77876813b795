"""How much a reader of the library has to open: files and functions of the main calls, packages, names used twice.

    python benchmarks/house.py

Of each call the Python functions of takagi that run are counted, and the files that they are in: on 300 rows (a stream:
ten blocks of them, because the first ones wait), after a call that compiles and imports. Not counted: compiled code,
lambdas, comprehensions, and methods that dataclasses generate.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import ast
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import takagi
from _measure import print_table
from takagi import TSKCommittee, TSKRegressor, fit_dataset

SOURCE = Path(takagi.__file__).parent
N_ROWS, N_BLOCKS = 300, 10
SHORT = 5  # lines of code that are read at a glance

Functions = set[tuple[str, str]]  # file, and name with that of its class


# -- what a call runs --------------------------------------------------------------------------------------------------


def trace(call: Callable[[], object]) -> Functions:
    """Return the functions of the library that a call runs, in its threads too; the call is made twice."""
    found: Functions = set()

    def watch(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)) and not code.co_name.startswith("<"):
            found.add((code.co_filename, code.co_qualname))

    threading.setprofile(watch)  # threads of the first call may live on and serve the second one
    try:
        call()
        found.clear()
        sys.setprofile(watch)
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found - list_compiled()


def list_compiled() -> Functions:
    """Return the functions of the library that numba compiles; of these the profiler is told, too."""
    modules = [one for one in list(sys.modules.values()) if str(getattr(one, "__file__", "")).startswith(str(SOURCE))]
    functions = [value.py_func for module in modules for value in vars(module).values() if hasattr(value, "py_func")]
    return {(function.__code__.co_filename, function.__code__.co_qualname) for function in functions}


def list_calls(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the main calls; a file of the rows is written into a folder."""
    X, y = make_rows(seed=0)
    path = folder / "rows.parquet"
    pd.DataFrame(X, columns=list("abcde")).assign(y=y).to_parquet(path)
    return {
        "TSKRegressor().fit": lambda: TSKRegressor(random_state=0).fit(X, y),
        "TSKCommittee().fit": lambda: TSKCommittee(random_state=0).fit(X, y),
        "TSKRegressor().partial_fit": fit_stream,
        "fit_dataset": lambda: fit_dataset(path, "y"),
    }


def make_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a block of rows and their target."""
    X = np.random.default_rng(seed).normal(size=(N_ROWS, 5))
    return X, X[:, 0] * X[:, 1] + X[:, 2]


def fit_stream() -> None:
    """Fit blocks of rows one after another."""
    model = TSKRegressor(random_state=0)
    for seed in range(N_BLOCKS):
        model.partial_fit(*make_rows(seed))


def trace_calls() -> dict[str, Functions]:
    """Return the functions that each of the main calls runs."""
    with tempfile.TemporaryDirectory() as folder:
        return {name: trace(call) for name, call in list_calls(Path(folder)).items()}


def count_long(found: Functions) -> int:
    """Return how many functions have more than `SHORT` lines of code, the docstring left out."""
    return sum(measure_functions(Path(file))[name] > SHORT for file, name in found)


@cache
def measure_functions(path: Path) -> dict[str, int]:
    """Return the lines of code of each function of a file, by its name with that of its class."""
    return dict(_measure_bodies(ast.parse(path.read_text()), ""))


def _measure_bodies(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _measure_bodies(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            body = child.body[1:] if ast.get_docstring(child) else child.body
            yield prefix + child.name, body[-1].end_lineno - body[0].lineno + 1 if body else 0
            yield from _measure_bodies(child, f"{prefix}{child.name}.<locals>.")
        else:
            yield from _measure_bodies(child, prefix)


# -- what there is to read ---------------------------------------------------------------------------------------------


def read_modules(source: Path) -> dict[Path, str]:
    """Return the text of every module, by path from the source folder."""
    return {path.relative_to(source): path.read_text() for path in sorted(source.rglob("*.py"))}


def measure_packages(modules: dict[Path, str]) -> dict[str, Counter]:
    """Return numbers of files, lines and classes of each package; modules outside of packages are together."""
    sizes: dict[str, Counter] = defaultdict(Counter)
    for path, text in modules.items():
        n_classes = sum(isinstance(node, ast.ClassDef) for node in ast.walk(ast.parse(text)))
        package = path.parts[0] if len(path.parts) > 1 else "modules"
        sizes[package].update(files=1, lines=len(text.splitlines()), classes=n_classes)
    return dict(sizes)


def find_repeated_names(modules: dict[Path, str]) -> dict[str, list[Path]]:
    """Return the public top-level names that more than one module defines, with these modules.

    A kernel and its twin, the same function compiled or in NumPy, have one name on purpose.
    """
    places: dict[str, list[Path]] = defaultdict(list)
    for path, text in modules.items():
        for name in sorted(set(list_definitions(ast.parse(text)))):
            is_twin = path.parts[0] == "kernels" and any(place.parts[0] == "kernels" for place in places[name])
            if not name.startswith("_") and not is_twin:
                places[name].append(path)
    return {name: paths for name, paths in sorted(places.items()) if len(paths) > 1}


def list_definitions(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions, classes and variables of a module; what it imports is none of its own."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def main() -> None:
    traced = trace_calls()
    rows: list[list[object]] = [
        [name, len({file for file, _ in found}), len(found), count_long(found)] for name, found in traced.items()
    ]
    print_table(["call", "files run", "functions run", f"of over {SHORT} lines"], rows)
    modules = read_modules(SOURCE)
    sizes = measure_packages(modules)
    sizes["all"] = sum(sizes.values(), Counter())
    columns = ["files", "lines", "classes"]
    print()
    print_table(["package", *columns], [[name, *(size[c] for c in columns)] for name, size in sizes.items()])
    repeated = find_repeated_names(modules)
    print(f"\nPublic names that several modules define: {len(repeated)}")
    for name, paths in repeated.items():
        print(f"  {name}: {', '.join(map(str, paths))}")


if __name__ == "__main__":
    main()
