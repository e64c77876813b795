import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exported import bend_table, error_of, example_models, example_rows, example_rules, example_sums, new_table
from hypothesis import given

from cases import explore, make_part, make_sum, sums
from takagi import Bend, RuleBase, RuleModel
from takagi.export import rules_to_dict, to_json
from takagi.profile import measure_profile

GUIDE = Path(__file__).parents[2] / "docs" / "export.md"
NODE = shutil.which("node")
RULES = sorted(example_rules())
SUMS = sorted(example_sums())


def predict_in_node(model, rows, folder):
    """Run the function of the guide on rows, each a dict."""
    function = re.search(r"```javascript\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    assert len(function.splitlines()) <= 32
    to_json(model, folder / "rules.json")
    (folder / "rows.json").write_text(json.dumps(rows).replace("NaN", "null"))
    (folder / "main.js").write_text(
        f"{function}\nconst read = (name) => JSON.parse(require('fs').readFileSync(name));\n"
        "const model = read('rules.json');\n"
        "console.log(JSON.stringify(read('rows.json').map((row) => predict(model, row))));\n"
    )
    done = subprocess.run([NODE, "main.js"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.array(json.loads(done.stdout))


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("name", RULES)
def test_the_function_of_the_guide_predicts_as_the_rules_do(name, tmp_path):
    rules = example_rules()[name]
    X = example_rows(rules)
    names = rules_to_dict(rules)["features"]
    prediction = predict_in_node(rules, [dict(zip(names, row, strict=True)) for row in X.tolist()], tmp_path)
    assert error_of(prediction, rules, X) < 1e-12


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("name", SUMS)
def test_the_function_of_the_guide_adds_up_parts_and_bends(name, tmp_path):
    model = example_sums()[name]
    X = example_rows(model)
    names = rules_to_dict(model)["features"]
    prediction = predict_in_node(model, [dict(zip(names, row, strict=True)) for row in X.tolist()], tmp_path)
    assert error_of(prediction, model, X) < 1e-12


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_the_function_of_the_guide_bends_the_inputs_of_a_table(tmp_path):
    model, table = bend_table(), new_table()
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    exact = [row | {"age": None if np.isnan(age) else age} for row, age in zip(rows, table.age.tolist(), strict=True)]
    np.testing.assert_allclose(predict_in_node(model, exact, tmp_path)[:, 0], model.predict(table), rtol=1e-10)


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.filterwarnings("ignore:Column 'fuel' has:UserWarning", "ignore::takagi.ExtrapolationWarning")
def test_the_function_of_the_guide_encodes_a_table(tmp_path):
    model, table = example_models()["table"], new_table()
    rows = json.loads(table.to_json(orient="records", double_precision=15))
    exact = [row | {"age": None if np.isnan(age) else age} for row, age in zip(rows, table.age.tolist(), strict=True)]
    np.testing.assert_allclose(predict_in_node(model, exact, tmp_path)[:, 0], model.predict(table), rtol=1e-12)


def test_the_dict_has_what_the_rules_have():
    grid, X = example_rules()["grid"], np.random.default_rng(0).normal(size=(50, 2))
    rules = replace(grid, profile=measure_profile((X, grid.predict(X)[:, None]), grid.firing_share))
    document = rules_to_dict(rules)
    assert document == json.loads(to_json(rules))
    for name in ("centers", "widths", "consequents"):
        np.testing.assert_array_equal(document["rules"][name], getattr(rules, name))
    for name in ("share", "mean", "quantiles", "output_quantiles"):
        np.testing.assert_array_equal(document["profile"][name], getattr(rules.profile, name))
    assert document["profile"]["n_rows"] == rules.profile.n_rows


def read_part(document, link):
    """Return the rule base that a part of a document states."""
    rules = dict(document["rules"])
    assert rules.pop("link") == link
    rules["widths"] = [[np.inf if width is None else width for width in row] for row in rules["widths"]]
    for name in {"intervals", "limits"} & set(rules):
        limits = np.array(rules[name], dtype=float)  # None is NaN
        rules[name] = np.where(np.isnan(limits), [-np.inf, np.inf], limits)
    bends = [Bend(**bend) for bend in rules.pop("bends", [])]
    return RuleBase(**rules, bends=bends, link=link)


@given(sums())
@explore
def test_the_text_states_all_parts_of_any_sum(model):
    document = json.loads(to_json(model))
    parts = [read_part(part, model.link) for part in (document, *document.get("adjustments", []))]
    for part, expected in zip(parts, model.parts, strict=True):
        for name in ("bends", "widths", "consequents", "intervals", "limits"):
            assert np.array_equal(getattr(part, name), getattr(expected, name)), name
    X = np.random.default_rng(0).normal(size=(5, model.n_features))
    np.testing.assert_array_equal(RuleModel(parts).predict(X), model.predict(X))


def test_the_version_says_whether_there_is_more_than_one_plain_rule_base():
    rng = np.random.default_rng(0)
    plain = make_part(rng, [0], with_intervals=True)
    bent = make_part(rng, [0], bends=[Bend(0, "above", 0.5)])
    assert rules_to_dict(plain)["version"] == 1
    assert "adjustments" not in rules_to_dict(plain)
    assert "bends" not in rules_to_dict(plain)["rules"]
    assert rules_to_dict(bent)["version"] == 2
    assert rules_to_dict(bent)["rules"]["bends"] == [{"feature": 0, "kind": "above", "knot": 0.5, "floor": 0.0}]
    document = rules_to_dict(RuleModel((plain, plain)))
    assert document["version"] == 2
    assert document["adjustments"] == [{"rules": document["rules"], "profile": None}]


def test_limits_have_a_version_of_their_own_and_null_where_there_is_none():
    rules = RuleBase([[0.0, 0.0]], [[1.0, 1.0]], [[[0.0, 1.0, 1.0]]], limits=[[-1.0, 2.5], [-np.inf, np.inf]])
    document = rules_to_dict(rules)
    assert document["version"] == 3
    assert document["rules"]["limits"] == [[-1.0, 2.5], [None, None]]
    assert "limits" not in rules_to_dict(example_rules()["plain"])["rules"]


def test_adjustments_have_profiles_of_their_own():
    seed = next(seed for seed in range(10) if make_sum(np.random.default_rng(seed)).profile is not None)
    model = make_sum(np.random.default_rng(seed))
    document = rules_to_dict(RuleModel(model.parts[::-1]))
    assert document["profile"] is None
    np.testing.assert_array_equal(document["adjustments"][0]["profile"]["mean"], model.profile.mean)


def test_columns_say_how_they_are_read():
    document = rules_to_dict(example_models()["table"])
    columns = {column["name"]: column for column in document["columns"]}
    fuel = {
        "name": "fuel",
        "kind": "category",
        "levels": ['"gas"', "diesel", "größe", "petrol */", "missing"],
        "fill": None,
        "has_missing": True,
    }
    assert columns["fuel"] == fuel
    assert columns["year"]["fill"] == document["profile"]["mean"][document["features"].index("year")]
    assert columns["age"]["fill"] is None
    assert columns["nothing"]["levels"] == []
    assert document["features"][:3] == ["age", 'fuel="gas"', "fuel=diesel"]
    assert document["outputs"] == ["price"]


def test_a_width_without_condition_is_null():
    assert rules_to_dict(example_rules()["no conditions"])["rules"]["widths"][0][0] is None


def test_the_text_may_stand_in_a_page(tmp_path):
    rules = example_rules()["plain"].rename(["</script>", "\u2028", "größe"])
    text = to_json(rules, tmp_path / "rules.json")
    assert "<" not in text
    assert text.isascii()
    assert json.loads((tmp_path / "rules.json").read_text())["features"] == ["</script>", "\u2028", "größe"]


@pytest.mark.parametrize(
    ("name", "expected"), [("two targets", False), ("one target in a frame", False), ("table", True)]
)
def test_the_shape_of_predictions_is_stated(name, expected):
    assert rules_to_dict(example_models()[name])["is_single"] is expected
