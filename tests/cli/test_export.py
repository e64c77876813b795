import json
from pathlib import Path

import numpy as np
import pytest
from made_cars import make_cars

from takagi.export import read_fis, to_c, to_json
from takagi.persistence import load


def test_every_format_is_written_beside_the_model(call, scratch, listing):
    pytest.importorskip("onnx")
    for kind in ("onnx", "fis", "c", "json"):
        code, out, err = call("export", "cars.takagi", "--to", kind)
        assert (code, out, err) == (0, f"Wrote cars.{kind}\n", "")
    assert listing() == ["cars.c", "cars.fis", "cars.json", "cars.onnx"]
    model = load("cars.takagi")
    assert (scratch / "cars.c").read_text() == to_c(model, name="cars")
    assert (scratch / "cars.json").read_text() == to_json(model)
    complete = make_cars().dropna()  # a .fis file has no rules for what is missing
    rows = model[0].transform(complete)
    np.testing.assert_allclose(read_fis("cars.fis").predict(rows), model.predict(complete), rtol=1e-9)


def test_format_goes_by_the_output_and_precision_by_wish(call, scratch):
    code, out, _ = call("export", "cars.takagi", "-o", "2-cars.c", "--single", "--json")
    told = json.loads(out)
    text = (scratch / "2-cars.c").read_text()
    assert (code, told["format"], told["n_bytes"]) == (0, "c", len(text.encode()))
    assert text == to_c(load("cars.takagi"), dtype="float", name="takagi_2_cars")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say what to export to with --to onnx, fis, c or json."),
        (("--to", "onx"), "format 'onx' is unknown, did you mean 'onnx'?"),
        (("-o", "cars.txt"), "format 'txt' is unknown"),
        (("--to", "fis", "--single"), "--single is for onnx and c"),
        (("--to", "c", "-o", "cars.csv"), "cars.csv exists; pass --force"),
    ],
)
def test_misuse_is_exit_code_two(call, scratch, words, message, listing):
    code, out, err = call("export", "cars.takagi", *words)
    assert (code, out, listing()) == (2, "", [])
    assert err.startswith(f"Error: {message}")


def test_intervals_go_into_c_and_onnx_only(call, scratch):
    assert call("export", "cars.takagi", "-o", "cars.c", "--interval", "0.8")[0] == 0
    assert "cars_predict_interval" in Path("cars.c").read_text()
    code, _, err = call("export", "cars.takagi", "-o", "cars.json", "--interval", "0.8")
    assert code == 2
    assert "--interval is for onnx and c" in err
    assert call("export", "cars.takagi", "--to", "c", "--interval", "8", "--force")[0] == 2
