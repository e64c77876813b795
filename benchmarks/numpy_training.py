"""The training of FCM-RDpA in plain NumPy, as matrix products: checked against takagi, then timed beside it.

    python benchmarks/numpy_training.py [--quick] [--repeats N]

The yardstick of `fit.py`. Squares are expanded, so log firing levels are one matrix product over [x^2, x, 1], and the
gradients of centers and widths another; rules are the rows of every array, so that sums over rules run along memory;
updates work in place. No Python loop over rows or rules.
"""

from _measure import Contestants, parse_arguments, print_table, time_by_turns  # first: it limits the threads

# isort: split
from typing import NamedTuple

import numpy as np

from _problem import BATCH_SIZE, KEEP_PROB, Problem, make_abalone, make_problem
from takagi import RuleBase, TrainConfig, train
from takagi._typing import BoolArray, FloatArray, IntArray

LEARNING_RATE, L2, BETA1, BETA2, EPSILON = 0.01, 0.05, 0.9, 0.999, 1e-8
CHECKED_ITERATIONS, TOLERANCE = 30, 1e-8
SIZES = [(500, 8, 16), (2000, 10, 16), (2000, 10, 64), (5000, 100, 16)]


class Rules(NamedTuple):
    """Views of one flat vector: centers and widths (n_rules, n_features), weights with the bias as one more column."""

    centers: FloatArray
    widths: FloatArray
    weights: FloatArray


def view_rules(flat: FloatArray, n_rules: int, n_features: int) -> Rules:
    """Return the parameters, or their gradients, as views of a flat vector."""
    size = n_rules * n_features
    return Rules(
        flat[:size].reshape(n_rules, n_features),
        flat[size : 2 * size].reshape(n_rules, n_features),
        flat[2 * size :].reshape(n_rules, n_features + 1),
    )


def flatten(start: RuleBase) -> FloatArray:
    """Return the parameters of a rule base of one output, biases last."""
    weights = np.roll(start.consequents[:, 0], -1, axis=1)
    return np.concatenate([start.centers.ravel(), start.widths.ravel(), weights.ravel()])


def expand(X: FloatArray) -> FloatArray:
    """Return [x^2, x, 1], on which log firing levels and outputs are linear."""
    return np.hstack([X * X, X, np.ones((len(X), 1), dtype=X.dtype)])


def forward(rules: Rules, terms: FloatArray, dropped: BoolArray | None = None) -> tuple[FloatArray, ...]:
    """Return firing levels and outputs of shape (n_rules, n_rows), sums of levels and predictions of expanded rows."""
    centers, widths, weights = rules
    precision = -0.5 / (widths * widths)
    moment = precision * centers
    constant = np.einsum("rm,rm->r", moment, centers)[:, None]
    firing = np.hstack([precision, -2.0 * moment, constant]) @ terms
    if dropped is not None:
        np.putmask(firing, dropped, -np.inf)
    firing -= firing.max(axis=0)
    np.exp(firing, out=firing)
    total = firing.sum(axis=0)
    outputs = weights @ terms[centers.shape[1] :]
    return firing, outputs, total, np.einsum("rn,rn->n", firing, outputs) / total


def backward(rules: Rules, gradient: Rules, batch: FloatArray, share: FloatArray, pull: FloatArray) -> None:
    """Set the gradient from the weighted shares (d loss / d output) and pulls (d loss / d log firing) of a batch."""
    centers, widths, weights = rules
    n_features = centers.shape[1]
    sums = pull @ batch
    squares, firsts, total = sums[:, :n_features], sums[:, n_features:-1], sums[:, -1:]
    inverse = 1.0 / widths
    precision = inverse * inverse
    drift = centers * total
    np.multiply(firsts - drift, precision, out=gradient.centers)
    np.multiply(squares - centers * (2.0 * firsts - drift), precision * inverse, out=gradient.widths)
    np.matmul(share, batch[:, n_features:], out=gradient.weights)
    gradient.weights[:, :-1] += L2 * weights[:, :-1]


def powerball(gradient: FloatArray, buffer: FloatArray) -> None:
    """Replace g by sign(g) sqrt(|g|)."""
    np.abs(gradient, out=buffer)
    np.sqrt(buffer, out=buffer)
    np.copysign(buffer, gradient, out=gradient)


def step_adabelief(theta: FloatArray, gradient: FloatArray, moments: FloatArray, buffer: FloatArray, t: int) -> None:
    """Make step t of AdaBelief, in place."""
    mean, spread = moments
    mean *= BETA1
    np.multiply(gradient, 1.0 - BETA1, out=buffer)
    mean += buffer
    np.subtract(gradient, mean, out=buffer)
    buffer *= buffer
    buffer *= 1.0 - BETA2
    spread *= BETA2
    spread += buffer
    np.multiply(spread, 1.0 / (1.0 - BETA2**t), out=buffer)
    np.sqrt(buffer, out=buffer)
    buffer += EPSILON
    np.divide(mean, buffer, out=buffer)
    buffer *= LEARNING_RATE / (1.0 - BETA1**t)
    theta -= buffer


class Recorded(NamedTuple):
    """Batches of shape (n_iter, batch_size) and kept rules of shape (n_iter, batch_size, n_rules)."""

    batches: IntArray
    keep: BoolArray

    def draw(self, t: int) -> tuple[IntArray, BoolArray]:
        """Return the rows and the dropped rules, of shape (n_rules, n_rows), of iteration t."""
        return self.batches[t], ~self.keep[t].T


