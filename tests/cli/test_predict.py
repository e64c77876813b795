import io
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi import RuleBase, RuleModel, TSKRegressor, predict_interval
from takagi.persistence import load, save


@pytest.fixture
def expected(scratch):
    return load("cars.takagi").predict(make_cars())


read_exactly = partial(pd.read_csv, engine="python")  # the quicker one of older pandas may be off by the last bit


def read(text):
    return read_exactly(io.StringIO(text))


def test_predictions_are_the_models_to_the_bit(call, scratch, expected, listing):
    code, out, err = call("predict", "cars.takagi", "cars.csv", "-o", "out.csv")
    assert (code, out, listing()) == (0, "Wrote out.csv: 200 rows\n", ["out.csv"])
    assert err == "Predicting cars.csv\n"
    np.testing.assert_array_equal(read_exactly("out.csv")["predicted_price"], expected)


def test_predictions_go_to_the_standard_output_by_default(call, scratch, expected):
    code, out, _ = call("predict", "cars.takagi", "cars.csv")
    assert code == 0
    np.testing.assert_array_equal(read(out)["predicted_price"], expected)


@pytest.mark.slow
def test_blocks_do_not_matter(call, scratch, expected, monkeypatch):
    for n_cells in (8, 8 * 33):
        monkeypatch.setattr("takagi.workflow._models._CELLS_PER_BLOCK", n_cells)
        for options in ([], ["--keep", "all"]):
            code, out, _ = call("predict", "cars.takagi", "cars.csv", *options)
            assert code == 0
            np.testing.assert_array_equal(read(out)["predicted_price"], expected)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("source", ["cars.csv", "cars.parquet", "cars.xlsx"])
def test_every_kind_of_table_goes_in_and_out(call, scratch, expected, source, suffix):
    cars = make_cars()
    cars.to_parquet("cars.parquet")
    cars.to_excel("cars.xlsx", index=False)
    code, *_ = call("predict", "cars.takagi", source, "-o", f"out.{suffix}", "--keep", "plate,power")
    assert code == 0
    readers = {"parquet": pd.read_parquet, "csv": read_exactly, "tsv": partial(read_exactly, sep="\t")}
    out = readers[suffix](f"out.{suffix}")
    assert list(out.columns) == ["plate", "power", "predicted_price"]
    assert out["plate"].tolist() == cars["plate"].tolist()
    np.testing.assert_array_equal(pd.to_numeric(out["power"]), cars["power"])
    np.testing.assert_array_equal(out["predicted_price"], expected)


def test_kept_columns_are_copied_as_they_are(call, scratch):
    (scratch / "new.csv").write_text('sold,"weight","the, id",power,fuel\nTRUE,1500.50,007,?,petrol\nfalse,1e3,,90,\n')
    code, out, _ = call("predict", "cars.takagi", "new.csv", "--keep", "the, id", "--keep", "weight,power")
    assert code == 0
    assert [line.rpartition(",")[0] for line in out.splitlines()] == [
        '"the, id",weight,power',
        "007,1500.50,?",
        ",1e3,90",
    ]
    code, out, _ = call("predict", "cars.takagi", "new.csv", "--keep", "all")
    assert out.splitlines()[0] == 'sold,weight,"the, id",power,fuel,predicted_price'


@pytest.mark.parametrize("is_terminal", [True, False])
def test_names_and_cells_cannot_steer_a_terminal_and_are_data_elsewhere(call, scratch, monkeypatch, is_terminal):
    evil = "\x1b[2Jx\x07\u202e"
    make_cars().assign(**{evil: evil}).to_csv("evil.csv", index=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal)
    code, out, _ = call("predict", "cars.takagi", "evil.csv", "--keep", evil)
    assert code == 0
    shown = "\ufffd[2Jx\ufffd\ufffd" if is_terminal else evil
    assert out.startswith(f"{shown},predicted_price\n{shown},")


def test_a_kept_column_of_the_predictions_name_is_not_lost(call, scratch):
    make_cars(10).rename(columns={"plate": "predicted_price"}).to_csv("new.csv", index=False)
    code, out, _ = call("predict", "cars.takagi", "new.csv", "--keep", "predicted_price")
    assert (code, out.splitlines()[0]) == (0, "predicted_price,predicted_price_")


