"""``takagi demo``: a first look, with a table that comes with scikit-learn."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from sklearn.datasets import load_wine

from takagi import workflow
from takagi._files import replace_when_whole
from takagi.cli._console import Misuse, print_json, print_text, set_output
from takagi.cli._files import check_output
from takagi.cli._options import AsJson, Force, Quiet
from takagi.cli._progress import run_watched
from takagi.cli._tables import show_scores
from takagi.inspection import export_text, rule_table
from takagi.persistence import save
from takagi.tables import check_table

_TARGET = "color_intensity"
_COLUMNS = ["alcohol", "hue", "flavanoids", "proline", "cultivar"]


def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", show_default=False, help="Write the table and the model there."
        ),
    ] = None,
    rules: Annotated[int, typer.Option(min=1, metavar="N", help="Number of rules.")] = 3,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a small table, print score and rules, and write nothing unless asked.

    The table is scikit-learn's: 178 wines of three cultivars, and how intense their color is.
    """
    set_output(quiet=quiet, silent=quiet or as_json)
    files = _check_folder(output, force)
    frame = load_wine(as_frame=True).frame
    X = frame.assign(cultivar=frame["target"].map({0: "first", 1: "second", 2: "third"}))[_COLUMNS]
    y = frame[_TARGET]
    data = workflow.TrainingTable(X, y, workflow.summarize_columns(X, y.to_numpy()), 0, len(X), check_table(X, y))
    settings = workflow.ModelSettings(n_rules=rules, recipe="short")
    print_text(f"{len(X)} wines: {_TARGET} from {', '.join(_COLUMNS)}\n")
    score = run_watched(workflow.score_settings, data, settings)
    model = run_watched(workflow.train_model, X, data.y, settings, task=f"Training on all {len(X)} rows")
    score = workflow.keep_scores(model, score)
    workflow.keep_rows(model, data)
    show_scores(score)
    print_text(f"\n{export_text(model)}")
    if files:
        with replace_when_whole(files[0]) as temporary:
            X.join(data.y).to_csv(temporary, index=False)
        save(model, files[1])
        print_text(f"\nWrote {files[0]} and {files[1]}. To go on:\n  takagi explain {files[1]} {files[0]} --row 3")
    if as_json:
        print_json({"score": asdict(score), "rules": rule_table(model).to_dict("records")})


def _check_folder(folder: Path | None, force: bool) -> list[Path]:
    """Return the files to write, or none."""
    if folder is None:
        return []
    if not folder.expanduser().is_dir():
        raise Misuse(f"there is no folder {folder}; make it first.")
    return [check_output(folder / name, force) for name in ("wine.csv", "wine.takagi")]
