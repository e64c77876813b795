"""What rules that are true one by one cost: `agreement` and `bounds` of the regressor, errors beside measures of truth.

    python benchmarks/agreement.py [--sets Yacht,NO2] [--partitions 1,2] [--prices 0,0.1] [--show]

Defaults are chosen by these figures, so the test parts of the paper's partitions are left alone: a part of the training
and validation rows is the test part here, and the sets are those of the selection half. All fits of a task have one
seed. Fits what the store does not have yet, then prints the tables; Ctrl-C, and call again to go on. ``TAKAGI_DATA``
names the folder of the datasets.

Measures, on test rows, as means over sets; the rule with the largest share governs a row:

error     RMSE over that of the same recipe with agreement=0 and bounds=None, geometric mean, and its standard error
ridge     RMSE over that of ridge regression
alone     the same for the formula of the governing rule by itself
outside   conditions whose center is outside the range of the column
holds     rows for which every condition of the governing rule holds: a membership of at least one half
wild      rows for which the formula of the governing rule leaves the range of the target by more than a tenth of it

A condition counts if it excludes something: some row has a membership below one half.
"""

import _measure  # first: it limits the threads

# isort: split
import argparse
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from _rows import Rows
from _tables import SELECTION
from _trials import root_mean_square
from accuracy import BASE_SEED, DOCS, choose
from takagi import RuleBase, TSKRegressor
from takagi._files import write_whole
from takagi._typing import FloatArray
from takagi.datasets import list_datasets
from takagi.experiments._plan import N_REPEATS, derive_seed
from takagi.experiments._run import draw_partition_of, load_standardized, split_and_center

MAX_ITER = 5000
TEST_PART = 0.15
AGREEMENTS = (0.0, 0.01, 0.03, 0.1, 0.3)
GROUPS = {
    "default": {"n_adjustments": 0},
    "five rules": {"n_rules": 5},
    "DropRule": {"recipe": "droprule"},
}
_AGREE = {"default": AGREEMENTS, "five rules": AGREEMENTS, "DropRule": (0.0,)}


@dataclass(frozen=True)
class Variant:
    """A recipe, and how much its rules are asked to be true."""

    group: str
    agreement: float
    is_bounded: bool

    def make_model(self, seed: int, max_iter: int = MAX_ITER) -> TSKRegressor:
        """Return the estimator."""
        bounds = "data" if self.is_bounded else None
        params = {"agreement": self.agreement, "bounds": bounds, "max_iter": max_iter, "random_state": seed}
        return TSKRegressor(**params, **GROUPS[self.group])


VARIANTS = [Variant(group, a, b) for group, prices in _AGREE.items() for b in (False, True) for a in prices]


