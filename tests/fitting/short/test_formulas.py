import numpy as np
import pytest

from takagi.fitting import Limits, Rows
from takagi.fitting._logistic import choose_penalty, fit_logistic
from takagi.fitting._ridge import fit_ridge
from takagi.fitting._short._formulas import expect_error, fit_logistic_formulas, fit_ridge_formulas
from takagi.fitting._short._likelihood import measure_log_loss

LIMITS = Limits(n_rules=3, max_conditions=2, max_terms=2, agreement=0.1)


def make_rows(n_features, n_classes=2, n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1)
    score = X[:, 0] + X[:, 1] / 2 - X[:, 2] / 3 + rng.logistic(size=n_rows)
    code = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    y = (code[:, None] == 1).astype(float) if n_classes == 2 else np.eye(n_classes)[code]
    return Rows(X, y, rng.uniform(0.5, 1.5, n_rows)).balance()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_many_slopes_as_there_are_terms_are_logistic_regression_cut_into_formulas(n_classes):
    rows = make_rows(5, n_classes)
    model, _ = fit_logistic_formulas(rows, LIMITS)
    line = fit_logistic(rows, penalty=choose_penalty(rows))
    np.testing.assert_allclose(model.predict_raw(rows.X), line.predict_raw(rows.X), atol=1e-9)
    assert model.link == line.link
    assert [part.n_rules for part in model.parts] == [1, 1, 1]
    for part in model.parts:
        assert not np.isfinite(part.widths).any()
        assert (part.consequents[0, :, 1:] != 0).any(axis=0).sum() <= 2
    for part in model.parts[1:]:
        np.testing.assert_allclose(np.average(part.predict_raw(rows.X), axis=0, weights=rows.weight), 0.0, atol=1e-9)


def test_more_columns_than_terms_leave_those_that_tell_most():
    rows = make_rows(12)
    model, _ = fit_logistic_formulas(rows, LIMITS)
    used = np.flatnonzero(np.any([(part.consequents[0, :, 1:] != 0).any(axis=0) for part in model.parts], axis=0))
    assert len(used) == 6
    assert {0, 1, 2} <= set(used)
    assert model.n_features == 12


@pytest.mark.slow
def test_the_expected_loss_is_that_of_new_rows():
    """On average over tables the loss of new rows is what their own rows let expect; these alone are too small."""
    expected, own, found = [], [], []
    for seed in range(20):
        model, loss = fit_logistic_formulas(make_rows(6, n_rows=80, seed=seed), LIMITS)
        expected.append(loss)
        own.append(measure_log_loss(model, make_rows(6, n_rows=80, seed=seed)))
        found.append(measure_log_loss(model, make_rows(6, n_rows=2000, seed=1000 + seed)))
    assert np.mean(own) < np.mean(expected)
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.06)
    assert np.mean(own) < 0.97 * np.mean(found)


def make_line(n_features, noise, n_rows=200, seed=0, n_used=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1)
    y = 3 + X[:, :n_used].sum(axis=1) + noise * rng.normal(size=n_rows)
    return Rows(X, np.column_stack([y, -y]), rng.uniform(0.5, 1.5, n_rows)).balance()


def test_ridge_regression_is_cut_into_formulas():
    rows = make_line(5, noise=1.0)
    model, _ = fit_ridge_formulas(rows, LIMITS)
    np.testing.assert_allclose(model.predict_raw(rows.X), fit_ridge(rows).predict_raw(rows.X), atol=1e-9)
    assert [part.n_rules for part in model.parts] == [1, 1, 1]
    assert max((part.consequents[0, :, 1:] != 0).any(axis=0).sum() for part in model.parts) == 2
    for part in model.parts[1:]:
        np.testing.assert_allclose(np.average(part.predict_raw(rows.X), axis=0, weights=rows.weight), 0.0, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_there_are_no_more_formulas_than_the_columns_need(noise):
    """Three columns matter, so two formulas of two slopes say all: also where a third one would gain by rounding."""
    model, _ = fit_ridge_formulas(make_line(12, noise, n_used=3), LIMITS)
    assert len(model.parts) == 2


def test_columns_without_a_spread_leave_the_mean():
    rows = make_line(3, noise=1.0)
    model, expected = fit_ridge_formulas(rows._replace(X=np.ones_like(rows.X)), LIMITS)
    np.testing.assert_allclose(model.predict_raw(rows.X)[0], np.average(rows.y, axis=0, weights=rows.weight))
    assert expected == 1.0


@pytest.mark.parametrize(("n_features", "near"), [(6, 0.1), (60, 0.15)])
def test_the_expected_error_is_that_of_new_rows(n_features, near):
    """On average over tables, also where slopes are chosen from many; errors of their own rows are too small."""
    expected, own, found = [], [], []
    for seed in range(20):
        rows = make_line(n_features, noise=8.0, n_rows=100, seed=seed)
        model, error = fit_ridge_formulas(rows, LIMITS)
        scale = rows.y.std(axis=0)
        new = make_line(n_features, noise=8.0, n_rows=2000, seed=1000 + seed)
        expected.append(error)
        own.append((((model.predict_raw(rows.X) - rows.y) / scale) ** 2).mean())
        found.append((((model.predict_raw(new.X) - new.y) / scale) ** 2).mean())
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=near)
    assert np.mean(own) < 0.92 * np.mean(found)


def test_errors_as_small_as_rounding_count_as_equal():
    rows = make_line(3, noise=0.0)
    model, expected = fit_ridge_formulas(rows, LIMITS)
    assert expect_error(model, rows) == expected == 1e-10
