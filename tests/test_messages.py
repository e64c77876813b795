import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKCommittee, TSKRegressor, load, save

X = np.linspace(0.0, 1.0, 6)[:, None]
Y = X[:, 0] ** 2


def few_rows():
    TSKRegressor(n_rules=9, max_iter=10, random_state=0).fit(X, Y)


def divergence():
    TSKRegressor(n_rules=2, learning_rate=1e200, max_iter=10, random_state=0).fit(X, Y)


def few_members():
    TSKCommittee(8, TSKRegressor(n_rules=1, max_iter=10), random_state=0).fit(X, Y)


def unseen_level():
    encoder = TableEncoder().fit(np.array([["a"], ["b"]] * 9, dtype=object))
    encoder.transform(np.array([["c"]], dtype=object))


def steps_of_a_pipeline():
    make_pipeline(TableEncoder(), TSKRegressor(n_rules=9, max_iter=10, random_state=0)).fit(X, Y)


@pytest.mark.parametrize("act", [few_rows, divergence, few_members, unseen_level, steps_of_a_pipeline])
def test_warnings_point_at_the_line_of_the_user(act):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert caught
    assert {warned.filename for warned in caught} == {__file__}


def test_a_file_that_cannot_hold_a_random_state_warns_at_the_users_line(tmp_path):
    model = TSKRegressor(n_rules=1, max_iter=5, random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.warns(UserWarning, match="None is saved in its place") as caught:
        save(model, tmp_path / "m.takagi")
    assert caught[0].filename == __file__
    assert load(tmp_path / "m.takagi").random_state is None
