"""Missing numbers: filled with the median, filled and marked by an indicator, or left out by rules that know of them.

    python benchmarks/missing.py [--sets Yacht,NO2] [--partitions 1,2] [--workers N]

Cells of the paper's datasets are made missing, in training and in test rows: at random, or large values three times as
often as small ones. The same training (FCM-RDpA: sixteen rules, DropRule, Powerball AdaBelief, best iterate on the
validation rows) runs in plain NumPy with each of three ways:

median     the median of the training rows takes the place of a missing value
indicator  the same, and one more input for each column says where its values were missing (what `TableEncoder` does)
native     a missing value says nothing about a rule's conditions, and the rule's formula takes the rule's own center

Errors are divided by those of ridge regression on medians and indicators. ``TAKAGI_DATA`` names the datasets' folder.
"""

from _measure import print_table  # first: it limits the threads

# isort: split
import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import RidgeCV

from _suites import PAPERS_SELECTION, load_parts
from accuracy import choose
from numpy_training import L2, powerball, step_adabelief
from takagi import RuleBase
from takagi._typing import BoolArray, FloatArray
from takagi.datasets import list_datasets
from takagi.experiments._plan import derive_seed
from takagi.initializers import FuzzyCMeansInitializer

WAYS = ("median", "indicator", "native")
MECHANISMS, RATES = ("at random", "large values"), (0.1, 0.3, 0.5)
N_RULES, N_ITER, BATCH, KEEP_PROB = 16, 3000, 64, 0.5
MAX_ROWS = 1500  # of a part


class Rows(NamedTuple):
    """Values (zero where missing), which of them are there, and the target."""

    X: FloatArray
    seen: FloatArray
    y: FloatArray


