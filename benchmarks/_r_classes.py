"""The tables of R packages with a class as target: what `rtables.py --task classes` fits, as `_r_tables.py` has it.

A table is taken if it has 60 to 3,000 rows, 4 to 40 columns and a column of two to ten values, which are text or
categories, or two numbers, each of at least 15 rows; the last such column is the target. Two thirds of the rows of each
class train.
"""

import contextlib
import time
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from _apart import limit_processor_seconds
from _r_tables import LONGEST_NOTE, N_ROWS, TIME_LIMIT, TableTrial, find_tables, make_encoder, read_frame
from takagi import TSKClassifier, TSKCommitteeClassifier
from takagi.experiments._plan import derive_seed
from takagi.experiments._run import format_error

if TYPE_CHECKING:
    import pandas as pd

N_CLASSES = (2, 10)
FEWEST = 15  # rows of a class


@dataclass(frozen=True)
class ClassTableOutcome:
    """What a trial gave; a method that failed counts as the class frequencies of the training rows.

    Attributes
    ----------
    run : TableTrial
    log_loss : float
        Of the test rows.
    n_rows, n_columns, n_classes : int
        Rows to train on, columns before they are encoded, and classes.
    seconds : float
        Processor seconds of the fit, the encoding included.
    note, error : str
        How the method failed, and why there is no outcome, else empty.
    """

    run: TableTrial
    log_loss: float = np.nan
    n_rows: int = 0
    n_columns: int = 0
    n_classes: int = 0
    seconds: float = field(default=np.nan, metadata={"digits": 4})
    note: str = ""
    error: str = ""


def make_logistic(seed: int) -> Pipeline:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


METHODS = {
    "logistic regression": make_logistic,
    "class frequencies": lambda seed: DummyClassifier(),
    "takagi": lambda seed: TSKClassifier(random_state=seed),
    "takagi 5 short rules": lambda seed: TSKClassifier(5, recipe="short", random_state=seed),
    "takagi committee": lambda seed: TSKCommitteeClassifier(random_state=seed),
    "random forest": lambda seed: RandomForestClassifier(200, random_state=seed),
    "HistGB": lambda seed: HistGradientBoostingClassifier(random_state=seed),
}


@cache
def list_class_tables() -> tuple[str, ...]:
    """Return the names of all tables that are taken, as "package/name", in alphabetical order."""
    return find_tables(read_classes)


@cache
def read_classes(name: str) -> "tuple[pd.DataFrame, pd.Series] | None":
    """Return the columns and the classes of a table, None if it is not taken."""
    table = read_frame(name)
    if table is None or table.shape[1] < 3:
        return None
    target = next((column for column in reversed(list(table)) if has_classes(table[column])), None)
    if target is None:
        return None
    table = table[table[target].notna()]
    return table.drop(columns=target), table[target].astype(str)


def has_classes(column: "pd.Series") -> bool:
    """Whether a column may be the target."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    count = column.value_counts()
    count = count[count > 0]
    is_number = is_numeric_dtype(column) and not is_bool_dtype(column)
    most = N_CLASSES[0] if is_number else N_CLASSES[1]
    return N_CLASSES[0] <= len(count) <= most and int(count.min()) >= FEWEST and int(count.sum()) >= N_ROWS[0]


def run_class_table(trial: TableTrial, limit: float = TIME_LIMIT) -> ClassTableOutcome:
    """Fit and measure."""
    warnings.simplefilter("ignore")
    try:
        warm_up(trial.method)
        with limit_processor_seconds(limit):
            return measure(trial)
    except Exception as error:
        return fail_class_table(trial, f"raised {format_error(error)}")


def measure(trial: TableTrial) -> ClassTableOutcome:
    """Fit a method behind an encoder, and return its log loss on test rows."""
    X, X_test, y, y_test = load_parts(trial)
    seed = derive_seed(0, "fit", trial.table, trial.split, trial.method) % 2**31
    start = time.process_time()
    model = make_pipeline(make_encoder(trial.method), METHODS[trial.method](seed)).fit(X, y)
    seconds = time.process_time() - start
    probabilities = np.asarray(model.predict_proba(X_test), dtype=float)
    if not np.isfinite(probabilities).all():
        raise ValueError("its probabilities are not finite")
    loss = float(log_loss(y_test, probabilities, labels=model.classes_))
    return ClassTableOutcome(trial, loss, len(X), X.shape[1], len(model.classes_), seconds)


def fail_class_table(trial: TableTrial, reason: str) -> ClassTableOutcome:
    """Return the outcome of a method that failed: the log loss of the class frequencies."""
    X, X_test, y, y_test = load_parts(trial)
    model = DummyClassifier().fit(X, y)
    loss = float(log_loss(y_test, model.predict_proba(X_test), labels=model.classes_))
    return ClassTableOutcome(trial, loss, len(X), X.shape[1], len(model.classes_), note=reason[:LONGEST_NOTE])


def load_parts(trial: TableTrial) -> Any:
    """Return columns that train and test, and their classes."""
    table = read_classes(trial.table)
    if table is None:
        raise ValueError(f"table {trial.table!r} is not one of those that are taken.")
    seed = derive_seed(0, "split", trial.table, trial.split) % 2**31
    return train_test_split(*table, test_size=1 / 3, stratify=table[1], random_state=seed)


@cache
def warm_up(method: str) -> None:
    """Fit a method to an invented problem, for imports and what is compiled; a failure shows in the trial."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    with contextlib.suppress(Exception):
        METHODS[method](0).fit(X, X[:, 0] + X[:, 1] ** 2 > 1).predict_proba(X)