def test_order_of_columns_and_further_ones_do_not_matter(call, scratch, expected):
    cars = make_cars()
    cars.assign(more="?")[list(cars.columns[::-1])].to_csv("new.csv", index=False)
    code, out, _ = call("predict", "cars.takagi", "new.csv", "-q")
    assert code == 0
    np.testing.assert_array_equal(read(out)["predicted_price"], expected)


def test_decimal_commas_are_read_with_and_without_keeping(call, scratch, expected):
    make_cars().to_csv("new.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    for options in ([], ["--keep", "all"]):
        code, out, _ = call("predict", "cars.takagi", "new.csv", *options)
        assert code == 0
        np.testing.assert_array_equal(read(out)["predicted_price"], expected)


def test_a_word_among_decimal_commas_is_the_one_that_is_told(call, scratch):
    (scratch / "new.csv").write_text("weight;power;fuel;sold\n1,5;2,5;petrol;true\nheavy;3,5;petrol;true\n")
    for options in ([], ["--keep", "all"]):
        code, _, err = call("predict", "cars.takagi", "new.csv", "-q", *options)
        assert code == 1
        assert err.startswith("Error: Column 'weight' was numbers in training, got 'heavy' (first in row 1)")
    code, _, err = call("explain", "cars.takagi", "new.csv", "-q", "--row", 1)
    assert (code, "got 'heavy'" in err) == (1, True)


def test_levels_never_seen_are_noted_once_and_predicted(call, scratch):
    make_cars().assign(fuel=["hydrogen", "steam"] * 100).to_csv("new.csv", index=False)
    code, out, err = call("predict", "cars.takagi", "new.csv")
    assert (code, len(out.splitlines())) == (0, 201)
    assert err.count("Note: Column 'fuel' has 2 level(s) that training did not have: 'hydrogen' in 100 row(s)") == 1
    code, out, err = call("predict", "cars.takagi", "new.csv", "--quiet")
    assert (code, len(out.splitlines()), err) == (0, 201, "")


def test_json_tells_of_the_file_that_was_written(call, scratch):
    code, out, _ = call("predict", "cars.takagi", "cars.csv", "-o", "out.csv", "--json")
    told = json.loads(out)
    assert (code, told["output"], told["n_rows"]) == (0, "out.csv", 200)
    code, _, err = call("predict", "cars.takagi", "cars.csv", "--json")
    assert (code, "give a file with -o" in err) == (2, True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("weight,power,fule,sold\n1,2,a,true\n", "new.csv has no column 'fuel'. Did you mean 'fule'?"),
        ("weight,power,fuel,sold\n", "new.csv has names but no rows."),
        ("weight,power,fuel,sold\nheavy,2,a,true\n", "Column 'weight' was numbers in training, got 'heavy'"),
        ("weight,power,fuel,sold\n1,2,a,maybe\n", "Column 'sold' was true or false in training, got 'maybe'"),
        ("weight,power,fuel,sold\n1,inf,a,true\n", "Column 'power' contains infinity (first in row 0)"),
        ("weight,power,fuel,sold\n1,2,a,true,5\n", "new.csv has 5 cells in line 2, but 4 columns"),
        ("", "new.csv is empty."),
    ],
)  # fmt: skip
def test_new_data_that_do_not_fit_say_why(call, scratch, content, message, listing):
    (scratch / "new.csv").write_text(content)
    code, out, err = call("predict", "cars.takagi", "new.csv", "-o", "out.csv", "-q")
    assert (code, out, listing()) == (1, "", ["new.csv"])
    assert err.startswith(f"Error: {message}")


