"""Training: every optimizer against the oracle, and what must hold whatever the numbers are."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference as ref
from cases import GROUPS, PROJECTIONS, explore, make_problem, make_rules, problems, to_oracle, to_takagi
from takagi import RuleBase, TrainConfig, train
from takagi.optimizers import OPTIMIZERS, SGDM, AdaBelief, AdaBound, Adam
from takagi.training import fork_generator

PLAIN = TrainConfig(
    SGDM(beta1=0.0), learning_rate=1e-3, powerball=1.0, keep_prob=1.0, l2=0.0, batch_size=100, max_iter=5
)


def assert_same_rules(actual: RuleBase, expected: RuleBase | ref.Rules, rtol):
    """Compare every group of parameters, relative to the largest of the group."""
    expected = to_oracle(expected) if isinstance(expected, RuleBase) else expected
    for letter, word in GROUPS.items():
        wanted = getattr(expected, letter)
        assert (getattr(actual, word) is None) == (wanted is None)
        if wanted is not None:
            np.testing.assert_allclose(getattr(actual, word), wanted, rtol=0, atol=rtol * np.abs(wanted).max())


@pytest.fixture
def data():
    """A curve of two features: rows and targets for training and validation."""
    rng = np.random.default_rng(7)
    X = rng.uniform(-2, 2, size=(90, 2))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=90)
    return X[:60], y[:60], X[60:], y[60:]


@pytest.fixture
def start():
    return to_takagi(make_rules(np.random.default_rng(8), n_rules=5, n_features=2))


# ----------------------------------------------------------------------------------------------------------------------
# The oracle
# ----------------------------------------------------------------------------------------------------------------------

N_ITER, N_ROWS = 8, 7


def assert_follows_the_oracle(seed, config, settings, rtol=1e-8, **sizes):
    """Train takagi and the oracle on the same random batches and masks, with validation rows and without."""
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n_rows=30, weighted=True, **sizes)
    X_val, y_val = rng.normal(size=(11, problem.X.shape[1])), rng.normal(size=(11, problem.y.shape[1]))
    weight_val = rng.uniform(0.1, 2.0, size=11)
    batches = np.array([rng.permutation(30)[:N_ROWS] for _ in range(N_ITER)])
    keep = rng.random((N_ITER, N_ROWS, len(problem.rules.C))) < 0.5

    start, data = to_takagi(problem.rules), (problem.X, problem.y, problem.weight)
    options = {"batches": batches, "keep": keep, "sample_weight": problem.weight}
    found = train(start, *data[:2], X_val, y_val, config, sample_weight_val=weight_val, **options)
    expected = ref.train(problem.rules, data, [(X_val, y_val, weight_val)], batches, keep, settings)
    np.testing.assert_allclose(found.history["train_loss"], expected.train, rtol=rtol)
    np.testing.assert_allclose(found.history["val_loss"], expected.scores[0], rtol=rtol)
    assert found.best_iter == expected.best_iter
    assert_same_rules(found.rule_base, expected.best, rtol)

    last = train(start, *data[:2], None, None, config, **options)
    assert_same_rules(last.rule_base, ref.train(problem.rules, data, [], batches, keep, settings).best, rtol)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("n_sets", [None, 2])
@pytest.mark.parametrize("powerball", [0.5, 0.7, 1.0])
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_every_optimizer_follows_the_oracle(rule, powerball, n_sets, projection):
    options = {
        "learning_rate": 0.003,
        "powerball": powerball,
        "l2": 0.1,
        "smoothness": 0.2,
        "agreement": 0.3,
        "uniformity": 0.4,
    }
    sizes = {"n_rules": 10, "n_features": 3, "n_outputs": 2, "projection": projection, "n_sets": n_sets}
    config = TrainConfig(OPTIMIZERS[rule], **options)
    assert_follows_the_oracle(1, config, ref.Settings(rule, **options), **sizes)


@pytest.mark.parametrize(
    ("rule", "optimizer"),
    [
        ("sgdm", SGDM(beta1=0.7)),
        ("adam", Adam(0.8, 0.95, 1e-3)),
        ("adabound", AdaBound(0.8, 0.95, 1e-3)),
        ("adabelief", AdaBelief(0.8, 0.95, 1e-3)),
    ],
)
def test_constants_of_an_optimizer_act_as_in_the_oracle(rule, optimizer):
    constants = {name: getattr(optimizer, name) for name in ("beta1", "beta2", "epsilon") if hasattr(optimizer, name)}
    assert_follows_the_oracle(2, TrainConfig(optimizer), ref.Settings(rule, constants=constants), n_rules=4)


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
@pytest.mark.parametrize("averaging", [0.0, 0.6, 0.99])
@pytest.mark.parametrize("rule", OPTIMIZERS)
def test_schedule_and_averaging_follow_the_oracle(rule, averaging, schedule):
    options = {"schedule": schedule, "averaging": averaging}
    config = TrainConfig(OPTIMIZERS[rule], max_iter=N_ITER, **options)
    assert_follows_the_oracle(3, config, ref.Settings(rule, **options), n_rules=6, n_outputs=3)


@pytest.mark.parametrize("floor", [None, 0.0, 2.0, 100.0])
@pytest.mark.parametrize("n_sets", [None, 2])
def test_the_floor_of_widths_is_that_of_the_oracle(floor, n_sets):
    options = {"width_floor": floor, "learning_rate": 0.3}
    assert_follows_the_oracle(4, TrainConfig(Adam(), **options), ref.Settings("adam", **options), n_sets=n_sets)


@pytest.mark.parametrize(("n_sets", "share_of_smallest"), [(None, 0.1), (2, 1.0)])
def test_widths_stay_above_a_share_of_the_smallest_initial_one(n_sets, share_of_smallest):
    """A tenth of it, and all of it where rules share sets, as in the authors' code."""
    problem = make_problem(np.random.default_rng(5), n_rows=40, n_sets=n_sets)
    floor = problem.rules.S.min() * share_of_smallest
    config = TrainConfig(Adam(), learning_rate=1.0, max_iter=100, keep_prob=1.0)
    rules = train(to_takagi(problem.rules), problem.X, problem.y, None, None, config).rule_base
    assert rules.widths.min() == floor


