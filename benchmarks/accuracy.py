"""Test errors of takagi and of everything people would use instead, on the paper's 22 datasets, or a second suite.

    python benchmarks/accuracy.py run     fits what the store does not have yet; Ctrl-C, and call again to go on
    python benchmarks/accuracy.py show    prints the tables
    python benchmarks/accuracy.py page    writes them into docs/accuracy.md, and the diagram of ranks

``--suite second`` does so with sixteen other sets (`_suites.py`). ``TAKAGI_DATA`` names the folder of the datasets. A
method whose package is not installed is named and left out.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

from _apart import execute_apart
from _methods import METHODS
from _suites import PAPER, SUITES
from _tables import draw_diagram, make_page, make_tables
from _trials import TIME_LIMIT, Outcome, fail_trial, make_trials, run_trial
from takagi._files import write_whole
from takagi._messages import unknown_name
from takagi.experiments import Store, collect
from takagi.experiments._plan import N_REPEATS

DOCS = Path(__file__).parents[1] / "docs"
BASE_SEED = 0


def run(arguments: argparse.Namespace) -> None:
    """Run the trials that are chosen and not in the store."""
    store = open_store(arguments)
    store.claim_seed(BASE_SEED)
    methods = choose(arguments.methods, METHODS, "method")
    missing = [name for name in methods if not METHODS[name].is_installed]
    for name in missing:
        print(f"{name}: missing, not run (pip install {METHODS[name].pip})")
    trials = make_trials(
        [name for name in methods if name not in missing],
        choose(arguments.datasets, SUITES[arguments.suite].datasets, "dataset"),
        [int(word) for word in choose(arguments.partitions, map(str, range(1, N_REPEATS + 1)), "partition")],
    )
    finished = set() if arguments.again else store.finished()
    pending = [trial for trial in trials if trial not in finished]
    print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
    with ProgressLine(len(pending)) as progress:
        outcomes = execute_apart(pending, partial(run_trial, limit=arguments.limit), fail_trial)
        failed = collect(outcomes, store, progress.notify)
    for outcome in failed:
        print(f"{outcome.run}: {outcome.error}")


class ProgressLine:
    """A bar on a terminal, a line per hundred trials elsewhere."""

    def __init__(self, n_trials: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self.task = self.bar.add_task("trials", total=n_trials)
        self.n_trials, self.n_done = n_trials, 0

    def __enter__(self) -> "ProgressLine":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def notify(self, outcome: Outcome) -> None:
        self.n_done += 1
        self.bar.update(self.task, advance=1, description=f"{outcome.run.method} on {outcome.run.dataset}")
        if self.bar.disable and (self.n_done % 100 == 0 or self.n_done == self.n_trials):
            print(f"{self.n_done}/{self.n_trials} trials", flush=True)


def choose(words: str | None, known: Any, what: str) -> list[str]:
    """Return the names that were asked for, with commas between, or all."""
    known = list(known)
    chosen = known if words is None else [word.strip() for word in words.split(",")]
    for word in chosen:
        if word not in known:
            raise SystemExit(str(unknown_name(what, word, known)))
    return chosen


def show(arguments: argparse.Namespace) -> None:
    """Print the tables."""
    print(make_tables(open_store(arguments).results(), SUITES[arguments.suite]))


def page(arguments: argparse.Namespace) -> None:
    """Write the tables into the page, and draw the diagram of the paper's sets."""
    results, suite = open_store(arguments).results(), SUITES[arguments.suite]
    target = arguments.docs / "accuracy.md"
    mark = "tables" if suite is PAPER else f"{suite.name} suite"
    write_whole(target, make_page(target.read_text(), make_tables(results, suite), mark).encode())
    print(target)
    if suite is PAPER:
        print(draw_diagram(results, arguments.docs / "images" / "accuracy-ranks.png"))


def open_store(arguments: argparse.Namespace) -> Store:
    """Return the store of the suite, or the one that was named."""
    name = "accuracy" if arguments.suite == PAPER.name else f"accuracy-{arguments.suite}"
    return Store(arguments.store or DOCS / "results" / name, Outcome)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show", "page"])
    parser.add_argument("--suite", choices=list(SUITES), default=PAPER.name, help="which datasets")
    parser.add_argument("--store", type=Path, help="where the outcomes live; docs/results has a folder for each suite")
    parser.add_argument("--methods", help=f"only these, with commas between: {', '.join(METHODS)}")
    parser.add_argument("--datasets", help="only these, with commas between")
    parser.add_argument("--partitions", help="only these of 1 to 8, with commas between")
    parser.add_argument("--again", action="store_true", help="run also what is in the store")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    arguments = parser.parse_args()
    try:
        {"run": run, "show": show, "page": page}[arguments.action](arguments)
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None


if __name__ == "__main__":
    main()
