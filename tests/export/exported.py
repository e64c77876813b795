"""Models of all kinds and rows of all kinds, for every export."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cases import make_rules, to_takagi
from takagi import RuleBase, TSKRegressor
from takagi.initializers import GridInitializer
from takagi.tables import TableEncoder

ODD_NAMES = ("*/ int", "??/", 'it\'s "x"', "größe\n(m²)", "", "h", "n_rules", "N Rules", "‮evil", "长", "\\", "x" * 300)


def _without_conditions(rules: RuleBase, chance: float) -> RuleBase:
    mask = np.random.default_rng(1).random(rules.widths.shape) < chance
    return replace(rules, widths=np.where(mask, np.inf, rules.widths))


def _drop_antecedent_projection(rules: RuleBase) -> RuleBase:
    n = rules.n_features
    return replace(rules, centers=rules.centers[:, -n:], widths=rules.widths[:, -n:], antecedent_projection=None)


def _far_from_zero(rules: RuleBase) -> RuleBase:
    n = rules.n_features
    return rules.rescale(np.full(n, 1e6), np.full(n, 3.0), np.array([1e4]), np.array([5.0]))


@functools.cache
def example_rules() -> dict[str, RuleBase]:
    """Rule bases that differ in everything an export has to say."""
    rng = np.random.default_rng(0)

    def make(**sizes):
        return to_takagi(make_rules(rng, **sizes))

    X = rng.normal(size=(60, 2))
    grid = TSKRegressor(n_rules=9, init=GridInitializer(n_sets=3), max_iter=50, random_state=0).fit(X, X[:, 0] ** 2)
    return {
        "plain": make(),
        "one rule": make(n_rules=1),
        "one feature": make(n_features=1),
        "many features": make(n_rules=16, n_features=500),
        "several outputs": make(n_outputs=3),
        "antecedent projection": make(projection="antecedent"),
        "shared projection": make(projection="shared", n_outputs=2),
        "separate projections": make(projection="separate"),
        "consequent projection": _drop_antecedent_projection(make(projection="separate")),
        "few conditions": _without_conditions(make(n_features=6), 0.6),
        "no conditions": _without_conditions(make(n_rules=3), 1.1),
        "shared sets": make(n_rules=9, n_sets=3),
        "shared sets, few conditions": _share_no_conditions(make(n_rules=9, n_sets=3)),
        "grid": grid.rule_base_,
        "far from zero": _far_from_zero(make()),
        "narrow": replace(make(n_rules=30), widths=np.full((30, 3), 1e-3)),
        "odd names": make(n_features=len(ODD_NAMES), n_outputs=2).rename(ODD_NAMES, ["a */ b", "A */ B"]),
    }


def _share_no_conditions(rules: RuleBase) -> RuleBase:
    return replace(rules, widths=np.where(rules.sets == 1, np.inf, rules.widths))


def example_rows(rules: RuleBase) -> np.ndarray:
    """Rows near the rules, at their centers, far away, and a million widths away."""
    rng = np.random.default_rng(2)
    centers = rules.centers[:, -rules.n_features :]
    scale = np.where(np.isinf(rules.widths), 1.0, rules.widths)[:, -rules.n_features :].mean(axis=0)
    near = rng.choice(centers, size=40) + scale * rng.normal(size=(40, rules.n_features))
    directions = rng.normal(size=(10, rules.n_features))
    return np.vstack(
        [near, centers, centers.mean(axis=0) + 30 * scale * directions, centers[:1] + 1e6 * scale * directions]
    )


def error_of(prediction: np.ndarray, rules: RuleBase, X: np.ndarray) -> float:
    """Return the largest error relative to the terms that a prediction sums up."""
    want = rules.predict(X).reshape(len(X), -1)
    inputs = np.abs(np.column_stack([np.ones(len(X)), rules.consequent_inputs(X)]))
    terms = np.einsum("nm,rom->no", inputs, np.abs(rules.consequents)) / rules.n_rules
    assert np.isfinite(prediction).all()
    return float((np.abs(prediction.reshape(want.shape) - want) / terms).max())


# -- tables ------------------------------------------------------------------------------------------------------------


def make_table(n_rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows),
            "fuel": rng.choice(["diesel", "petrol */", '"gas"', "größe"], n_rows),
            "sold": rng.random(n_rows) < 0.5,
            "year": rng.integers(1990, 2020, n_rows),
            "nothing": [None] * n_rows,
            "y": rng.choice(["a", "b"], n_rows),
        }
    )
    table.loc[::7, "age"] = np.nan
    table["checked"] = np.where(rng.random(n_rows) < 0.2, None, rng.random(n_rows) < 0.7)
    table.loc[::9, "fuel"] = None
    return table


@functools.cache
def example_models() -> dict[str, object]:
    """Fitted models: a pipeline with a table and a scaler, one with scalers alone, a bare regressor on two targets."""
    table = make_table()
    rng = np.random.default_rng(4)
    target = table.age.fillna(30) * table.sold + 0.3 * (table.year - 2000) + rng.normal(size=len(table))
    numbers = table[["year", "sold"]].astype(float)
    regressor = TSKRegressor(n_rules=4, max_iter=200, random_state=0)
    return {
        "table": make_pipeline(TableEncoder(), StandardScaler(), regressor).fit(table, target.rename("price")),
        "scalers": make_pipeline(
            StandardScaler(), MinMaxScaler(), TSKRegressor(n_rules=3, max_iter=100, random_state=0)
        ).fit(numbers, target),
        "two targets": TSKRegressor(n_rules=3, max_iter=100, random_state=0).fit(
            numbers, pd.DataFrame({"a": target, "b": -target})
        ),
        "one target in a frame": TSKRegressor(n_rules=3, max_iter=100, random_state=0).fit(
            numbers, target.to_frame("price")
        ),
    }


def new_table() -> pd.DataFrame:
    """Return rows with everything that may be missing or new."""
    table = make_table(60).iloc[::-1].reset_index(drop=True)
    table["sold"] = table["sold"].astype(object)
    table.loc[1, "sold"] = None
    table.loc[2, "fuel"] = "steam"
    table.loc[3, "y"] = None
    table.loc[4, "year"] = 9999
    return table
