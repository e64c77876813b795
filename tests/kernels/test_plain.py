"""Without numba, or with its compilation switched off: trained models work through NumPy, and training says what to do.

Models and numbers are made here, by compiled code, and compared in a process of its own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cases import PROJECTIONS, make_rules, to_takagi
from takagi import FuzzyCMeans, RuleBase, TSKCommittee, TSKRegressor, kernels, save
from takagi.kernels import _plain
from takagi.rulebase import pack

PROGRAM = """
import sys
if sys.argv[1] == "blocked":
    sys.modules["numba"] = None
import numpy as np
import takagi
from takagi import kernels
from takagi.inspection import explain_local

assert kernels.predict_rows.__module__ == "takagi.kernels._plain"
data = np.load("numbers.npz")
for name in ("regressor", "committee"):
    model = takagi.load(f"{name}.takagi")
    np.testing.assert_allclose(model.predict(data["X"]), data[name], rtol=1e-12, atol=1e-12)
regressor = takagi.load("regressor.takagi")
np.testing.assert_allclose(regressor.rule_base_.firing_share(data["X"]), data["share"], atol=1e-12)
assert "IF" in str(regressor.rule_base_)
print(explain_local(regressor, data["X"][:1]))

def fit():
    takagi.TSKRegressor(n_rules=2, max_iter=2).fit(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0))

def train():
    rules = takagi.RuleBase([[0.0]], [[1.0]], [[[0.0, 0.0]]])
    takagi.train(rules, [[0.0], [1.0]], [0.0, 1.0], None, None, takagi.TrainConfig(keep_prob=1.0))

for call in (fit, train):
    try:
        call()
    except ImportError as error:
        print(f"{call.__name__}: {error}", file=sys.stderr)
"""
WAYS = {"blocked": {}, "switched off": {"NUMBA_DISABLE_JIT": "1"}}


@pytest.fixture(scope="module", params=WAYS)
def done(request, folder):
    """What came of the program in a process of its own."""
    way = request.param
    own = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", PROGRAM, way]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=os.environ | own | WAYS[way], check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Saved models, and what they predict."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    regressor = TSKRegressor(n_rules=4, max_iter=100, random_state=0).fit(X, y)
    committee = TSKCommittee(2, TSKRegressor(n_rules=2, max_iter=30), random_state=0).fit(X, y)
    assert committee.memory_ is not None
    numbers = {"X": X, "share": regressor.rule_base_.firing_share(X)}
    for name, model in (("regressor", regressor), ("committee", committee)):
        save(model, folder / f"{name}.takagi")
        numbers[name] = model.predict(X)
    np.savez(folder / "numbers.npz", **numbers)
    return folder


@pytest.mark.slow
def test_trained_models_work_without_compilation(done):
    assert done.returncode == 0, done.stderr[-2000:]


def test_training_without_compilation_says_what_to_do(done):
    assert "fit: Training needs numba" in done.stderr
    assert "train: Training needs numba" in done.stderr
    assert done.stderr.count("unset NUMBA_DISABLE_JIT") == 2


FRESH = """
import numpy as np
import takagi
from takagi import kernels
from takagi.inspection import explain_local

data = np.load("numbers.npz")
for name in ("regressor", "committee"):
    model = takagi.load(f"{name}.takagi")
    np.testing.assert_allclose(model.predict(data["X"][:20]), data[name][:20], rtol=1e-12, atol=1e-12)
print(explain_local(takagi.load("regressor.takagi"), data["X"][:1]))
assert not [name for name, kernel in vars(kernels).items() if hasattr(kernel, "signatures") and kernel.signatures]
kernels.expect_training()
assert kernels.find_kernel("predict_rows", 1) is kernels.predict_rows
"""


@pytest.mark.slow
def test_few_rows_are_predicted_at_once_where_nothing_is_compiled(folder, tmp_path):
    source = Path(kernels.__file__).parents[1]
    shutil.copytree(source, tmp_path / "takagi", ignore=shutil.ignore_patterns("__pycache__"))
    places = {"XDG_CACHE_HOME": tmp_path, "TAKAGI_CACHE_DIR": tmp_path, "NUMBA_CACHE_DIR": tmp_path}
    own = {name: str(path) for name, path in (places | {"PYTHONPATH": tmp_path}).items()}
    command = [sys.executable, "-c", FRESH]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=os.environ | own, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


# ----------------------------------------------------------------------------------------------------------------------
# Function by function, in this process
# ----------------------------------------------------------------------------------------------------------------------


def evaluate(predict_rows, rules: RuleBase, X):
    theta, shape = pack(rules)
    prediction, share = np.empty((len(X), rules.n_outputs)), np.empty((len(X), rules.n_rules))
    predict_rows(theta, shape, kernels.make_columns(shape), X, prediction, share)
    return prediction, share


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("distance", [1.0, 1e3, 1e160, 1e200])
def test_predictions_equal_the_compiled_ones(projection, distance, monkeypatch):
    monkeypatch.setattr(_plain, "_NUMBERS_PER_BLOCK", 100)
    rng = np.random.default_rng(0)
    drawn = to_takagi(make_rules(rng, n_rules=9, n_features=3, n_outputs=2, projection=projection))
    widths = np.where(rng.random(drawn.widths.shape) < 0.2, np.inf, drawn.widths)
    rules = RuleBase(
        drawn.centers, widths, drawn.consequents, drawn.antecedent_projection, drawn.consequent_projection,
        drawn.tied_projection,
    )  # fmt: skip
    X = distance * rng.normal(size=(77, 3))
    found, expected = (evaluate(function, rules, X) for function in (_plain.predict_rows, kernels.predict_rows))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, atol=1e-12 * distance)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9 if distance > 1 else 1e-12, atol=1e-12)


@pytest.mark.parametrize("damping", [0.1, np.inf])
def test_blended_rows_equal_the_compiled_ones(damping, monkeypatch):
    monkeypatch.setattr(_plain, "_NUMBERS_PER_BLOCK", 1000)
    rng = np.random.default_rng(1)
    rows = rng.uniform(-10, 10, size=(200, 3))
    rows = rows[np.argsort(rows[:, 0])]
    queries = np.vstack([rows[:50], rng.uniform(-20, 20, size=(30, 3)), np.full((1, 3), np.inf)])
    own = np.r_[np.arange(50), np.full(31, -1)]
    filled = np.vstack([rows[:-3], np.full((3, 3), 1e100)])  # as a shelf is filled up
    known = np.ascontiguousarray(filled.T), np.r_[rng.random(197), np.zeros(3)], rng.normal(size=200), damping
    results = []
    for function in (_plain.blend_rows, kernels.blend_rows):
        blended, fired = np.empty((2, len(queries)))
        function(queries, own, *known, blended, fired)
        results.append((blended, fired))
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_memberships_equal_the_compiled_ones(m, monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 3))
    model = FuzzyCMeans(n_clusters=4, m=m, random_state=0).fit(X)
    expected = model.transform(X)
    monkeypatch.setattr(kernels, "assign_memberships", _plain.assign_memberships)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-10)
