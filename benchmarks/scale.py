"""What an iteration costs as batch, features and rules grow, and the formula that says so.

    python benchmarks/scale.py [--quick] [--repeats N]

Microseconds per iteration of training without DropRule and validation: what many iterations cost beyond one. The
formula has three terms: for each parameter (the update), for each row and rule (exponentials, sums), and for each row,
rule and feature (distances and gradients). Its constants are fitted to the table, relative errors counting alike.
"""

from _measure import (  # first: it limits the threads
    count_runs,
    parse_arguments,
    print_table,
    slope,
    time_by_turns,
)

# isort: split
import numpy as np
from scipy.optimize import nnls

from _problem import Problem, make_problem
from takagi import TrainConfig, train

SIZES = [(batch, features, rules) for batch in (64, 256) for features in (5, 10, 40, 160) for rules in (8, 16, 64, 128)]
N_ROWS = 4_000


def run(problem: Problem, batch_size: int, n_iter: int) -> None:
    """Train for some iterations."""
    config = TrainConfig(batch_size=batch_size, keep_prob=1.0, max_iter=n_iter, averaging=0.98)
    train(problem.start, problem.X, problem.y, None, None, config, rng=np.random.default_rng(0))


def measure(batch: int, features: int, rules: int, n_repeats: int) -> float:
    """Return the microseconds of an iteration."""
    problem = make_problem(N_ROWS, features, rules)
    n_iter = 20 if features * rules > 5_000 else 100
    contestants = count_runs("train", lambda count: run(problem, batch, count), n_iter)
    return slope(time_by_turns(contestants, n_repeats), "train", n_iter) * 1e6


def count_work(batch: int, features: int, rules: int) -> list[float]:
    """Return the numbers of parameters, of rows x rules, and of rows x rules x features."""
    return [rules * (3 * features + 1), batch * rules, batch * rules * features]


def main() -> None:
    """Print the table and the formula."""
    arguments = parse_arguments(__doc__, 7)
    sizes = SIZES[::3] if arguments.quick else SIZES
    run(make_problem(N_ROWS, 5, 8), 64, 1)
    found = np.array([measure(*size, arguments.repeats) for size in sizes])
    work = np.array([count_work(*size) for size in sizes])
    constants, _ = nnls(work / found[:, None], np.ones(len(found)))
    lines = [
        [*map(str, size), f"{us:.1f}", f"{work_here @ constants:.1f}"]
        for size, us, work_here in zip(sizes, found, work, strict=True)
    ]
    print_table(["batch", "features", "rules", "us/iteration", "formula"], lines)
    error = np.abs(work @ constants / found - 1)
    update, row_rule, cell = constants * 1e3
    print(
        f"\nns per iteration = {update:.2f} R (3 M + 1) + {row_rule:.2f} B R + {cell:.3f} B R M"
        f"   (off by {np.median(error):.0%} in the median, {error.max():.0%} at most)"
    )


if __name__ == "__main__":
    main()
