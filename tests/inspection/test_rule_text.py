import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError

from golden import assert_golden
from takagi import TSKRegressor
from takagi.inspection import export_text, rule_table


def test_text_of_a_model_is_that_of_its_rules_and_training_rows(diabetes):
    model, X, _ = diabetes
    assert export_text(model) == str(model.rule_base_)
    assert export_text(model, X[:50]) != export_text(model)


def test_text_in_the_words_of_the_given_data(by_hand):
    rules, X = by_hand
    assert_golden("rules", export_text(rules))
    assert_golden("rules_of_small_houses", export_text(rules, X[X[:, 0] < 6]))


def test_categories_are_named_in_the_text_of_a_pipeline(cars):
    model, X, _ = cars
    text = export_text(model, X)
    assert "fuel is" in text
    assert "[fuel is diesel]" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_table_says_what_the_text_says(several):
    model, X, _ = several
    table = rule_table(model, X)
    assert list(table.columns) == ["rule", "share", "if", "then sum", "then product"]
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["share"].is_monotonic_decreasing
    text = " ".join(export_text(model, X).split())
    for _, row in table.iterrows():
        assert f"IF {row['if']} THEN sum = {row['then sum']} THEN product = {row['then product']}" in text


def test_constant_and_all_alike_columns_are_no_conditions():
    X = np.column_stack([np.linspace(0, 1, 50), np.full(50, 7.0)])
    model = TSKRegressor(n_rules=2, max_iter=20, random_state=0).fit(X, X[:, 0] ** 2)
    assert "x1 is" not in export_text(model, X)


def test_hundreds_of_features_are_text_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 500))
    model = TSKRegressor(n_rules=2, max_iter=200, random_state=0).fit(X, X.sum(axis=1))
    text = export_text(model, X)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("function", [export_text, rule_table])
def test_bad_input_is_refused(function, diabetes):
    model, X, _ = diabetes
    with pytest.raises(NotFittedError):
        function(TSKRegressor(), X)
    with pytest.raises(TypeError, match="must be a fitted TSKRegressor"):
        function(RandomForestRegressor(), X)
    with pytest.raises(ValueError, match="feature names should match"):
        function(model, X.rename(columns={"bmi": "bmj"}))
