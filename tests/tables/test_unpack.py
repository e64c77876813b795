import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars

from takagi.tables import DatasetError, RequestError, TableLayout, open_rows, open_table

CARS = make_cars(60)
TEXT = CARS.to_csv(index=False)


def pack(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return path


def read(source, layout=None):
    return open_table(source, layout).read(["weight"])["weight"].tolist()


def test_packed_files_are_read_as_they_were_before(tmp_path):
    book, parquet = io.BytesIO(), io.BytesIO()
    CARS.to_excel(book, index=False)
    CARS.to_parquet(parquet)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode("utf-16")))
    sources = [
        tmp_path / "a.csv.gz",
        pack(tmp_path / "b.zip", cars__csv=TEXT, README="read me"),
        pack(tmp_path / "c.zip", cars__xlsx=book.getvalue()),
        pack(tmp_path / "d.zip", cars__parquet=parquet.getvalue()),
        io.BytesIO(gzip.compress(TEXT.encode())),
    ]
    for source in sources:
        assert read(source) == CARS["weight"].tolist(), source


def test_of_several_files_one_is_named(tmp_path):
    path = pack(tmp_path / "two.zip", a__csv="x,y\n1,2\n", cars__csv=TEXT, __MACOSX="")
    with pytest.raises(RequestError, match=r"archive with the tables 'a.csv', 'cars.csv'; name one") as caught:
        open_table(path)
    assert caught.value.about == "sheet"
    assert read(path, TableLayout(sheet="cars.csv")) == read(path, TableLayout(sheet="2")) == CARS["weight"].tolist()
    with pytest.raises(RequestError, match=r"but not 'b\.csv'"):
        open_table(path, TableLayout(sheet="b.csv"))


def test_files_that_end_early_are_told(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode())[:-200])
    with pytest.raises(DatasetError, match=r"a\.csv\.gz is damaged and cannot be unpacked"):
        open_table(tmp_path / "a.csv.gz")
    with pytest.raises(DatasetError, match="the standard input is damaged and cannot be unpacked"):
        open_table(io.BytesIO(gzip.compress(TEXT.encode())[:-200]))


def test_damage_further_down_is_told_while_rows_are_read(tmp_path):
    lines = "a,b\n" + "".join(f"{k},{k * 7919 % 10007}\n" for k in range(400_000))
    packed = bytearray(gzip.compress(lines.encode()))
    packed[len(packed) - 4_000 : len(packed) - 3_900] = b"\xff" * 100
    (tmp_path / "a.csv.gz").write_bytes(packed)
    (tmp_path / "b.csv.gz").write_bytes(packed)
    with pytest.raises(DatasetError, match=r"^\S+csv\.gz is damaged and cannot be unpacked"):
        open_rows([tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"], "b")  # whose kinds the first megabytes tell


def test_parts_may_be_compressed(tmp_path):
    table = pd.DataFrame({"a": np.arange(30.0), "y": np.arange(30.0) ** 2})
    table[::2].to_csv(tmp_path / "0.csv.gz", index=False)
    table[1::2].to_csv(tmp_path / "1.csv", index=False)
    blocks = open_rows(tmp_path, "y").blocks(np.random.default_rng(0))
    assert sorted(y for block in blocks for y in block.y[:, 0]) == table["y"].tolist()
