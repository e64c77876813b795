import copy
import datetime
import doctest
import pickle
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from takagi import TSKRegressor
from takagi.tables import Column, ColumnWarning, TableEncoder

CARS = {
    "weight": [1.5, None, 2.5, 1.0, 3.0],
    "doors": [2, 4, 4, 2, 5],
    "fuel": ["diesel", "petrol", "diesel", None, "petrol"],
    "sold": [True, False, True, True, False],
    "used": [True, None, False, True, None],
}
CARS_COLUMNS = (
    Column("weight", "number", fill=2.0, has_missing=True),
    Column("doors", "number", fill=4.0),
    Column("fuel", "category", ("diesel", "petrol", "missing"), has_missing=True),
    Column("sold", "boolean", fill=1.0),
    Column("used", "boolean", fill=1.0, has_missing=True),
)
CARS_MATRIX = np.array(
    # weight, missing, doors, diesel, petrol, missing, sold, used, missing
    [
        [1.5, 0, 2, 1, 0, 0, 1, 1, 0],
        [2.0, 1, 4, 0, 1, 0, 0, 1, 1],
        [2.5, 0, 4, 1, 0, 0, 1, 0, 0],
        [1.0, 0, 2, 0, 0, 1, 1, 1, 0],
        [3.0, 0, 5, 0, 1, 0, 0, 1, 1],
    ]
)


def text_frame():
    """A table as a reader that guesses no types gives it."""
    return pd.DataFrame({name: ["" if v is None else str(v) for v in values] for name, values in CARS.items()})


def nullable_frame():
    return pd.DataFrame(CARS).astype(
        {"weight": "Float64", "doors": "Int64", "fuel": "string", "sold": "boolean", "used": "boolean"}
    )


FRAMES = {
    "pandas": lambda: pd.DataFrame(CARS),
    "pandas objects": lambda: pd.DataFrame(CARS, dtype=object),
    "pandas nullable": nullable_frame,
    "pandas categories": lambda: pd.DataFrame(CARS).astype({"fuel": "category"}),
    "pandas pyarrow": lambda: pd.DataFrame(CARS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas text": text_frame,
    "polars": lambda: pl.DataFrame(CARS),
    "polars categories": lambda: pl.DataFrame(CARS).with_columns(pl.col("fuel").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(CARS).with_columns(pl.col("fuel").cast(pl.Enum(["petrol", "diesel", "date"]))),
}


@parametrize_with_checks([TableEncoder(missing="fill"), TableEncoder(missing="fill", max_levels=3, min_frequency=2)])
def test_encoder_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


# -- what columns become -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_every_kind_of_frame_gives_the_same_columns_and_matrix(make):
    frame = make()
    encoder = TableEncoder(missing="fill").fit(frame)
    assert encoder.columns_ == CARS_COLUMNS
    np.testing.assert_array_equal(encoder.transform(frame), CARS_MATRIX)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame_of_any_kind_can_follow_training_on_another(make):
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame(CARS))
    np.testing.assert_array_equal(encoder.transform(make()), CARS_MATRIX)


def test_an_object_array_is_read_by_its_values():
    rows = np.array(list(zip(*CARS.values(), strict=True)), dtype=object)
    encoder = TableEncoder(missing="fill").fit(rows)
    np.testing.assert_array_equal(encoder.transform(rows.tolist()), CARS_MATRIX)
    assert [column.name for column in encoder.columns_] == ["x0", "x1", "x2", "x3", "x4"]


def test_masked_values_are_missing():
    rows = np.ma.masked_equal([[1.0, 7.0], [9.0, 8.0], [3.0, 9.0]], 9.0)
    matrix = TableEncoder(missing="fill").fit_transform(rows)
    np.testing.assert_array_equal(matrix, [[1, 0, 7, 0], [2, 1, 8, 0], [3, 0, 7.5, 1]])


def test_matrix_equals_imputers_and_one_hot_encoders_of_scikit_learn():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"]).mask(rng.random((200, 3)) < 0.2)
    frame["d"] = rng.choice(["red", "green", "<b>"], 200)
    frame["e"] = rng.choice(["z", "y"], 200)
    parts = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), ["a", "b", "c"]),
            ("levels", OneHotEncoder(sparse_output=False), ["d", "e"]),
        ]
    )
    expected = parts.fit_transform(frame)[:, [0, 3, 1, 4, 2, 5, *range(6, 11)]]
    np.testing.assert_array_equal(TableEncoder(missing="fill").fit_transform(frame), expected)


