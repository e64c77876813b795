"""``takagi fit``: from a table to a model file."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.pipeline import Pipeline

from takagi._typing import IntArray
from takagi.cli._console import (
    Misuse,
    console,
    count,
    make_table,
    print_json,
    print_note,
    print_text,
    set_output,
    write_errors,
)
from takagi.cli._dataset import Dataset, DatasetOnDisk, is_dataset, name_one, read_sample, train_on_dataset
from takagi.cli._files import check_output
from takagi.cli._options import AsJson, Force, Names, NoHeader, Quiet, Sheet, TableFiles
from takagi.cli._scores import count_rules, describe_rules, score_model, score_settings
from takagi.cli._tables import Layout, open_table
from takagi.cli._training import Candidate, Settings, choose_settings, list_candidates, search, split_off, train_model
from takagi.cli._training_table import TrainingTable, read_training_table, show_table
from takagi.inspection import export_text, rule_table
from takagi.persistence import save
from takagi.tables import DatasetError

_MOST_RULES = 32  # that are printed


def parse_rules(text: str) -> int | str:
    """Return a number of rules, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or not int(text):
        raise typer.BadParameter(f"a number from 1 on or the word auto is needed, got {text!r}.")
    return int(text)


def fit(
    table: TableFiles,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="N", show_default="16", help="Number of rules; auto for the smallest error.", parser=parse_rules
        ),
    ] = None,
    committee: Annotated[
        bool,
        typer.Option("--committee", help="Eight models and a memory: the smallest error, but many rules."),
    ] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search the settings by cross-validation, on all cores.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out, or several with *; repeatable.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, metavar="N", show_default="5000", help="Training iterations.")
    ] = None,
    test_fraction: Annotated[
        float,
        typer.Option(min=0.0, max=0.9, metavar="PART", help="Part of the rows held out for the score; 0 for none."),
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of all random numbers.")] = 0,
    sheet: Sheet = None,
    no_header: NoHeader = False,
    names: Names = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on a table, score it on rows held out, print its rules and write it to a file.

    Columns may hold numbers, text, categories, true and false, and holes. The score is that of a model trained without
    the rows held out; the model that is written is then trained on all rows with the same settings.

    Several files, a folder, a pattern such as 'part-*.parquet', or a file of a gigabyte or more need not fit into
    memory: with more than 50,000 rows, they are trained on in passes, without the rows held out.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    output = check_output(output, force, inputs=table)
    if committee and tune:
        raise Misuse("--committee and --tune do not go together; leave one of them out.")
    dataset, data = _read(table, Layout(no_header, names, sheet), target, drop or [], seed)
    training, test = split_off(len(data.y), test_fraction, seed)
    settings, candidates = choose_settings(rules, iterations, seed, committee), []
    if tune:
        candidates = search(*data.take(training), list_candidates(rules, iterations, seed), seed)
        settings = candidates[0].settings
        _show_candidates(candidates)
    if dataset is not None:
        if committee:
            raise Misuse("--committee trains in memory, and this table has too many rows for that; leave it out.")
        model = _train_in_parts(dataset, data, test, settings, output)
        scores = score_model(model, data, training, test)
    else:
        scores = score_settings(data, training, test, settings)
        model = train_model(data.X, data.y, settings, f"Training {settings.words} on all {len(data.y):,} rows")
    _print_rules(model, output)
    save(model, output)
    _say_next(output, name_one(table), has_report=not committee)
    if as_json:
        print_json(
            {
                "model": str(output),
                **_summarize_table(data),
                "settings": asdict(settings),
                "search": [{**asdict(c.settings), "rmse": c.rmse, "deviation": c.deviation} for c in candidates],
                "scores": {"n_rows": len(test), "scores": [asdict(score) for score in scores]},
                "rules": rule_table(model).to_dict("records"),
            }
        )


def _read(
    table: list[str], layout: Layout, target: str, drop: list[str], seed: int
) -> tuple[Dataset | None, TrainingTable]:
    """Read a table, or a sample of a dataset that has more rows than that, and show what was understood of it."""
    if is_dataset(table):
        parts = DatasetOnDisk.open(table, layout)
        dataset, data = read_sample(parts, target, drop, seed)
        show_table(parts, data)
        return dataset if data.is_sample else None, data
    source = open_table(table[0], layout)
    data = read_training_table(source, target, drop)
    show_table(source, data)
    return None, data


def _train_in_parts(
    dataset: Dataset, data: TrainingTable, test: IntArray, settings: Settings, output: Path
) -> Pipeline:
    """Return a trained model; if training ends early, which may be after hours, the best rules so far are written."""
    try:
        model = train_on_dataset(dataset, data, test, settings)
    except DatasetError as error:
        if error.model is not None:
            save(error.model, output)
            print_note(f"the best rules up to then are in {output}.")
        raise
    if model[-1].stopped_ == "interrupted":
        save(model, output)
        print_note(f"the best rules so far are in {output}.")
        raise KeyboardInterrupt
    return model


def _print_rules(model: Pipeline, output: Path) -> None:
    """Print the rules, or how to, where they are more than a person reads."""
    if count_rules(model) <= _MOST_RULES:
        print_text(f"\n{export_text(model)}\n")
        return
    print_text(f"\n{describe_rules(model)}; to print them: takagi rules {shlex.quote(str(output))}")
    memory = getattr(model[-1], "memory_", None)
    print_text("" if memory is None else f"The model holds {count(len(memory.rows), 'row')} of the table.\n")


def _summarize_table(data: TrainingTable) -> dict[str, Any]:
    return {
        "target": data.y.name,
        "n_rows": data.n_rows,
        "n_rows_without_target": data.n_dropped,
        "columns": [asdict(column) for column in data.columns],
    }


def _show_candidates(candidates: list[Candidate]) -> None:
    """Print the table of a search, the best first."""
    heading = f">RMSE, mean of {len(candidates[0].errors)} folds"
    table = make_table(">Rules", ">Chance to keep a rule", ">Iterations", heading, ">Spread")
    errors = write_errors([number for candidate in candidates for number in (candidate.rmse, candidate.deviation)])
    for place, candidate in enumerate(candidates):
        settings = candidate.settings
        cells = (f"{settings.n_rules}", f"{settings.keep_prob}", f"{settings.max_iter:,}")
        table.add_row(*cells, *errors[2 * place : 2 * place + 2], style="bold" if place == 0 else "")
    console.print(table)
    print_text("")


def _say_next(path: Path, table: str, has_report: bool) -> None:
    name, table = shlex.quote(str(path)), shlex.quote(table)
    print_text(f"Wrote {path} ({path.expanduser().stat().st_size / 1000:,.0f} kB). To go on:")
    print_text(f"  takagi predict {name} NEW.csv -o predictions.csv")
    print_text(f"  takagi explain {name} {table} --row 0")
    if has_report:
        print_text(f"  takagi report {name} {table} -o report.html")
