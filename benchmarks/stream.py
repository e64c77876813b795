"""What a stream costs and how good it is: `partial_fit` on blocks of rows beside `fit` on all of them.

    python benchmarks/stream.py [--quick]

The first table is the RMSE on 10,000 test rows of make_friedman1 (noise 1, so that no model can be better than 1) after
so many passes over the training rows, in blocks of 2,000. The second is rows per second by size of the blocks, and the
memory that a process holds after 10^5 and after 10^6 rows.
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
from sklearn.datasets import make_friedman1
from sklearn.metrics import root_mean_squared_error

from takagi import TSKRegressor

N_TEST = 10_000
PASSES = (1, 2, 4, 16)
RECIPES = {16: "droprule", "auto": "accurate"}  # by number of rules


def measure_errors(n_rules: int | str, n_rows: int) -> list[float]:
    """Return the test RMSE of a fit, and of a stream after some passes."""
    X, y = make_friedman1(n_rows + N_TEST, noise=1.0, random_state=0)
    X_test, y_test, X, y = X[n_rows:], y[n_rows:], X[:n_rows], y[:n_rows]
    model = TSKRegressor(n_rules, recipe=RECIPES[n_rules], random_state=0).fit(X, y)
    errors = [root_mean_squared_error(y_test, model.predict(X_test))]
    model = TSKRegressor(n_rules, recipe=RECIPES[n_rules], random_state=0)
    for k in range(1, PASSES[-1] + 1):
        order = np.random.default_rng(k).permutation(n_rows)
        for block in np.array_split(order, n_rows // 2_000):
            model.partial_fit(X[block], y[block])
        if k in PASSES:
            errors.append(root_mean_squared_error(y_test, model.predict(X_test)))
    return errors


def measure_speed(n_rules: int | str, size: int, n_rows: int) -> tuple[float, float]:
    """Return seconds for so many rows in blocks of a size, and the megabytes that this took at most."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((size, 10))
    model = TSKRegressor(n_rules, recipe=RECIPES[n_rules], random_state=0)
    while not hasattr(model, "rule_base_"):
        model.partial_fit(X[:5_000], X[:5_000, 0] * X[:5_000, 1])
    reset_peak_memory()
    seconds = 0.0
    for _ in range(n_rows // size):
        rng.standard_normal(out=X)
        y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
        seconds += time_once(lambda y=y: model.partial_fit(X, y))
    return seconds, peak_megabytes()


def main() -> None:
    """Print the tables."""
    arguments = parse_arguments(__doc__, 1)
    lines = []
    for n_rules in RECIPES:
        for n_rows in (20_000,) if arguments.quick else (20_000, 200_000):
            errors = call_in_fresh_process(measure_errors, n_rules, n_rows)
            lines.append([n_rules, f"{n_rows:,}", *(f"{error:.3f}" for error in errors)])
    print_table(["rules", "rows", "fit", *(f"stream, {k} pass{'es' * (k > 1)}" for k in PASSES)], lines)
    lines = []
    for n_rules in RECIPES:
        for size in (100, 1_000, 10_000, 100_000):
            lengths = (10**5, 10**6) if size > 100 and not arguments.quick else (10**5,)
            results = [call_in_fresh_process(measure_speed, n_rules, size, n_rows) for n_rows in lengths]
            rate = lengths[-1] / results[-1][0]
            lines.append([n_rules, f"{size:,}", f"{rate:,.0f}", *(f"{peak:.0f}" for _, peak in results)])
            lines[-1] += [""] * (5 - len(lines[-1]))
    print_table(["rules", "rows a block", "rows a second", "peak MB, 10^5 rows", "peak MB, 10^6 rows"], lines)


if __name__ == "__main__":
    main()
