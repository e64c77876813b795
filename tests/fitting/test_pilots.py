"""Sizes and penalties that are found out: n_rules, l2, smoothness and batch_size at "auto"."""

import signal
import threading

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error

from takagi import TSKRegressor
from takagi.fitting import Rows, Watch, _pilots, make_plan, run_pilots
from takagi.fitting._pilots import _split, is_clearly_less
from takagi.fitting._plan import count_rules


def seek(X, y, seed=0, watch=None, **params):
    """Run pilots on rows."""
    params = TSKRegressor(max_iter=1000, **params).get_params()
    rows = Rows(X, np.reshape(y, (len(X), -1)), np.ones(len(X)))
    return run_pilots(rows, None, make_plan(params, *X.shape), np.random.default_rng(seed), watch or Watch())


@pytest.mark.parametrize(
    ("n_rows", "n_features", "expected"),
    [
        (2, 1, 2),
        (20, 3, 8),
        (100, 3, 16),
        (400, 3, 64),
        (1000, 10, 64),
        (1001, 10, 128),
        (10**6, 10, 128),
        (1000, 400, 8),
        (1000, 9999, 4),
    ],
)
def test_the_number_of_rules_grows_with_the_rows_and_falls_with_the_features(n_rows, n_features, expected):
    assert count_rules(n_rows, n_features) == expected


@pytest.mark.parametrize("n_rows", [2, 3, 10, 100])
@pytest.mark.parametrize("n_features", [1, 4])
def test_few_rows_are_fitted_without_a_word(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    model = TSKRegressor(max_iter=100, random_state=0).fit(X, X.sum(axis=1))
    assert np.isfinite(model.predict(X)).all()
    assert model.rule_base_.n_rules == model.n_rules_ <= max(8, n_rows)


def noisy(noise, n_rows=600):
    return make_friedman1(n_rows, 5, noise=noise, random_state=0)


def test_penalties_grow_with_the_noise():
    quiet, loud = (TSKRegressor(max_iter=2000, random_state=0).fit(*noisy(noise)) for noise in (0.1, 5.0))
    assert loud.l2_ > 20 * quiet.l2_
    assert loud.smoothness_ > 5 * quiet.smoothness_


def test_penalties_that_are_given_are_used():
    settings = {"max_iter": 50, "n_adjustments": 0, "random_state": 0}
    model = TSKRegressor(l2=0.25, **settings).fit(*noisy(1.0))
    assert model.l2_ == 0.25
    assert model.smoothness_ > 0
    assert np.isnan(model.history_["val_loss"]).all()
    given = TSKRegressor(l2=0.25, smoothness=0.5, n_teachers=0, **settings).fit(*noisy(1.0))
    assert (given.l2_, given.smoothness_) == (0.25, 0.5)
    assert [stage.name for stage in given.stages_] == ["training"]


def test_all_rows_train_to_the_end_unless_there_is_something_to_wait_for():
    X, y = noisy(1.0)
    model = TSKRegressor(max_iter=200, n_teachers=0, random_state=0).fit(X, y)
    assert model.rule_base_.profile.n_rows == 600
    assert model.best_iter_ == model.n_iter_ == 200
    patient = TSKRegressor(max_iter=2000, n_iter_no_change=50, random_state=0).fit(X, y)
    assert np.isfinite(patient.history_["val_loss"]).all()
    assert patient.best_iter_ <= patient.n_iter_
    given = TSKRegressor(max_iter=200, random_state=0).fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    assert given.history_["val_loss"][given.best_iter_ - 1] == given.history_["val_loss"].min()


def test_large_tables_get_larger_batches():
    X, y = noisy(1.0, n_rows=2000)
    assert TSKRegressor(max_iter=20, random_state=0).fit(X, y).batch_size_ == 256
    assert TSKRegressor(max_iter=20, random_state=0).fit(X[:1000], y[:1000]).batch_size_ == 64
    assert TSKRegressor(max_iter=20, batch_size=10, random_state=0).fit(X, y).batch_size_ == 10


def test_defaults_beat_the_papers_settings():
    X, y = noisy(1.0)
    test = make_friedman1(1000, 5, noise=1.0, random_state=1)
    paper = {"l2": 0.05, "smoothness": 0.0, "keep_prob": 0.5, "learning_rate": 0.01, "max_iter": 1000}
    errors = [
        root_mean_squared_error(test[1], TSKRegressor(random_state=0, **settings).fit(X, y).predict(test[0]))
        for settings in ({}, {"n_rules": 16, "recipe": "droprule", "schedule": "constant", "averaging": 0.0, **paper})
    ]
    assert errors[0] < errors[1]


def test_the_units_of_the_target_do_not_matter():
    X, y = noisy(1.0, n_rows=200)
    fits = [TSKRegressor(max_iter=300, random_state=0).fit(X, y * factor) for factor in (1.0, 8.0)]
    assert fits[1].l2_ == pytest.approx(fits[0].l2_)
    assert fits[1].smoothness_ == pytest.approx(fits[0].smoothness_)


def test_every_pilot_judges_rows_that_it_did_not_see():
    rng = np.random.default_rng(0)
    rows = Rows(np.arange(40.0)[:, None], rng.normal(size=(40, 1)), np.ones(40))
    splits = list(_split(rows, make_plan(TSKRegressor().get_params(), 40, 1), rng))
    judged = np.concatenate([judges.X[:, 0] for _, judges in splits])
    assert len(splits) == 6
    assert len(judged) == len(set(judged))  # each split holds out other rows
    for training, judges in splits:
        assert not set(training.X[:, 0]) & set(judges.X[:, 0])
        assert len(training.X) + len(judges.X) == 40


def test_weak_smoothness_is_chosen_for_fine_detail():
    X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 1))
    assert seek(X, np.sin(25 * X[:, 0])).penalties.smoothness_per_noise < 3.0


