import numpy as np
import pandas as pd
import pytest

from takagi.tables import RequestError
from takagi.workflow import plan_splits, split_off
from takagi.workflow._splits import Splits, find_groups, find_times


def test_rows_are_split_at_random_and_by_the_seed():
    training, test = split_off(101, 0.2, 3)
    assert (len(training), len(test)) == (81, 20)
    assert sorted([*training, *test]) == list(range(101))
    np.testing.assert_array_equal(split_off(101, 0.2, 3)[1], test)
    assert not np.array_equal(split_off(101, 0.2, 4)[1], test)
    assert (len(split_off(3, 0.01, 0)[1]), len(split_off(3, 0.0, 0)[1])) == (1, 0)


def test_few_rows_are_each_tested_once():
    splits = plan_splits(103, 5)
    assert (splits.words, splits.n_repeats, len(splits.pairs)) == ("10-fold cross-validation", 1, 10)
    assert sorted(np.concatenate([test for _, test in splits.pairs])) == list(range(103))
    assert splits.inflation == pytest.approx(1 + 10 / 9, abs=0.01)


def test_folds_may_be_few_and_repeated():
    splits = plan_splits(103, 5, n_folds=5, n_repeats=2)
    assert (splits.words, splits.n_repeats, len(splits.pairs)) == ("5-fold cross-validation, 2 times", 2, 10)
    for half in (splits.pairs[:5], splits.pairs[5:]):
        assert sorted(np.concatenate([test for _, test in half])) == list(range(103))
        assert all(not set(train) & set(test) for train, test in half)
    assert not np.array_equal(splits.pairs[0][1], splits.pairs[5][1])
    assert splits.inflation == pytest.approx(1 / 2 + 5 / 4, abs=0.01)


def test_a_part_of_many_rows_is_held_out():
    splits = plan_splits(2000)
    assert (splits.words, len(splits.pairs[0][1])) == ("400 rows of 2,000 held out", 400)
    assert splits.inflation == pytest.approx(1.25)
    assert len(plan_splits(50, once=True).pairs) == 1


@pytest.mark.parametrize("n_rows", [60, 3000])
def test_groups_stay_whole(n_rows):
    names = pd.Series([f"store {k % 7}" for k in range(n_rows)])
    names[0] = None
    ties = find_groups(names, "store")
    splits = plan_splits(n_rows, 0, ties)
    assert "store" in splits.words
    for train, test in splits.pairs:
        assert not set(ties.codes[train]) & set(ties.codes[test])
    few = find_groups(names.replace({f"store {k}": "store 1" for k in range(2, 7)}), "store")
    assert len(plan_splits(60, 0, few.take(np.arange(60))).pairs) == 3  # two stores, and rows of none


@pytest.mark.parametrize("n_rows", [60, 3000])
def test_later_rows_are_tested_after_earlier_ones(n_rows):
    days = pd.Series(pd.date_range("2024-01-01", periods=n_rows // 2).repeat(2).strftime("%Y-%m-%d"))
    order = np.random.default_rng(0).permutation(n_rows)
    ties = find_times(days[order].reset_index(drop=True), "day")
    splits = plan_splits(n_rows, 0, ties)
    assert len(splits.pairs) == (5 if n_rows < 2000 else 1)
    for train, test in splits.pairs:
        assert ties.codes[train].max() < ties.codes[test].min()


def test_two_moments_are_enough():
    ties = find_times(pd.Series([1.0] * 10 + [2.0] * 3), "t")
    for once in (False, True):
        ((train, test),) = plan_splits(13, 0, ties, once=once).pairs
        assert (len(train), len(test)) == (10, 3)


@pytest.mark.parametrize("words", ["13.01.2020 14.02.2019", "13/01/2020 14/02/2019", "2020/01/13 2019/02/14"])
def test_dates_are_read_in_one_of_several_ways(words):
    assert find_times(pd.Series(words.split()), "day").codes.tolist() == [1, 0]


def test_dates_of_a_frame_and_numbers_in_text_are_times():
    moments = pd.Series(pd.to_datetime(["2021-03-04", "2020-01-01", "2021-03-04"]))
    assert find_times(moments, "day").codes.tolist() == [1, 0, 1]
    assert find_times(pd.Series(["10", "9"]), "year").codes.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["low", "high"], "'t' holds text, such as 'low', which has no order in time"),
        (["2020-02-01", "3/1/2020"], "'t' holds text, such as '2020-02-01', which has no order in time"),
        ([1.0, None], "'t' gives no time in 1 row, first in row 1"),
        ([1.0, 1.0], "'t' has one time only"),
    ],
)
def test_what_is_no_time_says_what_to_do(values, message):
    with pytest.raises(RequestError, match=message) as caught:
        find_times(pd.Series(values), "t")
    assert caught.value.about == "time"


def test_a_single_group_is_refused():
    with pytest.raises(RequestError, match="all rows are of one group of 'g'"):
        find_groups(pd.Series(["a", "a"]), "g")


def test_one_test_of_many_rows_is_hardly_inflated():
    pair = np.arange(990), np.arange(990, 1000)
    assert Splits((pair,), 1, "").inflation == pytest.approx(1 + 10 / 990)
