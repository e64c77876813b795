import re
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
import pyarrow.dataset as ds

from takagi.tables import DatasetError, open_rows


@pytest.fixture
def folder(tmp_path):
    """Three Parquet files, three CSV files of the same rows, and what other tools leave beside them."""
    table = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30) % 3, "y": np.arange(30.0) ** 2})
    (tmp_path / "parquet").mkdir()
    (tmp_path / "csv").mkdir()
    for k in range(3):
        table[k::3].to_parquet(tmp_path / "parquet" / f"part-{k}.parquet")
        table[k::3].to_csv(tmp_path / "csv" / f"part-{k}.csv", index=False)
    (tmp_path / "parquet" / "_SUCCESS.parquet").write_text("")
    (tmp_path / "parquet" / "notes.md").write_text("")
    return tmp_path


def read(source, **options):
    opened = open_rows(source, "y", **options)
    blocks = list(opened.blocks(np.random.default_rng(0)))
    return sorted(np.concatenate([block.y[:, 0] for block in blocks]).tolist())


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folder_pattern_list_and_dataset_are_the_same_rows(folder, kind):
    here = folder / kind
    paths = [here / f"part-{k}.{kind}" for k in range(3)]
    expected = (np.arange(30.0) ** 2).tolist()
    for source in (here, str(here / "part-*"), paths, [str(paths[0]), here / "part-[12]*"]):
        assert read(source) == expected
    assert read(ds.dataset([str(path) for path in paths], format=kind)) == expected
    assert read(paths[0]) == expected[::3]


@pytest.mark.parametrize(("separator", "decimal"), [("\t", "."), (";", ","), ("|", "."), (",", ".")])
def test_how_text_is_written_is_found_out(tmp_path, separator, decimal):
    table = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "z"], "y": [1.25, 2.5]})
    for k in range(2):
        table.to_csv(tmp_path / f"{k}.csv", sep=separator, decimal=decimal, index=False)
    assert read(tmp_path) == [1.25, 1.25, 2.5, 2.5]


def test_files_of_plain_letters_go_with_any_encoding(tmp_path):
    table = pd.DataFrame({"b": ["x", "z"], "y": [1.0, 2.0]})
    table.to_csv(tmp_path / "0.csv", index=False)
    table.replace("z", "é").to_csv(tmp_path / "1.csv", index=False, encoding="latin-1")
    with pytest.warns(UserWarning, match=r"1\.csv is not UTF-8"):
        source = open_rows(tmp_path, "y")
    blocks = list(source.blocks(np.random.default_rng(0)))
    assert sorted({cell for block in blocks for cell in block.X["b"]}) == ["x", "z", "é"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "latin-1"}, r"0\.csv is comma-separated, UTF-8, but .*1\.csv is comma-separated, Windows-1252"),
        ({"sep": ";"}, r"0\.csv is comma-separated, UTF-8, but .*1\.csv is semicolon-separated, UTF-8\. Save all"),
    ],
)
def test_files_that_are_not_written_alike_are_named(tmp_path, options, message):
    table = pd.DataFrame({"b": ["x", "é"], "y": [1.0, 2.0]})
    table.to_csv(tmp_path / "0.csv", index=False)
    table.to_csv(tmp_path / "1.csv", index=False, **options)
    with pytest.raises(DatasetError, match=message):
        open_rows(tmp_path, "y")


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_the_last_line_tells_the_encoding_too(tmp_path, end):
    text = end.join(["b,y", *["x,1.0"] * 60, "é,2.0"])
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    with pytest.warns(UserWarning, match="is read as Windows-1252"):
        assert read(tmp_path / "t.csv")[-1] == 2.0


def test_another_encoding_is_found_out_with_a_warning(tmp_path):
    pd.DataFrame({"größe": ["ä", "ü"], "y": [1, 2]}).to_csv(tmp_path / "t.csv", encoding="latin-1", index=False)
    with pytest.warns(UserWarning, match=r"t\.csv is not UTF-8 \(line 1\) and is read as Windows-1252"):
        source = open_rows(tmp_path / "t.csv", "y")
    frame = next(source.blocks(np.random.default_rng(0))).X
    assert sorted(frame["größe"]) == ["ä", "ü"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("parquet/part-9.parquet", r"no file .*part-9\.parquet\. Did you mean .*part-\d\.parquet\?"),
        ("parquet/*.csv", r"no file matches '.*\*\.csv'"),
        ("empty", r"folder .*empty has no file that ends in \.parquet"),
        ([], "empty sequence"),
        (["parquet/part-0.parquet", "parquet"], r"part-0\.parquet is given 2 times"),
        ("nothing.csv", r"nothing\.csv is empty"),
        (["parquet/part-0.parquet", "csv/part-0.csv"], "2 files: some are Parquet and some are text"),
    ],
)
def test_what_is_not_there_is_named(folder, monkeypatch, source, message):
    (folder / "empty").mkdir()
    (folder / "nothing.csv").write_text("")
    monkeypatch.chdir(folder)
    with pytest.raises(DatasetError, match=message):
        open_rows(source, "y")


def test_a_table_in_memory_is_refused_with_the_kinds_that_are_taken():
    with pytest.raises(TypeError, match=r"must be a path, .* or a Dask data frame, got DataFrame"):
        open_rows(pd.DataFrame({"a": [1.0], "y": [1.0]}), "y")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y "}, "target column 'Y ' is unknown, did you mean 'y'"),
        ({"target": "y", "features": ["aa"]}, "feature column 'aa' is unknown, did you mean 'a'"),
        ({"target": "y", "sample_weight": "w"}, "sample_weight column 'w' is unknown"),
        ({"target": "y", "sample_weight": "y"}, "sample_weight is 'y', which is a target"),
        ({"target": "y", "features": ["a", "y"]}, "features names 'y', which is the target"),
        ({"target": "y", "features": ["a", "b"], "sample_weight": "b"}, "features names 'b', which is sample_weight"),
        ({"target": []}, "target must be the name of a column"),
        ({"target": ["y", "a", "b"]}, "no column to learn"),
    ],
)
def test_columns_that_are_not_there_are_named(folder, options, message):
    with pytest.raises(ValueError, match=message):
        open_rows(folder / "parquet", **options)


def test_weights_that_are_text_are_named(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "w": ["x", "z"], "y": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DatasetError, match="sample_weight 'w' must be numbers, but holds text"):
        open_rows(tmp_path / "t.parquet", "y", sample_weight="w")


def test_a_missing_package_is_named_with_its_extra(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match=re.escape('pip install "takagi[parquet]"')):
        open_rows(folder / "parquet", "y")
