"""The suites of `accuracy.py`: which datasets, how they are read, and what errors are divided by.

``paper``: the paper's 22 sets, by the paper's protocol. ``second``: sixteen regression sets that the defaults were not
chosen with, gzipped tables of numbers whose last column is ``target``, in the folder ``suite2`` of ``TAKAGI_DATA``.
Their selection half is every second set in alphabetical order, beginning with the first.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from takagi._typing import FloatArray
from takagi.datasets import list_datasets
from takagi.experiments._run import draw_partition_of, load_standardized, split_and_center

PAPERS_SELECTION = (
    "Concrete-CS", "Concrete-Slump", "Tecator-moisture", "Yacht", "NO2", "Housing", "Efficiency-Cool", "Concrete",
    "Wine-red", "Abalone-OH", "PowerPlant",
)  # fmt: skip
SECOND_SETS = (
    "baseball", "compactiv", "ele_1", "grid_stability", "laser", "medical_cost", "mortgage", "qsar_aquatic_toxicity",
    "qsar_fish_toxicity", "quake", "real_estate_valuation", "residential_building", "treasury", "wankara", "wizmir",
    "wsn_ale",
)  # fmt: skip

Part = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Suite:
    """Datasets that are averaged.

    Attributes
    ----------
    name : str
        On the command line; the store and the marks in the page carry it, too, unless it is the paper's.
    datasets : tuple of str
    selection : tuple of str
        Those on which defaults may be chosen.
    divisor : str
        The method by whose errors all are divided.
    """

    name: str
    datasets: tuple[str, ...]
    selection: tuple[str, ...]
    divisor: str


PAPER = Suite("paper", tuple(list_datasets()), PAPERS_SELECTION, "ridge")
SECOND = Suite("second", SECOND_SETS, SECOND_SETS[::2], "ridge tuned")
SUITES = {suite.name: suite for suite in (PAPER, SECOND)}


def load_parts(dataset: str, repeat: int, base_seed: int, data_home: str | None = None) -> list[Part]:
    """Return features and target of the training, validation and test part of a partition.

    The paper's sets are standardized with all rows, as in the paper; the others are as they are.
    """
    if dataset not in SECOND_SETS:
        X, y = load_standardized(dataset, data_home)
        return split_and_center(X, y, draw_partition_of(dataset, repeat, len(y), base_seed))
    X, y = read_second(dataset, data_home)
    return [(X[rows], y[rows]) for rows in draw_partition_of(dataset, repeat, len(y), base_seed)]


@lru_cache(maxsize=4)
def read_second(dataset: str, data_home: str | None = None) -> Part:
    """Return features and target of a set of the second suite."""
    import pandas as pd

    folder = data_home or os.environ.get("TAKAGI_DATA")
    if not folder:
        raise FileNotFoundError("TAKAGI_DATA must name the folder that has suite2, got nothing.")
    table = pd.read_csv(Path(folder) / "suite2" / f"{dataset}.csv.gz")
    return table.drop(columns="target").to_numpy(dtype=float), table["target"].to_numpy(dtype=float)
