"""The classifier: probabilities, labels and weights of classes, and bad input."""

import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TableEncoder, TSKClassifier
from takagi.initializers import INITIALIZERS
from takagi.optimizers import OPTIMIZERS
from takagi.training import Bounds


def quick(**params):
    return TSKClassifier(**{"n_rules": 6, "max_iter": 300, "n_teachers": 0, "random_state": 0} | params)


def moons(n_rows=400, seed=0):
    return make_moons(n_rows, noise=0.25, random_state=seed)


def three_classes(n_rows=300, seed=0):
    """Three spirals' worth of angles: no line tells them apart."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, np.digitize(np.hypot(*X.T), [0.8, 1.5])


# ----------------------------------------------------------------------------------------------------------------------
# What it predicts
# ----------------------------------------------------------------------------------------------------------------------


def test_two_classes_have_one_output_the_log_odds_of_the_second():
    X, y = moons()
    model = quick().fit(X, y)
    rules, log_odds = model.rule_base_, model.decision_function(X)
    assert (rules.link, rules.n_outputs, rules.output_names) == ("logit", 1, ("1",))
    assert log_odds.shape == (400,)
    np.testing.assert_array_equal(log_odds, model.model_.predict_raw(X)[:, 0])
    np.testing.assert_allclose(model.predict_proba(X), np.column_stack([expit(-log_odds), expit(log_odds)]))
    np.testing.assert_allclose(model.model_.predict(X), model.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(model.predict(X), model.classes_[(log_odds > 0).astype(int)])


@pytest.mark.slow
def test_uniformity_makes_rules_govern_equally_many_rows():
    X, y = three_classes()
    spread = [quick(uniformity=u).fit(X, y).rule_base_.firing_share(X).mean(axis=0).std() for u in (0.0, 20.0)]
    assert spread[1] < 0.5 * spread[0]
    with pytest.raises(ValueError, match=r"'uniformity' parameter of TSKClassifier must be .*a float in the range"):
        quick(uniformity=-1.0).fit(X, y)


def test_several_classes_have_one_output_each_and_these_sum_to_zero():
    X, y = three_classes()
    model = quick().fit(X, y)
    logits = model.decision_function(X)
    assert (model.rule_base_.link, logits.shape) == ("softmax", (300, 3))
    assert model.rule_base_.output_names == ("0", "1", "2")
    np.testing.assert_allclose(logits.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), softmax(logits, axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), logits.argmax(axis=1))
    assert model.score(*three_classes(seed=1)) > 0.8


def test_log_odds_of_two_classes_are_a_softmax_of_zero_and_themselves():
    X, y = moons()
    model = quick().fit(X, y)
    expected = softmax(np.column_stack([np.zeros(400), model.decision_function(X)]), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(expected))


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [-3, 7], [1.0, 2.0], np.array(["a", "b"], dtype=object), pd.Categorical(["x", "y"])],
    ids=["str", "bool", "int", "float", "object", "category"],
)
def test_labels_of_any_type_come_back(labels):
    X, code = moons(200)
    y = pd.Series(labels).take(code).reset_index(drop=True)
    model = quick(max_iter=100).fit(X, y)
    assert model.classes_.tolist() == list(labels)
    assert set(model.predict(X).tolist()) <= set(labels)
    assert model.predict(X).dtype == model.classes_.dtype
    numbers = quick(max_iter=100).fit(X, code)
    np.testing.assert_array_equal(model.predict_proba(X), numbers.predict_proba(X))


def test_names_of_classes_in_another_order_give_outputs_in_that_order():
    exact = quick(init="grid", n_rules=4, batch_size=300, l2=0.1, smoothness=0.1)  # nothing is left to chance
    X, y = three_classes()
    model, other = clone(exact).fit(X, y), clone(exact).fit(X, (y + 1) % 3)
    np.testing.assert_allclose(other.decision_function(X)[:, [1, 2, 0]], model.decision_function(X), atol=1e-6)
    model, other = clone(exact).fit(X, y == 2), clone(exact).fit(X, y != 2)
    np.testing.assert_allclose(other.decision_function(X), -model.decision_function(X), atol=1e-6)


def test_fitted_probabilities_are_better_than_logistic_regressions_where_no_line_will_do():
    X, y = moons()
    test = moons(1000, seed=1)
    logistic = LogisticRegression().fit(X, y)
    ours, theirs = (log_loss(test[1], one.predict_proba(test[0])) for one in (quick().fit(X, y), logistic))
    assert ours < 0.8 * theirs


def test_logistic_regression_is_one_rule_where_it_does_better():
    rng = np.random.default_rng(1)
    X = rng.normal(5.0, 2.0, size=(400, 20))
    y = rng.random(400) < expit((X - 5) @ np.linspace(-0.5, 0.5, 20))
    model = TSKClassifier(max_iter=300, random_state=0).fit(X[:200], y[:200])
    assert (model.n_rules_, model.stopped_, model.n_iter_, len(model.history_["train_loss"])) == (1, "logistic", 1, 1)
    assert "IF anything" in str(model.rule_base_)
    logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:200], y[:200])
    ours, theirs = (log_loss(y[200:], one.predict_proba(X[200:])) for one in (model, logistic))
    assert ours < 1.05 * theirs


def test_noise_is_answered_with_about_the_class_frequencies():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.random(200) < 0.2
    model = TSKClassifier(max_iter=300, random_state=0).fit(X, y)
    assert np.std(model.predict_proba(X)[:, 1]) < 0.1
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.05)


def test_intervals_are_for_numbers():
    assert not hasattr(TSKClassifier(), "predict_interval")


# ----------------------------------------------------------------------------------------------------------------------
# Weights
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 1: 0.5}])
def test_a_weight_of_three_is_the_same_as_three_copies(class_weight):
    X, y = moons(150)
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    weighted = quick(class_weight=class_weight).fit(X, y, weight)
    copies = np.repeat(np.arange(150), weight.astype(int))
    copied = quick(class_weight=class_weight).fit(X[copies], y[copies])
    np.testing.assert_array_equal(copied.decision_function(X), weighted.decision_function(X))


def test_the_order_of_rows_does_not_matter():
    X, y = moons(150)
    order = np.random.default_rng(1).permutation(150)
    np.testing.assert_array_equal(
        quick().fit(X[order], y[order]).decision_function(X), quick().fit(X, y).decision_function(X)
    )


def test_balanced_weights_make_a_rare_class_as_likely_as_the_others():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(380, dtype=int), np.ones(20, dtype=int)]
    X = rng.normal(size=(400, 2)) + 1.2 * y[:, None]
    plain, balanced = quick().fit(X, y), quick(class_weight="balanced").fit(X, y)
    middle = [[0.6, 0.6]]
    assert plain.predict_proba(middle)[0, 1] < 0.2
    assert balanced.predict_proba(middle)[0, 1] == pytest.approx(0.5, abs=0.2)
    given = quick(class_weight={0: 400 / 760, 1: 10.0}).fit(X, y)
    np.testing.assert_allclose(given.decision_function(X), balanced.decision_function(X))


# ----------------------------------------------------------------------------------------------------------------------
# Every way to fit
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        *({"init": name} for name in INITIALIZERS if name != "grid"),
        {"init": "grid", "n_rules": 4},
        *({"optimizer": name, "learning_rate": 0.003 if name == "sgdm" else 0.03} for name in OPTIMIZERS),
        {"recipe": "droprule"},
        {"projection": "antecedent"},
        {"projection": "shared"},
        {"projection": "separate", "n_projections": 1},
        {"bounds": Bounds(consequents=(-3.0, 3.0))},
        {"bounds": None, "standardize": False},
        {"n_iter_no_change": 50, "n_teachers": "auto"},
        {"n_teachers": 2},
        {"n_rules": "auto"},
    ],
    ids=str,
)
def test_every_setting_learns_three_classes(params):
    X, y = three_classes()
    model = quick(**params).fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isfinite(model.decision_function(X)).all()
    again = quick(**params).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_given_rows_choose_the_iterate():
    X, y = moons(600)
    model = quick().fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    assert model.best_iter_ == 1 + np.argmin(model.history_["val_loss"])
    assert model.rule_base_.profile.n_rows == 600


def test_warm_start_goes_on_and_keeps_the_classes():
    X, y = three_classes()
    model = quick(warm_start=True).fit(X, y)
    before = log_loss(y, model.predict_proba(X))
    model.fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1, 2]
    model.fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < before + 0.05
    with pytest.raises(ValueError, match="not among the classes of the model: 7"):
        model.fit(X, np.where(y == 2, 7, y))
    assert clone(model).fit(X, y + 1).classes_.tolist() == [1, 2, 3]


def test_another_fit_forgets_the_classes_of_the_first():
    X, y = three_classes()
    model = quick(max_iter=50).fit(X, y).fit(X, np.where(y == 2, "far", "near"))
    assert model.classes_.tolist() == ["far", "near"]


def test_callback_and_ctrl_c_keep_the_best_rules_so_far():
    X, y = moons()
    stages = []
    model = quick(max_iter=2000).fit(X, y, callback=lambda progress: stages.append(progress.stage))
    assert {"pilots", "training"} <= set(stages)
    model = quick(max_iter=2000).fit(X, y, callback=lambda progress: progress.stage == "training")
    assert model.stopped_ == "callback"
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.warns(UserWarning, match="interrupted"):
        model = quick(max_iter=10**7, l2=0.01, smoothness=0.01).fit(X, y)
    assert model.score(X, y) > 0.7


def test_number_of_threads_does_not_change_a_bit():
    X, y = moons()
    model = quick().fit(X, y)
    np.testing.assert_array_equal(clone(model).set_params(n_jobs=2).fit(X, y).predict_proba(X), model.predict_proba(X))


def test_pickled_model_predicts_the_same_bits():
    X, y = three_classes()
    model = quick().fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


# ----------------------------------------------------------------------------------------------------------------------
# Blocks
# ----------------------------------------------------------------------------------------------------------------------


def test_blocks_may_lack_classes():
    X, y = three_classes(4000)
    model = quick()
    for first in range(0, 4000, 400):
        block = slice(first, first + 400)
        kept = y[block] != (first // 400) % 3  # one class is absent from each block
        model.partial_fit(X[block][kept], y[block][kept], classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(*three_classes(seed=1)) > 0.6
    np.testing.assert_allclose(model.decision_function(X).sum(axis=1), 0.0, atol=1e-9)
    assert (model.history_["val_loss"] < 2).all()


def test_blocks_of_rows_go_on_from_a_fit():
    X, y = moons(2000)
    model = quick().fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    assert model.score(*moons(seed=1)) > 0.85


def test_wrong_blocks_are_refused_and_change_nothing():
    X, y = moons(2000)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        quick().partial_fit(X, y)
    with pytest.raises(ValueError, match="needs all rows at once"):
        quick(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    model = quick().partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="not among the classes of the model: 2"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match=r"classes must be \[0, 1\], as in the first call, got \[0, 1, 2\]"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.decision_function(X), before)
    fresh = quick()
    with pytest.raises(ValueError, match="not among the classes"):
        fresh.partial_fit(X, y + 1, classes=[0, 1])
    assert not hasattr(fresh, "classes_")


# ----------------------------------------------------------------------------------------------------------------------
# Input at the edge, and beyond
# ----------------------------------------------------------------------------------------------------------------------


def test_separable_classes_have_finite_log_odds():
    X = np.r_[np.linspace(-3, -1, 50), np.linspace(1, 3, 50)][:, None]
    y = X[:, 0] > 0
    for params in ({}, {"n_rules": 4}, {"recipe": "droprule", "n_rules": 4}):
        model = TSKClassifier(max_iter=500, random_state=0, **params).fit(X, y)
        assert np.abs(model.decision_function(X)).max() < 100
        assert model.score(X, y) == 1
        assert np.isfinite(model.predict_log_proba(X * 1.5)).all()


def test_a_class_with_one_row_is_fitted():
    X, y = moons(200)
    y[0] = 2
    for params in ({}, {"recipe": "droprule"}, {"n_rules": "auto", "n_teachers": 2}):
        model = quick(**params).fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert 0 < model.predict_proba(X)[:, 2].mean() < 0.1


@pytest.mark.parametrize("n_rows", [2, 3, 5, 12])
@pytest.mark.filterwarnings("ignore:n_rules", "ignore:Training did not improve")
def test_few_rows_are_fitted(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    for params in ({}, {"n_rules": "auto"}, {"recipe": "droprule"}):
        model = quick(**params).fit(X, np.arange(n_rows) % 2)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_hundred_classes_are_fitted():
    X = np.random.default_rng(0).uniform(size=(2000, 1))
    y = (X[:, 0] * 100).astype(int)
    model = quick(n_rules=16, max_iter=100).fit(X, y)
    assert len(model.classes_) == model.rule_base_.n_outputs == 100
    assert model.score(X, y) > 0.1
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_one_row_in_ten_thousand_is_not_made_much_of():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 2)), np.arange(10_000) == 0
    for class_weight in (None, "balanced"):
        model = quick(n_rules=4, class_weight=class_weight).fit(X, y)
        probability = model.predict_proba(X)[:, 1]
        assert np.isfinite(model.decision_function(X)).all()
        if class_weight is None:
            assert probability.mean() < 0.01


@pytest.mark.filterwarnings("ignore:n_rules")
def test_columns_that_are_constant_say_nothing():
    X, y = moons(100)
    model = quick(max_iter=50).fit(np.column_stack([X, np.ones(100)]), y)
    assert model.score(np.column_stack([X, np.ones(100)]), y) > 0.6
    constant = quick(max_iter=50).fit(np.ones((100, 2)), y)
    np.testing.assert_allclose(constant.predict_proba(np.ones((1, 2))), [[0.5, 0.5]], atol=0.05)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(40), "at least two classes, got 0.0"),
        (["only"] * 40, "at least two classes, got 'only'"),
        (np.linspace(0, 1, 40), "Use TSKRegressor for a numeric target"),
        (np.r_[np.nan, np.zeros(39)], "y contains 1 labels that are missing, NaN or infinity .first in row 0"),
        (np.array(["a", None] * 20, dtype=object), "y contains 20 labels that are missing"),
        (pd.Series(["a", pd.NA] * 20, dtype="string"), "y contains 20 labels that are missing"),
        (np.array(["a", 1] * 20, dtype=object), "labels of one type"),
        (np.arange(40)[:, None] * [1, 1] % 2, "y should be a 1d array"),
        (np.arange(39) % 2, "one label for each of 40 rows"),
        (np.arange(40).astype("M8[D]"), "dates or times"),
        (None, "requires y"),
    ],
)
def test_labels_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(np.arange(40.0)[:, None], y)


def test_weights_of_unknown_classes_are_refused():
    X, y = moons(60)
    with pytest.raises(ValueError, match=r"not among the classes of y: 'yes'\. The classes are 0, 1"):
        quick(class_weight={"yes": 2.0}).fit(X, y)
    with pytest.raises(ValueError, match="finite numbers of at least 0"):
        quick(class_weight={0: -1.0}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        quick(class_weight="balance").fit(X, y)
    with pytest.raises(ValueError, match="At least two classes must have a positive weight"):
        quick(class_weight={0: 0.0}).fit(X, y)
    with pytest.raises(ValueError, match="At least two classes must have a positive weight"):
        quick().fit(X, y, sample_weight=y)


def test_held_out_rows_have_known_classes():
    X, y = moons(60)
    with pytest.raises(ValueError, match=r"In X_val and y_val: y has labels that are not among the classes .*: 5"):
        quick().fit(X, y, X_val=X, y_val=y + 5)
    with pytest.raises(ValueError, match="y_val is missing"):
        quick().fit(X, y, X_val=X)


# ----------------------------------------------------------------------------------------------------------------------
# With scikit-learn
# ----------------------------------------------------------------------------------------------------------------------


def test_works_in_what_takes_classifiers():
    X, y = moons(200)
    base = quick(max_iter=100, n_rules=3)
    for model in (
        CalibratedClassifierCV(base, cv=2),
        TunedThresholdClassifierCV(base, cv=2),
        StackingClassifier([("tsk", base)], LogisticRegression(), cv=2),
        GridSearchCV(base, {"n_rules": [2, 3]}, scoring="neg_log_loss", cv=2),
    ):
        assert np.mean(model.fit(X, y).predict(X) == y) > 0.75


def test_pipelines_take_tables_with_text():
    X, y = moons(300)
    table = pd.DataFrame({"side": np.where(X[:, 0] > 0.5, "right", "left"), "height": X[:, 1]})
    model = make_pipeline(TableEncoder(), quick()).fit(table, pd.Series(y).map({0: "upper", 1: "lower"}))
    assert set(model.predict(table)) <= {"upper", "lower"}
    assert model.score(table, pd.Series(y).map({0: "upper", 1: "lower"})) > 0.7


def test_names_of_features_are_kept_and_iris_is_told_apart():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = quick().fit(X, y)
    assert model.score(X, y) > 0.95
    assert "petal width (cm)" in str(model.rule_base_)


@pytest.mark.parametrize("n_positive", [2, 40])
def test_probabilities_of_a_rare_class_are_its_frequency_in_the_mean(n_positive):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    y = np.zeros(4000, dtype=int)
    y[np.argsort(-(X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=4000)))[:n_positive]] = 1
    model = TSKClassifier(max_iter=300, random_state=0).fit(X, y)
    assert model.predict_proba(X)[:, 1].sum() == pytest.approx(n_positive, rel=0.01)
