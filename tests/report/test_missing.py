"""The functions of the page on rows with missing values, run by node, agree with Python."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKRegressor
from takagi.inspection import explain_local
from takagi.report import ModelReport

NODE = shutil.which("node")
SCRIPT = Path(__file__).parents[2] / "src" / "takagi" / "report" / "templates" / "rules.js"
MAIN = """
const { data, model: content, rows } = JSON.parse(require("fs").readFileSync("page.json"));
const model = readModel(content, data.columns);
console.log(JSON.stringify(rows.cells.map((cells) => {
  const x = encodeRow(model, cells), { prediction } = evaluate(model, x);
  const { byCondition, byConsequent } = attribute(model, x, model.mean, 0);
  return { prediction: prediction[0], byCondition: [...byCondition], byConsequent: [...byConsequent] };
})));
"""


def make_table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 10, 400), "size": rng.normal(size=400), "sold": rng.random(400) < 0.5})
    y = 3 * table["age"] * (table["size"] > 0) + 5 * table["sold"] + rng.normal(size=400)
    table["sold"] = table["sold"].astype(object)
    for name, part in (("age", 0.15), ("size", 0.1), ("sold", 0.1)):
        table.loc[rng.random(400) < part, name] = None
    return table, y.rename("price")


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("recipe", ["short", "droprule"])
def test_the_page_does_without_a_value_as_python_does(recipe, tmp_path):
    X, y = make_table()
    model = make_pipeline(TableEncoder(), TSKRegressor(3, recipe=recipe, max_iter=100, random_state=0)).fit(X, y)
    summary = ModelReport(model, X, y, simplify=False).to_dict()
    assert [column["is_native"] for column in summary["data"]["columns"]] == [True, True, True]
    (tmp_path / "page.json").write_text(json.dumps({name: summary[name] for name in ("data", "model", "rows")}))
    (tmp_path / "main.js").write_text(SCRIPT.read_text() + MAIN)
    done = subprocess.run([NODE, "main.js"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    said = json.loads(done.stdout)
    rows = X.iloc[summary["rows"]["numbers"]]
    assert rows.isna().any(axis=1).sum() > 10
    np.testing.assert_allclose([row["prediction"] for row in said], model.predict(rows), rtol=1e-9)
    explained = explain_local(model, rows)
    for name, found in (("byCondition", explained.by_condition), ("byConsequent", explained.by_consequent)):
        np.testing.assert_allclose([row[name] for row in said], found[:, 0], atol=1e-7)
