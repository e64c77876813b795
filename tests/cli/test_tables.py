import datetime
import io
import sys

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.cli._console import Misuse
from takagi.cli._tables import Layout, find_columns, open_table, read_table
from takagi.cli._text_table import parse_numbers
from takagi.tables import TableEncoder

NOTHING = Layout()


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def encoded(table):
    """What a model would get of a whole table."""
    frame = read_table(table, ["weight", "power", "fuel", "sold"])
    return TableEncoder().fit(frame).transform(frame)


def test_the_same_table_is_read_from_every_kind_of_file(tmp_path):
    cars = make_cars(60)
    writers = {
        "cars.csv": lambda path: cars.to_csv(path, index=False),
        "cars.tsv": lambda path: cars.to_csv(path, index=False, sep="\t"),
        "excel.csv": lambda path: cars.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16"),
        "bar.txt": lambda path: cars.to_csv(path, index=False, sep="|", encoding="utf-8-sig"),
        "cars.parquet": lambda path: cars.to_parquet(path),
        "cars.xlsx": lambda path: cars.to_excel(path, index=False),
    }
    expected = None
    for name, writer in writers.items():
        writer(tmp_path / name)
        table = open_table(str(tmp_path / name), NOTHING)
        assert table.names == list(cars.columns), name
        expected = encoded(table) if expected is None else expected
        np.testing.assert_array_equal(encoded(table), expected, err_msg=name)


def test_blocks_are_the_table_wherever_they_end(tmp_path):
    cars = make_cars(50).assign(power=lambda t: t["power"].astype(object))
    cars.loc[40, "power"] = " 55.5 "
    cars.loc[45, "power"] = "?"
    cars.to_csv(tmp_path / "cars.csv", index=False)
    table = open_table(str(tmp_path / "cars.csv"), NOTHING)
    columns = ["weight", "power", "fuel", "sold"]
    whole = read_table(table, columns)
    encoder = TableEncoder().fit(whole)
    for n_rows in (1, 7, 50):
        blocks = list(table.blocks(columns, {"fuel", "sold"}, n_rows))
        assert sum(map(len, blocks)) == 50
        matrix = np.vstack([encoder.transform(block) for block in blocks])
        np.testing.assert_array_equal(matrix, encoder.transform(whole))


def test_text_stays_as_it_is_where_wished(tmp_path):
    path = write(tmp_path / "t.csv", "id,x\n007,1.50\n,NA\n")
    block = next(open_table(path, NOTHING).blocks(["id", "x"], {"id", "x"}, 10))
    assert block.to_numpy().tolist() == [["007", "1.50"], ["", "NA"]]


def test_true_and_false_are_words_in_blocks(tmp_path):
    path = write(tmp_path / "t.csv", "x\n1\n2\nTrue\nTrue\n")
    blocks = list(open_table(path, NOTHING).blocks(["x"], (), 2))
    assert blocks[1]["x"].tolist() == ["True", "True"]  # an error for a model of numbers, not ones


