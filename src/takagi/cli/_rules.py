"""``takagi rules``: the rules as text."""

from takagi.cli._console import print_json, print_text, set_output
from takagi.cli._options import (
    AsJson,
    HeaderRow,
    MaybeTableFile,
    Member,
    ModelFile,
    Names,
    NoHeader,
    Query,
    QuietResult,
    Sheet,
)
from takagi.cli._tables import make_layout, open_input
from takagi.inspection import export_text, rule_table
from takagi.workflow import LoadedModel


def rules(
    model: ModelFile,
    table: MaybeTableFile = None,
    member: Member = None,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    query: Query = None,
    no_header: NoHeader = False,
    names: Names = None,
    as_json: AsJson = False,
    quiet: QuietResult = False,
) -> None:
    """Print the rules of a model, those that govern most rows first.

    Shares and words such as "high" are of the training rows, or of TABLE if one is given.
    """
    set_output(quiet=quiet)
    loaded = LoadedModel(model, only_predicts=True)
    shown = loaded.model if member is None else loaded.take_member(member)
    layout = make_layout(no_header, names, sheet, header_row, query)
    X = None if table is None else loaded.read(open_input(table, layout))
    if as_json:
        print_json(rule_table(shown, X).to_dict("records"))
    else:
        print_text(export_text(shown, X))
