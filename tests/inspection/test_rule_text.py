from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError

from golden import assert_golden
from takagi import TSKRegressor
from takagi._wording import format_spread
from takagi.inspection import check_rules, export_text, rule_table


def test_text_of_a_model_is_that_of_its_rules_and_training_rows(diabetes):
    model, X, _ = diabetes
    assert export_text(model) == str(model.model_)
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
    assert list(table.columns) == ["rule", "share", "if", "then sum", "then product", "+- sum", "+- product"]
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["share"].is_monotonic_decreasing
    text = " ".join(export_text(model, X).split())
    for _, row in table.iterrows():
        sum_, product = (f"{row[f'then {name}']} +- {format_spread(row[f'+- {name}'])}" for name in ("sum", "product"))
        assert f"IF {row['if']} THEN sum = {sum_} THEN product = {product}" in text


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


def test_the_text_of_the_accurate_default_says_that_its_rules_make_sense_only_together(diabetes):
    assert "Note:" not in export_text(diabetes[0])
    X, y = make_friedman1(200, 5, random_state=0)
    accurate = TSKRegressor(n_teachers=0, random_state=0).fit(X, y)
    assert "These rules make sense only together" in " ".join(export_text(accurate).split())
    found = check_rules(accurate, X, y).summary
    assert found["wild"] > 0.1 or found["strongest"] > 1.5 * found["error"]


def test_a_table_says_where_in_the_data_an_interval_lies(by_hand):
    rules, _ = by_hand
    infinity = float("inf")
    limits = [[[7.0, infinity], [-infinity, 30.0]], [[-infinity, 7.0], [0.0, 200.0]]]
    rules = replace(rules, intervals=limits)
    assert rule_table(rules).sort_values("rule")["if"].tolist() == [
        "rooms above 7 (very high) and age below 30 (low)",
        "rooms below 7 (medium)",
    ]
    assert "IF rooms above 7 and age below 30\n" in export_text(rules)


def test_centered_formulas_say_what_a_rule_says_of_an_average_row(cars, by_hand):
    rules, X = by_hand
    text = export_text(rules, centered=True)
    assert "THEN price = 28.0 + 4.10 (rooms - 6.2) - 0.012 (age - 50)" in text
    model, table, _ = cars
    text = export_text(model, table, centered=True)
    assert "(km - " in text
    assert "[fuel is diesel]" in text
    assert max(map(len, text.splitlines())) <= 80
    with pytest.raises(ValueError, match="give X"):
        export_text(replace(rules, profile=None), centered=True)
    assert "(rooms - " in export_text(replace(rules, profile=None), X, centered=True)


@pytest.mark.parametrize("function", [export_text, rule_table])
def test_bad_input_is_refused(function, diabetes):
    model, X, _ = diabetes
    with pytest.raises(NotFittedError):
        function(TSKRegressor(), X)
    with pytest.raises(TypeError, match="must be a fitted TSKRegressor"):
        function(RandomForestRegressor(), X)
    with pytest.raises(ValueError, match="feature names should match"):
        function(model, X.rename(columns={"bmi": "bmj"}))
