"""Adapters of `accuracy.py`: neural networks for tables, of the package ``pytabkit``, with its tuned defaults."""

from typing import Any

from _peers import limit_torch
from _rows import Rows

REALMLP = "RealMLP-TD, its own tuned defaults, which hold out a fifth of the rows"
TABM = "TabM-D, its own defaults, which hold out a fifth of the rows"


def fit_realmlp(rows: Rows, seed: int) -> Any:
    limit_torch()
    from pytabkit import RealMLP_TD_Regressor

    return RealMLP_TD_Regressor(device="cpu", random_state=seed, n_threads=1, verbosity=0).fit(*rows.both)


def fit_tabm(rows: Rows, seed: int) -> Any:
    limit_torch()
    from pytabkit import TabM_D_Regressor

    return TabM_D_Regressor(device="cpu", random_state=seed, n_threads=1, verbosity=0).fit(*rows.both)