# ----------------------------------------------------------------------------------------------------------------------
# Equal runs
# ----------------------------------------------------------------------------------------------------------------------


def test_powerball_one_equals_plain_gradients(data, start):
    X, y, _, _ = data
    gradient, _ = ref.gradient(to_oracle(start), X, y[:, None], np.ones(len(X)), l2=0.3)
    config = replace(PLAIN, l2=0.3, max_iter=1)
    after = train(start, X, y, None, None, config).rule_base
    for letter, word in GROUPS.items():
        if getattr(gradient, letter) is not None:
            change = getattr(start, word) - getattr(after, word)
            np.testing.assert_allclose(change, config.learning_rate * getattr(gradient, letter), atol=1e-13)


@pytest.mark.parametrize("exponent", [0.5, 0.3])
def test_powerball_takes_the_power_and_keeps_the_sign(data, start, exponent):
    X, y, _, _ = data
    steps = []
    for powerball in (1.0, exponent):
        after = train(start, X, y, None, None, replace(PLAIN, powerball=powerball, max_iter=1)).rule_base
        steps.append((start.consequents - after.consequents) / PLAIN.learning_rate)
    np.testing.assert_allclose(steps[1], np.sign(steps[0]) * np.abs(steps[0]) ** exponent, rtol=1e-9)


def test_keep_prob_one_equals_no_droprule(data, start):
    X, y, X_val, y_val = data
    config = TrainConfig(keep_prob=1.0, batch_size=len(X), max_iter=300)
    plain = train(start, X, y, X_val, y_val, config)
    batches = np.tile(np.arange(len(X)), (300, 1))
    for keep in (None, np.ones((*batches.shape, start.n_rules), dtype=bool)):
        replayed = train(start, X, y, X_val, y_val, config, batches=batches, keep=keep)
        assert replayed.rule_base == plain.rule_base
        np.testing.assert_array_equal(replayed.history["train_loss"], plain.history["train_loss"])
        np.testing.assert_array_equal(replayed.history["val_loss"], plain.history["val_loss"])


