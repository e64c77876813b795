"""Rules with a link predict probabilities wherever they are exported to."""

from dataclasses import replace

import numpy as np
import pytest
from exported import example_rows, example_rules
from test_c import COMPILERS, Compiled

from cases import make_sum
from takagi.export import read_fis, rules_to_dict, to_c, to_fis, to_onnx

LINKED = {
    "logit": replace(example_rules()["plain"], link="logit"),
    "softmax": replace(example_rules()["several outputs"], link="softmax"),
}


@pytest.fixture(params=sorted(LINKED))
def rules(request):
    """Rules whose outputs are far beyond what exp can take for some rows."""
    return LINKED[request.param]


def test_json_names_the_link(rules):
    assert rules_to_dict(rules)["rules"]["link"] == rules.link
    assert rules_to_dict(example_rules()["plain"])["rules"]["link"] == "identity"


@pytest.mark.skipif(not COMPILERS, reason="needs a C compiler, gcc or clang")
@pytest.mark.parametrize(("dtype", "tolerance"), [("double", 1e-9), ("float", 1e-4)])
def test_c_applies_the_link(rules, dtype, tolerance, tmp_path):
    X = example_rows(rules)
    found = Compiled(to_c(rules, dtype=dtype), tmp_path, dtype).predict(X[:40])
    np.testing.assert_allclose(found, rules.predict(X[:40]).reshape(40, -1), atol=tolerance)
    far = Compiled(to_c(rules, dtype=dtype), tmp_path, dtype).predict(X)
    assert ((far >= 0) & (far <= 1)).all()
    if dtype == "double":
        np.testing.assert_allclose(far, rules.predict(X).reshape(far.shape), atol=tolerance)


def test_onnx_applies_the_link(rules):
    runtime = pytest.importorskip("onnxruntime")
    X = example_rows(rules)
    session = runtime.InferenceSession(to_onnx(rules).SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": X})[0]
    assert found.shape == rules.predict(X).shape
    np.testing.assert_allclose(found, rules.predict(X), atol=1e-9)


SUMS = {
    link: make_sum(np.random.default_rng(0), n_parts=3, n_outputs=3 if link == "softmax" else 1, link=link)
    for link in LINKED
}


@pytest.mark.skipif(not COMPILERS, reason="needs a C compiler, gcc or clang")
@pytest.mark.parametrize("model", SUMS.values(), ids=SUMS)
def test_c_applies_the_link_after_the_sum(model, tmp_path):
    X = example_rows(model)
    found = Compiled(to_c(model), tmp_path).predict(X)
    np.testing.assert_allclose(found, model.predict(X).reshape(found.shape), atol=1e-9)


@pytest.mark.parametrize("model", SUMS.values(), ids=SUMS)
def test_onnx_applies_the_link_after_the_sum(model):
    runtime = pytest.importorskip("onnxruntime")
    X = example_rows(model)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": X})[0], model.predict(X), atol=1e-9)


def test_a_fis_file_has_outputs_before_the_link(rules, tmp_path):
    to_fis(rules, tmp_path / "rules.fis")
    X = example_rows(rules)[:40]
    np.testing.assert_allclose(
        read_fis(tmp_path / "rules.fis").predict(X).reshape(40, -1), rules.predict_raw(X), rtol=1e-9
    )
