import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from takagi import FuzzyCMeans


@pytest.fixture
def blobs():
    return make_blobs(200, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)


def test_finds_the_blobs(blobs):
    X, labels = blobs
    clusterer = FuzzyCMeans(3, random_state=0).fit(X)
    assert adjusted_rand_score(labels, clusterer.labels_) > 0.95
    np.testing.assert_array_equal(clusterer.labels_, clusterer.predict(X))
    distance = np.linalg.norm(clusterer.cluster_centers_[:, None] - np.array([[0, 0], [6, 0], [0, 6]]), axis=2)
    assert sorted(distance.argmin(axis=1)) == [0, 1, 2]
    assert distance.min(axis=1).max() < 0.5


def test_memberships_sum_to_one_and_follow_the_formula(blobs):
    X, _ = blobs
    for m in (1.2, 2.0, 3.0):
        clusterer = FuzzyCMeans(3, m=m, random_state=0).fit(X)
        distance = np.linalg.norm(X[:, None] - clusterer.cluster_centers_, axis=2)
        expected = distance ** (-2 / (m - 1))
        expected /= expected.sum(axis=1, keepdims=True)
        memberships = clusterer.transform(X)
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(memberships, expected, rtol=1e-8, atol=1e-15)
        objective = (expected**m * distance**2).sum()
        np.testing.assert_allclose(clusterer.objective_, objective, rtol=1e-3)


def test_more_starts_are_no_worse(blobs):
    X, _ = blobs
    one, many = (FuzzyCMeans(6, m=1.3, n_init=n, random_state=1).fit(X).objective_ for n in (1, 8))
    assert many <= one


def test_weights_equal_copies(blobs):
    X, _ = blobs
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted = FuzzyCMeans(3, random_state=0).fit(X, sample_weight=weight)
    copied = FuzzyCMeans(3, random_state=0).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, copied.cluster_centers_, rtol=1e-10)


def test_units_do_not_decide_when_to_stop(blobs):
    X, _ = blobs
    small, large = (FuzzyCMeans(3, random_state=0).fit(X * factor) for factor in (2.0**-40, 2.0**40))
    np.testing.assert_allclose(small.cluster_centers_ * 2.0**80, large.cluster_centers_, rtol=1e-9)


def test_far_from_the_origin_nothing_is_lost(blobs):
    X, labels = blobs
    clusterer = FuzzyCMeans(3, random_state=0).fit(X + 1e7)
    assert adjusted_rand_score(labels, clusterer.labels_) > 0.95


def test_coinciding_centers_are_warned_of():
    X = np.random.default_rng(0).uniform(size=(300, 10))
    with pytest.warns(ConvergenceWarning, match=r"Only \d of 8 centers are distinct.*Lower m"):
        FuzzyCMeans(8, random_state=0).fit(X)
    FuzzyCMeans(8, m=1.1, random_state=0).fit(X)


def test_feature_names_out_are_the_clusters(blobs):
    X, _ = blobs
    names = FuzzyCMeans(3, random_state=0).fit(X).get_feature_names_out()
    assert list(names) == ["fuzzycmeans0", "fuzzycmeans1", "fuzzycmeans2"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"m": 1.0}, "'m'"),
        ({"n_clusters": 300}, "n_samples=200 should be >= n_clusters=300"),
    ],
)
def test_bad_settings_are_named(blobs, settings, message):
    with pytest.raises(ValueError, match=message):
        FuzzyCMeans(**settings).fit(blobs[0])


def test_numbers_too_large_to_cluster_are_named():
    with pytest.raises(ValueError, match=r"X has numbers beyond 1e\+300 in column 1"):
        FuzzyCMeans(2).fit([[0.0, 1.0], [1.0, -1.7e308], [2.0, 3.0]])
