"""``takagi predict``: predictions for a table of any length, block by block."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from takagi.cli._console import Misuse, count, print_json, print_text, set_output
from takagi.cli._files import STANDARD, check_output
from takagi.cli._models import ModelOnDisk
from takagi.cli._options import AsJson, Force, ModelFile, Names, NoHeader, Quiet, Sheet, TableFile
from takagi.cli._progress import Watch
from takagi.cli._tables import Layout, TableOnDisk, find_columns, open_table
from takagi.cli._writers import SUFFIXES, open_writer


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
    sheet: Sheet = None,
    no_header: NoHeader = False,
    names: Names = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row of a table.

    The table is read and written in blocks, so it may be larger than the memory. Its columns go by name and may come in
    another order; further ones are left out.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    path = None if output == STANDARD else check_output(Path(output), force, SUFFIXES, [model, table])
    if as_json and path is None:
        raise Misuse("--json prints on the standard output, where the predictions go; give a file with -o.")
    loaded = ModelOnDisk(model)
    _use_all_cores(loaded.model)
    source = open_table(table, Layout(no_header, names, sheet))
    kept = _choose_kept(source, keep or [])
    start = time.perf_counter()
    n_rows = 0
    blocks = loaded.blocks(source, kept)
    with open_writer(path) as writer, Watch(f"Predicting {source.label}", None, "rows") as watch:
        for copied, block in blocks:
            writer.write(_add_predictions(loaded, copied, block, n_rows))
            n_rows += len(block)
            watch.advance(len(block))
        if not n_rows:
            raise ValueError(f"{source.label} has names but no rows.")
    if as_json:
        print_json({"output": str(path), "n_rows": n_rows, "seconds": time.perf_counter() - start})
    elif path is not None:
        print_text(f"Wrote {path}: {count(n_rows, 'row')}")


def _use_all_cores(model: Any) -> None:
    """Let a model predict in threads, which changes no bit."""
    last = getattr(model, "steps", [("", model)])[-1][1]
    if hasattr(last, "n_jobs"):
        last.set_params(n_jobs=-1)


def _choose_kept(source: TableOnDisk, keep: Sequence[str]) -> list[str]:
    """Return the columns to copy; a name may hold commas if it stands alone."""
    if "all" in keep and "all" not in source.names:
        return source.names
    words = [word for one in keep for word in ([one] if one in source.names else one.split(","))]
    return list(dict.fromkeys(find_columns(source, words)))


def _add_predictions(model: ModelOnDisk, copied: Any, block: Any, n_before: int) -> Any:
    """Return the copied columns with the predictions behind them."""
    try:
        prediction = model.model.predict(block).reshape(len(block), -1)
    except ValueError as error:
        if not n_before:
            raise
        raise ValueError(f"in the block that starts at row {n_before:,} of the table: {error}") from error
    names = [f"predicted_{target}" for target in model.targets]
    while set(names) & set(copied.columns):
        names = [f"{name}_" for name in names]
    return copied.assign(**dict(zip(names, prediction.T, strict=True)))
