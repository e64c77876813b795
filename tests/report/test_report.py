import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reported import cars, diabetes, make_report, wide
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sums import diabetes_sum, make_part
from takagi import Bend, RuleModel, TSKRegressor
from takagi.inspection import check_rules, export_text, rule_importance, rule_table
from takagi.report import ModelReport
from takagi.simplification import simplify
from takagi.tables import TableEncoder

# -- what it tells -----------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_rows():
    model, X, y = diabetes()
    (score,) = make_report().to_dict()["scores"]
    own, ridge, mean = score["scores"]
    assert own["rmse"] == pytest.approx(root_mean_squared_error(y, model.predict(X)))
    assert own["r2"] == pytest.approx(r2_score(y, model.predict(X)))
    assert mean["rmse"] == pytest.approx(y.std(ddof=0))
    assert own["rmse"] * 0.8 < ridge["rmse"] < mean["rmse"]


def test_dict_is_plain_json():
    for source in (diabetes, cars):
        summary = make_report(source).to_dict()
        assert json.loads(json.dumps(summary, allow_nan=False)) == json.loads(json.dumps(summary))


def test_columns_say_what_they_are():
    _, X, _ = cars()
    columns = {column["name"]: column for column in make_report(cars).to_dict()["data"]["columns"]}
    kinds = {name: column["kind"] for name, column in columns.items()}
    assert kinds == {
        "weight": "number", "doors": "number", "fuel": "category", "used": "boolean", "power": "number",
        "empty": "unused", "constant": "number", "checked": "boolean",
    }  # fmt: skip
    assert {name: column["n_missing"] for name, column in columns.items()} == X.isna().sum().to_dict()
    assert columns["fuel"]["levels"] == ["diesel", "electric", "petrol", "missing"]
    assert sum(columns["fuel"]["counts"]) == sum(columns["weight"]["counts"]) == len(X)
    assert sum(columns["power"]["counts"]) == X["power"].notna().sum()
    assert columns["used"]["counts"] == [(~X["used"]).sum(), X["used"].sum()]
    assert columns["doors"]["is_whole"]
    assert not columns["power"]["is_whole"]
    assert columns["doors"]["counts"] == X["doors"].value_counts().sort_index().tolist()


def test_rules_read_the_most_important_columns_first():
    summary = make_report().to_dict()
    names = [column["name"] for column in summary["data"]["columns"]]
    overall = np.array(summary["importance"][0]["overall"])
    assert summary["order"] == np.argsort(-overall).tolist()
    first = summary["rules"]["list"][0]
    mentioned = [condition["column"] for condition in first["conditions"]]
    assert mentioned == [names[c] for c in summary["order"] if names[c] in mentioned]
    assert [rule["share"] for rule in summary["rules"]["list"]] == sorted(
        (rule["share"] for rule in summary["rules"]["list"]), reverse=True
    )


def test_the_page_says_for_which_rows_no_rule_holds():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    y = np.where(X[:, 0] > 0.5, X[:, 1], -X[:, 1])
    model = TSKRegressor(recipe="short", n_rules=2, random_state=0).fit(X, y)
    first = model.model_.parts[0]
    gap = replace(first, profile=replace(first.profile, uncovered=0.07))
    model.model_ = RuleModel((gap, *model.model_.parts[1:]), model.model_.calibration)
    line = "No rule's conditions hold for 7 % of the data: the nearest rule governs there."
    report = ModelReport(model, X, y, simplify=False)
    assert report.to_dict()["rules"]["rest"][0] == line
    assert line in html.unescape(report.to_html())
    assert line in export_text(model)


