"""Pilot fits run with a model's own settings."""

from dataclasses import replace

import numpy as np

from takagi.fitting._fitting import Fitting, PilotEnded
from takagi.fitting._pilots import Advice, Pilot, Strength, run_pilots
from takagi.fitting._recipe import Recipe
from takagi.fitting._rows import Rows
from takagi.fitting._verbose import tell_advice
from takagi.rulebase import RuleBase
from takagi.training import TrainConfig


def seek_advice(
    fitting: Fitting, recipe: Recipe, config: TrainConfig, rows: Rows, held_out: Rows | None, fraction: float
) -> Advice:
    """Return what pilot fits advise, or nothing where penalties are given; a line only where rules are not."""
    if not recipe.measures:
        return Advice(Strength(np.nan, np.nan), prefers_line=False)
    settings = replace(config, max_iter=max(1, config.max_iter // 2), n_iter_no_change=None)

    def fit(pilot: Pilot) -> RuleBase:
        n_rules = recipe.n_rules
        if recipe.is_open:  # else as many as asked for, since that many are to be judged
            n_rules = min(n_rules, pilot.max_rules, len(pilot.training.X))
        pilot_config = recipe.configure(settings, pilot.strength, pilot.training, fitting.scales_target)
        fitted = fitting.run(pilot.training, pilot.validation, n_rules, pilot_config)
        if fitted.result.stopped == "interrupted":
            raise PilotEnded(fitted)
        return fitted.rules

    advice = run_pilots(fit, rows, held_out, fraction, recipe.batch_size, fitting.rng)
    advice = advice._replace(prefers_line=advice.prefers_line and recipe.is_open)
    if fitting.verbose:
        tell_advice(advice)
    return advice
