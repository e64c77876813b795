import numpy as np
import pandas as pd
import polars
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import make_friedman1
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKRegressor
from takagi.inspection import explain_local, feature_importance, rule_importance
from takagi.inspection._attribution import attribute


@pytest.fixture(scope="module")
def friedman():
    """Five features that matter and five that do not."""
    X, y = make_friedman1(600, 10, noise=0.5, random_state=0)
    return TSKRegressor(n_rules=8, max_iter=3000, random_state=0).fit(X, y), X, y


def test_irrelevant_features_come_last_as_in_permutation_importance(friedman):
    table = feature_importance(*friedman, random_state=0)
    relevant = {f"x{m}" for m in range(5)}
    assert set(table["feature"][:5]) == relevant
    assert set(table.sort_values("permutation", ascending=False)["feature"][:5]) == relevant
    of = table.set_index("feature")["overall"]
    assert max(of[f"x{m}"] for m in range(5, 10)) < 0.3 * min(of[f"x{m}"] for m in range(5))
    assert spearmanr(table["overall"], table["permutation"]).statistic > 0.8


def test_a_feature_of_the_conditions_alone_is_told_from_one_of_the_consequents():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 2))
    y = np.where(X[:, 0] > 0, 3.0, -3.0) + 2 * X[:, 1]
    model = TSKRegressor(n_rules=4, recipe="droprule", max_iter=3000, l2=1.0, random_state=0).fit(X, y)
    table = feature_importance(model, X).set_index("feature")
    assert table.loc["x0", "conditions"] > 3 * table.loc["x1", "conditions"]
    assert table.loc["x1", "consequents"] > 3 * table.loc["x1", "conditions"]


def test_figures_are_mean_moduli_of_the_explanations(cars):
    model, X, y = cars
    table = feature_importance(model, X).set_index("feature").loc[list(X.columns)]
    explained = explain_local(model, X)
    np.testing.assert_allclose(table["overall"], np.abs(explained.contributions[:, 0]).mean(axis=0))
    np.testing.assert_allclose(table["conditions"], np.abs(explained.by_condition[:, 0]).mean(axis=0))
    np.testing.assert_allclose(table["consequents"], np.abs(explained.by_consequent[:, 0]).mean(axis=0))
    assert "permutation" not in table
    shuffled = feature_importance(model, X[X.columns[::-1]].assign(extra=1), y, random_state=0).set_index("feature")
    assert shuffled["permutation"].idxmax() == "km"
    assert set(shuffled.index) == set(X.columns)


def test_an_output_is_chosen_by_name(several):
    model, X, Y = several
    table = feature_importance(model, X, Y, output="product", random_state=0)
    assert table["feature"].iloc[-1] == "c"
    assert table.sort_values("permutation")["feature"].iloc[0] == "c"


def test_the_loss_of_a_rule_is_that_of_the_model_without_it(diabetes):
    model, X, y = diabetes
    table = rule_importance(model, X, y)
    rules = model.rule_base_
    whole = root_mean_squared_error(y, model.predict(X))
    for number, loss in zip(table["rule"], table["loss"], strict=True):
        without = rules.take([r for r in range(3) if r != number - 1]).predict(X.to_numpy())
        assert loss == pytest.approx(root_mean_squared_error(y, without) / whole - 1)
    np.testing.assert_allclose(table["share"], np.sort(model.firing_share(X).mean(axis=0))[::-1])


def test_the_only_rule_has_no_loss(diabetes):
    _, X, y = diabetes
    model = TSKRegressor(n_rules=1, max_iter=20, random_state=0).fit(X, y)
    assert rule_importance(model, X, y)["loss"].isna().all()


def test_targets_of_another_length_are_refused(diabetes):
    model, X, y = diabetes
    for function in (rule_importance, feature_importance):
        with pytest.raises(
            ValueError, match=r"y must have 1 target\(s\) for each of 442 rows of X, got shape \(441,\)"
        ):
            function(model, X, y[:-1])
        with pytest.raises(ValueError, match="y contains NaN"):
            function(model, X, y.where(y > 50))


def test_polars_frames_are_shuffled_without_a_word(cars):
    model, X, y = cars
    as_polars = polars.DataFrame({name: X[name].tolist() for name in X}, strict=False)
    table = feature_importance(model, as_polars, y, random_state=0)
    assert table["permutation"].idxmax() == 0


def test_at_most_two_thousand_rows_are_explained(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_999, 2))
    model = TSKRegressor(n_rules=2, max_iter=50, random_state=0).fit(X, X[:, 0])
    seen = []
    monkeypatch.setattr(
        "takagi.inspection._attribution.attribute", lambda *args: seen.append(len(args[1])) or attribute(*args)
    )
    feature_importance(model, X)
    assert seen == [2_000]


def test_a_frame_with_numbers_for_names_goes_by_place():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)))
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=2, max_iter=50, random_state=0)).fit(X, X[0])
    assert feature_importance(model, X, X[0], random_state=0)["feature"].tolist() == ["x0", "x1"]