def test_text_is_a_number_only_if_every_value_is():
    frame = pd.DataFrame({"a": ["1", " 2.5 ", "?", "1e3"], "b": ["1", "2", "x", "4"], "c": ["1_0", "2", "3", "4"]})
    assert [column.kind for column in TableEncoder(missing="fill").fit(frame).columns_] == [
        "number",
        "category",
        "category",
    ]
    np.testing.assert_array_equal(
        TableEncoder(missing="fill").fit_transform(frame[["a"]]), [[1, 0], [2.5, 0], [2.5, 1], [1000, 0]]
    )


@pytest.mark.parametrize("word", ["", "?", "NA", "n/a", "#N/A", "NaN", "null", "<NA>", "missing", " "])
def test_words_that_stand_for_nothing_are_missing(word):
    column = TableEncoder(missing="fill").fit(pd.DataFrame({"a": ["x", word, "y"]})).columns_[0]
    assert column.levels == ("x", "y", "missing")


def test_none_as_a_word_is_a_level():
    assert TableEncoder(missing="fill").fit(pd.DataFrame({"garage": ["none", "two"]})).columns_[0].levels == (
        "none",
        "two",
    )


def test_category_types_stay_categories_whatever_their_values():
    frame = pd.DataFrame({"zip": pd.Categorical(["01", "02", "01"]), "n": pd.Categorical([3, 10, 3])})
    frame["cut"] = pd.cut(pd.Series([1, 2, 3]), [0, 2, 4])
    encoder = TableEncoder(missing="fill").fit(frame)
    assert [column.levels for column in encoder.columns_] == [("01", "02"), ("10", "3"), ("(0, 2]", "(2, 4]")]
    # The same numbers as floats, as pandas gives them beside a missing value.
    np.testing.assert_array_equal(
        encoder.transform(frame.assign(n=[3.0, np.nan, 10.0]))[:, 2:4], [[0, 1], [0, 0], [1, 0]]
    )


def test_a_category_that_no_row_has_is_no_level_and_is_not_told_of():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["w", "x", "y"])})
    encoder = TableEncoder(missing="fill").fit(frame)
    assert encoder.columns_[0].levels == ("x", "y")
    encoder.transform(frame)


def test_objects_that_are_numbers_are_numbers():
    frame = pd.DataFrame({"a": [Decimal("1.5"), 2, np.float32(0.5)], "b": [1, 2**60, None]}, dtype=object)
    np.testing.assert_array_equal(
        TableEncoder(missing="fill").fit_transform(frame)[:, :2], [[1.5, 1], [2, 2**60], [0.5, 2**59 + 0.5]]
    )


def test_missing_boolean_becomes_the_more_frequent_value():
    frame = pd.DataFrame({"a": [False, None, False, True]}, dtype=object)
    np.testing.assert_array_equal(TableEncoder(missing="fill").fit_transform(frame), [[0, 0], [0, 1], [0, 0], [1, 0]])


def test_missing_number_after_a_training_without_any_is_the_median():
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"a": [1.0, 2.0, 6.0]}))
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"a": [np.nan]})), [[2.0]])


@pytest.mark.parametrize("empty", [[None] * 3, [np.nan] * 3, ["", "?", "NA"]])
def test_a_column_without_values_makes_no_input(empty):
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"a": empty, "b": [1, 2, 3]}))
    assert encoder.columns_[0].inputs == ()
    np.testing.assert_array_equal(
        encoder.transform(pd.DataFrame({"a": ["x", 1, None], "b": [1, 2, 3]})), [[1], [2], [3]]
    )


