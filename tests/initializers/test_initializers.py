import numpy as np
import pytest

from takagi.initializers import (
    INITIALIZERS,
    FuzzyCMeansInitializer,
    GridInitializer,
    KMeansInitializer,
    RandomInitializer,
    count_distinct,
    fuzzy_cmeans,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, np.column_stack([X[:, 0], X[:, 1] ** 2])


@pytest.mark.parametrize("name", INITIALIZERS)
def test_rules_fit_the_data(name, data):
    X, y = data
    rules = INITIALIZERS[name].make_rules(X, y, 16, np.random.default_rng(1))
    assert (rules.n_rules, rules.n_features, rules.n_outputs) == (16, 4, 2)
    assert (rules.widths > 0).all()


@pytest.mark.parametrize("name", INITIALIZERS)
def test_same_seed_same_rules(name, data):
    make = INITIALIZERS[name].make_rules
    assert make(*data, 16, np.random.default_rng(1)) == make(*data, 16, np.random.default_rng(1))


@pytest.mark.parametrize("name", ["fcm", "kmeans"])
def test_more_rules_than_rows_become_fewer_with_a_warning(name, data):
    X, y = data
    with pytest.warns(UserWarning, match="n_rules=16 is more than the 5 distinct rows"):
        rules = INITIALIZERS[name].make_rules(X[:5], y[:5], 16, np.random.default_rng(1))
    assert rules.n_rules == 5


@pytest.mark.parametrize("name", INITIALIZERS)
def test_constant_column_gets_a_positive_width(name, data):
    X, y = data[0].copy(), data[1]
    X[:, 2] = 7.0
    rules = INITIALIZERS[name].make_rules(X, y, 16, np.random.default_rng(1))
    assert (rules.widths[:, 2] > 1e-3).all()


def test_kmeans_takes_means_and_deviations_of_the_members():
    X = np.array([[0.0], [2.0], [100.0], [104.0]])
    y = np.array([[1.0], [3.0], [10.0], [20.0]])
    rules = KMeansInitializer().make_rules(X, y, 2, np.random.default_rng(0))
    order = np.argsort(rules.centers[:, 0])
    np.testing.assert_allclose(rules.centers[order, 0], [1.0, 102.0])
    np.testing.assert_allclose(rules.widths[order, 0], [1.0, 2.0])
    np.testing.assert_allclose(rules.consequents[order, 0], [[2.0, 0.0], [15.0, 0.0]])


def test_kmeans_makes_no_more_rules_than_distinct_rows():
    X, y = np.repeat([[1.0, 1.0], [2.0, 2.0]], 10, axis=0), np.arange(20.0)[:, None]
    with pytest.warns(UserWarning, match="n_rules=3 is more than the 2 distinct rows"):
        rules = KMeansInitializer().make_rules(X, y, 3, np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(rules.consequents[:, 0, 0]), [4.5, 14.5])


def test_random_numbers_lie_where_the_paper_says(data):
    rules = RandomInitializer().make_rules(*data, 500, np.random.default_rng(0))
    for values in (rules.centers, rules.consequents):
        assert values.min() >= 0
        assert values.max() <= 1
    assert rules.widths.max() <= 5
    assert rules.widths.mean() == pytest.approx(2.5, abs=0.1)


def test_grid_has_every_combination_of_shared_sets():
    X = np.array([[0.0, 1.0], [4.0, 2.0], [2.0, 3.0]])
    rules = GridInitializer(n_sets=3).make_rules(X, X[:, :1], 9, np.random.default_rng(0))
    assert {tuple(row) for row in rules.centers} == {(a, b) for a in (0.0, 2.0, 4.0) for b in (1.0, 2.0, 3.0)}
    np.testing.assert_allclose(rules.widths, np.tile(X.std(axis=0, ddof=1), (9, 1)))
    assert rules.sets.max() == 2


@pytest.mark.parametrize("n_features", [3, 10, 2000])
def test_grid_refuses_a_number_of_rules_that_is_not_its_own(n_features):
    X = np.random.default_rng(0).normal(size=(20, n_features))
    with pytest.raises(ValueError, match=rf"2 \*\* {n_features} rules, but n_rules=16.*PCA\(n_components=4\)"):
        GridInitializer().make_rules(X, X[:, :1], 16, np.random.default_rng(0))


def test_large_sets_are_clustered_by_a_subset(data):
    X, y = (np.tile(part, (10, 1)) for part in data)
    small = FuzzyCMeansInitializer(m=1.2, max_samples=200).make_rules(X, y, 4, np.random.default_rng(0))
    assert count_distinct(small.centers, X) == 4
    np.testing.assert_allclose(np.abs(small.centers).max(), 1.0, atol=1.0)


def test_weights_of_zero_leave_rows_out(data):
    X, y = data
    weight = np.r_[np.ones(60), np.zeros(60)]
    start = np.random.default_rng(3)
    for make in (KMeansInitializer().make_rules, FuzzyCMeansInitializer(max_iter=50, tol=0.0, m=1.2).make_rules):
        rules = make(np.r_[X[:60], X[60:] + 100.0], y, 3, start, weight)
        assert np.abs(rules.centers).max() < 10


def test_coinciding_centers_are_counted_once():
    centers = np.array([[0.0, 0.0], [0.0, 1e-6], [1.0, 0.0]])
    assert count_distinct(centers, np.random.default_rng(0).normal(size=(50, 2))) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: FuzzyCMeansInitializer(m=1.0),
        lambda: FuzzyCMeansInitializer(max_iter=0),
        lambda: KMeansInitializer(n_init=0),
        lambda: GridInitializer(n_sets=0),
        lambda: RandomInitializer(max_width=0.0),
        lambda: fuzzy_cmeans(np.zeros((5, 2)), np.ones((4, 2))),
        lambda: fuzzy_cmeans(np.zeros((5, 2)), np.ones((5, 2)), sample_weight=np.ones(3)),
    ],
)
def test_options_out_of_range_are_refused(make):
    with pytest.raises(ValueError, match="must"):
        make()