def test_rules_of_a_sum_stand_part_by_part_and_say_what_the_text_says():
    model, X, y = diabetes_sum()
    summary = ModelReport(model, X, y).to_dict()
    assert summary["parts"] == ["Main rules", "Adjustment 1", "Adjustment 2"]
    assert summary["n_rules"] == 6
    rules = summary["rules"]["list"]
    assert [rule["part"] for rule in rules] == [0, 0, 0, 1, 1, 2]
    losses = rule_importance(model, X, y).set_index("rule")["loss"]
    check = check_rules(model, X, y)
    assert summary["rules"]["truth"] == check.describe()
    for rule in rules:
        assert rule["holds"] == pytest.approx(check.rules[rule["number"] - 1].holds)
        assert rule["loss"] == pytest.approx(losses[rule["number"]])
    by_pressure = next(rule for rule in rules if rule["number"] == 4)
    (condition,) = by_pressure["conditions"]
    said = " ".join(filter(None, (condition[key] for key in ("column", "verb", "word", "detail"))))
    text = rule_table(model).set_index("rule")["if"][4]  # which also says where in the data that is
    assert said == "bp below 95"
    assert text == "bp below 95 (low)"
    terms = {term.split(" ", 2)[-1] for term in by_pressure["formulas"][0]}
    assert {"max(age - 60, 0)", "log(s5 - 3)"} <= terms
    assert summary["simplification"]["choices"][1]["n_rules"] <= 5


def test_rules_that_have_seen_no_data_are_measured_with_the_given_rows():
    model, X, y = diabetes_sum()
    bare = RuleModel([replace(part, profile=None) for part in model.model_.parts])
    summary = ModelReport(bare, X.to_numpy(), y, simplify=False).to_dict()
    assert summary["model"]["mean"] == pytest.approx(X.mean(axis=0))
    shares = {rule["number"]: rule["share"] for rule in summary["rules"]["list"]}
    np.testing.assert_allclose([shares[r + 1] for r in range(6)], bare.firing_share(X).mean(axis=0))


def test_a_page_has_the_bends_of_the_columns_that_it_shows(monkeypatch):
    monkeypatch.setattr("takagi.report._summarize._MOST_COLUMNS", 8)
    monkeypatch.setattr("takagi.report._summarize._MOST_CELLS", 0)
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, size=(60, 12))
    part = make_part(12, [{0: (1, 0.5)}, {0: (2, 0.5)}], [Bend(m, "log", 0.0, floor=0.1) for m in range(12)])
    weights = np.zeros((2, 1, 25))
    weights[:, 0, 13:] = np.arange(12)
    model = RuleModel([replace(part, consequents=weights)])
    summary = ModelReport(model, X, model.predict(X), simplify=False).to_dict()
    text = " ".join(summary["rules"]["list"][0]["formulas"][0])
    shown = [m for m in range(12) if f"log(x{m})" in text]
    assert shown == [m for m in range(12) if m in summary["order"][:8] and m > 0]


def test_history_has_the_best_iterate():
    _, X, y = diabetes()
    model = TSKRegressor(n_rules=4, recipe="droprule", max_iter=500, random_state=0).fit(X, y)
    history = ModelReport(model, X, y, simplify=False).to_dict()["history"]
    assert history["best_iter"] == model.best_iter_
    assert history["best_loss"] == model.history_["val_loss"].min()
    assert len(history["iterations"]) == len(history["val_loss"]) == 300
    assert history["iterations"][-1] == model.n_iter_


@pytest.mark.slow
def test_smaller_models_stand_on_their_curve():
    model, X, y = diabetes()
    found = ModelReport(model, X, y).to_dict()["simplification"]
    expected = simplify(model, X, y)
    assert found["n_rows"] == len(X)
    assert found["curve"]["n_words"] == [point.n_words for point in expected.curve]
    assert found["whole"]["n_rules"] == 4
    for choice in found["choices"]:
        assert choice["n_rules"] <= choice["max_rules"]
        assert choice["text"] == export_text(expected.at(max_rules=choice["max_rules"]).model)
        assert choice["n_words"] <= found["whole"]["n_words"]


def test_reason_is_told_where_there_is_no_smaller_model():
    model, X, y = diabetes()
    few = ModelReport(model, X[:1], y[:1])
    assert few.to_dict()["simplification"]["reason"].startswith("X must have at least two rows")
    assert "There are no smaller models in this report. X must have at least two rows" in few.to_html()
    assert 'href="#simpler"' not in few.to_html()
    assert make_report().to_dict()["simplification"] is None
    assert "There are no smaller models in this report." in make_report().to_html()


def test_residuals_count_every_row():
    _, X, y = diabetes()
    (residuals,) = make_report().to_dict()["residuals"]
    assert sum(residuals["counts"]) == len(residuals["actual"]) == len(X)
    assert residuals["actual"] == y.tolist()


