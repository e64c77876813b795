"""Files of classifiers."""

import json

import numpy as np
import pandas as pd
import pytest
from saved_models import FRAME, X, Y, assert_same_model, load_bytes, save_and_load, seal
from sklearn.pipeline import make_pipeline

from takagi import ModelFileError, TableEncoder, TSKClassifier, save

CODE = np.digitize(Y, [-0.5, 0.5])
LABELS = {
    "str": np.array(["big", "low", "mid"]),
    "object": np.array(["big", "low", "größe 😀"], dtype=object),
    "int": np.array([-1, 5, 2**40]),
    "int8": np.array([1, 2, 3], dtype=np.int8),
    "float": np.array([0.0, 1.0, 7.0]),
    "bool": np.array([False, True, True]),
}


def small(**params):
    return TSKClassifier(**{"n_rules": 2, "max_iter": 5, "n_teachers": 0, "random_state": 0} | params)


@pytest.mark.parametrize("kind", LABELS)
def test_loaded_classifier_is_the_saved_one(kind, tmp_path):
    model = small().fit(X, LABELS[kind][CODE])
    loaded = save_and_load(model, tmp_path)
    if kind != "object":  # whose bits are addresses
        assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.5, 2: 3}},
        {"n_rules": "auto"},
        {"projection": "shared"},
        {"recipe": "droprule"},
    ],
    ids=str,
)
def test_settings_are_kept(params, tmp_path):
    model = small(**params).fit(X, CODE)
    assert_same_model(save_and_load(model, tmp_path), model, X)


def test_pipeline_and_stream_go_on(tmp_path):
    model = make_pipeline(TableEncoder(), small()).fit(FRAME, pd.Series(CODE).map({0: "a", 1: "b", 2: "c"}))
    assert_same_model(save_and_load(model, tmp_path), model, FRAME)
    rows, code = np.tile(X, (5, 1)), np.tile(CODE, 5)
    stream = small().partial_fit(rows, code, classes=[0, 1, 2])
    loaded = save_and_load(stream, tmp_path)
    assert_same_model(loaded.partial_fit(rows, code), stream.partial_fit(rows, code), X)


def make_document(tmp_path):
    save(small().fit(X, LABELS["str"][CODE]), tmp_path / "model.takagi")
    return json.loads((tmp_path / "model.takagi").read_text())


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ({"type": "str", "labels": ["a", "b"]}, "3 labels of the type str"),
        ({"type": "str", "labels": ["a", "b", 3]}, "3 labels of the type str"),
        ({"type": "str", "labels": ["b", "a", "c"]}, "different labels, sorted"),
        ({"type": "str", "labels": ["a", "a", "c"]}, "different labels, sorted"),
        ({"type": "object", "labels": ["a", 1, "c"]}, "is refused"),
        ({"type": "object", "labels": ["a", ["b"], "c"]}, "must be"),
        ({"type": "int8", "labels": [1, 2, 1000]}, "is refused"),
        ({"type": "complex128", "labels": [1, 2, 3]}, "must be one of"),
        ({"type": "str"}, "has no field 'labels'"),
        (["a", "b", "c"], "must be an object"),
    ],
)
def test_spoiled_classes_are_refused(classes, message, tmp_path):
    document = make_document(tmp_path)
    document["model"]["classes"] = classes
    with pytest.raises(ModelFileError, match=message):
        load_bytes(seal(document), tmp_path)


def test_links_must_fit_the_kind_of_model(tmp_path):
    document = make_document(tmp_path)
    document["model"]["parts"][0]["link"] = "identity"
    with pytest.raises(ModelFileError, match="with a link for a TSKClassifier"):
        load_bytes(seal(document), tmp_path)
    document = make_document(tmp_path)
    document["model"]["class"] = "TSKRegressor"
    with pytest.raises(ModelFileError, match="unknown"):
        load_bytes(seal(document), tmp_path)
    for name in ("class_weight", "uniformity"):
        document["model"]["parameters"].pop(name)
    document["model"].pop("classes")
    with pytest.raises(ModelFileError, match="without a link for a TSKRegressor"):
        load_bytes(seal(document), tmp_path)


def test_labels_that_are_no_plain_values_cannot_be_saved(tmp_path):
    model = small().fit(X, CODE)
    model.classes_ = np.array([1 + 0j, 2 + 0j, 3 + 0j])
    with pytest.raises(ModelFileError, match="labels of classes of the type complex"):
        save(model, tmp_path / "model.takagi")
