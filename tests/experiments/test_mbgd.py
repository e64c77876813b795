"""The classifiers of 2020: against an oracle, finite differences, and a run of the authors' torch code."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_val_score

from takagi.experiments import MBGDClassifier, paper_algorithm
from takagi.experiments._mbgd import measure_balanced
from takagi.experiments._mbgd_network import (
    Network,
    Parameters,
    Prices,
    differentiate_network,
    find_loss,
    fire_rules,
    join_parameters,
    split_parameters,
)

TORCH_RUN = Path(__file__).parents[1] / "data" / "reference" / "mbgd.npz"
NAMES = ("MBGD", "MBGD-BN", "MBGD-UR", "MBGD-UR-BN")


def oracle_loss(parameters, X, normalized, y, l2, uniformity):
    """The loss row by row and rule by rule, from the paper's equations (1) to (8) and the torch code."""
    C, S, W, gamma, beta = parameters
    n_rules, n_classes = W.shape[1:]
    lost, mean_share = 0.0, np.zeros(n_rules)
    for x, z, label in zip(X, normalized, y, strict=True):
        firing = np.array([np.prod(np.exp(-((x - C[r]) ** 2) / (2 * S[r] ** 2))) for r in range(n_rules)])
        share = firing / (firing.sum() + 1e-8)
        inputs = np.r_[1.0, gamma * z + beta]
        logits = sum(share[r] * np.array([inputs @ W[:, r, c] for c in range(n_classes)]) for r in range(n_rules))
        lost -= np.log(np.exp(logits[label]) / np.exp(logits).sum()) / len(y)
        mean_share += share / len(y)
    return lost + l2 * (W[1:] ** 2).sum() + uniformity * ((mean_share - 1 / n_classes) ** 2).sum()


def make_batch(seed, n_rules=4, n_features=3, n_classes=3, n_rows=12, reach=1.0):
    """Random parameters, rows, normalized rows and classes."""
    rng = np.random.default_rng(seed)
    sets = (n_rules, n_features)
    parameters = Parameters(
        rng.normal(size=sets), rng.normal(1, 0.2, size=sets), rng.normal(size=(1 + n_features, n_rules, n_classes)),
        rng.normal(1, 0.2, size=n_features), rng.normal(size=n_features),
    )  # fmt: skip
    X = reach * rng.normal(size=(n_rows, n_features))
    return parameters, X, (X - X.mean(axis=0)) / X.std(axis=0), rng.integers(0, n_classes, n_rows)


BATCHES = pytest.mark.parametrize(
    "batch", [make_batch(0), make_batch(1, n_classes=2), make_batch(2, n_rules=1), make_batch(3, reach=4.0)],
    ids=["several classes", "two classes", "one rule", "rows far from all rules"],
)  # fmt: skip


@BATCHES
def test_loss_equals_the_oracles(batch):
    parameters, X, normalized, y = batch
    one_hot = np.eye(parameters.consequents.shape[2])[y]
    expected = oracle_loss(parameters, X, normalized, y, 0.3, 2.0)
    assert find_loss(parameters, X, normalized, one_hot, Prices(0.3, 2.0)) == pytest.approx(expected, rel=1e-12)


@BATCHES
@pytest.mark.parametrize("penalties", [Prices(0.0, 0.0), Prices(0.3, 5.0)], ids=["plain", "penalized"])
def test_gradient_equals_finite_differences_of_the_oracle(batch, penalties):
    parameters, X, normalized, y = batch
    n_rules, n_classes = parameters.consequents.shape[1:]
    theta, step = join_parameters(parameters), 1e-6
    expected = np.empty_like(theta)
    for i in range(len(theta)):
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[i] += sign * step
            arrays = split_parameters(moved, n_rules, n_classes)
            ends.append(oracle_loss(arrays, X, normalized, y, penalties.l2, penalties.uniformity))
        expected[i] = (ends[0] - ends[1]) / (2 * step)
    found = join_parameters(differentiate_network(parameters, X, normalized, np.eye(n_classes)[y], penalties))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_rows_far_from_all_rules_have_shares_that_do_not_sum_to_one():
    parameters, X, _, _ = make_batch(4)
    assert fire_rules(parameters, X + 30, X).share.sum() < 1e-6
    assert fire_rules(parameters, X + 30, X).value == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("uniformity", [0, 2])
