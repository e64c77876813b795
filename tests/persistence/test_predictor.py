"""Models that only predict: what they take, and what they refuse."""

import numpy as np
import pytest

from takagi import TSKCommittee, TSKRegressor, save
from takagi.persistence import load_predictor

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + np.abs(X[:, 1])
SMALL = TSKRegressor(2, max_iter=300, random_state=0)


@pytest.fixture(params=[SMALL, TSKCommittee(3, SMALL, random_state=0)], ids=["one", "committee"])
def both(request, tmp_path):
    model = request.param.fit(X, Y)
    save(model, tmp_path / "m.takagi")
    return model, load_predictor(tmp_path / "m.takagi")


def test_lists_are_taken_as_by_the_estimator(both):
    model, light = both
    np.testing.assert_allclose(light.predict(X[:5].tolist()), model.predict(X[:5]), rtol=1e-12)


def test_numbers_have_no_probabilities(both):
    with pytest.raises(AttributeError, match="predicts numbers"):
        both[1].predict_proba(X)


@pytest.mark.parametrize(
    ("rows", "message"),
    [(X[:, :2], "2 features"), ([[np.inf, 0.0, 0.0]], "infinity in column 0"), ([["a"] * 3], "float")],
)
def test_bad_rows_are_refused(both, rows, message):
    with pytest.raises(ValueError, match=message):
        both[1].predict(rows)
