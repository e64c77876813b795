import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleBase, TableEncoder, TSKCommittee, TSKRegressor
from takagi.inspection import explain_local, find_outside

SMALL = {"n_rules": 2, "recipe": "droprule", "max_iter": 30, "random_state": 0}
rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"size": np.r_[10.0, 20.0, rng.uniform(10, 20, 58)], "kind": ["a", "b"] * 30, "fee": np.full(60, 7.0)}
)
PRICE = 3 * TABLE["size"] + (TABLE["kind"] == "a")


@pytest.fixture(scope="module")
def model():
    return make_pipeline(TableEncoder(), StandardScaler(), TSKRegressor(**SMALL)).fit(TABLE, PRICE)


@pytest.fixture(scope="module")
def linear():
    regressor = TSKRegressor(**SMALL, extrapolation="linear")
    return make_pipeline(TableEncoder(), StandardScaler(), regressor).fit(TABLE, PRICE)


NEW = pd.DataFrame({"size": [15.0, 25.0, 150.0, 9.0], "kind": list("abab"), "fee": [7.0, 7.0, 7.0, 8.5]})


def test_values_beyond_the_data_are_told_in_the_columns_and_units_of_the_table(model):
    found = find_outside(model, NEW)
    assert list(found.columns) == ["row", "column", "value", "nearest", "ranges", "counts_as"]
    told = found.round(9).to_numpy().tolist()
    assert told == [
        [3, "fee", 8.5, 7.0, np.inf, 7.0],
        [2, "size", 150.0, 20.0, 13.0, 30.0],
        [1, "size", 25.0, 20.0, 0.5, 25.0],
        [3, "size", 9.0, 10.0, 0.1, 9.0],
    ]


def test_rules_that_go_on_count_every_value_as_it_is(linear):
    found = find_outside(linear, NEW)
    assert found["counts_as"].tolist() == found["value"].tolist()
    assert len(found) == 4


def test_rows_within_the_data_bring_an_empty_table(model):
    assert len(find_outside(model, TABLE)) == 0
    assert "row" in find_outside(model, TABLE).columns


def test_every_kind_of_model_is_taken():
    X = TABLE[["size"]].to_numpy()
    committee = TSKCommittee(2, TSKRegressor(**SMALL), random_state=0).fit(X, PRICE)
    regressor = TSKRegressor(**SMALL).fit(X, PRICE)
    for one in (committee, regressor, regressor.model_, regressor.rule_base_):
        (line,) = find_outside(one, [[80.0]]).to_numpy().tolist()
        assert line == [0, "x0", 80.0, 20.0, 6.0, 30.0]


def test_rules_that_have_seen_no_data_are_refused():
    with pytest.raises(ValueError, match="no summary of training data, so the training ranges are not known"):
        find_outside(RuleBase([[0.0]], [[1.0]], [[[0.0, 1.0]]]), [[1.0]])


@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
def test_an_explanation_tells_what_a_value_counts_as(model, linear):
    explained = explain_local(model, NEW)
    assert [cells[0] for cells in explained.cells] == ["15", "25", "150 counts as 30", "9"]
    assert explained.cells[3][2] == "8.5 counts as 7"
    assert "150 counts as 30" in str(explained[2])
    np.testing.assert_allclose(explained.prediction[:, 0], model.predict(NEW), rtol=1e-9)
    total = explained.base + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(total, explained.prediction, rtol=1e-9)
    assert explain_local(linear, NEW).cells[2][0] == "150"


@pytest.mark.filterwarnings("ignore::takagi.ExtrapolationWarning")
def test_a_huge_value_is_explained_as_its_limit(model):
    rows = NEW.iloc[[2, 2]].assign(size=[1e200, 30.0])
    explained = explain_local(model, rows)
    np.testing.assert_array_equal(explained.contributions[0], explained.contributions[1])
