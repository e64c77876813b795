"""Rows of any numbers: a fit says what is wrong with them, or predicts finite numbers for them."""

import warnings

import numpy as np
from hostile import NUMBERS, attack, bounded
from hypothesis import example, given
from hypothesis import strategies as st

from takagi import FuzzyCMeans, TSKRegressor

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "n_rules": st.sampled_from([1, 2, 7, True, 0, "auto"]),
        "recipe": st.sampled_from(["accurate", "droprule", "short"]),
        "batch_size": st.sampled_from([1, 3, True, 10**9]),
        "learning_rate": st.sampled_from([1e-300, 0.1, 1e6, 1e300, np.inf, np.nan]),
        "l2": st.sampled_from([0.0, 1e300, "auto"]),
        "extrapolation": st.sampled_from(["hold", "linear"]),
        "standardize": st.sampled_from([True, False]),
    },
)


@st.composite
def tables(draw):
    """Rows and targets, most of them plain, some of them hostile."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows, n_columns = draw(st.sampled_from([1, 2, 3, 13, 40])), draw(st.integers(1, 4))
    X, y = rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)
    for values in (X, y):
        values *= draw(st.sampled_from([1.0, 1.0, 1e-300, 1e-30, 1e30, 1e290]))
        for number in draw(st.lists(st.one_of(NUMBERS, st.just(np.nan), st.just(np.inf)), max_size=2)):
            values.flat[rng.integers(values.size)] = number
    weight = draw(st.sampled_from([None, "zeros", "huge"]))
    weights = {"zeros": np.r_[np.zeros(n_rows - 1), 1.0], "huge": np.full(n_rows, 1e300)}
    return X, y, weights.get(weight)


@attack
@given(tables(), SETTINGS)
@example((np.array([[1.7e308], [-1.7e308], [1.0], [2.0]]), np.arange(4.0), np.array([1.0, 0, 0, 0])), {})
@example((np.arange(8.0)[:, None], np.arange(8.0) * 1e-322, None), {})
def test_a_fit_refuses_or_predicts(table, settings):
    X, y, weight = table
    with warnings.catch_warnings(), bounded():
        warnings.simplefilter("ignore")
        try:
            model = TSKRegressor(max_iter=20, n_teachers=0, random_state=0, **settings)
            model.fit(X, y, sample_weight=weight)
        except ValueError:
            return
        prediction = model.predict(X)
        assert prediction.shape == y.shape
        assert "THEN" in str(model.model_)
        if np.abs(X).max() < 1e100 and np.abs(y).max() < 1e100 and model.extrapolation == "hold":
            assert np.isfinite(prediction).all()


@attack
@given(tables())
def test_clusters_are_refused_or_found(table):
    X, _, weight = table
    with warnings.catch_warnings(), bounded():
        warnings.simplefilter("ignore")
        try:
            model = FuzzyCMeans(2, random_state=0).fit(X, sample_weight=weight)
        except ValueError:
            return
        assert np.isfinite(model.cluster_centers_).all()
