"""Every command that reads a model reads sums of rule bases, too."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from sums import make_part
from takagi import RuleModel
from takagi._model import open_model
from takagi.inspection import explain_local, export_text
from takagi.persistence import load, save


@pytest.fixture
def model(scratch):
    """A model of cars with one adjustment that asks about power alone, written to sum.takagi."""
    pipeline = load("cars.takagi")
    regressor = pipeline[-1]
    main = regressor.model_.first
    power = open_model(pipeline).model.feature_names.index("power")
    adjustment = make_part(main.n_features, [{power: (60.0, 20.0)}, {power: (140.0, 20.0)}])
    consequents = adjustment.consequents.copy()
    consequents[:, 0, 0] = -500.0, 700.0
    adjustment = replace(adjustment.rename(main.feature_names, main.output_names), consequents=consequents)
    share = adjustment.firing_share(main.profile.quantiles).mean(axis=0)
    adjustment = replace(adjustment, profile=replace(main.profile, share=share))
    regressor.model_ = RuleModel([main, adjustment])
    regressor.n_rules_ = regressor.model_.n_rules
    save(pipeline, "sum.takagi")
    return pipeline


def test_rules_of_a_sum_are_the_librarys_text(call, model):
    code, out, err = call("rules", "sum.takagi")
    assert (code, out, err) == (0, f"{export_text(model)}\n", "")
    assert "Main rules\nRule 1" in out
    assert "Adjustment\nRule" in out
    code, out, _ = call("rules", "sum.takagi", "cars.csv", "--json")
    rules = json.loads(out)
    assert (code, [rule["part"] for rule in rules]) == (0, ["Main rules"] * 3 + ["Adjustment"] * 2)
    assert abs(sum(rule["share"] for rule in rules) - 2) < 1e-9


def test_predictions_of_a_sum_are_explained(call, model):
    cars = make_cars()
    code, out, _ = call("explain", "sum.takagi", "cars.csv", "--row", 5)
    assert (code, out) == (0, f"{str(explain_local(model, cars.iloc[[5]])).replace('row 0:', 'row 5:')}\n")
    code, out, _ = call("explain", "sum.takagi", "cars.csv", "--row", 5, "--json")
    (told,) = json.loads(out)
    prediction = model.predict(cars.iloc[[5]])[0]
    assert (code, told["prediction"]) == (0, pytest.approx(prediction, rel=1e-12))
    assert told["base"] + sum(one["contribution"] for one in told["contributions"]) == pytest.approx(prediction)
    assert sum(rule["share"] * rule["output"] for rule in told["rules"]) == pytest.approx(prediction)
    assert [rule["part"] for rule in told["rules"]] == ["Main rules"] * 3 + ["Adjustment"] * 2


def test_a_sum_predicts_a_table(call, model):
    assert call("predict", "sum.takagi", "cars.csv", "-o", "out.csv")[0] == 0
    np.testing.assert_allclose(pd.read_csv("out.csv")["predicted_price"], model.predict(make_cars()), rtol=1e-9)


@pytest.mark.parametrize("kind", ["membership", "grid", "shares", "importance", "waterfall", "response"])
def test_a_sum_is_drawn(call, model, scratch, kind):
    features = ["--feature", "power"] if kind in ("membership", "response") else []
    code, _, err = call("plot", "sum.takagi", kind, "cars.csv", "-o", "out.png", *features)
    assert (code, err) == (0, "")
    assert (scratch / "out.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_of_a_sum_has_its_parts(call, model, scratch):
    code, _, _ = call("report", "sum.takagi", "cars.csv", "-o", "out.html")
    page = (scratch / "out.html").read_text(encoding="utf-8")
    assert code == 0
    assert "Main rules</th>" in page
    assert "Adjustment</th>" in page
    assert "Smaller models</h2>" in page


def test_a_sum_can_be_made_smaller(call, model):
    code, out, _ = call("simplify", "sum.takagi", "cars.csv", "-o", "out.takagi", "--rules", 2, "--terms", 1)
    assert code == 0
    assert load("out.takagi")[-1].model_.n_rules <= 2
    assert " became " in out
