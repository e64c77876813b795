"""Text that is not as it should be, and that people have all the same."""

import io

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa

from takagi.tables import DatasetError, TableLayout, open_rows, open_table
from takagi.tables._text import parse_numbers


def read(text, encoding="utf-8", **options):
    table = open_table(io.BytesIO(text.encode(encoding)), TableLayout(**options))
    return table.read(table.names).astype(object).where(lambda frame: frame.notna(), None).to_dict("list")


def test_lines_that_are_too_short_are_filled_up_in_their_place():
    text = "a,b,c\n1,x,3\n4\n\n5,y\n6,z,7\n8,u,9\n10,v\n"
    with pytest.warns(UserWarning, match="has 3 lines with too few cells, the first is line 3; those that lack count"):
        found = read(text)
    assert found == {
        "a": [1.0, 4.0, 5.0, 6.0, 8.0, 10.0],
        "b": ["x", "", "y", "z", "u", "v"],
        "c": [3.0, None, None, 7.0, 9.0, None],
    }


def test_short_lines_keep_their_place_wherever_pyarrow_cuts(monkeypatch):
    monkeypatch.setattr("takagi.tables._text._BLOCK_BYTES", 100)
    rng = np.random.default_rng(0)
    rows = [[f"r{k}", "1", "2"][: rng.integers(1, 4)] for k in range(500)]
    with pytest.warns(UserWarning, match="312 lines with too few cells"):
        found = read("\n".join(["name,a,b", *map(",".join, rows)]) + "\n")
    assert found["name"] == [f"r{k}" for k in range(500)]
    assert found["b"] == [2.0 if len(row) == 3 else None for row in rows]


def test_a_table_may_be_short_in_every_line():
    with pytest.warns(UserWarning, match="2 lines with too few cells"):
        found = read("a,b,c\n1,2\n3,4\n")
    assert found == {"a": [1.0, 3.0], "b": [2.0, 4.0], "c": [None, None]}


def test_spaces_before_cells_do_not_count_even_before_quotation_marks():
    text = 'name, town, x\n"Smith, J", "Oslo, N", 1\nLee, "Rome", 2\n'
    assert read(text) == {"name": ["Smith, J", "Lee"], "town": ["Oslo, N", "Rome"], "x": [1.0, 2.0]}


