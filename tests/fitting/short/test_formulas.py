import numpy as np
import pytest

from takagi.fitting import Limits, Rows
from takagi.fitting._logistic import choose_penalty, fit_logistic
from takagi.fitting._short._formulas import fit_formulas
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
    model, _ = fit_formulas(rows, LIMITS)
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
    model, _ = fit_formulas(rows, LIMITS)
    used = np.flatnonzero(np.any([(part.consequents[0, :, 1:] != 0).any(axis=0) for part in model.parts], axis=0))
    assert len(used) == 6
    assert {0, 1, 2} <= set(used)
    assert model.n_features == 12


@pytest.mark.slow
def test_the_expected_loss_is_that_of_new_rows():
    """On average over tables the loss of new rows is what their own rows let expect; these alone are too small."""
    expected, own, found = [], [], []
    for seed in range(20):
        model, loss = fit_formulas(make_rows(6, n_rows=80, seed=seed), LIMITS)
        expected.append(loss)
        own.append(measure_log_loss(model, make_rows(6, n_rows=80, seed=seed)))
        found.append(measure_log_loss(model, make_rows(6, n_rows=2000, seed=1000 + seed)))
    assert np.mean(own) < np.mean(expected)
    assert np.mean(expected) == pytest.approx(np.mean(found), rel=0.06)
    assert np.mean(own) < 0.97 * np.mean(found)
