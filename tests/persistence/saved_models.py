"""Models of every kind that a file can hold, and ways to spoil a file."""

import copy
import hashlib
import json
from dataclasses import fields

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from takagi import RuleBase, TSKRegressor
from takagi.initializers import FuzzyCMeansInitializer, GridInitializer, KMeansInitializer, RandomInitializer
from takagi.optimizers import SGDM, AdaBelief, AdaBound, Adam
from takagi.persistence import load, save
from takagi.tables import TableEncoder

ZEROS = "0" * 64
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] * X[:, 1] + X[:, 0]
FRAME = pd.DataFrame({"age": X[:, 0], "fuel": RNG.choice(["diesel", "petrol"], 60), "sold": X[:, 1] > 0})
FRAME.loc[::7, "age"] = np.nan


def small(**params):
    return TSKRegressor(**{"n_rules": 2, "max_iter": 5, "n_teachers": 0, "random_state": 0} | params)


MODELS = {
    "plain": lambda: small().fit(X, Y),
    "names": lambda: small().fit(pd.DataFrame(X, columns=["<b>", "größe 😀"]), pd.Series(Y, name="preis €")),
    "two targets": lambda: small().fit(X, np.column_stack([Y, -Y])),
    "target as a column": lambda: small().fit(X, Y[:, None]),
    "antecedent projection": lambda: small(projection="antecedent").fit(X, Y),
    "shared projection": lambda: small(projection="shared").fit(X, Y),
    "separate projections": lambda: small(projection="separate", n_projections=2).fit(X, Y),
    "grid": lambda: small(n_rules=4, init=GridInitializer(n_sets=2), optimizer="adam").fit(X, Y),
    "fcm and sgdm": lambda: small(init=FuzzyCMeansInitializer(m=1.5, max_iter=7), optimizer=SGDM(0.5)).fit(X, Y),
    "kmeans and adam": lambda: small(init=KMeansInitializer(n_init=1), optimizer=Adam(epsilon=1e-4)).fit(X, Y),
    "random and adabound": lambda: small(init=RandomInitializer(2.0), optimizer=AdaBound()).fit(X, Y),
    "numpy parameters": lambda: small(n_rules=np.int64(2), l2=np.float64(0.1), optimizer=AdaBelief(0.8)).fit(X, Y),
    "patience": lambda: small(max_iter=300, n_iter_no_change=10).fit(X, Y),
}
TABLES = {
    "table": lambda: make_pipeline(TableEncoder(), small()).fit(FRAME, Y),
    "table with settings": lambda: make_pipeline(TableEncoder(max_levels=1, min_frequency=2), small()).fit(FRAME, Y),
    "table named": lambda: make_pipeline(TableEncoder(), small()).set_output(transform="pandas").fit(FRAME, Y),
    "table scaled": lambda: make_pipeline(TableEncoder(), StandardScaler(), MinMaxScaler((-1, 2)), small()).fit(
        FRAME, Y
    ),
    "table and nothing": lambda: Pipeline([("t", TableEncoder()), ("n", "passthrough"), ("r", small())]).fit(FRAME, Y),
}
SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(feature_range=(-1, 1), clip=True),
    MaxAbsScaler(),
    RobustScaler(quantile_range=(10.0, 90.0)),
    RobustScaler(with_centering=False, with_scaling=False),
]


def save_and_load(model, folder):
    save(model, folder / "model.takagi")
    return load(folder / "model.takagi")


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def assert_same_rules(a, b):
    for field in fields(RuleBase):
        one, other = getattr(a, field.name), getattr(b, field.name)
        assert same_bits(one, other) if isinstance(one, np.ndarray) else one == other, field.name


def assert_same_model(loaded, model, table):
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    assert same_bits(loaded.predict(table), model.predict(table))
    steps = list(zip(getattr(loaded, "steps", [("", loaded)]), getattr(model, "steps", [("", model)]), strict=True))
    for (name, step), (expected_name, expected) in steps:
        assert name == expected_name
        if isinstance(expected, str):
            assert step == expected
            continue
        assert type(step) is type(expected)
        assert step.get_params() == expected.get_params()
        assert vars(step).keys() == vars(expected).keys()
        assert list(getattr(step, "feature_names_in_", [])) == list(getattr(expected, "feature_names_in_", []))
    last, expected = steps[-1][0][1], steps[-1][1][1]
    for part, expected_part in zip(last.model_.parts, expected.model_.parts, strict=True):
        assert_same_rules(part, expected_part)
    assert last.history_.keys() == expected.history_.keys()
    assert all(same_bits(last.history_[name], expected.history_[name]) for name in last.history_)
    for name in (
        "best_iter_", "n_iter_", "stopped_", "n_features_in_", "n_rules_", "l2_", "smoothness_", "batch_size_",
        "recipe_",
    ):  # fmt: skip
        assert getattr(last, name) == getattr(expected, name)
    assert [stage[:3] for stage in last.stages_] == [stage[:3] for stage in expected.stages_]


def seal(document):
    """Write a document with a checksum that is right."""
    content = json.dumps(document | {"sha256": ZEROS}, separators=(",", ":")).encode()
    return seal_text(content)


def seal_text(content):
    return content.replace(ZEROS.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def load_bytes(content, folder, **options):
    (folder / "model.takagi").write_bytes(content)
    return load(folder / "model.takagi", **options)


def edit(document, place, value):
    """Return a document with another value at a place such as ``steps.0.name``."""
    *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    document = copy.deepcopy(document)
    target = document["model"]
    for part in way:
        target = target[part]
    target[last] = value
    return document
