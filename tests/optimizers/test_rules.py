from dataclasses import fields

import pytest

from takagi import kernels
from takagi.optimizers import OPTIMIZERS, SGDM, AdaBelief


def test_names_stand_for_compiled_rules():
    assert {name: optimizer.rule for name, optimizer in OPTIMIZERS.items() if hasattr(optimizer, "rule")} == {
        "sgdm": kernels.MOMENTUM,
        "adam": kernels.ADAM,
        "adabound": kernels.ADABOUND,
        "adabelief": kernels.ADABELIEF,
    }


def test_constants_reach_the_kernel():
    optimizer = AdaBelief(beta1=0.8, beta2=0.99, epsilon=1e-3)
    assert (optimizer.beta1, optimizer.beta2, optimizer.epsilon) == (0.8, 0.99, 1e-3)
    assert SGDM(beta1=0.5).beta1 == 0.5


@pytest.mark.parametrize("optimizer", OPTIMIZERS.values())
def test_optimizers_are_values(optimizer):
    assert optimizer == type(optimizer)()
    with pytest.raises(AttributeError):
        setattr(optimizer, fields(optimizer)[0].name, 0.5)


@pytest.mark.parametrize("constants", [{"beta1": 1.0}, {"beta2": 2.0}, {"epsilon": -1.0}])
def test_constants_out_of_range_are_refused(constants):
    with pytest.raises(ValueError, match=f"{next(iter(constants))} must"):
        AdaBelief(**constants)
