import pickle
import re
import threading
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TSKRegressor
from takagi.initializers import FuzzyCMeansInitializer
from takagi.optimizers import AdaBelief
from takagi.training import Bounds


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(300, n_features=6, noise=0.5, random_state=0)


GIVEN = {"recipe": "droprule"}  # so that no pilots run, and rows are held out


def quick(**settings):
    return TSKRegressor(**{"n_rules": 8, "max_iter": 200, "random_state": 0, **settings})


# -- what it learns ----------------------------------------------------------------------------------------------------


def test_beats_ridge_clearly_on_a_nonlinear_target():
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    fuzzy, ridge = (
        model.fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) for model in (TSKRegressor(random_state=0), Ridge())
    )
    assert (1 - fuzzy) < 0.3 * (1 - ridge)


def test_one_rule_without_penalty_tends_to_least_squares(friedman):
    X, y = friedman
    model = quick(n_rules=1, l2=0.0, keep_prob=1.0, batch_size=300, max_iter=5000).fit(X, y, X_val=X, y_val=y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-2)


def test_best_iterate_on_the_validation_rows_is_kept(friedman):
    X, y = friedman
    model = quick().fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    rmse = np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2))
    assert model.best_iter_ == 1 + np.argmin(model.history_["val_loss"])
    assert rmse == pytest.approx(model.history_["val_loss"].min(), rel=1e-9)
    assert len(model.history_["train_loss"]) == model.n_iter_ == 200


@pytest.mark.parametrize("projection", [None, "antecedent", "shared", "separate"])
@pytest.mark.parametrize("standardize", [True, "inputs", False])
def test_rules_are_in_the_units_of_the_data(friedman, projection, standardize):
    X, y = friedman
    model = quick(projection=projection, standardize=standardize).fit(X, y, X_val=X, y_val=y)
    shifted = quick(projection=projection, standardize=True).fit(X * 8.0, y * 4.0, X_val=X * 8.0, y_val=y * 4.0)
    np.testing.assert_allclose(model.rule_base_.predict(X), model.predict(X), rtol=1e-12)
    if standardize is True:
        np.testing.assert_allclose(shifted.predict(X * 8.0), 4.0 * model.predict(X), rtol=1e-6)
        np.testing.assert_allclose(shifted.history_["val_loss"], 4.0 * model.history_["val_loss"], rtol=1e-6)


def test_units_change_no_prediction(friedman):
    X, y = friedman
    factor = 2.0 ** np.arange(-10, 14, 4)  # powers of two, so that nothing is rounded
    plain, scaled = quick().fit(X, y), quick().fit(X * factor, y * 1024)
    np.testing.assert_array_equal(scaled.predict(X * factor), 1024 * plain.predict(X))


def test_permuting_features_permutes_the_columns_of_the_rules(friedman):
    X, y = friedman
    order = np.array([3, 0, 5, 1, 4, 2])
    plain, permuted = quick(max_iter=50).fit(X, y), quick(max_iter=50).fit(X[:, order], y)
    np.testing.assert_allclose(permuted.rule_base_.centers, plain.rule_base_.centers[:, order], rtol=1e-6)
    np.testing.assert_allclose(permuted.predict(X[:, order]), plain.predict(X), rtol=1e-6)


def test_several_targets_share_the_rules(friedman):
    X, y = friedman
    model = quick(n_rules=16, max_iter=1500).fit(X, np.column_stack([y, 100 * X[:, 0], -y]))
    assert model.predict(X).shape == (300, 3)
    assert model.rule_base_.consequents.shape == (16, 3, 7)
    assert model.score(X, np.column_stack([y, 100 * X[:, 0], -y])) > 0.8


def test_one_column_of_targets_stays_a_column(friedman):
    X, y = friedman
    column, flat = quick().fit(X, y[:, None]), quick().fit(X, y)
    assert column.predict(X).shape == (300, 1)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))


# -- weights and the order of rows -------------------------------------------------------------------------------------


def test_weights_equal_copies_to_the_bit(friedman):
    X, y = friedman
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    weighted = quick().fit(X, y, sample_weight=weight)
    copied = quick().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))


def test_order_of_rows_does_not_matter(friedman):
    X, y = friedman
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(quick().fit(X, y).predict(X), quick().fit(X[order], y[order]).predict(X))


