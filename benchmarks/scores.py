"""Whether the intervals of scores hold: small samples of large tables, and the score of the model on the rest.

    python benchmarks/scores.py                       200 samples of 100 and 300 rows; some hours
    python benchmarks/scores.py --samples 40          fewer of them
    python benchmarks/scores.py --ways rivals         without takagi's models; minutes

``TAKAGI_DATA`` names the folder of the datasets. Each sample is scored as `takagi fit` does; then every way to predict
is fitted to the whole sample, and its error on the rest of the table either lies in the printed interval or not.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd

from takagi.datasets import load_dataset
from takagi.scores import COVERAGE
from takagi.workflow import ModelSettings, TrainingTable, plan_splits
from takagi.workflow._measures import NumberMeasure
from takagi.workflow._scores import score_ways
from takagi.workflow._settings import build_model

TABLES = ("Abalone", "Wine-white", "PowerPlant", "Protein", "Concrete", "Airfoil", "Wine-red")
SIZES = (100, 300)
MOST_REST = 5000


def draw_sample(name: str, n_rows: int, rng: np.random.Generator) -> tuple[TrainingTable, pd.DataFrame, np.ndarray]:
    """Return a sample as a table to train on, and rows and targets of the rest."""
    X, y = load_dataset(name, return_X_y=True, as_frame=True)
    order = rng.permutation(len(y))
    here, rest = order[:n_rows], order[n_rows : n_rows + MOST_REST]
    table = TrainingTable(X.iloc[here].reset_index(drop=True), y.iloc[here].reset_index(drop=True), [], 0, n_rows)
    return table, X.iloc[rest], y.iloc[rest].to_numpy()


def list_ways(which: str) -> dict:
    """Return ways to predict, fresh ones."""
    short = build_model(ModelSettings(recipe="short"))
    ways = {} if which == "rivals" else {"takagi": short}
    return {**ways, **NumberMeasure.make_rivals(short[0])}


def main() -> None:
    """Print for each way and size how often the interval holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--ways", choices=["all", "rivals"], default="all")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    held, ratios, wide = defaultdict(list), defaultdict(list), defaultdict(list)
    for k in range(options.samples):
        name, size = TABLES[k % len(TABLES)], options.sizes[k // len(TABLES) % len(options.sizes)]
        table, X, y = draw_sample(name, size, np.random.default_rng(k))
        sheet = score_ways(list_ways(options.ways), table, plan_splits(size, k))
        for score, way in zip(sheet.scores, list_ways(options.ways).values(), strict=True):
            way.fit(table.X, table.y)
            error = float(np.sqrt(np.mean((way.predict(X) - y) ** 2)))
            held[score.who, size].append(score.low <= error <= score.high)
            ratios[score.who, size].append(score.error / error)
            wide[score.who, size].append(np.sqrt(score.high / score.low) - 1)
        if k % 10 == 9:
            print(f"{k + 1} samples", flush=True)
    print(f"| way | rows | samples | interval holds ({100 * COVERAGE:.0f} %) | printed / true error | half width |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for (who, size), found in sorted(held.items()):
        key = who, size
        share, bias, width = np.mean(found), np.median(ratios[key]), np.median(wide[key])
        print(f"| {who} | {size} | {len(found)} | {100 * share:.0f} % | {bias:.2f} | {100 * width:.0f} % |")


if __name__ == "__main__":
    main()
