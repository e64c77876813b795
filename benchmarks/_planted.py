"""Faults that are planted into tables, to see whether a check finds them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

Planted = tuple[pd.DataFrame, pd.Series, str]  # the table, its target, and the column with the fault ("" for no column)
Make = Callable[[pd.Series, np.random.Generator], object]


@dataclass(frozen=True)
class Plant:
    """A fault: what it is called, which findings name it, and what puts it into a table."""

    name: str
    kinds: tuple[str, ...]
    plant: Callable[[pd.DataFrame, pd.Series, np.random.Generator], Planted]


def add(column: str, make: Make) -> Callable[[pd.DataFrame, pd.Series, np.random.Generator], Planted]:
    """Return what adds a column that is made from the target."""

    def plant(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
        return X.assign(**{column: make(y, rng)}), y, column

    return plant


def add_parts(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
    """Add two columns whose difference is the target."""
    part = rng.gamma(2.0, 2 * y.std(), len(y))
    return X.assign(part=part, whole=y.to_numpy() + part), y, "whole"


def add_factors(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
    """Add two columns whose product is the target, made positive."""
    positive = lift(y)
    share = rng.uniform(0.1, 1.0, len(y))
    return X.assign(share=share, base=positive / share), positive, "base"


def shift_column(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
    """Shift a new column of noise in the last quarter of the rows."""
    values = rng.normal(20, 5, len(y)) + 7.5 * (np.arange(len(y)) >= 0.75 * len(y))
    return X.assign(gauge=values), y, "gauge"


def shift_target(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
    """Shift the target in the last quarter of the rows."""
    return X, y + 1.5 * y.std() * (np.arange(len(y)) >= 0.75 * len(y)), str(y.name)


def hide_values(X: pd.DataFrame, y: pd.Series, rng: np.random.Generator) -> Planted:
    """Add a column that is missing where the target is high, in nine of ten such rows."""
    values = rng.normal(size=len(y))
    return X.assign(probe=np.where((y > y.quantile(0.8)) & (rng.random(len(y)) < 0.9), np.nan, values)), y, "probe"


def draw_codes(y: pd.Series, rng: np.random.Generator) -> object:
    """Return codes of five digits, about fifteen rows each."""
    return rng.choice(rng.choice(90_000, max(4, len(y) // 15), replace=False) + 10_000, len(y))


def draw_numbers(y: pd.Series, rng: np.random.Generator) -> object:
    """Return different numbers of seven digits."""
    return rng.choice(9_000_000, len(y), replace=False) + 1_000_000


def lift(y: pd.Series) -> pd.Series:
    """Return the target, made positive."""
    return y - y.min() + 0.2 * y.std()


def add_noise(y: pd.Series, rng: np.random.Generator) -> object:
    return 2.54 * y + rng.normal(0, 0.05 * y.std(), len(y))


def mark_missing(y: pd.Series, rng: np.random.Generator) -> object:
    return np.where(rng.random(len(y)) < 0.05, -999.0, rng.normal(50, 10, len(y)))


PLANTS = (
    Plant("leak: the target in other units, 2 % noise", ("leak",), add("costs", add_noise)),
    Plant("leak: the target's reciprocal", ("leak",), add("rate", lambda y, rng: 235 / lift(y))),
    Plant("leak: the target's logarithm, rounded", ("leak",), add("logged", lambda y, rng: np.log(lift(y)).round(3))),
    Plant("leak: two columns whose difference it is", ("sum",), add_parts),
    Plant("leak: two columns whose product it is", ("sum",), add_factors),
    Plant("identifier: row numbers", ("row number",), add("n", lambda y, rng: range(1, len(y) + 1))),
    Plant(
        "identifier: numbers of a list, mixed", ("identifier",), add("order", lambda y, rng: rng.permutation(len(y)))
    ),
    Plant("identifier: random numbers, no telling name", ("identifier",), add("ref", draw_numbers)),
    Plant("identifier: text", ("identifier",), add("item", lambda y, rng: [f"A-{k}" for k in rng.permutation(len(y))])),
    Plant("code: named zip", ("code",), add("zip", draw_codes)),
    Plant("code: no telling name", ("code",), add("area", draw_codes)),
    Plant("drift: a column", ("drift",), shift_column),
    Plant("drift: the target", ("drift",), shift_target),
    Plant("constant", ("constant",), add("site", lambda y, rng: "north")),
    Plant("missing where the target is high", ("missing with target",), hide_values),
    Plant("-999 for missing values", ("placeholder",), add("level", mark_missing)),
)