@given(st.lists(st.text(), min_size=1), st.text(min_size=1))
@settings(deadline=None)
def test_any_text_is_a_level_of_its_own(words, name):
    words = ["a word", *words]
    encoder = TableEncoder(missing="fill", max_levels=1000).fit(pd.DataFrame({name: words}))
    levels = encoder.columns_[0].levels
    matrix = encoder.transform(pd.DataFrame({name: words}))
    assert (matrix.sum(axis=1) == 1).all()
    assert all(levels[k] in (word, "missing") for k, word in zip(matrix.argmax(axis=1), words, strict=True))
    assert encoder.get_feature_names_out().tolist() == [f"{name}={level}" for level in levels]


def test_the_median_of_the_largest_numbers_is_finite():
    table = [[1.7e308], [1.7e308], [None]]
    np.testing.assert_array_equal(TableEncoder(missing="fill").fit_transform(table)[:, 0], [1.7e308] * 3)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_cells_are_shown_as_the_encoder_reads_them(make):
    encoder = TableEncoder(missing="fill").fit(make())
    assert encoder.show(make())[1] == ["missing (taken as 2)", "4", "petrol", "false", "missing (taken as true)"]
    assert encoder.show(pd.DataFrame(CARS).assign(fuel="wood"))[0] == ["1.5", "2", "wood (unknown)", "true", "true"]
    assert [row[2] for row in encoder.show(make())] == ["diesel", "petrol", "diesel", "missing", "petrol"]


def test_missing_numbers_stay_missing_unless_they_are_to_be_filled():
    frame = pd.DataFrame(
        {
            "age": [1.5, None, 3.0],
            "sold": [True, None, False],
            "day": ["2020-01-01", None, "2023-05-01"],
            "size": pd.Categorical(["S", None, "L"], ["S", "M", "L"], ordered=True),
            "fuel": ["gas", None, "wood"],
        }
    )
    encoder = TableEncoder().fit(frame)
    names = encoder.get_feature_names_out().tolist()
    assert names == ["age", "sold", "day year", "day month", "size", "fuel=gas", "fuel=wood", "fuel=missing"]
    matrix = encoder.transform(frame)
    assert np.isnan(matrix[1, :5]).all()
    assert matrix[1, 5:].tolist() == [0, 0, 1]
    assert not np.isnan(matrix[[0, 2]]).any()
    assert encoder.show(frame)[1][:2] == ["missing", "missing"]
    copied = TableEncoder.from_columns(encoder.columns_)
    np.testing.assert_array_equal(copied.transform(frame), matrix)


def test_an_unknown_way_with_missing_values_is_refused():
    with pytest.raises(ValueError, match="The 'missing' parameter of TableEncoder must be a str among"):
        TableEncoder(missing="drop").fit([[1.0]])


def test_the_page_on_tables_is_right():
    page = Path(__file__).parents[2] / "docs" / "tables.md"
    assert doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE) == (0, 17)


# -- levels ------------------------------------------------------------------------------------------------------------


def test_unseen_levels_are_told_once_a_column_and_are_none_of_the_known():
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"fuel": ["diesel", "petrol"], "hue": ["red", "blue"]}))
    new = pd.DataFrame({"fuel": ["gas", "gas", "wood", "petrol"], "hue": "red"})
    with pytest.warns(UserWarning, match=r"'fuel' has 2 level.* 'gas' in 2 row.*, 'wood' in 1 row"):
        matrix = encoder.transform(new)
    np.testing.assert_array_equal(matrix[:, :2], [[0, 0], [0, 0], [0, 0], [0, 1]])
    encoder.transform(new)
    with pytest.warns(UserWarning, match="'hue' has 1 level"):
        encoder.transform(new.assign(hue="green"))


def test_a_missing_category_is_a_level_only_if_training_had_one():
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"a": ["x", None], "b": ["x", "y"]}))
    new = pd.DataFrame({"a": ["x", None], "b": [None, "y"]})
    np.testing.assert_array_equal(encoder.transform(new), [[1, 0, 0, 0], [0, 1, 0, 1]])


def test_rare_levels_are_none_of_the_levels_and_not_told_of():
    frame = pd.DataFrame({"a": [*"aaabbc", None]})
    column = TableEncoder(missing="fill", min_frequency=2).fit(frame).columns_[0]
    assert column.levels == ("a", "b", "missing")
    assert column.has_others
    column = TableEncoder(missing="fill", max_levels=1).fit(frame).columns_[0]
    assert column.levels == ("a", "missing")
    encoder = TableEncoder(missing="fill", max_levels=1).fit(frame)
    np.testing.assert_array_equal(encoder.transform(pd.DataFrame({"a": ["c", "new", "a"]})), [[0, 0], [0, 0], [1, 0]])


