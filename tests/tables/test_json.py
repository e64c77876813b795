import io

import pytest
from made_cars import make_cars

from takagi.tables import DatasetError, RequestError, TableLayout, open_dataset, open_table


@pytest.mark.parametrize(("suffix", "lines"), [("jsonl", True), ("txt", True), ("json", False)])
def test_objects_are_rows(tmp_path, suffix, lines):
    cars = make_cars(30)
    cars.to_json(tmp_path / f"cars.{suffix}", orient="records", lines=lines)
    table = open_table(tmp_path / f"cars.{suffix}")
    assert (table.names, table.description) == (list(cars.columns), "JSON")
    assert table.read(["fuel"])["fuel"].tolist() == cars["fuel"].where(cars["fuel"].notna(), None).tolist()


def test_objects_in_objects_make_columns_and_names_may_lack():
    table = open_table(io.BytesIO(b'{"a": 1, "engine": {"power": 5}}\n\n{"a": "x"}\n'))
    assert table.names == ["a", "engine.power"]
    assert table.read(["a"])["a"].tolist() == [1, "x"]
    assert table.read(["engine.power"])["engine.power"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1}\n{"a": 2\n', r"line 2 of .* is no JSON object .* Each line holds one"),
        (b'{"a": 1}\n[1, 2]\n', r"line 2 of .* must be a JSON object, got \[1, 2\]"),
        (b'[{"a": 1}, 7]', r"must be a list of JSON objects, but holds 7"),
        (b'[{"a": 1}', "is no JSON"),
        (b"\n \n", "is empty"),
        (b'{"a": "\xe9"}\n', "is not UTF-8"),
    ],
)
def test_what_is_no_object_is_told_with_its_line(tmp_path, content, message):
    (tmp_path / "t.jsonl").write_bytes(content)
    with pytest.raises(DatasetError, match=message):
        open_table(tmp_path / "t.jsonl")


def test_json_has_names_of_its_own_and_no_parts(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(RequestError, match="is JSON, which has names of its own"):
        open_table(tmp_path / "t.jsonl", TableLayout(header_row=1))
    with pytest.raises(DatasetError, match="is JSON, which is not read in parts"):
        open_dataset(tmp_path / "t.jsonl")
