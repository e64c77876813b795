"""``takagi update``: a model that goes on with new rows."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from takagi._text import count, format_share
from takagi._wording import name_formulas, name_outputs
from takagi.cli._console import cell, console, make_table, print_json, print_note, print_text, set_output, write_errors
from takagi.cli._files import check_output
from takagi.cli._options import (
    AsJson,
    Force,
    ModelFile,
    Quiet,
    TableFile,
    Target,
)
from takagi.cli._tables import open_input, read_labeled, takes_layout
from takagi.persistence import save
from takagi.tables import TableLayout
from takagi.workflow import LoadedModel, ModelUpdate, update_model

_MOST_RULES = 12


@takes_layout
def update_file(
    model: ModelFile,
    table: TableFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL", show_default="MODEL itself", help="The model file to write."),
    ] = None,
    target: Target = None,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let a model go on with the new rows of TABLE, which holds the target, too, and say what changed.

    The formulas of the rules move, by as much as the new rows are many beside those of the fit; conditions and columns
    stay. The rows of the fit need not be there. MODEL is replaced when the update is whole, or stays if -o names
    another file.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    path = model if output is None else check_output(output, force, inputs=[model, table])
    loaded = LoadedModel(model)
    source = open_input(table, layout)
    found = update_model(loaded, read_labeled(loaded, source, target))
    _show(found, source.label, loaded)
    save(found.model, path)
    print_text(f"Wrote {path}")
    if as_json:
        print_json({"model": str(path), **{k: v for k, v in asdict(found).items() if k != "model"}})


def _show(found: ModelUpdate, label: str, loaded: LoadedModel) -> None:
    """Print what changed."""
    print_text(f"{label}: {count(found.n_rows, 'new row')}, beside {count(found.n_before, 'row')} of the fit")
    before, after = write_errors([found.before, found.after])
    print_text(f"{found.measure} on the new rows: {before} before, {after} after (each by an update with the others)")
    if np.isnan(found.seen):
        print_note("the model file does not know the rows of its fit; any of them among the new rows count twice.")
    elif found.seen > 0:
        print_note(f"{format_share(found.seen)} of these rows trained the model already, and count twice.")
    if found.after >= found.before:
        print_note("the update does not lower the error on the new rows; the model as it was is as good.")
    _show_rules(found, loaded)


def _show_rules(found: ModelUpdate, loaded: LoadedModel) -> None:
    """Print what each rule said on average of the new rows that it governs, and what it says now."""
    rules = loaded.opened.model
    outputs = name_formulas(rules.link, name_outputs(rules))
    shown = sorted(found.rules, key=lambda rule: -rule.share)[:_MOST_RULES]
    lines = [(rule, k) for rule in sorted(shown, key=lambda rule: rule.number) for k in range(len(outputs))]
    numbers = write_errors([value for rule, k in lines for value in (rule.before[k], rule.after[k])])
    table = make_table("\nRule", ">\nOf the new rows", "\nSays", ">\nBefore", ">\nNow")
    for place, (rule, k) in enumerate(lines):
        pair = numbers[2 * place : 2 * place + 2]
        table.add_row(str(rule.number), format_share(rule.share), cell(outputs[k], 28), *pair)
    console.print(table)
    if len(found.rules) > len(shown):
        print_text(f"... and {count(len(found.rules) - len(shown), 'more rule')} that govern fewer of them")
    print_text("Conditions and columns stay as they are; new ones take a new fit to the old and the new rows.\n")
