"""Smaller classifiers: priced in log loss."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleBase, TSKClassifier
from takagi.inspection import check_rules, export_text, measure_size
from takagi.persistence import load, save
from takagi.simplification import simplify


def make_classes(n_classes, n_rows=300, seed=0):
    """Return rows of four features, the last of which has nothing to do with the class, and labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(-2, 2, (n_rows, 4)) * [1, 10, 100, 1] + [0, 5, 0, 3], columns=list("abcd"))
    score = 2 * X["a"] * np.sign(X["c"]) + 0.1 * X["b"] + 0.5 * rng.normal(size=n_rows)
    names = ["low", "high"] if n_classes == 2 else ["low", "medium", "high"]
    edges = np.linspace(0, 1, n_classes + 1)
    return X, pd.cut(score, np.quantile(score, edges), labels=names, include_lowest=True).astype(object)


def fit_classes(n_classes, n_rules=8, **params):
    X, y = make_classes(n_classes)
    params = {"recipe": "droprule", "max_iter": 500, "random_state": 0, **params}
    return TSKClassifier(n_rules, **params).fit(X, y), X, y


@pytest.fixture(scope="module", params=[2, 3])
def found(request):
    model, X, y = fit_classes(request.param)
    held_out = make_classes(request.param, seed=1)
    return model, X, y, held_out, simplify(model, X, y, X_val=held_out[0], y_val=held_out[1], max_rules=3, max_terms=3)


def say(point, classes, X):
    """Return the probabilities of all classes by the rules of a point."""
    proba = point.model.predict(X)
    return np.column_stack([1 - proba, proba]) if len(classes) == 2 else proba


def test_the_curve_tells_log_losses(found):
    model, X, y, (X_val, y_val), result = found
    for point in result.curve[:: max(1, len(result.curve) // 4)]:
        expected = log_loss(y_val, say(point, model.classes_, X_val), labels=model.classes_)
        assert point.val_loss == pytest.approx(expected, rel=1e-9)
        assert point.loss == pytest.approx(expected / result.curve[0].val_loss - 1, abs=1e-9)
        assert point.train_loss == pytest.approx(log_loss(y, say(point, model.classes_, X), labels=model.classes_))


def test_the_last_step_says_the_class_frequencies(found):
    model, X, y, _, result = found
    last = result.curve[-1]
    assert (last.n_words, last.n_conditions) == (1, 0)
    frequencies = y.value_counts(normalize=True)[model.classes_].to_numpy()
    np.testing.assert_allclose(say(last, model.classes_, X[:1])[0], frequencies, atol=0.02)


def test_limits_hold_from_the_first_step_on_and_rules_are_as_true(found):
    model, X, y, _, result = found
    assert result.point.n_rules <= 3
    assert all(point.max_terms <= 3 for point in result.curve[1:])
    before, after = (check_rules(one, X, y).summary for one in (model, result.model))
    assert all(after[name] >= min(before[name], 0.95) for name in ("holds", "governs"))
    assert after["outside"] == 0


def test_the_smaller_model_is_an_ordinary_classifier(found, tmp_path):
    model, X, y, (X_val, y_val), result = found
    small = result.model
    assert isinstance(small, TSKClassifier)
    assert set(small.predict(X)) <= set(model.classes_)
    np.testing.assert_allclose(small.predict_proba(X).sum(axis=1), 1.0)
    frequencies = np.tile(y.value_counts(normalize=True)[model.classes_], (len(X_val), 1))
    of_none = log_loss(y_val, frequencies, labels=model.classes_)
    assert log_loss(y_val, small.predict_proba(X_val), labels=model.classes_) < 0.7 * of_none
    if len(model.classes_) > 2:
        np.testing.assert_allclose(small.decision_function(X).sum(axis=1), 0.0, atol=1e-9)
    save(small, tmp_path / "small.takagi")
    np.testing.assert_array_equal(load(tmp_path / "small.takagi").predict_proba(X), small.predict_proba(X))
    assert model.n_rules_ == model.model_.n_rules == 8
    assert "log-odds of" in export_text(small) or "score" in export_text(small)


def test_text_and_drawing_speak_of_log_loss(found):
    result = found[-1]
    assert result.measure == "log loss"
    assert "% log loss" in str(result)
    assert "validation log loss:" in str(result)
    assert "RMSE" not in str(result)
    assert result.plot().axes_[0].get_ylabel() == "growth of the validation log loss"
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("recipe", ["accurate", "short"])
def test_other_recipes_become_smaller_too(n_classes, recipe):
    model, X, y = fit_classes(n_classes, None, recipe=recipe)
    X_val, y_val = make_classes(n_classes, seed=1)
    result = simplify(model, X, y, X_val=X_val, y_val=y_val, max_rules=4, max_conditions=1, max_terms=2)
    size = measure_size(result.model)
    assert (size.n_rules <= 4, size.max_conditions <= 1, size.max_terms <= 2) == (True, True, True)
    assert all(point.max_conditions <= 1 and point.max_terms <= 2 for point in result.curve[1:])


def test_a_pipeline_and_a_bare_rule_base_are_taken():
    X, y = make_classes(2)
    model = make_pipeline(StandardScaler(), TSKClassifier(3, recipe="droprule", max_iter=200, random_state=0)).fit(X, y)
    result = simplify(model, X, y, max_rules=2)
    assert result.point.n_rules <= 2
    assert set(result.model.predict(X)) <= {"low", "high"}
    rules = TSKClassifier(3, recipe="droprule", max_iter=200, random_state=0).fit(X, y).rule_base_
    bare = simplify(rules, X, (y == "low").astype(float), max_rules=2)
    assert isinstance(bare.model, RuleBase)
    assert bare.model.link == "logit"


def test_sets_are_calibrated_anew():
    model, X, y = fit_classes(2, 2, max_iter=100)
    result = simplify(model.calibrate(X, y), X, y, max_rules=1)
    assert hasattr(model, "set_scores_")
    assert not hasattr(result.model, "set_scores_")


def test_wrong_labels_are_refused():
    model, X, y = fit_classes(2, 2, max_iter=20)
    with pytest.raises(ValueError, match="not among the classes of the model: 'odd'"):
        simplify(model, X, y.replace("low", "odd"))
    with pytest.raises(ValueError, match="In X_val and y_val: y has labels that are not among the classes"):
        simplify(model, X, y, X_val=X, y_val=y.replace("low", "odd"))
    with pytest.raises(ValueError, match="one label for each of 300 rows"):
        simplify(model, X, y[:-1])
