"""Why training is below the rate of the matrix product: its operations, what each costs here, and the bound they make.

    python benchmarks/roofline.py [--quick] [--repeats N]

At batch 64 with DropRule, no validation, one thread. Operations are counted in `src/takagi/kernels`: vectors of eight
rules for each row, and vectors of eight parameters. Their rates are measured in the same run, each in a loop of its own
that does nothing else, on numbers that lie in the first-level cache. Products and sums are one count, as a fused
multiply-add takes as long as an addition. Loads run beside products, so that the slower of the two counts;
exponentials, roots, divisions and masks come before or after them. So the bound is what the iteration would take if
nothing waited for anything, and no loop had a beginning or an end.
"""

from _measure import (  # first: it limits the threads
    Contestants,
    count_runs,
    dgemm_rate,
    make_dgemm,
    parse_arguments,
    print_table,
    slope,
    time_by_turns,
)

# isort: split
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from _problem import BATCH_SIZE, KEEP_PROB, make_problem
from takagi.kernels._arrays import LANES
from takagi.kernels._lanes import fma, lanes_sum, load_splat, load_vector, splat, store, vector_exp, vector_sqrt
from takagi.training import draw_keep
from train import FLOPS_PER_BATCH_ROW, SIZES, run_takagi

_N_ITER = 200
_N_VECTORS = 2**15  # that a call goes over, most of them many times
_RESIDENT = 256  # vectors that stay in the first-level cache
_N_ROWS = 2_000  # that masks are drawn for


class Work(NamedTuple):
    """Vector operations of one iteration, by kind."""

    products: float
    loads: float
    exponentials: float
    roots: float
    masks: float


def count_work(batch: int, features: int, rules: int) -> Work:
    """Count what an iteration of `train_block` does, for one output.

    For a row, eight rules and a feature: two products for the distance, one for the output, four for the gradients of
    center and width (of which one computes the distance again), one for that of the weight. Parameters are loaded once
    for four rows, features for each row, and gradients are loaded and stored once for four rows. For a row and eight
    rules besides: 18 products and sums, 14 loads and 7 stores of distances, outputs, shares and pulls, and the
    exponential. For eight parameters: a root of the gradient and one of the second moment, a division, another one for
    widths, 20 products and 12 loads and stores.
    """
    pairs, parameters = batch * rules / LANES, rules * (3 * features + 1) / LANES
    return Work(
        products=pairs * (8 * features + 18) + 20 * parameters,
        loads=pairs * (6.75 * features + 21) + 12 * parameters,
        exponentials=pairs,
        roots=parameters * (3 + 1 / 3),
        masks=pairs,
    )


# -- rates -------------------------------------------------------------------------------------------------------------


