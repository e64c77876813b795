"""``takagi explain``: why some rows of a table get their predictions."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from takagi import kernels
from takagi.cli._console import print_json, print_text, set_output
from takagi.cli._options import (
    AsJson,
    Member,
    ModelFile,
    QuietResult,
    TableFile,
)
from takagi.cli._tables import open_input, takes_layout
from takagi.inspection import LocalExplanation, explain_local
from takagi.tables import TableLayout
from takagi.workflow import LoadedModel


@takes_layout
def explain(
    model: ModelFile,
    table: TableFile,
    row: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="N", show_default="0", help="The row, counted from 0 below the names; repeatable."),
    ] = None,
    member: Member = None,
    *,
    layout: TableLayout,
    as_json: AsJson = False,
    quiet: QuietResult = False,
) -> None:
    """Explain predictions: what each column adds to the average row's, and which rules fire."""
    set_output(quiet=quiet)
    loaded = LoadedModel(model, only_predicts=True)
    source = open_input(table, layout)
    found = loaded.find_rows(source, row or [0])
    told = loaded.model if member is None else loaded.take_member(member)
    with kernels.prefer_plain():
        explained = [replace(explain_local(told, X), row_numbers=(number,)) for number, X in found.items()]
    if as_json:
        print_json([_to_dict(one, output) for one in explained for output in one.output_names])
    else:
        print_text("\n\n".join(map(str, explained)))


def _to_dict(explanation: LocalExplanation, output: str) -> dict[str, Any]:
    k = explanation.output_names.index(output)
    chance = {} if explanation.probability is None else {"probability": explanation.probability[0, k]}
    return {
        "row": explanation.row_numbers[0],
        "output": output,
        "prediction": explanation.prediction[0, k],
        **chance,
        "baseline": explanation.baseline,
        "base": explanation.base[k],
        "contributions": explanation.to_frame(output=output).to_dict("records"),
        "rules": explanation.rules_to_frame(output=output).to_dict("records"),
        "intercept": explanation.intercept[0, k],
        "slopes": dict(zip(explanation.feature_names, explanation.slopes[0, k], strict=True)),
    }
