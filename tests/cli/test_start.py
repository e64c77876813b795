"""What commands import: nothing that they do not use, so that they start at once. Each runs in a process of its own."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from takagi import (
    TableEncoder,
    TSKClassifier,
    TSKCommittee,
    TSKCommitteeClassifier,
    TSKRegressor,
    calibrate,
    load,
    save,
)
from takagi.persistence import load_predictor

PROGRAM = """
import sys
from takagi.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code, stop.code
print("loaded", *{name.split(".")[0] for name in sys.modules}, file=sys.stderr)
"""
HEAVY = {"sklearn", "numba", "llvmlite", "joblib", "matplotlib", "jinja2", "dask"}


def run(folder, *words):
    """Run a command; return what it prints, and which packages it loads."""
    own = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | own,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, set(done.stderr.splitlines()[-1].split()[1:])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Model files of every kind, and a table for them."""
    folder = tmp_path_factory.mktemp("start")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=200), "b": rng.uniform(size=200), "kind": rng.choice(["u", "v"], size=200)})
    y = np.sin(6 * X["a"]) + X["b"] * (X["kind"] == "u")
    y.name, label = "target", pd.Series(np.where(y > 0.5, "high", "low"), name="target")
    small, kinds = {"n_rules": 2, "max_iter": 20}, pd.Series(np.digitize(y, [0.0, 0.5]), name="target")
    models = {
        "regressor": (TSKRegressor(**small, random_state=0), y),
        "short": (TSKRegressor(recipe="short", n_rules=2, random_state=0), y),
        "committee": (TSKCommittee(2, TSKRegressor(**small), random_state=0), y),
        "classifier": (TSKClassifier(**small, random_state=0), label),
        "classes": (TSKClassifier(**small, random_state=0), kinds),
        "classifiers": (TSKCommitteeClassifier(2, TSKClassifier(**small), random_state=0), label),
    }
    for name, (model, target) in models.items():
        fitted = make_pipeline(TableEncoder(), model).fit(X, target)
        save(calibrate(fitted, X, target) if target is y else fitted, folder / f"{name}.takagi")
    save(TSKRegressor(**small, random_state=0).fit(X[["a", "b"]], y), folder / "numbers.takagi")
    X.head(20).to_csv(folder / "new.csv", index=False)
    return folder


MODELS = ("regressor", "short", "committee", "classifier", "classes", "classifiers", "numbers")


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_predictions_take_neither_scikit_learn_nor_numba(folder, name):
    has_classes = name.startswith("class")
    printed, loaded = run(folder, "predict", f"{name}.takagi", "new.csv", "--flags", "-q")
    assert not loaded & (HEAVY if has_classes else HEAVY | {"scipy"})
    table, model = pd.read_csv(folder / "new.csv"), load(folder / f"{name}.takagi")
    expected = model.predict(table[["a", "b"]] if name == "numbers" else table)
    lines = [line.split(",")[0] for line in printed.splitlines()]
    if has_classes:
        assert lines[1:] == [str(label) for label in expected]
    else:
        np.testing.assert_allclose(np.array(lines[1:], dtype=float), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [("short", ["--interval", "0.8"]), ("committee", ["--interval", "0.8"]), ("classifiers", ["--proba"])],
)
def test_intervals_and_probabilities_take_no_more(folder, name, words):
    _, loaded = run(folder, "predict", f"{name}.takagi", "new.csv", "-q", *words)
    assert not loaded & HEAVY


@pytest.mark.slow
@pytest.mark.parametrize("name", ["short", "committee", "classifiers"])
def test_explanations_take_neither_scikit_learn_nor_numba(folder, name):
    printed, loaded = run(folder, "explain", f"{name}.takagi", "new.csv", "--row", "2")
    assert "row 2" in printed.lower()
    assert not loaded & HEAVY


@pytest.mark.slow
def test_rules_take_less_still(folder):
    printed, loaded = run(folder, "rules", "short.takagi")
    assert "THEN target" in printed
    assert not loaded & (HEAVY | {"scipy", "pandas"})


@pytest.mark.parametrize("name", MODELS)
def test_what_only_predicts_predicts_the_same_bits(folder, name):
    table = pd.read_csv(folder / "new.csv")
    model, light = load(folder / f"{name}.takagi"), load_predictor(folder / f"{name}.takagi")
    if name == "numbers":
        assert (light.predict(table[["a", "b"]]) == model.predict(table[["a", "b"]])).all()
        return
    rows, last = light.steps[0][1].transform(table), light.steps[-1][1]
    np.testing.assert_array_equal(rows, model[0].transform(table))
    np.testing.assert_array_equal(last.predict(rows), model[-1].predict(rows))
    np.testing.assert_array_equal(last.firing_share(rows), model[-1].firing_share(rows))
    if name.startswith("class"):
        np.testing.assert_array_equal(last.predict_proba(rows), model[-1].predict_proba(rows))
    else:
        np.testing.assert_array_equal(last.predict_interval(rows, 0.8), model[-1].predict_interval(rows, 0.8))
