"""Adapters of `accuracy.py`: scikit-learn's ridge regression, support vectors, neural network and Gaussian process."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from _rows import Rows, Scaled, Scaling, draw_rows
from takagi._typing import FloatArray
from takagi.experiments import paper_algorithm


def fit_ridge(rows: Rows, seed: int) -> Any:
    return paper_algorithm("RR").fit(rows.X_train, rows.y_train)


def fit_ridge_on_both(rows: Rows, seed: int) -> Any:
    return paper_algorithm("RR").fit(*rows.both)


TUNED_RIDGE = "scaled; alpha of 0.01 to 10,000 by leave-one-out: the divisor of the second suite"


def fit_tuned_ridge(rows: Rows, seed: int) -> Any:
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))).fit(*rows.both)


# -- chosen on the validation part, then fitted on both parts ----------------------------------------------------------

TUNING_ROWS = 2000  # of the training part, on which the settings are compared


def tune(rows: Rows, make: Callable[..., Any], grid: Iterable[Any], seed: int) -> Any:
    """Return the model, not fitted, of the smallest validation error; the first of equals."""
    scaling = Scaling(rows.X_train, rows.y_train)
    train = draw_rows(*scaling.scale(rows.X_train, rows.y_train), TUNING_ROWS, seed)
    X_val, y_val = scaling.scale(rows.X_val, rows.y_val)
    errors = [np.mean((make(setting).fit(*train).predict(X_val) - y_val) ** 2) for setting in grid]
    return make(list(grid)[int(np.argmin(errors))])


def fit_on_both(model: Any, rows: Rows, most: int, seed: int) -> Scaled:
    """Fit on at most so many rows of both parts, scaled."""
    scaling = Scaling(*rows.both)
    return scaling.unscale(model.fit(*draw_rows(*scaling.scale(*rows.both), most, seed)))


SVR_GRID = [(C, gamma) for C in (1.0, 10.0, 100.0) for gamma in (0.3, 1.0, 3.0)]
SVR_ROWS = 10_000
SVR_SETTINGS = (
    "scaled; RBF kernel, epsilon 0.05; C of 1, 10, 100 and gamma of 0.3, 1, 3 over the number of features, "
    f"compared on at most {TUNING_ROWS:,} rows; at most {SVR_ROWS:,} rows"
)


def fit_svr(rows: Rows, seed: int) -> Scaled:
    n_features = rows.X_train.shape[1]

    def make(setting: tuple[float, float]) -> SVR:
        return SVR(C=setting[0], gamma=setting[1] / n_features, epsilon=0.05, cache_size=500)

    return fit_on_both(tune(rows, make, SVR_GRID, seed), rows, SVR_ROWS, seed)


MLP_GRID = (1e-4, 1e-2, 1.0)
MLP_SETTINGS = (
    "scaled; two layers of 100, Adam, at most 500 epochs, 100 above 5,000 rows (or its own stop); alpha of 0.0001, "
    f"0.01, 1, compared on at most {TUNING_ROWS:,} rows"
)


def fit_mlp(rows: Rows, seed: int) -> Scaled:
    n_epochs = 500 if len(rows.both[1]) <= 5000 else 100

    def make(alpha: float) -> MLPRegressor:
        return MLPRegressor(hidden_layer_sizes=(100, 100), alpha=alpha, max_iter=n_epochs, random_state=seed)

    return fit_on_both(tune(rows, make, MLP_GRID, seed), rows, len(rows.both[1]), seed)


# -- Gaussian process --------------------------------------------------------------------------------------------------

GP_KERNEL_ROWS, GP_ROWS = 500, 4000
GP_SETTINGS = (
    "scaled; RBF kernel with a length per feature (ARD) and noise; lengths and noise by maximum likelihood on at most "
    f"{GP_KERNEL_ROWS} rows, then at most {GP_ROWS:,} rows"
)


class MeanOnly:
    """A Gaussian process that predicts means, block by block, so that memory does not grow with the rows."""

    def __init__(self, model: GaussianProcessRegressor) -> None:
        self.model = model

    def predict(self, X: FloatArray) -> FloatArray:
        blocks = np.array_split(X, len(X) // 1000 + 1)
        return np.concatenate([self.model.predict(block) for block in blocks])


def fit_gaussian_process(rows: Rows, seed: int) -> Scaled:
    scaling = Scaling(*rows.both)
    X, y = scaling.scale(*rows.both)
    start = ConstantKernel(1.0) * RBF(np.full(X.shape[1], 2.0), (0.1, 1e3)) + WhiteKernel(0.1, (1e-6, 10.0))
    learned = GaussianProcessRegressor(start, random_state=seed).fit(*draw_rows(X, y, GP_KERNEL_ROWS, seed))
    model = GaussianProcessRegressor(learned.kernel_, optimizer=None)
    return scaling.unscale(MeanOnly(model.fit(*draw_rows(X, y, GP_ROWS, seed))))
