"""``takagi explain``: why some rows of a table get their predictions."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from takagi.cli._console import Misuse, count, print_json, print_text, set_output
from takagi.cli._models import ModelOnDisk
from takagi.cli._options import AsJson, ModelFile, Names, NoHeader, QuietResult, Sheet, TableFile
from takagi.cli._tables import Layout, TableOnDisk, open_table
from takagi.inspection import LocalExplanation, explain_local


def explain(
    model: ModelFile,
    table: TableFile,
    row: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="N", show_default="0", help="The row, counted from 0 below the names; repeatable."),
    ] = None,
    sheet: Sheet = None,
    no_header: NoHeader = False,
    names: Names = None,
    as_json: AsJson = False,
    quiet: QuietResult = False,
) -> None:
    """Explain predictions: what each column adds to the average row's, and which rules fire."""
    set_output(quiet=quiet)
    loaded = ModelOnDisk(model)
    source = open_table(table, Layout(no_header, names, sheet))
    found = find_rows(loaded, source, row or [0])
    explained = [replace(explain_local(loaded.model, X), row_numbers=(number,)) for number, X in found.items()]
    if as_json:
        print_json([_to_dict(one, output) for one in explained for output in one.output_names])
    else:
        print_text("\n\n".join(map(str, explained)))


def find_rows(model: ModelOnDisk, source: TableOnDisk, wanted: list[int]) -> dict[int, Any]:
    """Return rows of a table by their numbers, each as a table of one row; no more is read than needed."""
    found: dict[int, Any] = {}
    n_read = 0
    for _, block in model.blocks(source):
        inside = [number for number in wanted if n_read <= number < n_read + len(block)]
        found |= {number: block[number - n_read : number - n_read + 1] for number in inside}
        n_read += len(block)
        if len(found) == len(set(wanted)):
            return {number: found[number] for number in wanted}
    if not n_read:
        raise ValueError(f"{source.label} has names but no rows.")
    raise Misuse(
        f"{source.label} has {count(n_read, 'row')}, 0 to {n_read - 1}, but --row asks for "
        f"{', '.join(str(number) for number in wanted if number not in found)}."
    )


def _to_dict(explanation: LocalExplanation, output: str) -> dict[str, Any]:
    k = explanation.output_names.index(output)
    return {
        "row": explanation.row_numbers[0],
        "output": output,
        "prediction": explanation.prediction[0, k],
        "baseline": explanation.baseline,
        "base": explanation.base[k],
        "contributions": explanation.to_frame(output=output).to_dict("records"),
        "rules": explanation.rules_to_frame(output=output).to_dict("records"),
        "intercept": explanation.intercept[0, k],
        "slopes": dict(zip(explanation.feature_names, explanation.slopes[0, k], strict=True)),
    }
