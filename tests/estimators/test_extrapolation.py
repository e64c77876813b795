"""What estimators say far beyond their data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from takagi import ExtrapolationWarning, TableEncoder, TSKCommittee, TSKRegressor
from takagi.inspection import find_outside


def find_limits(*tables):
    rows = np.vstack(tables)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.column_stack([low - (high - low), high + (high - low)])


SMALL = {"n_rules": 3, "recipe": "droprule", "max_iter": 60, "random_state": 0}
rng = np.random.default_rng(0)
X = np.column_stack([rng.uniform(2, 5, 120), rng.normal(size=120), np.full(120, 3.0)])
y = X[:, 0] * X[:, 1] + X[:, 0]
FAR = np.vstack([X[:5], 30 * rng.normal(size=(25, 3)), [[1e300, 0.0, 3.0]], [[-1e300, 1e300, -1e300]]])
LIMITS = find_limits(X)

MODELS = {
    "rules": TSKRegressor(**SMALL),
    "projections": TSKRegressor(**SMALL, projection="separate"),
    "short rules": TSKRegressor(2, max_conditions=1, max_terms=2, random_state=0),
    "ridge": TSKRegressor(max_iter=20, random_state=0),
    "committee": TSKCommittee(3, TSKRegressor(n_rules=2, recipe="droprule", max_iter=60), random_state=0),
}


@pytest.fixture(scope="module")
def fitted():
    line = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=120)  # one without noise is not held
    return {name: clone(model).fit(X, line if name == "ridge" else y) for name, model in MODELS.items()}


def rules_of(model):
    return getattr(model, "estimators_", [model])[0].model_


def predict(model, rows):
    """Predict without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        return model.predict(rows)


@pytest.mark.parametrize("name", MODELS)
def test_far_values_are_taken_for_a_limit_one_range_beyond_the_data(fitted, name):
    model = fitted[name]
    np.testing.assert_array_equal(rules_of(model).limits, LIMITS)
    held = np.clip(FAR, *LIMITS.T)
    prediction = predict(model, FAR)
    assert np.isfinite(prediction).all()
    np.testing.assert_array_equal(prediction, model.predict(held))
    np.testing.assert_array_equal(model.firing_share(FAR), model.firing_share(held))


def test_ridge_regression_is_held_too(fitted):
    assert fitted["ridge"].stopped_ == "ridge"


@pytest.mark.parametrize("name", ["rules", "committee"])
def test_linear_rules_go_on_and_are_the_same_near_the_data(fitted, name):
    linear = clone(MODELS[name]).set_params(extrapolation="linear").fit(X, y)
    assert rules_of(linear).limits is None
    near = X + 0.5 * np.ptp(X, axis=0)
    np.testing.assert_array_equal(linear.predict(near), fitted[name].predict(near))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = linear.predict(FAR[:-2])
    assert np.abs(far - predict(fitted[name], FAR[:-2])).max() > 10


def test_a_committee_does_as_its_estimator_unless_told_otherwise():
    member = TSKRegressor(n_rules=2, recipe="droprule", max_iter=5, extrapolation="linear")
    for extrapolation, is_held in ((None, False), ("hold", True), ("linear", False)):
        model = TSKCommittee(2, member, extrapolation=extrapolation, random_state=0).fit(X, y)
        assert all((one.model_.limits is not None) == is_held for one in model.estimators_)
        assert {one.extrapolation for one in model.estimators_} == {"hold" if is_held else "linear"}


def test_a_memory_is_asked_about_held_rows():
    many = np.random.default_rng(2).uniform(X.min(axis=0), X.max(axis=0), (400, 3))
    rough = np.sign(np.sin(12 * many[:, 0])) + 0.1 * many[:, 1]
    model = TSKCommittee(2, TSKRegressor(n_rules=1, recipe="droprule", max_iter=20), random_state=0).fit(many, rough)
    assert model.memory_ is not None
    np.testing.assert_array_equal(predict(model, FAR), model.predict(np.clip(FAR, *find_limits(many).T)))


# -- the warning -------------------------------------------------------------------------------------------------------


def test_a_call_warns_once_with_counts_and_points_at_the_callers_line(fitted):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = TSKRegressor(**SMALL).fit(table, y)
    table.loc[[3, 7], "a"] = [80.0, -60.0]
    table.loc[7, "c"] = 3.5
    with pytest.warns(ExtrapolationWarning) as caught:
        model.predict(table)
    (warning,) = caught
    assert warning.filename == __file__
    text = str(warning.message)
    assert text.startswith("Values far beyond the training data are held at a limit in 2 of 120 rows: a at -0.9")
    assert "(2 rows), c at 3 (1 row). takagi.inspection.find_outside(model, X) lists" in text


