import json
import signal

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

pytest.importorskip("pyarrow")

from takagi.persistence import load

TARGET = ("--target", "price")
QUICK = ("--rules", "3", "--droprule", "--iterations", "300")


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Parts of a table in two forms, and a sample that is smaller than the table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("takagi.workflow._parts.SAMPLE_ROWS", 1500)
    cars = make_cars(3000)
    cars["first seen"] = pd.to_datetime(cars["first seen"])
    for folder in ("parquet", "csv"):
        (tmp_path / folder).mkdir()
    for k in range(3):
        rows = cars.sort_values("price").iloc[k * 1000 : (k + 1) * 1000]
        rows.to_parquet(tmp_path / "parquet" / f"part-{k}.parquet", row_group_size=200)
        rows.to_csv(tmp_path / "csv" / f"part-{k}.csv", index=False, sep=";", decimal=",")
    return tmp_path


def test_a_pattern_is_trained_on_in_passes_and_scored_on_rows_held_out(call, parts):
    code, out, err = call("fit", "parquet/part-*.parquet", *TARGET, "-o", "m.takagi", *QUICK)
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0] == "parquet/part-*.parquet: 3,000 rows, 8 columns (3 files, Parquet)"
    assert [line.split()[:3] for line in lines[3:10]] == [
        ["plate", "left", "out"],
        ["weight", "number", lines[4].split()[2]],
        ["power", "number", lines[5].split()[2]],
        ["fuel", "category", "3:"],
        ["sold", "boolean", "true"],
        ["first", "seen", "left"],
        ["wheels", "left", "out"],
    ]
    assert "; 2 rows without it left out" in out
    assert "those of 1,500 rows drawn at random." in out
    scores = {line.split("  ")[0]: line.split() for line in lines if line.startswith(("takagi,", "always", "Score by"))}
    assert "Score by 300 rows held out" in scores
    assert float(scores["takagi, 3 rules"][3]) < 0.6 * float(scores["always the mean"][3])
    assert out.count("\n  THEN price = ") == 3
    assert "  takagi explain m.takagi parquet/part-0.parquet --row 0" in lines
    assert err.splitlines() == ["Reading parquet/part-*.parquet", "Training 3 rules on 2,698 rows"]
    model = load("m.takagi")
    assert [column.name for column in model[0].columns_] == ["weight", "power", "fuel", "sold"]
    assert model[-1].n_iter_ > 300


@pytest.mark.slow
def test_a_folder_several_files_and_text_with_commas_give_the_same_rules(call, parts):
    sources = {"a": ["parquet"], "b": [f"parquet/part-{k}.parquet" for k in range(3)]}
    for name, source in sources.items():
        code, out, err = call("fit", *source, *TARGET, "-o", f"{name}.takagi", *QUICK, "-q")
        assert (code, out, err) == (0, "", "")
    assert (parts / "a.takagi").read_bytes() == (parts / "b.takagi").read_bytes()
    code, out, _ = call("fit", "csv", *TARGET, "-o", "c.takagi", *QUICK, "--json")
    summary = json.loads(out)
    assert (code, summary["n_rows"], summary["n_rows_without_target"]) == (0, 2998, 2)
    cars = make_cars(3000).dropna(subset="price")
    predictions = [load(f"{name}.takagi").predict(cars) for name in "ac"]
    errors = [np.sqrt(np.mean((prediction - cars["price"]) ** 2)) for prediction in predictions]
    assert errors[0] == pytest.approx(errors[1], rel=0.2)


def test_up_to_the_sample_parts_are_as_one_file(call, parts, monkeypatch):
    monkeypatch.setattr("takagi.workflow._parts.SAMPLE_ROWS", 50_000)
    make_cars(3000).to_parquet("whole.parquet")
    for name, source in (("parts", "parquet"), ("whole", "whole.parquet")):
        code, *_ = call("fit", source, *TARGET, "-o", f"{name}.takagi", *QUICK, "-q", "--drop", "first seen")
        assert code == 0
    cars = make_cars(100)
    np.testing.assert_array_equal(*(load(f"{name}.takagi").predict(cars) for name in ("parts", "whole")))


def test_one_large_file_goes_the_same_way(call, parts, monkeypatch):
    monkeypatch.setattr("takagi.workflow._parts.LARGE_BYTES", 1000)
    make_cars(3000).to_csv("whole.csv", index=False)
    code, out, err = call("fit", "whole.csv", *TARGET, "-o", "m.takagi", *QUICK)
    assert code == 0
    assert out.startswith("whole.csv: 3,000 rows, 8 columns (1 file, comma-separated, UTF-8)")
    assert "Training 3 rules on 2,698 rows" in err


@pytest.mark.slow
def test_settings_may_be_searched_on_the_sample(call, parts):
    code, out, _ = call("fit", "parquet", *TARGET, "-o", "m.takagi", *QUICK, "--tune", "--json")
    assert (code, len(json.loads(out)["search"])) == (0, 3)


