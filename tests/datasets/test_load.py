import runpy
import sys

import numpy as np
import pytest

from takagi.datasets import fetch_dataset, list_datasets, load_dataset
from takagi.datasets._registry import DATASETS


@pytest.fixture(scope="session")
def loaders(real_files):
    """Return the loaders of the script beside the files, written independently of this package."""
    for package in ("pandas", "openpyxl", "xlrd"):
        pytest.importorskip(package)
    if not (real_files / "check.py").is_file():
        pytest.skip("needs check.py beside the archives' files")
    sets = runpy.run_path(str(real_files / "check.py"))["SETS"]
    return dict(zip(list_datasets(), (load for _, load, *_ in sets), strict=True))


@pytest.mark.parametrize("name", list_datasets())
def test_real_file_holds_what_the_paper_says(name, real_files):
    dataset, bunch = DATASETS[name], load_dataset(name, data_home=real_files)
    assert bunch.data.shape == (dataset.n_samples, dataset.n_features)
    assert bunch.target.shape == (dataset.n_samples,)
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert np.isfinite(bunch.data).all()
    assert bunch.target.mean() == pytest.approx(dataset.target_mean, abs=1e-4)
    assert len(set(bunch.feature_names)) == dataset.n_features
    assert bunch.target_name not in bunch.feature_names
    assert bunch.frame is None
    assert bunch.filename.endswith(dataset.source.name)


@pytest.mark.parametrize("name", list_datasets())
def test_real_file_is_encoded_as_by_an_independent_script(name, loaders, real_files):
    X, y = load_dataset(name, data_home=real_files, return_X_y=True)
    for ours, theirs in zip((X, y), loaders[name](), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["autoMPG", "CPS", "Abalone-OH"])
def test_every_row_has_one_code_of_a_category(name, real_files):
    bunch = load_dataset(name, data_home=real_files)
    for category in DATASETS[name].categories:
        columns = [i for i, feature in enumerate(bunch.feature_names) if feature.startswith(f"{category}_")]
        np.testing.assert_array_equal(bunch.data[:, columns].sum(axis=1), 1)


def test_description_names_source_license_and_citation(cache, archive, no2):
    archive.answers["/datasets/NO2.dat"] = [no2]
    lines = load_dataset("NO2").DESCR.splitlines()
    assert [line.split(":")[0] for line in lines] == ["NO2", "Target", "Features", "Source", "License", "Citation"]


def test_missing_file_is_downloaded_once(cache, archive, no2):
    archive.answers["/datasets/NO2.dat"] = [no2]
    first, second = load_dataset("NO2"), load_dataset("NO2")
    assert first.filename == second.filename == str(cache / "NO2.dat")
    assert archive.asked == ["/datasets/NO2.dat"]
    np.testing.assert_array_equal(first.data, second.data)


def test_frame_holds_the_same_numbers_as_arrays(tmp_path, no2):
    pytest.importorskip("pandas")
    (tmp_path / "NO2.dat").write_bytes(no2)
    X, y = load_dataset("NO2", data_home=tmp_path, return_X_y=True)
    bunch = load_dataset("NO2", data_home=tmp_path, as_frame=True)
    data, target = load_dataset("NO2", data_home=tmp_path, as_frame=True, return_X_y=True)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(target, y)
    assert list(bunch.frame) == [*bunch.feature_names, bunch.target_name]
    assert bunch.frame[bunch.feature_names].equals(data)
    assert bunch.frame[bunch.target_name].equals(target)


def test_frame_without_pandas_says_what_to_install(tmp_path, no2, monkeypatch):
    (tmp_path / "NO2.dat").write_bytes(no2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'needs pandas: pip install "takagi\[experiments\]"'):
        load_dataset("NO2", data_home=tmp_path, as_frame=True)


def test_damaged_file_is_named(tmp_path, no2):
    (tmp_path / "NO2.dat").write_bytes(no2[:9000])
    with pytest.raises(ValueError, match=r"expected 500 rows and 7 features.*Remove .*NO2.dat to fetch it again"):
        load_dataset("NO2", data_home=tmp_path)


def test_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'Yacht'"):
        load_dataset("yatch")


def test_fetching_to_a_folder_copies_what_is_elsewhere(cache, tmp_path, no2):
    cache.mkdir()
    (cache / "NO2.dat").write_bytes(no2)
    assert fetch_dataset("NO2") == cache / "NO2.dat"
    path = fetch_dataset("NO2", data_home=tmp_path / "mine")
    assert path == fetch_dataset("NO2", data_home=tmp_path / "mine") == tmp_path / "mine" / "NO2.dat"
    assert path.read_bytes() == no2
