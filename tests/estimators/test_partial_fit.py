import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import root_mean_squared_error

from streamed import X, Y, feed, small
from takagi import TSKRegressor, save


def test_blocks_of_one_row_train_whenever_a_batch_is_full():
    model, n_iter = small(), []
    for row, target in zip(X[:400], Y[:400], strict=True):
        model.partial_fit(row[None], [target])
        n_iter.append(getattr(model, "n_iter_", 0))
    n_training = 400 - len(model.stream_.seen.reservoir.X)
    assert n_iter[-1] == n_training // 64
    assert set(np.diff(n_iter)) <= {0, 1}
    assert model.stream_.n_waiting == n_training % 64


def test_rows_are_kept_until_there_are_enough():
    model = small(n_rules=20)
    model.partial_fit(X[:10], Y[:10])
    n_waiting = 10 - len(model.stream_.seen.reservoir.X)
    for use in (model.predict, model.firing_share, lambda rows: save(model, "never.takagi")):
        with pytest.raises(NotFittedError, match=f"no rules yet: it got {n_waiting} rows and needs 160"):
            use(X)
    assert feed(model, X[10:], Y[10:]).rule_base_.n_rules == 20
    assert model.rule_base_.profile.n_rows == 1200


def test_equal_rows_do_not_make_rules():
    model = small()
    model.partial_fit(np.repeat(X[:1], 2_000, axis=0), np.repeat(Y[:1], 2_000))
    assert not hasattr(model, "rule_base_")
    model.partial_fit(X[:40], Y[:40])
    assert model.n_rules_ == 3


def test_a_table_of_few_different_rows_makes_rules_in_the_end():
    X = np.random.default_rng(0).integers(0, 2, size=(25_000, 1)).astype(float)
    model = feed(small(), X, 3 * X[:, 0], size=5_000)
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [0, 3], atol=0.1)


def test_an_open_number_of_rules_waits_for_a_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_400, 3))
    model = TSKRegressor(random_state=0)
    feed(model, X[:1_000], X[:1_000, 0])
    assert not hasattr(model, "rule_base_")
    feed(model, X[1_000:], X[1_000:, 0])
    assert (model.n_rules_, model.keep_prob_, model.batch_size_) == (128, 1.0, 64)


def test_penalties_grow_as_rows_come_again():
    rng, l2 = np.random.default_rng(0), []
    X, model = rng.normal(size=(3_000, 2)), TSKRegressor(random_state=0)
    y = X[:, 0] + rng.normal(size=3_000)  # half of it is noise
    for _ in range(4):
        feed(model, X, y)
        l2.append(model.l2_)
    assert l2[0] < 0.3 * l2[-1]
    assert l2[-1] == pytest.approx(0.75 * 3 * 0.5 * 64 / 3_000, rel=0.25)


