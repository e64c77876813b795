"""Prediction intervals of regressors, committees and pipelines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TableEncoder, TSKCommittee, TSKRegressor, calibrate, predict_interval
from takagi.fitting import Rows, cross_validate
from takagi.rulemodel import RuleModel

QUICK = {"n_rules": 4, "max_iter": 300, "random_state": 0}


def draw(n_rows, seed):
    """Return rows whose noise is ten times larger to the right than to the left."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 2))
    return X, 3 * X[:, 0] * X[:, 1] + X[:, 1] + np.where(X[:, 0] > 0, 0.5, 0.05) * rng.normal(size=n_rows)


X, Y = draw(300, seed=1)
X_NEW, Y_NEW = draw(2_000, seed=2)
MODELS = {
    "accurate": TSKRegressor(**QUICK, n_teachers=0),
    "droprule": TSKRegressor(recipe="droprule", **QUICK),
    "ridge": TSKRegressor(random_state=0, max_iter=200, n_teachers=0),
    "short": TSKRegressor(2, recipe="short", random_state=0),
    "committee": TSKCommittee(4, TSKRegressor(4, max_iter=300), random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    fitted = clone(MODELS[request.param]).fit(X, Y)
    return fitted.calibrate(X, Y, cv=3) if request.param == "short" else fitted


@pytest.fixture
def regressor():
    return clone(MODELS["droprule"]).fit(X, Y)


def measure_coverage(intervals, y):
    return np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


def test_intervals_hold_about_as_much_as_wanted(model):
    for coverage in (0.5, 0.8, 0.9):
        chance = 2.5 * np.sqrt(coverage * (1 - coverage) / model.calibration_.n_rows)
        found = measure_coverage(model.predict_interval(X_NEW, coverage), Y_NEW)
        assert coverage - chance - 0.02 < found < coverage + chance + 0.05  # errors of pilots and folds are too large


def test_intervals_are_nested_and_centered_at_the_prediction(model):
    narrow, wide = model.predict_interval(X_NEW, 0.5), model.predict_interval(X_NEW, 0.9)
    assert narrow.shape == (len(X_NEW), 2)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    np.testing.assert_allclose(wide.mean(axis=1), model.predict(X_NEW))


def test_the_standard_deviation_is_that_of_the_errors(model):
    mean, deviation = model.predict(X_NEW, return_std=True)
    np.testing.assert_allclose(mean, model.predict(X_NEW))
    assert deviation.shape == mean.shape
    assert np.sqrt(np.mean(((Y_NEW - mean) / deviation) ** 2)) == pytest.approx(1, abs=0.35)


def test_intervals_are_wider_where_there_is_more_noise():
    fitted = TSKRegressor(8, recipe="droprule", max_iter=3_000, random_state=0).fit(X, Y)
    width = np.ptp(fitted.calibrate(*draw(500, seed=5)).predict_interval(X_NEW), axis=1)
    assert np.median(width[X_NEW[:, 0] > 0.3]) > 2 * np.median(width[X_NEW[:, 0] < -0.3])


def test_rows_that_were_given_later_take_the_place_of_held_out_ones(regressor):
    assert regressor.calibration_.source == "held out"
    assert regressor.calibrate(X_NEW, Y_NEW) is regressor
    assert (regressor.calibration_.source, regressor.calibration_.n_rows) == ("given", len(X_NEW))
    fresh = draw(3_000, seed=3)
    assert abs(measure_coverage(regressor.predict_interval(fresh[0]), fresh[1]) - 0.9) < 0.025


def test_calibration_does_not_change_the_rules(regressor):
    before = regressor.predict(X_NEW)
    regressor.calibrate(X, Y, cv=2)
    np.testing.assert_array_equal(regressor.predict(X_NEW), before)
    assert (regressor.calibration_.source, regressor.calibration_.n_rows) == ("folds", len(X))


def test_a_fit_without_rows_held_out_says_how_to_calibrate():
    fitted = TSKRegressor(3, l2=0.01, smoothness=0.0, max_iter=100, n_teachers=0, random_state=0).fit(X, Y)
    assert fitted.calibration_ is None
    for call in (fitted.predict_interval, lambda rows: fitted.predict(rows, return_std=True)):
        with pytest.raises(ValueError, match=r"calibrate\(X, y\) with held-out rows, or calibrate\(X, y, cv=5\)"):
            call(X)
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        fitted.model_.predict_interval(X)


def test_a_new_fit_forgets_the_calibration():
    fitted = TSKRegressor(3, l2=0.01, smoothness=0.0, max_iter=100, n_teachers=0, random_state=0).fit(X, Y)
    assert fitted.calibrate(X_NEW, Y_NEW).calibration_ is not None
    assert fitted.fit(X, Y).calibration_ is None


def test_several_targets_have_intervals_of_their_own():
    both = np.column_stack([Y, 1_000 * Y])
    fitted = clone(MODELS["droprule"]).fit(X, both)
    intervals = fitted.predict_interval(X_NEW)
    assert intervals.shape == (len(X_NEW), 2, 2)
    for k, targets in enumerate((Y_NEW, 1_000 * Y_NEW)):
        assert abs(measure_coverage(intervals[:, k], targets) - 0.9) < 0.1
    one = clone(MODELS["droprule"]).fit(X, Y[:, None])
    assert one.predict_interval(X_NEW).shape == (len(X_NEW), 1, 2)
    assert one.predict(X_NEW, return_std=True)[1].shape == (len(X_NEW), 1)


def test_pipelines_are_taken_by_functions():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(kind=np.where(X[:, 1] > 0, "up", "down"))
    pipeline = make_pipeline(TableEncoder(), StandardScaler(), clone(MODELS["droprule"])).fit(frame, Y)
    intervals = predict_interval(pipeline, frame, 0.8)
    np.testing.assert_array_equal(intervals, pipeline[-1].predict_interval(pipeline[:-1].transform(frame), 0.8))
    assert calibrate(pipeline, frame, Y, cv=2) is pipeline
    assert pipeline[-1].calibration_.source == "folds"
    assert predict_interval(pipeline[-1].model_, pipeline[:-1].transform(frame)).shape == (len(frame), 2)


@pytest.mark.parametrize(
    "other", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression()), TSKRegressor]
)
def test_other_models_are_refused(other):
    with pytest.raises(TypeError, match="model must be a fitted TSKRegressor"):
        predict_interval(other, X)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_rows_that_are_not_finite_are_refused_as_in_predict(regressor, bad):
    rows = X[:2].copy()
    rows[1, 0] = bad
    with pytest.raises(ValueError, match="X contains"):
        regressor.predict_interval(rows)
    with pytest.raises(ValueError, match="X contains"):
        regressor.calibrate(rows, Y[:2])