def test_ctrl_c_writes_the_best_rules_so_far(call, parts, monkeypatch):
    def stop(self, event):
        if "pilots" not in event.unit and event.unit.startswith("iterations,"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("takagi.cli._progress.ProgressBars.__call__", stop)
    code, _, err = call("fit", "parquet", *TARGET, "-o", "m.takagi", *QUICK)
    assert code == 130
    assert "the best rules so far are in m.takagi" in err
    assert np.isfinite(load("m.takagi").predict(make_cars(50))).all()


def test_a_file_that_vanishes_on_the_way_is_named_and_the_rules_so_far_are_written(call, parts, monkeypatch):
    path = parts / "parquet" / "part-1.parquet"

    def remove(self, event):
        if event.unit.startswith("iterations") and event.done:
            path.unlink(missing_ok=True)

    monkeypatch.setattr("takagi.cli._progress.ProgressBars.__call__", remove)
    code, _, err = call("fit", "parquet", *TARGET, "-o", "m.takagi", *QUICK)
    assert code == 1
    assert "part-1.parquet was there at first and is gone now." in " ".join(err.split())
    assert "the best rules up to then are in m.takagi" in err
    assert np.isfinite(load("m.takagi").predict(make_cars(50))).all()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["parquet/*.csv", *TARGET], 2, "no file matches"),
        (["parquet", "--target", "prise"], 2, "parquet has no column 'prise'. Did you mean 'price'?"),
        (["parquet", "--target", "fuel", "--task", "regression"], 1, "numbers, but holds text"),
        (["parquet", "--target", "weight", "--task", "classification"], 1, "more than 1,000 different values"),
        (["parquet", "--target", "first seen"], 1, "must be labels of classes, but holds dates or times"),
        (["parquet", *TARGET, "--sheet", "1"], 2, "is a table in parts, which has no sheets. See --sheet."),
        (["parquet", "csv", *TARGET], 1, "some are Parquet and some are text"),
        (
            ["parquet", *TARGET, "--names", "a,b"],
            2,
            "has names of its own; give no others. See --names.",
        ),
        (["parquet/part-0.parquet", *TARGET, "--no-header"], 2, "give no others. See --no-header."),
        (
            ["parquet", *TARGET, "--committee"],
            2,
            "too many rows for that. See takagi fit --committee.",
        ),
        (["parquet", *TARGET, "--drop", "*"], 2, "no column is left to learn 'price' from. See --drop."),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(call, parts, words, code, message):
    found, _, err = call("fit", *words, "-o", "m.takagi")
    assert found == code
    assert message in " ".join(err.split())
    assert not (parts / "m.takagi").exists()


def test_files_that_differ_are_named(call, parts):
    other = pd.read_parquet("parquet/part-2.parquet").rename(columns={"power": "kW"})
    other.to_parquet("parquet/part-2.parquet")
    code, _, err = call("fit", "parquet", *TARGET, "-o", "m.takagi")
    assert code == 1
    assert "part-2.parquet has no column 'power'" in " ".join(err.split())


def test_no_rows_held_out_of_a_large_dataset_means_no_score(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for k in range(2):
        pd.DataFrame({"a": rng.normal(size=30_000), "p": np.arange(30_000.0)}).to_parquet(f"part-{k}.parquet")
    words = ("--target", "p", "-o", "m.takagi", "--rules", 2, "--iterations", 20, "--no-score")
    code, out, _ = call("fit", "part-*.parquet", *words)
    assert (code, "RMSE" in out, (tmp_path / "m.takagi").exists()) == (0, False, True)


def test_classes_are_learned_from_parts_and_scored_on_rows_held_out(call, parts):
    words = ("fit", "csv/part-*.csv", "--target", "fuel", "-o", "m.takagi", *QUICK)
    code, out, err = call(*words)
    assert code == 0
    assert "Target fuel: 3 classes: " in out
    scores = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "Score by 300 rows held out" in scores
    assert {"takagi, 3 rules", "logistic regression", "the class frequencies"} <= set(scores)
    assert err.splitlines()[0] == "Reading csv/part-*.csv"
    assert "Training 3 rules on " in err
    model = load("m.takagi")
    assert model[-1].classes_.tolist() == sorted(make_cars(3000)["fuel"].dropna().unique())
    assert model[-1].scores_.measure == "log loss"
    assert model[-1].n_iter_ > 300


def test_two_numbers_are_classes_in_parts_too(call, parts):
    for path in (parts / "parquet").iterdir():
        table = pd.read_parquet(path)
        table.assign(dear=(table["price"] > 20_000).astype(int)).drop(columns="price").to_parquet(path)
    code, out, _ = call("fit", "parquet", "--target", "dear", "-o", "m.takagi", *QUICK)
    assert (code, "Target dear: 2 classes: " in out, load("m.takagi")[-1].classes_.tolist()) == (0, True, [0, 1])
    code, out, _ = call("fit", "parquet", "--target", "dear", "-o", "n.takagi", "--task", "regression", *QUICK)
    assert (code, "Target dear: 0 to 1" in out) == (0, True)