def test_an_error_far_down_says_where_and_leaves_the_old_output(call, scratch, monkeypatch, listing):
    monkeypatch.setattr("takagi.workflow._models._CELLS_PER_BLOCK", 8 * 50)
    cars = make_cars().astype({"weight": object})
    cars.loc[120, "weight"] = "heavy"
    cars.to_csv("new.csv", index=False)
    (scratch / "out.csv").write_text("old")
    code, _, err = call("predict", "cars.takagi", "new.csv", "-o", "out.csv", "--force", "-q")
    assert (code, listing(), (scratch / "out.csv").read_text()) == (1, ["new.csv", "out.csv"], "old")
    assert "in the block that starts at row 100 of the table: Column 'weight' was numbers" in err
    assert "got 'heavy' (first in row 20)" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("cars.takagi", "cars.csv", "-o", "cars.csv"), "cars.csv is read by this command"),
        (("cars.takagi", "cars.csv", "-o", "out.xls"), "the output out.xls must end in .csv, .tsv or .parquet."),
        (("cars.takagi", "cars.csv", "--keep", "plat"), "cars.csv has no column 'plat'. Did you mean 'plate'?"),
        (("car.takagi", "cars.csv"), "there is no file car.takagi. Did you mean cars.takagi?"),
    ],
)
def test_misuse_is_exit_code_two(call, scratch, words, message, listing):
    code, out, err = call("predict", *words)
    assert (code, out, listing()) == (2, "", [])
    assert err.startswith(f"Error: {message}")


def test_model_files_that_cannot_be_read_say_why(call, scratch):
    content = (scratch / "cars.takagi").read_text()
    for name, text, message in (
        ("newer", content.replace('"version":2', '"version":9', 1), "it has format version 9, but takagi"),
        ("cut", content[:5000], "it is cut short"),
        ("table", (scratch / "cars.csv").read_text(), "it is not a model file of takagi"),
    ):
        (scratch / f"{name}.takagi").write_text(text)
        code, _, err = call("predict", f"{name}.takagi", "cars.csv")
        assert code == 1
        assert err.startswith(f"Error: {name}.takagi cannot be loaded: {message}")


def test_models_made_in_python_predict_by_name_or_by_place(call, scratch):
    X = np.random.default_rng(0).normal(size=(50, 2))
    y = np.column_stack([X[:, 0], X.sum(axis=1)])
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.to_csv("ab.csv", index=False)
    regressor = TSKRegressor(n_rules=2, max_iter=50, random_state=0)
    save(regressor.fit(frame, y[:, 0]), "named.takagi")
    save(RuleBase([[0.0, 0.0]], [[1.0, 1.0]], [[[1.0, 2.0, 3.0]]]), "rules.takagi")
    code, out, _ = call("predict", "named.takagi", "ab.csv")
    np.testing.assert_array_equal(read(out)["predicted_y"], regressor.predict(frame))
    code, out, _ = call("predict", "rules.takagi", "ab.csv")
    np.testing.assert_allclose(read(out)["predicted_y"], 1 + X @ [2, 3], rtol=1e-12)
    save(regressor.fit(X, y), "two.takagi")
    code, out, err = call("predict", "two.takagi", "ab.csv", "--keep", "b")
    assert (code, "Note" in err) == (0, False)
    np.testing.assert_array_equal(read(out)[["predicted_y0", "predicted_y1"]], regressor.predict(X))
    code, _, err = call("predict", "two.takagi", "cars.csv")
    assert code == 1
    assert "has 8 columns, but the model, which has no names for them, takes 2" in err


def test_kept_columns_of_mixed_types_do_not_fit_parquet_but_csv(call, scratch, listing):
    cars = make_cars(20).astype({"plate": object})
    cars.loc[3, "plate"] = 5
    cars.to_excel("new.xlsx", index=False)
    code, _, err = call("predict", "cars.takagi", "new.xlsx", "-o", "out.parquet", "--keep", "plate", "-q")
    assert (code, listing()) == (1, ["new.xlsx"])
    assert err.startswith("Error: Parquet takes one type a column; write CSV instead (")
    assert call("predict", "cars.takagi", "new.xlsx", "-o", "out.csv", "--keep", "plate", "-q")[0] == 0


def test_limits_of_intervals_are_the_models(call, scratch):
    code, out, _ = call("predict", "cars.takagi", "cars.csv", "--interval", "0.8")
    assert code == 0
    found = read(out)
    assert list(found.columns) == ["predicted_price", "lower_price", "upper_price"]
    expected = predict_interval(load("cars.takagi"), make_cars(), 0.8)
    np.testing.assert_array_equal(found[["lower_price", "upper_price"]], expected)


