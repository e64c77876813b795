"""``takagi data``: the paper's 22 regression sets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from takagi.cli._console import console, print_json
from takagi.cli._help import PlainCommand, PlainGroup
from takagi.cli._options import AsJson, Quiet
from takagi.datasets import describe_dataset, fetch_dataset, find_dataset, get_data_home, list_datasets

data_app = typer.Typer(
    cls=PlainGroup,
    no_args_is_help=True,
    help="List and fetch the paper's 22 regression sets.",
    epilog="Example: takagi data fetch Yacht",
)


def _check_names(names: list[str] | None) -> list[str]:
    try:
        return [describe_dataset(name).name for name in names or ()]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", file_okay=False, show_default=False, help="Folder to look in first and to fetch to."
    ),
]


@data_app.command("list", cls=PlainCommand, epilog="Example: takagi data list --json")
def list_table(data_home: Folder = None, as_json: AsJson = False) -> None:
    """Print the paper's table of datasets, and which files are on this machine."""
    rows = [_describe(index, name, data_home) for index, name in enumerate(list_datasets(), start=1)]
    if as_json:
        print_json(rows)
    else:
        console.print(_draw(rows))


@data_app.command(cls=PlainCommand, epilog="Example: takagi data fetch Yacht autoMPG")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(callback=_check_names, show_default=False, help="All 22 if none is given.")
    ] = None,
    data_home: Folder = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Download the files that are not on this machine yet, and print where they are."""
    files, errors = _fetch_all(names or list_datasets(), data_home, quiet=quiet or as_json)
    if as_json:
        print_json({"files": _to_text(files), "errors": _to_text(errors)})
    elif not quiet:
        for name, path in files.items():
            typer.echo(f"{name:<17}{path}")
    if errors:
        raise ExceptionGroup("some files could not be fetched", list(dict.fromkeys(errors.values())))


@data_app.command(cls=PlainCommand, epilog="Example: takagi data path Yacht")
def path(
    names: Annotated[
        list[str] | None, typer.Argument(callback=_check_names, show_default=False, help="Datasets.")
    ] = None,
    data_home: Folder = None,
) -> None:
    """Print the folder that downloads go to, or where the files of some datasets are."""
    if not names:
        typer.echo(get_data_home(data_home))
    for name in names or ():
        found = find_dataset(name, data_home=data_home)
        if found is None:
            raise FileNotFoundError(f"{name} is not on this machine; fetch it with: takagi data fetch {name}")
        typer.echo(found)


def _fetch_all(
    names: list[str], data_home: Path | None, *, quiet: bool
) -> tuple[dict[str, Path], dict[str, Exception]]:
    """Return files and errors by name; a file that several datasets share is tried once."""
    files: dict[str, Path] = {}
    errors: dict[str, Exception] = {}
    failed: dict[str, Exception] = {}
    for name in names:
        file = describe_dataset(name).source.name
        if file in failed:
            errors[name] = failed[file]
            continue
        try:
            files[name] = fetch_dataset(name, data_home=data_home, quiet=quiet)
        except (OSError, ValueError, ImportError) as error:
            errors[name] = failed[file] = error
    return files, errors


def _to_text(by_name: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in by_name.items()}


def _describe(index: int, name: str, data_home: Path | None) -> dict[str, Any]:
    dataset, file = describe_dataset(name), find_dataset(name, data_home=data_home)
    return {
        "index": index,
        "name": name,
        "source": dataset.archive,
        "samples": dataset.n_samples,
        "features": dataset.n_features,
        "type": dataset.feature_type,
        "file": file and str(file),
    }


def _draw(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("#", "Dataset", "Source", "Samples", "Features", "Type", "File"):
        table.add_column(heading, justify="right" if heading in ("#", "Samples", "Features") else "left", no_wrap=True)
    for row in rows:
        cells = [*row.values()][:-1]
        cells[3] = f"{row['samples']:,}"
        table.add_row(*map(str, cells), "[green]yes[/]" if row["file"] else "[dim]no[/]")
    return table
