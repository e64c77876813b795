"""Intervals in exported models: they agree with `predict_interval`."""

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from exported import example_rows, example_rules, example_sums
from test_c import Compiled, compile_c

from takagi.calibration import measure_calibration
from takagi.export import to_c, to_json, to_onnx
from takagi.rulemodel import RuleModel

NAMES = ("plain", "several outputs", "separate projections")


def calibrated(model):
    """Return a model with scales that differ from rule to rule."""
    rng = np.random.default_rng(3)
    known = measure_calibration(np.ones((60, model.n_rules)), rng.normal(size=(60, model.n_outputs)))
    scale = rng.uniform(0.5, 4, size=(model.n_rules, model.n_outputs))
    return RuleModel(model.parts, replace(known, scale=scale))


MODELS = {
    **{name: calibrated(RuleModel((example_rules()[name],))) for name in NAMES},
    **{name: calibrated(example_sums()[name]) for name in sorted(example_sums())[:2]},
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]


def test_spread_is_the_mean_of_scales_by_share(model):
    X = example_rows(model)
    share = model.firing_share(X) / len(model.parts)
    prediction, spread = model.predict_spread(X)
    np.testing.assert_allclose(prediction, model.predict_raw(X))
    np.testing.assert_allclose(spread, share @ model.calibration.scale)
    lower, upper = np.moveaxis(model.predict_interval(X, 0.8).reshape(len(X), -1, 2), -1, 0)
    np.testing.assert_allclose(upper - lower, 2 * model.calibration.find_reach(0.8) * spread)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_c_has_a_second_function_for_intervals(model, dtype, tmp_path):
    X = example_rows(model)[:20].astype("float64" if dtype == "double" else "float32")
    plain = Compiled(to_c(model, dtype=dtype), tmp_path, dtype=dtype)
    expected = plain.predict(X)
    folder = tmp_path / "interval"
    folder.mkdir()
    text = to_c(model, dtype=dtype, coverage=0.9)
    (folder / "rules.c").write_text(text)
    (folder / "main.c").write_text(MAIN % {"real": dtype})
    compile_c([folder / "main.c", folder / "rules.c"], folder / "program")
    found = run_program(folder / "program", X, model.n_outputs)
    np.testing.assert_array_equal(found[:, 0], np.reshape(expected, (len(X), -1)))
    wanted = model.predict_interval(X.astype(float), 0.9).reshape(len(X), -1, 2)
    size = np.abs(wanted).max() + 1
    tolerance = 1e-12 if dtype == "double" else 3e-5
    np.testing.assert_allclose(np.moveaxis(found[:, 1:], 1, -1), wanted, atol=tolerance * size)


MAIN = """
#define TAKAGI_DECLARATIONS_ONLY
#include "rules.c"
#include <stdio.h>
int main(void)
{
    %(real)s x[TAKAGI_N_COLUMNS], y[3][TAKAGI_N_OUTPUTS];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        takagi_predict(x, y[0]);
        takagi_predict_interval(x, y[1], y[2]);
        fwrite(y, sizeof y, 1, stdout);
    }
    return 0;
}
"""


def run_program(program, X, n_outputs):
    done = subprocess.run([str(program)], input=np.ascontiguousarray(X).tobytes(), capture_output=True, check=True)
    return np.frombuffer(done.stdout, dtype=X.dtype).reshape(len(X), 3, n_outputs).astype(float)


def test_c_without_a_coverage_has_no_intervals(model):
    assert "interval" not in to_c(model)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx_has_outputs_for_limits(model, dtype):
    runtime = pytest.importorskip("onnxruntime")
    X = example_rows(model).astype(dtype)
    proto = to_onnx(model, dtype=dtype, coverage=0.9)
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    y, lower, upper = session.run(["y", "lower", "upper"], {"X": X})
    wanted = model.predict_interval(X.astype(float), 0.9)
    tolerance = (1e-12 if dtype == "float64" else 3e-5) * (np.abs(wanted).max() + 1)
    assert y.shape == lower.shape == model.predict(X).shape
    np.testing.assert_allclose(y, model.predict(X.astype(float)), atol=tolerance)
    np.testing.assert_allclose(np.stack([lower, upper], axis=-1), wanted, atol=tolerance)


def test_json_holds_what_intervals_follow_from(model):
    known = json.loads(to_json(model))["calibration"]
    place = next(i for i, level in enumerate(known["levels"]) if level[0] >= 0.9)
    assert known["scores"][place][0] == model.calibration.find_reach(0.9)[0]
    assert known["scale"] == model.calibration.scale.tolist()
    assert "calibration" not in json.loads(to_json(RuleModel(model.parts)))


@pytest.mark.parametrize("export", [to_c, to_onnx])
def test_a_model_without_calibration_and_a_bad_coverage_are_refused(export):
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        export(example_rules()["plain"], coverage=0.9)
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        export(MODELS["plain"], coverage=90)
    with pytest.raises(ValueError, match="need at least 99 held-out rows"):
        export(MODELS["plain"], coverage=0.99)
