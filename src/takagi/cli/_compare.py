"""``takagi compare``: two models on the rows of a table."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from takagi._text import count, format_share
from takagi.cli._console import Misuse, print_json, print_note, set_output
from takagi.cli._options import AsJson, QuietResult, TableFile, Target
from takagi.cli._tables import open_input, read_labeled, show_scores, takes_layout
from takagi.tables import OpenTable, TableLayout
from takagi.workflow import CLASSIFICATION, MEASURES, REGRESSION, LabeledRows, LoadedModel, compare_predictions

_FEWEST_ROWS = 10
_FEW_SEEN = 0.02


@takes_layout
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A model file that takagi wrote.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one.")],
    table: TableFile,
    target: Target = None,
    *,
    layout: TableLayout,
    as_json: AsJson = False,
    quiet: QuietResult = False,
) -> None:
    """Compare two models on the rows of TABLE, which holds the target, too.

    The rows must be new to both: on rows that it was trained on, a model looks better than it is. The command says so
    where the model files know their rows.
    """
    set_output(quiet=quiet, silent=as_json)
    source = open_input(table, layout)
    models = {_name(path): LoadedModel(path) for path in (first, second)}
    if len(models) < 2:
        raise Misuse("A and B are the same file; name two models.")
    rows = {name: _read(model, source, target) for name, model in models.items()}
    y, (one, other) = rows[_name(first)].y, models.values()
    if one.classes != other.classes:
        raise Misuse("the models do not predict the same: both must predict numbers, or the same classes.")
    task = REGRESSION if one.classes is None else CLASSIFICATION
    measure = MEASURES[task](y if one.classes is None else one.classes)
    predictions = {name: measure.predict(model.model, rows[name].X) for name, model in models.items()}
    simplest, guess = measure.guess(y)
    predictions[simplest] = guess
    score = compare_predictions(y, predictions, f"the {count(len(y), 'row')} of {source.label}", measure)
    seen = {name: model.find_seen(rows[name]) for name, model in models.items()}
    show_scores(score)
    for name, part in seen.items():
        if part > _FEW_SEEN:
            print_note(f"{format_share(part)} of these rows trained {name}, so its error here is too small.")
    if as_json:
        print_json({**asdict(score), "verdict": score.describe(), "trained_on": seen})


def _name(path: Path) -> str:
    return str(path)


def _read(model: LoadedModel, source: OpenTable, target: str | None) -> LabeledRows:
    if len(model.targets) > 1:
        raise Misuse(f"models of several targets are not compared; these have {', '.join(model.targets)}.")
    rows = read_labeled(model, source, target)
    if len(rows.y) < _FEWEST_ROWS:
        raise Misuse(f"{count(len(rows.y), 'row')} with a target do not compare models; {_FEWEST_ROWS} at least do.")
    return rows