def test_keep_prob_is_how_often_rules_are_kept(start):
    """With one row, a bias that moves shows that its rule was kept."""
    config = replace(PLAIN, keep_prob=0.3, max_iter=1, batch_size=1)
    rng, X, y, n_kept = np.random.default_rng(0), np.zeros((1, 2)), np.array([100.0]), []
    for _ in range(2000):
        after = train(start, X, y, None, None, config, rng=rng).rule_base
        n_kept.append((after.consequents[:, 0, 0] != start.consequents[:, 0, 0]).sum())
    n_rules, none = start.n_rules, 0.7**start.n_rules  # a row that keeps none keeps all
    expected = 0.3 * n_rules + none * n_rules
    assert np.mean(n_kept) == pytest.approx(expected, abs=5 * np.std(n_kept) / np.sqrt(2000))


def test_shared_sets_stay_shared(data):
    X, y, X_val, y_val = data
    start = to_takagi(make_rules(np.random.default_rng(9), n_rules=11, n_features=2, n_sets=3))
    rules = train(start, X, y, X_val, y_val, TrainConfig(averaging=0.9), rng=np.random.default_rng(0)).rule_base
    assert not np.array_equal(rules.centers, start.centers)
    for m, column in enumerate(start.sets.T):
        for values in (rules.centers, rules.widths):
            assert all(len(set(values[column == chosen, m])) == 1 for chosen in set(column))


def test_one_set_for_every_rule_equals_independent_rules(data, start):
    """Rules that share no set are trained alike, whether sets are named or not."""
    named = replace(start, sets=np.repeat(np.arange(start.n_rules)[:, None], 2, axis=1))
    config = TrainConfig(width_floor=0.1, max_iter=200)
    results = [train(rules, *data, config, rng=np.random.default_rng(1)) for rules in (start, named)]
    assert_same_rules(results[0].rule_base, results[1].rule_base, 0.0)


@pytest.mark.parametrize("averaging", [0.0, 0.95])
def test_a_shared_projection_stays_one(data, averaging):
    start = to_takagi(make_rules(np.random.default_rng(10), n_features=2, projection="shared"))
    rules = train(start, *data, TrainConfig(averaging=averaging), rng=np.random.default_rng(0)).rule_base
    assert rules.tied_projection
    assert not np.array_equal(rules.antecedent_projection, start.antecedent_projection)
    np.testing.assert_array_equal(rules.antecedent_projection, rules.consequent_projection)


def test_one_rule_without_penalty_tends_to_least_squares():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(50, 3))
    y = np.column_stack([X @ [1.0, -2.0, 0.5] + 3.0, X[:, 0] ** 2]) + 0.1 * rng.normal(size=(50, 2))
    start = RuleBase(np.zeros((1, 3)), np.ones((1, 3)), np.zeros((1, 2, 4)))
    config = replace(PLAIN, optimizer=Adam(), learning_rate=0.05, schedule="cosine", max_iter=4000)
    rules = train(start, X, y, None, None, config).rule_base
    expected = np.linalg.lstsq(ref.bias_and(X), y, rcond=None)[0].T
    np.testing.assert_allclose(rules.consequents[0], expected, atol=1e-6)
    np.testing.assert_array_equal(rules.centers, start.centers)
    np.testing.assert_array_equal(rules.widths, start.widths)


