"""Models and data that the tests of the report share."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline

from sums import cars_sum, diabetes_sum
from takagi import RuleBase, TSKClassifier, TSKRegressor
from takagi.report import ModelReport
from takagi.tables import TableEncoder

HOSTILE = {
    "weight": "<script>window.hacked = 1</script>",
    "doors": "</script><img src=x onerror='window.hacked = 2'>",
    "fuel": "\"quotes\" & 'apostrophes' \u2028\u2029",
    "used": "🚗 emoji",
    "power": "قوة المحرك 3 (kW)",
    "constant": "n" * 200,
    "checked": "{{ 7 * 7 }}${7 * 7}",
}
HOSTILE_LEVELS = {"diesel": "<b>diesel</b></script><script>window.hacked = 3</script>", "petrol": "x" * 200}
HOSTILE_TARGET = "</title><script>window.hacked = 4</script>"


@cache
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[["age", "bmi", "bp", "s5"]], y.rename("progression")
    model = TSKRegressor(n_rules=4, recipe="droprule", max_iter=500, random_state=0).fit(X[:300], y[:300])
    return model, X[300:].reset_index(drop=True), y[300:].reset_index(drop=True)


@cache
def far():
    """Rules on numbers that are a million times as large as their spread."""
    _, X, y = diabetes()
    X = X + 1e8
    return TSKRegressor(n_rules=3, recipe="droprule", max_iter=300, random_state=0).fit(X, y), X, y


def make_cars(n_rows=300):
    """A table with every kind of column: numbers, whole numbers, words, truth, holes, constants, and nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "weight": rng.normal(1500, 300, n_rows).round(),
            "doors": rng.integers(2, 6, n_rows),
            "fuel": pd.Series(rng.choice(["diesel", "petrol", "electric"], n_rows), dtype=object),
            "used": rng.random(n_rows) < 0.6,
            "power": rng.gamma(9, 15, n_rows),
            "empty": pd.Series([None] * n_rows, dtype=object),
            "constant": 7.0,
        }
    )
    X["checked"] = X["used"].astype(object).where(rng.random(n_rows) < 0.9, None)
    X.loc[rng.random(n_rows) < 0.1, "fuel"] = None
    X.loc[rng.random(n_rows) < 0.15, "power"] = np.nan
    price = 10_000 + 5 * X["weight"] + 30 * X["power"].fillna(80) * np.where(X["fuel"] == "electric", 1.5, 1.0)
    price += rng.normal(0, 800, n_rows) - 4_000 * X["used"]
    co2 = 100 + 0.03 * X["weight"] - 60 * (X["fuel"] == "electric") + rng.normal(0, 5, n_rows)
    return X, pd.DataFrame({"price": price, "co2": co2})


@cache
def cars(projection=None):
    X, y = make_cars()
    regressor = TSKRegressor(n_rules=10, recipe="droprule", max_iter=500, projection=projection, random_state=0)
    return make_pipeline(TableEncoder(), regressor).fit(X[:200], y[:200]), X[200:], y[200:]


@cache
def two_classes():
    """A table of every kind of column, and labels that try to be code."""
    X, y = make_cars()
    labels = np.where(y["price"] > y["price"].median(), HOSTILE_TARGET, "cheap")
    classifier = TSKClassifier(n_rules=4, max_iter=200, random_state=0)
    return make_pipeline(TableEncoder(), classifier).fit(X[:200], labels[:200]), X[200:], labels[200:]


@cache
def three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    return TSKClassifier(n_rules=3, max_iter=200, random_state=0).fit(X[:90], y[:90]), X[90:], y[90:]


@cache
def hostile():
    X, y = make_cars()
    X = X.rename(columns=HOSTILE)
    X[HOSTILE["fuel"]] = X[HOSTILE["fuel"]].replace(HOSTILE_LEVELS)
    y = y["price"].rename(HOSTILE_TARGET)
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=5, recipe="droprule", max_iter=300, random_state=0)).fit(
        X[:200], y[:200]
    )
    return model, X[200:], y[200:]


@cache
def wide(n_features=500, n_rules=64):
    """Rules on many features, of which the first three matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_features))
    consequents = np.zeros((n_rules, 1, n_features + 1))
    consequents[:, 0, 1:4] = rng.normal(0, 5, (n_rules, 3))
    consequents[:, 0, 4:] = rng.normal(0, 0.01, (n_rules, n_features - 3))
    rules = RuleBase(rng.normal(size=(n_rules, n_features)), np.full((n_rules, n_features), 9.0), consequents)
    return rules, X, rules.predict(X) + rng.normal(size=60)


@cache
def make_report(source=diabetes, **options):
    model, X, y = source()
    return ModelReport(model, X, y, simplify=False, **options)


MODELS = {
    "diabetes": diabetes,
    "far": far,
    "cars": cars,
    "projected": lambda: cars("separate"),
    "hostile": hostile,
    "wide": wide,
    "sum": diabetes_sum,
    "sum of a table": cars_sum,
    "two classes": two_classes,
    "three classes": three_classes,
}


def resize(driver, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
