"""Prediction intervals: coverage and interval scores of takagi and others, on the paper's datasets and a second suite.

    python benchmarks/intervals.py                fits what the store does not have yet; Ctrl-C, and call again to go on
    python benchmarks/intervals.py --show         fits nothing, prints the tables
    python benchmarks/intervals.py --page FILE    writes the tables into a page, between its marks

``TAKAGI_DATA`` names the folder of the datasets; tables of its folder suite2 (CSV, the target's column is "target") are
tried as well. A method whose package is not installed is named and left out. What is compared is said in
docs/intervals.md.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
from functools import partial
from pathlib import Path

from _apart import execute_apart
from _interval_methods import list_methods
from _interval_tables import make_interval_tables
from _interval_trials import (
    TIME_LIMIT,
    IntervalOutcome,
    count_partitions,
    fail_interval_trial,
    list_tables,
    load_table,
    run_interval_trial,
)
from _tables import make_page
from _trials import Trial
from accuracy import DOCS, ProgressLine, choose
from takagi._files import write_whole
from takagi.experiments import Store, collect


def list_trials(methods: list[str], tables: list[str], most: int, max_rows: int) -> list[Trial]:
    """Return the trials, all of the first partition before the second one, and of a table before the next one."""
    sizes = {name: len(load_table(name)[1]) for name in tables}
    return [
        Trial(name, repeat, method)
        for repeat in range(1, most + 1)
        for name in tables
        if repeat <= count_partitions(sizes[name]) and sizes[name] <= max_rows
        for method in methods
    ]


def run(store: Store, trials: list[Trial], limit: float) -> None:
    """Run the trials whose packages are here and that are not in the store."""
    missing = {trial.method for trial in trials if not list_methods()[trial.method].is_installed}
    for name in sorted(missing):
        print(f"{name}: missing, not run (pip install {list_methods()[name].needs})")
    trials = [trial for trial in trials if trial.method not in missing]
    finished = store.finished()
    pending = [trial for trial in trials if trial not in finished]
    print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
    with ProgressLine(len(pending)) as progress:
        outcomes = execute_apart(pending, partial(run_interval_trial, limit=limit), fail_interval_trial)
        failed = collect(outcomes, store, progress.notify)
    for outcome in failed:
        print(f"{outcome.run}: {outcome.error}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", help=f"only these, with commas between: {', '.join(list_methods())}")
    parser.add_argument("--tables", help="only these, with commas between")
    parser.add_argument("--partitions", type=int, default=6, help="at most so many of a table")
    parser.add_argument("--max-rows", type=int, default=10**9, help="only tables of at most so many rows")
    parser.add_argument("--store", type=Path, default=DOCS / "results" / "intervals", help="where the outcomes live")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    parser.add_argument("--show", action="store_true", help="print the tables")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables into a page")
    return parser.parse_args()


def main() -> None:
    """Fit what is missing, or show what is there."""
    arguments = parse_arguments()
    store = Store(arguments.store, IntervalOutcome)
    if arguments.show or arguments.page:
        tables = make_interval_tables(store.results())
        if arguments.page:
            write_whole(arguments.page, make_page(arguments.page.read_text(), tables).encode())
        print(arguments.page if arguments.page else tables)
        return
    methods = choose(arguments.methods, list_methods(), "method")
    tables = choose(arguments.tables, list_tables(), "table")
    trials = list_trials(methods, tables, arguments.partitions, arguments.max_rows)
    try:
        run(store, trials, arguments.limit)
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None


if __name__ == "__main__":
    main()
