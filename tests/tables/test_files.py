import datetime
import io

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.tables import HeaderWarning, RequestError, SheetWarning, TableEncoder, TableLayout, find_columns, open_table


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def encoded(table):
    """What a model would get of a whole table."""
    frame = table.read(["weight", "power", "fuel", "sold"])
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
        table = open_table(str(tmp_path / name))
        assert table.names == list(cars.columns), name
        expected = encoded(table) if expected is None else expected
        np.testing.assert_array_equal(encoded(table), expected, err_msg=name)


def test_blocks_are_the_table_wherever_they_end(tmp_path):
    cars = make_cars(50).assign(power=lambda t: t["power"].astype(object))
    cars.loc[40, "power"] = " 55.5 "
    cars.loc[45, "power"] = "?"
    cars.to_csv(tmp_path / "cars.csv", index=False)
    table = open_table(str(tmp_path / "cars.csv"))
    columns = ["weight", "power", "fuel", "sold"]
    whole = table.read(columns)
    encoder = TableEncoder().fit(whole)
    for n_rows in (1, 7, 50):
        blocks = [block for _, block in table.blocks(columns, n_rows, {"fuel": "words", "sold": "words"})]
        assert sum(map(len, blocks)) == 50
        matrix = np.vstack([encoder.transform(block) for block in blocks])
        np.testing.assert_array_equal(matrix, encoder.transform(whole))


def test_text_stays_as_it_is_where_wished(tmp_path):
    path = write(tmp_path / "t.csv", "id,x\n007,1.50\n,NA\n")
    kept, block = next(open_table(path).blocks(["id"], 10, {"id": "words"}, keep=["id", "x"]))
    assert block["id"].tolist() == ["007", ""]
    assert kept.to_numpy().tolist() == [["007", "1.50"], ["", "NA"]]


def test_true_and_false_are_words_in_blocks(tmp_path):
    path = write(tmp_path / "t.csv", "x\n1\n2\nTrue\nTrue\n")
    blocks = list(open_table(path).blocks(["x"], 2))
    assert blocks[1][1]["x"].tolist() == ["True", "True"]  # an error for a model of numbers, not ones


def test_a_stream_is_read_once_and_in_blocks(monkeypatch):
    content = make_cars(3000).to_csv(index=False).encode()
    monkeypatch.setattr("takagi.tables._files.HEAD_BYTES", 1000)
    monkeypatch.setattr("takagi.tables._dialect.HEAD_BYTES", 1000)
    table = open_table(io.BytesIO(content))
    weights = pd.concat(block["weight"] for _, block in table.blocks(["weight"], 700))
    np.testing.assert_array_equal(weights, make_cars(3000)["weight"])


def test_names_are_made_where_there_are_none(tmp_path):
    path = write(tmp_path / "t.csv", "a,,b\n1,2,3\n")
    assert open_table(path).names == ["a", "column2", "b"]
    path = write(tmp_path / "u.csv", "1,2,3\n4,5,6\n")
    assert open_table(path, TableLayout(no_header=True)).read(["x2"])["x2"].tolist() == [3, 6]
    assert open_table(path, TableLayout(names=["a", "b", "c"])).read(["b"])["b"].tolist() == [2, 5]


def test_names_that_look_like_data_are_told(tmp_path):
    with pytest.warns(HeaderWarning, match="look like data: '18.0', '8', 'ford'"):
        open_table(write(tmp_path / "t.csv", "18.0,8,ford\n15,7,vw\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,a\n1,2\n", "several columns named 'a'. Rename"),
        (b"\x1f\x8b\x08rest", "is damaged and cannot be unpacked"),
        (b"PAR1 and no more", "is damaged or not Parquet"),
        (b"PK\x03\x04 and no more", "is damaged or not Excel"),
        (b"\xd0\xcf\x11\xe0 and no more", "is damaged or not Excel"),
    ],
)
def test_files_that_cannot_be_read_say_why(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        open_table(write(tmp_path / "t.csv", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", r"3 cells in line 3, but 2 columns"),
        ("a,b\n1,2,3\n1,2,3\n", "3 cells in line 2, but 2 columns"),
        ('a,b\n1,2\n"1,2\n', "quotation mark near line 3 that is never closed"),
    ],
)
@pytest.mark.parametrize("n_rows", [1, 100])
def test_lines_that_do_not_fit_say_which(tmp_path, content, message, n_rows):
    table = open_table(write(tmp_path / "t.csv", content))
    with pytest.raises(ValueError, match=message):
        list(table.blocks(["a"], n_rows))


def test_bytes_that_are_wrong_later_on_are_told(monkeypatch):
    content = b"a,b\n" + b"1,2\n" * 1000 + b"\xe9,3\n"
    monkeypatch.setattr("takagi.tables._files.HEAD_BYTES", 1000)
    monkeypatch.setattr("takagi.tables._dialect.HEAD_BYTES", 1000)
    with pytest.raises(ValueError, match="the standard input is not UTF-8 throughout"):
        list(open_table(io.BytesIO(content)).blocks(["a"], 10))


def test_missing_files_and_columns_get_the_nearest_name(tmp_path):
    path = write(tmp_path / "cars.csv", "Price,fuel\n1,2\n")
    with pytest.raises(RequestError, match=r"there is no file .*cars.cvs. Did you mean .*cars.csv"):
        open_table(str(tmp_path / "cars.cvs"))
    with pytest.raises(RequestError, match=r"there is no file .*none.csv\.$"):
        open_table(str(tmp_path / "none.csv"))
    with pytest.raises(RequestError, match="is a folder"):
        open_table(str(tmp_path))
    with pytest.raises(RequestError, match=r"no column 'price'. Did you mean 'Price'. It has 'Price', 'fuel'"):
        find_columns(open_table(path), ["price"], "columns")


def test_sheets_go_by_name_or_number(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="old", index=False)
        pd.DataFrame([["b", None, "when"], [2, None, datetime.date(2020, 1, 2)], [None] * 3]).to_excel(
            book, sheet_name="new", index=False, header=False
        )
    with pytest.warns(SheetWarning, match="has the sheets 'old', 'new'; the first is read"):
        assert open_table(str(path)).names == ["a"]
    for sheet in ("new", "2"):
        table = open_table(str(path), TableLayout(sheet=sheet))
        assert (table.names, table.description) == (["b", "when"], "Excel, sheet 'new'")
        assert len(table.read(table.names)) == 1  # empty rows and columns are no data
    with pytest.raises(RequestError, match="no sheet '3'; it has 'old', 'new'"):
        open_table(str(path), TableLayout(sheet="3"))
    assert open_table(str(path), TableLayout(sheet="1", names=["x"])).read(["x"])["x"].tolist() == ["a", 1]
    with pytest.raises(RequestError, match="is text, which has no sheets"):
        open_table(write(tmp_path / "t.csv", "a,b\n"), TableLayout(sheet="1"))
