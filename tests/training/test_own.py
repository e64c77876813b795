"""Optimizers and feasible sets of one's own, against the compiled ones and against definitions."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import isotonic_regression

from cases import PROJECTIONS, make_rules, to_takagi
from takagi import TrainConfig, train
from takagi.optimizers import OPTIMIZERS, SGDM
from takagi.training import Bounds


@dataclass(frozen=True)
class OwnSGDM:
    beta1: float = 0.9

    def phi(self, g, m, t):
        return self.beta1 * m + g

    def psi(self, g, m, v, t):
        return np.ones_like(g)

    def omega(self, alpha, v, t):
        return alpha


@dataclass(frozen=True)
class OwnAdam:
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def phi(self, g, m, t):
        return self.beta1 * m + (1 - self.beta1) * g

    def psi(self, g, m, v, t):
        return self.beta2 * v + (1 - self.beta2) * g**2

    def omega(self, alpha, v, t):
        return alpha / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon) / (1 - self.beta1**t)


class OwnAdaBelief(OwnAdam):
    def psi(self, g, m, v, t):
        return self.beta2 * v + (1 - self.beta2) * (g - m) ** 2


class OwnAdaBound(OwnAdam):
    def omega(self, alpha, v, t):
        low = alpha * (1 - self.beta2) * t / ((1 - self.beta2) * t + 1)
        high = alpha * ((1 - self.beta2) * t + 1) / ((1 - self.beta2) * t)
        return np.clip(alpha / (np.sqrt(v / (1 - self.beta2**t)) + self.epsilon), low, high) / (1 - self.beta1**t)


OWN = {"sgdm": OwnSGDM(), "adam": OwnAdam(), "adabound": OwnAdaBound(), "adabelief": OwnAdaBelief()}


@dataclass(frozen=True)
class Everywhere:
    """The set of all parameters."""

    def project(self, parameters, v):
        return parameters


@dataclass(frozen=True)
class Box:
    """Bounds of centers, as a set of one's own."""

    def project(self, parameters, v):
        return parameters | {"centers": np.clip(parameters["centers"], -0.5, 0.5)}


@dataclass(frozen=True)
class OrderedCenters:
    """Centers of the first feature in the order of the rules."""

    def project(self, parameters, v):
        centers, weights = parameters["centers"].copy(), np.sqrt(v["centers"][:, 0]) + 1e-12
        centers[:, 0] = isotonic_regression(centers[:, 0], sample_weight=weights)
        return parameters | {"centers": centers}


def run(start, config, with_validation=True, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, start.n_features))
    y = rng.normal(size=(60, start.n_outputs)) + X[:, :1]
    validation = (X[40:], y[40:]) if with_validation else (None, None)
    return train(start, X[:40], y[:40], *validation, config, rng=np.random.default_rng(1), **options)


def make_start(projection="none", **sizes):
    sizes = {"n_rules": 9, "n_features": 3, "n_outputs": 2} | sizes
    return to_takagi(make_rules(np.random.default_rng(3), projection=projection, **sizes))


def assert_equal_runs(found, expected, atol):
    assert (found.best_iter, found.stopped, found.n_iter) == (expected.best_iter, expected.stopped, expected.n_iter)
    for name in ("train_loss", "val_loss"):
        np.testing.assert_allclose(found.history[name], expected.history[name], rtol=0, atol=atol)
    for name in ("centers", "widths", "consequents"):
        values = getattr(expected.rule_base, name)
        np.testing.assert_allclose(getattr(found.rule_base, name), values, rtol=0, atol=atol)


