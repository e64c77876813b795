"""What a fit costs around the kernel, and what the first fit on a machine and in a process costs.

    python benchmarks/overhead.py [--quick] [--repeats N]

1. `TSKRegressor.fit` on 500 rows x 8 features: the time outside of the initialiser and of `takagi.train` (checks,
   merging, splitting, standardising, storing), and inside `train` outside of the kernel.
2. Fresh processes, the first with no machine code on disk, the second with the cache that it left: import (scikit-learn
   first, so that only takagi's own part counts), first fit and predict.
3. Fits with every kind of setting: no compiled function may get another signature.
"""

from _measure import Contestants, judge, parse_arguments, print_table, time_once  # first: it limits the threads

# isort: split
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from takagi import FuzzyCMeans, TSKRegressor, kernels
from takagi.fitting import _training
from takagi.initializers import FuzzyCMeansInitializer

OVERHEAD_TARGET_MS, COMPILE_TARGET, LOAD_TARGET = 5.0, 5.0, 0.5


def make_rows(n_rows: int = 500, n_features: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return a small problem."""
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    return X, X[:, 0] * X[:, 1] + X[:, 2]


# -- 1. around the kernel ----------------------------------------------------------------------------------------------


@contextmanager
def stopwatches(spent: Counter) -> Iterator[None]:
    """Add the seconds inside the initialiser, `train` and the training kernel to `spent`, by name."""

    def watch(name: str, function: Callable) -> Callable:
        def watched(*args: object, **options: object) -> object:
            start = time.process_time()
            result = function(*args, **options)
            spent[name] += time.process_time() - start
            return result

        return watched

    with (
        patch.object(FuzzyCMeansInitializer, "make_rules", watch("make_rules", FuzzyCMeansInitializer.make_rules)),
        patch.object(_training, "train", watch("train", _training.train)),
        patch.object(kernels, "train_block", watch("train_block", kernels.train_block)),
        patch.object(kernels, "is_compiled", lambda kernel: True),  # it asks the kernel that is now behind a stopwatch
    ):
        yield


def split_fit_time(model: TSKRegressor, X: np.ndarray, y: np.ndarray, n_repeats: int) -> dict[str, float]:
    """Return milliseconds of the parts of a fit, of each the smallest."""
    best: dict[str, float] = {}
    for _ in range(n_repeats):
        spent: Counter = Counter()
        with stopwatches(spent):
            spent["fit"] = time_once(lambda: model.fit(X, y))
        spent["around"] = spent["fit"] - spent["make_rules"] - spent["train"]
        spent["train, rest"] = spent["train"] - spent["train_block"]
        best = {name: min(best.get(name, np.inf), seconds * 1e3) for name, seconds in spent.items()}
    return best


def show_overhead(n_repeats: int) -> None:
    """Print the parts of fits and judge the largest overhead."""
    X, y = make_rows()
    make = partial(TSKRegressor, 16, recipe="droprule", random_state=0)  # one training, no pilots
    models = {
        "one iteration": make(max_iter=1),
        "the paper's 1,000 iterations": make(max_iter=1000, schedule="constant", averaging=0.0, keep_prob=0.5),
        "5,000 iterations": make(),
    }
    TSKRegressor(16, max_iter=1).fit(X, y)  # loads the kernels
    parts = {name: split_fit_time(model, X, y, n_repeats) for name, model in models.items()}
    columns = ["fit", "make_rules", "train", "train_block", "train, rest", "around"]
    print(f"milliseconds of a fit on {len(X)} rows x {X.shape[1]} features, each the smallest of {n_repeats}")
    print_table(["settings", *columns], [[name, *(f"{part[c]:.2f}" for c in columns)] for name, part in parts.items()])
    worst = max(part["around"] for part in parts.values())
    judge("overhead of a fit", f"{worst:.2f} ms", f"below {OVERHEAD_TARGET_MS:.0f} ms", worst < OVERHEAD_TARGET_MS)


# -- 2. start-up -------------------------------------------------------------------------------------------------------


def start_process(cache: str) -> dict[str, float]:
    """Return the CPU seconds of imports and first fits in a new process with machine code in a given folder."""
    script = Path(__file__).with_name("_startup.py")
    environment = os.environ | {"TAKAGI_CACHE_DIR": cache}
    command = [sys.executable, script]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    for line in result.stderr.splitlines():
        print(f"  it said: {line}")
    return json.loads(result.stdout)


def show_startup(n_repeats: int) -> None:
    """Print the start-up times without and with a cache on disk."""
    print("\nCPU seconds of a fresh process (later processes: the smallest of each)")
    with tempfile.TemporaryDirectory() as cache:
        cold = start_process(cache)
        later = [start_process(cache) for _ in range(n_repeats)]
    warm = {name: min(seconds[name] for seconds in later) for name in cold}
    columns = ["import sklearn", "import takagi", "first", "second"]
    runs = {"empty cache": cold, "filled cache": warm}
    rows = [[name, *(f"{run[column]:.3f}" for column in columns)] for name, run in runs.items()]
    print_table(["process", "import sklearn", "then takagi", "first fit, predict", "second fit, predict"], rows)
    compilation = cold["first"] - cold["second"]
    judge("compilation", f"{compilation:.1f} s", f"under {COMPILE_TARGET:.0f} s", compilation < COMPILE_TARGET)
    load = warm["first"] - warm["second"]
    judge("loading from the cache", f"{load:.2f} s", f"under {LOAD_TARGET} s", load < LOAD_TARGET)


# -- 3. one signature --------------------------------------------------------------------------------------------------


def fit_and_predict(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, held_out: dict | None = None, **settings: object
) -> None:
    """Fit a few iterations and predict."""
    model = TSKRegressor(**{"max_iter": 3, "random_state": 0} | settings).fit(X, y, weight, **held_out or {})
    model.predict(X)
    model.firing_share(X)


def list_settings() -> dict[str, dict[str, object]]:
    """Return every kind of setting of the estimator."""
    choices = {
        "projection": ("antecedent", "shared", "separate"),
        "init": ("kmeans", "random", "grid", "fcm"),
        "optimizer": ("sgdm", "adam", "adabound"),
        "powerball": (0.7, 1, 0),
        "keep_prob": (0.3, 1, 1.0),
        "n_rules": (1, 3, 8, 65),
        "standardize": (True, "inputs", False),
        "schedule": ("constant",),
        "averaging": (0, 0.5),
        "l2": (0,),
        "learning_rate": (1,),
        "batch_size": (1, 1000),
        "n_iter_no_change": (1,),
    }
    return {f"{name}={value}": {name: value} for name, values in choices.items() for value in values}


def list_fits() -> Contestants:
    """Return fits and predictions with every kind of setting and of input."""
    X, y = make_rows(200, 4)
    frozen = X.copy()
    frozen.flags.writeable = False
    rounded = np.rint(X * 10).astype(int), np.rint(y).astype(int)
    fits = {name: partial(fit_and_predict, X, y, **setting) for name, setting in list_settings().items()}
    return fits | {
        "two outputs": partial(fit_and_predict, X, np.c_[y, -y]),
        "one column of y": partial(fit_and_predict, X, y[:, None]),
        "weights": partial(fit_and_predict, X, y, np.arange(len(y))),
        "X_val": partial(fit_and_predict, X, y, held_out={"X_val": X[:50], "y_val": y[:50]}),
        "callback": partial(fit_and_predict, X, y, held_out={"callback": print_nothing}),
        "float32": partial(fit_and_predict, X.astype(np.float32), y.astype(np.float32)),
        "whole numbers": partial(fit_and_predict, *rounded),
        "Fortran order": partial(fit_and_predict, np.asfortranarray(X), y),
        "every other row": partial(fit_and_predict, X[::2], y[::2]),
        "read-only": partial(fit_and_predict, frozen, y),
        "lists": partial(fit_and_predict, X.tolist(), y.tolist()),
        "one feature": partial(fit_and_predict, X[:, :1], y),
        "two rows": partial(fit_and_predict, X[:2], y[:2]),
        "threads": partial(fit_and_predict, np.tile(X, (200, 1)), np.tile(y, 200), n_jobs=2),
        "FuzzyCMeans": lambda: FuzzyCMeans(3, m=1.5).fit(X, sample_weight=np.arange(len(y))).transform(X),
    }


def print_nothing(progress: object) -> None:
    """Be a callback."""


def count_signatures() -> Counter:
    """Return the number of compiled signatures of every function of `takagi.kernels`."""
    return Counter({name: len(f.signatures) for name, f in vars(kernels).items() if hasattr(f, "signatures")})


def show_signatures() -> None:
    """Fit with many settings and print which functions were compiled again."""
    fits = list_fits()
    for name in ("projection=shared", "init=grid", "optimizer=sgdm", "FuzzyCMeans"):  # every function once
        fits[name]()
    before = count_signatures()
    again = {}
    for name, run in fits.items():
        known = count_signatures()
        run()
        again[name] = count_signatures() - known
    after = count_signatures()
    print(f"\n{len(fits)} kinds of settings and inputs, {sum(1 for n in after.values() if n)} compiled functions")
    for name, grown in again.items():
        if grown:
            print(f"  {name} compiled again: {', '.join(grown)}")
    several = [f"{name} has {n}" for name, n in after.items() if n > 1]
    print(f"  functions with several signatures: {', '.join(several) or 'none'}")
    judge("signatures", f"{sum(before.values())} before, {sum(after.values())} after", "no growth", before == after)


def main() -> None:
    """Run the three parts."""
    arguments = parse_arguments(__doc__, 20)
    warnings.simplefilter("ignore")
    show_overhead(arguments.repeats)
    show_startup(1 if arguments.quick else 5)
    show_signatures()


if __name__ == "__main__":
    main()
