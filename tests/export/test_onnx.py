import json
import sys

import numpy as np
import pytest
from exported import bend_table, error_of, example_models, example_rows, example_rules, example_sums, new_table
from hypothesis import given

from cases import explore, make_sum, sums
from takagi import RuleBase
from takagi.export import to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

RULES = sorted(example_rules())
SUMS = sorted(example_sums())
TOLERANCE = {"float64": 1e-13, "float32": 1e-5}
SUM_TOLERANCE = {"float64": 1e-13, "float32": 3e-5}  # some rows are 60 of the narrower widths away


def run(proto, feed):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, feed)[0]


def feed_table(table, columns, dtype):
    """Return one tensor for each column, as the documentation says."""
    feed = {}
    for column in columns:
        values = table[[column.name]]
        if not column.inputs:
            continue
        if column.kind == "category":
            feed[column.name] = values.astype(object).where(values.notna(), "missing").to_numpy()
        else:
            feed[column.name] = values.astype(float).to_numpy(dtype)
    return feed


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", RULES)
def test_onnx_predicts_as_the_rules_do(name, dtype):
    rules = example_rules()[name]
    X = example_rows(rules).astype(dtype)
    prediction = run(to_onnx(rules, dtype=dtype), {"X": X})
    assert prediction.dtype == dtype
    assert prediction.shape == rules.predict(X).shape
    assert error_of(prediction, rules, X.astype(float)) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SUMS)
def test_onnx_adds_up_parts_and_bends(name, dtype):
    model = example_sums()[name]
    X = example_rows(model).astype(dtype)
    prediction = run(to_onnx(model, dtype=dtype), {"X": X})
    assert prediction.dtype == dtype
    assert prediction.shape == model.predict(X).shape
    assert error_of(prediction, model, X.astype(float)) < SUM_TOLERANCE[dtype]


@given(sums())
@explore
def test_onnx_predicts_as_any_sum_does(model):
    X = np.random.default_rng(0).normal(size=(20, model.n_features))
    np.testing.assert_allclose(run(to_onnx(model), {"X": X}), model.predict(X), rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_the_inputs_of_bends_are_those_of_the_encoded_table():
    model, table = bend_table(), new_table()
    prediction = run(to_onnx(model), feed_table(table, model[0].columns_, "float64"))
    np.testing.assert_allclose(prediction, model.predict(table), rtol=1e-11)


@pytest.mark.parametrize("n_rows", [0, 1, 1000])
def test_any_number_of_rows_goes_into_a_sum(n_rows):
    model = make_sum(np.random.default_rng(3), n_parts=2, n_outputs=2)
    X = np.random.default_rng(0).normal(size=(n_rows, model.n_features))
    np.testing.assert_allclose(run(to_onnx(model), {"X": X}), model.predict(X), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 1000])
def test_any_number_of_rows_goes_in(n_rows):
    rules = example_rules()["several outputs"]
    X = np.random.default_rng(0).normal(size=(n_rows, rules.n_features))
    np.testing.assert_allclose(run(to_onnx(rules), {"X": X}), rules.predict(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_inputs_near_the_end_of_the_range_give_finite_predictions(dtype):
    rules = example_rules()["plain"]
    X = np.full((1, rules.n_features), 0.01 * np.finfo(dtype).max ** 0.9, dtype=dtype)
    assert np.isfinite(run(to_onnx(rules, dtype=dtype), {"X": X})).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_a_table_is_encoded_inside(dtype):
    model, table = example_models()["table"], new_table()
    proto = to_onnx(model, dtype=dtype)
    prediction = run(proto, feed_table(table, model[0].columns_, dtype))
    tolerance = {"float64": 1e-12, "float32": 2e-5}[dtype]
    np.testing.assert_allclose(prediction, model.predict(table), rtol=tolerance, atol=tolerance)
    assert proto.graph.output[0].name == "y_2"  # y is a column
    assert [entry.version for entry in proto.opset_import] == [19]


@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
@pytest.mark.parametrize("name", ["scalers", "two targets", "one target in a frame"])
def test_models_of_numbers_have_one_input(name):
    model, table = example_models()[name], new_table()[["year", "sold"]].fillna(0).astype(float)
    proto = to_onnx(model)
    prediction = run(proto, {"X": table.to_numpy()})
    assert prediction.shape == model.predict(table).shape
    np.testing.assert_allclose(prediction, model.predict(table), rtol=1e-11, atol=1e-12)
    assert [entry.version for entry in proto.opset_import] == [17]


def test_the_file_says_who_made_it_and_what_the_features_are(tmp_path):
    rules = example_rules()["plain"].rename(["a", "b", "c"], ["d"])
    proto = to_onnx(rules, tmp_path / "rules.onnx")
    stored = onnx.load(tmp_path / "rules.onnx")
    assert stored == proto
    onnx.checker.check_model(str(tmp_path / "rules.onnx"), full_check=True)
    properties = {entry.key: json.loads(entry.value) for entry in stored.metadata_props}
    assert properties == {"feature_names": ["a", "b", "c"], "output_names": ["d"]}
    assert stored.producer_name == "takagi"
    assert stored.doc_string == str(rules)
    model = example_sums()["two parts"]
    assert to_onnx(model).doc_string == str(model)


def test_numbers_that_do_not_fit_are_an_error():
    rules = RuleBase(centers=[[0.0]], widths=[[1.0]], consequents=[[[1e60, 0.0]]])
    with pytest.raises(ValueError, match="beyond the range of float32; export them as double precision"):
        to_onnx(rules, dtype="float32")


def test_an_unknown_type_is_an_error():
    with pytest.raises(ValueError, match="dtype 'float16' is unknown, did you mean 'float"):
        to_onnx(example_rules()["plain"], dtype="float16")


def test_a_lacking_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "takagi\[export\]"'):
        to_onnx(example_rules()["plain"])
