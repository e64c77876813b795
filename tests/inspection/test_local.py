import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from golden import assert_golden
from takagi import RuleBase, TSKRegressor
from takagi.inspection import explain_local, feature_importance


@pytest.mark.parametrize("case", ["diabetes", "cars", "several"])
def test_contributions_add_up_to_the_prediction(case, request):
    model, X, _ = request.getfixturevalue(case)
    explained = explain_local(model, X)
    prediction = np.asarray(model.predict(X)).reshape(len(X), -1)
    total = explained.base + explained.contributions.sum(axis=2)
    np.testing.assert_allclose(total, prediction, rtol=1e-9)
    np.testing.assert_allclose(explained.prediction, prediction, rtol=1e-9)
    assert explained.contributions.shape == (len(X), prediction.shape[1], X.shape[1])


@pytest.mark.parametrize("case", ["diabetes", "cars", "several"])
def test_rules_and_their_shares_make_the_prediction(case, request):
    model, X, _ = request.getfixturevalue(case)
    explained = explain_local(model, X.head(20))
    made = np.einsum("nr,nro->no", explained.share, explained.rule_outputs)
    np.testing.assert_allclose(made, explained.prediction, rtol=1e-9)


def test_the_local_linear_model_predicts_its_row(several):
    model, X, _ = several
    explained = explain_local(model, X)
    local = explained.intercept + np.einsum("nom,nm->no", explained.slopes, X.to_numpy())
    np.testing.assert_allclose(local, explained.prediction, rtol=1e-9)


def test_the_average_row_is_the_baseline_unless_another_is_given(diabetes):
    model, X, _ = diabetes
    average = model.rule_base_.profile.mean
    assert explain_local(model, X.head(2)).base[0] == pytest.approx(model.rule_base_.predict(average[None])[0])
    other = explain_local(model, X.head(2), baseline=X.iloc[[1]])
    assert other.base[0] == other.prediction[1, 0]
    np.testing.assert_allclose(other.contributions[1], 0.0, atol=1e-9)
    assert other.baseline == "baseline row"
    nameless = TSKRegressor(n_rules=2, max_iter=50, random_state=0).fit(X.to_numpy(), X["bmi"])
    rows = X.to_numpy()
    for baseline in (rows[1], rows[[1]], list(rows[1])):
        assert explain_local(nameless, rows[:2], baseline=baseline).base[0] == nameless.predict(rows[[1]])[0]


def test_an_irrelevant_column_contributes_little(cars):
    model, X, _ = cars
    size = np.abs(explain_local(model, X).contributions[:, 0]).mean(axis=0)
    assert size[3] < 0.1 * size[0]


def test_a_missing_number_and_an_unknown_level_are_told(cars):
    model, X, _ = cars
    row = X.head(1).assign(fuel="hydrogen")
    with pytest.warns(UserWarning, match="'hydrogen'"):
        text = str(explain_local(model, row))
    assert "is missing: its conditions are ignored, and the formula uses" in " ".join(text.split())
    assert "hydrogen (unknown)" in text


def test_text_tells_why(by_hand):
    rules, X = by_hand
    assert_golden("local", str(explain_local(rules, X[:2])))


def test_text_of_several_outputs_names_each(several):
    model, X, _ = several
    text = str(explain_local(model, X.head(1)))
    assert "row 0: sum = " in text
    assert "row 0: product = " in text
    assert max(map(len, text.splitlines())) <= 80


def test_long_names_and_cells_fit_eighty_columns(cars):
    _, X, _ = cars
    long = X[["noise"]].rename(columns={"noise": "n" * 200})
    model = TSKRegressor(n_rules=2, max_iter=50, random_state=0).fit(long, long.iloc[:, 0].rename("t" * 200))
    assert max(map(len, str(explain_local(model, long.head(1))).splitlines())) <= 80


def test_rows_are_picked_by_index_and_keep_their_numbers(diabetes):
    model, X, _ = diabetes
    explained = explain_local(model, X.head(5))
    assert len(explained) == 5
    assert str(explained[3]).startswith("row 3: progression = ")
    assert explained[-2:].row_numbers == (3, 4)
    np.testing.assert_array_equal(explained[3].contributions[0], explained.contributions[3])
    with pytest.raises(IndexError):
        explained[5]


def test_tables_are_sorted_and_complete(cars):
    model, X, _ = cars
    explained = explain_local(model, X.head(3))
    frame = explained.to_frame(row=2)
    assert list(frame["contribution"].abs()) == sorted(frame["contribution"].abs(), reverse=True)
    assert frame["contribution"].sum() + explained.base[0] == pytest.approx(explained.prediction[2, 0], rel=1e-9)
    assert set(frame["column"]) == set(X.columns)
    rules = explained.rules_to_frame(row=2)
    assert list(rules["share"]) == sorted(rules["share"], reverse=True)
    assert rules["share"].sum() == pytest.approx(1.0)


def test_outputs_go_by_name_or_index(several):
    model, X, _ = several
    explained = explain_local(model, X.head(1))
    assert explained.to_frame(output="product").equals(explained.to_frame(output=1))
    with pytest.raises(ValueError, match=r"output 'quotient' is unknown\. Choose from 'sum', 'product'"):
        explained.to_frame(output="quotient")


def test_bad_input_is_refused(diabetes):
    model, X, _ = diabetes
    with pytest.raises(NotFittedError):
        explain_local(TSKRegressor(), X)
    with pytest.raises(ValueError, match="feature names should match"):
        explain_local(model, X.rename(columns={"bmi": "bmj"}))
    with pytest.raises(ValueError, match="baseline must be one row, got 2"):
        explain_local(model, X, baseline=X.head(2))
    with pytest.raises(ValueError, match="has no summary of training data; give baseline"):
        explain_local(RuleBase([[0.0]], [[1.0]], [[[0.0, 1.0]]]), [[1.0]])


def test_no_rows_and_rows_beyond_the_last_are_refused(diabetes, cars):
    for model, X, y in (diabetes, cars):
        with pytest.raises(ValueError, match=r"at least one row|minimum of 1 is required"):
            explain_local(model, X[:0])
        with pytest.raises(ValueError, match=r"at least one row|minimum of 1 is required"):
            feature_importance(model, X[:0], y[:0])
    explained = explain_local(diabetes[0], diabetes[1].head(3))
    for read in (explained.to_frame, explained.rules_to_frame, explained.plot):
        with pytest.raises(ValueError, match="row must be 0 to 2, got 999"):
            read(999)
    assert explained.to_frame(-1).equals(explained.to_frame(2))


def test_repr_is_short(diabetes):
    model, X, _ = diabetes
    assert repr(explain_local(model, X)).startswith("LocalExplanation(n_rows=442, columns=['age'")


@pytest.mark.parametrize(("n_idle", "lines"), [(3, 3), (4, 1), (40, 1)])
def test_columns_that_add_nothing_are_joined_where_they_are_many(n_idle, lines):
    weights = [1.0, 2.0, -3.0, *[0.0] * n_idle]
    names = ["age", "bmi", *(f"idle {k}" for k in range(n_idle))]
    rules = RuleBase([[0.0] * (2 + n_idle)], [[np.inf] * (2 + n_idle)], [[weights]], feature_names=names)
    text = str(explain_local(rules, np.ones((1, 2 + n_idle)), baseline=np.zeros(2 + n_idle)))
    assert text.count("idle") + text.count("other columns") == lines
    assert (f"  {n_idle} other columns" in text) == (n_idle > 3)
    assert text.index("bmi") < text.index("age") < text.index("prediction")
