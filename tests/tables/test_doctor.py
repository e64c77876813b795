import numpy as np
import pandas as pd
import polars as pl
import pytest

from takagi import check_table
from takagi.tables import Finding, TableCheck

N = 400
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.integers(0, 9, N), "c": RNG.choice(["x", "y", "z"], N)})
TABLE["y"] = TABLE["a"] + RNG.normal(size=N)


def list_kinds(check):
    return [(finding.kind, finding.columns) for finding in check]


def test_a_clean_table_has_no_findings():
    check = check_table(TABLE, "y")
    assert (check, str(check)) == ((), "Nothing found.")


def test_tables_of_polars_and_pyarrow_and_targets_apart_give_the_same():
    table = TABLE.assign(z=2 * TABLE["y"], n=range(N))
    expected = check_table(table, "y")
    assert list_kinds(expected) == [("leak", ("z",)), ("row number", ("n",))]
    assert check_table(pl.from_pandas(table), "y") == expected
    assert check_table(pl.from_pandas(table).to_arrow(), "y") == expected
    assert check_table(table.drop(columns="y"), table["y"]) == expected
    assert check_table(table.drop(columns="y"), table["y"].tolist()) == expected


def test_the_table_is_not_changed():
    before = TABLE.copy()
    check_table(TABLE, "y")
    pd.testing.assert_frame_equal(TABLE, before)


def test_equal_columns_are_found_in_other_units_and_words():
    table = TABLE.assign(feet=3.28 * TABLE["a"] + 1, minus=-TABLE["a"], word=TABLE["b"].map("n{}".format), far=7.0)
    found = check_table(table).find("duplicate column")
    assert [(one.column, one.evidence.split("'")[1]) for one in found] == [("feet", "a"), ("minus", "a"), ("word", "b")]


def test_equal_rows_are_found_where_they_are_no_chance():
    assert list_kinds(check_table(pd.concat([TABLE, TABLE[:10]]), "y")) == [("duplicate rows", ())]
    few = TABLE[["b", "c"]]
    assert check_table(pd.concat([few, few])).find("duplicate rows") == ()


def test_last_rows_that_differ_are_found_unless_the_table_is_sorted():
    is_late = np.arange(N) >= 0.75 * N
    moved = TABLE.assign(a=TABLE["a"] + 2 * is_late, c=np.where(is_late & (TABLE["c"] == "x"), "z", TABLE["c"]))
    assert list_kinds(check_table(moved)) == [("drift", ("a", "c"))]
    assert check_table(moved.assign(when=range(N))).find("drift")  # time itself
    assert check_table(TABLE.sort_values("a")) == ()
    assert check_table(TABLE.sort_values("c")) == ()


@pytest.mark.parametrize("target", [TABLE["b"] > 4, TABLE["c"], TABLE["b"] % 3])
def test_a_target_of_few_values_is_classes(target):
    (finding,) = check_table(TABLE[["a"]], target).find("few values")
    assert "classification" in finding.advice


def test_few_rows_for_many_columns_are_told():
    wide = pd.DataFrame(RNG.normal(size=(100, 30)))
    assert list_kinds(check_table(wide)) == [("few rows", ())]


def test_large_tables_are_looked_at_in_part():
    rng = np.random.default_rng(1)
    large = pd.DataFrame({"a": rng.normal(size=200_000), "y": rng.normal(size=200_000)}).assign(z=lambda t: 2 * t["y"])
    assert list_kinds(check_table(large, "y")) == [("leak", ("z",))]


@pytest.mark.parametrize(
    ("words", "evidence"),
    [
        ([*map(str, range(N - 1)), "many"], "numbers such as '0', but 'many' in row 399"),
        ([f"{'€' if k == 7 else '$'}{k}.50" for k in range(N)], "numbers such as '$0.50', but '€7.50' in row 7"),
        (
            [f"1/2/{k + 1900}" if k else "2024-03-01" for k in range(N)],
            "dates such as '2024-03-01', but '1/2/1901' in row 1",
        ),
    ],
)
def test_cells_of_several_forms_are_told_with_the_row(words, evidence):
    (finding,) = check_table(TABLE.assign(w=words), "y")
    assert (finding.kind, finding.columns, finding.evidence) == ("mixed", ("w",), evidence)


def test_large_tables_have_their_row_numbers_and_repeats_seen():
    n_rows = 200_000
    table = pd.DataFrame({"n": range(n_rows), "word": [f"w{k // 2}" for k in range(n_rows)]})
    table["order"] = np.random.default_rng(0).permutation(n_rows)
    assert list_kinds(check_table(table)) == [("identifier", ("order",)), ("row number", ("n",))]


def test_columns_that_cannot_be_read_are_passed_over():
    odd = TABLE.assign(many=[np.inf] * N, lists=[[1]] * N, empty=None)
    assert check_table(odd, "y") == ()


def test_an_unknown_target_is_an_error():
    with pytest.raises(ValueError, match="target 'yy' is unknown, did you mean 'y'"):
        check_table(TABLE, "yy")


def test_findings_are_sorted_by_gravity_and_print_in_lines():
    check = TableCheck([Finding("constant", ("s",), "e", "A."), Finding("leak", tuple("abcd"), "f " * 50, "B.")])
    lines = str(check).splitlines()
    assert lines[0] == "2 findings"
    assert lines[1].startswith("- 'a', 'b', 'c', ..., leak: f f")
    assert lines[-1] == "- 's', constant: e. A."
    assert max(map(len, lines)) <= 80
