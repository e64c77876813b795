"""The store: results in a folder, appended run by run, never half-written.

``journal.csv`` gets one line per finished run; an incomplete line of a killed process is dropped on the next start.
``compact`` moves the journal into ``results.parquet``. Curves are in ``curves.csv`` and ``curves.parquet`` the same
way.
"""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from takagi.experiments._run import CURVE_POINTS, Result

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
_DIGITS = 8  # of a number; a field with other digits says so in its metadata


class StoreColumns:
    """The columns of a store: the fields of a run, then the numbers and text of its result."""

    def __init__(self, result_type: type) -> None:
        hints = get_type_hints(result_type)
        self.run_type = hints["run"]
        run_hints = get_type_hints(self.run_type)
        self.run = [field.name for field in fields(self.run_type)]
        values = [field for field in fields(result_type) if hints[field.name] in (str, int, float)]
        self.digits = {field.name: field.metadata.get("digits", _DIGITS) for field in values}
        self.words = [field.name for field in values if hints[field.name] is str]
        self.numbers = [field.name for field in values if field.name not in self.words]
        self.scalars = [*self.run, *self.digits]
        self.curves = [*self.run, "curve"]
        self.types = {name: run_hints[name] for name in self.run} | dict.fromkeys([*self.words, "curve"], str)

    def write_value(self, name: str, value: object) -> object:
        """Return the text of a value; floats have a fixed number of digits."""
        return f"{value:.{self.digits[name]}g}" if isinstance(value, float) else value


class StoreError(Exception):
    """A store that cannot be read; the message says what is wrong and what to do."""


