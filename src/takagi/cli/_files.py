"""Files: what may be read and written, and outputs that are seen whole or not at all."""

from collections.abc import Sequence
from pathlib import Path

from takagi.cli._console import Misuse
from takagi.tables import find_database

STANDARD = "-"


def check_output(path: Path, force: bool, suffixes: Sequence[str] = (), inputs: Sequence[str | Path] = ()) -> Path:
    """Return a path that may be written, or raise `Misuse`; `force` lets files be replaced, but for `inputs`."""
    path = path.expanduser()
    if str(path) == STANDARD:
        raise Misuse(f"the output must be a file; {STANDARD!r} for the standard output is taken by predict alone.")
    if suffixes and path.suffix.lower() not in suffixes:
        raise Misuse(f"the output {path} must end in {_list(suffixes)}.")
    if not path.parent.is_dir():
        raise Misuse(f"there is no folder {path.parent}; make it first.")
    if path.exists() and not path.is_file():
        raise Misuse(f"{path} is not a regular file; give the name of one.")
    read = [find_database(str(name)) or Path(name) for name in inputs]
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise Misuse(f"{path} is read by this command; choose another name for the output.")
    if path.exists() and not force:
        raise Misuse(f"{path} exists; pass --force to replace it, or choose another name.")
    return path


def _list(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
