"""``takagi rules``: the rules as text."""

from takagi.cli._console import print_json, print_text, set_output
from takagi.cli._options import (
    AsJson,
    MaybeTableFile,
    Member,
    ModelFile,
    QuietResult,
)
from takagi.cli._tables import open_input, takes_layout
from takagi.inspection import export_text, rule_table
from takagi.tables import TableLayout
from takagi.workflow import LoadedModel


@takes_layout
def rules(
    model: ModelFile,
    table: MaybeTableFile = None,
    member: Member = None,
    *,
    layout: TableLayout,
    as_json: AsJson = False,
    quiet: QuietResult = False,
) -> None:
    """Print the rules of a model, those that govern most rows first.

    Shares and words such as "high" are of the training rows, or of TABLE if one is given.
    """
    set_output(quiet=quiet)
    loaded = LoadedModel(model, only_predicts=True)
    shown = loaded.model if member is None else loaded.take_member(member)
    X = None if table is None else loaded.read(open_input(table, layout))
    if as_json:
        print_json(rule_table(shown, X).to_dict("records"))
    else:
        print_text(export_text(shown, X))
