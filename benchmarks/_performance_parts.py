"""What `performance.py` measures, part by part; each returns plain numbers."""

from _measure import call_in_fresh_process, peak_megabytes, reset_peak_memory, time_by_turns  # first: it limits threads

# isort: split
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fit
import float32
import growth
import overhead
import predict
import predict_stream
import roofline
import train
from _measure import dgemm_rate, slope
from takagi import TSKCommittee, TSKRegressor, save
from takagi.inspection import measure_size
from takagi.simplification import simplify

Numbers = dict[str, Any]


class Effort(NamedTuple):
    """How long a part may take: repeats, and whether the largest sizes are left out."""

    n_repeats: int
    is_quick: bool


# -- training ----------------------------------------------------------------------------------------------------------


def measure_training(effort: Effort) -> list[Numbers]:
    """Return microseconds per iteration, and the part of dgemm's rate, without and with validation."""
    n_iter, found = 200, []
    for size in train.SIZES[:2] if effort.is_quick else train.SIZES:
        problem = train.make_problem(*size)
        seconds = time_by_turns(train.make_contestants(problem, n_iter, None), effort.n_repeats)
        rate, n_val = dgemm_rate(seconds["dgemm"]), len(problem.X_val)
        numbers = {"rows": size[0], "features": size[1], "rules": size[2], "validation rows": n_val, "dgemm": rate}
        for name, n_validated in (("plain", 0), ("validated", n_val)):
            us = slope(seconds, name, n_iter) * 1e6
            work = train.FLOPS_PER_BATCH_ROW * train.BATCH_SIZE + train.FLOPS_PER_VALIDATION_ROW * n_validated
            numbers |= {name: us, f"{name} part": work * size[1] * size[2] / us / 1e3 / rate}
        found.append(numbers)
    return found


def measure_roofline(effort: Effort) -> list[Numbers]:
    """Return the operations of an iteration, their times, and the bound that they make."""
    sizes = train.SIZES[1:2] if effort.is_quick else train.SIZES[:4]
    return [{"features": size[1], "rules": size[2], **roofline.measure(size, effort.n_repeats)} for size in sizes]


def measure_single_precision(effort: Effort) -> Numbers:
    """Return what single precision gains and costs."""
    return float32.measure(effort.n_repeats, 200 if effort.is_quick else 1000)


def measure_steps(effort: Effort) -> Numbers:
    """Return microseconds per row visited of training at the paper's settings, and of other fuzzy libraries."""
    n_iter, n_epochs = (300, 3) if effort.is_quick else (1000, 11)
    problem, data = fit.make_abalone()
    peers = fit.find_peers(problem, n_epochs)
    contestants = fit.make_contestants(problem, n_iter) | fit.make_takagi_runs(problem, n_iter)
    for peer in peers:
        contestants |= fit.count_runs(peer.name, lambda count, peer=peer: fit.run_peer(peer, problem, count), n_epochs)
    seconds = time_by_turns(contestants, effort.n_repeats)
    names = (fit.OURS, fit.OURS_PLAIN, fit.NUMPY)
    cost = {name: seconds[name] / (n_iter * fit.BATCH_SIZE) * 1e6 for name in names}
    for peer, n_rows in peers.items():
        cost[peer.name] = slope(seconds, peer.name, n_epochs) * (n_epochs - 1) / n_rows * 1e6
    return {"data": data, "cost": cost}


# -- fits and predictions beside those of others -----------------------------------------------------------------------


def _make_lightgbm() -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=0, n_jobs=1, verbose=-1)


def _make_catboost() -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_seed=0, thread_count=1, verbose=0, allow_writing_files=False)


MODELS: dict[str, Callable[[], Any]] = {
    "`TSKRegressor()`": lambda: TSKRegressor(random_state=0, n_jobs=1),
    '`TSKRegressor(recipe="short")`': lambda: TSKRegressor(recipe="short", random_state=0, n_jobs=1),
    "`TSKCommittee()`": lambda: TSKCommittee(random_state=0, n_jobs=1),
    "ridge regression": lambda: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(random_state=0),
    "LightGBM": _make_lightgbm,
    "CatBoost": _make_catboost,
}
_SLOW = "`TSKCommittee()`"


