import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from takagi.tables import Column, ColumnWarning, TableEncoder

N = 1200
DAYS = pd.date_range("2021-03-01 00:00", periods=N, freq="19h")


def encode(values, name="when"):
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({name: values}))
    return encoder, pd.DataFrame(
        encoder.transform(pd.DataFrame({name: values})), columns=encoder.get_feature_names_out()
    )


def test_parts_of_dates_are_those_of_pandas():
    _, matrix = encode(DAYS)
    assert list(matrix) == ["when year", "when month", "when weekday", "when hour"]
    np.testing.assert_array_equal(matrix["when month"], DAYS.month)
    np.testing.assert_array_equal(matrix["when weekday"], DAYS.day_of_week + 1)
    np.testing.assert_array_equal(matrix["when hour"], DAYS.hour)
    np.testing.assert_array_equal(np.floor(matrix["when year"]), DAYS.year)
    assert np.all(np.diff(matrix["when year"]) > 0)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([f"{year}-01-01" for year in range(1970, 1982)], ["when year"]),
        (pd.date_range("2020-01-01", periods=36, freq="MS"), ["when year", "when month"]),
        (pd.date_range("2020-01-01", periods=60), ["when days since 2020-01-01", "when weekday"]),
        (pd.date_range("2020-01-01", periods=48, freq="h"), ["when days since 2020-01-01", "when hour"]),
        (["06:30", "7:15", "18:00"], ["when hour"]),
        ([datetime.time(6), datetime.time(18)], ["when hour"]),
    ],
)
def test_only_parts_that_matter_are_taken(values, names):
    assert encode(values)[0].get_feature_names_out().tolist() == names


def test_a_column_named_year_keeps_its_name():
    assert encode([f"01/01/{year}" for year in range(1970, 1982)], "Year")[0].get_feature_names_out().tolist() == [
        "Year"
    ]


def test_all_kinds_of_dates_give_the_same():
    expected = encode(DAYS)[1]
    texts = DAYS.strftime("%d.%m.%Y %H:%M")
    for values in (
        texts,
        DAYS.tz_localize("Asia/Tokyo"),
        DAYS.to_pydatetime().astype(object),
        DAYS.astype("datetime64[s]"),
    ):
        np.testing.assert_allclose(encode(values)[1], expected, rtol=0, atol=1e-9)
    frame = pl.DataFrame({"when": DAYS.to_pydatetime().tolist()})
    np.testing.assert_allclose(TableEncoder(missing="fill").fit_transform(frame), expected, rtol=0, atol=1e-9)
    arrow = pd.DataFrame({"when": DAYS}).astype("timestamp[us][pyarrow]")
    np.testing.assert_allclose(TableEncoder(missing="fill").fit_transform(arrow), expected, rtol=0, atol=1e-9)
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"when": texts}))
    np.testing.assert_allclose(encoder.transform(pd.DataFrame({"when": DAYS})), expected, rtol=0, atol=1e-9)


def test_missing_dates_are_marked_once_and_filled():
    values = pd.Series(DAYS).where(np.arange(N) % 10 > 0)
    encoder, matrix = encode(values)
    assert list(matrix) == ["when year", "when year=missing", "when month", "when weekday", "when hour"]
    assert matrix["when year=missing"].sum() == N / 10
    assert not matrix.isna().any().any()
    assert encoder.show(pd.DataFrame({"when": [None, "2021-11-05 10:00"]}))[1] == ["2022", "Nov", "Fri", "10"]


def test_a_day_that_is_always_the_same_makes_no_input():
    table = pd.DataFrame({"when": ["2020-01-01"] * 5, "x": range(5)})
    with pytest.warns(ColumnWarning, match="make no inputs: 'when'"):
        encoder = TableEncoder(missing="fill").fit(table)
    assert encoder.get_feature_names_out().tolist() == ["x"]


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (["2021-03-01", "3/1/2021"], r"'when' was dates \(y-m-d\) in training, got '3/1/2021' \(first in row 1\)"),
        ([1.0, 2.0], "'when' was dates in training, but holds numbers now"),
    ],
)
def test_other_cells_than_dates_are_refused_with_their_row(later, message):
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"when": DAYS}))
    with pytest.raises(ValueError, match=message):
        encoder.transform(pd.DataFrame({"when": later}))


def test_money_is_a_number_and_stays_one():
    table = pd.DataFrame({"price": ["$1,200.50", "$3", None, "$7"]})
    encoder = TableEncoder(missing="fill").fit(table)
    assert encoder.columns_ == (Column("price", "number", fill=7.0, has_missing=True, reading="number .$"),)
    np.testing.assert_array_equal(encoder.transform(table)[:, 0], [1200.5, 3, 7, 7])
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"price": ["12.5", "$ 1,000"]}))[:, 0], [12.5, 1000])
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"price": [12.5]}))[:, 0], [12.5])
    with pytest.raises(ValueError, match=r"'price' was numbers in training, got '5 EUR' \(first in row 1\)"):
        encoder.transform(pd.DataFrame({"price": ["$5", "5 EUR"]}))


def test_codes_with_zeros_in_front_are_categories():
    assert TableEncoder(missing="fill").fit(pd.DataFrame({"zip": ["02134", "10001", "02134"]})).columns_[0].levels == (
        "02134",
        "10001",
    )


def test_ordered_categories_are_numbered():
    size = pd.Categorical(["S", "L", "M", None, "S"], ["S", "M", "L"], ordered=True)
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"size": size}))
    (column,) = encoder.columns_
    assert (column.kind, column.levels, column.values, column.reading) == ("number", ("S", "M", "L"), (1, 2, 3), "rank")
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"size": ["L", "S", None]}))[:, 0], [3, 1, 1.5])
    assert encoder.show(pd.DataFrame({"size": ["L", None]})) == [["L"], ["missing"]]


@pytest.mark.parametrize(
    "reading", ["rubbish", "month", "month of x/y", "days since never of y-m-d", "number ", "number x"]
)
def test_a_reading_that_is_none_is_refused(reading):
    with pytest.raises(ValueError, match="which does not fit it"):
        Column("a", "number", reading=reading)