def test_weights_move_the_fit():
    X = np.random.default_rng(0).normal(size=(100, 1))
    y = X[:, 0] + np.r_[np.zeros(50), np.ones(50)]
    weight = np.r_[np.full(50, 3.0), np.ones(50)]
    model = quick(n_rules=1, max_iter=2000, l2=0.0, keep_prob=1.0).fit(X, y, weight, X_val=X, y_val=X[:, 0] + 0.25)
    assert model.predict([[0.0]])[0] == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("weight", [np.zeros(300), -np.ones(300), np.full(300, np.nan), np.ones(7)])
def test_bad_weights_are_refused(friedman, weight):
    with pytest.raises(ValueError, match=r"sample_weight|weight"):
        quick().fit(*friedman, sample_weight=weight)


# -- scikit-learn's manners --------------------------------------------------------------------------------------------


def test_same_seed_same_bits_in_any_number_of_threads(friedman):
    X, y = friedman
    alone = quick(init="kmeans").fit(X, y).predict(X)
    found = joblib.Parallel(n_jobs=4, prefer="threads")(
        joblib.delayed(lambda: quick(init="kmeans").fit(X, y).predict(X))() for _ in range(8)
    )
    for prediction in found:
        np.testing.assert_array_equal(prediction, alone)


def test_clone_and_pickle(friedman):
    X, y = friedman
    model = quick(init=FuzzyCMeansInitializer(m=1.3), optimizer=AdaBelief(epsilon=1e-10)).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.rule_base_ == model.rule_base_


def test_works_in_pipelines_searches_and_threaded_cross_validation(friedman):
    X, y = friedman
    pipeline = make_pipeline(StandardScaler(), quick())
    search = GridSearchCV(pipeline, {"tskregressor__n_rules": [2, 4]}, cv=2).fit(X, y)
    assert search.best_params_["tskregressor__n_rules"] in (2, 4)
    with joblib.parallel_backend("threading", n_jobs=2):
        threaded = cross_val_score(quick(), X, y, cv=3)
    np.testing.assert_array_equal(threaded, cross_val_score(quick(), X, y, cv=3))


def test_frames_give_their_names_to_the_rules(friedman):
    X, y = friedman
    names = ["alpha", "beta", "gamma", "delta", "eps", "zeta"]
    frame, series = pd.DataFrame(X, columns=names), pd.Series(y, name="price")
    model = quick().fit(frame, series)
    assert list(model.feature_names_in_) == names
    assert model.rule_base_.feature_names == tuple(names)
    assert "price =" in str(model.rule_base_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])


def test_polars_equals_pandas(friedman):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = quick().fit(pl.from_pandas(frame), pl.Series("price", y))
    assert model.rule_base_.feature_names == tuple("abcdef")
    assert model.rule_base_.output_names == ("price",)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), quick().fit(frame, y).predict(frame))


@pytest.mark.parametrize("change", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2], lambda X: X.tolist()])
def test_layout_of_the_input_does_not_matter(friedman, change):
    X, y = friedman
    np.testing.assert_array_equal(quick().fit(change(X), y).predict(change(X)), quick().fit(X, y).predict(X))


def test_read_only_and_small_types_are_taken(friedman):
    X, y = np.round(friedman[0] * 100), np.round(friedman[1])
    plain = quick().fit(X, y).predict(X)
    locked = X.copy()
    locked.flags.writeable = False
    np.testing.assert_array_equal(quick().fit(locked, y).predict(locked), plain)
    for dtype in (np.float32, np.int32, np.uint8):
        np.testing.assert_array_equal(quick().fit(X.astype(dtype), y.astype(np.int16)).predict(X.astype(dtype)), plain)


def test_threads_of_predict_change_nothing(friedman):
    X, y = friedman
    model = quick().fit(X, y)
    many = np.tile(X, (200, 1))
    np.testing.assert_array_equal(model.set_params(n_jobs=2).predict(many), model.set_params(n_jobs=None).predict(many))


def test_shares_sum_to_one(friedman):
    X, y = friedman
    share = quick().fit(X, y).firing_share(X)
    assert share.shape == (300, 8)
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-12)


# -- progress, callback, interruption ----------------------------------------------------------------------------------


