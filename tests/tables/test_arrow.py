import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from takagi.tables import DatasetError, open_rows


def write(folder, *tables, suffix="parquet", **options):
    folder.mkdir(exist_ok=True)
    for k, table in enumerate(tables):
        path = folder / f"part-{k}.{suffix}"
        if suffix == "csv":
            pd.DataFrame(table).to_csv(path, index=False)
        else:
            pq.write_table(pa.table(table), path, **options)
    return folder


def number_rows(n_rows, n_files=4):
    """Return files whose rows are numbered by the target."""
    return [
        {"a": np.arange(k, n_rows, n_files) * 0.5, "y": np.arange(k, n_rows, n_files) * 1.0} for k in range(n_files)
    ]


def ys(blocks):
    return np.concatenate([block.y[:, 0] for block in blocks])


def test_a_pass_has_every_row_once_and_each_pass_its_own_order(tmp_path):
    source = open_rows(write(tmp_path / "d", *number_rows(1000), row_group_size=50), "y")
    rng = np.random.default_rng(0)
    first, second = list(source.blocks(rng)), list(source.blocks(rng))
    assert len(first) == 20
    for blocks in (first, second):
        np.testing.assert_array_equal(np.sort(ys(blocks)), np.arange(1000.0))
        np.testing.assert_array_equal(np.concatenate([block.X["a"] for block in blocks]), 0.5 * ys(blocks))
    assert not np.array_equal(ys(first), ys(second))
    assert [block.origin for block in first] != sorted(block.origin for block in first)


def test_a_row_group_is_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("takagi.tables._arrow._CELLS_PER_BATCH", 200)
    source = open_rows(write(tmp_path / "d", *number_rows(1000, 1)), "y")
    blocks = list(source.blocks(np.random.default_rng(0)))
    assert [len(block.y) for block in blocks] == [100] * 10


@pytest.mark.slow
def test_a_sample_is_uniform_and_counts_the_rows(tmp_path):
    source = open_rows(write(tmp_path / "d", *number_rows(1000), row_group_size=30), "y")
    drawn = np.zeros(1000)
    for seed in range(100):
        sample = source.sample(100, np.random.default_rng(seed))
        assert (sample.n_rows, sample.n_without_target, sample.is_whole) == (1000, 0, False)
        rows = sample.block.y[:, 0].astype(int)
        assert len(set(rows)) == 100
        drawn[rows] += 1
    assert drawn.var() == pytest.approx(100 * 0.1 * 0.9, rel=0.15)  # that of a binomial


def test_a_sample_that_is_large_enough_is_the_whole_table(tmp_path):
    source = open_rows(write(tmp_path / "d", *number_rows(100)), "y")
    sample = source.sample(100, np.random.default_rng(0))
    assert sample.is_whole
    np.testing.assert_array_equal(np.sort(sample.block.y[:, 0]), np.arange(100.0))


def test_rows_without_a_target_are_left_out_and_counted(tmp_path):
    table = {"a": [1.0, 2.0, 3.0, 4.0], "y": [1.0, None, float("nan"), 4.0]}
    source = open_rows(write(tmp_path / "d", table, table), "y")
    assert ys(source.blocks(np.random.default_rng(0))).tolist() == [1.0, 4.0, 1.0, 4.0]
    sample = source.sample(10, np.random.default_rng(0))
    assert (sample.n_rows, sample.n_without_target) == (4, 4)


def test_columns_keep_what_they_are(tmp_path):
    table = pa.table(
        {
            "text": ["x", None, "y"],
            "whole": pa.array([1, None, 3]),
            "truth": [True, None, False],
            "level": pa.array(["u", "v", "u"]).dictionary_encode(),
            "w": [1.0, 2.0, 3.0],
            "y": [1, 2, 3],
        }
    )
    source = open_rows(write(tmp_path / "d", table), "y", sample_weight="w")
    (block,) = source.blocks(np.random.default_rng(0))
    assert list(block.X.columns) == ["text", "whole", "truth", "level"]
    assert block.X["text"].astype(object).tolist()[::2] == ["x", "y"]
    assert block.X["whole"].tolist()[::2] == [1.0, 3.0]
    assert block.X["truth"].tolist()[::2] == [True, False]
    assert block.X.isna().sum().tolist() == [1, 1, 1, 0]
    assert block.weight.tolist() == [1.0, 2.0, 3.0]


def test_columns_of_folders_names_are_read(tmp_path):
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "town": ["p", "p", "q", "q"], "y": [1.0, 2.0, 3.0, 4.0]})
    ds.write_dataset(table, tmp_path / "d", format="parquet", partitioning=["town"], partitioning_flavor="hive")
    source = open_rows(tmp_path / "d", "y")
    blocks = list(source.blocks(np.random.default_rng(0)))
    towns = {float(y): town for block in blocks for y, town in zip(block.y[:, 0], block.X["town"], strict=True)}
    assert towns == {1.0: "p", 2.0: "p", 3.0: "q", 4.0: "q"}


def test_a_dataset_with_a_filter_is_refused(tmp_path):
    dataset = ds.dataset(write(tmp_path / "d", *number_rows(100))).filter(ds.field("y") < 10)
    with pytest.raises(DatasetError, match=r"has a filter.*write_dataset"):
        open_rows(dataset, "y")