@explore
@given(problems(max_rules=9, max_features=6, projection="none"), st.randoms(use_true_random=False))
def test_a_permutation_of_features_permutes_columns_and_nothing_else(problem, random):
    order = list(range(problem.X.shape[1]))
    random.shuffle(order)
    rules, config = to_takagi(problem.rules), replace(PLAIN, l2=problem.l2)
    permuted = replace(
        rules,
        centers=rules.centers[:, order],
        widths=rules.widths[:, order],
        consequents=rules.consequents[:, :, [0, *(1 + m for m in order)]],
        sets=None if rules.sets is None else rules.sets[:, order],
    )
    plain = train(rules, problem.X, problem.y, problem.X, problem.y, config)
    other = train(permuted, problem.X[:, order], problem.y, problem.X[:, order], problem.y, config)
    np.testing.assert_allclose(other.history["val_loss"], plain.history["val_loss"], rtol=1e-9)
    expected = to_oracle(plain.rule_base)
    slopes = expected.W[:, :, [0, *(1 + m for m in order)]]
    assert_same_rules(other.rule_base, ref.Rules(expected.C[:, order], expected.S[:, order], slopes), 1e-9)


@explore
@given(problems(max_rules=9, max_features=4, weighted=False, masked=False), st.integers(0, 1000))
def test_row_weights_equal_repeated_rows(problem, seed):
    times = np.random.default_rng(seed).integers(0, 4, size=len(problem.X))
    times[0] = 1
    start, rows = to_takagi(problem.rules), np.repeat(np.arange(len(times)), times)
    X, y = problem.X, problem.y
    weighted = train(start, X, y, X, y, PLAIN, sample_weight=times, sample_weight_val=times)
    repeated = train(start, X[rows], y[rows], X[rows], y[rows], PLAIN)
    for name in ("train_loss", "val_loss"):
        np.testing.assert_allclose(weighted.history[name], repeated.history[name], rtol=1e-9)
    assert weighted.start_loss == pytest.approx(repeated.start_loss, rel=1e-12)
    assert_same_rules(weighted.rule_base, repeated.rule_base, 1e-9)


def test_rows_of_weight_zero_are_as_if_left_out(data, start):
    X, y, X_val, y_val = data
    absent = np.zeros((9, 2)) + 50.0
    far = np.concatenate([X, absent]), np.concatenate([y, np.full(9, 1e6)])
    far_val = np.concatenate([X_val, absent]), np.concatenate([y_val, np.full(9, 1e6)])
    weight, weight_val = (np.r_[np.ones(n), np.zeros(9)] for n in (len(X), len(X_val)))
    with_them = train(start, *far, *far_val, PLAIN, sample_weight=weight, sample_weight_val=weight_val)
    without = train(start, *data, PLAIN)
    np.testing.assert_allclose(with_them.history["val_loss"], without.history["val_loss"], rtol=1e-13)
    assert_same_rules(with_them.rule_base, without.rule_base, 1e-13)


def test_a_common_factor_of_validation_weights_changes_nothing(data, start):
    one, seven = (train(start, *data, PLAIN, sample_weight_val=np.full(30, weight)) for weight in (1.0, 7.0))
    np.testing.assert_allclose(one.history["val_loss"], seven.history["val_loss"], rtol=1e-13)


def test_the_same_seed_gives_the_same_bits_in_any_number_of_threads(data, start):
    def run(seed):
        return train(start, *data, TrainConfig(batch_size=16, max_iter=600), rng=np.random.default_rng(seed))

    alone = [run(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, [0, 1, 2, 3] * 3))
    for i, result in enumerate(together):
        assert result.rule_base == alone[i % 4].rule_base
        np.testing.assert_array_equal(result.history["val_loss"], alone[i % 4].history["val_loss"])
    assert alone[0].rule_base != alone[1].rule_base


def test_no_averaging_and_a_constant_schedule_equal_the_plain_run(data, start):
    config = TrainConfig(max_iter=100)
    options = replace(config, averaging=0.0, schedule="constant")
    first, second = (train(start, *data, chosen, rng=np.random.default_rng(0)) for chosen in (config, options))
    assert first.rule_base == second.rule_base
    barely = train(start, *data, replace(config, averaging=1e-13), rng=np.random.default_rng(0))
    assert_same_rules(barely.rule_base, first.rule_base, 1e-10)


