"""Speed and memory of `TSKRegressor.predict`: rows per second for one thread and for all cores.

    python benchmarks/predict.py [--quick] [--repeats N]

10 features, 16 and 64 rules. One process per line: it fits, makes the rows in place, predicts a few of them to warm up,
and then measures by how much its largest memory grows while all are predicted; the result itself is subtracted. Beside
it stands what one array of rows x rules x features would need.
"""

from _measure import (  # first: it limits the threads
    call_in_fresh_process,
    parse_arguments,
    peak_megabytes,
    print_table,
    reset_peak_memory,
    time_by_turns,
)

# isort: split
import os
import time
import warnings

import numpy as np

from takagi import TSKRegressor

N_FEATURES = 10
SIZES = [(10**5, 16), (10**5, 64), (10**6, 16), (10**6, 64)]


def make_model(n_rules: int) -> TSKRegressor:
    """Fit rules quickly; how good they are does not matter."""
    X = np.random.default_rng(0).normal(size=(1000, N_FEATURES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TSKRegressor(n_rules, max_iter=10, random_state=0).fit(X, X[:, 0] * X[:, 1])


def measure(n_rows: int, n_rules: int, n_repeats: int) -> dict[str, float]:
    """Return the seconds of a prediction for one thread and all, and the growth of memory of each in MB."""
    model = make_model(n_rules)
    X = np.empty((n_rows, N_FEATURES))
    np.random.default_rng(1).standard_normal(out=X)
    threads = {"one": 1, "all": -1}
    result = {}
    for name, n_jobs in threads.items():
        model.set_params(n_jobs=n_jobs).predict(X[:100])
        reset_peak_memory()
        before = peak_megabytes()
        prediction = model.predict(X)
        result[f"{name} MB"] = peak_megabytes() - before - prediction.nbytes / 1e6
        del prediction
    runs = {name: lambda n_jobs=n_jobs: model.set_params(n_jobs=n_jobs).predict(X) for name, n_jobs in threads.items()}
    return result | time_by_turns(runs, n_repeats, time.perf_counter)


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 10)
    sizes = SIZES[:2] if arguments.quick else SIZES
    lines = []
    for n_rows, n_rules in sizes:
        result = call_in_fresh_process(measure, n_rows, n_rules, arguments.repeats)
        speeds = [n_rows / result[name] for name in ("one", "all")]
        line = [n_rows, n_rules, *(f"{speed / 1e6:.2f}" for speed in speeds), f"{speeds[1] / speeds[0]:.2f}"]
        line += [f"{result['one MB']:.1f}", f"{result['all MB']:.1f}", f"{n_rows * n_rules * N_FEATURES * 8e-6:.0f}"]
        lines.append(line)
    print(f"{N_FEATURES} features, all cores: {os.cpu_count()}, best of {arguments.repeats} by turns\n")
    columns = [
        "rows",
        "rules",
        "Mrows/s, 1 thread",
        "all cores",
        "ratio",
        "MB more, 1 thread",
        "all cores",
        "naive MB",
    ]
    print_table(columns, lines)


if __name__ == "__main__":
    main()