def test_whole_numbers_of_a_text_file_may_become_fractions_further_down(tmp_path):
    table = {"a": [1] * 200_000 + [0.5], "e": [None] * 200_000 + ["late"], "y": [2] * 200_000 + [2.5]}
    source = open_rows(write(tmp_path / "d", table, suffix="csv"), "y")
    blocks = list(source.blocks(np.random.default_rng(0)))
    assert blocks[-1].X["a"].iloc[-1] == 0.5
    assert blocks[-1].X["e"].iloc[-1] == "late"
    assert ys(blocks)[-1] == 2.5


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": ["x"], "y": [1.0]}, r"Column 'a' holds text in .*part-1\.parquet, but numbers in other files"),
        ({"y": [1.0]}, r"part-1\.parquet has no column 'a', which .*part-0\.parquet has"),
        ({"a": [1.0], "b": [1.0], "y": [1.0]}, r"part-1\.parquet has a column 'b', which .*part-0\.parquet has not"),
    ],
)
def test_columns_that_change_between_files_are_named(tmp_path, second, message):
    folder = write(tmp_path / "d", {"a": [1.0], "y": [1.0]}, second)
    with pytest.raises(DatasetError, match=message):
        open_rows(folder, "y")


def test_further_columns_do_not_matter_where_features_are_named(tmp_path):
    folder = write(tmp_path / "d", {"a": [1.0], "y": [1.0]}, {"a": [2], "b": [1.0], "y": [2.0]})
    source = open_rows(folder, "y", features=["a"])
    assert sorted(ys(source.blocks(np.random.default_rng(0)))) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["x", "z"], "target 'y' must be numbers, but holds text"),
        ([True, False], "must be numbers, but holds true and false. Write 1 and 0"),
        (pa.array([0, 1], pa.timestamp("s")), "holds dates or times"),
        (pa.nulls(2), "'y' has no value in any row"),
    ],
)
def test_a_target_that_is_no_number_is_refused(tmp_path, target, message):
    with pytest.raises(DatasetError, match=message):
        open_rows(write(tmp_path / "d", {"a": [1.0, 2.0], "y": target}), "y")


def test_an_infinite_target_and_a_bad_weight_are_named_with_the_file(tmp_path):
    table = {"a": [1.0, 2.0], "w": [1.0, -1.0], "y": [1.0, float("inf")]}
    folder = write(tmp_path / "d", table)
    with pytest.raises(DatasetError, match=r"part-0\.parquet: the target 'y' holds infinity"):
        list(open_rows(folder, "y").blocks(np.random.default_rng(0)))
    with pytest.raises(DatasetError, match=r"part-0\.parquet: weights in 'w' must be finite and not negative"):
        list(open_rows(folder, "a", sample_weight="w").blocks(np.random.default_rng(0)))


def test_no_rows_and_too_few_rows(tmp_path):
    empty = write(tmp_path / "empty", {"a": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})
    with pytest.raises(DatasetError, match="empty has no rows"):
        open_rows(empty, "y").sample(10, np.random.default_rng(0))
    one = write(tmp_path / "one", {"a": [1.0, 2.0], "y": [1.0, None]})
    with pytest.raises(DatasetError, match=r"1 row\(s\) with 'y', of 2; training takes two"):
        open_rows(one, "y").sample(10, np.random.default_rng(0))


def test_a_file_that_is_no_table_is_named(tmp_path):
    folder = write(tmp_path / "d", *number_rows(10, 2))
    (folder / "part-1.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(DatasetError, match=r"part-1\.parquet is damaged or empty"):
        open_rows(folder, "y")
    (folder / "part-0.parquet").write_bytes(b"")
    with pytest.raises(DatasetError, match=r"part-0\.parquet is damaged or empty"):
        open_rows(folder, "y")


def test_a_file_that_vanishes_or_breaks_on_the_way_is_named(tmp_path):
    folder = write(tmp_path / "d", *number_rows(10_000, 2), row_group_size=1000)
    source = open_rows(folder, "y")
    path = folder / "part-1.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:20_000] + bytes(len(content) - 20_000))
    with pytest.raises(DatasetError, match=r"part-1\.parquet cannot be read"):
        list(source.blocks(np.random.default_rng(0)))
    path.unlink()
    with pytest.raises(DatasetError, match=r"part-1\.parquet was there at first and is gone"):
        list(source.blocks(np.random.default_rng(0)))


def test_text_among_the_numbers_of_a_text_file_is_named(tmp_path):
    table = {"a": [*range(500_000), "oops"], "y": range(500_001)}
    source = open_rows(write(tmp_path / "d", table, suffix="csv"), "y")
    with pytest.raises(DatasetError, match=r"part-0\.csv cannot be read: .*oops"):
        source.sample(10, np.random.default_rng(0))


def test_categories_in_some_files_and_text_in_others_are_text(tmp_path):
    table = pd.DataFrame({"fuel": ["gas", "oil"] * 10, "p": np.arange(20.0)})
    table[:10].astype({"fuel": "category"}).to_parquet(tmp_path / "0.parquet")
    table[10:].to_parquet(tmp_path / "1.parquet")
    source = open_rows(tmp_path, "p")
    sample = source.sample(20, np.random.default_rng(0))
    assert sorted(map(str, sample.block.X["fuel"])) == ["gas"] * 10 + ["oil"] * 10