def test_the_run_of_the_authors_torch_code_is_replayed(batch_norm, uniformity):
    """150 steps of ClsTSK with AdaBound in double precision; made as tests/data/reference/README.md says."""
    with np.load(TORCH_RUN) as arrays:
        run = dict(arrays)
    network = Network(run["centers"], 3, np.random.RandomState(0), batch_norm)
    network.parameters.widths[:] = run["widths"]
    network.parameters.consequents[1:] = run["weights"].transpose(1, 0, 2)
    for order in run["order"]:
        network.run_epoch(run["X"], np.eye(3)[run["y"]], order, 16, 0.01, Prices(0.05, uniformity))
    name, trained = f"bn{int(batch_norm)}_ur{uniformity}__", network.parameters
    np.testing.assert_allclose(trained.centers, run[f"{name}centers"], rtol=1e-10)
    np.testing.assert_allclose(trained.widths, run[f"{name}widths"], rtol=1e-10)
    np.testing.assert_allclose(trained.consequents[1:].transpose(1, 0, 2), run[f"{name}weights"], rtol=1e-9)
    np.testing.assert_allclose(trained.consequents[0], run[f"{name}biases"], rtol=1e-9)
    folded = fire_rules(network.fold(), run["X"], run["X"])
    np.testing.assert_allclose(folded.value, run[f"{name}value"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(folded.share, run[f"{name}share"], rtol=1e-9, atol=1e-15)
    assert folded.share.sum(axis=1).min() < 0.5  # some rows are far from all rules


def test_balanced_accuracy_is_the_mean_over_classes_that_are_there():
    assert measure_balanced(np.array([True, True, True, False]), np.array([0, 0, 0, 2])) == 0.5


# -- the estimator -----------------------------------------------------------------------------------------------------


def quick(**params):
    return MBGDClassifier(**({"n_rules": 6, "uniformities": (1.0,), "n_trials": 2, "max_epochs": 60} | params))


@pytest.mark.parametrize("name", NAMES)
def test_algorithms_have_the_papers_settings(name):
    params = paper_algorithm(name).get_params()
    assert params["batch_norm"] == name.endswith("BN")
    assert params["uniformities"] == ((0.1, 1, 10, 20, 50) if "UR" in name else (0,))
    assert (params["n_rules"], params["l2"], params["learning_rate"], params["batch_size"]) == (20, 0.05, 0.01, 64)
    assert (params["max_epochs"], params["patience"], params["n_trials"]) == (2000, 40, 5)
    assert paper_algorithm(name, n_rules=7).n_rules == 7


@pytest.mark.parametrize("name", NAMES)
def test_algorithms_fit_and_predict(name):
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    model = paper_algorithm(name, n_rules=5, random_state=0).set_params(max_epochs=60, n_trials=1).fit(X, words)
    assert model.score(X, words) > 0.93
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()
    assert model.consequents_.shape == (5, 3, 5)


def test_two_classes_have_an_output_each():
    X, y = make_classification(150, n_features=5, random_state=0)
    model = quick(random_state=0).fit(X, y)
    assert model.consequents_.shape == (6, 2, 6)
    assert cross_val_score(quick(random_state=0), X, y, cv=3).mean() > 0.8


def test_the_same_seed_gives_the_same_model():
    X, y = load_iris(return_X_y=True)
    one, two, other = (quick(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_the_uniformity_is_one_of_those_given_and_evens_out_the_shares():
    X, y = make_classification(200, n_features=6, n_informative=4, random_state=1)
    chosen = quick(uniformities=(0.5, 3.0), random_state=0).fit(X, y)
    assert chosen.uniformity_ in (0.5, 3.0)
    spread = []
    for uniformity in (0.0, 50.0):
        model = quick(uniformities=(uniformity,), n_trials=1, patience=60, random_state=0).fit(X, y)
        rows = model._scaler.transform(X)
        spread.append(fire_rules(model._rules, rows, rows).share.mean(axis=0).std())
    assert spread[1] < 0.5 * spread[0]


def test_training_ends_when_accuracy_does_not_rise():
    X, y = load_iris(return_X_y=True)
    assert 1 <= quick(patience=3, max_epochs=500, random_state=0).fit(X, y).n_epochs_ < 200


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes, got one class, 1"):
        quick().fit(np.eye(3), [1, 1, 1])