@pytest.mark.parametrize(("row", "max_rows", "expected"), [(3, 100, 100), (-1, 1, 1), (141, 7, 7), (0, 1000, 142)])
def test_page_carries_the_row_and_no_more_rows_than_asked(row, max_rows, expected):
    _, X, y = diabetes()
    rows = make_report(row=row, max_rows=max_rows).to_dict()["rows"]
    assert len(rows["numbers"]) == len(rows["cells"]) == len(rows["targets"]) == expected
    start = rows["start"]
    assert rows["numbers"][start] == row % len(X)
    assert rows["cells"][start] == X.iloc[row].tolist()
    assert rows["targets"][start] == [y.iloc[row]]


def test_same_call_gives_the_same_page():
    model, X, y = cars()
    assert ModelReport(model, X, y, simplify=False).to_html() == make_report(cars).to_html()


def test_title_names_the_outputs_unless_given():
    assert make_report(cars).to_dict()["title"] == "Model report: price, co2"
    assert "<title>Prices &amp; more</title>" in make_report(cars, title="Prices & more").to_html()


def test_repr_is_one_line():
    assert re.fullmatch(
        r"ModelReport\('Model report: progression', 4 rules, 142 rows, RMSE [\d.]+\)", repr(make_report())
    )


# -- models and tables of other kinds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert", [np.asarray, pl.from_pandas, lambda X: X.to_numpy().tolist()], ids=["array", "polars", "list"]
)
def test_tables_of_other_kinds_tell_the_same(convert):
    _, X, y = diabetes()
    model = TSKRegressor(n_rules=2, max_iter=200, random_state=0).fit(convert(X), y.to_numpy())
    summary = ModelReport(model, convert(X), y.to_list(), simplify=False).to_dict()
    assert summary["rows"]["cells"][0] == X.iloc[0].tolist()
    assert summary["data"]["n_rows"] == len(X)


def test_table_of_mixed_kinds_without_names():
    _, X, y = cars()
    table = X.astype(object).where(X.notna(), None).to_numpy()
    model, _, _ = cars()
    fitted = make_pipeline(type(model[0])(), TSKRegressor(n_rules=2, max_iter=100, random_state=0)).fit(table, y)
    kinds = [column["kind"] for column in ModelReport(fitted, table, y, simplify=False).to_dict()["data"]["columns"]]
    assert kinds == ["number", "number", "category", "boolean", "number", "unused", "number", "boolean"]


def test_scaler_is_undone_and_other_steps_are_taken_as_they_are():
    _, X, y = diabetes()
    regressor = TSKRegressor(n_rules=2, max_iter=200, random_state=0)
    scaled = make_pipeline(StandardScaler(), regressor).fit(X, y)
    columns = ModelReport(scaled, X, y, simplify=False).to_dict()["data"]["columns"]
    assert [column["name"] for column in columns] == list(X)
    assert columns[1]["span"] == [X["bmi"].min(), X["bmi"].max()]
    rotated = make_pipeline(PCA(2), regressor).fit(X, y)
    columns = ModelReport(rotated, X, y, simplify=False).to_dict()["data"]["columns"]
    assert [column["name"] for column in columns] == ["pca0", "pca1"]


def test_rule_base_that_has_seen_no_data_takes_these_rows():
    rules, X, y = wide(n_features=4, n_rules=3)
    assert rules.profile is None
    summary = ModelReport(rules, X, y, simplify=False).to_dict()
    assert summary["history"] is None
    assert summary["model"]["mean"] == pytest.approx(X.mean(axis=0))
    assert 'id="training"' not in ModelReport(rules, X, y, simplify=False).to_html()


def test_rule_without_condition_reaches_the_page():
    model, X, y = diabetes()
    widths = model.rule_base_.widths.copy()
    widths[0, 1] = np.inf
    summary = ModelReport(replace(model.rule_base_, widths=widths), X, y, simplify=False).to_dict()
    assert summary["model"]["parts"][0]["widths"][0][1] is None


