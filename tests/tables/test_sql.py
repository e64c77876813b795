import sqlite3
import sys
from contextlib import closing

import pytest
from made_cars import make_cars

from takagi.tables import DatasetError, RequestError, TableLayout, open_table


@pytest.fixture
def base(tmp_path):
    path = tmp_path / "plant.db"
    with closing(sqlite3.connect(path)) as base:
        make_cars(30).to_sql("cars", base, index=False)
        base.execute("create table empty (a, b)")
        base.commit()
    return path


def ask(source, query):
    return open_table(source, TableLayout(query=query))


@pytest.mark.parametrize("start", ["sqlite:///", "", "sqlite+pysqlite:///"])
def test_the_rows_of_a_query_are_the_table(base, start):
    if "+" in start:
        pytest.importorskip("sqlalchemy")
    table = ask(f"{start}{base}", "-- all\nselect fuel, weight from cars where weight > 1 and fuel <> ':drop a; b%';")
    assert table.names == ["fuel", "weight"]
    cars = make_cars(30)
    assert table.read(["weight"])["weight"].tolist() == cars.loc[cars["fuel"].notna(), "weight"].tolist()


@pytest.mark.parametrize("start", ["sqlite:///", "sqlite+pysqlite:///"])
@pytest.mark.parametrize(
    "query",
    [
        "drop table cars",
        "delete from cars",
        "with old as (select 1) delete from cars",
        "select 1; drop table cars",
        "select * into other from cars",
        "pragma user_version = 7",
    ],
)
def test_nothing_is_written(base, start, query):
    if "+" in start:
        pytest.importorskip("sqlalchemy")
    before = base.read_bytes()
    with pytest.raises(DatasetError):
        ask(f"{start}{base}", query)
    assert base.read_bytes() == before


def test_what_is_wrong_is_told(base):
    with pytest.raises(
        RequestError, match=r"has the tables 'cars', 'empty'; say which rows .*select \* from cars"
    ) as no:
        open_table(f"sqlite:///{base}")
    assert no.value.about == "query"
    with pytest.raises(DatasetError, match=r"no such table: car\. It has the tables 'cars', 'empty'"):
        ask(f"sqlite:///{base}", "select * from car")
    with pytest.raises(RequestError, match="there is no database"):
        ask(f"sqlite:///{base}x", "select 1")
    with pytest.raises(RequestError, match="is a database, which has no sheets"):
        open_table(f"sqlite:///{base}", TableLayout(sheet="cars"))
    with pytest.raises(RequestError, match="is no database"):
        ask(__file__, "select 1")
    with pytest.raises(ValueError, match="several columns named 'a'"):
        ask(f"sqlite:///{base}", "select a, b as a from empty")


def test_passwords_are_not_told():
    pytest.importorskip("sqlalchemy")
    with pytest.raises(DatasetError) as caught:
        ask("nothing://me:secret@host/plants", "select 1")
    assert "nothing://me:...@host/plants is no address of a database" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_other_databases_need_sqlalchemy(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ImportError, match=r'needs sqlalchemy: pip install "takagi\[sources\]"'):
        ask("postgresql://me@host/plants", "select 1")