@pytest.mark.parametrize("part", ["0", "1", "90", "-0.5", "nan"])
def test_a_part_that_is_none_is_refused(call, scratch, listing, part):
    code, _, err = call("predict", "cars.takagi", "cars.csv", "--interval", part, "-o", "out.csv")
    assert (code, listing()) == (2, [])
    assert "coverage must be a number between 0 and 1" in err


def test_a_model_that_does_not_know_how_far_it_is_off_says_how_to_train_it(call, scratch):
    model = load("cars.takagi")
    model[-1].model_ = RuleModel(model[-1].model_.parts)
    save(model, "other.takagi")
    code, _, err = call("predict", "other.takagi", "cars.csv", "--interval", "0.9")
    assert code == 2
    assert "--intervals" in " ".join(err.split())


def test_fit_with_intervals_knows_them_from_folds(call, scratch):
    options = ["--rules", "2", "--no-score", "--quiet", "--drop", "plate"]
    assert call("fit", "cars.csv", "-t", "price", "-o", "short.takagi", "--intervals", *options)[0] == 0
    assert load("short.takagi")[-1].calibration_.source == "folds"
    assert "+-" in call("rules", "short.takagi")[1]


def test_far_values_are_counted_once_in_a_note(call, scratch, monkeypatch):
    monkeypatch.setattr("takagi.workflow._models._CELLS_PER_BLOCK", 8 * 15)
    cars = make_cars(40)
    cars.loc[[2, 20, 39], "weight"] = [1e6, -1e6, 1e300]
    cars.loc[20, "power"] = 9e5
    cars.to_csv("far.csv", index=False)
    code, out, err = call("predict", "cars.takagi", "far.csv")
    notes = [line for line in err.splitlines() if line.startswith("Note:")]
    assert code == 0
    assert len(notes) == 1
    assert notes[0].startswith(
        "Note: Values far beyond the training data are held at a limit in 3 of 40 rows: weight at "
    )
    assert notes[0].partition("power at ")[2].endswith(" (1 row).")
    assert np.isfinite(read(out)["predicted_price"]).all()
    _, text, err = call("predict", "cars.takagi", "far.csv", "-o", "out.csv", "--json", "--quiet")
    assert (json.loads(text)["n_held"], err) == (3, "")
    _, text, err = call("predict", "cars.takagi", "cars.csv", "-o", "all.csv", "--json")
    assert (json.loads(text)["n_held"], "Note" in err) == (0, False)


def test_flags_name_what_a_model_guesses_about(call, scratch):
    new = make_cars().head(4).drop(columns="price").astype({"fuel": object})
    new.loc[0, ["weight", "power", "fuel"]] = [90000.0, 100.0, "diesel"]
    new.loc[1, ["weight", "power", "fuel"]] = [1500.0, 100.0, "wood"]
    new.loc[2, ["weight", "power", "fuel"]] = [1500.0, np.nan, "diesel"]
    new.loc[3, ["weight", "power", "fuel"]] = [1500.0, 100.0, "diesel"]
    new.to_csv("new.csv", index=False)
    code, out, err = call("predict", "cars.takagi", "new.csv", "--flags", "-o", "out.csv", "--json")
    assert (code, json.loads(out)["n_flagged"]) == (0, 3)
    assert "3 rows of 4 flagged." in err
    flags = pd.read_csv("out.csv", keep_default_na=False)["flags"].tolist()
    assert flags == ["beyond the data: weight", "unknown: fuel", "missing: power", ""]


def test_formulas_of_a_table_are_no_formulas_in_the_output(call, scratch):
    cars = make_cars().head(5).assign(**{"=note": ["=HYPERLINK(1)", "+1-800", "@sum", "-5", "fine"]})
    cars.to_csv("new.csv", index=False)
    for name in ("out.csv", "out.tsv"):
        assert call("predict", "cars.takagi", "new.csv", "--keep", "=note", "-o", name)[0] == 0
        found = pd.read_csv(name, sep=None, engine="python", dtype=str).iloc[:, 0]
        assert found.name == "'=note"
        assert found.tolist() == ["'=HYPERLINK(1)", "'+1-800", "'@sum", "-5", "fine"]