@njit
def multiply(values):
    a = b = c = d = e = f = g = h = splat(0.0)
    x, y = load_vector(values, 0), load_vector(values, LANES)
    for _ in range(_N_VECTORS // 8):
        a, b, c, d = fma(a, x, y), fma(b, x, y), fma(c, x, y), fma(d, x, y)
        e, f, g, h = fma(e, x, y), fma(f, x, y), fma(g, x, y), fma(h, x, y)
    return lanes_sum(((a + b) + (c + d)) + ((e + f) + (g + h)))


@njit
def load(values):
    """Load vectors and single numbers by turns, with a product for each two of them, as the kernels do."""
    a = b = c = d = splat(0.0)
    for _ in range(_N_VECTORS // _RESIDENT):
        for i in range(0, _RESIDENT * LANES, 4 * LANES):
            a = fma(load_vector(values, i), load_splat(values, i + 3), a)
            b = fma(load_vector(values, i + LANES), load_splat(values, i + 5), b)
            c = fma(load_vector(values, i + 2 * LANES), load_splat(values, i + 7), c)
            d = fma(load_vector(values, i + 3 * LANES), load_splat(values, i + 9), d)
    return lanes_sum((a + b) + (c + d))


@njit
def exponentiate(values):
    for _ in range(_N_VECTORS // _RESIDENT):
        for i in range(0, _RESIDENT * LANES, LANES):
            store(values, i, vector_exp(load_vector(values, i)) * -0.5)


@njit
def extract_roots(values):
    for _ in range(_N_VECTORS // (2 * _RESIDENT)):
        for i in range(0, _RESIDENT * LANES, LANES):
            store(values, i, 1.0 / (vector_sqrt(load_vector(values, i) * load_vector(values, i)) + 1.0))


@njit
def spread_masks(keep, kept):
    """Do what a batch does with the rules that DropRule keeps, eight rules a row."""
    for i in range(len(keep)):
        survivors = 0
        for r in range(LANES):
            survivors += keep[i, r]
        for r in range(LANES):
            kept[i * LANES + r] = 1.0 if survivors == 0 or keep[i, r] else 0.0


def make_loops(n_calls: int) -> Contestants:
    """Return loops of one kind of operation each, called so often that one takes some milliseconds."""
    values, rng = np.full(_RESIDENT * LANES, 0.5), np.random.default_rng(0)
    kept = np.empty(_N_ROWS * LANES)

    def repeat(call: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(n_calls):
                call()

        return run

    def draw_and_spread() -> None:
        spread_masks(draw_keep((1, _N_ROWS, LANES), KEEP_PROB, rng)[0], kept)

    return {
        "products": repeat(lambda: multiply(values)),
        "loads": repeat(lambda: load(values)),
        "exponentials": repeat(lambda: exponentiate(values.copy())),
        "roots": repeat(lambda: extract_roots(values.copy())),
        "masks": repeat(draw_and_spread),
    }


def find_costs(seconds: dict[str, float], n_calls: int) -> Work:
    """Return the nanoseconds of each kind of operation."""
    n_done = Work(_N_VECTORS, 2 * _N_VECTORS, _N_VECTORS, _N_VECTORS, _N_ROWS)
    return Work(*(seconds[name] / n_calls / n * 1e9 for name, n in zip(Work._fields, n_done, strict=True)))


# -- the bound ---------------------------------------------------------------------------------------------------------


def measure(size: tuple[int, int, int], n_repeats: int, n_calls: int = 20) -> dict[str, float]:
    """Return the nanoseconds of the operations, and the microseconds of an iteration: the bound's, and measured."""
    problem = make_problem(*size)
    train = count_runs("train", lambda n_iter: run_takagi(problem, n_iter, with_validation=False), _N_ITER)
    seconds = time_by_turns({"dgemm": make_dgemm(), **make_loops(n_calls), **train}, n_repeats)
    costs, work = find_costs(seconds, n_calls), count_work(BATCH_SIZE, *size[1:])
    us = {name: n * cost / 1e3 for name, n, cost in zip(Work._fields, work, costs, strict=True)}
    bound = max(us["products"], us["loads"]) + us["exponentials"] + us["roots"] + us["masks"]
    gigaflops = FLOPS_PER_BATCH_ROW * BATCH_SIZE * size[1] * size[2] / 1e3
    measured, dgemm = slope(seconds, "train", _N_ITER) * 1e6, dgemm_rate(seconds["dgemm"])
    return {
        **{f"{name} ns": cost for name, cost in zip(Work._fields, costs, strict=True)},
        **{f"{name} us": value for name, value in us.items()},
        "bound us": bound,
        "measured us": measured,
        "dgemm": dgemm,
        "bound part": gigaflops / bound / dgemm,
        "measured part": gigaflops / measured / dgemm,
    }


def main() -> None:
    """Print the table."""
    arguments = parse_arguments(__doc__, 30)
    sizes = SIZES[1:2] if arguments.quick else SIZES[:4]
    found = [measure(size, arguments.repeats) for size in sizes]
    print_table(["operation", "ns"], [[name, f"{found[0][f'{name} ns']:.2f}"] for name in Work._fields])
    names = [*Work._fields, "bound", "measured"]
    lines = [
        [
            f"{features} x {rules}",
            *(f"{one[f'{name} us']:.1f}" for name in names),
            *(f"{one[f'{name} part']:.0%}" for name in ("bound", "measured")),
        ]
        for (_, features, rules), one in zip(sizes, found, strict=True)
    ]
    print("\nmicroseconds per iteration, and parts of the rate of dgemm\n")
    print_table(["features x rules", *names, "bound of dgemm", "measured of dgemm"], lines)


if __name__ == "__main__":
    main()