@pytest.mark.parametrize("cv", [1, 0, 301, 2.5, True, "3"])
def test_a_number_of_folds_that_is_none_is_refused(regressor, cv):
    with pytest.raises(ValueError, match="cv must be a number of folds from 2 to 300"):
        regressor.calibrate(X, Y, cv=cv)


def test_targets_must_be_as_many_as_the_model_has(regressor):
    with pytest.raises(ValueError, match=r"y must have 1 target\(s\), like the model, got 2"):
        regressor.calibrate(X, np.column_stack([Y, Y]))


def test_too_few_rows_are_told_when_an_interval_is_asked_for(regressor):
    regressor.calibrate(X[:8], Y[:8])
    assert regressor.predict_interval(X, 0.8).shape == (300, 2)
    with pytest.raises(ValueError, match="at least 9 held-out rows"):
        regressor.predict_interval(X, 0.9)


def test_rows_without_weight_do_not_calibrate(regressor):
    weight = np.repeat([1.0, 0.0], 150)
    some = clone(regressor).fit(X, Y).calibrate(X[:150], Y[:150]).calibration_
    assert regressor.calibrate(X, Y, weight).calibration_ == some
    with pytest.raises(ValueError, match=r"one non-zero|weight"):
        regressor.calibrate(X, Y, np.zeros(300))


def test_a_row_too_heavy_to_be_held_out_does_not_calibrate():
    weight = np.ones(300)
    weight[7] = 1e4
    assert clone(MODELS["droprule"]).fit(X, Y, weight).calibration_.n_rows == 45


def test_errors_of_folds_come_from_models_that_have_not_seen_the_row():
    rows = Rows(X, Y[:, None], np.ones(300))
    seen = []

    def fit(training):
        seen.append({tuple(row) for row in training.X})
        return RuleModel(clone(MODELS["droprule"]).fit(X[:20], Y[:20]).model_.parts)

    errors = cross_validate(rows, fit, np.random.default_rng(0), 3)
    assert [len(part) for part in seen] == [200] * 3
    assert set.intersection(*seen) == set()
    assert errors.y.shape == (300, 1)


def test_dask_rows_have_lazy_intervals(regressor):
    dask_array = pytest.importorskip("dask.array")
    lazy = regressor.predict_interval(dask_array.from_array(X, chunks=(100, 2)))
    np.testing.assert_array_equal(lazy.compute(), regressor.predict_interval(X))
