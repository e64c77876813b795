"""Tables that are scaled where rows of them are taken: the same training as with a scaled copy."""

import numpy as np
import pytest

from takagi import TSKClassifier, TSKRegressor
from takagi.fitting import _rows
from takagi.training import ScaledTable


def test_rows_and_ranges_are_those_of_the_scaled_copy():
    rng = np.random.default_rng(0)
    table, mean, scale = rng.normal(size=(50, 3)), rng.normal(size=3), rng.uniform(1, 9, size=3)
    scaled, copy = ScaledTable(table, mean, scale), (table - mean) / scale
    taken = rng.integers(50, size=20)
    before = table.copy()
    np.testing.assert_array_equal(scaled[taken], copy[taken])
    np.testing.assert_array_equal(np.asarray(scaled), copy)
    np.testing.assert_array_equal(scaled.min(axis=0), copy.min(axis=0))
    np.testing.assert_array_equal(scaled.max(axis=0), copy.max(axis=0))
    assert (len(scaled), scaled.shape, scaled.ndim) == (50, (50, 3), 2)
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_rules": 4},
        {"n_rules": 4, "init": "kmeans"},
        {"n_rules": 3, "recipe": "droprule"},
        {"n_rules": 3, "projection": "antecedent", "n_projections": 2},
        {"n_rules": 4, "verbose": 1},
    ],
)
def test_a_fit_has_the_same_bits_with_and_without_a_scaled_copy(monkeypatch, settings):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=400)

    def predict():
        return TSKRegressor(**settings, max_iter=60, batch_size=32, random_state=0).fit(X, y).predict(X)

    expected = predict()
    monkeypatch.setattr(_rows, "_LARGE", 1)
    np.testing.assert_array_equal(predict(), expected)


def test_classes_have_the_same_bits_too(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "up", "down")

    def predict():
        return TSKClassifier(n_rules=4, max_iter=60, batch_size=32, random_state=0).fit(X, y).predict_proba(X)

    expected = predict()
    monkeypatch.setattr(_rows, "_LARGE", 1)
    np.testing.assert_array_equal(predict(), expected)


def test_missing_and_heavy_rows_are_copied(monkeypatch):
    monkeypatch.setattr(_rows, "_LARGE", 1)
    rows = _rows.Rows(np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [1.0], [2.0]]), np.ones(3))
    units = _rows.measure_units(rows, scales_inputs=True, scales_target=True)
    missing = rows._replace(X=np.array([[0.0], [np.nan], [2.0]]))
    heavy = _rows.Rows(*(np.repeat(part, 40, axis=0) for part in rows))
    heavy.weight[0] = 1_000.0
    assert isinstance(units.standardize_on_demand(rows).X, ScaledTable)
    assert isinstance(units.standardize_on_demand(missing).X, np.ndarray)
    assert len(units.standardize_on_demand(heavy).X) > len(heavy.X)
