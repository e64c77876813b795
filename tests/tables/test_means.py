from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from takagi import RuleBase, TSKRegressor, load, save
from takagi._wording import read_model
from takagi.export import to_c, to_json
from takagi.inspection import export_text
from takagi.profile import measure_profile
from takagi.tables import Column, ColumnWarning, TableEncoder
from takagi.tables._means import cross_fit, find_means

RNG = np.random.default_rng(0)
N = 3000
PLACE = RNG.integers(0, 200, N)
LEVEL = RNG.normal(0, 30, 200)[PLACE]
STORES = pd.DataFrame({"store": [f"s{k:03d}" for k in PLACE], "visitors": RNG.poisson(50, N)})
SALES = 500 + LEVEL + 2 * STORES["visitors"].to_numpy() + RNG.normal(0, 10, N)


def test_means_are_those_of_scikit_learn():
    ours, overall = find_means(PLACE, SALES, 200)
    theirs = TargetEncoder(smooth="auto").fit(STORES[["store"]], SALES).encodings_[0]
    assert overall == SALES.mean()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=0.1 * theirs.std())


def test_levels_without_effect_are_drawn_to_the_mean():
    noise = RNG.normal(size=N)
    means, overall = find_means(PLACE, noise, 200)
    assert np.abs(means - overall).max() < 0.1


def test_a_row_has_no_part_in_its_own_mean():
    before = cross_fit(PLACE, SALES, 200)
    changed = SALES.copy()
    changed[7] += 1e6
    is_fold_of_7 = np.random.default_rng(0).permutation(N) % 5 == (np.random.default_rng(0).permutation(N) % 5)[7]
    after = cross_fit(PLACE, changed, 200)
    np.testing.assert_array_equal(after[is_fold_of_7], before[is_fold_of_7])


def test_a_category_of_many_levels_becomes_its_means():
    encoder = TableEncoder().fit(STORES, SALES)
    column = encoder.columns_[0]
    assert (column.kind, column.reading, column.inputs, len(column.levels)) == ("number", "mean", ("store",), 200)
    np.testing.assert_allclose(column.values, find_means(PLACE, SALES, 200)[0])
    assert encoder.transform(pd.DataFrame({"store": ["s003", None], "visitors": 1}))[:, 0].tolist() == [
        column.values[3],
        SALES.mean(),
    ]
    with pytest.warns(UserWarning, match="'nowhere' in 1 row"):
        unknown = encoder.transform(pd.DataFrame({"store": ["nowhere"], "visitors": 1}))
    assert unknown[0, 0] == SALES.mean()


def test_few_levels_classes_and_no_target_stay_as_they_were():
    assert len(TableEncoder(max_levels=200).fit(STORES, SALES).columns_[0].inputs) == 200
    assert len(TableEncoder().fit(STORES).columns_[0].inputs) == 20
    assert (
        len(TableEncoder(max_levels=250).fit(STORES, np.where(SALES > 600, "dear", "cheap")).columns_[0].inputs) == 200
    )
    names = pd.DataFrame({"name": [f"n{k}" for k in range(100)], "x": range(100)})
    with pytest.warns(ColumnWarning, match="make no inputs: 'name'"):
        encoder = TableEncoder().fit(names, np.arange(100.0))
    assert encoder.get_feature_names_out().tolist() == ["x"]


def test_cross_fitted_means_do_not_overfit():
    levels = pd.DataFrame({"c": [f"c{k}" for k in RNG.integers(0, 900, 2000)], "x": RNG.normal(size=2000)})
    y = levels["x"].to_numpy() + RNG.normal(size=2000)  # the category says nothing
    model = make_pipeline(TableEncoder(), LinearRegression()).fit(levels, y)
    assert abs(model[-1].coef_[0]) * np.std(model[:-1].transform(levels)[:, 0]) < 0.1


@pytest.fixture(scope="module")
def model():
    regressor = TSKRegressor(2, recipe="short", max_iter=200, random_state=0)
    y = np.where(LEVEL > 15, 3.0, 1.0) * STORES["visitors"] + RNG.normal(0, 3, N)
    return make_pipeline(TableEncoder(), regressor).fit(STORES, y)


def test_rules_name_the_levels(model):
    text = export_text(model)
    assert "store is one of the " in text


def test_a_saved_model_predicts_the_same_bits(model, tmp_path):
    save(model, tmp_path / "m.takagi")
    again = load(tmp_path / "m.takagi")
    assert again[0].columns_ == model[0].columns_
    np.testing.assert_array_equal(again.predict(STORES), model.predict(STORES))


def test_json_holds_the_means_and_c_says_that_it_cannot(model):
    assert '"reading":"mean"' in to_json(model)
    with pytest.raises(ValueError, match=r"'store' is encoded by the mean target of each of its 200 levels"):
        to_c(model)


def test_a_condition_beyond_all_means_has_words():
    column = Column("store", "number", ("a", "b"), 3.0, reading="mean", values=(2.0, 4.0))
    rules = RuleBase(
        centers=[[5.0], [0.0]],
        widths=[[1.0], [1.0]],
        consequents=[[[1.0, 0.0]], [[2.0, 0.0]]],
        feature_names=["store"],
        intervals=[[[5.0, np.inf]], [[-np.inf, 1.5]]],
    )
    rows = np.array([[2.0], [4.0], [5.5], [1.0]])
    rules = replace(rules, profile=measure_profile((rows, rows), rules.firing_share))
    texts = [reading.conditions[0].text for reading in read_model([rules], None, [column])]
    assert texts == ["store is of a mean above 5", "store is of a mean below 1.5"]
