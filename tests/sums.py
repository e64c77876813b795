"""Models that are sums of rule bases with bends, made by hand and fitted by least squares."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline

from takagi import Bend, RuleBase, RuleModel, TSKRegressor
from takagi.profile import measure_profile, sort_rules
from takagi.tables import TableEncoder


def make_part(n_features, conditions, bends=(), limits=None, n_outputs=1):
    """Return rules that say nothing yet; a rule's conditions are {feature: (center, width)}, its limits likewise."""
    centers, widths = np.zeros((len(conditions), n_features)), np.full((len(conditions), n_features), np.inf)
    intervals = np.tile([-np.inf, np.inf], (len(conditions), n_features, 1))
    for r, asked in enumerate(conditions):
        for m, (center, width) in asked.items():
            centers[r, m], widths[r, m] = center, width
    for r, asked in enumerate(limits or []):
        for m, limit in asked.items():
            intervals[r, m] = limit
    consequents = np.zeros((len(conditions), n_outputs, 1 + n_features + len(bends)))
    return RuleBase(centers, widths, consequents, bends=bends, intervals=None if limits is None else intervals)


def fit_sum(parts, rows, target):
    """Return the sum of parts whose consequents fit targets best, with profiles, the rules sorted by share."""
    blocks = []
    for part in parts:
        terms = np.column_stack([np.ones(len(rows)), part.consequent_inputs(rows)])
        blocks += [share[:, None] * terms for share in part.firing_share(rows).T]
    design = np.hstack(blocks)
    scale = np.abs(design).max(axis=0)
    scale[scale == 0] = 1.0
    gram = (design / scale).T @ (design / scale) + np.eye(design.shape[1])
    weights = np.linalg.solve(gram, (design / scale).T @ target) / scale[:, None]
    fitted = []
    for part in parts:
        here, weights = np.split(weights, [part.consequents[:, 0].size])
        consequents = here.reshape(part.n_rules, -1, part.n_outputs).transpose(0, 2, 1)
        part = replace(part, consequents=consequents)
        fitted.append(sort_rules(part, measure_profile((rows, target), part.firing_share)))
    return RuleModel(fitted)


def put_in(estimator, X, y, model):
    """Fit an estimator for a moment, and give it other rules."""
    regressor = estimator.set_params(n_rules=1, max_iter=5, random_state=0).fit(X, y)
    regressor.model_ = model.rename(list(X.columns), [y.name])
    regressor.n_rules_ = model.n_rules
    return regressor


@cache
def diabetes_sum():
    """Main rules on bmi, an adjustment by blood pressure with limits, and one that is the same for all."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[["age", "bmi", "bp", "s5"]], y.rename("progression")
    parts = [
        make_part(4, [{1: (20, 4)}, {1: (28, 4)}, {1: (36, 4)}], [Bend(3, "log", 3.0, floor=0.1)]),
        make_part(
            4, [{2: (70, 15)}, {2: (120, 15)}], [Bend(0, "above", 60.0), Bend(3, "log", 3.0, floor=0.1)],
            limits=[{2: (-np.inf, 95)}, {2: (95, np.inf)}],
        ),
        make_part(4, [{}], [Bend(1, "up to", 30.0)]),
    ]  # fmt: skip
    model = fit_sum(parts, X.to_numpy()[:300], y.to_numpy()[:300, None])
    return (
        put_in(TSKRegressor(), X[:300], y[:300], model),
        X[300:].reset_index(drop=True),
        y[300:].reset_index(drop=True),
    )


@cache
def cars_sum():
    """Two outputs from a table with a category, a boolean and missing numbers: main rules and one adjustment."""
    rng = np.random.default_rng(0)
    n_rows = 300
    X = pd.DataFrame(
        {
            "weight": rng.normal(1500, 300, n_rows).round(),
            "fuel": rng.choice(["diesel", "petrol", "electric"], n_rows),
            "used": rng.random(n_rows) < 0.6,
            "power": rng.gamma(9, 15, n_rows),
        }
    )
    y = pd.DataFrame({"price": 5 * X["weight"] + 30 * X["power"] * np.where(X["fuel"] == "electric", 1.5, 1.0)})
    y["price"] += rng.normal(0, 800, n_rows) - 4_000 * X["used"]
    y["co2"] = 100 + 0.03 * X["weight"] - 60 * (X["fuel"] == "electric") + rng.normal(0, 5, n_rows)
    X.loc[rng.random(n_rows) < 0.15, "power"] = np.nan
    pipeline = make_pipeline(TableEncoder(missing="fill"), TSKRegressor(n_rules=1, max_iter=5, random_state=0)).fit(
        X[:200], y[:200]
    )
    encoder, regressor = pipeline[0], pipeline[-1]
    names = [name for column in encoder.columns_ for name in column.inputs]
    wanted = ("weight", "fuel=electric", "used", "power", "power=missing")
    weight, electric, used, power, missing = map(names.index, wanted)
    parts = [
        make_part(
            len(names), [{electric: (0.0, 0.3)}, {electric: (1.0, 0.3)}], [Bend(power, "log", 0.0, floor=1.0)],
            limits=[{electric: (-np.inf, 0.5)}, {electric: (0.5, np.inf)}], n_outputs=2,
        ),
        make_part(
            len(names), [{weight: (1200, 200)}, {weight: (1800, 300), missing: (0.0, 0.5)}, {used: (1.0, 0.4)}],
            [Bend(weight, "above", 1600.0)], n_outputs=2,
        ),
    ]  # fmt: skip
    model = fit_sum(parts, encoder.transform(X[:200]), y.to_numpy()[:200])
    regressor.model_ = model.rename(regressor.model_.feature_names, ["price", "co2"])
    regressor.n_rules_ = model.n_rules
    return pipeline, X[200:].reset_index(drop=True), y[200:].reset_index(drop=True)
