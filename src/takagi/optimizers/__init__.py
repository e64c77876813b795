"""Update rules: SGDM, Adam, AdaBound and AdaBelief; with a Powerball exponent, the paper's eight optimizers."""

from takagi.optimizers._rules import SGDM, AdaBelief, AdaBound, Adam
from takagi.optimizers._spec import Optimizer, OwnOptimizer

OPTIMIZERS: dict[str, Optimizer | OwnOptimizer] = {
    "sgdm": SGDM(),
    "adam": Adam(),
    "adabound": AdaBound(),
    "adabelief": AdaBelief(),
}

__all__ = ["OPTIMIZERS", "SGDM", "AdaBelief", "AdaBound", "Adam", "Optimizer", "OwnOptimizer"]