class Native:
    """Parameters of rules as views of one flat vector, and what they say about rows with missing values."""

    def __init__(self, flat: FloatArray, n_rules: int, n_features: int) -> None:
        parts = np.split(flat, [n_rules * n_features, 2 * n_rules * n_features, 3 * n_rules * n_features])
        self.centers, self.widths, self.slopes = (part.reshape(n_rules, n_features) for part in parts[:3])
        self.biases = parts[3]

    def fire(self, rows: Rows, dropped: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return shares and outputs, of shape (n_rows, n_rules)."""
        precision = -0.5 / self.widths**2
        moment = precision * self.centers
        levels = (rows.X**2) @ precision.T - 2.0 * rows.X @ moment.T + rows.seen @ (moment * self.centers).T
        if dropped is not None:
            levels[dropped] = -np.inf
        levels -= levels.max(axis=1, keepdims=True)
        np.exp(levels, out=levels)
        levels /= levels.sum(axis=1, keepdims=True)
        usual = (1.0 - rows.seen) @ (self.slopes * self.centers).T
        return levels, rows.X @ self.slopes.T + usual + self.biases

    def predict(self, rows: Rows) -> FloatArray:
        """Return one prediction a row."""
        shares, outputs = self.fire(rows)
        return np.einsum("nr,nr->n", shares, outputs)

    def set_gradient(self, gradient: "Native", rows: Rows, dropped: BoolArray) -> None:
        """Set the gradient of half the mean squared error and the penalty of slopes."""
        shares, outputs = self.fire(rows, dropped)
        value = np.einsum("nr,nr->n", shares, outputs)
        error = (value - rows.y)[:, None]
        shares *= error
        pull = shares * (outputs - value[:, None])
        firsts, squares, total = pull.T @ rows.X, pull.T @ rows.X**2, pull.T @ rows.seen
        drift = self.centers * total
        unseen = shares.T @ (1.0 - rows.seen)
        gradient.centers[:] = (firsts - drift) / self.widths**2 + self.slopes * unseen
        gradient.widths[:] = (squares - self.centers * (2.0 * firsts - drift)) / self.widths**3
        gradient.slopes[:] = shares.T @ rows.X + self.centers * unseen + L2 * self.slopes
        gradient.biases[:] = shares.sum(axis=0)


def train(start: RuleBase, rows: Rows, held_out: Rows, rng: np.random.Generator) -> Native:
    """Return the rules of the iteration with the smallest error on held-out rows."""
    weights = start.consequents[:, 0]
    theta = np.concatenate([start.centers.ravel(), start.widths.ravel(), weights[:, 1:].ravel(), weights[:, 0]])
    flat, buffer, moments, best = np.empty_like(theta), np.empty_like(theta), np.zeros((2, len(theta))), theta.copy()
    rules, gradient = (Native(vector, start.n_rules, start.n_features) for vector in (theta, flat))
    floor, smallest = 0.1 * start.widths.min(), np.inf
    for t in range(N_ITER):
        chosen = rng.choice(len(rows.y), min(BATCH, len(rows.y)), replace=False, shuffle=False)
        dropped = rng.random((len(chosen), start.n_rules)) >= KEEP_PROB
        dropped[dropped.all(axis=1)] = False
        rules.set_gradient(gradient, Rows(*(part[chosen] for part in rows)), dropped)
        powerball(flat, buffer)
        step_adabelief(theta, flat, moments, buffer, t + 1)
        np.maximum(rules.widths, floor, out=rules.widths)
        departure = np.square(rules.predict(held_out) - held_out.y).mean()
        if departure < smallest:
            smallest, best = departure, theta.copy()
    return Native(best, start.n_rules, start.n_features)


def draw_missing(X: FloatArray, rate: float, mechanism: str, rng: np.random.Generator) -> BoolArray:
    """Return which cells are missing; of large values three times as many as of small ones, if so asked."""
    rates = np.full(X.shape, rate)
    if mechanism == "large values":
        rates = np.where(np.median(X, axis=0) < X, 1.5 * rate, 0.5 * rate)
    return rng.random(X.shape) < rates


def prepare(parts: list[tuple[FloatArray, FloatArray]], missing: list[BoolArray], way: str) -> list[Rows]:
    """Return training, validation and test rows as a way has them, in units of the training rows."""
    X = np.where(missing[0], np.nan, parts[0][0])
    middle, mean, scale = np.nanmedian(X, axis=0), np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    scale[~(scale > 0)] = 1.0
    center, spread = parts[0][1].mean(), parts[0][1].std()
    ready = []
    for (values, y), holes in zip(parts, missing, strict=True):
        filled = np.where(holes, mean if way == "native" else middle, values)
        Z = (filled - mean) / scale
        seen = 1.0 - holes if way == "native" else np.ones_like(Z)
        if way == "indicator":
            marks = (holes - missing[0].mean(axis=0)) / np.maximum(missing[0].std(axis=0), 0.05)
            Z, seen = np.hstack([Z, marks]), np.ones((len(Z), 2 * Z.shape[1]))
        ready.append(Rows(Z, seen, (y - center) / spread))
    return ready


def measure(rules: Native, rows: Rows) -> float:
    """Return the RMSE."""
    return float(np.sqrt(np.square(rules.predict(rows) - rows.y).mean()))


def run(task: tuple[str, int, str, float]) -> dict[str, float]:
    """Return the errors of the three ways on a partition, divided by those of ridge regression."""
    dataset, repeat, mechanism, rate = task
    rng = np.random.default_rng(derive_seed(0, dataset, repeat))
    parts = [(X[:MAX_ROWS], y[:MAX_ROWS]) for X, y in load_parts(dataset, repeat, 0)]
    missing = [draw_missing(X, rate, mechanism, rng) for X, _ in parts]
    rows, _, test = prepare(parts, missing, "indicator")
    line = RidgeCV(np.logspace(-3, 3, 13)).fit(rows.X, rows.y)
    divisor = np.sqrt(np.square(line.predict(test.X) - test.y).mean())
    errors = {}
    for way in WAYS:
        rows, held_out, test = prepare(parts, missing, way)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = FuzzyCMeansInitializer(m=1.2).make_rules(
                rows.X, rows.y[:, None], N_RULES, np.random.default_rng(repeat)
            )
        errors[way] = measure(train(start, rows, held_out, np.random.default_rng(repeat)), test) / divisor
    return errors


def main() -> None:
    """Print one row for each mechanism and rate, on the selection half and on the other sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these, with commas between")
    parser.add_argument("--partitions", default="1", help="with commas between")
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    datasets = choose(arguments.sets, list_datasets(), "dataset")
    repeats = [int(word) for word in arguments.partitions.split(",")]
    tasks = list(product(datasets, repeats, MECHANISMS, RATES))
    with ProcessPoolExecutor(arguments.workers) as pool:
        outcomes = list(pool.map(run, tasks))
    lines = []
    for half, mechanism, rate in product(("selection half", "other sets"), MECHANISMS, RATES):
        chosen = [
            outcome
            for (dataset, _, *how), outcome in zip(tasks, outcomes, strict=True)
            if how == [mechanism, rate] and (dataset in PAPERS_SELECTION) == (half == "selection half")
        ]
        if chosen:
            table = np.array([[outcome[way] for way in WAYS] for outcome in chosen])
            wins = int((table[:, 2] < table[:, 1]).sum())
            means = [f"{mean:.3f}" for mean in table.mean(axis=0)]
            lines.append([half, mechanism, f"{rate:.0%}", *means, f"{wins} of {len(table)}"])
    print_table(["sets", "missing", "cells", *WAYS, "native better than indicator"], lines)


if __name__ == "__main__":
    main()
