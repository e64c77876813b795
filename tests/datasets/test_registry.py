from pathlib import Path

import pytest

from takagi.datasets import describe_dataset, list_datasets
from takagi.datasets._parse import READERS

TABLE = """
1 Concrete-CS UCI 103 7 N; 2 Concrete-Flow UCI 103 7 N; 3 Concrete-Slump UCI 103 7 N;
4 Tecator-fat StatLib 240 22 N; 5 Tecator-moisture StatLib 240 22 N; 6 Tecator-protein StatLib 240 22 N;
7 Yacht UCI 308 6 N; 8 autoMPG UCI 392 9 C; 9 NO2 StatLib 500 7 N; 10 PM10 StatLib 500 7 N; 11 Housing UCI 506 13 N;
12 CPS StatLib 534 19 C; 13 Efficiency-Cool UCI 768 8 N; 14 Efficiency-Heat UCI 768 8 N; 15 Concrete UCI 1030 8 N;
16 Airfoil UCI 1503 5 N; 17 Wine-red UCI 1599 11 N; 18 Abalone UCI 4177 7 N; 19 Abalone-OH UCI 4177 10 C;
20 Wine-white UCI 4898 11 N; 21 PowerPlant UCI 9568 4 N; 22 Protein UCI 45730 9 N
"""  # the paper's, C for "Categorical, Numerical"


def test_table_is_the_papers():
    rows = [describe_dataset(name) for name in list_datasets()]
    ours = [
        f"{index} {row.name} {row.archive} {row.n_samples} {row.n_features} {row.feature_type[0].upper()}"
        for index, row in enumerate(rows, start=1)
    ]
    assert ours == [" ".join(row.split()) for row in TABLE.split(";")]


@pytest.mark.parametrize("name", list_datasets())
def test_row_is_complete(name):
    dataset = describe_dataset(name)
    source = dataset.source
    assert len(set(dataset.feature_names)) == dataset.n_features
    assert dataset.target in source.columns
    assert dataset.target not in dataset.feature_names
    assert set(source.codes) >= set(dataset.categories)
    assert source.format in READERS
    assert all(url.startswith("http") for url in source.urls)
    assert source.license
    assert source.citation
    assert source.sha256 is None or len(source.sha256) == 64


def test_sixteen_files_have_names_of_their_own():
    sources = {describe_dataset(name).source.path for name in list_datasets()}
    assert len(sources) == len({path.split("/")[-1] for path in sources}) == 16


def test_only_the_four_files_that_are_not_pinned_have_no_checksum():
    free = {source.name for name in list_datasets() if (source := describe_dataset(name).source).sha256 is None}
    assert free == {"NO2.dat", "PM10.dat", "CPS_85_Wages", "ENB2012_data.xlsx"}


def test_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match=r"dataset 'abalone-onehot' is unknown, did you mean 'Abalone-OH'\?"):
        describe_dataset("abalone-onehot")


def test_table_of_the_guide_is_this_one():
    guide = Path(__file__).parents[2] / "docs" / "datasets.md"
    rows = [line.split(" | ") for line in guide.read_text().splitlines() if "](http" in line]
    assert [(row[1], row[3], row[4], row[5]) for row in rows] == [
        (row.name, f"{row.n_samples:,}", str(row.n_features), row.feature_type)
        for row in map(describe_dataset, list_datasets())
    ]