def test_a_pipeline_points_at_the_callers_line_and_names_no_scaled_numbers():
    model = make_pipeline(StandardScaler(), TSKRegressor(**SMALL)).fit(X, y)
    with pytest.warns(ExtrapolationWarning, match=r"in 1 of 1 row: x0 \(1 row\)\. takagi") as caught:
        model.predict([[80.0, 0.0, 3.0]])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", MODELS)
def test_near_rows_bring_no_warning(fitted, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted[name].predict(np.clip(FAR, *LIMITS.T))


def test_infinity_is_refused_as_before_and_what_is_missing_is_not_held(fitted):
    with pytest.raises(ValueError, match="X contains infinity in column 0"):
        fitted["rules"].predict([[np.inf, 0.0, 3.0]])
    assert np.isfinite(fitted["rules"].predict([[np.nan, 0.0, 3.0]])).all()


@pytest.mark.parametrize("model", [TSKRegressor(extrapolation="held"), TSKCommittee(2, extrapolation="held")])
def test_an_unknown_extrapolation_is_an_error(model):
    with pytest.raises(
        ValueError, match=r"extrapolation 'held' is unknown, did you mean 'hold'\? Choose from 'hold', "
    ):
        model.fit(X, y)
    with pytest.raises(ValueError, match="extrapolation"):
        clone(model).set_params(extrapolation=3).fit(X, y)


# -- pipelines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [(StandardScaler(),), (MinMaxScaler(), StandardScaler()), (PCA(2),)])
def test_limits_are_in_the_units_of_the_last_step(steps):
    model = make_pipeline(*map(clone, steps), TSKRegressor(**SMALL)).fit(X, y)
    np.testing.assert_array_equal(model[-1].model_.limits, find_limits(model[:-1].transform(X)))


def test_a_table_is_held_after_its_encoding():
    table = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "new", "old")})
    model = make_pipeline(TableEncoder(), TSKRegressor(**SMALL)).fit(table, y)
    far = pd.DataFrame({"size": [1e6, LIMITS[0, 1]], "kind": ["new", "new"]})
    prediction = predict(model, far)
    assert prediction[0] == prediction[1]


# -- training goes on --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:All values of")  # few rows, of which all may lie beyond those before
def test_a_stream_holds_beyond_what_it_has_seen_so_far():
    model = TSKRegressor(n_rules=2, recipe="droprule", batch_size=16, random_state=0)
    seen = []
    for scale in (1.0, 0.5, 3.0, 2.0):
        seen.append(scale * X)
        model.partial_fit(seen[-1], y)
        np.testing.assert_array_equal(model.model_.limits, find_limits(*seen))


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_limits_do_not_narrow_when_training_goes_on(fitted):
    wide = clone(fitted["rules"]).set_params(warm_start=True, max_iter=5).fit(3 * X, y)
    before = wide.model_.limits
    wide.fit(X, y)
    np.testing.assert_array_equal(wide.model_.limits[:, 0], np.minimum(before[:, 0], LIMITS[:, 0]))
    np.testing.assert_array_equal(wide.model_.limits[:, 1], np.maximum(before[:, 1], LIMITS[:, 1]))
    limits = wide.model_.limits
    wide.partial_fit(X, y)
    np.testing.assert_array_equal(wide.model_.limits, limits)
    wide.set_params(warm_start=False).fit(X, y)
    np.testing.assert_array_equal(wide.model_.limits, LIMITS)


def test_rules_without_limits_may_get_them_when_training_goes_on():
    model = TSKRegressor(**SMALL, warm_start=True, extrapolation="linear").fit(3 * X, y)
    model.set_params(extrapolation="hold", max_iter=5).fit(X, y)
    np.testing.assert_array_equal(model.model_.limits, LIMITS)
    model.set_params(extrapolation="linear").fit(X, y)
    assert model.model_.limits is None


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_validation_rows_belong_to_the_data():
    model = TSKRegressor(**SMALL).fit(X, y, X_val=3 * X[:20], y_val=y[:20])
    np.testing.assert_array_equal(model.model_.limits, find_limits(X, 3 * X[:20]))


def test_far_rows_of_a_dask_collection_are_held():
    dask_array = pytest.importorskip("dask.array")
    model = TSKRegressor(**SMALL).fit(X, y)
    lazy = model.predict(dask_array.from_array(FAR, chunks=(10, 3)))
    with pytest.warns(ExtrapolationWarning):
        prediction = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(prediction, predict(model, FAR))


def test_find_outside_agrees_with_what_is_held(fitted):
    table = find_outside(fitted["rules"], FAR)
    held = np.clip(FAR, *LIMITS.T)
    changed = table[table["value"] != table["counts_as"]]
    features = changed["column"].str.removeprefix("x").astype(int)
    assert len(changed) == (held != FAR).sum()
    np.testing.assert_array_equal(changed["counts_as"], held[changed["row"], features])