def test_the_cosine_schedule_ends_at_rate_zero(data, start):
    """The first rate is the full one, the last is almost none: the last of many steps hardly moves."""
    config = TrainConfig(SGDM(beta1=0.0), powerball=1.0, keep_prob=1.0, schedule="cosine", max_iter=1000)
    X, y = data[:2]
    first = train(start, X, y, None, None, replace(config, schedule="constant", max_iter=1)).rule_base
    batches = np.tile(np.arange(len(X)), (1000, 1))
    steps = [train(start, X, y, None, None, config, batches=batches[:n]).rule_base for n in (1, 999, 1000)]
    assert_same_rules(steps[0], first, 0.0)
    assert np.abs(steps[2].centers - steps[1].centers).max() < 1e-6


def test_averaged_rules_lie_between_the_iterates(data, start):
    """The running mean, corrected for its start, is the first iterate after one step and near it after two."""
    config = replace(PLAIN, averaging=0.9)
    X, y = data[:2]
    plain = [train(start, X, y, None, None, replace(PLAIN, max_iter=n)).rule_base.centers for n in (1, 2)]
    averaged = [train(start, X, y, None, None, replace(config, max_iter=n)).rule_base.centers for n in (1, 2)]
    np.testing.assert_allclose(averaged[0], plain[0], rtol=1e-14)
    np.testing.assert_allclose(averaged[1], (0.9 * plain[0] + plain[1]) / 1.9, rtol=1e-13)


