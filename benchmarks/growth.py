"""How time and memory of a fit grow with the rows: `TSKRegressor()` at 10^3 to 10^6 rows x 10 features.

    python benchmarks/growth.py [--quick]

One process per line. Memory is the largest that the process held during the fit; what it held before (Python, takagi
and the data) is subtracted. The validation part is capped at 2,000 rows and clustering at 10,000, so the time of a fit
grows far slower than the rows.
"""

from _measure import (  # first: it limits the threads
    call_in_fresh_process,
    parse_arguments,
    peak_megabytes,
    print_table,
    reset_peak_memory,
    time_once,
)

# isort: split
import numpy as np

from takagi import TSKRegressor

N_FEATURES = 10
ROWS = [10**3, 10**4, 10**5, 10**6]


def measure(n_rows: int) -> dict[str, float]:
    """Return seconds of loading the kernels and of a fit, and megabytes of the data, of the fit and of all."""
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, N_FEATURES))
    rng.standard_normal(out=X)
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
    load = time_once(lambda: TSKRegressor(max_iter=10, random_state=0).fit(X[:500], y[:500]))
    reset_peak_memory()
    before = peak_megabytes()
    seconds = time_once(lambda: TSKRegressor(random_state=0).fit(X, y))
    peak = peak_megabytes()
    return {
        "load": load,
        "seconds": seconds,
        "data": (X.nbytes + y.nbytes) / 1e6,
        "growth": peak - before,
        "peak": peak,
    }


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 1)
    lines, first = [], None
    for n_rows in ROWS[:3] if arguments.quick else ROWS:
        result = call_in_fresh_process(measure, n_rows)
        first = first or result["seconds"]
        growths = f"{n_rows / ROWS[0]:.0f}", f"{result['seconds'] / first:.1f}"
        sizes = (f"{result[name]:.1f}" for name in ("data", "growth", "peak"))
        lines.append([n_rows, f"{result['load']:.2f}", f"{result['seconds']:.2f}", *growths, *sizes])
    columns = ["rows", "kernels load s", "fit s", "x rows", "x time", "data MB", "MB beside data", "peak MB in all"]
    print_table(columns, lines)


if __name__ == "__main__":
    main()
