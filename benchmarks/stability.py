"""How many short rules are found again with another seed, and on a bootstrap sample of the rows.

Two rules are the same if the rows that they govern overlap by more than one half: as many rows as both govern, over as
many as one of them does. Rules of any part count, each is matched with one rule at most, and a rule that always holds
is the same as another one.

Usage: python benchmarks/stability.py [SET ...]
"""

import sys
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment

from takagi import TSKRegressor
from takagi.datasets import list_datasets, load_dataset


def find_governed(model, X):
    """Return which rows each rule governs, (n_rules, n_rows)."""
    rows = []
    for part in model.model_.parts:
        strongest = part.firing_share(X).argmax(axis=1)
        rows += [strongest == r for r in range(part.n_rules)]
    return np.array(rows)


def compare(first, second, X):
    """Return the part of the rules of one model that the other has, too."""
    one, other = (find_governed(model, X).astype(float) for model in (first, second))
    both = one @ other.T
    overlap = both / (one.sum(axis=1)[:, None] + other.sum(axis=1) - both)
    pairs = linear_sum_assignment(-(overlap > 0.5).astype(float))
    return (overlap[pairs] > 0.5).sum() / len(one)


def measure(name):
    """Return how much is found again with another seed and on a bootstrap sample."""
    X, y = load_dataset(name, return_X_y=True)
    model = TSKRegressor(recipe="short", random_state=0).fit(X, y)
    seeded = TSKRegressor(recipe="short", random_state=1).fit(X, y)
    drawn = np.random.default_rng(0).integers(len(y), size=len(y))
    sampled = TSKRegressor(recipe="short", random_state=0).fit(X[drawn], y[drawn])
    return compare(model, seeded, X), compare(model, sampled, X)


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    names = sys.argv[1:] or [name for name in list_datasets() if name != "Protein"]
    found = []
    for name in names:
        found.append(measure(name))
        print(f"{name:18} another seed {found[-1][0]:5.0%}   bootstrap {found[-1][1]:5.0%}", flush=True)
    print(f"{'mean':18} another seed {np.mean(found, axis=0)[0]:5.0%}   bootstrap {np.mean(found, axis=0)[1]:5.0%}")
