"""The paper's 22 regression sets, from their archives' own files."""

from takagi.datasets._fetch import DownloadError
from takagi.datasets._folders import get_data_home
from takagi.datasets._load import fetch_dataset, find_dataset, load_dataset
from takagi.datasets._registry import Dataset, describe_dataset, list_datasets

__all__ = [
    "Dataset",
    "DownloadError",
    "describe_dataset",
    "fetch_dataset",
    "find_dataset",
    "get_data_home",
    "list_datasets",
    "load_dataset",
]
