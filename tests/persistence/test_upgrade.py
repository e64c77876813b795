"""Files of earlier versions, written by them and kept: they are loaded from now on."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from takagi import load, save

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