def test_several_outputs_without_shared_gain_are_trained_together(data, start):
    """Two equal outputs pull the sets twice as hard, and each consequent as one output does."""
    X, y = data[:2]
    twice = replace(start, consequents=np.repeat(start.consequents, 2, axis=1))
    one = train(start, X, y, None, None, replace(PLAIN, max_iter=1)).rule_base
    two = train(twice, X, np.column_stack([y, y]), None, None, replace(PLAIN, max_iter=1)).rule_base
    np.testing.assert_allclose(two.consequents, np.repeat(one.consequents, 2, axis=1), rtol=1e-12)
    np.testing.assert_allclose(two.centers - start.centers, 2 * (one.centers - start.centers), rtol=1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# The best iteration and the end
# ----------------------------------------------------------------------------------------------------------------------


def test_the_best_iteration_is_the_first_of_smallest_validation_error(data, start):
    X_val, y_val = data[2:]
    result = train(start, *data, TrainConfig(learning_rate=0.1, max_iter=400), rng=np.random.default_rng(0))
    curve = result.history["val_loss"]
    assert result.best_iter == 1 + np.argmin(curve) < 400
    assert result.best_loss == curve.min()
    error = result.rule_base.predict(X_val) - y_val
    assert np.sqrt(np.mean(error**2)) == pytest.approx(result.best_loss, rel=1e-12)
    assert (result.n_iter, result.stopped) == (400, "max_iter")


def test_iterates_between_two_validations_are_passed_over(data, start):
    config = TrainConfig(learning_rate=0.1, max_iter=400)
    every, tenth = (train(start, *data, config, rng=np.random.default_rng(0), every=n) for n in (1, 10))
    np.testing.assert_array_equal(every.history["train_loss"], tenth.history["train_loss"])
    curve, seen = every.history["val_loss"], tenth.history["val_loss"]
    assert (seen[:9] == tenth.start_loss).all()
    for n in (10, 140, 250, 400):  # 250 ends a block
        assert (seen[n - 1 : n + 9] == curve[n - 1]).all()
    assert tenth.best_iter % 10 == 0
    assert tenth.best_loss == curve[9::10].min()


def test_the_first_of_equal_iterations_is_the_best(data, start):
    result = train(start, *data, replace(PLAIN, learning_rate=0.0))
    assert len(set(result.history["val_loss"])) == 1
    assert (result.best_iter, result.n_iter) == (1, 5)


def test_the_initial_rules_are_no_candidate(data, start):
    X, y, _, _ = data
    result = train(start, X, y, X, start.predict(X), TrainConfig(max_iter=3), rng=np.random.default_rng(0))
    assert result.start_loss == pytest.approx(0.0, abs=1e-12)
    assert result.best_iter >= 1
    assert result.rule_base != start


def test_without_validation_the_last_iterate_is_returned(data, start):
    X, y, _, _ = data
    result = train(start, X, y, None, None, TrainConfig(max_iter=20), rng=np.random.default_rng(0))
    assert (result.best_iter, result.n_iter) == (20, 20)
    assert np.isnan(result.history["val_loss"]).all()
    assert np.isnan(result.start_loss)
    np.testing.assert_array_equal(np.isfinite(result.history["train_loss"]), True)


def test_runs_of_no_iterations_return_the_initial_rules(data, start):
    result = train(start, *data, TrainConfig(max_iter=0), rng=np.random.default_rng(0))
    assert result.rule_base == start
    assert (result.best_iter, result.n_iter) == (0, 0)
    assert result.best_loss == result.start_loss


def test_patience_ends_training_that_no_longer_improves(data, start):
    config = TrainConfig(learning_rate=0.3, max_iter=5000)
    full = train(start, *data, config, rng=np.random.default_rng(0))
    patient = train(start, *data, replace(config, n_iter_no_change=40), rng=np.random.default_rng(0))
    assert patient.stopped == "no_change"
    assert patient.n_iter == patient.best_iter + 40 < 5000
    np.testing.assert_array_equal(patient.history["val_loss"], full.history["val_loss"][: patient.n_iter])


@pytest.mark.parametrize("patience", [1, 10, 248, 249, 250, 499, 600])
def test_patience_is_counted_from_the_best_iteration(data, start, patience):
    """Validation targets that training moves away from make the first iteration the best one."""
    X, y = data[:2]
    config = replace(PLAIN, learning_rate=1e-5, n_iter_no_change=patience, max_iter=1000)
    far = start.predict(X) + 1000 * np.sign(start.predict(X) - y)
    result = train(start, X, y, X, far, config)
    assert (result.stopped, result.best_iter, result.n_iter) == ("no_change", 1, 1 + patience)


def test_the_callback_is_told_how_training_goes(data, start):
    told = []
    result = train(start, *data, TrainConfig(max_iter=700), rng=np.random.default_rng(0), callback=told.append)
    assert [progress.n_iter for progress in told] == sorted({progress.n_iter for progress in told})
    assert told[-1].n_iter == 700
    for progress in told:
        so_far = result.history["val_loss"][: progress.n_iter]
        assert progress.max_iter == 700
        assert progress.train_loss == result.history["train_loss"][progress.n_iter - 1]
        assert progress.val_loss == so_far[-1]
        assert (progress.best_iter, progress.best_loss) == (1 + so_far.argmin(), so_far.min())


def test_a_callback_that_returns_true_ends_training(data, start):
    result = train(
        start, *data, TrainConfig(max_iter=5000), rng=np.random.default_rng(0), callback=lambda progress: True
    )
    assert result.stopped == "callback"
    assert 0 < result.n_iter < 5000
    assert result.best_iter == 1 + result.history["val_loss"].argmin()


def test_a_callback_changes_no_numbers(data, start):
    quiet = train(start, *data, TrainConfig(max_iter=600), rng=np.random.default_rng(0))
    called = train(
        start, *data, TrainConfig(max_iter=600), rng=np.random.default_rng(0), callback=lambda progress: None
    )
    assert called.rule_base == quiet.rule_base


def test_an_interrupt_keeps_the_best_rules_so_far(data, start):
    seen = []

    def interrupt(progress):
        seen.append(progress)
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match=r"interrupted; the best rules of \d+ iterations are kept") as warned:
        result = train(start, *data, TrainConfig(max_iter=5000), rng=np.random.default_rng(0), callback=interrupt)
    assert warned[0].filename == __file__
    assert result.stopped == "interrupted"
    assert result.n_iter == seen[0].n_iter < 5000
    assert (result.best_iter, result.best_loss) == (seen[0].best_iter, seen[0].best_loss)
    error = result.rule_base.predict(data[2]) - data[3]
    assert np.sqrt(np.mean(error**2)) == pytest.approx(result.best_loss, rel=1e-12)


