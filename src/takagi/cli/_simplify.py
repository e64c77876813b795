"""``takagi simplify``: a model with fewer rules, conditions and terms."""

from pathlib import Path
from typing import Annotated, Any

import typer

from takagi._text import count
from takagi.cli._console import print_json, print_text, set_output
from takagi.cli._files import check_output
from takagi.cli._options import (
    AsJson,
    Force,
    Member,
    ModelFile,
    Quiet,
    TableFile,
    Target,
)
from takagi.cli._progress import ProgressBars
from takagi.cli._tables import open_input, read_labeled, takes_layout
from takagi.inspection import export_text, rule_table
from takagi.persistence import save
from takagi.simplification import simplify
from takagi.tables import TableLayout
from takagi.workflow import Event, LoadedModel, Tell


@takes_layout
def simplify_model(
    model: ModelFile,
    table: TableFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The smaller model to write.")],
    max_loss: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="PART", show_default=False, help="Part by which the error may grow."),
    ] = None,
    max_rules: Annotated[
        int | None, typer.Option("--rules", min=1, metavar="N", show_default=False, help="Most rules to keep.")
    ] = None,
    max_conditions: Annotated[
        int | None,
        typer.Option("--conditions", min=0, metavar="N", show_default=False, help="Most conditions in a rule."),
    ] = None,
    max_terms: Annotated[
        int | None,
        typer.Option("--terms", min=0, metavar="N", show_default=False, help="Most terms in the formula of a rule."),
    ] = None,
    member: Member = None,
    target: Target = None,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a model smaller: without limits, at most 5 rules with at most 3 conditions and 4 terms each.

    TABLE, best the one of training, holds the target, too; a random quarter of it measures the loss of accuracy.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    path = check_output(output, force, inputs=[table])
    loaded = LoadedModel(model)
    full = loaded.take_member(member)
    rows = read_labeled(loaded, open_input(table, layout), target)
    limits: dict[str, Any] = {
        "max_loss": max_loss, "max_rules": max_rules, "max_conditions": max_conditions, "max_terms": max_terms,
    }  # fmt: skip
    with ProgressBars() as watch:
        watch(Event(f"Simplifying {count(loaded.opened.model.n_rules, 'rule')}", 0, None, "words"))
        result = simplify(full, rows.X, rows.y, **limits, callback=_Countdown(watch))
    print_text(f"{export_text(result.model)}\n")
    before, after = result.curve[0], result.point
    print_text(f"{_measure(before)} became {_measure(after)}")
    print_text(f"{result.measure} {100 * result.loss:+.1f} % on a random quarter of the rows")
    save(result.model, path)
    print_text(f"Wrote {path}")
    if as_json:
        sizes = {"before": _list_sizes(before), "after": _list_sizes(after)}
        rules = rule_table(result.model).to_dict("records")
        print_json({"model": str(path), "loss": result.loss, **sizes, "rules": rules})


class _Countdown:
    """Tells how many words of the first smaller model have gone; the last one goes with the last step."""

    def __init__(self, tell: Tell) -> None:
        self.tell, self.n_words = tell, 0

    def __call__(self, point: Any) -> None:
        if point.step:
            self.n_words = self.n_words or point.n_words
            self.tell(Event("Leaving out words", self.n_words - point.n_words, self.n_words - 1, "words"))


def _measure(point: Any) -> str:
    sizes = _list_sizes(point).items()
    return ", ".join(count(number, name.removeprefix("n_").removesuffix("s")) for name, number in sizes)


def _list_sizes(point: Any) -> dict[str, int]:
    return {name: getattr(point, name) for name in ("n_rules", "n_conditions", "n_terms")}
