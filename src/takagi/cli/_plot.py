"""``takagi plot``: pictures of a model."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from takagi import inspection
from takagi._files import replace_when_whole
from takagi._messages import unknown_name
from takagi.cli._console import Misuse, print_json, print_text, set_output
from takagi.cli._files import check_output
from takagi.cli._options import (
    AsJson,
    Force,
    MaybeTableFile,
    Member,
    ModelFile,
    Quiet,
)
from takagi.cli._tables import open_input, takes_layout
from takagi.tables import TableLayout
from takagi.workflow import LoadedModel

_SUFFIXES = (".png", ".svg", ".pdf")


def _draw_response(model: Any, X: Any, features: list[str]) -> Any:
    if len(features) not in (1, 2):
        raise Misuse("a response is that to one or two columns; name them with --feature.")
    return inspection.ResponseDisplay.from_estimator(model, X, features)


PLOTS: dict[str, Callable[[Any, Any, list[str]], Any]] = {
    "membership": lambda model, X, names: inspection.MembershipDisplay.from_estimator(model, X, names or None),
    "grid": lambda model, X, names: inspection.RuleGridDisplay.from_estimator(model, X, names or 8),
    "history": lambda model, X, names: inspection.HistoryDisplay.from_estimator(model),
    "shares": lambda model, X, names: inspection.ShareDisplay.from_estimator(model, X),
    "response": _draw_response,
    "importance": lambda model, X, names: inspection.ImportanceDisplay.from_estimator(model, X),
    "waterfall": lambda model, X, names: inspection.WaterfallDisplay.from_estimator(model, X),
}
_OF_ONE = ("membership", "grid", "history", "shares")  # of one set of rules
_WITH_FEATURES = ("membership", "grid", "response")


@takes_layout
def plot(
    model: ModelFile,
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of {', '.join(PLOTS)}.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="A PNG, SVG or PDF file.")],
    table: MaybeTableFile = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to draw; repeatable. For membership, grid and response."),
    ] = None,
    member: Member = None,
    row: Annotated[
        int | None, typer.Option(min=0, metavar="N", show_default="0", help="Of a waterfall, the row, counted from 0.")
    ] = None,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw a model: its sets, its rules at a glance, training, shares, response, importance, or one prediction.

    All but history need TABLE, a table with the columns of training.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    _check_choice(kind, table, feature, row)
    path = check_output(output, force, _SUFFIXES, [model, *([] if table is None else [table])])
    loaded = LoadedModel(model)
    needs_one = member is not None or kind in _OF_ONE
    drawn = loaded.take_member(member) if needs_one else loaded.model
    X = None
    if table is not None:
        source = open_input(table, layout)
        X = loaded.find_rows(source, [row or 0])[row or 0] if kind == "waterfall" else loaded.read(source)
    _check_features(loaded, feature or [])
    os.environ.setdefault("MPLBACKEND", "agg")  # draws to files, whatever the screen
    display = PLOTS[kind](drawn, X, feature or [])
    with replace_when_whole(path) as temporary:
        display.figure_.savefig(temporary, format=path.suffix[1:].lower(), dpi=150)
    print_text(f"Wrote {path}")
    if as_json:
        print_json({"output": str(path), "kind": kind})


def _check_features(model: LoadedModel, features: list[str]) -> None:
    """Raise `Misuse` for a column that the model does not have; projections are not columns, but may be drawn."""
    if not any(part.n_projected for part in model.opened.model.parts):
        try:
            list(map(model.opened.find_column, features))
        except ValueError as error:
            raise Misuse(str(error)) from error


def _check_choice(kind: str, table: str | None, feature: list[str] | None, row: int | None) -> None:
    if kind not in PLOTS:
        raise Misuse(str(unknown_name("kind", kind, PLOTS)))
    if table is None and kind != "history":
        raise Misuse(f"a plot of {kind} needs a table: takagi plot MODEL {kind} TABLE -o FILE")
    if feature and kind not in _WITH_FEATURES:
        raise Misuse(f"--feature is for {', '.join(_WITH_FEATURES)}, not for {kind}.")
    if row is not None and kind != "waterfall":
        raise Misuse(f"--row is for waterfall, not for {kind}.")