def test_other_exceptions_of_the_callback_are_passed_on(data, start):
    def fail(progress):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        train(start, *data, TrainConfig(max_iter=10), rng=np.random.default_rng(0), callback=fail)


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("powerball", [0.5, 1.0])
@pytest.mark.parametrize("rate", [1e6, 1e300])
@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_divergence_ends_with_finite_rules(data, start, optimizer, powerball, rate, averaging):
    config = TrainConfig(optimizer, learning_rate=rate, powerball=powerball, averaging=averaging, max_iter=300)
    X, y, X_val, y_val = data
    for validation in ((X_val, y_val), (None, None)):
        result = train(start, X, y, *validation, config, rng=np.random.default_rng(0))
        assert np.isfinite(result.history["train_loss"]).all()
        assert result.n_iter == 300 or result.stopped == "diverged"
        assert all(np.isfinite(getattr(result.rule_base, name)).all() for name in ("centers", "widths", "consequents"))
        if result.best_iter == 0:
            assert result.rule_base == start


@pytest.mark.parametrize("rate", [1e3, 1e6])
def test_rules_of_a_run_that_diverged_still_predict(data, start, rate):
    """Huge but finite rules predict what validation saw."""
    X_val, y_val = data[2:]
    config = TrainConfig(Adam(), learning_rate=rate, max_iter=3)
    result = train(start, *data, config, rng=np.random.default_rng(0))
    error = result.rule_base.predict(X_val) - y_val
    assert np.sqrt(np.mean(error**2)) == pytest.approx(result.best_loss, rel=1e-6)


def test_targets_that_are_no_numbers_leave_the_initial_rules(data, start):
    X, y, X_val, y_val = data
    result = train(start, X, np.full_like(y, np.nan), X_val, y_val, TrainConfig(), rng=np.random.default_rng(0))
    assert (result.stopped, result.best_iter) == ("diverged", 0)
    assert result.rule_base == start


# ----------------------------------------------------------------------------------------------------------------------
# Inputs
# ----------------------------------------------------------------------------------------------------------------------


def test_order_and_type_of_arrays_do_not_matter(data, start):
    X, y, X_val, y_val = (np.round(part, 1) for part in data)
    expected = train(start, X, y, X_val, y_val, TrainConfig(max_iter=50), rng=np.random.default_rng(0))
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    spaced = np.repeat(X_val, 2, axis=0)[::2]
    config, rng = TrainConfig(max_iter=50), np.random.default_rng(0)
    assert train(start, frozen, y[:, None], spaced, list(y_val), config, rng=rng).rule_base == expected.rule_base
    whole = train(start, (10 * X).astype(np.int32), y, None, None, PLAIN)
    assert whole.rule_base == train(start, (10 * X).astype(np.int32).astype(float), y, None, None, PLAIN).rule_base


def test_training_changes_none_of_its_arguments(data, start):
    copies = [part.copy() for part in data]
    before = replace(start)
    batches, keep = np.zeros((3, 4), dtype=int), np.zeros((3, 4, 5), dtype=bool)
    train(start, *data, TrainConfig(), batches=batches, keep=keep)
    assert start == before
    assert not batches.any()
    assert not keep.any()
    for part, copy in zip(data, copies, strict=True):
        np.testing.assert_array_equal(part, copy)


def test_a_batch_larger_than_the_data_is_all_of_it(data, start):
    X, y = data[:2]
    results = [train(start, X, y, None, None, replace(PLAIN, batch_size=size)) for size in (60, 1000)]
    assert results[0].rule_base == results[1].rule_base


def test_one_row_and_one_feature_will_do():
    start = RuleBase([[0.0], [1.0]], [[1.0], [1.0]], np.zeros((2, 1, 2)))
    result = train(start, [[0.5]], [2.0], [[0.5]], [2.0], TrainConfig(max_iter=500), rng=np.random.default_rng(0))
    assert result.best_loss < 0.1


