"""The Python of docs/export.md runs as it stands."""

import re
from pathlib import Path

import numpy as np
import pytest
from exported import make_table
from sklearn.pipeline import make_pipeline

from takagi import TSKRegressor
from takagi.export import to_onnx
from takagi.tables import TableEncoder

BLOCKS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs" / "export.md").read_text(), re.DOTALL)


def test_every_export_of_the_guide_is_written(tmp_path, monkeypatch):
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(BLOCKS[0], names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rules.c", "rules.fis", "rules.json", "rules.onnx"]
    row = names["X"][["bmi", "bp", "s5"]].head(1)
    np.testing.assert_allclose(names["read_fis"]("rules.fis").predict(row), names["model"].predict(row), rtol=1e-12)


def test_a_table_is_fed_to_onnxruntime_as_the_guide_says(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    table = make_table()[["age", "fuel"]]
    model = make_pipeline(TableEncoder(), TSKRegressor(n_rules=2, max_iter=50, random_state=0))
    model.fit(table, table.age.fillna(0))
    to_onnx(model, "cars.onnx")
    names = {"table": table}
    exec(BLOCKS[1], names)
    np.testing.assert_allclose(names["prediction"], model.predict(table), rtol=1e-12, atol=1e-12)
