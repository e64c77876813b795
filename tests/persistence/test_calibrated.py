"""Calibrations in model files."""

from pathlib import Path

import numpy as np
import pytest
from saved_models import X, Y, small

from takagi import TSKCommittee, TSKRegressor, predict_interval
from takagi.persistence import ModelFileError, load, save
from takagi.persistence._codec import decode_model, encode_model
from takagi.persistence._schema import Node

OLD = Path(__file__).parents[1] / "data" / "models"


@pytest.fixture(scope="module")
def regressor():
    return small().fit(X, Y).calibrate(X, Y)


@pytest.fixture(scope="module")
def committee():
    return TSKCommittee(2, small(), random_state=1).fit(X, Y)


@pytest.mark.parametrize("kind", ["regressor", "committee", "rules"])
def test_a_loaded_model_gives_the_same_intervals(kind, request, tmp_path):
    model = request.getfixturevalue("regressor" if kind == "rules" else kind)
    model = model.model_ if kind == "rules" else model
    save(model, tmp_path / "model.takagi")
    loaded = load(tmp_path / "model.takagi")
    np.testing.assert_array_equal(predict_interval(loaded, X, 0.6), predict_interval(model, X, 0.6))


@pytest.mark.parametrize("name", ["pipeline-0.1.takagi", "committee-0.1.takagi"])
def test_files_of_before_load_and_say_how_to_calibrate(name):
    model = load(OLD / name)
    last = model[-1] if hasattr(model, "steps") else model
    assert last.calibration_ is None
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        last.predict_interval(np.zeros((1, last.n_features_in_)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": [[1.0]] * 99}, "calibration"),
        ({"scale": [[-1.0]]}, "calibration is refused"),
        ({"scores": [[2.0], [1.0]], "levels": [[0.1], [0.2]]}, "in ascending order"),
        ({"source": "guess"}, "source"),
        ({"n_rows": 0}, "n_rows"),
        ({"more": 1}, "more"),
    ],
)
@pytest.mark.parametrize("kind", ["regressor", "committee"])
def test_a_calibration_that_makes_no_sense_is_refused(kind, change, message, request):
    document = encode_model(request.getfixturevalue(kind))
    document["calibration"] = {**document["calibration"], **change}
    with pytest.raises(ModelFileError, match=message):
        decode_model(Node(document, "model"))


def test_a_model_without_calibration_has_none_in_its_file():
    model = TSKRegressor(2, l2=0.1, smoothness=0.0, max_iter=20, n_teachers=0).fit(X, Y)
    assert "calibration" not in encode_model(model)