def test_the_standard_input_is_read_once_and_in_blocks(monkeypatch):
    content = make_cars(3000).to_csv(index=False).encode()
    monkeypatch.setattr("takagi.cli._tables.HEAD_BYTES", 1000)
    monkeypatch.setattr("takagi.cli._text_table.HEAD_BYTES", 1000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = open_table("-", NOTHING)
    weights = pd.concat(block["weight"] for block in table.blocks(["weight"], (), 700))
    np.testing.assert_array_equal(weights, make_cars(3000)["weight"])


def test_names_are_made_where_there_are_none(tmp_path):
    path = write(tmp_path / "t.csv", "a,,b\n1,2,3\n")
    assert open_table(path, NOTHING).names == ["a", "column2", "b"]
    path = write(tmp_path / "u.csv", "1,2,3\n4,5,6\n")
    assert read_table(open_table(path, Layout(no_header=True)))["x2"].tolist() == [3, 6]
    assert read_table(open_table(path, Layout(names="a, b,c")))["b"].tolist() == [2, 5]


def test_names_that_look_like_data_are_told(tmp_path, capsys):
    open_table(write(tmp_path / "t.csv", "18.0,8,ford\n15,7,vw\n"), NOTHING)
    assert "look like data: '18.0', '8', 'ford'. If its first line is data, pass --no-header" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "several columns named 'a'. Rename"),
        ("1,1\n1,2\n", "several columns named '1'.* --no-header"),
        (b"\x1f\x8b\x08rest", "is compressed; unpack it"),
        (b"PAR1 and no more", "is damaged or not Parquet"),
        (b"PK\x03\x04 and no more", "is damaged or not Excel"),
        (b"\xd0\xcf\x11\xe0 and no more", "is damaged or not Excel"),
    ],
)
def test_files_that_cannot_be_read_say_why(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        open_table(write(tmp_path / "t.csv", content), NOTHING)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", r"3 cells in line 3, but 2 columns"),
        ("a,b\n1,2,3\n1,2,3\n", "more cells than its first line, which has 2"),
        ('a,b\n1,2\n"1,2\n', "quotation mark near line 3 that is never closed"),
    ],
)
@pytest.mark.parametrize("n_rows", [None, 1])
def test_lines_that_do_not_fit_say_which(tmp_path, content, message, n_rows):
    table = open_table(write(tmp_path / "t.csv", content), NOTHING)
    with pytest.raises(ValueError, match=message):
        list(table.blocks(["a"], (), n_rows))


def test_bytes_that_are_wrong_later_on_are_told(monkeypatch):
    content = b"a,b\n" + b"1,2\n" * 1000 + b"\xe9,3\n"
    monkeypatch.setattr("takagi.cli._tables.HEAD_BYTES", 1000)
    monkeypatch.setattr("takagi.cli._text_table.HEAD_BYTES", 1000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(ValueError, match="the standard input is not UTF-8 throughout"):
        list(open_table("-", NOTHING).blocks(["a"], (), 10))


def test_missing_files_and_columns_get_the_nearest_name(tmp_path):
    path = write(tmp_path / "cars.csv", "Price,fuel\n1,2\n")
    with pytest.raises(Misuse, match=r"there is no file .*cars.cvs. Did you mean .*cars.csv"):
        open_table(str(tmp_path / "cars.cvs"), NOTHING)
    with pytest.raises(Misuse, match=r"there is no file .*none.csv\.$"):
        open_table(str(tmp_path / "none.csv"), NOTHING)
    with pytest.raises(Misuse, match="is a folder"):
        open_table(str(tmp_path), NOTHING)
    with pytest.raises(Misuse, match=r"no column 'price'. Did you mean 'Price'. It has 'Price', 'fuel'"):
        find_columns(open_table(path, NOTHING), ["price"])


def test_sheets_go_by_name_or_number(tmp_path, capsys):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="old", index=False)
        pd.DataFrame([["b", None, "when"], [2, None, datetime.date(2020, 1, 2)], [None] * 3]).to_excel(
            book, sheet_name="new", index=False, header=False
        )
    assert open_table(str(path), NOTHING).names == ["a"]
    assert "has the sheets 'old', 'new'; the first is read" in capsys.readouterr().err
    for sheet in ("new", "2"):
        table = open_table(str(path), Layout(sheet=sheet))
        assert (table.names, table.description) == (["b", "when"], "Excel, sheet 'new'")
        assert len(read_table(table)) == 1  # empty rows and columns are no data
    with pytest.raises(Misuse, match="no sheet '3'; it has 'old', 'new'"):
        open_table(str(path), Layout(sheet="3"))
    assert read_table(open_table(str(path), Layout(sheet="1", names="x")))["x"].tolist() == ["a", 1]
    with pytest.raises(Misuse, match="no Excel file"):
        open_table(write(tmp_path / "t.csv", "a,b\n"), Layout(sheet="1"))


def test_numbers_in_text_are_parsed_or_left_to_the_encoder():
    for dtype in (object, str):
        column = pd.Series(["1,5", "?", "", " 2,25", "1e3"], dtype=dtype)
        np.testing.assert_array_equal(parse_numbers(column, ","), [1.5, np.nan, np.nan, 2.25, 1000])
    for words in (["1", "x"], ["1_000", "2"], [True, np.nan], [True, "1"], [1, 2], [1.5, np.nan]):
        assert parse_numbers(pd.Series(words, dtype=object), ".").dtype == object
