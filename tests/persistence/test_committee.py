import json

import numpy as np
import pandas as pd
import pytest
from saved_models import FRAME, X, Y, small
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TSKCommittee, TSKRegressor
from takagi.optimizers import Adam
from takagi.persistence import ModelFileError, load, save
from takagi.persistence._codec import decode_model, encode_model
from takagi.persistence._schema import Node
from takagi.tables import TableEncoder

NAMED = pd.DataFrame(X, columns=["speed", "load"])


def remembering():
    """Return a committee that remembers rows of one of two targets, on whose sign nothing but a memory can hit."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(20, size=300), rng.normal(size=300)])
    Y = np.column_stack([rng.normal(size=300), np.random.default_rng(1).normal(size=20)[X[:, 0].astype(int)]])
    model = TSKCommittee(2, small(), random_state=0).fit(X, Y)
    assert np.isinf(model.memory_.damping).tolist() == [[True, False], [True, False]]
    return model


COMMITTEES = {
    "plain": lambda: TSKCommittee(3, small(), random_state=1).fit(X, Y),
    "names": lambda: TSKCommittee(2, small(optimizer=Adam()), random_state=0).fit(NAMED, pd.Series(Y, name="wear")),
    "two targets": lambda: TSKCommittee(3, small(), n_jobs=2, random_state=0).fit(X, np.column_stack([Y, -Y])),
    "default members": lambda: TSKCommittee(2, TSKRegressor(max_iter=20), random_state=0).fit(X, Y),
    "a memory": lambda: remembering(),
    "lines": lambda: TSKCommittee(2, TSKRegressor(max_iter=20), random_state=0).fit(X, X[:, 0] - X[:, 1]),
}


@pytest.fixture
def saved_and_loaded(tmp_path):
    def save_and_load(model):
        save(model, tmp_path / "model.takagi")
        return load(tmp_path / "model.takagi")

    return save_and_load


@pytest.mark.parametrize("make", COMMITTEES.values(), ids=COMMITTEES)
def test_a_loaded_committee_is_the_saved_one(make, saved_and_loaded):
    model = make()
    loaded = saved_and_loaded(model)
    rows = NAMED if hasattr(model, "feature_names_in_") else X
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert (loaded.memory_ is None) == (model.memory_ is None)
    np.testing.assert_array_equal(loaded.oof_prediction_, model.oof_prediction_)
    np.testing.assert_array_equal(loaded.oof_rmse_, model.oof_rmse_)
    for kept, member in zip(loaded.estimators_, model.estimators_, strict=True):
        assert kept.rule_base_ == member.rule_base_
        assert kept.stopped_ == member.stopped_
    assert encode_model(loaded) == encode_model(model)


def test_a_loaded_committee_can_be_fitted_again(saved_and_loaded):
    model = COMMITTEES["plain"]()
    np.testing.assert_array_equal(saved_and_loaded(model).fit(X, Y).predict(X), model.predict(X))


def test_a_committee_with_default_estimator_keeps_it(saved_and_loaded):
    model = TSKCommittee(2, small(), random_state=0).fit(X, Y)
    model.estimator = None
    assert saved_and_loaded(model).estimator is None


def test_a_pipeline_that_ends_in_a_committee(saved_and_loaded):
    model = make_pipeline(TableEncoder(), StandardScaler(), TSKCommittee(3, small(), random_state=0)).fit(FRAME, Y)
    loaded = saved_and_loaded(model)
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    assert loaded[-1].n_features_in_ == model[-1].n_features_in_


@pytest.fixture(scope="module")
def document():
    return json.dumps(encode_model(COMMITTEES["names"]()))


def rename(document):
    document["members"][1]["feature_names"] = ["speed", "weight"]


EDITS = {
    "no members": (lambda d: d.update(members=[]), "model.members must be a list of at least 2 members"),
    "one member": (lambda d: d["members"].pop(), "model.members must be a list of at least 2 members, got a list of 1"),
    "other names": (rename, "model.members must be members with the same features and outputs"),
    "a committee inside": (lambda d: d["members"][0].update({"class": "TSKCommittee"}), r"members\[0\].class must be"),
    "null inside": (lambda d: d.update(members=[None, None]), r"members\[0\] must be an object"),
    "estimator": (lambda d: d["estimator"].update(n_rules=0), "model.estimator is refused: .*n_rules"),
    "parameter": (lambda d: d["parameters"].update(n_members=1), "model.parameters is refused: .*n_members"),
    "hidden estimator": (lambda d: d["parameters"].update(estimator=3), "model.parameters is refused: .*estimator"),
    "errors": (lambda d: d.update(oof_rmse=[1.0, 2.0]), r"model.oof_rmse must be a list for 1 output\(s\)"),
    "predictions": (lambda d: d.update(oof_prediction=[]), r"model.oof_prediction must be a list for 1 output\(s\)"),
    "missing": (lambda d: d.pop("oof_rmse"), "model has no field 'oof_rmse'"),
}


MEMORY_EDITS = {
    "rows": (lambda m: m["rows"].pop(), r"model.memory.rows must be an array of shape \(2, 300\)"),
    "no rows": (lambda m: m.update(rows=[[], []]), "model.memory.rows must be lists of at least one row"),
    "fewer weights": (lambda m: m["weight"].pop(), r"model.memory.weight must be an array of shape \(300,\)"),
    "a weight": (lambda m: m["weight"].__setitem__(3, -1.0), "model.memory.weight must be numbers above 0"),
    "errors": (lambda m: m["errors"][0].pop(), "model.memory.errors must have lists of equal lengths"),
    "widths": (lambda m: m["widths"][0][1].__setitem__(0, 0.0), "model.memory.widths must be numbers above 0"),
    "damping": (lambda m: m["damping"].pop(), r"model.memory.damping must be an array of shape \(2, 2\)"),
    "text": (lambda m: m["weight"].__setitem__(3, "a"), r"model.memory.weight\[3\] must be a finite number"),
    "missing": (lambda m: m.pop("weight"), "model.memory has no field 'weight'"),
}


@pytest.mark.parametrize(("edit", "message"), MEMORY_EDITS.values(), ids=MEMORY_EDITS)
def test_an_edited_memory_is_refused(edit, message):
    edited = json.loads(json.dumps(encode_model(remembering())))
    edit(edited["memory"])
    with pytest.raises(ModelFileError, match=message):
        decode_model(Node(edited, "model"))


@pytest.mark.parametrize(("edit", "message"), EDITS.values(), ids=EDITS)
def test_an_edited_committee_is_refused(edit, message, document):
    edited = json.loads(document)
    decode_model(Node(edited, "model"))
    edit(edited)
    with pytest.raises(ModelFileError, match=message):
        decode_model(Node(edited, "model"))
