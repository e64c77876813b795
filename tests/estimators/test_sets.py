"""Prediction sets: coverage, files, and what bad input gets."""

import numpy as np
import pytest

from takagi import ModelFileError, TSKClassifier, load, save


def rings(n_rows, seed):
    """Three classes by the distance from the middle, a tenth of them by chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    y = np.digitize(np.hypot(*X.T), [0.8, 1.5])
    return X, np.where(rng.random(n_rows) < 0.1, rng.integers(3, size=n_rows), y)


@pytest.fixture
def model():
    return TSKClassifier(n_rules=6, max_iter=300, n_teachers=0, random_state=0).fit(*rings(300, 0))


@pytest.mark.parametrize("coverage", [0.6, 0.9, 0.97])
def test_sets_hold_the_class_of_new_rows_as_often_as_they_say(model, coverage):
    X, y = rings(4000, 2)
    sets = model.calibrate(*rings(2000, 1)).predict_set(X, coverage)
    assert (sets.shape, sets.dtype) == ((4000, 3), bool)
    assert sets[np.arange(4000), y].mean() == pytest.approx(coverage, abs=0.025)


def test_sets_of_two_classes_grow_with_the_coverage():
    X, y = rings(600, 0)
    model = TSKClassifier(n_rules=6, max_iter=300, n_teachers=0, random_state=0).fit(X[:300], y[:300] == 2)
    small, large = (model.calibrate(X[300:], y[300:] == 2).predict_set(X, level) for level in (0.5, 0.99))
    assert small.shape == (600, 2)
    assert (small <= large).all()
    assert large.sum() > small.sum()


def test_files_keep_the_calibration_and_a_fit_forgets_it(model, tmp_path):
    X, y = rings(300, 0)
    save(model.calibrate(*rings(100, 1)), tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict_set(X), model.predict_set(X))
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        model.fit(X, y).predict_set(X)


def test_scores_of_a_file_are_sorted_probabilities(model, tmp_path):
    model.calibrate(*rings(100, 1)).set_scores_[0] = 2.0
    save(model, tmp_path / "model.json")
    with pytest.raises(ModelFileError, match="numbers from 0 to 1, sorted"):
        load(tmp_path / "model.json")


def test_bad_input_is_refused(model):
    X, y = rings(8, 1)
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="need at least 9 held-out rows, but the calibration has 8"):
        model.calibrate(X, y).predict_set(X)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        model.predict_set(X, 1.0)
    with pytest.raises(ValueError, match="labels that are not among the classes of the model: 7"):
        model.calibrate(X, y + 7)
