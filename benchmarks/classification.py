"""Classification: takagi and everything people would use instead, on the twelve datasets of Cui, Wu and Huang (2020).

    python benchmarks/classification.py run     fits what the store does not have yet; Ctrl-C, and call again to go on
    python benchmarks/classification.py show    prints the tables
    python benchmarks/classification.py page    writes them into docs/classification.md

30 splits of 70 % training and 30 % test rows; five where a fit takes more than 20 s. ``TAKAGI_DATA`` names the folder
of the datasets (`_class_sets.py`). A method whose package is not installed is named and left out.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
from functools import partial
from pathlib import Path

from _apart import execute_apart
from _class_methods import METHODS
from _class_sets import N_SPLITS, SETS
from _class_tables import make_class_tables
from _class_trials import TIME_LIMIT, ClassOutcome, fail_class_trial, run_class_trial
from _tables import make_page
from _trials import Trial, make_trials
from accuracy import DOCS, ProgressLine, choose
from takagi._files import write_whole
from takagi.experiments import Store, collect

FEW_SPLITS, SLOW_FIT = 5, 20.0  # splits of a method on a dataset where a fit takes more than so many seconds


def run(store: Store, methods: list[str], datasets: list[str], splits: list[int], limit: float) -> None:
    """Run the trials that are not in the store, the first splits before it is asked which fits are slow."""
    for name in methods:
        if not METHODS[name].is_installed:
            print(f"{name}: missing, not run (pip install {METHODS[name].pip})")
    methods = [name for name in methods if METHODS[name].is_installed]
    for part in ([split for split in splits if split <= FEW_SPLITS], [split for split in splits if split > FEW_SPLITS]):
        trials = leave_out_slow(make_trials(methods, datasets, part), store)
        finished = store.finished()
        pending = [trial for trial in trials if trial not in finished]
        print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
        with ProgressLine(len(pending)) as progress:
            outcomes = execute_apart(pending, partial(run_class_trial, limit=limit), fail_class_trial)
            failed = collect(outcomes, store, progress.notify)
        for outcome in failed:
            print(f"{outcome.run}: {outcome.error}")


def leave_out_slow(trials: list[Trial], store: Store) -> list[Trial]:
    """Return the trials without the later splits of slow fits and of those that ended the limit."""
    seconds = store.results().groupby(["dataset", "method"])["seconds"].mean()
    slow = set(seconds[~(seconds <= SLOW_FIT)].index)
    return [trial for trial in trials if trial.repeat <= FEW_SPLITS or (trial.dataset, trial.method) not in slow]


def show(arguments: argparse.Namespace, store: Store) -> None:
    """Print the tables."""
    print(make_class_tables(store.results()))


def page(arguments: argparse.Namespace, store: Store) -> None:
    """Write the tables into the page."""
    target = arguments.docs / "classification.md"
    write_whole(target, make_page(target.read_text(), make_class_tables(store.results())).encode())
    print(target)


def start(arguments: argparse.Namespace, store: Store) -> None:
    """Run what is chosen."""
    splits = [int(word) for word in choose(arguments.splits, map(str, range(1, N_SPLITS + 1)), "split")]
    methods = choose(arguments.methods, METHODS, "method")
    run(store, methods, choose(arguments.datasets, SETS, "dataset"), splits, arguments.limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show", "page"])
    parser.add_argument(
        "--store", type=Path, default=DOCS / "results" / "classification", help="where the outcomes live"
    )
    parser.add_argument("--methods", help=f"only these, with commas between: {', '.join(METHODS)}")
    parser.add_argument("--datasets", help="only these, with commas between")
    parser.add_argument("--splits", help=f"only these of 1 to {N_SPLITS}, with commas between")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    arguments = parser.parse_args()
    try:
        {"run": start, "show": show, "page": page}[arguments.action](arguments, Store(arguments.store, ClassOutcome))
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None


if __name__ == "__main__":
    main()
