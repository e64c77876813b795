import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.tables import DatasetError, RequestError, TableLayout, open_table
from takagi.workflow import (
    ColumnChoice,
    TableParts,
    choose_settings,
    comes_in_parts,
    read_sample,
    read_training_table,
    score_model,
    split_off,
    train_in_parts,
)


@pytest.fixture
def cars(tmp_path):
    make_cars().to_csv(tmp_path / "cars.csv", index=False)
    return tmp_path / "cars.csv"


def test_a_table_is_read_with_what_can_be_learned_from(cars):
    data = read_training_table(open_table(cars), "price", ColumnChoice(drop=["s*"]))
    assert list(data.X.columns) == ["weight", "power", "fuel"]
    assert (data.n_rows, data.n_dropped, data.is_sample, data.y.name) == (198, 2, False, "price")
    left_out = {column.name: column.what for column in data.columns if column.read_as == "left out"}
    assert left_out == {"plate": "198 different texts", "first seen": "always 2020-01-01", "wheels": "always 4"}
    X, y = data.take(np.array([5, 3]))
    assert (list(X.index), y.tolist()) == ([5, 3], data.y.iloc[[5, 3]].tolist())


@pytest.mark.parametrize(
    ("target", "drop", "about", "message"),
    [
        ("prise", [], "columns", "has no column 'prise'. Did you mean 'price'"),
        ("price", ["wieght"], "columns", "has no column 'wieght'"),
        ("price", ["price"], "", "'price' is the target and cannot be left out"),
        ("price", ["*"], "drop", "no column is left to learn 'price' from"),
    ],
)
def test_requests_that_cannot_be_met_say_what_they_are_about(cars, target, drop, about, message):
    with pytest.raises(RequestError, match=message) as caught:
        read_training_table(open_table(cars), target, ColumnChoice(drop=drop))
    assert caught.value.about == about
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (ColumnChoice(categories=["wieght"]), "has no column 'wieght'. Did you mean 'weight'"),
        (ColumnChoice(numbers=["price"]), "'price' is the target, and has no kind"),
        (ColumnChoice(drop=["fuel"], dates=["fuel"]), "'fuel' is left out, and has no kind"),
        (ColumnChoice(numbers=["fuel"]), "'fuel' is to be read as numbers, but row 0 has '"),
        (ColumnChoice(dates=["weight"]), "'weight' is to be read as dates, but row 0 has '"),
    ],
)
def test_kinds_that_cannot_be_say_why(cars, choice, message):
    with pytest.raises(ValueError, match=message):
        read_training_table(open_table(cars), "price", choice)


def test_columns_are_read_as_they_are_said_to_be(tmp_path):
    rows = [f"0{k % 7},{k % 5},{k},{k % 25}\n" for k in range(100)]
    (tmp_path / "t.csv").write_text("code,shop,y,street\n" + "".join(rows))
    source = open_table(tmp_path / "t.csv")
    read = {one.name: one.what for one in read_training_table(source, "y").columns}
    assert read == {"code": "7: 00, 01, 02, 03, 04, 05, 06", "shop": "0 to 4", "street": "0 to 24"}
    choice = ColumnChoice(categories=["shop", "street"], numbers=["code"])
    data = read_training_table(source, "y", choice)
    assert [one.read_as for one in data.columns] == ["number", "category", "category"]
    assert data.columns[2].what.startswith("25, by the target's means: 0, 1, 10")
    many = read_training_table(source, "y", ColumnChoice(categories=["street"], max_levels=30))
    assert many.columns[2].what.startswith("25: 0, 1, 10")


def test_a_word_among_the_decimal_commas_of_a_target_is_told(tmp_path):
    (tmp_path / "t.csv").write_text("x;y\n" + "1;1,5\n2;2,5\n" * 10 + "3;many\n")
    with pytest.raises(ValueError, match=r"got 'many' \(first in row 20\)"):
        read_training_table(open_table(tmp_path / "t.csv"), "y")


# -- parts -------------------------------------------------------------------------------------------------------------


def test_several_files_folders_patterns_and_large_files_are_parts(cars, monkeypatch):
    name = str(cars)
    assert [comes_in_parts([one]) for one in (name, f"{name}x", str(cars.parent), str(cars.parent / "*.csv"))] == [
        False,
        False,
        True,
        True,
    ]
    assert comes_in_parts([name, name])
    monkeypatch.setattr("takagi.workflow._parts.LARGE_BYTES", 10)
    assert comes_in_parts([name])


def test_parts_up_to_the_sample_are_the_table_in_memory(cars):
    whole = read_training_table(open_table(cars), "price")
    events = []
    _, data = read_sample(TableParts.open([str(cars)], TableLayout()), "price", tell=events.append)
    assert (data.n_rows, data.n_dropped, data.is_sample) == (198, 2, False)
    assert data.columns == whole.columns
    pd.testing.assert_frame_equal(
        data.X.join(data.y).astype(object).sort_values(["weight", "power"], ignore_index=True),
        whole.X.join(whole.y).astype(object).sort_values(["weight", "power"], ignore_index=True),
    )
    assert [(event.done, event.unit) for event in events] == [(0, "rows"), (200, "rows")]


def test_parts_are_trained_on_without_the_rows_held_out(cars, monkeypatch):
    monkeypatch.setattr("takagi.workflow._parts.SAMPLE_ROWS", 150)
    rows, data = read_sample(TableParts.open([str(cars)], TableLayout()), "price")
    assert (len(data.y), data.n_rows, data.is_sample) == (150, 198, True)
    training, test = split_off(len(data.y), 0.2, 0)
    events = []
    model = train_in_parts(rows, data, test, choose_settings(2, 100), events.append)
    scores = score_model(model, data, (training, test)).scores
    assert scores[0].high < scores[-1].low
    assert events[-1].task == "Training 2 rules on 168 rows"
    assert events[-1].unit.startswith("iterations, epoch ")
    with pytest.raises(RequestError, match="a committee trains in memory") as caught:
        train_in_parts(rows, data, test, choose_settings(committee=True))
    assert caught.value.about == "committee"


def test_a_sheet_is_not_for_parts(cars):
    with pytest.raises(DatasetError, match="a table in parts, which has no sheets") as caught:
        TableParts.open([str(cars), str(cars)], TableLayout(sheet="1"))
    assert caught.value.about == "sheet"
