"""Compiling before the first fit."""

import time
import warnings

import numpy as np

from takagi import kernels
from takagi.estimators import FuzzyCMeans, TSKClassifier, TSKCommittee, TSKRegressor
from takagi.initializers import GridInitializer


def warm_up() -> tuple[str, float]:
    """Compile the code of fits and predictions, unless it is cached; return the folder of the cache, and the seconds.

    Small models of every kind are fitted. Code for user-defined optimizers and feasible sets is not compiled.
    """
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    small = TSKRegressor(n_rules=2, max_iter=2, recipe="droprule", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TSKRegressor(max_iter=2, random_state=0).fit(X, y).predict(X)
        for projection in (None, "shared"):
            small.set_params(projection=projection).fit(X, y).predict(X)
        small.set_params(projection=None)
        TSKRegressor(4, max_iter=2, recipe="droprule", init=GridInitializer(2), random_state=0).fit(X, y)
        TSKClassifier(max_iter=2, random_state=0).fit(X, y > 1).predict(X)
        TSKCommittee(2, small, random_state=0).fit(X, y).predict(X)
        FuzzyCMeans(2, random_state=0).fit(X).transform(X)
    folder = kernels.train_block.stats.cache_path
    if folder is None:
        raise OSError("no folder for compiled code can be written to; set TAKAGI_CACHE_DIR to one that can.")
    return folder, time.perf_counter() - start
