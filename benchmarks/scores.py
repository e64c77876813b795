"""Whether the intervals of scores hold: small samples of large tables, and the score of the model on the rest.

    python benchmarks/scores.py                       200 samples of 100 and 300 rows; an hour
    python benchmarks/scores.py --samples 40          fewer of them
    python benchmarks/scores.py --ways takagi         without the other ways to predict; half an hour
    python benchmarks/scores.py --ways rivals         without takagi's models; minutes

``TAKAGI_DATA`` names the folder of the datasets. Each sample is scored as `takagi fit` does; then every way to predict
is fitted to the whole sample, and its error on the rest of the table either lies in the printed interval or not.
``scores.jsonl`` keeps what is known, and a further run goes on from there.
"""

import _measure  # noqa: F401 (first: it limits the threads)

# isort: split
import argparse
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from takagi.datasets import load_dataset
from takagi.scores import COVERAGE
from takagi.workflow import ModelSettings, TrainingTable, _scores, plan_splits
from takagi.workflow._measures import NumberMeasure
from takagi.workflow._settings import build_model

TABLES = ("Abalone", "Wine-white", "PowerPlant", "Protein", "Concrete", "Airfoil", "Wine-red")
SIZES = (100, 300)
MOST_REST = 5000
RESULTS = Path("scores.jsonl")


def draw_sample(name: str, n_rows: int, rng: np.random.Generator) -> tuple[TrainingTable, pd.DataFrame, np.ndarray]:
    """Return a sample as a table to train on, and rows and targets of the rest."""
    X, y = load_dataset(name, return_X_y=True, as_frame=True)
    order = rng.permutation(len(y))
    here, rest = order[:n_rows], order[n_rows : n_rows + MOST_REST]
    table = TrainingTable(X.iloc[here].reset_index(drop=True), y.iloc[here].reset_index(drop=True), [], 0, n_rows)
    return table, X.iloc[rest], y.iloc[rest].to_numpy()


def list_ways(which: str) -> dict[str, Any]:
    """Return ways to predict, fresh ones."""
    models = {
        who: build_model(ModelSettings(recipe=recipe))
        for who, recipe in (("takagi, short rules", "short"), ("takagi, accurate", "accurate"))
    }
    rivals = NumberMeasure.make_rivals(models["takagi, accurate"][0])
    return {"all": {**models, **rivals}, "takagi": models, "rivals": rivals}[which]


def try_sample(k: int, size: int, which: str) -> dict[str, list[float]]:
    """Return for each way to predict its error, the limits of the interval, and its error on the rest of the table."""
    table, X, y = draw_sample(TABLES[k % len(TABLES)], size, np.random.default_rng(k))
    sheet = _scores.score_ways(list_ways(which), table, plan_splits(size, k))
    found = {}
    for score, way in zip(sheet.scores, list_ways(which).values(), strict=True):
        way.fit(table.X, table.y)
        error = float(np.sqrt(np.mean((way.predict(X) - y) ** 2)))
        found[score.who] = [score.error, score.low, score.high, error]
    return found


def run_samples(n_samples: int, sizes: tuple[int, ...], which: str) -> None:
    """Add to the results what they do not know yet."""
    known = {(row["sample"], row["rows"], row["who"]) for row in read_results()}
    for k in range(n_samples):
        size = sizes[k // len(TABLES) % len(sizes)]
        if all((k, size, who) in known for who in list_ways(which)):
            continue
        lines = [
            json.dumps({"sample": k, "rows": size, "who": who, "found": found})
            for who, found in try_sample(k, size, which).items()
            if (k, size, who) not in known
        ]
        with RESULTS.open("a") as stream:
            stream.write("".join(f"{line}\n" for line in lines))
        if k % 10 == 9:
            print(f"{k + 1} samples", flush=True)


def read_results() -> list[dict[str, Any]]:
    """Return what is known of samples."""
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def show_results() -> None:
    """Print for each way and size how often the interval holds."""
    groups = defaultdict(list)
    for row in read_results():
        groups[row["who"], row["rows"]].append(row["found"])
    holds = f"interval holds ({100 * COVERAGE:.0f} %)"
    print(f"| way | rows | samples | {holds} | error above it | error below it | printed / true error | half width |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (who, size), found in sorted(groups.items()):
        printed, low, high, true = np.array(found).T
        above, below = 100 * np.mean(true > high), 100 * np.mean(true < low)
        ratio, width = np.median(printed / true), 100 * np.median(np.sqrt(high / low) - 1)
        parts = f"{100 - above - below:.0f} % | {above:.0f} % | {below:.0f} % | {ratio:.2f} | {width:.0f} %"
        print(f"| {who} | {size} | {len(found)} | {parts} |")


def main() -> None:
    """Run samples, and print how often intervals hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--ways", choices=["all", "takagi", "rivals"], default="all")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; all cores by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    _scores.N_JOBS = options.jobs
    run_samples(options.samples, tuple(options.sizes), options.ways)
    show_results()


if __name__ == "__main__":
    main()
