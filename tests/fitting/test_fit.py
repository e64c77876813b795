"""The fit on one page: what its stages do, whatever the loss."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_friedman1
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from takagi import TSKRegressor
from takagi.fitting import Rows, Watch, fit_rules, make_plan, train_rules
from takagi.fitting._training import begin_training


def fit(X, y, loss="squared", held_out=None, **params):
    rows = Rows(X, np.reshape(y, (len(X), -1)), np.ones(len(X)))
    plan = make_plan(TSKRegressor(**params).get_params(), *X.shape, loss=loss)
    return fit_rules(rows, plan, np.random.default_rng(0), Watch(), held_out=held_out)


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_probabilities_of_two_classes_are_fitted_by_the_same_stages():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :6], y.astype(float)
    fitted = fit(X[:400], y[:400], loss="log", n_rules=64, max_iter=1000)
    assert [stage.name for stage in fitted.stages] == ["pilots", "training", "teachers", "student"]
    assert fitted.model.link == "logit"
    scaler = StandardScaler().fit(X[:400])
    logistic = LogisticRegression().fit(scaler.transform(X[:400]), y[:400])
    expected = log_loss(y[400:], logistic.predict_proba(scaler.transform(X[400:])))
    assert log_loss(y[400:], fitted.model.predict(X[400:])) < 1.3 * expected


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_the_profile_covers_rows_that_were_held_out():
    X, y = make_friedman1(300, 5, random_state=0)
    for recipe in ("accurate", "droprule"):
        profile = fit(X, y, recipe=recipe, n_rules=3, max_iter=50).model.profile
        assert profile.n_rows == 300
        np.testing.assert_array_equal(profile.quantiles[[0, -1]], [X.min(axis=0), X.max(axis=0)])
    judges = Rows(X[:100] + 10, y[:100, None], np.ones(100))
    profile = fit(X, y, recipe="droprule", held_out=judges, n_rules=3, max_iter=50).model.profile
    assert profile.n_rows == 400
    np.testing.assert_array_equal(profile.quantiles[-1], judges.X.max(axis=0))


def test_history_and_iterations_are_those_of_the_rules_that_are_there():
    X, y = make_friedman1(300, 5, noise=1.0, random_state=0)
    fitted = fit(X, y, recipe="droprule", n_rules=4, max_iter=300)
    val_loss = fitted.history["val_loss"]
    assert fitted.n_iter == len(val_loss) == 300
    assert fitted.best_iter == 1 + np.argmin(val_loss)
    assert fitted.stages[-1].n_iter == 300


@pytest.mark.parametrize("recipe", ["accurate", "droprule"])
def test_a_training_draws_the_same_rows_ahead_as_on_the_way(recipe):
    """Heavy rows become several, which are drawn as often as others."""
    X, y = make_friedman1(60, 5, random_state=0)
    rows = Rows(X, y[:, None], np.r_[np.full(2, 300.0), np.ones(58)])
    params = TSKRegressor(recipe=recipe, n_rules=3, max_iter=40, l2=0.1, smoothness=0.1, batch_size=8).get_params()
    plan = make_plan(params, *X.shape)
    found = []
    for train in (train_rules, lambda *arguments: begin_training(*arguments)()):
        watch = Watch()
        watch.begin("training")
        found.append(train(rows, None, plan, np.random.default_rng(0), watch).rules)
    np.testing.assert_array_equal(found[0].consequents, found[1].consequents)