class Random(NamedTuple):
    """Batches and dropped rules as the paper draws them."""

    rng: np.random.Generator
    n_rows: int
    n_rules: int

    def draw(self, t: int) -> tuple[IntArray, BoolArray]:
        """Return the rows and the dropped rules, of shape (n_rules, n_rows), of an iteration."""
        rows = self.rng.choice(self.n_rows, min(BATCH_SIZE, self.n_rows), replace=False, shuffle=False)
        return rows, self.rng.random((self.n_rules, len(rows))) >= KEEP_PROB


def train_numpy(
    problem: Problem, source: Recorded | Random, n_iter: int, dtype: type[np.floating] = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Return the best flat parameters and the batch and validation RMSE of every iteration, all computed in `dtype`."""
    X, y, X_val, y_val = (part.astype(dtype) for part in problem[:4])
    start, theta = problem.start, flatten(problem.start).astype(dtype)
    flat_gradient, buffer, best = np.empty_like(theta), np.empty_like(theta), theta
    moments = np.zeros((2, len(theta)), dtype=dtype)
    rules, gradient = (view_rules(flat, start.n_rules, start.n_features) for flat in (theta, flat_gradient))
    terms, terms_val, floor = expand(X), expand(X_val).T.copy(), 0.1 * start.widths.min()
    history, best_rmse = np.empty((n_iter, 2)), np.inf
    for t in range(n_iter):
        rows, dropped = source.draw(t)
        dropped &= ~dropped.all(axis=0)  # a row that lost all rules keeps all
        batch = terms[rows]
        share, outputs, total, value = forward(rules, batch.T, dropped)
        error = value - y[rows]
        share *= error / total
        outputs -= value
        outputs *= share
        backward(rules, gradient, batch, share, outputs)
        powerball(flat_gradient, buffer)
        step_adabelief(theta, flat_gradient, moments, buffer, t + 1)
        np.maximum(rules.widths, floor, out=rules.widths)
        departure = forward(rules, terms_val)[3] - y_val
        history[t] = np.sqrt(error @ error / len(error)), np.sqrt(departure @ departure / len(departure))
        if history[t, 1] < best_rmse:
            best_rmse, best = history[t, 1], theta.copy()
    return best, history


def compare_histories(problem: Problem) -> float:
    """Return the largest relative difference of the RMSEs of NumPy and takagi in the same recorded iterations."""
    rng, n_rows, n_rules = np.random.default_rng(0), len(problem.X), problem.start.n_rules
    batches = np.stack([rng.choice(n_rows, BATCH_SIZE, replace=False) for _ in range(CHECKED_ITERATIONS)])
    keep = rng.random((CHECKED_ITERATIONS, BATCH_SIZE, n_rules)) < KEEP_PROB
    _, history = train_numpy(problem, Recorded(batches, keep), CHECKED_ITERATIONS)
    ours = train(problem.start, *problem[:4], TrainConfig(max_iter=CHECKED_ITERATIONS), batches=batches, keep=keep)
    expected = np.column_stack([ours.history["train_loss"], ours.history["val_loss"]])
    return float(np.abs(history / expected - 1.0).max())


def verify(problem: Problem) -> None:
    """Stop unless NumPy and takagi do the same."""
    difference = compare_histories(problem)
    text = f"the RMSEs of {CHECKED_ITERATIONS} recorded iterations differ from takagi's by {difference:.1e}"
    if not difference < TOLERANCE:
        raise SystemExit(f"{text}, which is more than {TOLERANCE:.0e}")
    print(f"{problem.start!r}: {text}")


def make_contestants(problem: Problem, n_iter: int) -> Contestants:
    """Return the training of NumPy and of takagi at the paper's settings, validation after each iteration included."""
    rng, config = np.random.default_rng(0), TrainConfig(max_iter=n_iter, keep_prob=KEEP_PROB)
    source = Random(rng, len(problem.X), problem.start.n_rules)
    return {
        "plain NumPy": lambda: train_numpy(problem, source, n_iter),
        "takagi.train": lambda: train(problem.start, *problem[:4], config, rng=rng),
    }


def main() -> None:
    """Check, then time."""
    arguments = parse_arguments(__doc__, 30)
    n_iter, sizes = 200, SIZES[:2] if arguments.quick else SIZES
    problems = [make_abalone()[0], *(make_problem(*size) for size in sizes)]
    for problem in problems:
        verify(problem)
    rows = []
    for problem in problems:
        seconds = time_by_turns(make_contestants(problem, n_iter), arguments.repeats)
        ours, theirs = (seconds[name] / n_iter * 1e6 for name in ("takagi.train", "plain NumPy"))
        shape = (*problem.X.shape, problem.start.n_rules, len(problem.X_val))
        rows.append([*shape, f"{theirs:.1f}", f"{ours:.1f}", f"{theirs / ours:.1f}"])
    print(f"\nus per iteration, batch {BATCH_SIZE}, validated, {n_iter} iterations, best of {arguments.repeats}")
    print_table(["training rows", "features", "rules", "validation rows", "NumPy", "takagi", "times faster"], rows)


if __name__ == "__main__":
    main()
