"""The installed command, run as a user does: in processes of its own, in a scratch folder."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.export import read_fis
from takagi.persistence import load
from takagi.workflow import ModelSettings, train_model

pytestmark = pytest.mark.slow

COMMAND = shutil.which("takagi", path=sysconfig.get_path("scripts"))
COMMAND = [COMMAND] if COMMAND else [sys.executable, "-m", "takagi"]
FULL = "Error: there is no room for the output on the disk; nothing is left of it. Make room, or write elsewhere.\n"
NAMES = "mpg,cylinders,displacement,horsepower,weight,acceleration,year,origin,car"


@pytest.fixture
def takagi(tmp_path):
    """Run the command in the scratch folder and return what came of it."""
    environment = {**os.environ, "COLUMNS": "80", "OMP_NUM_THREADS": "1"}

    def run(*words, code=0, **options):
        words = [*COMMAND, *map(str, words)]
        options = {"capture_output": True, "text": True, "timeout": 300, "cwd": tmp_path, "env": environment, **options}
        done = subprocess.run(words, **options)
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture
def auto_mpg(tmp_path):
    folder = Path(os.environ.get("TAKAGI_DATA") or Path(__file__).parents[3] / "shared" / "datasets")
    found = [*folder.rglob("auto-mpg.data")]
    if not found:
        pytest.skip("needs auto-mpg.data: set TAKAGI_DATA to its folder")
    shutil.copy(found[0], tmp_path)
    return pd.read_csv(found[0], sep=r"\s+", header=None, names=NAMES.split(","), na_values="?")


def run_c(folder, rows):
    """Compile cars.c, and return what it predicts for rows of numbers."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    lines = ["{" + ", ".join("NAN" if value != value else repr(float(value)) for value in row) + "}" for row in rows]
    (folder / "main.c").write_text(
        '#include <math.h>\n#include <stdio.h>\n#include "cars.c"\n'
        f"static const double rows[{len(rows)}][{rows.shape[1]}] = {{{', '.join(lines)}}};\n"
        f"int main(void) {{ double y; int i; for (i = 0; i < {len(rows)}; ++i) {{ cars_predict(rows[i], &y); "
        'printf("%.17g\\n", y); } return 0; }\n'
    )
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([compiler, *flags, "main.c", "-o", "cars", "-lm"], cwd=folder, check=True)
    return np.array(subprocess.run(["./cars"], cwd=folder, capture_output=True, check=True).stdout.split(), dtype=float)


def run_onnx(folder, table, columns):
    session = pytest.importorskip("onnxruntime").InferenceSession(folder / "cars.onnx")
    feed = {name: table[[name]].to_numpy(dtype=float) for name in columns}
    return session.run(None, feed)[0].ravel()