def test_verbose_shows_progress_in_the_units_of_the_target(friedman, capsys):
    X, y = friedman
    model = quick(max_iter=600, verbose=1, **GIVEN).fit(X, y)
    lines = capsys.readouterr().out.strip().splitlines()
    assert "iteration 600/600" in lines[-1]
    assert f"best {model.history_['val_loss'].min():.4g} in iteration {model.best_iter_}" in lines[-1]


def test_verbose_tells_of_coinciding_centers(capsys):
    X = np.random.default_rng(0).uniform(size=(300, 10))
    quick(verbose=1).fit(X, X[:, 0])
    assert re.search(r"the 8 initial rules have only [1-7] distinct centers", capsys.readouterr().out)


def test_callback_sees_progress_and_can_end_training(friedman):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    model = quick(max_iter=5000, **GIVEN).fit(*friedman, callback=callback)
    assert len(seen) == 2
    assert model.n_iter_ == seen[-1].n_iter < 5000
    assert seen[-1].best_loss == pytest.approx(model.history_["val_loss"].min())


def test_interrupt_keeps_the_best_rules(friedman):
    X, y = friedman

    def callback(progress):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = quick(max_iter=5000, **GIVEN).fit(X, y, callback=callback)
    assert model.n_iter_ < 5000
    assert model.score(X, y) > 0.5


def test_patience_ends_training_so_many_iterations_after_the_best(friedman):
    model = quick(max_iter=5000, n_iter_no_change=37, schedule="constant").fit(*friedman)
    assert model.n_iter_ == model.best_iter_ + 37


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_numbers_are_named(friedman, value):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[17, "c"] = value
    with pytest.raises(ValueError, match=r"X contains infinity in column 'c' \(first in row 17; 1 such"):
        quick().fit(frame, y)
    with pytest.raises(ValueError, match="column 2"):
        quick().fit(frame.to_numpy(), y)
    fitted = quick().fit(X, y)
    with pytest.raises(ValueError, match="X contains"):
        fitted.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="y contains infinity"):
        quick().fit(X, np.r_[value, y[1:]])
    with pytest.raises(ValueError, match="y contains NaN"):
        quick().fit(X, np.r_[np.nan, y[1:]])


@pytest.mark.parametrize("dtype", ["str", "category", "object"])
def test_text_columns_are_named(friedman, dtype):
    X, y = friedman
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(fuel=pd.Series(["gas", "oil"] * 150, dtype=dtype))
    with pytest.raises(ValueError, match=r"column 'fuel' is not.*TableEncoder"):
        quick().fit(frame, y)
    with pytest.raises(ValueError, match="column 'fuel' is not"):
        quick().fit(pl.DataFrame({"a": X[:, 0], "fuel": ["gas", "oil"] * 150}), y)


def test_boolean_columns_are_numbers(friedman):
    X, y = friedman
    frame = pd.DataFrame({"a": X[:, 0], "big": X[:, 1] > 0.5})
    np.testing.assert_array_equal(
        quick().fit(frame, y).predict(frame), quick().fit(frame.astype(float), y).predict(frame)
    )


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 2)), np.zeros(4), "inconsistent numbers of samples"),
        (np.zeros((1, 2)), np.zeros(1), "minimum of 2 is required"),
        (np.zeros((0, 2)), np.zeros(0), "0 sample"),
        (np.zeros((3, 0)), np.zeros(3), "0 feature"),
        (np.zeros(3), np.zeros(3), "Expected 2D array"),
        (np.zeros((3, 2)), ["a", "b", "c"], "could not convert|convert string"),
        (np.zeros((3, 2)), None, "requires y"),
    ],
)
def test_wrong_shapes_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(X, y)