def test_blocks_may_come_in_different_types():
    whole = np.round(X)
    y = np.round(Y)
    kinds = [np.float64, np.float32, np.int64, np.int16]
    model = small()
    for k, block in enumerate(np.array_split(np.arange(1200), 8)):
        model.partial_fit(whole[block].astype(kinds[k % 4]), y[block].astype(kinds[k // 2]))
    reference = small()
    for block in np.array_split(np.arange(1200), 8):
        reference.partial_fit(whole[block], y[block])
    assert model.rule_base_ == reference.rule_base_


def test_names_are_kept():
    frame, target = pd.DataFrame(X, columns=list("abc")), pd.Series(Y, name="price")
    model = small()
    for start in range(0, 1200, 300):
        model.partial_fit(frame[start : start + 300], target[start : start + 300])
    assert model.rule_base_.feature_names == ("a", "b", "c")
    assert model.rule_base_.output_names == ("price",)
    model.partial_fit(frame, Y)
    assert model.rule_base_.output_names == ("price",)


FRAME = pd.DataFrame(X, columns=list("abc"))
PRICE = pd.Series(Y, name="price")
BAD = {
    "fewer columns": ((FRAME[["a", "b"]], PRICE), "feature names|2 features"),
    "other columns": ((FRAME.rename(columns={"a": "z"}), PRICE), "z"),
    "columns in another order": ((FRAME[["b", "a", "c"]], PRICE), "order"),
    "infinity": ((FRAME.replace(FRAME.iloc[0, 0], np.inf), PRICE), "infinity in column 'a'"),
    "text": ((FRAME.assign(b="x"), PRICE), "column 'b' is not"),
    "two targets": ((FRAME, np.column_stack([Y, Y])), "1 target.* as before, got 2"),
    "another target": ((FRAME, PRICE.rename("size")), "price as before, got size"),
    "a missing target": ((FRAME, PRICE.where(PRICE > 0)), "y contains NaN"),
    "fewer targets than rows": ((FRAME, PRICE[:-1]), "inconsistent numbers"),
    "no rows": ((FRAME[:0], PRICE[:0]), "0 sample"),
    "a negative weight": ((FRAME, PRICE, -np.ones(1200)), "[Nn]egative"),
}


@pytest.mark.parametrize(("block", "message"), BAD.values(), ids=BAD)
def test_a_refused_block_changes_nothing(block, message):
    model = small().partial_fit(FRAME, PRICE)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*block)
    assert pickle.dumps(model) == before
    assert model.partial_fit(FRAME, PRICE).n_iter_ > 16


def test_settings_that_do_not_fit_lose_no_rows():
    model = small(init="grid")
    with pytest.raises(ValueError, match="n_sets"):
        model.partial_fit(X, Y)
    assert not hasattr(model, "stream_")
    assert model.set_params(n_rules=8).partial_fit(X, Y).n_rules_ == 8


def test_several_targets_share_the_rules():
    y = np.column_stack([Y, -2 * Y + 1])
    model = feed(small(), X, y)
    for _ in range(5):
        feed(model, X, y)
    prediction = model.predict(X)
    assert prediction.shape == (1200, 2)
    np.testing.assert_allclose(-2 * prediction[:, 0] + 1, prediction[:, 1], atol=0.5 * Y.std())


def test_a_column_of_targets_gives_a_column():
    assert feed(small(), X, Y[:, None]).predict(X).shape == (1200, 1)


def test_a_column_may_begin_to_vary():
    constant = X.copy()
    constant[:600, 2] = 7.0
    constant[600:, 2] *= 1e6
    y = constant[:, 0] + 1e-4 * np.where(np.arange(1200) < 600, 0.0, constant[:, 2])
    model = small(random_state=1)
    for _ in range(10):  # in the first pass the column is constant for three blocks
        feed(model, constant, y)
    assert np.isfinite(model.predict(constant)).all()
    assert root_mean_squared_error(y, model.predict(constant)) < 0.35 * y.std()


def test_equal_weights_are_no_weights():
    plain, weighted = feed(small()), feed(small(), weight=np.full(1200, 4.0))
    np.testing.assert_allclose(plain.predict(X), weighted.predict(X), rtol=1e-6)


def test_rows_of_weight_zero_are_not_there():
    weight = np.ones(1200)
    weight[::3] = 0
    spoilt = np.where(weight > 0, Y, 1e6)
    model = feed(small(), X, spoilt, weight=weight)
    assert model.rule_base_.profile.n_rows == 800
    assert np.abs(model.predict(X)).max() < 1e3


def test_heavy_rows_count_more():
    y = np.where(np.arange(1200) % 2 == 0, 0.0, 1.0)
    noise = np.random.default_rng(0).normal(size=(1200, 2))
    weight = np.where(y > 0, 9.0, 1.0)
    assert feed(small(), noise, y, weight=weight).predict(noise).mean() == pytest.approx(0.9, abs=0.03)


def test_parameters_are_checked_in_every_call():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = TSKRegressor(n_rules=2, random_state=0).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="The 'batch_size' parameter"):
        model.set_params(batch_size=0).partial_fit(X, X[:, 0])


def test_a_row_that_comes_all_the_time_trains():
    rng = np.random.default_rng(0)
    for seed in range(6):
        model = TSKRegressor(n_rules=4, random_state=seed)
        for _ in range(4):
            X = np.r_[rng.normal(size=(1000, 2)), np.zeros((1000, 2))]
            model.partial_fit(X, np.r_[X[:1000, 0], np.full(1000, 5.0)])
        assert not (model.stream_.seen.reservoir.X == 0).all(axis=1).any()


def test_a_stream_prices_disagreement():
    apart = []
    for price in (0.0, 1.0):
        model = feed(small(agreement=price, learning_rate=0.01), np.tile(X, (4, 1)), np.tile(Y, 4))
        share, outputs = model.firing_share(X), model.rule_base_.rule_outputs(X)[:, :, 0]
        apart.append((share * (outputs - model.predict(X)[:, None]) ** 2).sum(axis=1).mean())
    assert apart[1] < 0.5 * apart[0]


def test_centers_and_widths_stay_within_the_range_of_all_rows_so_far():
    """The range grows with the stream: the first half of it knows the left half of a column only."""
    rng = np.random.default_rng(0)
    X = rng.uniform(100.0, 101.0, size=(8000, 2))
    X = X[np.argsort(X[:, 0] > 100.5, kind="stable")]
    y = np.sin(20 * X[:, 0])
    bounded, free = (small(n_rules=8, keep_prob=1.0, bounds=bounds, learning_rate=0.1) for bounds in ("data", None))
    highest = []
    for n_rows in (4000, 8000):
        seen = X[:n_rows]
        for model in (bounded, free):
            feed(model, seen[-4000:], y[:n_rows][-4000:])
        rules = bounded.rule_base_
        assert is_within(rules, seen)
        highest.append(rules.centers[:, 0].max())
    assert highest[0] < 100.5 < highest[1]
    assert not is_within(free.rule_base_, X)


def is_within(rules, X):
    """Whether no center is outside the range of its column, and no width larger than the range."""
    is_inside = (rules.centers >= X.min(axis=0)) & (rules.centers <= X.max(axis=0))
    return (is_inside & (rules.widths <= np.ptp(X, axis=0) * (1 + 1e-9))).all()


def test_sorted_rows_are_warned_of_and_rows_in_random_order_are_not():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    X["c"] = 1.0
    for frame, is_sorted in ((X, False), (X.sort_values("b"), True), (X.sort_values("b", ascending=False), True)):
        model = small()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for start in range(0, 400, 100):
                block = frame.iloc[start : start + 100]
                model.partial_fit(block, block["a"])
        told = [str(one.message) for one in caught]
        assert len(told) == (3 if is_sorted else 0)
        assert all(one.startswith("All values of 'b' in this block lie beyond those") for one in told)


def test_few_rows_tell_nothing_of_their_order():
    model = small()
    for k in range(40):
        model.partial_fit([[float(k)]], [1.0])