def test_cells_may_hold_line_breaks_and_quotation_marks():
    text = '"the\nname",x\n"two\nlines",1\n"say ""hi""",2\n5" pipe,3\n'
    assert read(text) == {"the\nname": ["two\nlines", 'say "hi"', '5" pipe'], "x": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_empty_lines_are_no_rows(end):
    text = end.join(["", "", "a;b", "", "1,5;x", "   ", "2,5;y", ""])
    assert read(text) == {"a": [1.5, 2.5], "b": ["x", "y"]}


@pytest.mark.parametrize("text", ["a,b", "a,b\n"])
def test_names_without_rows_are_a_table(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    for source in (lambda: tmp_path / "t.csv", lambda: io.BytesIO(text.encode())):
        assert (open_table(source()).names, len(open_table(source()).read(["a"]))) == (["a", "b"], 0)
        assert list(open_table(source()).blocks(["a"], 10)) == []


def test_runs_of_spaces_separate():
    text = '18.0   8  "chevrolet chevelle"\n 15.0  ?   "buick"\n' + "14 9 ?\n" * 20 + "13 8\n"
    with pytest.warns(UserWarning, match="1 line with too few cells, the first is line 23"):
        found = read(text, names=["mpg", "n", "car"])
    assert found == {
        "mpg": [18.0, 15.0, *[14.0] * 20, 13.0],
        "n": [8.0, None, *[9.0] * 20, 8.0],
        "car": ["chevrolet chevelle", "buick", *["?"] * 20, ""],
    }
    assert read("a  b\n1 2\n 3 4\n") == {"a": [1.0, 3.0], "b": [2.0, 4.0]}


def test_runs_of_spaces_separate_in_parts_too(tmp_path):
    (tmp_path / "a.txt").write_text("a b y\n1 u 3\n4 v 6\n")
    (tmp_path / "b.txt").write_text("a b y\n7 w 8\n")
    (block,) = open_rows(tmp_path / "a.txt", "y").blocks(np.random.default_rng(0))
    assert (block.X["a"].tolist(), block.X["b"].tolist(), block.y.ravel().tolist()) == ([1, 4], ["u", "v"], [3, 6])
    sample = open_rows(tmp_path, "y").sample(10, np.random.default_rng(0))
    assert sorted(sample.block.y.ravel()) == [3, 6, 8]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_of_unicode_are_read(encoding):
    assert read("größe;ort\n1,5;Køge\n2;Łódź\n", encoding) == {"größe": [1.5, 2.0], "ort": ["Køge", "Łódź"]}


def test_columns_in_another_order_go_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n1,u,3\n")
    (tmp_path / "b.csv").write_text("y,a,b\n6,4,v\n")
    sample = open_rows(tmp_path, "y").sample(10, np.random.default_rng(0))
    rows = sorted(zip(sample.block.X["a"], sample.block.X["b"], sample.block.y.ravel(), strict=True))
    assert rows == [(1, "u", 3), (4, "v", 6)]


def test_folders_may_tell_a_column_of_text_files(tmp_path):
    for town in ("p", "q"):
        (tmp_path / f"town={town}").mkdir()
        (tmp_path / f"town={town}" / "t.csv").write_text(f"a,y\n1,{ord(town)}\n")
    sample = open_rows(tmp_path, "y").sample(10, np.random.default_rng(0))
    assert sorted(zip(sample.block.X["town"], sample.block.y.ravel(), strict=True)) == [("p", 112), ("q", 113)]


def test_parts_and_a_whole_file_are_read_alike(tmp_path):
    text = "code,truth,day,x,e,y\n" + "007, True,2020-01-02,+1.5,NA,1\n08,false,2020-01-03, 2e3 ,?,2\nn/a,TRUE,,,,3\n"
    (tmp_path / "t.csv").write_text(text)
    whole = open_table(tmp_path / "t.csv").read(["code", "truth", "day", "x", "e"])
    sample = open_rows(tmp_path / "t.csv", "y").sample(10, np.random.default_rng(0))
    parts = sample.block.X.iloc[np.argsort(sample.block.y[:, 0])].reset_index(drop=True)
    for name in ("code", "truth", "day", "x"):
        assert whole[name].astype(object).fillna("-").tolist() == parts[name].astype(object).fillna("-").tolist()
    assert whole["x"].tolist()[:2] == [1.5, 2000.0]
    assert whole["day"].tolist() == ["2020-01-02", "2020-01-03", ""]


def test_numbers_are_parsed_where_all_cells_are_numbers():
    column = pa.chunked_array([["1,5", "?", "", " 2,25", "1e3", "+7", "NaN"]])
    np.testing.assert_array_equal(parse_numbers(column, ",").to_pandas(), [1.5, np.nan, np.nan, 2.25, 1000, 7, np.nan])
    for words in (["1", "x"], ["1_000", "2"], ["1,5", "2"], ["true"], ["++1"]):
        assert parse_numbers(pa.chunked_array([words]), ".") is None


def test_digits_are_read_to_the_last_bit():
    numbers = np.random.default_rng(0).normal(size=1000)
    found = read("x\n" + "\n".join(map(repr, numbers.tolist())) + "\n")["x"]
    np.testing.assert_array_equal(found, numbers)


def test_a_column_known_to_be_numbers_shows_its_odd_word_with_points():
    table = open_table(io.BytesIO(b"y;z\n1,5;a, b\n2,5;c\nmany;d\n"))
    frame = table.read(["y", "z"], {"y": "number"})
    assert frame["y"].tolist() == ["1.5", "2.5", "many"]
    assert frame["z"].tolist() == ["a, b", "c", "d"]


def test_a_line_that_never_ends_is_told(monkeypatch):
    monkeypatch.setattr("takagi.tables._text._BLOCK_BYTES", 1000)
    with pytest.raises(DatasetError, match="a quotation mark that is never closed"):
        read('a,b\n1,2\n"3,4\n' + "5,6\n" * 1000)


def test_frames_that_pandas_writes_come_back(tmp_path):
    frame = pd.DataFrame({"x": [0.1, np.nan, 1e300], "s": ["a,b", 'c"d', "e\nf"], "t": [True, False, True]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = open_table(tmp_path / "t.csv").read(["x", "s", "t"])
    np.testing.assert_array_equal(found["x"], frame["x"])
    assert found["s"].tolist() == frame["s"].tolist()
    assert found["t"].tolist() == ["True", "False", "True"]
