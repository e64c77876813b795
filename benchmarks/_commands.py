"""The command on many tables: `takagi fit`, `rules` and `predict --flags` on each as a CSV file, in fresh processes."""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

N_BATCH = 25  # tables that one process takes
MOST_ROWS = 1_000  # of a longer table, so many are drawn
_MOST_LINES = 2  # of a message that is clear
_REMARKS = ("Note:", "Predicting", "Training", "  ")  # lines that are no part of it

Read = Callable[[str], "tuple[pd.DataFrame, str] | None"]


@dataclass(frozen=True)
class CommandOutcome:
    """What the command did with a table: what it found, its message if it refused, and what went wrong."""

    name: str
    findings: Sequence[str] = ()
    refusal: str = ""
    failure: str = ""
    seconds: float = 0.0  # of a processor, all three commands


def run_commands(names: Sequence[str], read: Read, results: Path) -> list[CommandOutcome]:
    """Run the commands on all tables that have a column of numbers, batch by batch.

    Outcomes are added to a file of JSON lines, and tables that it has already are not run again. Tables with missing
    values come first; the order is random otherwise, so that the outcomes so far are a sample of each kind.
    """
    known = {outcome.name for outcome in read_outcomes(results)}
    shuffled = random.Random(0).sample(names, len(names))
    waiting = sorted((name for name in shuffled if name not in known), key=lambda name: not _has_missing(read(name)))
    for start in range(0, len(waiting), N_BATCH):
        batch = waiting[start : start + N_BATCH]
        found = {outcome.name: outcome for outcome in _run_apart(batch, read)}
        with results.open("a") as stream:
            stream.writelines(json.dumps(asdict(found.get(name, CommandOutcome(name, ())))) + "\n" for name in batch)
        print(f"{start + len(batch)} of {len(waiting)} tables", file=sys.stderr, flush=True)
    return [outcome for outcome in read_outcomes(results) if outcome.seconds or outcome.failure]


def _has_missing(table: "tuple[pd.DataFrame, str] | None") -> bool:
    return table is not None and bool(table[0].isna().any(axis=None))


def read_outcomes(results: Path) -> list[CommandOutcome]:
    """Return the outcomes of a file; a table without a column of numbers took no time."""
    if not results.exists():
        return []
    return [CommandOutcome(**json.loads(line)) for line in results.read_text().splitlines()]


def _run_apart(batch: Sequence[str], read: Read) -> list[CommandOutcome]:
    """Run a batch in one process; if it dies, each table in one of its own, to find the one that killed it."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(run_batch, batch, read).result()
    except BrokenProcessPool:
        if len(batch) == 1:
            return [CommandOutcome(batch[0], failure="the process died")]
        return [outcome for name in batch for outcome in _run_apart([name], read)]


def run_batch(names: Sequence[str], read: Read) -> list[CommandOutcome]:
    """Run the commands on some tables."""
    found = ((name, read(name)) for name in names)
    return [run_table(name, *table) for name, table in found if table is not None]


def run_table(name: str, table: "pd.DataFrame", target: str) -> CommandOutcome:
    """Write a table as CSV, and run the commands on it as a user would."""
    table = table.sample(MOST_ROWS, random_state=0).sort_index() if len(table) > MOST_ROWS else table
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        table.to_csv("table.csv", index=False)
        code, output, errors = call("fit", "table.csv", f"--target={target}", "-o", "m.takagi", "--no-score", "--json")
        findings: tuple[str, ...] = ()
        refusal, failure = _judge(code, errors)
        if not code:
            findings = tuple(finding["kind"] for finding in json.loads(output)["findings"])
            for words in (("rules", "m.takagi"), ("predict", "m.takagi", "table.csv", "--flags", "-o", "out.csv")):
                code, _, errors = call(*words)
                refused, failed = _judge(code, errors)
                refusal, failure = refusal or refused, failure or failed
        left = {path.name for path in Path().iterdir()} - {"table.csv", "m.takagi", "out.csv"}
        failure = failure or (f"left {left} behind" if left else "")
    return CommandOutcome(name, findings, refusal, failure, time.process_time() - start)


def _judge(code: int, errors: str) -> tuple[str, str]:
    """Return the message of a refusal, and what is wrong: a traceback, or a message of many lines or none."""
    if not code:
        return "", ""
    lines = [line for line in errors.strip().splitlines() if not line.startswith(_REMARKS)]
    is_clear = code in (1, 2) and 1 <= len(lines) <= _MOST_LINES and lines[0].startswith("Error:")
    return " ".join(lines), "" if is_clear else f"exit code {code}: {errors.strip()[-300:]}"


def call(*words: str) -> tuple[int, str, str]:
    """Run a command in this process; return its exit code, output and errors."""
    from takagi.cli import main

    os.environ["COLUMNS"] = "80"
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:  # what a user would see as a traceback
            code = 99
            errors.write(f"{type(error).__name__}: {error}")
    return code, output.getvalue(), errors.getvalue()