def test_columns_of_names_make_no_inputs_and_are_warned_of():
    frame = pd.DataFrame({"name": [f"n{k}" for k in range(30)], "a": range(30), "kind": ["b", "c"] * 15})
    frame["note"] = [None, *(f"text {k}" for k in range(29))]
    with pytest.warns(ColumnWarning, match="make no inputs: 'name', 'note'. If they are names or numbers"):
        encoder = TableEncoder(missing="fill").fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a", "kind=b", "kind=c", "note=missing"]
    assert len(TableEncoder(missing="fill", max_levels=30).fit(frame).columns_[0].levels) == 30


# -- names and order of columns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_go_by_name_and_further_ones_are_left_out(kind):
    encoder = TableEncoder(missing="fill").fit(kind(CARS))
    shuffled = kind({"other": [datetime.date(2020, 1, 1)] * 5} | dict(reversed(CARS.items())))
    np.testing.assert_array_equal(encoder.transform(shuffled), CARS_MATRIX)


def test_lacking_columns_are_named_with_the_nearest():
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame(CARS))
    with pytest.raises(ValueError, match=r"lacks 1 column.*'weight'. Did you mean 'Weight'"):
        encoder.transform(pd.DataFrame(CARS).rename(columns={"weight": "Weight"}))
    with pytest.raises(ValueError, match=r"lacks 2 column.*'fuel', 'sold'\.$"):
        encoder.transform(pd.DataFrame(CARS)[["weight", "doors", "used"]])


def test_columns_without_names_go_by_place():
    frame = pd.DataFrame([[1, "x"], [2, "y"]])
    encoder = TableEncoder(missing="fill").fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1=x", "x1=y"]
    assert encoder.get_feature_names_out(["n", "t"]).tolist() == ["n", "t=x", "t=y"]
    np.testing.assert_array_equal(encoder.transform(frame.to_numpy(object)), [[1, 1, 0], [2, 0, 1]])
    with pytest.raises(ValueError, match="expecting 2 features"):
        encoder.transform(frame[[0]])
    with pytest.raises(ValueError, match=r"length equal to number of features \(2\), got 1"):
        encoder.get_feature_names_out(["n"])


