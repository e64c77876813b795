"""Logistic regression as one rule."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from takagi.fitting import Rows
from takagi.fitting._logistic import choose_penalty, find_logits, fit_logistic, level, prefer_usual, sharpen
from takagi.rulemodel import RuleModel


def iris(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes][:, :2], y[y < n_classes]
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    target = (y == 1)[:, None].astype(float) if n_classes == 2 else np.eye(n_classes)[y]
    return X, y, Rows(X, target, np.ones(len(X)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalty", [0.5, 10.0])
def test_it_is_scikit_learns(n_classes, penalty):
    X, y, rows = iris(n_classes)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = LogisticRegression(C=1 / penalty, tol=1e-8).fit(scaled, y).predict_proba(scaled)
    found = fit_logistic(rows, penalty=penalty)
    np.testing.assert_allclose(found.predict(X), expected[:, 1] if n_classes == 2 else expected, atol=2e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_copies_and_without_slopes_there_are_frequencies(n_classes):
    X, _, rows = iris(n_classes)
    weight = 1.0 + (X[:, 0] > 5.5)
    copies = np.repeat(np.arange(len(X)), weight.astype(int))
    one = fit_logistic(rows._replace(weight=weight / weight.mean()), penalty=1.0)
    other = fit_logistic(rows.take(copies), penalty=len(copies) / len(X))  # of the loss of all copies
    np.testing.assert_allclose(one.predict_raw(X), other.predict_raw(X), atol=0.01)
    flat = fit_logistic(rows, slopes=0.0).predict_raw(X)
    np.testing.assert_allclose(flat, np.broadcast_to(find_logits(rows.y, rows.weight), flat.shape), atol=1e-12)


@pytest.mark.slow
def test_noise_is_penalized_more_than_a_clear_line():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    noise, line = rng.random(300) < 0.5, rng.random(300) < expit(3 * X[:, 0])
    found = [choose_penalty(Rows(X, y[:, None].astype(float), np.ones(300))) for y in (noise, line)]
    assert found[0] > 10 * found[1]


@pytest.mark.parametrize(
    ("known", "expected"), [((10.0, 3.0, 1.0), 3.0), ((0.1, 0.3, 1.0), 0.3), ((1.0, 0.1, 10.0), 1.0)]
)
def test_penalty_is_the_one_nearest_to_the_usual_one_that_is_not_clearly_worse(known, expected):
    noise = np.random.default_rng(0).normal(size=100)
    best, as_good, worse = 1 + 0.1 * noise, 1.001 + 0.1 * noise[::-1], 1.1 + 0.1 * noise
    assert prefer_usual(dict(zip(known, (best, as_good, worse), strict=True)), np.ones(100)) == expected


def test_weak_penalty_is_found_though_those_around_the_usual_one_are_worse_than_strong_ones():
    rng = np.random.default_rng(0)
    base, little = rng.normal(size=(2, 80))
    X = np.column_stack([base, base + 0.05 * little, rng.normal(size=(80, 12))])
    assert choose_penalty(Rows(X, (little > 0)[:, None].astype(float), np.ones(80))) == 0.01


def test_classes_that_are_absent_or_separable_have_finite_logits():
    X = np.linspace(-1, 1, 20)[:, None]
    target = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0, np.zeros(20)]).astype(float)
    outputs = fit_logistic(Rows(X, target, np.ones(20)), penalty=0.01).predict_raw(X)
    assert np.isfinite(outputs).all()
    assert np.abs(outputs).max() < 100
    assert choose_penalty(Rows(X[:4], target[:4], np.ones(4))) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_missing_values_that_tell_the_class_count_as_a_number_that_does(n_classes):
    X, y, rows = iris(n_classes)
    X = np.random.default_rng(0).normal(5.0, 2.0, size=X.shape)  # says nothing, but for what is missing
    X[y == 1, 1] = np.nan
    line = fit_logistic(rows._replace(X=X))
    chance = line.predict(X) if n_classes == 2 else line.predict(X)[:, 1]
    assert chance[y == 1].min() > 0.8
    assert chance[y != 1].max() < 0.5


def test_missing_values_that_say_nothing_count_as_about_the_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, size=(500, 2))
    y = rng.random((500, 1)) < expit(X[:, :1] - 5)
    X[rng.random(500) < 0.3, 0] = np.nan
    line = fit_logistic(Rows(X, y.astype(float), np.ones(500)))
    assert line.usual[0] == pytest.approx([5.0, 5.0], abs=0.5)


def test_logits_of_rules_are_those_of_the_rows_that_they_govern():
    y, share = np.array([[1.0], [1.0], [0.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(find_logits(y, share), [[np.log(3)], [-np.log(2)]])
    both = find_logits(np.column_stack([y, 1 - y]), share)
    np.testing.assert_allclose(both.sum(axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(both[:, 0] - both[:, 1], [np.log(3), -np.log(2)])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_level_model_has_the_frequencies_of_classes_as_its_mean_probabilities(n_classes):
    X, _, rows = iris(n_classes)
    rows = rows.take(np.flatnonzero((rows.y[:, 0] == 0) | (X[:, 1] > 3.2)))  # classes of unequal size
    line = RuleModel((sharpen(fit_logistic(rows), 0.5),))
    before, after = (rows.weight @ model.predict(rows.X) / rows.weight.sum() for model in (line, level(line, rows)))
    wanted = np.squeeze(rows.weight @ rows.y / rows.weight.sum())
    assert np.abs(before - wanted).max() > 1e-3
    np.testing.assert_allclose(after, wanted, atol=1e-6)
    moved = level(line, rows).predict_raw(rows.X) - line.predict_raw(rows.X)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-12)


def test_a_class_without_rows_leaves_the_level_as_it_is():
    *_, rows = iris(3)
    line = RuleModel((fit_logistic(rows),))
    assert level(line, rows.take(np.flatnonzero(rows.y[:, 0] == 0))) is line
