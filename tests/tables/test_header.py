import pandas as pd
import pytest
from made_cars import make_cars

from takagi.tables import RequestError, TableLayout, TitleWarning, open_table
from takagi.tables._header import find_header

TITLES = {
    "a line": ("Cars of the yard\n", 1, 2),
    "a line with the separator": ("Cars, of the yard, in 2024\n\n", 1, 3),
    "padded rows": ("Cars,,,,\n,,,,\nYard:,Oslo,,,\n", 2, 4),
}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("what", TITLES)
def test_lines_above_the_names_are_left_out_and_told(tmp_path, what, separator):
    title, n_titles, line = TITLES[what]
    cars = make_cars(40)
    content = title.replace(",", separator) + cars.to_csv(index=False, sep=separator)
    (tmp_path / "cars.csv").write_text(content)
    told = rf"has {n_titles} lines? above its names, which are in line {line}: '{cars.columns[0]}'"
    with pytest.warns(TitleWarning, match=told):
        table = open_table(tmp_path / "cars.csv")
    assert table.names == list(cars.columns)
    pd.testing.assert_series_equal(table.read(["weight"])["weight"], cars["weight"], check_dtype=False)


def test_a_title_of_words_is_left_out_where_spaces_separate(tmp_path):
    (tmp_path / "t.txt").write_text("what one waiter was given in the year 1990\nbill tip\n16.99 1.01\n10.34 1.66\n")
    with pytest.warns(TitleWarning, match="in line 2: 'bill', 'tip'"):
        table = open_table(tmp_path / "t.txt")
    assert table.read(["tip"])["tip"].tolist() == [1.01, 1.66]


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        ",b\n0,2\n1,4\n",  # row labels have no name
        ",b\nOslo,2\nRome,4\n",
        "a,,\n1,2,3\n4,5,6\n",
        "a,b,c\n1,,\n2,,\n3,,\n",
        "a,b\nx,y,z\nx,y,z\n",  # too many cells, which the reader tells
        "a,b\n1,2,3\n1,2,3\n",
        "one\n1\n2\n",
    ],
)
def test_names_in_the_first_line_stay_there(tmp_path, content):
    (tmp_path / "t.csv").write_text(content)
    assert open_table(tmp_path / "t.csv").names[0] in ("a", "column1", "one")


def test_the_row_of_names_can_be_said(tmp_path):
    (tmp_path / "t.csv").write_text("names,follow\n\nsize,price\nkg,EUR\n1,2\n3,4\n")
    table = open_table(tmp_path / "t.csv", TableLayout(header_row=4))
    assert table.names == ["kg", "EUR"]
    assert table.read(["EUR"])["EUR"].tolist() == [2, 4]
    for row in (2, 99):
        with pytest.raises(RequestError, match=f"line {row} of .* is empty or too far down") as caught:
            open_table(tmp_path / "t.csv", TableLayout(header_row=row))
        assert caught.value.about == "header_row"
    with pytest.raises(RequestError, match="a row of names does not go with names"):
        TableLayout(no_header=True, header_row=1)


def test_a_line_that_is_too_long_is_counted_with_the_titles(tmp_path):
    (tmp_path / "t.csv").write_text("Cars\n\nsize,price\n1,2\n3,4,5\n")
    with pytest.warns(TitleWarning), pytest.raises(ValueError, match="3 cells in line 5, but 2 columns"):
        open_table(tmp_path / "t.csv").read(["size"])


def test_short_lines_below_titles_stay_at_their_places(tmp_path):
    (tmp_path / "t.csv").write_text("Cars\n\nsize,price\n1,2\n3\n5,6\n")
    with pytest.warns(TitleWarning):
        table = open_table(tmp_path / "t.csv")
    with pytest.warns(UserWarning, match="1 line with too few cells, the first is line 5"):
        assert table.read(["size"])["size"].tolist() == [1, 3, 5]


def test_years_are_no_names_below_a_title():
    assert find_header([["Sales"], ["2019", "2020"], ["1", "2"]]) == 0
