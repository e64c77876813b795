"""Run by `overhead.py` in a fresh process: print the CPU seconds of imports and of the first two fits as JSON.

Imports are inside functions, since here they are what is measured.
"""

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable


def import_scikit_learn() -> None:
    """Import what takagi needs of scikit-learn."""
    import sklearn.base
    import sklearn.cluster
    import sklearn.decomposition  # noqa: F401


def import_takagi() -> None:
    """Import takagi, and numba with it."""
    import takagi  # noqa: F401


def fit_and_predict() -> None:
    """Fit one iteration, with all that surrounds it."""
    import numpy as np

    from takagi import TSKRegressor

    X = np.random.default_rng(0).normal(size=(500, 8))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    TSKRegressor(max_iter=1, random_state=0).fit(X, y).predict(X)


def time_step(step: Callable[[], None]) -> float:
    """Return the CPU seconds of a step."""
    start = time.process_time()
    step()
    return time.process_time() - start


STEPS = {
    "import sklearn": import_scikit_learn,
    "import takagi": import_takagi,
    "first": fit_and_predict,
    "second": fit_and_predict,
}

if __name__ == "__main__":
    logging.getLogger("takagi").addHandler(logging.StreamHandler(sys.stderr))
    warnings.simplefilter("ignore")
    print(json.dumps({name: time_step(step) for name, step in STEPS.items()}))
