import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleBase, TableEncoder, TSKClassifier, TSKCommittee, TSKRegressor, load, save, update

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=400), "b": RNG.choice(["u", "v"], 400)})
Y = (X["a"] ** 2 + (X["b"] == "u") + RNG.normal(0, 0.1, 400)).rename("y")
OLD, NEW = slice(0, 300), slice(300, 400)


@pytest.mark.parametrize("recipe", ["short", "accurate", "droprule"])
def test_every_recipe_goes_on_in_a_pipeline(recipe, tmp_path):
    model = make_pipeline(TableEncoder(), TSKRegressor(3, recipe=recipe, max_iter=200, random_state=0))
    model.fit(X[OLD], Y[OLD])
    before = model.predict(X[NEW])
    assert update(model, X[NEW], Y[NEW] + 4) is model
    moved = (model.predict(X[NEW]) - before).mean()
    assert 0.7 < moved < 1.3  # a fourth of the rows say 4 more
    save(model, tmp_path / "m.takagi")
    np.testing.assert_array_equal(load(tmp_path / "m.takagi").predict(X[NEW]), model.predict(X[NEW]))
    update(model, X[NEW], Y[NEW] + 4)
    assert 0.5 < (model.predict(X[NEW]) - before).mean() - moved < 0.9  # now a fifth, of what is left


def test_rows_go_through_all_steps():
    columns = X[["a"]] * 1e6
    model = make_pipeline(StandardScaler(), TSKRegressor(2, max_iter=100, random_state=0)).fit(columns[OLD], Y[OLD])
    before = model.predict(columns[NEW])
    update(model, columns[NEW], before + 4)
    np.testing.assert_allclose(model.predict(columns[NEW]) - before, 1.0, atol=0.1)


def test_classes_go_on():
    model = make_pipeline(TableEncoder(), TSKClassifier(2, max_iter=100, random_state=0))
    model.fit(X[OLD], np.where(Y[OLD] > 1, "high", "low"))
    before = model.predict_proba(X[NEW])[:, 0].mean()
    update(model, X[NEW], np.full(100, "high"))
    assert model.predict_proba(X[NEW])[:, 0].mean() > before + 0.05
    with pytest.raises(ValueError, match="odd"):
        update(model, X[NEW], np.full(100, "odd"))


def test_how_far_it_is_off_is_found_out_again():
    model = TSKRegressor(3, recipe="droprule", max_iter=200, random_state=0).fit(X[["a"]][OLD], Y[OLD])
    narrow = model.predict_interval(X[["a"]][NEW], 0.9)
    update(model, X[["a"]][NEW], Y[NEW] + RNG.normal(0, 10, 100))
    wide = model.predict_interval(X[["a"]][NEW], 0.9)
    assert np.ptp(wide, axis=1).mean() > 3 * np.ptp(narrow, axis=1).mean()
    update(model, X[["a"]][:10], Y[:10])
    assert model.calibration_ is not None  # that of before, since ten rows tell nothing


@pytest.mark.filterwarnings("ignore:No split of the rows")
def test_what_cannot_go_on_is_refused():
    rules = RuleBase(centers=[[0.0]], widths=[[1.0]], consequents=[[[0.0, 1.0]]])
    with pytest.raises(TypeError, match="must be a fitted TSKRegressor"):
        update(rules, X[["a"]], Y)
    committee = TSKCommittee(2, estimator=TSKRegressor(2, max_iter=20), random_state=0).fit(X[["a"]], Y)
    with pytest.raises(TypeError, match="committee"):
        update(committee, X[["a"]], Y)
    model = TSKRegressor(2, recipe="short", random_state=0).fit(X[["a"]], Y)
    with pytest.raises(ValueError, match=r"takagi\.update\(model, X, y\) updates their formulas"):
        model.partial_fit(X[["a"]], Y)
