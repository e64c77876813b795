"""Models of all kinds and rows of all kinds, for every export."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from cases import make_limits, make_part, make_rules, make_sum, to_takagi
from takagi import Bend, RuleBase, RuleModel, TSKRegressor
from takagi.initializers import GridInitializer
from takagi.profile import measure_profile
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
    grid = GridInitializer(n_sets=3).make_rules(X, X[:, :1] ** 2, 9, np.random.default_rng(0))
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
        "grid": replace(grid, consequents=rng.normal(size=grid.consequents.shape)),
        "far from zero": _far_from_zero(make()),
        "narrow": replace(make(n_rules=30), widths=np.full((30, 3), 1e-3)),
        "odd names": make(n_features=len(ODD_NAMES), n_outputs=2).rename(ODD_NAMES, ["a */ b", "A */ B"]),
        "held": replace(make(), limits=make_limits(rng, 3)),
        "held, far from zero": _far_from_zero(replace(make(), limits=make_limits(rng, 3))),
        "held, projections": replace(make(projection="separate"), limits=make_limits(rng, 3)),
        "missing": _know_missing(make(n_outputs=2)),
        "missing, held, far from zero": _far_from_zero(_know_missing(replace(make(), limits=make_limits(rng, 3)))),
        "missing at times": _learn_missing(make()),
    }


def _know_missing(rules: RuleBase) -> RuleBase:
    return replace(rules, usual=np.random.default_rng(8).normal(size=(rules.n_rules, rules.n_features)))


def _learn_missing(rules: RuleBase) -> RuleBase:
    """Return rules with a profile that know what is usual for all features but the last."""
    rules, X = _know_missing(rules), np.random.default_rng(9).normal(size=(50, rules.n_features))
    usual = np.where(np.arange(rules.n_features) < rules.n_features - 1, rules.usual, np.nan)
    return replace(rules, usual=usual, profile=measure_profile((X, rules.predict_raw(X)), rules.firing_share))


def _share_no_conditions(rules: RuleBase) -> RuleBase:
    return replace(rules, widths=np.where(rules.sets == 1, np.inf, rules.widths))


@functools.cache
def example_sums() -> dict[str, RuleModel]:
    """Models that differ in everything an export has to say of sums and bends."""
    rng = np.random.default_rng(5)
    bends = [Bend(0, "above", 0.2), Bend(1, "up to", -0.1), Bend(2, "log", -2.0, floor=0.3), Bend(0, "above", 0.2)]

    def make(asked, **parts):
        return make_part(rng, asked, n_features=3, **parts)

    projected = [
        to_takagi(make_rules(rng, n_rules=size, projection=kind))
        for size, kind in ((2, "antecedent"), (4, "separate"), (3, "shared"), (2, "none"))
    ]
    far = RuleModel((make([0, 1], bends=bends), make([2], n_rules=3)))
    return {
        "one part with bends": RuleModel((make([0, 1], bends=bends),)),
        "two parts": RuleModel((make([0, 1]), make([1, 2], n_rules=3))),
        "three parts with bends": RuleModel(
            (make([0], bends=bends[:2]), make([], n_rules=1, bends=bends[::-1]), make([0, 1, 2], n_rules=4))
        ),
        "several outputs": make_sum(rng, n_parts=3, n_outputs=3, n_features=3),
        "projections in parts": RuleModel(tuple(projected)),
        "shared sets in parts": RuleModel(
            (to_takagi(make_rules(rng, n_rules=6, n_sets=2)), make([0], bends=bends), make([]))
        ),
        "far from zero": far.rescale(np.full(3, 1e6), np.full(3, 3.0), np.array([1e4]), np.array([5.0])),
        "odd names": make_sum(rng, n_parts=2, n_features=len(ODD_NAMES), feature_names=ODD_NAMES),
        "held, with bends": far.hold_at(make_limits(rng, 3)),
        "missing, with bends": RuleModel(tuple(map(_know_missing, far.hold_at(make_limits(rng, 3)).parts))),
        "held, several outputs": make_sum(rng, n_parts=3, n_outputs=3, n_features=3, is_held=True),
    }


def example_rows(model: RuleBase | RuleModel) -> np.ndarray:
    """Rows near the rules, at their centers, far away, and a million widths away; with holes if rules know of them."""
    if len(model.parts) > 1:
        return np.vstack([example_rows(part) for part in model.parts])
    rules = model.parts[0]
    rng = np.random.default_rng(2)
    centers = rules.centers[:, -rules.n_features :]
    scale = np.where(np.isinf(rules.widths), 1.0, rules.widths)[:, -rules.n_features :].mean(axis=0)
    near = rng.choice(centers, size=40) + scale * rng.normal(size=(40, rules.n_features))
    if rules.usual is not None:
        near[rng.random(near.shape) < 0.4] = np.nan
        near[0] = np.nan
    directions = rng.normal(size=(10, rules.n_features))
    return np.vstack(
        [near, centers, centers.mean(axis=0) + 30 * scale * directions, centers[:1] + 1e6 * scale * directions]
    )


def error_of(prediction: np.ndarray, model: RuleBase | RuleModel, X: np.ndarray) -> float:
    """Return the largest error relative to the terms that a prediction sums up."""
    want = model.predict(X).reshape(len(X), -1)
    terms = np.zeros_like(want)
    for rules in model.parts:
        inputs = np.abs(np.column_stack([np.ones(len(X)), np.nan_to_num(rules.consequent_inputs(X), nan=1.0)]))
        terms += np.einsum("nm,rom->no", inputs, np.abs(rules.consequents)) / rules.n_rules
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


@functools.cache
def bend_table() -> object:
    """A pipeline with a table and a scaler, whose rules are a sum with bends."""
    table = make_table()
    encoder = TableEncoder(missing="fill")
    model = make_pipeline(encoder, StandardScaler(), TSKRegressor(n_rules=2, max_iter=50, random_state=0))
    model.fit(table, table.age.fillna(30).rename("price"))
    rules = model[-1].model_
    names = {"feature_names": rules.feature_names, "output_names": rules.output_names}
    model[-1].model_ = make_sum(np.random.default_rng(7), n_parts=3, n_features=rules.n_features, **names)
    assert len({bend.kind for part in model[-1].model_.parts for bend in part.bends}) == 3
    return model


def new_table() -> pd.DataFrame:
    """Return rows with everything that may be missing or new."""
    table = make_table(60).iloc[::-1].reset_index(drop=True)
    table["sold"] = table["sold"].astype(object)
    table.loc[1, "sold"] = None
    table.loc[2, "fuel"] = "steam"
    table.loc[3, "y"] = None
    table.loc[4, "year"] = 9999
    return table