def test_sparse_input_is_refused_with_advice(friedman):
    with pytest.raises(TypeError, match="dense"):
        quick().fit(csr_array(friedman[0]), friedman[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_rules": 0}, "'n_rules'.*Got 0"),
        ({"n_rules": 2.5}, "'n_rules'"),
        ({"learning_rate": 0.0}, "'learning_rate'"),
        ({"learning_rate": np.inf}, "'learning_rate'"),
        ({"keep_prob": 1.5}, r"'keep_prob'.*Got 1\.5"),
        ({"keep_prob": 0.0}, "'keep_prob'"),
        ({"powerball": -1}, "'powerball'"),
        ({"l2": -0.1}, "'l2'"),
        ({"batch_size": 0}, "'batch_size'"),
        ({"max_iter": 0}, "'max_iter'"),
        ({"averaging": 1.0}, "'averaging'"),
        ({"validation_fraction": 1.0}, "'validation_fraction'"),
        ({"n_iter_no_change": 0}, "'n_iter_no_change'"),
        ({"optimizer": "adabeleif"}, "optimizer 'adabeleif' is unknown, did you mean 'adabelief'"),
        ({"init": "k-means"}, "init 'k-means' is unknown, did you mean 'kmeans'"),
        ({"init": 7}, "'init'"),
        ({"projection": "seperate"}, "did you mean 'separate'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"standardize": "input"}, "did you mean 'inputs'"),
        ({"n_projections": "log"}, "did you mean 'log2'"),
        ({"init": "grid"}, r"2 \*\* 6 rules, but n_rules=8"),
    ],
)
def test_bad_parameters_are_named(friedman, settings, message):
    with pytest.raises(ValueError, match=message):
        quick(**settings).fit(*friedman)


def test_validation_rows_must_have_the_columns_of_the_training_rows(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="In X_val and y_val: X has 5 features"):
        quick().fit(X, y, X_val=X[:, :5], y_val=y)
    with pytest.raises(ValueError, match="y_val is missing"):
        quick().fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="y_val must have 1 target"):
        quick().fit(X, y, X_val=X, y_val=np.column_stack([y, y]))
    with pytest.raises(ValueError, match="In X_val and y_val: X contains infinity in column 1"):
        quick().fit(X, y, X_val=[[0.0, np.inf, 0.0, 0.0, 0.0, 0.0]], y_val=[1.0])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    with pytest.raises(ValueError, match="In X_val and y_val: The feature names should match"):
        quick().fit(frame, y, X_val=frame.rename(columns={"a": "z"}), y_val=y)


def test_unfitted_model_says_so(friedman):
    with pytest.raises(NotFittedError):
        TSKRegressor().predict(friedman[0])


def test_dates_and_masked_values_are_not_taken_for_numbers(friedman):
    X, y = friedman
    with pytest.raises(ValueError, match="X must be numbers, got dates"):
        quick().fit((X * 1e9).astype("datetime64[ns]"), y)
    with pytest.raises(ValueError, match="y must be numbers, got dates"):
        quick().fit(X, pd.Series(pd.date_range("2020", periods=300)))
    masked = np.ma.masked_array(X, mask=np.zeros_like(X, dtype=bool))
    masked[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match="X must not have masked values"):
        quick().fit(masked, y)


def test_classes_in_place_of_objects_are_refused(friedman):
    with pytest.raises(ValueError, match=r"write AdaBelief\(\)"):
        quick(optimizer=AdaBelief).fit(*friedman)


def test_failed_fit_leaves_an_unfitted_model(friedman):
    X, y = friedman

    def callback(progress):
        raise RuntimeError("no more")

    model = quick()
    with pytest.raises(RuntimeError, match="no more"):
        model.fit(X, y, callback=callback)
    with pytest.raises(NotFittedError):
        model.predict(X)


# -- odd but legal input -----------------------------------------------------------------------------------------------


def test_fewer_rows_than_rules_gives_fewer_rules_and_a_warning():
    with pytest.warns(UserWarning, match="n_rules=16 is more than the 4 distinct rows"):
        model = TSKRegressor(16, random_state=0, max_iter=50, **GIVEN).fit(np.arange(5.0)[:, None], np.arange(5.0))
    assert model.rule_base_.n_rules == 4


def test_constant_columns_have_no_say(friedman):
    X, y = friedman
    model = quick(extrapolation="linear").fit(np.column_stack([X, np.full(300, 7.0)]), y)
    moved = model.predict(np.column_stack([X, np.full(300, -1e3)]))
    np.testing.assert_allclose(moved, model.predict(np.column_stack([X, np.full(300, 7.0)])), rtol=1e-9)


def test_duplicate_rows_train_as_one_row():
    X, y = np.ones((20, 3)), np.full(20, 4.0)
    assert TSKRegressor(max_iter=20).fit(X, y).predict(X[:1])[0] == pytest.approx(4.0)
    with pytest.warns(UserWarning, match="more than the 1 distinct rows"):
        assert TSKRegressor(4, max_iter=20).fit(X, y).predict(X[:1])[0] == pytest.approx(4.0)


