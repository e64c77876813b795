"""The twelve datasets of Cui, Wu and Huang (2020), and their 30 splits of 70 % training and 30 % test rows.

They lie in the folder ``cui12`` of ``TAKAGI_DATA``, except Abalone, which is with the UCI sets. Biodeg and Yeast come
with the authors' own splits, which are stratified; the splits of the others are drawn the same way.
"""

import os
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from takagi._typing import FloatArray, IntArray
from takagi.experiments._plan import derive_seed

N_SPLITS = 30
TEST_PART = 0.3


class Labeled(NamedTuple):
    """Features and classes from 0 on, and the authors' splits, if they have any: rows of a split in a row each."""

    X: FloatArray
    y: IntArray
    trains: IntArray | None = None
    tests: IntArray | None = None


class Split(NamedTuple):
    """Training and test part of a dataset, and its number of classes."""

    X_train: FloatArray
    y_train: IntArray
    X_test: FloatArray
    y_test: IntArray
    n_classes: int


# -- readers -----------------------------------------------------------------------------------------------------------


def _read_table(path: Path) -> Labeled:
    """Read a table of numbers whose last column is the class."""
    import pandas as pd

    table = pd.read_csv(path)
    return Labeled(table.iloc[:, :-1].to_numpy(dtype=float), number_classes(table.iloc[:, -1]))


def _read_arrays(path: Path) -> Labeled:
    with np.load(path) as arrays:
        return Labeled(
            arrays["con_data"].astype(float), number_classes(arrays["label"]), arrays["trains"], arrays["tests"]
        )


def _read_arff(path: Path) -> Labeled:
    lines = path.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.strip().lower() == "@data") + 1
    values = np.loadtxt(lines[first:], delimiter=",")
    return Labeled(values[:, :-1], number_classes(values[:, -1]))


def _read_clave(path: Path) -> Labeled:
    values = np.loadtxt(path)
    return Labeled(values[:, :16], values[:, 16:].argmax(axis=1))


def _read_abalone(path: Path) -> Labeled:
    """Read Abalone: the sex as three columns, and as class up to 8 rings, 9 or 10, more."""
    import pandas as pd

    table = pd.read_csv(path, header=None)
    X = pd.get_dummies(table.drop(columns=8)).to_numpy(dtype=float)
    return Labeled(X, np.digitize(table[8], (8.5, 10.5)))


def number_classes(labels: object) -> IntArray:
    """Return labels as numbers from 0 on, in the order of the labels."""
    return np.unique(np.asarray(labels).astype(str), return_inverse=True)[1]


SETS: dict[str, tuple[str, Callable[[Path], Labeled]]] = {
    "Vehicle": ("cui12/Vehicle.csv.gz", _read_table),
    "Biodeg": ("cui12/Biodeg.npz", _read_arrays),
    "DRD": ("cui12/messidor_features.arff", _read_arff),
    "Yeast": ("cui12/Yeast.npz", _read_arrays),
    "Steel": ("cui12/Steel.csv", _read_table),
    "IS": ("cui12/Segment.csv.gz", _read_table),
    "Abalone": ("uci/abalone/abalone.data", _read_abalone),
    "Waveform21": ("cui12/Waveform.csv", _read_table),
    "Page-blocks": ("cui12/PageBlocks.csv.gz", _read_table),
    "Satellite": ("cui12/Satellite.csv.gz", _read_table),
    "Clave": ("cui12/ClaveVectors_Firm-Teacher_Model.txt", _read_clave),
    "MAGIC": ("cui12/Magic.csv.gz", _read_table),
}


@lru_cache(maxsize=2)
def load_labeled(dataset: str, data_home: str | None = None) -> Labeled:
    """Return features and classes of a dataset."""
    folder = data_home or os.environ.get("TAKAGI_DATA")
    if not folder:
        raise FileNotFoundError("TAKAGI_DATA must name the folder that has cui12, got nothing.")
    name, read = SETS[dataset]
    return read(Path(folder) / name)


def load_split(dataset: str, repeat: int, data_home: str | None = None) -> Split:
    """Return a split of a dataset, from 1: the authors' own, or a stratified one."""
    X, y, trains, tests = load_labeled(dataset, data_home)
    if trains is not None and tests is not None:
        train, test = trains[repeat - 1], tests[repeat - 1]
    else:
        draw = partial(train_test_split, np.arange(len(y)), test_size=TEST_PART, stratify=y)
        train, test = draw(random_state=derive_seed(0, "split", dataset, repeat))
    return Split(X[train], y[train], X[test], y[test], int(y.max()) + 1)
