"""Files of earlier versions, written by them and kept: they are loaded from now on."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from saved_models import seal

from takagi import TSKRegressor, load, save
from takagi.known import KnownRows
from takagi.persistence import ModelFileError
from takagi.scores import Score, ScoreSheet

FOLDER = Path(__file__).parents[1] / "data" / "models"


@pytest.fixture(scope="module")
def predictions():
    with np.load(FOLDER / "predictions-0.1.npz") as arrays:
        return dict(arrays)


@pytest.mark.parametrize("name", ["committee", "stream"])
def test_a_model_of_version_1_predicts_the_same(name, predictions):
    model = load(FOLDER / f"{name}-0.1.takagi")
    np.testing.assert_allclose(model.predict(predictions["X"]), predictions[name], rtol=1e-12)


def test_a_pipeline_of_version_1_predicts_the_same(predictions):
    model = load(FOLDER / "pipeline-0.1.takagi")
    rows = pd.read_csv(FOLDER / "pipeline-rows.csv")
    np.testing.assert_allclose(model.predict(rows), predictions["pipeline"], rtol=1e-12)
    assert (model[-1].recipe, model[-1].recipe_, model[-1].stages_) == ("droprule", "droprule", ())
    assert set(model[-1].history_) == {"train_loss", "val_loss"}


def test_a_stream_of_version_1_goes_on_as_if_there_had_been_no_stop(predictions):
    with np.load(FOLDER / "stream-goes-on-0.1.npz") as later:
        model = load(FOLDER / "stream-0.1.takagi").partial_fit(later["X"], later["Y"])
        np.testing.assert_allclose(model.predict(predictions["X"]), later["prediction"], rtol=1e-6)
        assert model.bounds is None


@pytest.mark.parametrize("name", ["committee", "stream", "pipeline"])
def test_a_model_of_version_1_is_saved_in_the_present_version(name, tmp_path):
    model = load(FOLDER / f"{name}-0.1.takagi")
    save(model, tmp_path / "again.takagi")
    assert b'"version":2,' in (tmp_path / "again.takagi").read_bytes()[:60]
    save(load(tmp_path / "again.takagi"), tmp_path / "once more.takagi")
    assert (tmp_path / "again.takagi").read_bytes() == (tmp_path / "once more.takagi").read_bytes()


@pytest.mark.parametrize("name", ["committee", "stream", "pipeline"])
def test_models_from_before_there_were_limits_have_none(name):
    model = load(FOLDER / f"{name}-0.1.takagi")
    last = model[-1] if name == "pipeline" else model
    members = getattr(last, "estimators_", [last])
    assert {one.extrapolation for one in (last, *members)} == {"linear"}
    assert all(one.model_.limits is None for one in members)


def test_rows_that_are_listed_with_the_scores_are_known(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = TSKRegressor(n_rules=2, max_iter=20, random_state=0).fit(X, X[:, 0])
    score = Score("this", 1.0, 0.9, 1.1, 0.5)
    model.scores_ = ScoreSheet("RMSE", "R2", "folds", 50, (score, score))
    model.known_rows_ = KnownRows.collect(X, X[:, 0])
    save(model, tmp_path / "now.takagi")
    document = json.loads((tmp_path / "now.takagi").read_bytes())
    document["scores"]["seen"] = document.pop("known_rows")
    (tmp_path / "before.takagi").write_bytes(seal(document))
    again = load(tmp_path / "before.takagi")
    assert (again.known_rows_, again.scores_) == (model.known_rows_, model.scores_)


@pytest.mark.parametrize(("hashes", "reason"), [([3, 1], "that grow"), ([-1], "at least 0"), (7, "a list")])
def test_rows_that_cannot_be_are_refused(hashes, reason, tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    save(TSKRegressor(n_rules=2, max_iter=20, random_state=0).fit(X, X[:, 0]), tmp_path / "m.takagi")
    document = json.loads((tmp_path / "m.takagi").read_bytes())
    (tmp_path / "m.takagi").write_bytes(seal({**document, "known_rows": hashes}))
    with pytest.raises(ModelFileError, match=reason):
        load(tmp_path / "m.takagi")