def test_random_batches_need_a_generator(data, start):
    with pytest.raises(ValueError, match="train needs rng, or recorded batches and masks"):
        train(start, *data, TrainConfig(batch_size=8, keep_prob=1.0))
    with pytest.raises(ValueError, match="train needs rng, or recorded batches and masks"):
        train(start, *data, TrainConfig(keep_prob=0.5))


def test_shapes_that_do_not_fit_the_rules_are_refused(data, start):
    X, y, X_val, y_val = data
    for bad in ((X[:, :1], y), (X, y[:-1]), (X, np.column_stack([y, y]))):
        with pytest.raises(ValueError, match="the rule base has 2 features and 1 outputs, got X of shape"):
            train(start, *bad, X_val, y_val, PLAIN)
    with pytest.raises(ValueError, match=r"weights of shape \(3,\)"):
        train(start, X, y, X_val, y_val, PLAIN, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="X must have at least one row to train on"):
        train(start, X[:0], y[:0], X_val, y_val, PLAIN)
    with pytest.raises(ValueError, match=r"keep must have shape \(3, 4, 5\)"):
        train(start, *data, PLAIN, batches=np.zeros((3, 4), dtype=int), keep=np.ones((3, 5, 5), dtype=bool))


@pytest.mark.parametrize("rows", [[[0, 80]], [[-1, 0]], [[0.0, 10**9]], [0, 1]])
def test_recorded_batches_must_be_rows_of_the_data(data, start, rows):
    with pytest.raises(ValueError, match="batches must be rows 0 to"):
        train(start, *data, batches=np.array(rows) + 0 * len(data[0]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"learning_rate": -1.0}, "learning_rate must be at least 0, got -1"),
        ({"keep_prob": 2.0}, "keep_prob must be from 0 to 1, got 2"),
        ({"averaging": 2.0}, "averaging must be from 0"),
        ({"l2": float("nan")}, "l2 must be at least 0, got nan"),
        ({"smoothness": -1.0}, "smoothness must be at least 0, got -1.0"),
    ],
)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**settings)


def test_halves_of_a_pair_are_refused(data, start):
    X, y, X_val, _ = data
    with pytest.raises(ValueError, match="y_val is missing"):
        train(start, X, y, X_val, None, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="batches is missing"):
        train(start, X, y, None, None, keep=np.ones((1, 1, 1), dtype=bool))
    with pytest.raises(TypeError, match="optimizer must be an object"):
        TrainConfig(optimizer="adam")


@pytest.mark.parametrize("keep_prob", [0.5, 1.0])
@pytest.mark.parametrize(("batch_size", "max_iter"), [(7, 1), (7, 300), (9, 1037), (100, 40)])
def test_a_forked_generator_draws_what_one_training_after_the_other_draws(data, start, keep_prob, batch_size, max_iter):
    config = replace(PLAIN, keep_prob=keep_prob, batch_size=batch_size, max_iter=max_iter)
    one, other = np.random.default_rng(3), np.random.default_rng(3)
    for rng in (one, other):
        rng.integers(10, size=3, dtype=np.uint32)  # leaves half of a number of 64 bits for later
    expected = train(start, *data, config, rng=one)
    actual = train(start, *data, config, rng=fork_generator(config, len(data[0]), start.n_rules, other))
    assert_same_rules(actual.rule_base, expected.rule_base, rtol=0)
    assert (
        one.integers(2**32, size=3, dtype=np.uint32).tolist() == other.integers(2**32, size=3, dtype=np.uint32).tolist()
    )
    assert one.random() == other.random()


@pytest.mark.parametrize("every", [0, -1, 2.5, "a", None])
def test_iterations_between_validations_must_be_a_whole_number(data, every):
    rules = RuleBase(np.zeros((1, 2)), np.ones((1, 2)), np.zeros((1, 1, 3)))
    with pytest.raises(ValueError, match="every must be a whole number of at least 1"):
        train(rules, *data, PLAIN, rng=np.random.default_rng(0), every=every)