@dataclass(frozen=True)
class Task:
    """Rows to fit, rows to test on, and a seed."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    seed: int


@dataclass(frozen=True)
class Result:
    """What a variant gave on a partition of a dataset."""

    dataset: str
    partition: int
    group: str
    agreement: float
    is_bounded: bool
    rmse: float
    ridge: float
    alone: float
    outside: float
    holds: float
    wild: float
    seconds: float


# -- runs --------------------------------------------------------------------------------------------------------------


def load_task(dataset: str, partition: int, data_home: str | None = None) -> Task:
    """Return a task inside the training and validation part of a partition."""
    X, y = load_standardized(dataset, data_home)
    train, val, _ = split_and_center(X, y, draw_partition_of(dataset, partition, len(y), BASE_SEED))
    X, y = Rows(*train, *val).both
    seed = derive_seed(BASE_SEED, "agreement", dataset, partition) % 2**31
    order = np.random.default_rng(seed).permutation(len(y))
    test, rest = np.split(order, [round(TEST_PART * len(y))])
    return Task(X[rest], y[rest], X[test], y[test], seed)


def run_variant(variant: Variant, task: Task, max_iter: int = MAX_ITER) -> dict[str, float]:
    """Fit, and measure errors and truth."""
    warnings.simplefilter("ignore")
    since = time.process_time()
    model = variant.make_model(task.seed, max_iter).fit(task.X, task.y)
    seconds = time.process_time() - since
    ridge = make_pipeline(StandardScaler(), Ridge(0.05)).fit(task.X, task.y)
    errors = {"rmse": model, "ridge": ridge}
    found = {name: root_mean_square(each.predict(task.X_test) - task.y_test) for name, each in errors.items()}
    return found | measure_truth(model.rule_base_, task) | {"seconds": seconds}


def measure_truth(rules: RuleBase, task: Task) -> dict[str, float]:
    """Return how true the rules are one by one."""
    X, y = np.vstack([task.X, task.X_test]), np.concatenate([task.y, task.y_test])
    membership = measure_membership(rules, X)
    excludes = np.isfinite(rules.widths) & (membership.min(axis=0) < 0.5)
    is_outside = excludes & ((rules.centers < X.min(axis=0)) | (rules.centers > X.max(axis=0)))
    governing = rules.firing_share(task.X_test).argmax(axis=1)
    holds = (membership[len(task.X) :][np.arange(len(governing)), governing] >= 0.5) | ~excludes[governing]
    said = rules.rule_outputs(task.X_test)[np.arange(len(governing)), governing, 0]
    margin = 0.1 * np.ptp(y)
    return {
        "alone": root_mean_square(said - task.y_test),
        "outside": is_outside.sum() / max(1, excludes.sum()),
        "holds": holds.all(axis=1).mean(),
        "wild": ((said < y.min() - margin) | (said > y.max() + margin)).mean(),
    }


def measure_membership(rules: RuleBase, X: FloatArray) -> FloatArray:
    """Return the membership of each row in each condition of each rule, of shape (n_rows, n_rules, n_features)."""
    return np.exp(-0.5 * ((X[:, None, :] - rules.centers) / rules.widths) ** 2)


def run(store: Path, variants: list[Variant], datasets: list[str], partitions: list[int]) -> None:
    """Run what the store does not have."""
    results = load_results(store)
    done = {(one.dataset, one.partition, one.group, one.agreement, one.is_bounded) for one in results}
    VARIANTS[0].make_model(0, 10).fit(np.eye(9), np.arange(9.0))  # compiles
    for partition in partitions:
        for dataset in datasets:
            pending = [v for v in variants if (dataset, partition, *asdict(v).values()) not in done]
            task = load_task(dataset, partition) if pending else None
            for variant in pending:
                assert task is not None
                results.append(Result(dataset, partition, **asdict(variant), **run_variant(variant, task)))
            if pending:
                save_results(store, results)
                print(f"{dataset}, partition {partition}: {len(pending)} fits", flush=True)


def load_results(store: Path) -> list[Result]:
    """Return the results so far."""
    return [Result(**values) for values in json.loads(store.read_text())] if store.exists() else []


def save_results(store: Path, results: list[Result]) -> None:
    """Write the results, one a line."""
    lines = ",\n".join(json.dumps({k: _shorten(v) for k, v in asdict(one).items()}) for one in results)
    write_whole(store, f"[\n{lines}\n]\n".encode())


def _shorten(value: object) -> object:
    return float(f"{value:.5g}") if isinstance(value, float) else value


# -- tables ------------------------------------------------------------------------------------------------------------


def compare(results: list[Result], variant: Variant) -> list[str] | None:
    """Return the words of a line, over the sets and partitions that the variant and the free recipe have."""
    free = {(one.dataset, one.partition): one for one in pick(results, Variant(variant.group, 0.0, False))}
    found = [one for one in pick(results, variant) if (one.dataset, one.partition) in free]
    if not found:
        return None
    names = [one.dataset for one in found]
    logs = average(names, [np.log(one.rmse / free[one.dataset, one.partition].rmse) for one in found])
    doubt = np.exp(logs.mean()) * logs.std(ddof=1) / len(logs) ** 0.5 if len(logs) > 1 else np.nan
    errors = [(one.rmse / one.ridge, one.alone / one.ridge) for one in found]
    parts = [(one.outside, one.holds, one.wild) for one in found]
    time_ratio = sum(one.seconds for one in found) / sum(free[one.dataset, one.partition].seconds for one in found)
    return [
        f"{np.exp(logs.mean()):.3f} +- {doubt:.3f}",
        f"{(logs < 0).sum()}-{(logs > 0).sum()}",
        *(f"{ratio:.3f}" for ratio in average(names, errors).mean(axis=0)),
        *(f"{100 * part:.1f} %" for part in average(names, parts).mean(axis=0)),
        f"{time_ratio:.2f}",
    ]


def pick(results: list[Result], variant: Variant) -> list[Result]:
    """Return the results of a variant."""
    return [one for one in results if Variant(one.group, one.agreement, one.is_bounded) == variant]


def average(names: list[str], values: Sequence[Any]) -> FloatArray:
    """Return means over the partitions of each set."""
    sets, numbers = np.array(names), np.array(values)
    return np.array([numbers[sets == name].mean(axis=0) for name in dict.fromkeys(names)])


def show(results: list[Result]) -> None:
    """Print a table for each group."""
    columns = ["agreement", "bounds", "error", "won-lost", "ridge", "alone", "outside", "holds", "wild", "time ratio"]
    for group in GROUPS:
        lines = []
        for variant in VARIANTS:
            words = compare(results, variant) if variant.group == group else None
            if words is not None:
                lines.append([f"{variant.agreement:g}", "data" if variant.is_bounded else "None", *words])
        chosen = [one for one in results if one.group == group]
        n_sets, n_tasks = len({o.dataset for o in chosen}), len({(o.dataset, o.partition) for o in chosen})
        print(f"\n{group}: {n_sets} sets, {n_tasks} tasks")
        _measure.print_table(columns, lines)


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these datasets, with commas between; by default the selection half")
    parser.add_argument("--partitions", default="1,2", help="of 1 to 8, with commas between")
    parser.add_argument("--prices", help="only these values of agreement, with commas between")
    parser.add_argument("--store", type=Path, default=DOCS / "results" / "agreement.json", help="where results live")
    parser.add_argument("--show", action="store_true", help="fit nothing, print what is there")
    arguments = parser.parse_args()
    datasets = choose(arguments.sets or ",".join(SELECTION), list_datasets(), "dataset")
    partitions = [int(word) for word in choose(arguments.partitions, map(str, range(1, N_REPEATS + 1)), "partition")]
    prices = choose(arguments.prices, [f"{price:g}" for price in AGREEMENTS], "agreement")
    variants = [variant for variant in VARIANTS if f"{variant.agreement:g}" in prices]
    try:
        if not arguments.show:
            run(arguments.store, variants, datasets, partitions)
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None
    results = [one for one in load_results(arguments.store) if f"{one.agreement:g}" in prices]
    show([one for one in results if one.dataset in datasets and one.partition in partitions])


if __name__ == "__main__":
    main()
