"""Speed and memory of `takagi predict` on files of growing size: CSV in, CSV out, 10 columns of numbers and 2 of text.

    python benchmarks/predict_stream.py [--quick]

Each line is one run of the command in a process of its own, with what it takes to start. Seconds are those of all
processors together. Memory is the largest that the process held; it does not grow with the file. The last lines copy
all columns to the output, and go from Parquet to Parquet.
"""

from _measure import parse_arguments, print_table  # first: it limits the threads

# isort: split
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = [10**4, 10**5, 10**6, 4 * 10**6]
N_NUMBERS = 10
BLOCK = 10**5
COLUMNS = ("what", "rows", "processor seconds", "rows per such second after the start", "peak MB")


def make_blocks(n_rows: int) -> Iterator[pd.DataFrame]:
    """Yield a table of numbers and words, with missing values, in blocks."""
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, BLOCK):
        size = min(BLOCK, n_rows - start)
        block = pd.DataFrame(rng.normal(size=(size, N_NUMBERS)).round(6), columns=[f"x{k}" for k in range(N_NUMBERS)])
        block["fuel"] = rng.choice(["petrol", "diesel", "electric", None], size)
        block["town"] = rng.choice([f"town {k}" for k in range(15)], size)
        block["y"] = block["x0"] * block["x1"] + block["x2"] + (block["fuel"] == "diesel")
        block.loc[rng.random(size) < 0.05, "x3"] = np.nan
        yield block


def write_csv(path: Path, n_rows: int) -> None:
    """Write a table block by block."""
    for k, block in enumerate(make_blocks(n_rows)):
        block.to_csv(path, index=False, header=k == 0, mode="w" if k == 0 else "a")


# Run by a process that is small itself: the memory that a process counts for its children begins with its own.
LAUNCHER = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "takagi", *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)
"""


def measure(words: list[str]) -> tuple[float, float]:
    """Return the processor seconds, of all threads, and the peak megabytes of a run of the command."""
    done = subprocess.run([sys.executable, "-c", LAUNCHER, *words], check=True, capture_output=True, text=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def measure_files(sizes: Sequence[int]) -> list[list[str]]:
    """Return the lines of the table, for CSV of some sizes, and the largest in two other ways."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_csv(folder / "train.csv", 2000)
        model = str(folder / "model.takagi")
        measure(["fit", str(folder / "train.csv"), "--target", "y", "-o", model, "--quiet"])
        idle, empty = measure(["--version"])
        lines = [["(start only)", "", f"{idle:.1f}", "", f"{empty:.0f}"]]
        for n_rows in sizes:
            table = folder / "table.csv"
            write_csv(table, n_rows)
            lines.append(_run(model, table, folder / "out.csv", n_rows, "CSV to CSV", idle))
        lines.append(_run(model, table, folder / "out.csv", n_rows, "CSV to CSV, --keep all", idle, "--keep", "all"))
        pd.concat(make_blocks(n_rows)).to_parquet(folder / "table.parquet", row_group_size=BLOCK)
        target = folder / "out.parquet"
        lines.append(_run(model, folder / "table.parquet", target, n_rows, "Parquet to Parquet", idle))
    return lines


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 1)
    print_table(COLUMNS, measure_files(ROWS[:2] if arguments.quick else ROWS))


def _run(model: str, table: Path, out: Path, n_rows: int, what: str, idle: float, *options: str) -> list[str]:
    seconds, peak = measure(["predict", model, str(table), "-o", str(out), "--quiet", "--force", *options])
    size = table.stat().st_size / 1e6
    rate = n_rows / max(seconds - idle, 1e-3)
    return [f"{what}, {size:,.0f} MB", f"{n_rows:,}", f"{seconds:.1f}", f"{rate:,.0f}", f"{peak:.0f}"]


if __name__ == "__main__":
    main()