# ----------------------------------------------------------------------------------------------------------------------
# Optimizers
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("powerball", [0.5, 1.0])
@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("rule", OWN)
def test_the_rules_of_the_paper_in_numpy_give_the_compiled_results(rule, projection, powerball):
    start = make_start(projection)
    config = TrainConfig(powerball=powerball, learning_rate=0.003, batch_size=16, max_iter=300)
    compiled, own = (run(start, replace(config, optimizer=one)) for one in (OPTIMIZERS[rule], OWN[rule]))
    assert_equal_runs(own, compiled, 1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"schedule": "cosine"},
        {"averaging": 0.9},
        {"n_iter_no_change": 20, "learning_rate": 0.3},
        {"loss": "squared", "keep_prob": 1.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("with_validation", [True, False])
def test_settings_act_on_own_optimizers_as_on_compiled_ones(settings, with_validation):
    config = TrainConfig(**({"max_iter": 300, "batch_size": 16} | settings))
    compiled, own = (
        run(make_start(n_sets=2), replace(config, optimizer=one[rule]), with_validation)
        for rule, one in (("adabelief", OPTIMIZERS), ("adabelief", OWN))
    )
    assert_equal_runs(own, compiled, 1e-9)


def test_own_optimizers_keep_to_bounds_and_leave_absent_conditions():
    start = make_start()
    start = replace(start, widths=np.where(np.arange(3) == 1, np.inf, start.widths))
    bounds = Bounds(centers=(-0.5, 0.5), widths=(0.5, 4.0))
    config = TrainConfig(max_iter=100, learning_rate=0.05)
    compiled, own = (run(start, replace(config, optimizer=one["adam"]), bounds=bounds) for one in (OPTIMIZERS, OWN))
    assert_equal_runs(own, compiled, 1e-9)
    assert np.isinf(own.rule_base.widths[:, 1]).all()


def test_an_own_optimizer_that_diverges_ends_with_finite_rules():
    result = run(make_start(), TrainConfig(OwnSGDM(), learning_rate=1e300, powerball=1.0, max_iter=50))
    assert result.stopped == "diverged"
    assert np.isfinite(result.rule_base.consequents).all()


def test_objects_without_the_three_functions_are_refused():
    with pytest.raises(TypeError, match="or one with phi, psi and omega, got 7"):
        TrainConfig(optimizer=7)


# ----------------------------------------------------------------------------------------------------------------------
# Feasible sets
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", OPTIMIZERS)
@pytest.mark.parametrize("averaging", [0.0, 0.9])
def test_the_set_of_everything_changes_no_bit(rule, averaging):
    config = TrainConfig(OPTIMIZERS[rule], max_iter=100, averaging=averaging)
    free, own = (run(make_start(), config, bounds=bounds) for bounds in (None, Everywhere()))
    assert own.rule_base == free.rule_base
    np.testing.assert_array_equal(own.history["val_loss"], free.history["val_loss"])


@pytest.mark.parametrize("optimizer", [OPTIMIZERS["adabelief"], OWN["adabelief"]], ids=["compiled", "own"])
def test_a_box_of_ones_own_equals_bounds(optimizer):
    config = TrainConfig(optimizer, max_iter=100, learning_rate=0.05)
    bounded, own = (run(make_start(), config, bounds=bounds) for bounds in (Bounds(centers=(-0.5, 0.5)), Box()))
    assert own.rule_base == bounded.rule_base
    assert own.start_loss == bounded.start_loss


def test_v_weighs_the_projection():
    """One step: what training returns is the minimum of the norm of Algorithm 2 over ordered centers."""
    start = make_start()
    start = replace(start, centers=np.sort(start.centers, axis=0))
    config = TrainConfig(OwnAdam(epsilon=0.05), learning_rate=0.5, powerball=1.0, keep_prob=1.0, max_iter=1)
    seen = {}

    @dataclass(frozen=True)
    class Watched(OrderedCenters):
        def project(self, parameters, v):
            seen["point"], seen["v"] = parameters["centers"][:, 0].copy(), v["centers"][:, 0].copy()
            return super().project(parameters, v)

    found = run(start, config, bounds=Watched()).rule_base.centers[:, 0]
    assert (np.diff(seen["point"]) < 0).any()
    assert np.ptp(seen["v"]) > 0
    weights = np.sqrt(seen["v"]) / np.sqrt(seen["v"]).max()
    order = {"type": "ineq", "fun": np.diff}
    nearest = minimize(
        lambda c: (weights * (c - seen["point"]) ** 2).sum(), np.sort(seen["point"]), constraints=order, tol=1e-14
    )
    np.testing.assert_allclose(found, nearest.x, atol=1e-4)


def test_the_start_is_projected_first():
    result = run(make_start(), TrainConfig(max_iter=0), bounds=OrderedCenters())
    assert (np.diff(result.rule_base.centers[:, 0]) >= 0).all()
    assert (np.diff(make_start().centers[:, 0]) < 0).any()


def test_v_is_one_for_momentum_alone():
    seen = []

    class Watched(Everywhere):
        def project(self, parameters, v):
            seen.append(v["centers"])
            return parameters

    run(make_start(), TrainConfig(SGDM(), max_iter=2), bounds=Watched())
    np.testing.assert_array_equal(seen, np.ones((3, 9, 3)))


def test_what_cannot_project_is_refused():
    with pytest.raises(TypeError, match=r"bounds must be a Bounds or an object that can project, got \(0, 1\)"):
        run(make_start(), TrainConfig(max_iter=1), bounds=(0, 1))


def test_a_projection_must_return_every_part():
    class Forgetful:
        def project(self, parameters, v):
            return {"centers": parameters["centers"]}

    with pytest.raises(ValueError, match=r"project must return widths of shape \(9, 3\)"):
        run(make_start(), TrainConfig(max_iter=1), bounds=Forgetful())
