"""Adapters of `accuracy.py`: takagi, the paper's algorithms, and the fuzzy peers with 16 rules."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from _peers import limit_torch
from _rows import Rows, Scaled, Scaling
from takagi import TSKRegressor
from takagi._typing import FloatArray
from takagi.experiments import paper_algorithm

N_RULES = 16


def fit_takagi(rows: Rows, seed: int, **options: Any) -> TSKRegressor:
    return TSKRegressor(random_state=seed, **options).fit(*rows.both)


def fit_short(rows: Rows, seed: int) -> TSKRegressor:
    return fit_takagi(rows, seed, n_rules=5, recipe="short")


def fit_committee(rows: Rows, seed: int) -> Any:
    from takagi import TSKCommittee

    return TSKCommittee(random_state=seed).fit(*rows.both)


# -- the paper's -------------------------------------------------------------------------------------------------------


def _fit_paper(name: str, rows: Rows, seed: int) -> Any:
    model = paper_algorithm(name, n_rules=N_RULES, random_state=seed)
    return model.fit(rows.X_train, rows.y_train, X_val=rows.X_val, y_val=rows.y_val)


def fit_fcm_rda(rows: Rows, seed: int) -> Any:
    return _fit_paper("FCM-RDA", rows, seed)


def fit_fcm_rdpa(rows: Rows, seed: int) -> Any:
    return _fit_paper("FCM-RDpA", rows, seed)


def fit_fcm_rdpax(rows: Rows, seed: int) -> Any:
    return _fit_paper("FCM-RDpAx", rows, seed)


# -- peers -------------------------------------------------------------------------------------------------------------

FUZZYTOOL = "scaled; ANFIS with 16 rules of a cluster partition"
ENDGAME = "scaled; its FCMRDpARegressor with 16 rules"
HIGHFIS = "scaled; HTSKRegressor with 16 rules, patience 20"
PYTSK = "scaled; HTSK with batch normalization, 16 rules, 300 epochs of AdamW, the best epoch on the validation part"


def fit_fuzzytool(rows: Rows, seed: int) -> Scaled:
    from fuzzytool import ANFIS

    scaling = Scaling(*rows.both)
    model = ANFIS(rows.X_train.shape[1], partition="cluster", n_rules=N_RULES, seed=seed % 2**31)
    model.fit(*scaling.scale(*rows.both))
    return scaling.unscale(model)


def fit_endgame(rows: Rows, seed: int) -> Scaled:
    from endgame.fuzzy.modern.fcm_rdpa import FCMRDpARegressor

    scaling = Scaling(*rows.both)
    return scaling.unscale(FCMRDpARegressor(N_RULES, random_state=seed).fit(*scaling.scale(*rows.both)))


def fit_highfis(rows: Rows, seed: int, n_rules: int = N_RULES) -> Scaled:
    limit_torch()
    from highfis import HTSKRegressor

    scaling = Scaling(rows.X_train, rows.y_train)
    X_val, y_val = scaling.scale(rows.X_val, rows.y_val)
    model = HTSKRegressor(n_mfs=n_rules, random_state=seed)
    return scaling.unscale(model.fit(*scaling.scale(rows.X_train, rows.y_train), x_val=X_val, y_val=y_val))


class BestEpoch:
    """A callback of PyTSK: keep the network of the smallest error on held-out rows; end after epochs without gain."""

    def __init__(self, X: FloatArray, measure: Callable[[FloatArray], float], patience: float = np.inf) -> None:
        self.X, self.measure, self.patience = X, measure, patience
        self.error, self.state, self.n_idle = np.inf, None, 0

    def on_epoch_end(self, wrapper: Any) -> None:
        error = self.measure(wrapper.predict(self.X))
        self.n_idle += 1
        if error < self.error:
            self.error, self.state, self.n_idle = error, deepcopy(wrapper.model.state_dict()), 0
        wrapper.stop_training = self.n_idle > self.patience

    def on_epoch_begin(self, wrapper: Any) -> None:
        pass

    on_batch_begin = on_batch_end = on_epoch_begin


class Network:
    """A trained network of PyTSK as a predictor."""

    def __init__(self, network: Any) -> None:
        self.network = network.eval()

    def predict(self, X: FloatArray) -> FloatArray:
        import torch

        with torch.no_grad():
            return self.network(torch.tensor(X, dtype=torch.float32)).numpy()[:, 0]


def fit_pytsk(rows: Rows, seed: int, n_rules: int = N_RULES) -> Scaled:
    limit_torch()
    import torch
    from pytsk.gradient_descent import TSK, AntecedentGMF, Wrapper, antecedent_init_center

    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    scaling = Scaling(rows.X_train, rows.y_train)
    X, y = scaling.scale(rows.X_train, rows.y_train)
    n_features = X.shape[1]
    sets = AntecedentGMF(n_features, n_rules, high_dim=True, init_center=antecedent_init_center(X, y, n_rule=n_rules))
    network = TSK(n_features, 1, n_rules, sets, order=1, precons=torch.nn.BatchNorm1d(n_features))
    X_val, y_val = scaling.scale(rows.X_val, rows.y_val)
    best = BestEpoch(X_val, lambda outputs: float(np.mean((outputs[:, 0] - y_val) ** 2)))
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=1e-8)
    loss = torch.nn.MSELoss()
    Wrapper(network, optimizer, loss, epochs=300, callbacks=[best], label_type="r").fit(X, y[:, None])
    if best.state is not None:
        network.load_state_dict(best.state)
    return scaling.unscale(Network(network))