def _time_processor(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _list_models() -> dict[str, Callable[[], Any]]:
    """Return the models whose packages are there; the others are named."""
    there = {}
    for name, make in MODELS.items():
        try:
            make()
        except ImportError as error:
            print(f"{name} is left out: {error}")
            continue
        there[name] = make
    return there


def measure_fits(effort: Effort) -> Numbers:
    """Return processor seconds and test errors of default fits at several numbers of rows, all by turns."""
    models, found = _list_models(), {}
    X_test, y_test = make_friedman1(20_000, n_features=10, noise=1.0, random_state=1)
    for n_rows, n_repeats in ((500, 3), (5_000, 2)) if effort.is_quick else ((500, 5), (5_000, 3), (50_000, 1)):
        X, y = make_friedman1(n_rows, n_features=10, noise=1.0, random_state=0)
        own = {name: make for name, make in models.items() if name != _SLOW or n_rows < 50_000}
        best, errors = dict.fromkeys(own, np.inf), {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for make in own.values():
                make().fit(X[:300], y[:300]).predict(X[:5])  # loads what is loaded once
            for _ in range(n_repeats):
                for name, make in own.items():
                    model = make()
                    best[name] = min(best[name], _time_processor(partial(model.fit, X, y)))
                    errors[name] = float(np.sqrt(np.mean((model.predict(X_test) - y_test) ** 2)))
        found[str(n_rows)] = {name: {"seconds": best[name], "error": errors[name]} for name in own}
    return found


def measure_predictions(effort: Effort) -> Numbers:
    """Return microseconds of a prediction of one row, and rows per second of many, all by turns."""
    X, y = make_friedman1(5_000, n_features=10, noise=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {name: make().fit(X, y) for name, make in _list_models().items()}
    rows = {n: np.ascontiguousarray(np.tile(X, (-(-n // len(X)), 1))[:n]) for n in (1, 1_000, 100_000)}
    found: Numbers = {name: {} for name in models}
    for n, n_calls in ((1, 200), (1_000, 20), (100_000, 1)):
        runs = {
            name: lambda model=model, n=n, n_calls=n_calls: [model.predict(rows[n]) for _ in range(n_calls)]
            for name, model in models.items()
        }
        for name, seconds in time_by_turns(runs, effort.n_repeats).items():
            found[name][str(n)] = seconds / n_calls
    return found


def measure_threads(effort: Effort) -> list[Numbers]:
    """Return seconds and memory of predictions with one thread and with all cores, one process each."""
    sizes = predict.SIZES[:2] if effort.is_quick else predict.SIZES[2:]
    return [
        {"rows": n_rows, "rules": n_rules, **call_in_fresh_process(predict.measure, n_rows, n_rules, effort.n_repeats)}
        for n_rows, n_rules in sizes
    ]


def measure_files(effort: Effort) -> list[list[str]]:
    """Return rows per second and memory of `takagi predict` on files."""
    return predict_stream.measure_files(predict_stream.ROWS[1 : 2 if effort.is_quick else 3])


# -- size --------------------------------------------------------------------------------------------------------------


def measure_growth(effort: Effort) -> Numbers:
    """Return seconds and memory of default fits, one process each."""
    return {str(n): call_in_fresh_process(growth.measure, n) for n in growth.ROWS[: 3 if effort.is_quick else 4]}


_SIMPLIFIED = ((16, 10), (64, 13), (128, 30))


def measure_simplify(effort: Effort) -> list[Numbers]:
    """Return processor seconds of simplifications of accurate models, and what they left, to 2,000 rows."""
    found = []
    for n_rules, n_features in _SIMPLIFIED[: 1 if effort.is_quick else None]:
        X, y = make_friedman1(2_000, n_features=n_features, noise=1.0, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TSKRegressor(n_rules=n_rules, random_state=0, n_jobs=1).fit(X, y)
            simplify(model, X[:200], y[:200], max_rules=2)  # loads what is loaded once
            reset_peak_memory()
            before, start = peak_megabytes(), time.process_time()
            result = simplify(model, X, y)
            seconds = time.process_time() - start
        sizes = [sum(measure_size(one)[:3]) for one in (model, result.model)]
        found.append(
            {"rules": n_rules, "features": n_features, "seconds": seconds, "words": sizes, "loss": result.loss,
             "steps": len(result.curve), "MB": peak_megabytes() - before}
        )  # fmt: skip
    return found


# -- start-up ----------------------------------------------------------------------------------------------------------

_COMMANDS = {
    "`python -c 'import sklearn.base'`": ["-c", "import sklearn.base"],
    "`takagi --help`": ["-m", "takagi", "--help"],
    "`takagi rules MODEL`": ["-m", "takagi", "rules", "model.takagi"],
    "`takagi predict MODEL TABLE`, 20 rows": ["-m", "takagi", "predict", "model.takagi", "new.csv", "-q"],
    "`takagi predict ... --flags --interval 0.9`": [
        *("-m", "takagi", "predict", "model.takagi", "new.csv", "-q", "--flags", "--interval", "0.9"),
    ],
    "`takagi explain MODEL TABLE`": ["-m", "takagi", "explain", "model.takagi", "new.csv", "-q"],
}


def _time_command(words: list[str], folder: str) -> float:
    """Return the processor seconds of a process, those of the system included."""
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure_startup(effort: Effort) -> Numbers:
    """Return the processor seconds of commands in fresh processes, and of the first fits of two processes."""
    X, y = make_friedman1(400, n_features=8, noise=1.0, random_state=0)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandas as pd

        table = pd.DataFrame(X, columns=[f"x{k}" for k in range(8)])
        model = TSKRegressor(recipe="short", random_state=0).fit(table, y).calibrate(table, y, cv=5)
        save(model, Path(folder, "model.takagi"))
        table.head(20).to_csv(Path(folder, "new.csv"), index=False)
        commands = dict.fromkeys(_COMMANDS, np.inf)
        for _ in range(max(3, effort.n_repeats // 2)):
            for name, words in _COMMANDS.items():
                commands[name] = min(commands[name], _time_command(words, folder))
        cold = overhead.start_process(str(Path(folder, "cache")))
        warm = overhead.start_process(str(Path(folder, "cache")))
    return {"commands": commands, "empty": cold, "filled": warm}


def measure_overhead(effort: Effort) -> Numbers:
    """Return the milliseconds of the parts of a fit of the paper's length to 500 rows."""
    X, y = overhead.make_rows()
    model = TSKRegressor(16, recipe="droprule", random_state=0, max_iter=1000, schedule="constant", averaging=0.0)
    model.fit(X, y)
    return overhead.split_fit_time(model, X, y, effort.n_repeats)


PARTS: dict[str, tuple[Callable[[Effort], Any], int]] = {  # with the repeats of a full run
    "training": (measure_training, 40),
    "roofline": (measure_roofline, 30),
    "single": (measure_single_precision, 10),
    "steps": (measure_steps, 9),
    "fits": (measure_fits, 1),
    "growth": (measure_growth, 1),
    "overhead": (measure_overhead, 20),
    "startup": (measure_startup, 10),
    "predictions": (measure_predictions, 7),
    "threads": (measure_threads, 5),
    "files": (measure_files, 1),
    "simplify": (measure_simplify, 1),
}


def run_part(name: str, is_quick: bool) -> Any:
    """Measure one part; return what JSON takes."""
    measure, n_repeats = PARTS[name]
    return json.loads(json.dumps(measure(Effort(3 if is_quick else n_repeats, is_quick))))
