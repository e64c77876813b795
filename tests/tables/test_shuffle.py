import numpy as np

from takagi.tables import shuffle_rows


def make_parts(n_parts=50, n_rows=20):
    for k in range(n_parts):
        rows = np.arange(k * n_rows, (k + 1) * n_rows)
        yield rows, -2.0 * rows


def test_every_row_comes_once_and_arrays_stay_together():
    parts = list(shuffle_rows(make_parts(), 100, np.random.default_rng(0)))
    rows, others = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    np.testing.assert_array_equal(np.sort(rows), np.arange(1000))
    np.testing.assert_array_equal(others, -2.0 * rows)


def test_rows_move_further_with_a_larger_buffer():
    def mean_way(buffer_rows):
        mixed = np.concatenate([rows for rows, _ in shuffle_rows(make_parts(), buffer_rows, np.random.default_rng(0))])
        return np.abs(mixed - np.arange(1000)).mean()

    small, large, all_rows = mean_way(40), mean_way(200), mean_way(10_000)
    assert 10 < small < large < all_rows
    assert all_rows > 300  # a uniform permutation has 333


def test_no_more_than_the_buffer_and_a_part_is_held():
    n_taken = n_given = most = 0

    def watched():
        nonlocal n_taken
        for part in make_parts():
            n_taken += len(part[0])
            yield part

    for rows, _ in shuffle_rows(watched(), 100, np.random.default_rng(0)):
        most = max(most, n_taken - n_given)
        n_given += len(rows)
    assert most <= 120


def test_parts_without_rows_and_no_parts_at_all():
    assert list(shuffle_rows([], 10, np.random.default_rng(0))) == []
    empty = (np.empty(0), np.empty(0))
    assert list(shuffle_rows([empty, empty], 10, np.random.default_rng(0))) == []
