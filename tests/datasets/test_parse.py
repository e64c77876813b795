import io
import struct
import sys

import numpy as np
import pytest

from takagi.datasets._parse import READERS, check_values, encode, parse_dataset, read_source
from takagi.datasets._registry import DATASETS


def make_xls(rows):
    """Write the oldest Excel format there is: a worksheet of number and label records."""
    records = [struct.pack("<4H", 0x0009, 4, 2, 0x0010)]
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            if isinstance(cell, str):
                data = struct.pack("<2H3xB", i, j, len(cell)) + cell.encode()
                records.append(struct.pack("<2H", 0x0004, len(data)) + data)
            else:
                records.append(struct.pack("<4H3xd", 0x0003, 15, i, j, cell))
    return b"".join([*records, struct.pack("<2H", 0x000A, 0)])


def make_xlsx(rows):
    openpyxl = pytest.importorskip("openpyxl")
    workbook, stream = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        workbook.active.append(row)
    workbook.create_sheet().append(["another sheet"])
    workbook.save(stream)
    return stream.getvalue()


ROWS = [[1.5, -2.0, 3.0], [4.0, 5.0, 6.25]]
TEXTS = {
    "numbers": b'Some prose of, say, nine words and 4 numbers.\n 1.5  -2 \t3.\r\n\r\n4.0 5 6.25\t"a name"\n4 ? 6 \n',
    "csv": b'"a","b (m)",c\n1.5,-2,3\n4,5,6.25\n',
    "csv with semicolons": b"a;b;c\n1.5;-2;3\n4;5;6.25",
    "csv without header": b"1.5,-2,3\r\n4,5,6.25\r\n",
    "tecator": b"extrapolation_examples=25\n1\n2\n3. More\n\nextrapolation_examples=25\n1.5 -2\n3\n4.0 5\n6.25\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read(name):
    np.testing.assert_array_equal(READERS[name](TEXTS[name], 3).astype(float), ROWS)


def test_old_workbook_is_read():
    pytest.importorskip("xlrd")
    np.testing.assert_array_equal(READERS["xls"](make_xls([["a", "b", "c"], *ROWS]), 3), ROWS)


def test_workbook_is_read_without_empty_rows_and_further_columns():
    content = make_xlsx([["a", "b", "c"], [*ROWS[0], None, "note"], [None, None, None], ROWS[1], [None] * 3])
    np.testing.assert_array_equal(READERS["xlsx"](content, 3), ROWS)


def test_every_code_of_a_category_gets_its_column():
    table = READERS["csv without header"](b"M,1,2,3,4,5,6,7,15\nI,1,2,3,4,5,6,7,8\nF,1,2,3,4,5,6,7,9\n", 9)
    X, y = encode(DATASETS["Abalone-OH"], table)
    np.testing.assert_array_equal(X, [[1, 2, 3, 4, 5, 6, 7, *sex] for sex in ((0, 0, 1), (0, 1, 0), (1, 0, 0))])
    np.testing.assert_array_equal(y, [15, 8, 9])
    assert DATASETS["Abalone-OH"].feature_names[-3:] == ["Sex_F", "Sex_I", "Sex_M"]


def test_categories_come_after_plain_columns_whatever_the_file_has():
    table = np.array([[8, 0, 1, 21, 0, 5.1, 35, 2, 6, 1, 1], [9, 0, 1, 42, 0, 4.95, 57, 3, 1, 0, 0]])
    X, y = encode(DATASETS["CPS"], table)
    np.testing.assert_array_equal(X[0], [8, 0, 1, 21, 0, 35, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0])
    np.testing.assert_array_equal(X[1], [9, 0, 1, 42, 0, 57, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    np.testing.assert_array_equal(y, [5.1, 4.95])
    assert DATASETS["CPS"].feature_names[7:11] == [
        *("RACE_Other", "RACE_Hispanic", "RACE_White"),
        "OCCUPATION_Management",
    ]


def test_cars_without_horsepower_are_left_out():
    content = b'18.0   8   307.0   130.0  3504.  12.0   70  1\t"a car"\n25.0 4 98.00 ? 2046. 19.0 71  1\t"another"\n'
    X, y = encode(DATASETS["autoMPG"], read_source(DATASETS["autoMPG"].source, content))
    np.testing.assert_array_equal(X, [[8, 307, 130, 3504, 12, 70, 1, 0, 0]])
    np.testing.assert_array_equal(y, [18])


def test_values_that_are_not_the_papers_are_refused(no2):
    dataset = DATASETS["NO2"]
    X, y = parse_dataset(dataset, no2)
    with pytest.raises(ValueError, match=r"expected 500 rows and 7 features, got \(499, 7\)"):
        check_values(dataset, X[1:], y[1:])
    with pytest.raises(ValueError, match=r"expected a mean 'log NO2' of 3.6984, got 3.7984"):
        check_values(dataset, X, y + 0.1)
    with pytest.raises(ValueError, match="missing or not finite"):
        check_values(dataset, np.where(X == 12, np.nan, X), y)


@pytest.mark.parametrize("name", ["Tecator-fat", "NO2", "Wine-red", "Protein", "Abalone", "Concrete", "PowerPlant"])
@pytest.mark.parametrize("content", [b"", b"<html>Not Found, sorry</html>\n", b"\xff\x00" * 100, b"1,2;3\n4,5;x\n"])
def test_another_file_is_refused_in_every_format(name, content):
    pytest.importorskip("xlrd")
    pytest.importorskip("openpyxl")
    with pytest.raises(ValueError, match="is damaged or is a different file"):
        parse_dataset(DATASETS[name], content)


@pytest.mark.parametrize(("name", "package"), [("Concrete", "xlrd"), ("PowerPlant", "openpyxl")])
def test_missing_package_is_named_with_what_to_install(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "takagi\[experiments\]"'):
        parse_dataset(DATASETS[name], b"")


def test_unknown_category_is_refused():
    table = READERS["csv without header"](b"F,1,2,3,4,5,6,7,15\nX,1,2,3,4,5,6,7,15\n", 9)
    with pytest.raises(ValueError, match="an unknown category"):
        encode(DATASETS["Abalone-OH"], table)
