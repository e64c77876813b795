"""Many fits at once: fits per second of a search with one worker and with one worker a core.

    python benchmarks/many_fits.py [--quick] [--repeats N]

The search is scikit-learn's `GridSearchCV` over settings of `TSKRegressor` on 2,000 rows x 10 features, 8 fits of the
default recipe (pilot fits included) or 24 fits of 16 rules, in threads (`joblib.parallel_config("threading")`) and in
processes (joblib's default). Each line is a process of its own in which the libraries of linear algebra may use as many
threads as they like, as they do outside of benchmarks, and once limited to one. The two counts take turns, and the best
of each counts.
"""

from _measure import THREAD_VARIABLES, call_in_fresh_process, parse_arguments, print_table, time_by_turns

# isort: split
import os
import time
import warnings

import joblib
import numpy as np
from joblib.externals.loky import get_reusable_executor
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV

N_ROWS, N_FOLDS = 2_000, 4
GRIDS = {
    "auto": {"learning_rate": [0.02, 0.03]},
    "16": {"n_rules": [16], "recipe": ["droprule"], "l2": np.geomspace(0.01, 1.0, 6)},
}


def measure(rules: str, backend: str, n_repeats: int) -> dict[str, float]:
    """Return fits per second for one worker and for all cores."""
    from takagi import TSKRegressor

    X, y = make_friedman1(N_ROWS, noise=1.0, random_state=0)
    grid = GRIDS[rules]
    regressor = TSKRegressor(max_iter=500, random_state=0)
    n_fits = N_FOLDS * int(np.prod([len(values) for values in grid.values()]))

    def search(n_jobs: int) -> None:
        with warnings.catch_warnings(), joblib.parallel_config(backend, n_jobs=n_jobs):
            warnings.simplefilter("ignore")
            GridSearchCV(regressor, grid, cv=N_FOLDS, refit=False).fit(X, y)

    search(os.cpu_count() or 1)  # loads the kernels, everywhere
    contestants = {"one": lambda: search(1), "all": lambda: search(os.cpu_count() or 1)}
    seconds = time_by_turns(contestants, n_repeats, time.perf_counter)
    get_reusable_executor().shutdown()  # else its processes would wait for more work
    return {name: n_fits / value for name, value in seconds.items()}


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 5)
    lines = []
    for rules in GRIDS:
        for backend in ("threading", "loky"):
            for n_threads in ("any", "1"):
                for name in THREAD_VARIABLES:
                    os.environ.pop(f"{name}_NUM_THREADS", None)
                    if n_threads == "1":
                        os.environ[f"{name}_NUM_THREADS"] = "1"
                speeds = call_in_fresh_process(measure, rules, backend, arguments.repeats)
                ratio = f"{speeds['all'] / speeds['one']:.2f}"
                lines.append([rules, backend, n_threads, f"{speeds['one']:.1f}", f"{speeds['all']:.1f}", ratio])
    print(f"{N_ROWS:,} rows x 10 features, all cores: {os.cpu_count()}, best of {arguments.repeats} by turns\n")
    print_table(["rules", "backend", "BLAS threads", "fits/s, 1 worker", "all cores", "ratio"], lines)


if __name__ == "__main__":
    main()
