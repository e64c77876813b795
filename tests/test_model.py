import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from takagi import RuleBase, TSKRegressor
from takagi._model import open_model
from takagi.tables import TableEncoder

REGRESSOR = TSKRegressor(n_rules=3, max_iter=30, random_state=0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(100, 20, 80), "age": rng.uniform(0, 50, 80), "rooms": rng.integers(1, 6, 80)})
    return X, (X["size"] * 3 - X["age"] + X["rooms"]).rename("price")


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [StandardScaler()],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [MinMaxScaler((-1, 3))],
        [MaxAbsScaler()],
        [RobustScaler()],
        [RobustScaler(with_centering=False)],
        [MinMaxScaler(), StandardScaler()],
        ["passthrough", StandardScaler()],
    ],
    ids=str,
)
def test_scalers_are_folded_into_rules_in_the_units_of_the_table(table, steps):
    X, y = table
    model = make_pipeline(*steps, REGRESSOR).fit(X, y)
    opened = open_model(model)
    np.testing.assert_allclose(opened.rules.predict(opened.encode(X)), model.predict(X), rtol=1e-9)
    np.testing.assert_array_equal(opened.encode(X), X.to_numpy())
    assert opened.rules.feature_names == ("size", "age", "rooms")
    assert opened.rules.profile.span(0)[0] >= X["size"].min() - 1e-9
    assert [column.name for column in opened.columns] == list(X.columns)


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([PCA(2)], ("pca0", "pca1")),
        ([StandardScaler(), PCA(2)], ("pca0", "pca1")),
        ([MinMaxScaler(clip=True)], ("size", "age", "rooms")),
        ([FunctionTransformer(np.log1p)], ("x0", "x1", "x2")),
        ([FunctionTransformer(np.log1p, feature_names_out="one-to-one")], ("size", "age", "rooms")),
    ],
    ids=str,
)
def test_other_steps_name_the_features_if_they_can(table, steps, names):
    X, y = table
    model = make_pipeline(*steps, REGRESSOR).fit(X.to_numpy() if names[0] == "x0" else X, y)
    opened = open_model(model)
    assert opened.rules.feature_names == names
    data = X.to_numpy() if names[0] == "x0" else X
    np.testing.assert_allclose(opened.rules.predict(opened.encode(data)), model.predict(data), rtol=1e-12)


def test_a_table_encoder_gives_the_columns_of_the_table(table):
    X, y = table
    X = X.assign(kind=np.where(X["rooms"] > 3, "villa", "flat"))
    X.loc[3, "age"] = np.nan
    model = make_pipeline(TableEncoder(missing="fill"), StandardScaler(), REGRESSOR).fit(X, y)
    opened = open_model(model)
    assert opened.has_table
    assert [column.name for column in opened.columns] == ["size", "age", "rooms", "kind"]
    assert opened.rules.feature_names == ("size", "age", "age=missing", "rooms", "kind=flat", "kind=villa")
    np.testing.assert_array_equal(opened.inputs_of(3), [4, 5])
    np.testing.assert_allclose(opened.rules.predict(opened.encode(X)), model.predict(X), rtol=1e-9)
    assert opened.show(X.iloc[[3]])[0][1].startswith("missing (taken as")


def test_the_best_of_a_search_is_opened(table):
    X, y = table
    search = GridSearchCV(make_pipeline(StandardScaler(), REGRESSOR), {"tskregressor__n_rules": [2]}, cv=2).fit(X, y)
    assert open_model(search).rules.n_rules == 2


def test_a_rule_base_is_a_model_by_itself():
    rules = RuleBase([[0.0]], [[1.0]], [[[0.0, 1.0]]])
    opened = open_model(rules)
    assert opened.rules is rules
    assert opened.regressor is None
    assert opened.columns[0].name == "x0"
    with pytest.raises(ValueError, match="X must have shape"):
        opened.encode([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RandomForestRegressor(), "must be a fitted TSKRegressor, a Pipeline .* got RandomForestRegressor"),
        (make_pipeline(StandardScaler(), RandomForestRegressor()), "a Pipeline that ends in RandomForestRegressor"),
        (TSKRegressor, r"got the class TSKRegressor; write TSKRegressor\(\) and fit it"),
        (None, "got NoneType"),
        ("model", "got str"),
        (Pipeline([("last", "passthrough")]), "got Pipeline"),
    ],
    ids=str,
)
def test_another_kind_of_model_is_refused(model, message):
    with pytest.raises(TypeError, match=message):
        open_model(model)


@pytest.mark.parametrize("model", [TSKRegressor(), make_pipeline(StandardScaler(), TSKRegressor())], ids=str)
def test_an_unfitted_model_is_refused(model):
    with pytest.raises(NotFittedError, match="call fit first"):
        open_model(model)


def test_columns_and_outputs_are_found_by_name_or_index(table):
    X, y = table
    opened = open_model(TSKRegressor(n_rules=2, max_iter=5, random_state=0).fit(X, pd.DataFrame({"a": y, "b": -y})))
    assert (opened.find_column("age"), opened.find_column(-1), opened.find_output("b"), opened.find_output(0)) == (
        1,
        2,
        1,
        0,
    )
    for find, wrong, message in (
        (opened.find_column, "agee", "feature 'agee' is unknown, did you mean 'age'"),
        (opened.find_column, 3, "feature 3 is not among the 3 features"),
        (opened.find_output, "c", "output 'c' is unknown"),
        (opened.find_output, 2, "output must be 0 to 1, got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            find(wrong)


def test_rows_with_other_columns_are_refused(table):
    X, y = table
    for model in (REGRESSOR, make_pipeline(StandardScaler(), REGRESSOR)):
        opened = open_model(model.fit(X, y))
        with pytest.raises(ValueError, match="feature names should match"):
            opened.encode(X.rename(columns={"age": "years"}))
    with pytest.raises(ValueError, match="infinity in column 'age'"):
        open_model(REGRESSOR.fit(X, y)).encode(X.assign(age=np.inf))
    with pytest.raises(ValueError, match="at least one row"):
        open_model(REGRESSOR.rule_base_).measure(np.empty((0, 3)))
