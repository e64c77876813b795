"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

READING = "How the table is read"  # a section of the help
_TABLE = (
    "A CSV, TSV, Parquet, Excel, OpenDocument or JSON lines file, also in gzip or zip; a database, such as "
    "sqlite:///plant.db; or - for text on the standard input"
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on the standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
QuietResult = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result and errors only.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that takagi wrote.")]
TableFile = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help=f"{_TABLE}.",
    ),
]
TableFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE...",
        help=f"{_TABLE}; or the parts of a table: CSV or Parquet files, a folder of them, or a pattern in quotation "
        "marks.",
    ),
]
MaybeTableFile = Annotated[
    str | None, typer.Argument(metavar="[TABLE]", show_default=False, help="A table, as for fit, or -.")
]
Sheet = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=READING,
        metavar="SHEET",
        show_default=False,
        help="Of a book, a sheet's name or number from 1; of a zip archive, a file's.",
    ),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel=READING,
        metavar="N",
        show_default="found out",
        help="The line, or row of a sheet, that holds the names, from 1; what is above it is left out.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=READING,
        metavar="SQL",
        show_default=False,
        help="Of a database, the query whose rows are the table.",
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", rich_help_panel=READING, help="The first line is data; the columns are named x0, x1 and so on."
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=READING,
        metavar="A,B,...",
        show_default=False,
        help="Names of all columns; the first line is then data, too.",
    ),
]
Member = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", show_default=False, help="Of a committee, the member to take, from 1."),
]
Target = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", show_default=False, help="The target's column, if its name is not the model's."),
]
