import signal

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import RuleBase, TSKRegressor
from takagi.profile import measure_profile
from takagi.tables import TableEncoder

matplotlib.use("agg")
# Everyone tests the same examples, so that a failure is there for all; `--hypothesis-profile=default` draws new ones.
settings.register_profile("same", derandomize=True, max_examples=60)
settings.load_profile("same")


def pytest_configure():
    """Let Ctrl-C be what it is in a terminal: a shell's background jobs begin with a deaf ear to it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def one_process():
    """Score in the process of the tests; others take seconds to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("takagi.workflow._scores.N_JOBS", 1)
        yield


@pytest.fixture(autouse=True)
def close_figures():
    """Close what a test has drawn, also where it looks at texts only: open figures add up to a warning."""
    yield
    if plt.get_fignums():
        plt.close("all")


@pytest.fixture(scope="session")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return (
        TSKRegressor(n_rules=3, recipe="droprule", max_iter=200, random_state=0).fit(X, y.rename("progression")),
        X,
        y,
    )


@pytest.fixture(scope="session")
def cars():
    """A pipeline over a table with a category, a boolean and missing numbers."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "km": rng.uniform(0, 200, 300).round(),
            "fuel": rng.choice(["diesel", "petrol", "gas"], 300),
            "garage": rng.random(300) < 0.5,
            "noise": rng.normal(size=300),
        }
    )
    price = 30 - 0.1 * table["km"] + 5 * (table["fuel"] == "diesel") * (table["km"] > 100) + 2 * table["garage"]
    table.loc[::10, "km"] = np.nan
    model = make_pipeline(
        TableEncoder(), StandardScaler(), TSKRegressor(n_rules=4, recipe="droprule", max_iter=2000, random_state=0)
    )
    return model.fit(table, price.rename("price")), table, price


@pytest.fixture(scope="session")
def several():
    """A model of two outputs with projections."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=["a", "b", "c"])
    Y = pd.DataFrame({"sum": X.sum(axis=1), "product": X["a"] * X["b"]})
    return (
        TSKRegressor(n_rules=4, recipe="droprule", projection="separate", max_iter=200, random_state=0).fit(X, Y),
        X,
        Y,
    )


@pytest.fixture(scope="session")
def by_hand():
    """Rules written down, with data, so that texts about them are the same on any machine."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(6.2, 0.7, 500), rng.uniform(0, 100, 500)])
    rules = RuleBase(
        centers=[[6.8, 20.0], [5.5, 60.0]],
        widths=[[0.4, 25.0], [0.5, 40.0]],
        consequents=[[[3.2, 4.1, -0.01234]], [[12.0, 0.7, -0.1]]],
        feature_names=["rooms", "age"],
        output_names=["price"],
    )
    profile = measure_profile((X, rules.predict(X)[:, None]), rules.firing_share)
    return RuleBase(
        rules.centers,
        rules.widths,
        rules.consequents,
        feature_names=rules.feature_names,
        output_names=rules.output_names,
        profile=profile,
    ), X
