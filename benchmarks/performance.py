"""All figures of docs/performance.md, by one command, and the page with them.

    python benchmarks/performance.py             measures the parts that are not there yet, then writes the page
    python benchmarks/performance.py fits        measures some parts again
    python benchmarks/performance.py --show      writes the page only

Each part is kept in docs/results/performance as soon as it is done, with the machine that it ran on; a run that was
stopped goes on with the next part. One thread, contestants by turns, the smallest time of each. Other libraries are
named and left out where they are not installed.
"""

from _performance_parts import PARTS, run_part  # first: it limits the threads

# isort: split
import argparse
import json
import os
import platform
import textwrap
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from _performance_tables import TABLES
from _tables import make_page
from takagi._files import write_whole

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "docs" / "results" / "performance", ROOT / "docs" / "performance.md"
_PACKAGES = ("numpy", "numba", "scikit-learn", "lightgbm", "catboost", "torch", "scikit-pytsk", "highfis")


def describe_machine() -> dict[str, Any]:
    """Return what is known of the machine and of the packages on it."""
    return {
        "processor": _find_processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _find_version(name))},
    }


def _find_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    known = dict(line.split(":", 1) for line in lines if ":" in line)
    known = {name.strip(): value.strip() for name, value in known.items()}
    wide = " with AVX-512" if "avx512f" in known.get("flags", "") else ""
    model = f" (family {known['cpu family']}, model {known['model']})" if "cpu family" in known else ""
    return f"{known.get('model name', platform.machine())}{model}{wide}"


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def measure(name: str, results: Path, is_quick: bool) -> None:
    """Measure a part and keep it."""
    start = time.perf_counter()
    outcome = {"machine": describe_machine(), "quick": is_quick, "found": run_part(name, is_quick)}
    results.mkdir(parents=True, exist_ok=True)
    write_whole(results / f"{name}.json", json.dumps(outcome, indent=1).encode())
    print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)


def load_outcomes(results: Path) -> dict[str, Any]:
    """Return the parts that are there."""
    paths = {name: results / f"{name}.json" for name in PARTS}
    return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}


def name_machines(outcomes: dict[str, Any]) -> str:
    """Say what the parts were measured on."""
    groups: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        machine = outcome["machine"]
        packages = ", ".join(f"{package} {found}" for package, found in machine["packages"].items())
        text = f"{machine['cores']} cores of {machine['processor']}, Python {machine['python']}, {packages}"
        groups.setdefault(text, []).append(name + (" (quick)" if outcome["quick"] else ""))
    lines = [f"Measured on {text}{_list(names, groups)}." for text, names in groups.items()]
    return "\n\n".join(textwrap.fill(line, 120, break_on_hyphens=False) for line in lines)


def _list(names: list[str], groups: dict[str, list[str]]) -> str:
    return f": {', '.join(names)}" if len(groups) > 1 or any("(quick)" in name for name in names) else ""


def write_page(page: Path, outcomes: dict[str, Any]) -> None:
    """Write all tables into the page, between their marks."""
    text = page.read_text()
    text = make_page(text, name_machines(outcomes), "machine")
    for name, outcome in outcomes.items():
        text = make_page(text, TABLES[name](outcome["found"]), name)
    write_whole(page, text.encode())
    print(page)


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"parts to measure again: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="a short run, to see that all works")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE", help="the page, docs/performance.md")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where the parts are kept")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    known = load_outcomes(arguments.results)
    for name in arguments.parts or [name for name in PARTS if name not in known]:
        if not arguments.show:
            measure(name, arguments.results, arguments.quick)
    write_page(arguments.page, load_outcomes(arguments.results))


if __name__ == "__main__":
    main()
