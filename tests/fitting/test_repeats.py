import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from takagi import TSKClassifier, TSKCommitteeClassifier
from takagi.fitting import Rows, merge_equal_rows


def draw_cells(n_rows, seed=0):
    """Rows of three columns with four values each, whose log-odds are a line: many are equal, with both classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 3)).astype(float)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-(X @ [0.8, -0.5, 0.3] - 1)))
    return X, y.astype(float)


def make_rows(X, y, weight=None):
    return Rows(X, y[:, None], np.ones(len(X)) if weight is None else weight)


def test_equal_features_with_different_classes_stay_rows_of_their_own():
    X, y = draw_cells(500)
    merged, rows = (merge_equal_rows(make_rows(X, y), has_classes) for has_classes in (False, True))
    assert len(merged.X) < 150
    assert len(rows.X) == 500
    np.testing.assert_array_equal(rows.weight, 1.0)
    assert sorted(map(tuple, np.hstack([rows.X, rows.y]))) == sorted(map(tuple, np.column_stack([X, y])))


def test_few_combinations_of_values_stay_rows_of_their_own_also_with_one_class_each():
    X = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0, 2.0])).reshape(3, -1).T
    count = np.random.default_rng(0).integers(5, 40, len(X))
    X, y = np.repeat(X, count, axis=0), np.repeat(X[:, 0], count)
    assert len(merge_equal_rows(make_rows(X, y), has_classes=True).X) == count.sum()
    said, line = TSKClassifier(random_state=0).fit(X, y), LogisticRegression().fit(X, y)
    losses = [log_loss(y, model.predict_proba(X)) for model in (said, line)]
    assert losses[0] < 1.02 * losses[1]


def test_weights_do_not_make_copies_of_rows_of_measurements():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 2)), rng.integers(0, 2, 60).astype(float), rng.integers(1, 9, 60).astype(float)
    assert len(merge_equal_rows(make_rows(X, y, weight), has_classes=True).X) == 60


def test_copies_are_merged():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50).astype(float)
    rows = merge_equal_rows(make_rows(np.repeat(X, 3, axis=0), np.repeat(y, 3)), has_classes=True)
    assert len(rows.X) == 50
    np.testing.assert_array_equal(rows.weight, 3.0)


@pytest.mark.parametrize("factor", [1.0, 0.37])
def test_weights_are_repeats_whatever_their_unit(factor):
    X, y = draw_cells(200)
    count = np.random.default_rng(1).integers(0, 5, 200)
    weighted = merge_equal_rows(make_rows(X, y, factor * count), has_classes=True)
    repeated = merge_equal_rows(make_rows(np.repeat(X, count, axis=0), np.repeat(y, count)), has_classes=True)
    np.testing.assert_array_equal(weighted.X, repeated.X)
    np.testing.assert_allclose(weighted.weight, factor)


def test_weights_of_classes_keep_repeats_apart_and_weights_of_any_size_do_not():
    X, y = draw_cells(200)
    assert len(merge_equal_rows(make_rows(X, y, np.where(y == 1, 2.7, 0.61)), has_classes=True).X) == 200
    weight = np.random.default_rng(0).uniform(0.1, 3, 200)
    rows = merge_equal_rows(make_rows(X, y, weight), has_classes=True)
    assert len(rows.X) == len(merge_equal_rows(make_rows(X, y)).X)
    assert rows.weight.sum() == pytest.approx(weight.sum())


def draw_opinions(n_rows, seed=0):
    """Rows of three columns with four values each, a column for each value, and four classes."""
    rng = np.random.default_rng(seed)
    values = rng.choice(4, p=[0.5, 0.3, 0.15, 0.05], size=(n_rows, 3))
    logits = values @ np.array([[0.0, 0.3, 0.5, 0.3], [0.0, 0.2, 0.1, 0.4], [0.0, -0.2, 0.3, 0.6]]) - [0, 0, 0.5, 1]
    y = (logits + rng.gumbel(size=(n_rows, 4))).argmax(axis=1)
    return np.eye(4)[values].reshape(n_rows, 12), y


@pytest.mark.parametrize("make", [TSKClassifier, TSKCommitteeClassifier])
def test_tables_of_categories_are_told_as_well_as_by_logistic_regression(make):
    X, y = draw_opinions(1000)
    X_test, y_test = draw_opinions(4000, seed=1)
    said, line = make(random_state=0).fit(X, y), LogisticRegression().fit(X, y)
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (said, line)]
    assert losses[0] < 1.01 * losses[1]