def test_a_raw_file_becomes_a_model_predictions_a_page_and_exports(takagi, call, auto_mpg, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("jinja2")
    table = ("auto-mpg.data", "--names", NAMES)
    fit = takagi("fit", *table, "--target", "mpg", "-o", "cars.takagi", "--rules", 4, "--droprule", "--json")
    summary = json.loads(fit.stdout)
    error = {score["who"]: score["error"] for score in summary["score"]["scores"]}
    assert min(error.values()) < error["ridge regression"] < error["always the mean"]
    understood = {column["name"]: column for column in summary["columns"]}
    assert understood["horsepower"]["n_missing"] == 6
    assert (understood["car"]["read_as"], understood["car"]["what"]) == ("left out", "305 different texts")

    takagi("predict", "cars.takagi", *table, "-o", "out.csv", "--keep", "car,mpg")
    out = pd.read_csv(tmp_path / "out.csv")
    expected = load(tmp_path / "cars.takagi").predict(auto_mpg)
    np.testing.assert_allclose(out["predicted_mpg"], expected, rtol=1e-12)  # few rows are predicted by NumPy
    assert out["car"].tolist() == auto_mpg["car"].tolist()

    row = int(np.flatnonzero(auto_mpg["horsepower"].isna())[0])
    explained = takagi("explain", "cars.takagi", *table, "--row", row).stdout
    assert explained.startswith(f"row {row}: mpg = ")
    assert "horsepower is missing: its conditions are ignored" in explained

    takagi("report", "cars.takagi", *table, "-o", "report.html", "--quiet")
    assert (tmp_path / "report.html").read_text().rstrip().endswith("</html>")

    for kind in ("onnx", "fis", "c", "json"):
        assert call("export", tmp_path / "cars.takagi", "--to", kind, "-o", tmp_path / f"cars.{kind}")[0] == 0
    columns = [column.name for column in load(tmp_path / "cars.takagi")[0].columns_]
    rows = auto_mpg[columns].to_numpy(dtype=float)
    np.testing.assert_allclose(run_c(tmp_path, rows), expected, rtol=1e-9)
    np.testing.assert_allclose(run_onnx(tmp_path, auto_mpg, columns), expected, rtol=1e-9)
    encoded = load(tmp_path / "cars.takagi")[0].transform(auto_mpg)
    whole = ~np.isnan(encoded).any(axis=1)  # a .fis file has no place for what a missing value counts as
    np.testing.assert_allclose(read_fis(tmp_path / "cars.fis").predict(encoded[whole]), expected[whole], rtol=1e-9)
    assert json.loads((tmp_path / "cars.json").read_text())


def test_predict_is_a_filter_between_pipes(takagi, fitted):
    content = (fitted / "cars.csv").read_text()
    done = takagi("predict", fitted / "cars.takagi", "-", "--keep", "plate", input=content)
    lines = done.stdout.splitlines()
    assert (lines[0], len(lines)) == ("plate,predicted_price", 201)
    assert done.stderr == "Predicting the standard input\n"
    takagi("fit", "-", "-t", "price", "-o", "piped.takagi", "--rules", 2, "--iterations", 50, "-q", input=content)


def test_a_reader_that_goes_away_is_no_error(fitted):
    make_cars(20_000).to_csv(fitted / "long.csv", index=False)
    words = [*COMMAND, "predict", fitted / "cars.takagi", fitted / "long.csv", "-q"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "predicted_price\n"
        process.stdout.close()
        assert process.stderr.read() == ""
    (fitted / "long.csv").unlink()


@pytest.mark.parametrize("kind", ["model", "table"])
def test_a_full_disk_leaves_nothing_and_says_so(takagi, fitted, tmp_path, kind):
    words = {
        "model": ("fit", fitted / "cars.csv", "-t", "price", "-o", "out.takagi", "--rules", 2, "--iterations", 100),
        "table": ("predict", fitted / "cars.takagi", fitted / "cars.csv", "-o", "out.csv", "--keep", "all"),
    }[kind]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    done = takagi(*words, "-q", code=1, preexec_fn=limit)
    assert done.stderr == FULL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_the_standard_output_is_told(takagi, fitted):
    with open("/dev/full", "wb", buffering=0) as full:
        options = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
        assert takagi("predict", fitted / "cars.takagi", fitted / "cars.csv", "-q", code=1, **options).stderr == FULL


@pytest.mark.parametrize("words", [["--iterations", "100000000"], ["--tune", "--iterations", "1000000"]])
def test_interrupting_a_fit_leaves_the_old_model_and_nothing_else(fitted, tmp_path, words):
    (tmp_path / "out.takagi").write_text("old")
    words = [*COMMAND, "fit", fitted / "cars.csv", "-t", "price", "-o", "out.takagi", "--force", *words]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, text=True, cwd=tmp_path, **pipes) as process:
        assert process.stderr.readline().startswith(("Scoring", "Trying"))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        last = process.stderr.read()
    assert last == "Error: stopped; what was finished is kept, and no file is left half-written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.takagi"]
    assert (tmp_path / "out.takagi").read_text() == "old"


@pytest.mark.filterwarnings("ignore:Training was interrupted")  # where the library keeps the best rules so far
def test_training_that_is_interrupted_gives_no_model():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    cars = make_cars().dropna(subset="price")
    train_model(cars[["weight"]], cars["price"], ModelSettings(n_rules=2, max_iter=10))  # compiles, or loads
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        train_model(cars[["weight"]], cars["price"], ModelSettings(n_rules=2, max_iter=10**8))


def test_a_reader_that_leaves_does_not_stop_a_fit(tmp_path):
    make_cars().to_csv(tmp_path / "cars.csv", index=False)
    words = [*COMMAND, "fit", "cars.csv", "-t", "price", "-o", "cars.takagi", "--rules", "2", "--droprule"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as command:
        command.stdout.readline()
        command.stdout.close()
        assert command.wait(timeout=120) == 0
    assert load(tmp_path / "cars.takagi")[-1].n_rules_ == 2
