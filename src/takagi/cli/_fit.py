"""``takagi fit``: from a table to a model file."""

import shlex
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.pipeline import Pipeline

from takagi import workflow
from takagi._text import count
from takagi.cli._console import (
    Misuse,
    console,
    make_table,
    print_json,
    print_note,
    print_text,
    set_output,
    write_errors,
)
from takagi.cli._files import STANDARD, check_output
from takagi.cli._options import AsJson, Force, Names, NoHeader, Quiet, Sheet, TableFiles
from takagi.cli._progress import run_watched
from takagi.cli._tables import make_layout, open_input, show_scores, show_training_table
from takagi.inspection import export_text, rule_table
from takagi.persistence import save
from takagi.tables import DatasetError

_MOST_RULES = 32  # that are printed


class Recipe(Enum):
    """How rules are learned."""

    auto = "auto"
    accurate = "accurate"
    droprule = "droprule"
    short = "short"


class Extrapolation(Enum):
    """What a model says far beyond its data."""

    hold = "hold"
    linear = "linear"


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
            metavar="N",
            show_default="auto; 5 if short",
            help="Number of rules; auto grows with the rows, or is chosen by cross-validation for short rules.",
            parser=parse_rules,
        ),
    ] = None,
    recipe: Annotated[
        Recipe,
        typer.Option(
            help="How rules are learned: accurate for the smallest error, short for few rules that are true one by "
            "one, droprule as in the paper."
        ),
    ] = Recipe.auto,
    max_conditions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default="3", help="The most conditions of a short rule."),
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", show_default="4", help="The most terms of a short rule's formula.")
    ] = None,
    committee: Annotated[
        bool,
        typer.Option("--committee", help="Eight models and a memory: the smallest error, but many rules."),
    ] = False,
    extrapolation: Annotated[
        Extrapolation,
        typer.Option(
            help="Far beyond the training rows, hold values one range out, or let formulas go on without end."
        ),
    ] = Extrapolation.hold,
    tune: Annotated[
        bool, typer.Option("--tune", help="Search the settings by cross-validation, on all cores.")
    ] = False,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="Find out by cross-validation how far the model is off, for predict --interval: five more fits.",
        ),
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

    Columns may hold numbers, text, categories, true and false, and missing values. The score is that of a model trained
    without the rows held out; the model that is written is then trained on all rows with the same settings.

    Several files, a folder, a pattern such as 'part-*.parquet', or a file of a gigabyte or more need not fit into
    memory: with more than 50,000 rows, they are trained on in passes, without the rows held out.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    output = check_output(output, force, inputs=table)
    if committee and (recipe is Recipe.short or max_conditions or max_terms):
        raise Misuse("--committee has many rules, and a short model few; leave one of them out.")
    if tune and (recipe is Recipe.short or max_conditions or max_terms):
        raise Misuse("--tune is for the other recipes; for short rules, --rules auto chooses their number.")
    if committee and tune:
        raise Misuse("--committee and --tune do not go together; leave one of them out.")
    layout = make_layout(no_header, names, sheet)
    source = workflow.TableParts.open(table, layout) if _has_parts(table) else open_input(table[0], layout)
    parts, data = _read(source, target, drop or [], seed)
    show_training_table(source, data)
    training, test = workflow.split_off(len(data.y), test_fraction, seed)
    settings, candidates = (
        replace(
            workflow.choose_settings(rules, iterations, seed, recipe=recipe.value, committee=committee),
            max_conditions=max_conditions,
            max_terms=max_terms,
            extrapolation=extrapolation.value,
        ),
        [],
    )
    if tune:
        listed = workflow.list_candidates(rules, iterations, seed, recipe=recipe.value)
        tried = [replace(one, extrapolation=extrapolation.value) for one in listed]
        candidates = run_watched(workflow.search_settings, *data.take(training), tried, seed)
        settings = candidates[0].settings
        _show_candidates(candidates)
    if parts is not None:
        model = _keep_best(output, lambda: run_watched(workflow.train_in_parts, parts, data, test, settings))
        scores = workflow.score_model(model, data, training, test)
        show_scores(scores, len(test))
    else:
        scores = run_watched(workflow.score_settings, data, training, test, settings)
        show_scores(scores, len(test))
        task = f"Training {settings.words} on all {len(data.y):,} rows"
        model = run_watched(workflow.train_model, data.X, data.y, settings, task=task)
        if intervals and not committee:
            run_watched(workflow.calibrate_by_folds, model, data.X, data.y)
    _print_rules(model, output)
    save(model, output)
    _say_next(output, getattr(source, "first", table[0]), has_report=not committee)
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


def _has_parts(table: list[str]) -> bool:
    return table != [STANDARD] and workflow.comes_in_parts(table)


def _read(
    source: Any, target: str, drop: list[str], seed: int
) -> tuple[workflow.RowsInParts | None, workflow.TrainingTable]:
    """Read a table, or a sample of one in parts that has more rows than that."""
    if not isinstance(source, workflow.TableParts):
        return None, workflow.read_training_table(source, target, drop)
    parts, data = run_watched(workflow.read_sample, source, target, drop, seed)
    return parts if data.is_sample else None, data


def _keep_best(output: Path, train: Callable[[], Pipeline]) -> Pipeline:
    """Return a trained model; if training ends early, which may be after hours, the best rules so far are written."""
    try:
        model = train()
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
    if workflow.count_all_rules(model) <= _MOST_RULES:
        print_text(f"\n{export_text(model)}\n")
        return
    print_text(f"\n{workflow.describe_size(model)}; to print them: takagi rules {shlex.quote(str(output))}")
    if not hasattr(model[-1], "estimators_"):
        print_text("For a few rules that can be read and believed: --recipe short")
    memory = getattr(model[-1], "memory_", None)
    print_text("" if memory is None else f"The model holds {count(len(memory.rows), 'row')} of the table.\n")


def _summarize_table(data: workflow.TrainingTable) -> dict[str, Any]:
    return {
        "target": data.y.name,
        "n_rows": data.n_rows,
        "n_rows_without_target": data.n_dropped,
        "columns": [asdict(column) for column in data.columns],
        "findings": [asdict(finding) for finding in data.check],
    }


def _show_candidates(candidates: list[workflow.Candidate]) -> None:
    """Print the table of a search, the best first."""
    heading = f">RMSE, mean of {len(candidates[0].errors)} folds"
    table = make_table("Recipe", ">Rules", ">Chance to keep a rule", ">Iterations", heading, ">Spread")
    errors = write_errors([number for candidate in candidates for number in (candidate.rmse, candidate.deviation)])
    for place, candidate in enumerate(candidates):
        settings = candidate.settings
        cells = (settings.recipe, f"{settings.n_rules or 'auto'}", f"{settings.keep_prob}", f"{settings.max_iter:,}")
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
