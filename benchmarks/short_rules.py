"""Print the short rules of six tables, and whether they are true on rows that took no part in the fit.

Usage: python benchmarks/short_rules.py [SET ...]
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TSKRegressor
from takagi.datasets import load_dataset
from takagi.inspection import check_rules, export_text, measure_size

SETS = ("Housing", "autoMPG", "Concrete", "Airfoil", "NO2", "Yacht")


def show_rules(name):
    """Fit on 85 % of a set, print the rules, and check them on the rest."""
    X, y = load_dataset(name, return_X_y=True, as_frame=True)
    order = np.random.default_rng(1).permutation(len(y))
    training, test = np.split(order, [round(0.85 * len(order))])
    model = TSKRegressor(recipe="short", random_state=0).fit(X.iloc[training], y.iloc[training])
    ridge = make_pipeline(StandardScaler(), Ridge(0.05)).fit(X.iloc[training], y.iloc[training])
    of_ridge = root_mean_squared_error(y.iloc[test], ridge.predict(X.iloc[test]))
    found = check_rules(model, X.iloc[test], y.iloc[test]).summary
    size = measure_size(model)
    print(f"== {name}: {size.n_rules} rules, {size.n_conditions} conditions, {size.n_terms} terms")
    print(
        f"test error {found['error']:.3g} ({found['error'] / of_ridge:.2f} of ridge's), strongest rules alone "
        f"{found['strongest']:.3g}; holds {found['holds']:.0%}, governs {found['governs']:.0%}\n"
    )
    print(export_text(model), "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    for name in sys.argv[1:] or SETS:
        show_rules(name)
