"""The peers of `fit.py`: one small adapter each, which trains for a number of epochs and returns the samples visited.

A sample visited is one row that passes forward and backward once. What is not said here is the package's default; there
is no validation set, so nothing stops early.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray


class Peer(NamedTuple):
    """A peer's adapter and its batch size, None for the peer's default."""

    name: str
    run: Callable[[FloatArray, FloatArray, int, int | None, int], int]
    batch_size: int | None
    package: str


def limit_torch() -> None:
    """Let torch use one thread."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)


def run_pytsk(X: FloatArray, y: FloatArray, n_rules: int, batch_size: int | None, n_epochs: int) -> int:
    """Train PyTSK by its documentation's recipe; it drops the last, incomplete batch of an epoch."""
    limit_torch()
    import torch
    from pytsk.gradient_descent import TSK, AntecedentGMF, Wrapper, antecedent_init_center

    np.random.seed(0)  # noqa: NPY002
    centers = antecedent_init_center(X, y, n_rule=n_rules)
    antecedent = AntecedentGMF(in_dim=X.shape[1], n_rule=n_rules, init_center=centers)
    model = TSK(in_dim=X.shape[1], out_dim=1, n_rule=n_rules, antecedent=antecedent, order=1)
    wrapper = Wrapper(
        model,
        optimizer=torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=1e-8),
        criterion=torch.nn.MSELoss(),
        label_type="r",
        epochs=n_epochs,
        **({} if batch_size is None else {"batch_size": batch_size}),
    )
    wrapper.fit(X, y.reshape(-1, 1))  # y of one axis would broadcast against the predictions
    return wrapper.cur_batch * wrapper.batch_size


def run_highfis(X: FloatArray, y: FloatArray, n_rules: int, batch_size: int | None, n_epochs: int) -> int:
    """Train highfis' HTSK regressor."""
    limit_torch()
    from highfis import HTSKRegressor

    options = {} if batch_size is None else {"batch_size": batch_size}
    model = HTSKRegressor(n_mfs=n_rules, random_state=0, epochs=n_epochs, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return len(model.history_["train_loss"]) * len(X)


PEERS = (
    Peer("PyTSK", run_pytsk, 64, "scikit-pytsk"),
    Peer("PyTSK, default batch", run_pytsk, None, "scikit-pytsk"),
    Peer("highfis HTSK", run_highfis, 64, "highfis"),
    Peer("highfis HTSK, default batch", run_highfis, None, "highfis"),
)
