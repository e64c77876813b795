"""Rules that training goes on from."""

from dataclasses import replace

import numpy as np

from takagi.fitting._rows import Units
from takagi.rulebase import RuleBase

_WIDE = 1e6  # in standard units: what stands for infinity while training, which moves finite numbers


def enter_units(rules: RuleBase, units: Units) -> RuleBase:
    """Return rules in standard units, without names and profile."""
    plain = replace(rules, feature_names=None, output_names=None, profile=None)
    return change_units(plain, no_units(rules.n_features, rules.n_outputs), units)


def close_sets(rules: RuleBase) -> RuleBase:
    """Return rules to train: with finite widths, very large ones where there is no condition."""
    return replace(rules, widths=np.where(np.isinf(rules.widths), _WIDE, rules.widths))


def reopen_sets(trained: RuleBase, start: RuleBase) -> RuleBase:
    """Return trained rules without a condition wherever the rules they started from have none."""
    return replace(trained, widths=np.where(np.isinf(start.widths), np.inf, trained.widths))


def change_units(rules: RuleBase, old: Units, new: Units) -> RuleBase:
    """Return rules for standard units as rules for other standard units, no digits lost by way of the data's."""
    return rules.rescale(
        (old.x_mean - new.x_mean) / new.x_scale,
        old.x_scale / new.x_scale,
        (old.y_mean - new.y_mean) / new.y_scale,
        old.y_scale / new.y_scale,
    )


def no_units(n_features: int, n_outputs: int) -> Units:
    """Return the units of the data itself."""
    return Units(np.zeros(n_features), np.ones(n_features), np.zeros(n_outputs), np.ones(n_outputs))


def check_start(rules: RuleBase, n_outputs: int) -> None:
    """Raise an error unless rules to go on from have so many outputs."""
    if rules.n_outputs != n_outputs:
        raise ValueError(
            f"The rules to go on from have {rules.n_outputs} target(s), but y has {n_outputs}. To start anew, set "
            "warm_start=False or clone the model."
        )