def test_the_noise_is_the_part_of_the_variance_that_no_model_explains():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    signal = X[:, 0] * X[:, 1]
    found = seek(X, signal + signal.std() * rng.normal(size=1500))
    assert found.penalties.noise == pytest.approx(0.5, abs=0.08)


def test_differences_are_weighted_throughout():
    errors, others = np.array([0.0, 0.0, 2.0]), np.array([1.0, 1.0, 0.0])
    assert is_clearly_less(errors, others, np.array([1.0, 1.0, 1e-9]))
    assert not is_clearly_less(errors, others, np.ones(3))
    doubled = [np.repeat(part, 2) for part in (errors, others)]
    weight = np.array([3.0, 2.0, 1.0])
    assert is_clearly_less(*doubled, np.repeat(weight, 2)) >= is_clearly_less(errors, others, weight)


def interrupt(progress):
    raise KeyboardInterrupt


def test_ctrl_c_in_a_pilot_is_raised_and_leaves_the_estimator_as_it_was():
    X, y = noisy(1.0)
    model = TSKRegressor(max_iter=500, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, callback=interrupt)
    assert vars(model) == vars(TSKRegressor(max_iter=500, random_state=0))
    model.fit(X[:, :3], y)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, callback=interrupt)
    assert vars(model) == before


def test_a_real_ctrl_c_in_a_pilot_is_raised():
    threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        TSKRegressor(max_iter=10**6, random_state=0).fit(*noisy(1.0))


def test_a_callback_ends_the_pilots_and_then_the_training():
    X, y = noisy(1.0)
    seen = []

    def end(progress):
        seen.append(progress.stage)
        return True

    model = TSKRegressor(max_iter=2000, random_state=0).fit(X, y, callback=end)
    assert seen == ["pilots", "training"]
    assert model.stopped_ == "callback"
    assert model.n_iter_ == 250
    assert [(stage.name, stage.n_fits) for stage in model.stages_] == [("pilots", 1), ("training", 1)]


