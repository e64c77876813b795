"""How many short rules are found again with another seed, and on a bootstrap sample of the rows.

Two rules are the same if the rows that they govern overlap by more than one half: as many rows as both govern, over as
many as one of them does. Rules of any part count, each is matched with one rule at most, and a rule that always holds
is the same as another one.

Usage: python benchmarks/stability.py [SET ...]
"""

import sys
import warnings

import numpy as np

from takagi import TSKRegressor
from takagi.datasets import list_datasets, load_dataset
from takagi.workflow._stability import mark_governed, match_rules


def compare(first, second, X):
    """Return the part of the rules of one model that the other has, too."""
    place = match_rules(mark_governed(first.model_, X), mark_governed(second.model_, X))
    return float(np.mean(place >= 0))


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
