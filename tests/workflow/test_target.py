import numpy as np
import pandas as pd
import pytest

from takagi.tables import RequestError
from takagi.workflow._target import find_task, match_labels, read_classes, read_target


def frame(values, **options):
    return pd.DataFrame({"y": pd.Series(values, **options)})


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1.5, 2.5, 3.5, None], "regression"),
        ([1, 0, 0, None], "classification"),
        ([0.5, 2.5, 2.5], "classification"),
        (["1", "1.0", "2"], "classification"),
        ([True, False], "classification"),
        (["true", "FALSE"], "classification"),
        (["yes", "no", None], "classification"),
        (["1", "2", "3", "four"], "regression"),  # a wrong cell among numbers
        (["2024-01-01", "2024-01-02"], "regression"),
        (["1st", "2nd", "3rd", "4th", "5th"] * 2, "classification"),
        ([f"{'$' if k % 2 else 'EUR '}{k}" for k in range(40)], "regression"),
        ([f"2024-01-{k}" for k in range(1, 29)] + ["3/1/2024"], "regression"),
    ],
)
def test_the_task_is_found_by_the_target(values, task):
    assert find_task(frame(values), "y") == task


def test_numbers_of_a_category_are_classes():
    assert find_task(frame([1, 2, 3] * 3, dtype="category"), "y") == "classification"


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([3.0, 1.0, None, 3.0], [3, 1, None, 3]),
        (["01", "1", "01", "1"], ["01", "1", "01", "1"]),
        ([0.5, 1.5, 0.5, 1.5], ["0.5", "1.5", "0.5", "1.5"]),
        (["True", "false", "true", ""], [True, False, True, None]),
        ([False, True, False, True], [False, True, False, True]),
        (["a", "NA", "b", "a"], ["a", None, "b", "a"]),
    ],
)
def test_labels_are_whole_numbers_truth_values_or_text(values, labels):
    found, present = read_classes(frame(values), "y")
    assert found.tolist() == labels
    assert [type(label) for label in found] == [type(label) for label in labels]
    assert present.tolist() == [label is not None for label in labels]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([f"k{k % 200}" for k in range(400)], "has 200 different values in 400 rows, too many for classes.*another"),
        (np.arange(50) + 0.5, "has 50 different numbers in 50 rows, too many for classes.*as a number"),
    ],
)
def test_too_many_classes_are_refused_with_what_to_do(values, message):
    with pytest.raises(RequestError, match=message):
        read_classes(frame(values), "y")


def test_a_line_of_names_among_the_labels_is_no_class():
    with pytest.raises(ValueError, match="row 2 of the table repeats the names"):
        read_classes(frame(["a", "b", "y", "a", "b", "a"]), "y")


def test_labels_of_new_rows_are_those_of_the_model_or_an_error_names_the_row():
    assert match_labels(frame(["TRUE", "", "false"]), "y", [False, True])[0].tolist() == [True, None, False]
    assert match_labels(frame([2.0, np.nan, 1.0]), "y", [1, 2])[0].tolist() == [2, None, 1]
    with pytest.raises(ValueError, match="'c' in row 1 of 'y' is none of the model's classes, 'a', 'b'"):
        match_labels(frame(["a", "c"]), "y", ["a", "b"])


def test_numbers_and_dates_in_several_forms_are_told():
    with pytest.raises(ValueError, match=r"numbers in several forms, such as 'EUR 0' and '\$1' \(first in row 1\)"):
        read_target(frame([f"{'$' if k % 2 else 'EUR '}{k}" for k in range(40)]), "y")
    with pytest.raises(ValueError, match="holds dates, but must be numbers"):
        read_target(frame([f"2024-01-{k}" for k in range(1, 29)] + ["3/1/2024"]), "y")
    with pytest.raises(ValueError, match=r"must be numbers, got 'none' \(first in row 30\)"):
        read_target(frame([f"${k}" for k in range(30)] + ["none"]), "y")
