"""Time and memory of `takagi.fit_dataset` on Parquet of 10^5, 10^6 and 10^7 rows, 10 features, under a memory limit.

    python benchmarks/stream_memory.py [--quick] [--limit GIGABYTES]

The files are made in a temporary folder, ten parts each. Each line is one process whose address space is limited
(RLIMIT_AS), so that one that asked for more would fail. Memory is the largest that the process held; what it held
before the fit (Python, takagi, pyarrow) is shown apart. Errors are on 20,000 new rows; the noise has standard deviation
1. Beside them stands the error of `fit` on the whole table in memory, in another process without a limit, up to 10^6
rows. The last column is the memory that such a fit would start with: its data alone.
"""

from _measure import call_in_fresh_process, parse_arguments, peak_megabytes, print_table  # first: it limits the threads

# isort: split
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import make_friedman1
from sklearn.pipeline import Pipeline, make_pipeline

import takagi

N_PARTS, N_FEATURES, GROUP_ROWS = 10, 10, 2**17
ROWS = [10**5, 10**6, 10**7]
MOST_IN_MEMORY = 10**6


def make_table(n_rows: int, seed: int) -> pa.Table:
    """Return rows of Friedman's first problem, noise included."""
    X, y = make_friedman1(n_rows, N_FEATURES, noise=1.0, random_state=seed)
    return pa.table({**{f"x{k}": X[:, k] for k in range(N_FEATURES)}, "y": y})


def write_parts(folder: Path, n_rows: int) -> None:
    """Write the files of a dataset."""
    folder.mkdir()
    for part in range(N_PARTS):
        table = make_table(n_rows // N_PARTS, seed=part)
        pq.write_table(table, folder / f"part-{part}.parquet", row_group_size=GROUP_ROWS)


def measure(folder: str, limit: float) -> dict[str, float]:
    """Fit a dataset in this process, and return what it took."""
    new = make_table(20_000, seed=N_PARTS).to_pandas()
    small = takagi.TSKRegressor(8, max_iter=10, random_state=0)
    small.partial_fit(new[["x0", "x1"]][:2000], new["y"][:2000])  # loads the kernels
    resource.setrlimit(resource.RLIMIT_AS, (int(limit * 1e9),) * 2)
    before, start = peak_megabytes(), time.perf_counter()
    model = takagi.fit_dataset(folder, "y", model=takagi.TSKRegressor(random_state=0))
    seconds = time.perf_counter() - start
    rmse = find_error(model, new)
    n_iter, batch = model[-1].n_iter_, model[-1].batch_size_
    return {"before": before, "peak": peak_megabytes(), "s": seconds, "rmse": rmse, "visited": n_iter * batch}


def find_error(model: Pipeline, new: pd.DataFrame) -> float:
    """Return the root mean squared error on some rows."""
    return float(np.sqrt(np.mean((model.predict(new) - new["y"]) ** 2)))


def measure_in_memory(folder: str) -> float:
    """Return the error of a fit on the whole table."""
    table = pq.read_table(folder).to_pandas()
    model = make_pipeline(takagi.TableEncoder(), takagi.TSKRegressor(random_state=0))
    return find_error(model.fit(table.drop(columns="y"), table["y"]), make_table(20_000, seed=N_PARTS).to_pandas())


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 1, limit={"type": float, "default": 2.5, "help": "address space, in GB"})
    lines = []
    with tempfile.TemporaryDirectory() as name:
        for n_rows in ROWS[:2] if arguments.quick else ROWS:
            folder = Path(name) / f"{n_rows}"
            write_parts(folder, n_rows)
            result = call_in_fresh_process(measure, str(folder), arguments.limit)
            rate = f"{result['visited'] / result['s']:,.0f}"
            sizes = (f"{result[name]:.0f}" for name in ("before", "peak"))
            whole = f"{n_rows * (N_FEATURES + 1) * 8e-6:,.0f}"
            passes = f"{result['visited'] / n_rows:.1f}"
            errors = f"{result['rmse']:.4f}", ""
            if n_rows <= MOST_IN_MEMORY:
                errors = errors[0], f"{call_in_fresh_process(measure_in_memory, str(folder)):.4f}"
            lines.append([f"{n_rows:,}", f"{result['s']:.1f}", passes, rate, *sizes, *errors, whole])
    print(f"address space limited to {arguments.limit:g} GB\n")
    columns = [
        "rows",
        "fit s",
        "passes",
        "rows trained/s",
        "MB before",
        "peak MB",
        "test RMSE",
        "in memory",
        "MB of the data",
    ]
    print_table(columns, lines)


if __name__ == "__main__":
    main()
