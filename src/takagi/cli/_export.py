"""``takagi export``: the rules outside Python."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from takagi._messages import unknown_name
from takagi.cli._console import Misuse, print_json, print_text, set_output
from takagi.cli._files import check_output
from takagi.cli._options import AsJson, Force, Member, ModelFile, Quiet
from takagi.export import to_c, to_fis, to_json, to_onnx
from takagi.workflow import LoadedModel


def _write_onnx(model: Any, path: Path, single: bool, interval: float | None) -> None:
    to_onnx(model, path, dtype="float32" if single else "float64", coverage=interval)


def _write_c(model: Any, path: Path, single: bool, interval: float | None) -> None:
    name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = name if re.match("[A-Za-z]", name) else f"takagi_{name}"
    to_c(model, path, dtype="float" if single else "double", name=name, coverage=interval)


FORMATS: dict[str, Callable[[Any, Path, bool, float | None], object]] = {
    "onnx": _write_onnx,
    "fis": lambda model, path, *_: to_fis(model, path),
    "c": _write_c,
    "json": lambda model, path, *_: to_json(model, path),
}


def export(
    model: ModelFile,
    to: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", show_default=False, help="onnx, fis (Matlab, Octave), c or json; else by -o."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", show_default=False, help="By default beside the model."),
    ] = None,
    single: Annotated[bool, typer.Option("--single", help="Numbers of single precision; onnx and c only.")] = False,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="PART",
            show_default=False,
            help="Add the limits between which that part of new rows lies, such as 0.9; onnx and c only.",
        ),
    ] = None,
    member: Member = None,
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the rules for another runtime: ONNX, Matlab or Octave, C, or JSON for a web page."""
    set_output(quiet=quiet, silent=quiet or as_json)
    if to is None and output is None:
        raise Misuse("say what to export to with --to onnx, fis, c or json.")
    kind = (output.suffix.removeprefix(".").lower() if output is not None else "") if to is None else to
    if kind not in FORMATS:
        raise Misuse(str(unknown_name("format", kind, FORMATS)))
    if single and kind not in ("onnx", "c"):
        raise Misuse(f"--single is for onnx and c; {kind} holds numbers as text, with all digits.")
    if interval is not None and kind not in ("onnx", "c"):
        raise Misuse(f"--interval is for onnx and c, got {kind}; json holds all that intervals need anyway.")
    path = check_output(model.with_suffix(f".{kind}") if output is None else output, force, inputs=[model])
    loaded = LoadedModel(model)
    rules = loaded.take_member(member)
    if interval is not None:
        loaded.check_coverage(interval)
    FORMATS[kind](rules, path, single, interval)
    print_text(f"Wrote {path}")
    if as_json:
        print_json({"output": str(path), "format": kind, "n_bytes": path.stat().st_size})
