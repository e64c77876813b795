"""Estimators on tables with missing values."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import takagi
from takagi import TSKClassifier, TSKCommittee, TSKRegressor
from takagi.experiments import paper_algorithm
from takagi.inspection import explain_local

FEW = {"max_iter": 150, "n_teachers": 0, "random_state": 0}


def make_table(n_rows=300, rate=0.2, seed=0):
    """A table of four columns, the last of which is never missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] * X[:, 1] + X[:, 3] + 0.1 * rng.normal(size=n_rows)
    X[:, :3][rng.random((n_rows, 3)) < rate] = np.nan
    return X, y


MODELS = {
    "accurate": TSKRegressor(**FEW),
    "teachers": TSKRegressor(8, max_iter=100, n_teachers=2, random_state=0),
    "droprule": TSKRegressor(8, recipe="droprule", **FEW),
    "short": TSKRegressor(recipe="short", random_state=0),
    "projections": TSKRegressor(6, projection="separate", **FEW),
    "grid": TSKRegressor(16, init=takagi.initializers.GridInitializer(n_sets=2), **FEW),
    "committee": TSKCommittee(2, TSKRegressor(8, **FEW), random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_learn_predict_and_are_saved(name, tmp_path):
    X, y = make_table()
    model = clone(MODELS[name]).fit(X[:250], y[:250])
    assert model.score(X[250:], y[250:]) > 0.3
    assert np.isfinite(model.predict(np.full((1, 4), np.nan))).all()
    takagi.save(model, tmp_path / "model.takagi")
    loaded = takagi.load(tmp_path / "model.takagi")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    explained = explain_local(model, X[:20])
    total = explained.base + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(total, explained.prediction, atol=1e-9)
    np.testing.assert_allclose(explained.prediction[:, 0], model.predict(X[:20]), atol=1e-9)


def test_rules_know_what_is_usual_where_values_were_missing():
    X, y = make_table()
    usual = TSKRegressor(8, recipe="droprule", **FEW).fit(X, y).rule_base_.usual
    assert np.isnan(usual[:, 3]).all()
    assert (usual[:, :3] >= np.nanmin(X, axis=0)[:3]).all()
    assert (usual[:, :3] <= np.nanmax(X, axis=0)[:3]).all()
    assert TSKRegressor(8, recipe="droprule", **FEW).fit(np.nan_to_num(X), y).rule_base_.usual is None


@pytest.mark.parametrize("recipe", ["droprule", "accurate", "short"])
def test_a_few_missing_cells_are_no_trouble(recipe):
    X, y = make_table(120, rate=0.0)
    X[5, 1] = X[17, 2] = np.nan
    assert np.isfinite(TSKRegressor(recipe=recipe, **FEW).fit(X, y).predict(X)).all()


def test_missing_values_that_training_did_not_have_count_as_the_mean():
    X, y = make_table(rate=0.0)
    model = TSKRegressor(8, recipe="droprule", **FEW).fit(X, y)
    rows = X[:5].copy()
    rows[:, 1] = np.nan
    filled = rows.copy()
    filled[:, 1] = model.rule_base_.profile.mean[1]
    np.testing.assert_array_equal(model.predict(rows), model.predict(filled))


def test_a_weight_of_two_equals_two_copies_of_a_row_with_missing_values():
    X, y = make_table(100)
    weight = np.where(np.isnan(X).any(axis=1), 2.0, 1.0)
    copies = np.repeat(np.arange(100), weight.astype(int))
    model = TSKRegressor(6, recipe="droprule", **FEW)
    one, two = clone(model).fit(X, y, weight), clone(model).fit(X[copies], y[copies])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_held_out_rows_may_miss_what_training_rows_have():
    X, y = make_table()
    model = TSKRegressor(6, recipe="droprule", **FEW).fit(np.nan_to_num(X[:200]), y[:200], X_val=X[200:], y_val=y[200:])
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.filterwarnings("ignore:No split")
@pytest.mark.parametrize("recipe", ["droprule", "accurate", "short"])
def test_classes_are_learned_from_rows_with_missing_values(recipe):
    X, y = make_table()
    model = TSKClassifier(recipe=recipe, **FEW).fit(X[:250], y[:250] > 0)
    assert model.score(X[250:], y[250:] > 0) > 0.65
    assert np.isfinite(model.predict_proba(np.full((1, 4), np.nan))).all()


def test_a_stream_takes_missing_values_for_the_mean(tmp_path):
    X, y = make_table(1200)
    model = TSKRegressor(6, random_state=0)
    for start in range(0, 1000, 250):
        model.partial_fit(X[start : start + 250], y[start : start + 250])
    assert model.score(X[1000:], y[1000:]) > 0.3
    takagi.save(model, tmp_path / "stream.takagi")
    loaded = takagi.load(tmp_path / "stream.takagi")
    for one in (model, loaded):
        one.partial_fit(X[1000:], y[1000:])
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_fit_with_missing_values_can_go_on_with_more_rows():
    X, y = make_table()
    model = TSKRegressor(6, recipe="droprule", warm_start=True, **FEW).fit(X[:200], y[:200])
    assert np.isfinite(model.fit(X[200:], y[200:]).predict(X)).all()
    updated = takagi.update(TSKRegressor(recipe="short", random_state=0).fit(X[:200], y[:200]), X[200:], y[200:])
    assert np.isfinite(updated.predict(X)).all()


def test_columns_without_values_and_infinity_are_refused():
    X, y = make_table(50)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="no value in column 1: all are missing"):
        TSKRegressor().fit(X, y)
    X[:, 1] = 0.0
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity in column 2 \(first in row 3"):
        TSKRegressor().fit(X, y)
    X[3, 2] = 0.0
    model = TSKRegressor(2, recipe="droprule", **FEW).fit(X, y)
    with pytest.raises(ValueError, match="infinity in column 0"):
        model.predict(np.where(np.arange(4) == 0, -np.inf, X[:2]))


def test_the_paper_s_algorithms_take_missing_values():
    X, y = make_table()
    model = paper_algorithm("FCM-RDpA", n_rules=4, random_state=0).set_params(max_iter=50)
    assert np.isfinite(cross_val_score(model, X, y, cv=2)).all()


def test_the_tag_says_that_values_may_be_missing():
    assert TSKRegressor().__sklearn_tags__().input_tags.allow_nan
    assert TSKCommittee().__sklearn_tags__().input_tags.allow_nan
