"""``takagi experiment``: the paper's experiments."""

import itertools
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from takagi._messages import unknown_name
from takagi.cli._console import console, make_table, print_error, print_json, set_output
from takagi.cli._help import PlainCommand, PlainGroup
from takagi.cli._options import AsJson, Quiet
from takagi.cli._progress import ProgressBars
from takagi.experiments import (
    BACKENDS,
    FIGURES,
    MORE_RULES,
    QUICK,
    MissingRunsError,
    Result,
    Scope,
    Store,
    check_claims,
    draw,
    draw_ranks,
    pending_runs,
    plan_runs,
    rank_algorithms,
    run_experiment,
    summarize,
)
from takagi.workflow import Event

experiment_app = typer.Typer(
    cls=PlainGroup, no_args_is_help=True, help="Run the paper's experiments, draw its figures, judge its claims."
)

Figure = Annotated[str, typer.Argument(metavar="FIGURE", help="fig3a, fig3b, fig4, fig5, fig6, fig7, fig8 or all.")]
StoreFolder = Annotated[Path, typer.Option("--store", metavar="FOLDER", help="Where the results live.")]
_STORE = Path("takagi-results")


@experiment_app.command("run", cls=PlainCommand, epilog="Example: takagi experiment run fig4 --quick")
def run_figure(
    figure: Figure,
    store: StoreFolder = _STORE,
    quick: Annotated[bool, typer.Option("--quick", help="A small plan of a few minutes.")] = False,
    datasets: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Only these datasets, with commas between.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first so many partitions.")] = None,
    rules: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="Only these numbers of rules, with commas between.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Threads or processes; all cores by default.")
    ] = None,
    backend: Annotated[str, typer.Option(metavar="NAME", help="threads, processes or dask.")] = "threads",
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler; implies dask.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Base seed of all random numbers.")] = 0,
    data_home: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of the data.")] = None,
    quiet: Quiet = False,
) -> None:
    """Run what the store does not have yet of a figure's plan; stop with Ctrl-C and call again to go on."""
    if backend not in BACKENDS:
        raise typer.BadParameter(str(unknown_name("backend", backend, BACKENDS)))
    scope = _make_scope(quick, datasets, repeats, rules)
    n_planned = _count_planned(figure, scope)
    results = Store(store)
    n_pending = len(pending_runs(figure, results, scope))
    start = time.monotonic()
    set_output(quiet=quiet)
    with ProgressBars() as watch:
        results_done = itertools.count(1)
        failed = run_experiment(
            figure,
            results,
            scope,
            backend="dask" if scheduler else backend,
            n_workers=workers,
            scheduler=scheduler,
            base_seed=seed,
            data_home=None if data_home is None else str(data_home),
            notify=lambda _: watch(Event(f"Running {figure}", next(results_done), n_pending, "runs")),
        )
    if not quiet:
        console.print(
            f"{figure}: {n_planned} runs, {n_planned - n_pending} were there, {n_pending - len(failed)} done in "
            f"{time.monotonic() - start:.0f} s, {len(failed)} failed.",
            highlight=False,
        )
        console.print(f"Draw it with: takagi experiment draw {figure} --store {store}", highlight=False)
    _report_failures(failed)


@experiment_app.command("draw", cls=PlainCommand, epilog="Example: takagi experiment draw fig4 -o figures")
def draw_command(
    figure: Figure,
    store: StoreFolder = _STORE,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")] = Path(),
    quiet: Quiet = False,
) -> None:
    """Draw a figure from the store, as PNG and SVG."""
    names, missing = _expand(figure), []
    results = _open(store)
    for name in names:
        try:
            paths = draw(name, results, output)
        except MissingRunsError as error:
            missing.append(str(error))
            continue
        if not quiet:
            typer.echo("\n".join(map(str, paths)))
    for message in missing:
        print_error(message)
    if missing:
        raise typer.Exit(1)


