"""Short rules for classes: limits, log loss, links, and noise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleModel, TSKClassifier, load, save
from takagi.fitting import Rows
from takagi.fitting._short._likelihood import linearize, train_on
from takagi.inspection import measure_size


def make_products(n_rows=500, seed=0):
    """Two classes that no line tells apart: what counts is the product of two features, and a third one."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 4))
    return X, rng.random(n_rows) < expit(6 * X[:, 0] * X[:, 1] + X[:, 2])


def short(**parameters):
    return TSKClassifier(**{"recipe": "short", "max_iter": 600, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def products():
    return short().fit(*make_products())


def test_two_classes_have_log_odds_and_a_sum_of_parts(products):
    X, _ = make_products()
    model = products.model_
    assert (model.link, model.n_outputs, products.recipe_) == ("logit", 1, "short")
    np.testing.assert_allclose(products.predict_proba(X)[:, 1], expit(model.predict_raw(X)[:, 0]))
    assert 1 < products.n_rules_ <= 5


def test_few_rules_do_better_than_logistic_regression_where_no_line_will_do(products):
    X, y = make_products(2000, seed=1)
    logistic = LogisticRegression().fit(*make_products())
    ours, theirs = (log_loss(y, one.predict_proba(X)) for one in (products, logistic))
    assert ours < 0.85 * theirs


def test_training_around_what_rules_say_lowers_the_log_loss(products):
    X, y = make_products()
    loud = RuleModel(tuple(replace(p, consequents=3 * p.consequents, link="identity") for p in products.model_.parts))
    rows = Rows(X, y[:, None].astype(float), np.ones(len(X)))
    trained, losses = train_on(loud, rows, agreement=0.1)
    assert losses[-1] < 0.95 * losses[0]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] == pytest.approx(log_loss(y, expit(trained.predict_raw(X)[:, 0])))


def test_probabilities_are_about_as_sure_as_they_may_be(products):
    X, y = make_products(4000, seed=2)
    slope = LogisticRegression(C=1e6).fit(products.decision_function(X)[:, None], y).coef_[0, 0]
    assert 0.75 < slope < 1.25


@pytest.mark.filterwarnings("ignore:No split of the rows")
@pytest.mark.parametrize(("n_rules", "max_conditions", "max_terms"), [(1, 1, 1), (3, 1, 2), (7, 2, 1)])
def test_limits_are_obeyed(n_rules, max_conditions, max_terms):
    limits = {"n_rules": n_rules, "max_conditions": max_conditions, "max_terms": max_terms}
    X, y = make_moons(200, noise=0.2, random_state=0)
    size = measure_size(short(**limits).fit(np.hstack([X, X**2]), y))
    assert size.n_rules <= n_rules
    assert size.max_conditions <= max_conditions
    assert size.max_terms <= max_terms


@pytest.mark.filterwarnings("ignore:No split of the rows")
def test_limits_choose_the_recipe():
    X, y = make_moons(100, noise=0.2, random_state=0)
    assert short(recipe="auto", max_terms=2, max_iter=100).fit(X, y).recipe_ == "short"


@pytest.mark.filterwarnings("ignore:No split of the rows")
def test_several_classes_have_an_output_each_and_these_sum_to_zero():
    X, y = load_iris(return_X_y=True)
    model = short().fit(X[::2], y[::2])
    logits = model.decision_function(X)
    assert (model.model_.link, logits.shape) == ("softmax", (150, 3))
    np.testing.assert_allclose(logits.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), softmax(logits, axis=1))
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.25


def test_noise_is_answered_with_the_class_frequencies_and_said_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.random(300) < 0.2
    with pytest.warns(UserWarning, match="the model predicts the class frequencies"):
        model = short().fit(X, y)
    assert (model.n_rules_, model.stopped_) == (1, "no_change")
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], (y.sum() + 1) / 302)


@pytest.mark.filterwarnings("ignore:No split of the rows")
def test_classes_that_are_told_apart_have_finite_log_odds():
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = short().fit(X, np.where(X[:, 0] > 0, "b", "a"))
    assert np.abs(model.decision_function(X)).max() < 100
    assert model.score(X, np.where(X[:, 0] > 0, "b", "a")) > 0.97


@pytest.mark.slow
def test_number_of_rules_can_be_chosen():
    model = short(n_rules="auto", max_conditions=1, max_terms=2).fit(*make_moons(80, noise=0.1, random_state=0))
    assert 2 <= model.n_rules_ <= 12


def test_equal_fits_are_equal_and_files_keep_them(products, tmp_path):
    X, y = make_products()
    np.testing.assert_array_equal(short().fit(X, y).decision_function(X), products.decision_function(X))
    save(products, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict_proba(X), products.predict_proba(X))


def test_held_out_rows_say_how_sure_the_model_may_be():
    X, y = make_products()
    rng = np.random.default_rng(0)
    model = short().fit(X, y, X_val=X, y_val=rng.permutation(y))
    assert np.abs(model.decision_function(X)).mean() < 0.5 * np.abs(short().fit(X, y).decision_function(X)).mean()


def test_short_rules_are_not_trained_block_by_block(products):
    X, y = make_products(100)
    with pytest.raises(ValueError, match="recipe='short' fits one model to rows in memory"):
        short().partial_fit(X, y, classes=[False, True])
    with pytest.raises(ValueError, match="cannot be trained further"):
        products.partial_fit(X, y)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_working_response_has_the_gradient_of_the_log_loss(n_outputs):
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(50, n_outputs))
    y = np.eye(3)[rng.integers(3, size=50)] if n_outputs == 3 else rng.integers(2, size=(50, 1)).astype(float)
    response, noise = linearize(Rows(np.zeros((50, 1)), y, np.ones(50)), outputs)
    p = softmax(outputs, axis=1) if n_outputs == 3 else expit(outputs)
    gradient = response.weight[:, None] * (response.y - outputs)
    np.testing.assert_allclose(gradient / (y - p), gradient[0, 0] / (y - p)[0, 0])
    assert 0 < noise <= 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_where_lines_say_all_the_model_is_logistic_regression_in_formulas(n_classes):
    """Ten columns count, nearly all rows can be told apart, and rules would follow chance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 10))
    score = X @ np.linspace(1.5, 0.6, 10) + rng.logistic(size=900)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    with pytest.warns(UserWarning, match="a formula without conditions"):
        model = TSKClassifier(recipe="short", random_state=0).fit(X[:300], y[:300])
    line = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[:300], y[:300])
    losses = [log_loss(y[300:], one.predict_proba(X[300:])) for one in (model, line)]
    assert losses[0] < 1.02 * losses[1]
    assert all(part.n_rules == 1 for part in model.model_.parts)
    assert measure_size(model).max_terms <= 4
    assert model.stopped_ == "no_change"
