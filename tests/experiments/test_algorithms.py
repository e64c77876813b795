import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.model_selection import cross_val_score

from takagi import TSKRegressor
from takagi.experiments import ALGORITHMS, list_algorithms, paper_algorithm

PAPER = {"learning_rate": 0.01, "keep_prob": 0.5, "l2": 0.05, "batch_size": 64, "max_iter": 1000}
OFF = {
    "schedule": "constant", "averaging": 0.0, "n_iter_no_change": None, "agreement": 0.0, "bounds": None,
    "extrapolation": "linear",
}  # fmt: skip


def regressor_of(model):
    return model if isinstance(model, TSKRegressor) else model[-1]


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(200, n_features=6, noise=0.5, random_state=0)


def test_table_has_the_paper_s_names():
    assert list(ALGORITHMS) == [
        "RR", "PCA-GP-RDA", "PCA-GP-RDpA", "PCA-FCM-RDA", "PCA-FCM-RDpA", "FCM-RDA", "FCM-RDpA", "RD-pAdaBound",
        "RD-SGDM", "RD-pSGDM", "RD-Adam", "RD-pAdam", "RD-AdaBelief", "rand-RDpA", "kM-RDpA", "FCM-RDpA'", "FCM-RDpA''",
        "FCM-RDpAx",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithm_fits_and_predicts(name, friedman):
    X, y = friedman
    model = paper_algorithm(name, n_rules=8, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.3


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "RR"])
def test_settings_are_the_paper_s_and_ours_are_off(name):
    params = regressor_of(paper_algorithm(name)).get_params()
    assert {key: params[key] for key in (*PAPER, *OFF)} == PAPER | OFF
    assert params["standardize"] is not True
    assert params["n_rules"] == 16


@pytest.mark.parametrize(
    ("name", "optimizer", "powerball"),
    [
        ("FCM-RDA", "adabound", 1.0),
        ("RD-pAdaBound", "adabound", 0.5),
        ("RD-SGDM", "sgdm", 1.0),
        ("RD-pSGDM", "sgdm", 0.5),
        ("RD-Adam", "adam", 1.0),
        ("RD-pAdam", "adam", 0.5),
        ("RD-AdaBelief", "adabelief", 1.0),
        ("FCM-RDpA", "adabelief", 0.5),
    ],
)
def test_eight_optimizers_have_their_names(name, optimizer, powerball):
    model = paper_algorithm(name)
    assert (model.optimizer, model.powerball, model.init) == (optimizer, powerball, "fcm")


def test_algorithms_with_pca_reduce_to_log2_of_the_rules(friedman):
    model = paper_algorithm("PCA-GP-RDpA", n_rules=16, random_state=0).fit(*friedman)
    assert model[1].n_components_ == 4
    assert model[-1].rule_base_.sets is not None
    assert model[-1].rule_base_.n_rules == 16


@pytest.mark.parametrize("name", ["PCA-GP-RDA", "PCA-FCM-RDpA"])
def test_algorithms_with_pca_need_a_power_of_two(name):
    with pytest.raises(ValueError, match=r"n_rules must be a power of two .* got 12"):
        paper_algorithm(name, n_rules=12)


def test_unknown_algorithm_gets_the_nearest_name():
    with pytest.raises(ValueError, match="did you mean 'FCM-RDpAx'"):
        paper_algorithm("FCM-RDpX")


def test_table_prints_the_paper_s_columns():
    text = str(list_algorithms())
    assert repr(list_algorithms()) == text
    assert len(text.splitlines()) == 2 + 18
    row = next(line for line in text.splitlines() if line.startswith("PCA-GP-RDpA"))
    assert row.split() == ["PCA-GP-RDpA", "yes", "shared", "GP", "AdaBelief", "yes", "X", "X", "3", "4"]
    assert max(map(len, text.splitlines())) <= 80


def test_tuned_models_can_be_cross_validated(friedman):
    scores = cross_val_score(paper_algorithm("PCA-FCM-RDpA", n_rules=32, random_state=0), *friedman, cv=3)
    assert np.isfinite(scores).all()