class Store:
    """Results of runs in a folder.

    Parameters
    ----------
    folder : path
        The folder; it is created if it does not exist.
    result_type : dataclass, default=Result
        The type of the results, see `StoreColumns`.

    Examples
    --------
    >>> import tempfile
    >>> from takagi.experiments import Store
    >>> store = Store(tempfile.mkdtemp())
    >>> len(store.finished())
    0
    """

    def __init__(self, folder: str | os.PathLike[str], result_type: type = Result) -> None:
        self.folder = Path(folder).expanduser()
        self.columns = StoreColumns(result_type)
        if self.folder.exists() and not self.folder.is_dir():
            raise StoreError(f"{self.folder} is a file; a store is a folder.")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_format()

    def claim_seed(self, seed: int) -> None:
        """Record the base seed of the results; a store has only one."""
        mark = self.folder / "SEED"
        if not mark.exists():
            mark.write_text(f"{seed}\n")
        elif mark.read_text().strip() != str(seed):
            raise StoreError(
                f"{self.folder} has results of seed {mark.read_text().strip()}, not {seed}; use another folder."
            )

    # -- writing -------------------------------------------------------------------------------------------------------

    def append(self, results: Iterable[Any]) -> None:
        """Append results; each line is on disk before the next one is written."""
        for result in results:
            run = asdict(result.run)
            if len(curve := getattr(result, "curve", ())):
                text = " ".join(f"{value:.5g}" for value in curve)
                self._append_line("curves.csv", [*run.values(), text], self.columns.curves)
            values = [self.columns.write_value(name, getattr(result, name)) for name in self.columns.digits]
            self._append_line("journal.csv", [*run.values(), *values], self.columns.scalars)

    def _append_line(self, name: str, values: list, header: list[str]) -> None:
        path = self.folder / name
        with path.open("a+b") as file:
            _drop_cut_line(file)
            if file.seek(0, os.SEEK_END) == 0:
                file.write(_csv_line(header))
            file.write(_csv_line(values))
            file.flush()
            os.fsync(file.fileno())

    def compact(self) -> None:
        """Move the journal into Parquet files, each replaced at once."""
        for journal, table in (("curves.csv", "curves"), ("journal.csv", "results")):
            if (self.folder / journal).exists():
                frame = self._read(journal, table)
                temporary = self.folder / f".{table}.parquet.{os.getpid()}"
                frame.to_parquet(temporary, index=False, compression="zstd")
                temporary.replace(self.folder / f"{table}.parquet")
                (self.folder / journal).unlink()

    # -- reading -------------------------------------------------------------------------------------------------------

    def results(self) -> "pd.DataFrame":
        """Return one row per run, the newest where a run was done twice."""
        frame = self._read("journal.csv", "results")
        return frame.astype(dict.fromkeys(self.columns.numbers, float)).fillna(dict.fromkeys(self.columns.words, ""))

    def curves(self) -> "pd.DataFrame":
        """Return one row per run that keeps its validation curve, its points as columns."""
        import pandas as pd

        frame = self._read("curves.csv", "curves")
        points = [np.array(text.split(), dtype=float) for text in frame.pop("curve")]
        values = np.reshape(points, (len(frame), len(CURVE_POINTS)))
        return pd.concat([frame, pd.DataFrame(values, columns=CURVE_POINTS.tolist())], axis=1)

    def finished(self) -> set[Any]:
        """Return the runs that have a result and no error."""
        frame = self.results()
        good = frame[frame["error"] == ""]
        return {self.columns.run_type(*row) for row in good[self.columns.run].itertuples(index=False, name=None)}

    def _read(self, journal: str, table: str) -> "pd.DataFrame":
        import pandas as pd

        columns = self.columns.curves if table == "curves" else self.columns.scalars
        types = {name: self.columns.types.get(name, float) for name in columns}
        parts = []
        if (path := self.folder / f"{table}.parquet").exists():
            try:
                parts.append(pd.read_parquet(path))
            except Exception as error:
                raise StoreError(f"{path} is damaged ({error}). Nothing was changed; restore or remove it.") from error
        if (path := self.folder / journal).exists():
            parts.append(_parse(path, types))
        if not parts:
            return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in types.items()})
        frame = pd.concat(parts, ignore_index=True)
        if list(frame.columns) != columns:
            raise StoreError(f"{self.folder} has the columns of another version: {list(frame.columns)}.")
        return frame.drop_duplicates(self.columns.run, keep="last", ignore_index=True)

    def _check_format(self) -> None:
        mark = self.folder / "FORMAT"
        if not mark.exists():
            if any((self.folder / name).exists() for name in ("results.parquet", "journal.csv")):
                raise StoreError(f"{self.folder} was written by an unknown version: it has no file FORMAT.")
            mark.write_text(f"{FORMAT}\n")
        elif mark.read_text().strip() != str(FORMAT):
            raise StoreError(
                f"{self.folder} has format {mark.read_text().strip()}, this version of takagi reads format {FORMAT}. "
                "Use another folder, or the version that wrote it. Nothing was changed."
            )


def _csv_line(values: list) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _drop_cut_line(file: io.BufferedRandom) -> None:
    """Cut a last line that is incomplete: the process was killed while it was written."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(max(0, end - 65536))
    tail = file.read()
    if not tail.endswith(b"\n"):
        file.truncate(end - len(tail) + tail.rfind(b"\n") + 1)


def _parse(path: Path, types: dict[str, type]) -> "pd.DataFrame":
    """Return the whole lines of a journal; name the damaged ones."""
    import pandas as pd

    columns = list(types)
    text = path.read_bytes().decode(errors="replace")
    whole = text[: text.rfind("\n") + 1]
    rows = list(csv.reader(io.StringIO(whole)))
    if rows and rows[0] != columns:
        raise StoreError(f"{path} has the columns of another version: {rows[0]}. Nothing was changed.")
    bad = [number for number, row in enumerate(rows[1:], start=2) if not _is_sound(row, types)]
    if bad:
        shown = ", ".join(map(str, bad[:10]))
        raise StoreError(f"{path} is damaged in line(s) {shown}. Nothing was changed; repair or remove these lines.")
    return pd.DataFrame(rows[1:], columns=columns).astype(types)


def _is_sound(row: list[str], types: dict[str, type]) -> bool:
    if len(row) != len(types):
        return False
    try:
        for (name, kind), value in zip(types.items(), row, strict=True):
            _ = np.array(value.split(), dtype=float) if name == "curve" else kind(value)
    except ValueError:
        return False
    return True
