import gzip
import io
import sqlite3
import sys
from contextlib import closing

import pandas as pd
import pytest
from made_cars import FIT, make_cars


@pytest.fixture
def base(scratch):
    with closing(sqlite3.connect("plant.db")) as base:
        make_cars().to_sql("cars", base, index=False)
    return "sqlite:///plant.db"


def test_fit_learns_from_a_query_and_says_how_to_go_on(call, base):
    code, output, errors = call("fit", base, "--query", "select * from cars", "-t", "price", "-o", "m.takagi", *FIT)
    assert (code, "Error" in errors) == (0, False)
    assert "sqlite:///plant.db: 200 rows, 8 columns (rows of a query)" in output
    assert "takagi explain m.takagi sqlite:///plant.db --query 'select * from cars' --row 0" in output


def test_a_database_is_not_replaced_and_asks_for_a_query(call, base, listing):
    options = ("--query", "select * from cars", "-t", "price", "-o", "plant.db", "--force")
    assert "plant.db is read by this command" in call("fit", base, *options)[2]
    code, _, errors = call("predict", "cars.takagi", base)
    assert code == 2
    assert errors.endswith('say which rows to read, such as "select * from cars". See --query.\n')
    assert "See --header-row." in call("predict", "cars.takagi", base, "--header-row", 2)[2]


@pytest.mark.parametrize("command", ["rules", "explain", "predict", "report", "compare", "simplify"])
def test_every_command_reads_titled_and_packed_tables(call, scratch, command):
    content = "Cars of the yard\n\n" + make_cars().to_csv(index=False)
    (scratch / "titled.csv.gz").write_bytes(gzip.compress(content.encode()))
    (scratch / "other.takagi").write_bytes((scratch / "cars.takagi").read_bytes())
    models = ["cars.takagi", "other.takagi"] if command == "compare" else ["cars.takagi"]
    output = {"report": ["-o", "r.html"], "simplify": ["-o", "s.takagi"], "predict": ["-o", "p.csv"]}.get(command, [])
    code, _, errors = call(command, *models, "titled.csv.gz", *output)
    assert code == 0
    assert "titled.csv.gz has 1 line above its names, which are in line 3" in errors
    assert "See --header-row." in errors


def test_cells_from_a_spreadsheet_are_fitted_from_a_pipe(call, scratch, monkeypatch):
    pasted = make_cars().to_csv(index=False, sep="\t").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pasted)))
    code, output, _ = call("fit", "-", "-t", "price", "-o", "m.takagi", *FIT, "--no-score")
    assert code == 0
    assert "the standard input: 200 rows, 8 columns (tab-separated, UTF-8)" in output
    assert "takagi explain m.takagi TABLE --row 0" in output


def test_json_lines_predict_what_text_does(call, scratch):
    cars = pd.read_csv("cars.csv")
    cars.to_json("cars.jsonl", orient="records", lines=True)
    assert call("predict", "cars.takagi", "cars.jsonl", "-q")[1] == call("predict", "cars.takagi", "cars.csv", "-q")[1]
