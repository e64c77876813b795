"""Tables of the command line: how options say what they are, and what is shown of them."""

import shlex
import sys
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from takagi._text import count, shorten, wrap, write_number
from takagi.cli._console import cell, console, make_table, print_note, print_text, write_errors
from takagi.cli._files import STANDARD
from takagi.cli._options import HeaderRow, Names, NoHeader, Query, Sheet
from takagi.scores import COVERAGE, ScoreSheet
from takagi.tables import Finding, NamedTable, OpenTable, TableCheck, TableLayout, hide_password, open_table
from takagi.workflow import LEFT_OUT, REGRESSION, LabeledRows, LoadedModel, list_labels

if TYPE_CHECKING:
    from takagi.workflow import TrainingTable

_MOST_LISTED = 20
_MOST_FINDINGS = 8
_MOST_CLASSES = 5
_TO_DROP = ("leak", "identifier", "row number", "constant", "duplicate column")


def make_layout(
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    query: Query = None,
    no_header: NoHeader = False,
    names: Names = None,
) -> TableLayout:
    """Return what the options say of a table."""
    listed = None if names is None else [word.strip() for word in names.split(",")]
    return TableLayout(no_header, listed, sheet, header_row, query)


def takes_layout(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `make_layout` in place of its parameter `layout`."""
    own = signature(command, eval_str=True)
    options = signature(make_layout, eval_str=True).parameters

    @wraps(command)
    def run(**given: Any) -> None:
        layout = make_layout(**{name: given.pop(name) for name in options})
        command(**given, layout=layout)

    listed: list[Parameter] = []
    for name, parameter in own.parameters.items():
        listed.extend(options.values() if name == "layout" else [parameter])
    by_name = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in listed]
    run.__signature__ = own.replace(parameters=by_name)  # type: ignore[attr-defined]
    return run


def write_source(table: str, layout: TableLayout) -> str:
    """Return a table and the options that say how it is read, as they are typed; passwords are left out."""
    options = {"--sheet": layout.sheet, "--header-row": layout.header_row, "--query": layout.query}
    options["--names"] = None if layout.names is None else ",".join(layout.names)
    words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
    return shlex.join([hide_password(table), *words, *(["--no-header"] if layout.no_header else [])])


def open_input(table: str, layout: TableLayout) -> OpenTable:
    """Open a file, a database, or the standard input."""
    if table == STANDARD and sys.stdin.isatty():
        print_note("paste or type the table, names first, and end it with Ctrl-D on a line of its own.")
    return open_table(sys.stdin.buffer if table == STANDARD else table, layout)


def read_labeled(model: LoadedModel, table: OpenTable, target: str | None) -> LabeledRows:
    """Read rows with their targets, and tell how many have none."""
    rows = model.read_labeled(table, target)
    if rows.n_dropped:
        print_note(f"{count(rows.n_dropped, 'row')} without {target or ' and '.join(model.targets)} left out.")
    return rows


def show_scores(sheet: ScoreSheet | None) -> None:
    """Print scores, if there are any, and what they say."""
    if sheet is None:
        return
    heading = f"Score by {sheet.method}"
    table = make_table(heading, f">{sheet.measure}", f">{100 * COVERAGE:.0f} % interval", f">{sheet.second}")
    errors = write_errors([number for score in sheet.scores for number in (score.error, score.low, score.high)])
    for k, score in enumerate(sheet.scores):
        error, low, high = errors[3 * k : 3 * k + 3]
        second = f"{score.second:.2f}" if score.second == score.second else ""
        table.add_row(score.who, error, f"{low} to {high}", second)
    console.print(table)
    print_text("\n".join(sheet.describe()))


def show_training_table(source: NamedTable, data: "TrainingTable") -> None:
    """Print what was understood of a table."""
    n_rows = data.n_rows + data.n_dropped
    print_text(f"{source.label}: {count(n_rows, 'row')}, {count(len(source.names), 'column')} ({source.description})\n")
    table = make_table("Column", "Read as", "Range or levels", ">Missing")
    for column in data.columns[:_MOST_LISTED]:
        style = "dim" if column.read_as == LEFT_OUT else ""
        missing = f"{column.n_missing:,}" if column.n_missing else ""
        table.add_row(
            cell(column.name, 28, style), cell(column.read_as, 12, style), cell(column.what, 60, style), missing
        )
    console.print(table)
    if len(data.columns) > _MOST_LISTED:
        print_text(f"... and {count(len(data.columns) - _MOST_LISTED, 'more column')}")
    left_out = f"; {count(data.n_dropped, 'row')} without it left out" if data.n_dropped else ""
    print_text(f"\nTarget {data.y.name}: {_describe_target(data)}{left_out}")
    if data.is_sample:
        print_text(f"Ranges, levels and missing values are those of {len(data.y):,} rows drawn at random.")
    print_text("")
    _show_findings(data.check)


def _describe_target(data: "TrainingTable") -> str:
    """Return the range of a target, or its classes with their rows; a note tells of classes that no score can test."""
    if data.task == REGRESSION:
        return f"{write_number(data.y.min())} to {write_number(data.y.max())}"
    sizes = data.y.value_counts()
    single = sizes.index[sizes == 1].tolist()
    if single:
        rows = count(len(single), "class of one row").replace("rows", "row")
        print_note(f"{rows}, which no score can test: {list_labels(single)}.")
    shown = [f"{shorten(str(label))} ({n:,})" for label, n in sizes.iloc[:_MOST_CLASSES].items()]
    return f"{len(sizes)} classes: {', '.join(shown)}{', ...' if len(sizes) > _MOST_CLASSES else ''}"


def _show_findings(check: TableCheck) -> None:
    """Print what to look at before a model is learned from a table."""
    if not check:
        return
    print_text("Look at this first; nothing was changed:")
    for finding in check[:_MOST_FINDINGS]:
        print_text(wrap("-", _write_finding(finding).split(" "), "  "))
    if len(check) > _MOST_FINDINGS:
        print_text(f"... and {count(len(check) - _MOST_FINDINGS, 'more finding')}: --json has them all")
    print_text("")


def _write_finding(finding: Finding) -> str:
    """Return a finding in words: the evidence, and an option that helps, or else the advice."""
    names = ", ".join(map(shorten, finding.columns[:3])) + (", ..." if len(finding.columns) > 3 else "")
    remedy = finding.advice
    if finding.kind in _TO_DROP:
        remedy = f"To leave it out: --drop {shlex.quote(finding.columns[0])}"
    elif finding.kind == "code":
        remedy = f"If they are codes, not amounts: --category {shlex.quote(finding.columns[0])}"
    elif finding.kind == "few values":
        remedy = "If they are classes: --task classification"
    return f"{finding.kind}{' ' * bool(names)}{names}: {finding.evidence}. {remedy}"