def test_names_out_refuse_other_names():
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        encoder.get_feature_names_out(["b"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_named_frames(library):
    encoder = TableEncoder(missing="fill").set_output(transform=library)
    out = encoder.fit_transform(pd.DataFrame(CARS))
    names = [name for column in CARS_COLUMNS for name in column.inputs]
    assert list(out.columns) == names == encoder.get_feature_names_out().tolist()
    np.testing.assert_array_equal(out.to_numpy(), CARS_MATRIX)


# -- what is refused ---------------------------------------------------------------------------------------------------

DAY = datetime.date(2020, 1, 1)
REFUSED = {
    "dates and text": (pd.DataFrame({"day": [DAY, "soon"]}), ValueError, "'day' holds dates, and also 'soon'"),
    "durations": (pl.DataFrame({"d": [datetime.timedelta(1)]}), TypeError, "'d' holds Duration"),
    "periods": (pd.DataFrame({"p": pd.period_range("2020", periods=2)}), TypeError, "'p' holds period"),
    "lists": (pd.DataFrame({"a": [[1]]}), TypeError, "'a' holds list"),
    "polars lists": (pl.DataFrame({"a": [[1]]}), TypeError, r"'a' holds List\(Int64\)"),
    "bytes": (pd.DataFrame({"a": [b"x"]}), TypeError, "'a' holds bytes"),
    "infinity": (pd.DataFrame({"a": [1.0, -np.inf]}), ValueError, r"'a' contains infinity \(first in row 1\)"),
    "infinity in text": (pd.DataFrame({"a": ["1e999"]}), ValueError, "'a' contains infinity"),
    "huge integer": (pd.DataFrame({"a": [10**400]}, dtype=object), ValueError, "'a' contains infinity"),
    "equal names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "several columns named 'a'"),
    "equal inputs": (pd.DataFrame({"a": [None, 1], "a=missing": 1}), ValueError, "inputs of one name, 'a=missing'"),
    "no values": (pd.DataFrame({"a": [None]}), ValueError, "no column to learn from"),
    "no rows": (pd.DataFrame({"a": []}), ValueError, "0 sample"),
    "no columns": (pd.DataFrame(index=[0]), ValueError, "0 feature"),
    "lazy frame": (pl.LazyFrame({"a": [1]}), TypeError, "collect"),
    "one column": (pd.Series([1, 2]), ValueError, "2-dimensional"),
}


@pytest.mark.parametrize(("table", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_tables_are_refused_with_the_column(table, error, message):
    with pytest.raises(error, match=message):
        TableEncoder(missing="fill").fit(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doors": ["2", "two", "3", "4", "5"]}, r"'doors' was numbers in training, got 'two' \(first in row 1\)"),
        ({"sold": ["true", "true", "maybe", "no", "no"]}, r"'sold' was true or false .*'maybe' \(first in row 2\)"),
        ({"sold": [0, 1, 1, 2, 1]}, r"'sold' was true or false .* got 2 \(first in row 3\)"),
        ({"weight": np.inf}, "'weight' contains infinity"),
    ],
)
def test_values_of_another_kind_are_refused_with_their_row(change, message):
    encoder = TableEncoder(missing="fill").fit(pd.DataFrame(CARS))
    with pytest.raises(ValueError, match=message):
        encoder.transform(pd.DataFrame(CARS).assign(**change))


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="max_levels"):
        TableEncoder(missing="fill", max_levels=0).fit([[1]])


# -- a good citizen ----------------------------------------------------------------------------------------------------


def test_no_rows_give_no_rows():
    assert TableEncoder(missing="fill").fit(pd.DataFrame(CARS)).transform(pd.DataFrame(CARS)[:0]).shape == (0, 9)


def test_tables_are_left_as_they_are():
    frame = pd.DataFrame(CARS)
    before = copy.deepcopy(frame)
    TableEncoder(missing="fill").fit_transform(frame).fill(-1)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("table", [pd.DataFrame(CARS), [[1.0, "x"], [None, "y"]]], ids=["frame", "rows"])
def test_an_encoder_made_from_columns_is_the_fitted_one(table):
    fitted = TableEncoder(missing="fill", max_levels=7).fit(table)
    has_names, params = hasattr(fitted, "feature_names_in_"), {"max_levels": 7, "missing": "fill"}
    made = TableEncoder.from_columns(fitted.columns_, has_names=has_names, **params)
    assert made.columns_ == fitted.columns_
    assert made.get_params() == fitted.get_params()
    assert vars(made).keys() == vars(fitted).keys()
    for copied in (made, pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(table)):
        np.testing.assert_array_equal(copied.transform(table), fitted.transform(table))


def test_a_pipeline_learns_from_a_table_as_it_is():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "fuel": rng.choice(["gas", "wood"], 300)})
    y = np.where(frame["fuel"] == "gas", frame["x"], 3.0) + 0.01 * rng.normal(size=300)
    frame["x"] = frame["x"].mask(frame["fuel"] == "wood")
    model = make_pipeline(TableEncoder(missing="fill"), TSKRegressor(n_rules=2, max_iter=300, random_state=0))
    assert model.fit(frame, y).score(frame, y) > 0.99


def test_a_table_of_pyarrow_is_read_as_the_frame_it_was_made_of():
    pyarrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "size": [1.5, None, 3.0, 2.0],
            "fuel": ["gas", None, "gas", "wood"],
            "kind": pd.Categorical(["a", "b", "a", "a"]),
            "day": pd.to_datetime(["2020-01-01", "2021-03-01", "2023-05-04", None]),
        },
        index=[7, 8, 9, 10],
    )
    table = pyarrow.Table.from_pandas(frame)
    expected, encoder = TableEncoder(missing="fill").fit(frame), TableEncoder(missing="fill").fit(table)
    assert encoder.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        encoder.transform(table.select(["kind", "day", "size", "fuel"])), expected.transform(frame)
    )
