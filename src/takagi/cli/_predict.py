"""``takagi predict``: predictions for a table of any length, block by block."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from takagi._text import count
from takagi.cli._console import Misuse, print_json, print_note, print_text, set_output
from takagi.cli._files import STANDARD, check_output
from takagi.cli._options import AsJson, Force, ModelFile, Quiet, TableFile
from takagi.cli._progress import ProgressBars
from takagi.cli._tables import open_input, takes_layout
from takagi.cli._writers import SUFFIXES, open_writer
from takagi.tables import OpenTable, TableLayout, find_columns
from takagi.workflow import Event, LoadedModel


@takes_layout
def predict(
    model: ModelFile,
    table: TableFile,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="A CSV, TSV or Parquet file, or - for CSV on stdout.")
    ] = STANDARD,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Columns of TABLE to copy, with commas between or repeated; or all."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            show_default=False,
            help="Add columns lower_ and upper_: limits between which that part of new rows lies, such as 0.9.",
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add a column probability_ for each class, for a model of classes.")
    ] = False,
    flags: Annotated[
        bool,
        typer.Option(
            "--flags", help="Add a column that names values beyond the data, unknown levels and missing values."
        ),
    ] = False,
    *,
    layout: TableLayout,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row of a table.

    The table is read and written in blocks, so it may be larger than the memory. Its columns go by name and may come in
    another order; further ones are left out. Rows far beyond the training rows are counted in a note.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    path = None if output == STANDARD else check_output(Path(output), force, SUFFIXES, [model, table])
    if as_json and path is None:
        raise Misuse("--json prints on the standard output, where the predictions go; give a file with -o.")
    loaded = LoadedModel(model, only_predicts=True)
    if interval is not None:
        loaded.check_coverage(interval)
    source = open_input(table, layout)
    kept = _choose_kept(source, keep or [])
    start = time.perf_counter()
    task, n_rows = f"Predicting {source.label}", 0
    with open_writer(path) as writer, ProgressBars(is_hidden=path is None) as watch:
        watch(Event(task, 0, None, "rows"))
        for block in loaded.predict_blocks(source, kept, interval, proba=proba, flags=flags):
            writer.write(block)
            n_rows += len(block)
            watch(Event(task, n_rows, None, "rows"))
    if flags:
        print_note(f"{count(loaded.n_flagged, 'row')} of {n_rows:,} flagged.")
    if loaded.n_held:
        print_note(loaded.describe_held())
    if as_json:
        seconds = time.perf_counter() - start
        counts = {"n_held": loaded.n_held, **({"n_flagged": loaded.n_flagged} if flags else {})}
        print_json({"output": str(path), "n_rows": n_rows, **counts, "seconds": seconds})
    elif path is not None:
        print_text(f"Wrote {path}: {count(n_rows, 'row')}")


def _choose_kept(source: OpenTable, keep: Sequence[str]) -> list[str]:
    """Return the columns to copy; a name may hold commas if it stands alone."""
    if "all" in keep and "all" not in source.names:
        return source.names
    words = [word for one in keep for word in ([one] if one in source.names else one.split(","))]
    return list(dict.fromkeys(find_columns(source, words, "keep")))
