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
from takagi._text import count, quote
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
from takagi.cli._options import AsJson, Force, Quiet, TableFiles
from takagi.cli._progress import run_watched
from takagi.cli._tables import open_input, show_scores, show_training_table, takes_layout, write_source
from takagi.inspection import export_text, rule_table
from takagi.persistence import save
from takagi.scores import ScoreSheet
from takagi.tables import DatasetError, TableLayout

_MOST_LINES = 40  # of rules that are printed


_COLUMNS = "Columns"  # a section of the help


class Extrapolation(Enum):
    """What a model says far beyond its data."""

    hold = "hold"
    linear = "linear"


class TaskKind(Enum):
    """What a target is."""

    classification = workflow.CLASSIFICATION
    regression = workflow.REGRESSION


def parse_rules(text: str) -> int | str:
    """Return a number of rules, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or not int(text):
        raise typer.BadParameter(f"a number from 1 on or the word auto is needed, got {text!r}.")
    return int(text)


@takes_layout
def fit(
    table: TableFiles,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model file to write.")],
    task: Annotated[
        TaskKind | None,
        typer.Option(
            metavar="KIND",
            show_default="by the target",
            help="classification or regression; text, true and false, and two numbers are classes.",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            show_default="5; auto if accurate",
            help="Most short rules, or the number of others; auto is chosen by cross-validation, or by the rows.",
            parser=parse_rules,
        ),
    ] = None,
    conditions: Annotated[
        int | None, typer.Option(min=1, metavar="N", show_default="3", help="Most conditions of a short rule.")
    ] = None,
    terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", show_default="4", help="Most terms of a short rule's formula.")
    ] = None,
    accurate: Annotated[
        bool, typer.Option("--accurate", help="Many rules with a small error, in place of few to be read one by one.")
    ] = False,
    droprule: Annotated[bool, typer.Option("--droprule", help="Rules as in the paper, trained with DropRule.")] = False,
    committee: Annotated[
        bool,
        typer.Option("--committee", help="Eight models and a memory: the smallest error, but many rules."),
    ] = False,
    extrapolation: Annotated[
        Extrapolation,
        typer.Option(
            metavar="HOW",
            help="Far beyond the training rows: hold values one range out, or linear, formulas that go on without end.",
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
        list[str] | None,
        typer.Option(
            rich_help_panel=_COLUMNS, metavar="COLUMN", help="A column to leave out, or several with *; repeatable."
        ),
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=_COLUMNS, metavar="COLUMN", help="A column of codes, to read as a category; repeatable."
        ),
    ] = None,
    number: Annotated[
        list[str] | None,
        typer.Option(rich_help_panel=_COLUMNS, metavar="COLUMN", help="A column to read as numbers; repeatable."),
    ] = None,
    date: Annotated[
        list[str] | None,
        typer.Option(rich_help_panel=_COLUMNS, metavar="COLUMN", help="A column to read as dates; repeatable."),
    ] = None,
    max_levels: Annotated[
        int,
        typer.Option(
            min=1,
            rich_help_panel=_COLUMNS,
            metavar="N",
            help="The most levels of a category that are told apart; one with more goes by the target's means.",
        ),
    ] = 20,
    iterations: Annotated[
        int | None, typer.Option(min=1, metavar="N", show_default="auto", help="Training iterations.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help="Rows with the same value here stay together in the score; nothing is learned from the column.",
        ),
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            show_default=False,
            help="The score is for later rows than those of training, by this column of dates or numbers.",
        ),
    ] = None,
    no_score: Annotated[bool, typer.Option("--no-score", help="Train once, without a score.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of all random numbers.")] = 0,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a few rules to a table, say how well they predict, print them and write them to a file.

    Columns may hold numbers, text, categories, true and false, and missing values. The score is for rows that a model
    has not seen: cross-validation below 2,000 rows, else a fifth held out. The model that is written is then trained on
    all rows with the same settings, and its file keeps the score.

    Several files, a folder, a pattern such as 'part-*.parquet', or a file of a gigabyte or more need not fit into
    memory: with more than 50,000 rows, they are trained on in passes, without the rows held out.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    output = check_output(output, force, inputs=table)
    recipe = _choose_recipe(accurate or committee, droprule, bool(conditions or terms))
    if committee and tune:
        raise Misuse("--committee and --tune do not go together; leave one of them out.")
    source = workflow.TableParts.open(table, layout) if _has_parts(table) else open_input(table[0], layout)
    choice = workflow.ColumnChoice(drop or (), category or (), number or (), date or (), max_levels, group, time_column)
    parts, data = _read(source, target, choice, None if task is None else task.value, seed)
    show_training_table(source, data)
    if time_column is not None and time_column in data.X.columns:
        print_note(
            f"the model learns from {quote(time_column)}, too, and later rows lie beyond what it has seen of it. To "
            f"learn nothing from it: {shlex.join(['--drop', time_column])}"
        )
    if intervals and data.task == workflow.CLASSIFICATION:
        raise Misuse("--intervals is for a target of numbers; classes have probabilities. Leave it out.")
    if parts is not None and recipe == "short":
        print_note("short rules are fitted in memory, and this table is too large for that: --accurate is taken.")
        recipe = "accurate"
    fixed: dict[str, Any] = {
        "max_conditions": conditions, "max_terms": terms, "max_levels": max_levels, "extrapolation": extrapolation.value
    }  # fmt: skip
    settings = workflow.choose_settings(rules, iterations, seed, recipe=recipe, committee=committee, task=data.task)
    settings = replace(settings, **fixed)
    splits: workflow.Splits | None = None
    candidates: list[workflow.Candidate] = []
    if tune:
        splits = workflow.plan_splits(len(data.y), seed, data.ties, once=True, labels=data.labels)
        searched = "auto" if recipe == "short" and not (conditions or terms) else recipe
        tried = workflow.list_candidates(rules, iterations, seed, recipe=searched, task=data.task)
        tried = [replace(one, **fixed) for one in tried]
        settings, candidates = _search(data, splits, tried, seed)
    if parts is not None:
        model, score = _train_in_parts(output, parts, data, settings, splits, no_score)
    else:
        model, score = _train(data, settings, splits, no_score)
        if intervals and not committee:
            run_watched(workflow.calibrate_by_folds, model, data.X, data.y)
    show_scores(score)
    if score is not None and settings.recipe == "short":
        print_text("--accurate takes the accurate model.")
    _print_rules(model, output)
    save(model, output)
    _say_next(output, write_source(getattr(source, "first", table[0]), layout), settings.committee)
    if as_json:
        print_json(
            {
                "model": str(output),
                **_summarize_table(data),
                "settings": asdict(settings),
                "search": [
                    {**asdict(c.settings), "error": c.error, "standard_error": c.standard_error} for c in candidates
                ],
                "score": None if score is None else {**asdict(score), "verdict": score.describe()},
                "rules": rule_table(model).to_dict("records"),
            }
        )


def _choose_recipe(accurate: bool, droprule: bool, has_limits: bool) -> str:
    if accurate and droprule:
        raise Misuse("--droprule makes other rules than --accurate and --committee; leave one of them out.")
    if has_limits and (accurate or droprule):
        raise Misuse("--conditions and --terms are limits of short rules; leave them or the other recipe out.")
    return "accurate" if accurate else "droprule" if droprule else "short"


def _search(
    data: workflow.TrainingTable, splits: workflow.Splits, tried: list[workflow.ModelSettings], seed: int
) -> tuple[workflow.ModelSettings, list[workflow.Candidate]]:
    """Return the settings to take, and all that were tried, with their errors in the rows that train."""
    candidates = run_watched(workflow.search_settings, *data.take(splits.pairs[0][0]), tried, seed)
    chosen = workflow.choose_simplest(candidates)
    _show_candidates(candidates, chosen)
    return chosen.settings, candidates


def _train(
    data: workflow.TrainingTable, settings: workflow.ModelSettings, splits: workflow.Splits | None, no_score: bool
) -> tuple[Pipeline, ScoreSheet | None]:
    """Score settings, and train on all rows."""
    sheet = None
    if not no_score:
        sheet = run_watched(workflow.score_settings, data, settings, _list_others(settings), splits)
    task = f"Training {settings.words} on all {len(data.y):,} rows"
    model = run_watched(workflow.train_model, data.X, data.y, settings, task=task)
    workflow.keep_rows(model, data)
    return model, None if sheet is None else workflow.keep_scores(model, sheet)


def _list_others(settings: workflow.ModelSettings) -> dict[str, workflow.ModelSettings]:
    """Return what short rules are compared with, and the other way round: the price of rules to be read."""
    plain = workflow.ModelSettings(
        random_state=settings.random_state, extrapolation=settings.extrapolation, task=settings.task
    )
    if settings.recipe == "short":
        return {"the accurate model": replace(plain, recipe="accurate")}
    has_rival = settings.recipe == "accurate" and not settings.committee
    return {"short rules": replace(plain, recipe="short")} if has_rival else {}


def _train_in_parts(
    output: Path,
    parts: workflow.RowsInParts,
    data: workflow.TrainingTable,
    settings: workflow.ModelSettings,
    splits: workflow.Splits | None,
    no_score: bool,
) -> tuple[Pipeline, ScoreSheet | None]:
    """Train on all rows but some of the sample, which score the model that is written."""
    pair = workflow.split_off(len(data.y), 0.0 if no_score else 0.2, settings.random_state)
    pair = pair if splits is None else splits.pairs[0]
    model = _keep_best(output, lambda: run_watched(workflow.train_in_parts, parts, data, pair[1], settings))
    workflow.keep_rows(model, data)
    return model, None if no_score else workflow.keep_scores(model, workflow.score_model(model, data, pair))


def _has_parts(table: list[str]) -> bool:
    return table != [STANDARD] and workflow.comes_in_parts(table)


def _read(
    source: Any, target: str, choice: workflow.ColumnChoice, task: str | None, seed: int
) -> tuple[workflow.RowsInParts | None, workflow.TrainingTable]:
    """Read a table, or a sample of one in parts that has more rows than that."""
    if not isinstance(source, workflow.TableParts):
        return None, workflow.read_training_table(source, target, choice, task)
    if choice.group is not None or choice.time is not None:
        raise Misuse("--group and --time are for a table of one file, which fits into memory.")
    parts, data = run_watched(workflow.read_sample, source, target, choice, task, seed)
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
    """Print the rules, or how to, where they are more than a screen."""
    text = export_text(model) if workflow.count_all_rules(model) <= _MOST_LINES else ""
    if text and text.count("\n") < _MOST_LINES:
        print_text(f"\n{text}\n")
        return
    print_text(f"\n{workflow.describe_size(model)}; to print them: takagi rules {shlex.quote(str(output))}")
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


def _show_candidates(candidates: list[workflow.Candidate], chosen: workflow.Candidate) -> None:
    """Print the table of a search, the best first, and what the choice costs."""
    measure = workflow.MEASURES[chosen.settings.task].name
    heading = f">{measure}, mean of {len(candidates[0].errors)} folds"
    table = make_table("Recipe", ">Rules", ">Chance to keep a rule", ">Iterations", heading, ">Standard error")
    numbers = [number for one in candidates for number in (one.error, one.standard_error)]
    errors = write_errors(numbers)
    for place, candidate in enumerate(candidates):
        settings = candidate.settings
        n_iter = settings.max_iter if isinstance(settings.max_iter, str) else f"{settings.max_iter:,}"
        cells = (settings.recipe, f"{settings.n_rules or 'auto'}", f"{settings.keep_prob}", n_iter)
        table.add_row(*cells, *errors[2 * place : 2 * place + 2], style="bold" if candidate is chosen else "")
    console.print(table)
    best, (error, least, spread) = candidates[0], write_errors([chosen.error, candidates[0].error, numbers[1]])
    if chosen is best:
        print_text(f"Chosen: the first, {measure} {error}; none within its standard error is easier to read.\n")
        return
    cost = 100 * (chosen.error / best.error - 1) if best.error else 0.0
    print_text(
        f"Chosen: {_name(chosen)}, {measure} {error}, the easiest to read within a standard error ({spread}) of\n"
        f"the best, {least} ({_name(best)}); it costs {cost:.1f} %.\n"
    )


def _name(candidate: workflow.Candidate) -> str:
    settings = candidate.settings
    return f"{settings.recipe}, {settings.n_rules or 'auto'} rules"


def _say_next(path: Path, table: str, is_committee: bool) -> None:
    name, table = shlex.quote(str(path)), "TABLE" if table == STANDARD else table
    print_text(f"Wrote {path} ({path.expanduser().stat().st_size / 1000:,.0f} kB). To go on:")
    print_text(f"  takagi predict {name} NEW.csv -o predictions.csv")
    print_text(f"  takagi explain {name} {table} --row 0")
    print_text(f"  takagi report {name} {table} -o report.html")
    member = " --member 1" if is_committee else ""
    print_text(f"  takagi simplify {name} {table} -o small.takagi{member}")
