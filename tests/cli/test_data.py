import json

import pytest

from takagi.cli import main
from takagi.datasets import list_datasets

pytest.importorskip("typer")
pytest.importorskip("rich")
NO2 = b"3.6984\t7.5\t-1\t2\t0.1\t180\t12\t300\n" * 500


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of one's own, empty; no other place to find files, and no network."""
    monkeypatch.delenv("TAKAGI_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TAKAGI_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "takagi"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "NO2.dat").write_bytes(NO2)
    return tmp_path / "mine"


def run(*words):
    with pytest.raises(SystemExit) as caught:
        main(["data", *map(str, words)])
    return caught.value.code


def test_list_is_the_papers_table_in_eighty_columns(capsys, folder):
    assert run("list", "--data-home", folder) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[1] for line in lines[1:]] == list_datasets()
    assert lines[9].split() == ["9", "NO2", "StatLib", "500", "7", "numerical", "yes"]
    assert lines[12].split() == ["12", "CPS", "StatLib", "534", "19", "categorical,", "numerical", "no"]


def test_list_as_json_names_the_files(capsys, folder):
    assert run("list", "--data-home", folder, "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == list_datasets()
    assert rows["NO2"]["file"] == str(folder / "NO2.dat")
    assert list(rows["autoMPG"].values()) == [8, "autoMPG", "UCI", 392, 9, "categorical, numerical", None]


def test_path_is_the_folder_or_the_file(capsys, cache, folder):
    assert run("path") == 0
    assert run("path", "--data-home", folder) == 0
    assert run("path", "NO2", "--data-home", folder) == 0
    assert capsys.readouterr().out.splitlines() == [str(cache), str(folder), str(folder / "NO2.dat")]


def test_path_of_a_file_that_is_not_there_is_an_error(capsys):
    assert run("path", "NO2") == 1
    assert "Error: NO2 is not on this machine; fetch it with: takagi data fetch NO2" in capsys.readouterr().err


def test_fetch_goes_on_after_a_failure_and_says_so(capsys, folder):
    assert run("fetch", "Tecator-fat", "NO2", "Tecator-protein", "--data-home", folder) == 1
    out, err = capsys.readouterr()
    assert out.split() == ["NO2", str(folder / "NO2.dat")]
    assert err.count("Error: tecator could not be downloaded") == 1
    assert f"Put the file into {folder}" in err
    assert "Traceback" not in err


def test_fetch_as_json_holds_files_and_errors(capsys, folder):
    assert run("fetch", "PM10", "NO2", "--data-home", folder, "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["files"] == {"NO2": str(folder / "NO2.dat")}
    assert list(report["errors"]) == ["PM10"]


def test_quiet_fetch_says_nothing_when_all_is_well(capsys, folder):
    assert run("fetch", "NO2", "--data-home", folder, "--quiet") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", ["fetch", "path"])
def test_unknown_name_is_misuse_and_gets_the_nearest(command, capsys):
    assert run(command, "Yatch") == 2
    assert "did you mean" in capsys.readouterr().err
