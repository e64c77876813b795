"""The committee of classifiers: mean probabilities, folds by class, files, and bad input."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import log_loss

from takagi import TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor, load, save
from takagi.persistence import ModelFileError

SMALL = TSKClassifier(n_rules=3, max_iter=200)


def committee(n_members=3, estimator=SMALL, **params):
    return TSKCommitteeClassifier(n_members, estimator, **{"random_state": 0} | params)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))


@pytest.fixture(scope="module")
def fitted(iris):
    return committee().fit(*iris)


def test_probabilities_are_the_mean_of_those_of_the_members(fitted, iris):
    X, y = iris
    expected = np.mean([member.predict_proba(X) for member in fitted.estimators_], axis=0)
    np.testing.assert_allclose(fitted.predict_proba(X), expected)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), expected)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[expected.argmax(axis=1)])
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.score(X, y) > 0.9


def test_two_classes_have_two_columns():
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = committee().fit(X, y == 1)
    expected = np.mean([member.predict_proba(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    assert model.is_single_target_
    assert model.classes_.dtype == bool


def find_folds(model, X):
    """Return whether what is out of fold is said by each member, alone and as much less sure as a single one must be.

    The log-odds of a member are moved by a constant, so these are the rows with the most common distance.
    """
    distinct, place = np.unique(X, axis=0, return_inverse=True)
    outputs = np.array([member.model_.predict_raw(distinct) for member in model.estimators_])
    gain = outputs.var(axis=1).sum(axis=1).mean() / outputs.mean(axis=0).var(axis=0).sum()
    assert gain > 1
    known = np.log(model.oof_proba_)
    known = known - known.mean(axis=1, keepdims=True) if outputs.shape[2] > 1 else known[:, 1:] - known[:, :1]
    found = []
    for said in outputs[:, place] / gain:
        _, group, counts = np.unique((said - known).round(5), axis=0, return_inverse=True, return_counts=True)
        assert counts.max() > 1
        found.append(group.reshape(-1) == counts.argmax())
    return np.array(found)


def test_out_of_fold_rows_estimate_the_log_loss(fitted, iris):
    X, y = iris
    assert fitted.oof_proba_.shape == (150, 3)
    assert fitted.oof_log_loss_ == pytest.approx(log_loss(y, fitted.oof_proba_))
    assert find_folds(fitted, X).any(axis=0).all()


def test_mean_of_the_members_is_as_sure_as_it_may_be():
    X, y = make_moons(10_800, noise=0.2, random_state=0)
    model = committee(6, TSKClassifier(n_rules=12, max_iter=1000)).fit(X[:800], y[:800])
    outputs = np.array([member.decision_function(X[800:]) for member in model.estimators_])
    losses = [log_loss(y[800:], expit(factor * outputs).mean(axis=0)) for factor in np.geomspace(0.3, 3, 50)]
    assert log_loss(y[800:], model.predict_proba(X[800:])) < 1.02 * min(losses)


def test_every_fold_has_every_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.repeat([0, 1], [111, 9])
    model = committee(3).fit(X, y)
    fold = find_folds(model, X).argmax(axis=0)
    assert np.bincount(fold[y == 1], minlength=3).tolist() == [3, 3, 3]


def test_order_of_rows_and_threads_do_not_matter(fitted, iris):
    X, y = iris
    other = committee(n_jobs=2).fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(other.oof_proba_[::-1], fitted.oof_proba_)


def test_weights_of_classes_are_those_of_the_estimator():
    X, y = make_moons(200, noise=0.4, random_state=0)
    plain = committee().fit(X, y)
    weighted = committee(estimator=TSKClassifier(n_rules=3, max_iter=200, class_weight={1: 10.0})).fit(X, y)
    assert weighted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1


def test_a_second_fit_may_have_other_classes(iris):
    X, _ = iris
    model = committee().fit(X, np.arange(150) < 50)
    assert model.fit(X, np.where(np.arange(150) < 100, "a", "b")).classes_.tolist() == ["a", "b"]


def test_files_keep_it(fitted, iris, tmp_path):
    X, _ = iris
    save(fitted, tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert type(loaded) is TSKCommitteeClassifier
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.oof_proba_, fitted.oof_proba_)
    assert loaded.oof_log_loss_ == fitted.oof_log_loss_
    assert loaded.get_params(deep=False)["n_members"] == 3
    assert loaded.estimator.get_params() == SMALL.get_params()


def test_files_with_members_of_another_kind_are_refused(fitted, tmp_path):
    path = tmp_path / "model.json"
    save(fitted, path)
    path.write_text(path.read_text().replace('"TSKCommitteeClassifier"', '"TSKCommittee"', 1))
    with pytest.raises(ModelFileError):
        load(path)


def test_members_are_classifiers(iris):
    with pytest.raises(TypeError, match=r"estimator must be a TSKClassifier, got a TSKRegressor\."):
        committee(estimator=TSKRegressor()).fit(*iris)
    with pytest.raises(TypeError, match=r"estimator must be a TSKRegressor, got a TSKClassifier\."):
        TSKCommittee(estimator=SMALL).fit(*iris)
    with pytest.raises(ValueError, match="committees and streams cannot use it"):
        committee(estimator=TSKClassifier(recipe="short")).fit(*iris)


def test_bad_labels_are_refused(iris):
    X, _ = iris
    with pytest.raises(ValueError, match="at least two classes"):
        committee().fit(X, np.zeros(150, dtype=int))
    with pytest.raises(ValueError, match="Use TSKRegressor for a numeric target"):
        committee().fit(X, np.linspace(0, 1, 150))
