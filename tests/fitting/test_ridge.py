"""How much of a model is rules, and how much is ridge regression or the mean."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error

from takagi import ExtrapolationWarning, RuleBase, TSKCommittee, TSKRegressor
from takagi.fitting import Mix, Rows
from takagi.fitting._logistic import fit_logistic, measure_log_step, measure_sharpness
from takagi.fitting._pilots import choose_mix, measure_step, mix_members
from takagi.fitting._ridge import fit_ridge
from takagi.training import LogLoss


def draw(n_rows=80, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(5.0, 2.0, size=(n_rows, n_features)), rng.normal(size=n_rows)


def make_rows(X, y):
    return Rows(X, np.reshape(y, (len(X), -1)), np.ones(len(X)))


@pytest.mark.parametrize("part", [0.0, 0.4, 1.0])
def test_step_is_measured_with_its_standard_error(part):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        step = rng.normal(size=(40, 1))
        found.append(measure_step(part * step + 0.5 * rng.normal(size=(40, 1)), step, np.ones(40)))
    slopes, errors = np.array(found).T
    assert slopes.mean() == pytest.approx(part, abs=0.02)
    assert errors.mean() == pytest.approx(slopes.std(), rel=0.2)


def test_doubtful_rules_get_a_smaller_share_than_sure_ones():
    rng = np.random.default_rng(1)
    step, noise = rng.normal(size=(2, 40, 1))
    noise -= step * (noise * step).sum() / (step**2).sum()  # so that it does not change the slope
    line = rng.normal(size=(40, 1))
    shares = [choose_mix(line + 0.5 * step + size * noise, line, line + step, np.ones(40)).rules for size in (0.1, 1.5)]
    assert 0 < shares[1] < 0.9 * shares[0]


def test_step_to_nowhere_or_beyond_all_bounds_is_not_taken():
    left = np.ones((5, 1))
    for step in (np.zeros((5, 1)), np.full((5, 1), 1e200), np.full((5, 1), np.nan)):
        assert measure_step(left, step, np.ones(5)) == (0.0, 0.0)
    assert choose_mix(left, left, -left, np.ones(5)) == Mix(1.0, 0.0, is_exact=True)


def test_step_does_not_depend_on_units_and_heeds_weights():
    rng = np.random.default_rng(2)
    step = rng.normal(size=(60, 1))
    left = 0.5 * step + 0.3 * rng.normal(size=(60, 1))
    expected = measure_step(left, step, np.ones(60))
    assert measure_step(8 * left, 8 * step, np.full(60, 3.0)) == pytest.approx(expected)
    weight = np.r_[np.ones(30), np.zeros(30)]
    assert measure_step(left, step, weight) == pytest.approx(measure_step(left[:30], step[:30], np.ones(30)))


def test_mix_is_the_mean_for_noise_and_ridge_regression_for_a_line():
    rng = np.random.default_rng(3)
    line, noise, wrong = rng.normal(size=(3, 200, 1))
    weight = np.ones(200)
    assert choose_mix(noise, line, wrong, weight) == Mix(0.0, 0.0)
    assert choose_mix(line + 0.1 * noise, line, line + 0.3 * wrong, weight) == Mix(1.0, 0.0)
    assert choose_mix(line + wrong, line, line + wrong, weight) == Mix(1.0, 1.0)


def test_the_mean_of_members_gets_as_much_more_as_their_own_errors_cancel():
    x = np.random.default_rng(5).uniform(-1, 1, 2_000)
    rows = make_rows(x[:, None], abs(x))
    splits = [(rows.take(np.flatnonzero(place != k)), rows.take(np.flatnonzero(place == k)))
              for place in [np.arange(2_000) % 4] for k in range(4)]  # fmt: skip

    def make_member(error):
        """Return rules that say abs(x), and a slope that is wrong."""
        consequents = np.array([[[0.0, error - 1.0]], [[0.0, error + 1.0]]])
        return RuleBase(np.array([[-1.0], [1.0]]), np.full((2, 1), 0.1), consequents)

    alike = mix_members([make_member(0.7)] * 4, rows, splits)
    apart = mix_members([make_member(0.7), make_member(-0.7)] * 2, rows, splits)
    single = (1 / 12) / (1 / 12 + 0.7**2 / 3)  # variance of abs(x) over that of the difference from ridge regression
    assert alike.rules == pytest.approx(single, abs=0.03)
    assert apart.rules == 1.0


def test_mixed_rules_say_what_rules_and_ridge_regression_say_in_these_shares():
    X, _ = draw()
    rows = make_rows(X, X @ [1.0, -2.0, 0.5, 0.0])
    rules = RuleBase(X[:3], np.full((3, 4), 2.0), np.random.default_rng(0).normal(size=(3, 1, 5)))
    mixed = Mix(0.9, 0.3).apply(rules, rows)
    expected = 0.3 * rules.predict(X) + 0.7 * fit_ridge(rows, 0.9).predict(X)
    np.testing.assert_allclose(mixed.predict(X), expected, rtol=1e-12)
    assert Mix().apply(rules, rows) is rules


def test_mixed_rules_say_the_same_where_values_are_missing():
    X, _ = draw()
    X[::3, 1] = X[::7, 2] = np.nan
    rows = make_rows(X, np.nan_to_num(X) @ [1.0, -2.0, 0.5, 0.0])
    rng = np.random.default_rng(0)
    centers, usual = rng.normal(5.0, 2.0, size=(2, 3, 4))
    consequents = rng.normal([0.0, 1.0, -2.0, 1.0, 0.0], 0.1, size=(3, 1, 5))
    rules = RuleBase(centers, np.full((3, 4), 2.0), consequents, usual=usual)
    line = fit_ridge(rows)
    assert np.abs(line.usual[0, 1:3]).max() < 0.5  # what was put in place of NaN, while the mean is 5
    expected = 0.3 * rules.predict(X) + 0.7 * line.predict(X)
    np.testing.assert_allclose(Mix(1.0, 0.3).apply(rules, rows).predict(X), expected, rtol=1e-12)


def test_missing_value_counts_as_the_mean_where_no_other_number_does_better():
    X, noise = draw(200)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    line = fit_ridge(make_rows(X, np.nan_to_num(X, nan=5.0) @ [1.0, -2.0, 0.5, 0.0] + noise))
    away = (line.usual[0] - np.nanmean(X, axis=0)) * line.consequents[0, 0, 1:]
    assert np.abs(away).max() < 0.5  # half of the noise, whose deviation is 1


def test_missing_value_of_a_feature_that_rules_leave_out_does_not_count_as_zero():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(150, 30)), rng.normal(1990.0, 3.0, size=150)]
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.02 * (X[:, 30] - 1990.0) + 0.3 * rng.normal(size=150)
    X[rng.random(150) < 0.5, 30] = np.nan
    model = TSKRegressor(max_iter=400, random_state=0).fit(X, y)
    assert root_mean_squared_error(y, model.predict(X)) < y.std()


def test_ridge_regression_without_slopes_is_the_mean():
    X, y = draw()
    said = fit_ridge(make_rows(X, y), 0.0).predict(X)
    np.testing.assert_allclose(said, np.full(80, y.mean()), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_answered_with_about_the_mean(seed):
    X, y = draw(seed=seed)
    model = TSKRegressor(max_iter=400, random_state=0).fit(X, y)
    assert np.std(model.predict(X)) < 0.25 * y.std()


def test_line_is_answered_with_ridge_regression():
    X, noise = draw()
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * noise
    model = TSKRegressor(max_iter=400, random_state=0).fit(X, y)
    ridge = RidgeCV(np.logspace(-6, 5, 23)).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    fresh = draw(seed=9)[0]
    expected = ridge.predict((fresh - X.mean(axis=0)) / X.std(axis=0))
    assert root_mean_squared_error(expected, model.predict(fresh)) < 0.25  # half of the noise


QUICK = TSKRegressor(max_iter=400, random_state=0)
COMMON = [QUICK, TSKCommittee(4, QUICK, random_state=0)]


@pytest.mark.parametrize("model", COMMON, ids=["regressor", "committee"])
def test_small_noisy_wide_table_is_not_clearly_worse_than_ridge_regression(model):
    ratios = []
    for seed in range(3):
        X, noise = draw(360, 30, seed)
        y = X[:, :10].sum(axis=1) + 4 * noise
        train, test = slice(0, 60), slice(60, None)
        said = model.fit(X[train], y[train]).predict(X[test])
        center, scale = X[train].mean(axis=0), X[train].std(axis=0)
        ridge = RidgeCV(np.logspace(-2, 4, 13)).fit((X[train] - center) / scale, y[train])
        simple = min(
            root_mean_squared_error(y[test], ridge.predict((X[test] - center) / scale)),
            root_mean_squared_error(y[test], np.full(300, y[train].mean())),
        )
        ratios.append(root_mean_squared_error(y[test], said) / simple)
    assert max(ratios) < 1.1


def test_clear_detail_is_all_rules():
    X, _ = draw(200, 2)
    y = np.sin(X[:, 0])
    model = TSKRegressor(max_iter=600, random_state=0).fit(X, y)
    assert model.n_rules_ > 1
    assert root_mean_squared_error(y, model.predict(X)) < 0.3 * y.std()


LINEAR = [*COMMON, TSKRegressor(recipe="short", random_state=0)]


@pytest.mark.filterwarnings("ignore:No split of the rows")
@pytest.mark.parametrize("model", LINEAR, ids=["regressor", "committee", "short"])
def test_difference_of_nearly_equal_columns_is_found(model):
    rng = np.random.default_rng(0)
    price = 100 + np.cumsum(rng.normal(size=203))
    X = np.column_stack([price[2:], price[1:-1], price[:-2]])
    y = price[1:-1] - price[:-2]
    said = model.fit(X[::2], y[::2]).predict(X[1::2])
    assert root_mean_squared_error(y[1::2], said) < 0.005 * y.std()


@pytest.mark.filterwarnings("ignore:No split of the rows")
@pytest.mark.parametrize("model", LINEAR, ids=["regressor", "committee", "short"])
def test_line_without_noise_goes_on_beyond_the_data_and_one_with_noise_is_held(model):
    X, noise = draw()
    line = X @ [1.0, -2.0, 0.5, 0.0]
    assert model.fit(X, line).predict(100 * X[:1]) == pytest.approx(100 * line[:1], rel=1e-3)
    with pytest.warns(ExtrapolationWarning):
        held = model.fit(X, line + 0.5 * noise).predict(100 * X[:1])
    assert abs(held[0]) < 0.5 * abs(100 * line[0])


# ----------------------------------------------------------------------------------------------------------------------
# Classes
# ----------------------------------------------------------------------------------------------------------------------


def draw_classes(log_odds, seed=0):
    return (np.random.default_rng(seed).random(log_odds.shape) < expit(log_odds)).astype(float)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_log_step_has_the_least_log_loss(n_outputs):
    rng = np.random.default_rng(0)
    start, step, weight = rng.normal(size=(200, n_outputs)), rng.normal(size=(200, n_outputs)), rng.random(200)
    target = draw_classes(start + 0.7 * step) if n_outputs == 1 else np.eye(3)[(start + 0.7 * step).argmax(axis=1)]
    part, doubt = measure_log_step(target, start, step, weight)
    loss = [weight @ LogLoss().measure_rows(start + (part + h) * step, target) for h in (-0.01, 0.0, 0.01)]
    assert loss[1] == min(loss)
    assert 0 < doubt < 1


def test_log_step_is_measured_with_its_standard_error():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(200):
        step = 2 * rng.normal(size=(80, 1))
        found.append(measure_log_step(draw_classes(0.5 * step, seed), np.zeros((80, 1)), step, np.ones(80)))
    parts, errors = np.array(found).T
    assert np.median(parts) == pytest.approx(0.5, abs=0.05)
    assert np.median(errors) == pytest.approx(parts.std(), rel=0.3)


def test_mix_of_classes_is_frequencies_for_noise_logistic_regression_for_a_line_and_rules_for_detail():
    line, detail = np.random.default_rng(1).normal(size=(2, 600, 1)) * 2
    prior, weight = np.zeros((600, 1)), np.ones(600)
    assert choose_mix(draw_classes(prior), line, detail, weight, prior)[:2] == (0.0, 0.0)
    assert choose_mix(draw_classes(line), line, line + 0.5 * detail, weight, prior)[:2] == (1.0, 0.0)
    assert choose_mix(draw_classes(line + detail), line, line + detail, weight, prior).rules == 1.0


def test_sharpness_undoes_log_odds_that_are_too_large_and_is_finite_for_separable_rows():
    log_odds = 2 * np.random.default_rng(2).normal(size=(2000, 1))
    target, weight = draw_classes(log_odds), np.ones(2000)
    assert measure_sharpness(target, 2 * log_odds, weight) == pytest.approx(0.5, abs=0.06)
    assert measure_sharpness(target, log_odds, weight) == pytest.approx(1.0, abs=0.06)
    assert 1 <= measure_sharpness((log_odds > 0).astype(float), log_odds, weight) <= 3
    assert measure_sharpness(target[:5], 1.1 * log_odds[:5], weight[:5]) == pytest.approx(1.0, abs=0.4)


def test_rows_without_an_error_do_not_make_a_model_less_sure():
    sure = 12 * np.sign(np.random.default_rng(2).normal(size=(100, 1)))
    right, weight = (sure > 0).astype(float), np.ones(100)
    assert measure_sharpness(right, sure, weight) == 1.0
    right[:3] = 1 - right[:3]
    assert measure_sharpness(right, sure, weight) < 0.5


def test_mixed_and_sharpened_rules_say_so_in_log_odds():
    X, _ = draw()
    rows = make_rows(X, draw_classes(X[:, 0] - 5))
    rules = RuleBase(X[:3], np.full((3, 4), 2.0), np.random.default_rng(0).normal(size=(3, 1, 5)), link="logit")
    mix = Mix(0.9, 0.3, penalty=3.0, sharpness=0.5)
    line = fit_logistic(rows, 0.9, 3.0)
    expected = 0.5 * (0.3 * rules.predict_raw(X) + 0.7 * line.predict_raw(X))
    np.testing.assert_allclose(mix.apply(rules, rows).predict_raw(X), expected, rtol=1e-9)
