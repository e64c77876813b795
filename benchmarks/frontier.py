"""The readable frontier: error against size of models that people read, on the paper's 22 datasets.

    python benchmarks/frontier.py                fits what the store does not have yet; Ctrl-C, and call again to go on
    python benchmarks/frontier.py --show         fits nothing, prints the tables
    python benchmarks/frontier.py --plot FILE    draws error against size
    python benchmarks/frontier.py --page FILE    writes the tables into a page, between its marks

``TAKAGI_DATA`` names the folder of the datasets. A method whose package is not installed is named and left out. What
is compared, and how, is said in docs/short-rules.md.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
from functools import partial
from pathlib import Path

from _apart import execute_apart
from _frontier_picture import draw_frontier
from _frontier_tables import make_frontier_tables
from _readable_methods import METHODS
from _readable_trials import TIME_LIMIT, ReadableOutcome, fail_readable, run_readable
from _tables import make_page
from _trials import Trial
from accuracy import DOCS, ProgressLine, choose
from takagi._files import write_whole
from takagi.datasets import list_datasets
from takagi.experiments import Store, collect

N_PARTITIONS = 8


def list_trials(methods: list[str], datasets: list[str], partitions: list[int]) -> list[Trial]:
    """Return the trials, all of a method before the next one, and of a partition in the order of the datasets."""
    return [Trial(dataset, repeat, method) for method in methods for repeat in partitions for dataset in datasets]


def run(store: Store, trials: list[Trial], limit: float, again: bool = False) -> None:
    """Run the trials whose packages are here and that are not in the store, or also those, again."""
    methods = dict.fromkeys(trial.method for trial in trials)
    missing = [name for name in methods if not METHODS[name].is_installed]
    for name in missing:
        print(f"{name}: missing, not run (pip install {METHODS[name].pip})")
    trials = [trial for trial in trials if trial.method not in missing]
    finished = set() if again else store.finished()
    pending = [trial for trial in trials if trial not in finished]
    print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
    with ProgressLine(len(pending)) as progress:
        outcomes = execute_apart(pending, partial(run_readable, limit=limit), fail_readable)
        failed = collect(outcomes, store, progress.notify)
    for outcome in failed:
        print(f"{outcome.run}: {outcome.error}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", help=f"only these, with commas between: {', '.join(METHODS)}")
    parser.add_argument("--datasets", help="only these, with commas between")
    parser.add_argument("--partitions", help=f"only these of 1 to {N_PARTITIONS}, with commas between")
    parser.add_argument("--store", type=Path, default=DOCS / "results" / "frontier", help="where the outcomes live")
    parser.add_argument("--again", action="store_true", help="run also what is in the store")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    parser.add_argument("--show", action="store_true", help="print the tables")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw error against size")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables into a page")
    return parser.parse_args()


def main() -> None:
    """Fit what is missing, or show what is there."""
    arguments = parse_arguments()
    store = Store(arguments.store, ReadableOutcome)
    if arguments.show or arguments.plot or arguments.page:
        results = store.results()
        if arguments.plot:
            print(draw_frontier(results, arguments.plot))
        if arguments.page:
            text = make_page(arguments.page.read_text(), make_frontier_tables(results))
            write_whole(arguments.page, text.encode())
            print(arguments.page)
        if arguments.show:
            print(make_frontier_tables(results))
        return
    methods = choose(arguments.methods, METHODS, "method")
    datasets = choose(arguments.datasets, list_datasets(), "dataset")
    partitions = choose(arguments.partitions, map(str, range(1, N_PARTITIONS + 1)), "partition")
    try:
        run(store, list_trials(methods, datasets, [int(word) for word in partitions]), arguments.limit, arguments.again)
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None


if __name__ == "__main__":
    main()