@pytest.mark.parametrize("name", ["n_rules", "l2", "smoothness", "batch_size"])
def test_another_word_is_refused(name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of TSKRegressor must be .*a str among {{'auto'}}"):
        TSKRegressor(**{name: "automatic"}).fit([[1.0], [2.0]], [1.0, 2.0])


def test_the_droprule_recipe_drops_rules_and_holds_rows_out():
    model = TSKRegressor(4, recipe="droprule", max_iter=100, random_state=0).fit(*noisy(1.0))
    assert model.recipe_ == "droprule"
    assert (model.keep_prob_, model.l2_, model.smoothness_, model.batch_size_) == (0.8, 0.05, 0.0, 64)
    assert np.isfinite(model.history_["val_loss"]).all()


def test_the_number_of_rules_does_not_choose_the_recipe():
    model = TSKRegressor(4, max_iter=100, random_state=0).fit(*noisy(1.0))
    assert (model.recipe_, model.keep_prob_) == ("accurate", 1.0)
    assert model.n_rules_ == 4
    assert min(model.l2_, model.smoothness_) > 0
    assert np.isnan(model.history_["val_loss"]).all()


def test_what_was_used_gives_the_same_model_again():
    X, y = noisy(1.0)
    first = TSKRegressor(max_iter=200, random_state=0).fit(X, y)
    again = TSKRegressor(first.n_rules_, recipe=first.recipe_, max_iter=200, random_state=0).fit(X, y)
    assert again.rule_base_ == first.rule_base_


def linear(n_rows=400, n_features=60):
    X = np.random.default_rng(0).normal(5.0, 2.0, size=(n_rows, n_features))
    slopes = np.linspace(-1.0, 1.0, n_features)  # all of them matter
    return X, 10.0 + X @ slopes + np.random.default_rng(1).normal(size=n_rows)


def test_ridge_regression_is_one_rule_where_it_does_better():
    X, y = linear()
    model = TSKRegressor(max_iter=300, random_state=0).fit(X, y)
    assert (model.n_rules_, model.n_iter_, model.best_iter_, model.stopped_) == (1, 0, 0, "ridge")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    ridge = RidgeCV(np.logspace(-6, 5, 23)).fit(scaled, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(scaled), rtol=1e-9)
    assert "IF anything" in str(model.rule_base_)


def test_ridge_regression_takes_weights_and_several_targets():
    X, y = linear()
    weight = np.r_[np.ones(200), np.full(200, 2.0)]
    model = TSKRegressor(max_iter=300, random_state=0).fit(X, np.c_[y, -y], weight)
    assert model.stopped_ == "ridge"
    copies = TSKRegressor(max_iter=300, random_state=0).fit(np.r_[X, X[200:]], np.r_[y, y[200:]])
    np.testing.assert_allclose(model.predict(X)[:, 0], copies.predict(X), rtol=1e-6)


def test_ridge_regression_is_not_taken_for_a_given_number_of_rules():
    assert TSKRegressor(2, max_iter=300, random_state=0).fit(*linear()).n_rules_ == 2


def test_verbose_tells_what_the_pilots_found(capsys):
    TSKRegressor(max_iter=300, random_state=0, verbose=1).fit(*linear())
    assert "of the target's variance unexplained; ridge regression does better" in capsys.readouterr().out


def test_a_noisy_fit_is_shorter_and_counts_what_it_does():
    told = []
    X, y = noisy(5.0, n_rows=1100)
    model = TSKRegressor(3, random_state=0).fit(X, y, callback=told.append)
    assert model.n_iter_ == 3500
    assert told[-1].n_iter == told[-1].max_iter == sum(stage.n_iter for stage in model.stages_)
    assert TSKRegressor(3, max_iter=4000, random_state=0).fit(X, y).n_iter_ == 4000


@pytest.mark.parametrize(("noise", "n_fits"), [(0.5, 5), (2.0, 7)])
def test_little_smoothness_is_tried_only_where_somewhat_less_is_not_clearly_worse(monkeypatch, noise, n_fits):
    X, y = noisy(noise)
    watch = Watch()
    found = seek(X, y, watch=watch)
    assert watch.stages[0].n_fits == n_fits
    assert watch.n_expected == watch.stages[0].n_iter
    monkeypatch.setattr(_pilots, "_N_NEAR", len(_pilots.SMOOTHNESS_PER_NOISE))  # all are tried at once
    assert seek(X, y).penalties == found.penalties


def test_pilots_are_given_a_sample_of_very_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 1))
    watch = Watch()
    seek(X, X, watch=watch, batch_size=10, n_rules=1)
    assert watch.stages[0].n_fits == 7
    assert watch.n_expected == 2 * 500 + 5 * 250