@pytest.mark.parametrize("n_rows", [1, 2, 9])
def test_few_rows_are_enough(n_rows):
    model, X, y = diabetes()
    report = ModelReport(model, X[:n_rows], y[:n_rows], simplify=False)
    rivals = [score["who"] for score in report.to_dict()["scores"][0]["scores"]]
    assert rivals == ["These rules", "The mean"]
    assert len(report.to_html()) > 10_000


@pytest.mark.parametrize("unit", [1e-250, 1e250])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_units_do_not_change_the_score(unit):
    model, X, y = diabetes()
    rules = model.rule_base_.rescale(np.zeros(4), np.ones(4), np.zeros(1), np.array([unit]))
    (score,) = ModelReport(rules, X, y * unit, simplify=False).to_dict()["scores"]
    for own, expected in zip(score["scores"], make_report().to_dict()["scores"][0]["scores"], strict=True):
        assert own["rmse"] == pytest.approx(expected["rmse"] * unit)
        assert own["r2"] == pytest.approx(expected["r2"])


def test_constant_target_has_no_r2():
    model, X, _ = diabetes()
    report = ModelReport(model, X, np.full(len(X), 5.0), simplify=False)
    assert [score["r2"] for score in report.to_dict()["scores"][0]["scores"]] == [None, None, None]
    assert len(report.to_html()) > 10_000


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors_say_what_is_wrong():
    model, X, y = diabetes()
    with pytest.raises(TypeError, match="got LinearRegression"):
        ModelReport(LinearRegression().fit(X, y), X, y)
    with pytest.raises(NotFittedError, match="not fitted yet; call fit first"):
        ModelReport(TSKRegressor(), X, y)
    with pytest.raises(ValueError, match=r"y must have 1 target\(s\) for each of 142 rows of X, got shape \(141,\)"):
        ModelReport(model, X, y[1:])
    with pytest.raises(ValueError, match=r"y must have 1 target\(s\) for each of 142 rows.*got shape \(142, 2\)"):
        ModelReport(model, X, np.c_[y, y])
    with pytest.raises(ValueError, match="y contains NaN"):
        ModelReport(model, X, y.where(y > 100))
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        ModelReport(model, X.rename(columns={"bmi": "bm"}), y)
    with pytest.raises(ValueError, match="row must be a row of X, -142 to 141, got 142"):
        ModelReport(model, X, y, row=142)
    with pytest.raises(ValueError, match="max_rows must be at least 1, got 0"):
        ModelReport(model, X, y, max_rows=0)


def test_table_that_lacks_a_column_names_it():
    model, X, y = cars()
    with pytest.raises(ValueError, match=r"lacks 1 column.*'fuel'.*Did you mean 'fuels'"):
        ModelReport(model, X.rename(columns={"fuel": "fuels"}), y)


def test_no_rows_are_an_error():
    model, X, y = cars()
    with pytest.raises(ValueError, match="X must have at least one row"):
        ModelReport(model, X[:0], y[:0])


def test_findings_of_the_rows_are_listed():
    _, X, y = diabetes()
    X = X.assign(twice=2 * y + 1, site="n" * 60)
    X["<i>no</i>"] = np.arange(len(X))
    X = pd.concat([X, X[:20]], ignore_index=True)
    y = pd.concat([y, y[:20]], ignore_index=True)
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=2, max_iter=20, random_state=0)).fit(X, y)
    report = ModelReport(model, X.assign(further=y), y, simplify=False)
    found = {(finding["kind"], *finding["columns"]) for finding in report.to_dict()["findings"]}
    assert ("leak", "twice") in found
    assert ("leak", "further") not in found  # which the model does not take
    assert ("duplicate rows",) in found
    drifted = ModelReport(model, X, y + 1000.0 * (np.arange(len(y)) > 100), simplify=False).to_dict()["findings"]
    assert "progression" in next(finding["columns"] for finding in drifted if finding["kind"] == "drift")
    page = report.to_html()
    assert "What to check in the data" in page
    assert "<strong>Leak</strong> <bdi>twice</bdi>:" in " ".join(page.split())
    assert "<bdi><i>" not in page


def test_no_findings_are_no_section():
    model, X, y = diabetes()
    report = ModelReport(model, X, y, simplify=False)
    assert report.to_dict()["findings"] == []
    assert 'id="findings"' not in report.to_html()
