"""``takagi report``: a page about a model and a table."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from takagi.cli._console import print_json, print_note, print_text, set_output
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
from takagi.cli._tables import open_input, read_labeled, takes_layout
from takagi.tables import TableLayout
from takagi.workflow import LoadedModel


@takes_layout
def report(
    model: ModelFile,
    table: TableFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")],
    member: Member = None,
    target: Target = None,
    title: Annotated[str | None, typer.Option(show_default=False, help="The page's title.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a page about a model: its rules, its score, what matters, and what would happen if.

    TABLE holds the target, too. The score is that of the fit, which the model file keeps, or that of TABLE if its rows
    did not train the model; the page says which.
    """
    from takagi.report import ModelReport

    set_output(quiet=quiet, silent=quiet or as_json)
    path = check_output(output, force, (".html", ".htm"), [model, table])
    loaded = LoadedModel(model)
    shown = loaded.model if member is None else loaded.take_member(member)
    rows = read_labeled(loaded, open_input(table, layout), target)
    page = ModelReport(shown, rows.X, rows.y, title=title)
    page.write_html(path)
    print_text(f"Wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")
    if as_json:
        scores = {name: page.to_dict()[name] for name in ("scores", "kept")}
        print_json({"output": str(path), "n_rows": len(rows.y), **scores})
    if open_page and not webbrowser.open(path.resolve().as_uri()):
        print_note(f"there is no browser to show {path} with.")
