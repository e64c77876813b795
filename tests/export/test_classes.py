"""Classifiers give the same probabilities and labels wherever they are exported to."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_c import COMPILERS, Compiled

from takagi import TSKClassifier
from takagi.export import read_fis, rules_to_dict, to_c, to_fis, to_json, to_onnx
from takagi.tables import TableEncoder

LABELS = {
    "text": ["it's */ sick", "well"],
    "numbers": [3, 7],
    "truth": [False, True],
    "three": ["a", "b", "größe"],
    "three numbers": [-1, 0, 5],
}


def make_rows(n_rows=200):
    return np.random.default_rng(0).normal(size=(n_rows, 3)) * [1.0, 10.0, 0.1]


@pytest.fixture(scope="module", params=LABELS)
def fitted(request):
    labels, X = np.array(LABELS[request.param]), make_rows()
    sign = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.05) * (len(labels) - 2)
    return TSKClassifier(n_rules=4, max_iter=100, random_state=0).fit(X, labels[sign]), X


@pytest.fixture(scope="module")
def of_table():
    """A pipeline on a table with a category and a missing number."""
    X = pd.DataFrame(make_rows(), columns=["u", "v", "w"])
    X["kind"] = np.where(np.arange(len(X)) % 3, "x", "y")
    y = np.where((X["u"] > 0) ^ (X["kind"] == "x"), "yes", "no")
    X.loc[::7, "v"] = np.nan
    classifier = TSKClassifier(n_rules=3, max_iter=100, random_state=0)
    return make_pipeline(TableEncoder(), StandardScaler(), classifier).fit(X, y), X


@pytest.mark.skipif(not COMPILERS, reason="needs a C compiler, gcc or clang")
@pytest.mark.parametrize(("dtype", "tolerance"), [("double", 1e-9), ("float", 1e-4)])
def test_c_gives_the_probability_of_each_class(fitted, dtype, tolerance, tmp_path):
    model, X = fitted
    text = to_c(model, dtype=dtype)
    np.testing.assert_allclose(Compiled(text, tmp_path, dtype).predict(X), model.predict_proba(X), atol=tolerance)
    assert "places of the classes' probabilities in y" in text


def run_onnx(model, inputs, **options):
    runtime = pytest.importorskip("onnxruntime")
    content = to_onnx(model, **options).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["label", "probabilities"]
    return session.run(None, inputs)


def test_onnx_gives_labels_and_probabilities(fitted):
    model, X = fitted
    label, probabilities = run_onnx(model, {"X": X})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-9)
    assert label.dtype.kind == ("O" if model.classes_.dtype.kind == "U" else model.classes_.dtype.kind)
    np.testing.assert_array_equal(label, model.predict(X))
    _, single = run_onnx(model, {"X": X.astype("float32")}, dtype="float32")
    np.testing.assert_allclose(single, model.predict_proba(X), atol=1e-4)


def test_onnx_of_a_table(of_table):
    model, X = of_table
    inputs = {name: X[[name]].to_numpy(dtype=object if name == "kind" else float) for name in X.columns}
    label, probabilities = run_onnx(model, inputs)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(label, model.predict(X))


def test_columns_may_have_the_names_of_the_outputs():
    X = pd.DataFrame(make_rows()[:, :2], columns=["label", "probabilities"])
    model = make_pipeline(TableEncoder(), TSKClassifier(n_rules=2, max_iter=50, random_state=0))
    model.fit(X, X["label"] > 0)
    assert [output.name for output in to_onnx(model).graph.output] == ["label_2", "probabilities_2"]


def test_json_has_the_classes(fitted):
    model, _ = fitted
    content = json.loads(to_json(model))
    assert content["classes"] == model.classes_.tolist()
    assert content["rules"]["link"] == ("logit" if len(model.classes_) == 2 else "softmax")
    assert "classes" not in rules_to_dict(model.rule_base_)


def test_a_fis_file_has_log_odds_and_says_so(fitted, tmp_path):
    model, X = fitted
    text = to_fis(model, tmp_path / "rules.fis")
    outputs = read_fis(tmp_path / "rules.fis").predict(model.model_.hold_rows(X))
    expected = model.predict_proba(X)
    if len(model.classes_) == 2:
        np.testing.assert_allclose(expit(outputs), expected[:, 1], atol=1e-9)
        assert re.search(r"^% The output is log-odds; the probability of .* is 1 / \(1 \+ exp\(-output\)\)", text, re.M)
        assert "Name='log_odds_of_" in text
    else:
        np.testing.assert_allclose(softmax(outputs, axis=1), expected, atol=1e-9)
        assert "% Outputs are scores of classes" in text
        assert f"%   output 1 is for {model.classes_[0]}" in text


@pytest.mark.parametrize("export", [to_c, to_onnx])
def test_intervals_of_classes_are_refused(fitted, export):
    with pytest.raises(ValueError, match="coverage is for regression"):
        export(fitted[0], coverage=0.9)