def test_constant_target_is_predicted(friedman):
    model = quick(extrapolation="linear").fit(friedman[0], np.full(300, -3.5))
    np.testing.assert_allclose(model.predict(friedman[0] * 100), -3.5)


@pytest.mark.parametrize("factor", [1e298, 1e-300])
def test_very_large_and_very_small_numbers(friedman, factor):
    X, y = friedman
    plain = quick().fit(X, y).score(X, y)
    model = quick().fit(X * factor, y * factor)
    error = (model.predict(X * factor) - y * factor) / factor
    assert 1 - error.var() / y.var() > plain - 0.1


def test_numbers_too_large_to_train_on_are_named(friedman):
    X, y = friedman
    names, huge = list("abcdef"), X.copy()
    huge[7:, 2] = 1.7e308
    with pytest.raises(ValueError, match=r"X has numbers beyond 1e\+300 in column 'c' \(first in row 7\)"):
        quick().fit(pd.DataFrame(huge, columns=names), y)
    with pytest.raises(ValueError, match=r"X has numbers beyond 1e\+300 in column 2 \(first in row 7\)"):
        quick().partial_fit(-huge, y)
    with pytest.raises(ValueError, match=r"y has numbers beyond 1e\+300 \(first in row 3\)"):
        quick().fit(X, np.where(y == y[3], 1e305, y))


@pytest.mark.parametrize("name", ["n_rules", "max_iter", "batch_size", "l2", "learning_rate"])
def test_true_is_no_number(friedman, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TSKRegressor must be .*Got True instead"):
        TSKRegressor(**{name: True}).fit(*friedman)


def test_rules_for_a_target_of_the_smallest_numbers_can_be_printed(friedman):
    X, y = friedman
    for scale in (1e-322, 1e-310, 1e298):
        assert "THEN" in str(quick().fit(X, y * scale).model_)


def test_rows_far_from_all_rules_get_finite_predictions(friedman):
    model = quick(extrapolation="linear").fit(*friedman)
    assert np.isfinite(model.predict(np.array([[1e6] * 6, [-1e100] * 6, [1e200] * 6]))).all()


@pytest.mark.parametrize("optimizer", ["adabelief", "adam", "adabound", "sgdm"])
@pytest.mark.parametrize("rate", [1e3, 1e6, 1e300])
def test_divergence_ends_with_finite_rules_and_a_warning(friedman, optimizer, rate):
    with pytest.warns(ConvergenceWarning, match="Lower learning_rate"):
        model = quick(learning_rate=rate, optimizer=optimizer, schedule="constant").fit(*friedman)
    assert np.isfinite(model.predict(friedman[0])).all()
    assert model.score(*friedman) > -0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_ten_thousand_features():
    X = np.random.default_rng(0).normal(size=(60, 10_000))
    model = quick(n_rules=4, max_iter=20).fit(X, X[:, 0])
    share = model.firing_share(X * 10)
    assert np.isfinite(model.predict(X)).all()
    np.testing.assert_allclose(share.sum(axis=1), 1.0)


def test_ctrl_c_from_outside_reaches_a_running_fit(friedman):
    """A real signal, sent to the main thread while the kernel runs."""
    import os
    import signal

    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(UserWarning, match="interrupted"):
        model = quick(max_iter=10_000_000, schedule="constant", **GIVEN).fit(*friedman)
    timer.join()
    assert 0 < model.n_iter_ < 10_000_000
    assert model.score(*friedman) > 0.5


def test_numpy_s_own_scalars_mean_what_python_s_mean(friedman):
    X, y = friedman
    for settings, same in [
        ({"n_projections": np.int64(1), "projection": "shared"}, {"n_projections": 1, "projection": "shared"}),
        ({"standardize": np.True_}, {"standardize": True}),
        ({"standardize": np.False_}, {"standardize": False}),
        ({"n_rules": np.int64(3)}, {"n_rules": 3}),
    ]:
        np.testing.assert_array_equal(quick(**settings).fit(X, y).predict(X), quick(**same).fit(X, y).predict(X))
    model = quick(max_iter=5000).fit(X, y, callback=lambda progress: np.float64(progress.train_loss) > 0)
    assert model.stopped_ == "callback"


@pytest.mark.filterwarnings("ignore:Training did not improve")
def test_outliers_do_not_make_the_order_of_rows_matter(friedman):
    X, y = friedman[0].copy(), friedman[1].copy()
    X[0], y[0] = 1e9, 1e9
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(quick().fit(X, y).predict(X), quick().fit(X[order], y[order]).predict(X))


def test_numbers_in_columns_of_objects_are_numbers(friedman):
    X, y = friedman
    frame = pd.DataFrame(X, columns=list("abcdef"))
    np.testing.assert_array_equal(
        quick().fit(frame.astype(object), y).predict(frame), quick().fit(frame, y).predict(frame)
    )


def test_columns_of_one_name_are_refused():
    X = pd.DataFrame(np.eye(5, 2), columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        quick().fit(X, np.arange(5.0))


@pytest.mark.parametrize("settings", [{}, {"n_rules": 8}])
def test_a_row_that_is_half_of_the_table_is_learned(settings):
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(3000, 2)), np.zeros((3000, 2))]
    y = np.r_[X[:3000, 0], np.full(3000, 5.0)]
    model = TSKRegressor(max_iter=1500, random_state=1, **settings).fit(X, y)
    assert model.predict([[0.0, 0.0]])[0] == pytest.approx(5.0, abs=0.3)