@experiment_app.command(cls=PlainCommand, epilog="Example: takagi experiment show fig4 --json")
def show(figure: Figure, store: StoreFolder = _STORE, as_json: AsJson = False) -> None:
    """Print the numbers behind a figure."""
    names = _expand(figure)
    results = _open(store)
    tables = {name: summarize(name, results) for name in names}
    if as_json:
        print_json({name: table.to_dict("records") for name, table in tables.items()})
        return
    for name, table in tables.items():
        shown = table[table["iteration"].isin([1, 10, 100, 300, 1000])] if "iteration" in table else table
        console.print(_draw_table(name, shown))


@experiment_app.command(cls=PlainCommand, epilog="Example: takagi experiment claims --store results")
def claims(
    store: StoreFolder = _STORE,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Draw critical-difference diagrams there.")
    ] = None,
) -> None:
    """Judge every claim of the paper's section IV by the results in the store."""
    results = _open(store)
    verdicts, rankings = check_claims(results), rank_algorithms(results)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for ranking in rankings:
            draw_ranks(ranking.ranks, ranking.critical_difference, output / f"{ranking.name}-ranks.png")
    if as_json:
        print_json({"claims": [vars(verdict) for verdict in verdicts], "rankings": [vars(r) for r in rankings]})
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("Fig.", "Claim and numbers", "p", "Verdict"):
        table.add_column(heading, ratio=1 if heading == "Claim and numbers" else None)
    colors = {"holds": "green", "does not hold": "red", "not decided": "yellow"}
    for v in verdicts:
        p_value = "" if v.p_value != v.p_value else f"{v.p_value:.2g}"
        table.add_row(v.figure, f"{v.claim}\n[dim]{v.numbers}[/]", p_value, f"[{colors[v.verdict]}]{v.verdict}[/]")
    console.print(table)
    for ranking in rankings:
        ranks = ", ".join(
            f"{name} {rank:.2f}" for name, rank in sorted(ranking.ranks.items(), key=lambda item: item[1])
        )
        console.print(
            f"\nMean ranks, {ranking.name}, {ranking.n_datasets} sets (Friedman p {ranking.p_value:.2g}, critical "
            f"difference {ranking.critical_difference:.2f}): {ranks}",
            highlight=False,
        )
    counts = Counter(verdict.verdict for verdict in verdicts)
    console.print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()), highlight=False)


# -- parts -------------------------------------------------------------------------------------------------------------


def _make_scope(quick: bool, datasets: str | None, repeats: int | None, rules: str | None) -> Scope:
    scope = QUICK if quick else Scope()
    try:
        return Scope(
            datasets=tuple(word.strip() for word in datasets.split(",")) if datasets else scope.datasets,
            repeats=repeats or scope.repeats,
            rules=tuple(MORE_RULES[MORE_RULES.index(int(word))] for word in rules.split(",")) if rules else scope.rules,
        )
    except ValueError as error:
        known = ", ".join(map(str, MORE_RULES))
        raise typer.BadParameter(f"--rules takes some of {known} with commas between, got {rules!r}.") from error


def _count_planned(figure: str, scope: Scope) -> int:
    try:
        n_planned = len(plan_runs(figure, scope))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if not n_planned:
        raise typer.BadParameter("nothing is left of the plan; choose other --datasets or --rules.")
    return n_planned


def _expand(figure: str) -> list[str]:
    try:
        plan_runs(figure, Scope(repeats=1, datasets=("Yacht",)))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return list(FIGURES) if figure == "all" else [figure]


def _open(folder: Path) -> Store:
    folder = folder.expanduser()
    if folder.is_file():
        raise NotADirectoryError(f"{folder} is a file; a store is a folder.")
    if not folder.is_dir():
        raise FileNotFoundError(
            f"there is no store {folder}; make one with: takagi experiment run fig4 --store {folder}"
        )
    return Store(folder)


def _report_failures(failed: list[Result]) -> None:
    for message, count in Counter(result.error for result in failed).most_common(5):
        print_error(f"{count} run(s) failed: {message}")
    if failed:
        raise typer.Exit(1)


def _draw_table(title: str, frame: Any) -> Table:
    table = make_table(*(f"{'' if frame[name].dtype == object else '>'}{name}" for name in frame.columns), title=title)
    for row in frame.itertuples(index=False):
        table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row))
    return table