# -- optimizers and feasible sets of one's own -------------------------------------------------------------------------


@dataclass(frozen=True)
class RMSProp:
    """Steps divided by the root of a running mean of squares (Tieleman and Hinton, 2012)."""

    decay: float = 0.9

    def phi(self, g, m, t):
        return g

    def psi(self, g, m, v, t):
        return self.decay * v + (1 - self.decay) * g**2

    def omega(self, alpha, v, t):
        return alpha / (np.sqrt(v) + 1e-8)


@dataclass(frozen=True)
class EqualWidths:
    """Every feature has one width."""

    def project(self, parameters, v):
        widths = parameters["widths"]
        return parameters | {"widths": np.broadcast_to(widths.mean(axis=0), widths.shape)}


def test_an_optimizer_of_ones_own_trains():
    X, y = make_friedman1(300, 5, random_state=0)
    model = TSKRegressor(n_rules=4, recipe="droprule", optimizer=RMSProp(), max_iter=500, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.6
    assert clone(model).optimizer == RMSProp()


def test_a_feasible_set_of_ones_own_is_kept_to():
    X, y = make_friedman1(300, 5, random_state=0)
    model = TSKRegressor(n_rules=4, recipe="droprule", bounds=EqualWidths(), max_iter=200, random_state=0).fit(X, y)
    widths = model.rule_base_.widths
    np.testing.assert_allclose(widths, np.broadcast_to(widths[0], widths.shape), rtol=1e-9)


def test_bounds_keep_centers_within_the_data_in_every_stage():
    X, y = make_friedman1(300, 5, noise=1.0, random_state=0)
    low, high = ((end - X.mean(axis=0)) / X.std(axis=0) for end in (X.min(axis=0), X.max(axis=0)))
    model = TSKRegressor(bounds=Bounds(centers=(low, high)), max_iter=300, random_state=0).fit(X, y)
    free = TSKRegressor(bounds=None, max_iter=300, random_state=0).fit(X, y)
    outside = [
        ((m.rule_base_.centers < X.min(axis=0) - 1e-9) | (m.rule_base_.centers > X.max(axis=0) + 1e-9)).mean()
        for m in (model, free)
    ]
    assert outside[0] == 0
    assert outside[1] > 0


RANGED = {
    "accurate": {"max_iter": 400},
    "droprule": {"recipe": "droprule", "max_iter": 2000, "learning_rate": 0.1},
    "grid": {"init": "grid", "n_rules": 32, "max_iter": 400},
    "random": {"init": "random", "n_rules": 8, "max_iter": 400},
    "targets as they are": {"standardize": "inputs", "max_iter": 400},
}


@pytest.mark.parametrize("params", RANGED.values(), ids=RANGED)
def test_centers_and_widths_stay_within_the_range_of_the_data_if_wanted(params):
    """To the last digit for centers, of columns far from zero, too."""
    X, y = make_friedman1(300, 5, noise=1.0, random_state=0)
    X = X * [1.0, 30.0, 0.01, 2.0, 5.0] + [0.0, 2000.0, -1.0, 1e6, 3.0]
    rules = TSKRegressor(**params, bounds="data", random_state=0).fit(X, y).rule_base_
    assert rules.n_rules > 1
    assert (rules.centers >= X.min(axis=0)).all()
    assert (rules.centers <= X.max(axis=0)).all()
    assert (rules.widths <= np.ptp(X, axis=0) * (1 + 1e-9)).all()
    free = TSKRegressor(**params, bounds=None, random_state=0).fit(X, y).rule_base_
    is_beyond = (free.centers < X.min(axis=0)) | (free.centers > X.max(axis=0)) | (free.widths > np.ptp(X, axis=0))
    assert is_beyond.any()


def test_features_beside_projections_stay_within_their_range():
    X, y = make_friedman1(200, 5, noise=1.0, random_state=0)
    params = {"projection": "shared", "n_projections": 2, "max_iter": 600}
    model = TSKRegressor(8, **params, bounds="data", random_state=0).fit(X, y)
    centers, widths = model.rule_base_.centers, model.rule_base_.widths
    assert (widths[:, 2:] <= np.ptp(X, axis=0) * (1 + 1e-9)).all()
    assert ((centers[:, 2:] >= X.min(axis=0)) & (centers[:, 2:] <= X.max(axis=0))).all()


def test_a_constant_column_has_its_center_there_and_a_width_that_excludes_nothing():
    X, y = make_friedman1(100, 5, random_state=0)
    X = np.c_[X, np.full(100, 7.1)]
    rules = TSKRegressor(8, max_iter=200, bounds="data", random_state=0).fit(X, y).rule_base_
    np.testing.assert_allclose(rules.centers[:, 5], 7.1, rtol=1e-12)
    assert (rules.widths[:, 5] > 1e-3).all()


def test_agreement_makes_rules_right_one_by_one(friedman):
    """In every recipe, what the governing rule says by itself is nearer to the target."""
    X, y = friedman
    for recipe in ("accurate", "droprule"):
        alone = []
        for price in (0.0, 0.3):
            model = quick(recipe=recipe, agreement=price, max_iter=1000).fit(X, y)
            governing = model.firing_share(X).argmax(axis=1)
            said = model.rule_base_.rule_outputs(X)[np.arange(len(X)), governing, 0]
            alone.append(np.sqrt(np.mean((said - y) ** 2)))
        assert alone[1] < 0.8 * alone[0]


def test_agreement_does_not_depend_on_the_units_of_the_target(friedman):
    X, y = friedman
    one, thousand = (quick(agreement=0.1).fit(X, factor * y).predict(X) / factor for factor in (1.0, 1024.0))
    np.testing.assert_allclose(one, thousand, rtol=1e-6)


@pytest.mark.parametrize("params", [{"optimizer": object()}, {"bounds": object()}, {"optimizer": 3}, {"bounds": 3}])
def test_other_objects_are_refused(params):
    with pytest.raises(ValueError, match=f"The '{next(iter(params))}' parameter of TSKRegressor must be"):
        TSKRegressor(**params).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.parametrize("recipe", ["accurate", "droprule"])
@pytest.mark.parametrize("constant", [1e-6, 0.0, 0.1, 1e12])
def test_a_constant_target_among_several_is_predicted_but_for_rounding(recipe, constant):
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = TSKRegressor(4, recipe=recipe, max_iter=200, random_state=0).fit(
        X, np.c_[np.full(100, constant), X[:, 0] ** 2]
    )
    np.testing.assert_allclose(model.predict(X)[:, 0], constant, rtol=1e-14)
    assert (
        np.corrcoef(model.predict(X)[:, 1], X[:, 0])[0, 1] ** 2
        < 0.9
        < np.corrcoef(model.predict(X)[:, 1], X[:, 0] ** 2)[0, 1]
    )


def test_pyarrow_equals_pandas(friedman):
    pyarrow = pytest.importorskip("pyarrow")
    X, y = friedman
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    table = pyarrow.Table.from_pandas(frame)
    model = TSKRegressor(3, max_iter=20, random_state=0).fit(table, pyarrow.array(y))
    assert model.feature_names_in_.tolist() == list(frame)
    expected = TSKRegressor(3, max_iter=20, random_state=0).fit(frame, y).predict(frame)
    np.testing.assert_array_equal(model.predict(table), expected)
