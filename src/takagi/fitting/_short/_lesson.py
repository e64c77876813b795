"""Distillation of a large model into short rules, which are then reduced."""

import numpy as np

from takagi.fitting._rows import Rows, Units, measure_units, merge_equal_rows
from takagi.fitting._short._fit import fit_size, say_little
from takagi.fitting._short._noise import measure_noise
from takagi.fitting._short._workshop import Limits
from takagi.rulemodel import RuleModel

ROWS_OF_PUPIL = 700  # rows that determine the structure of rules that are reduced further
_NOISE_ROWS = 1_000
_LEAST_NOISE = 1e-4
_MOST_USED = 0.9  # of the rows, by parameters


def teach_short(model: RuleModel, rows: Rows, limits: Limits, rng: np.random.Generator) -> tuple[RuleModel, float]:
    """Return short rules distilled from a larger model, and the noise of the targets.

    They are fitted to the means of the targets and of the model's predictions. So half of the noise remains in these
    means, and a quarter of its variance. The noise is the error of a support vector machine, or of the short rules if
    that is smaller.
    """
    lesson = merge_equal_rows(rows._replace(y=(rows.y + model.predict_raw(rows.X)) / 2)).balance()
    units, own = (measure_units(part, scales_inputs=True, scales_target=True) for part in (rows, lesson))
    noise = measure_noise(units.standardize(rows).fill(), rng, _NOISE_ROWS)
    varies = (np.ptp(rows.fill().X, axis=0) > 0).any()
    # few rows with many columns may explain nothing of the targets, but more of the model's predictions
    heard = measure_noise(own.standardize(lesson).fill(), rng, _NOISE_ROWS) if noise.is_all and varies else noise
    if heard.is_all or not varies:
        return say_little(lesson, own.standardize(lesson), limits.max_terms, rng), noise.part
    share = 1.0 if noise.is_all else 0.25 * float(np.mean((units.y_scale / own.y_scale) ** 2))
    of_lesson = float(np.clip(share * heard.part, _LEAST_NOISE, 1.0))
    pupil = fit_size(lesson, of_lesson, limits, None, n_fits=1, coarse_rows=ROWS_OF_PUPIL).model
    return pupil, max(_LEAST_NOISE, min(noise.part, _measure_rest(pupil, rows, units)))


def _measure_rest(model: RuleModel, rows: Rows, units: Units) -> float:
    """Return the fraction of unexplained variance to expect on new rows, by generalized cross-validation."""
    n_parameters = sum(
        2 * int(np.isfinite(part.widths).sum()) + int(np.count_nonzero(part.consequents[:, 0])) for part in model.parts
    )
    squares = (((model.predict_raw(rows.X) - rows.y) / units.y_scale) ** 2).mean(axis=1)
    used = min(_MOST_USED, n_parameters / len(rows.X))
    return float(np.average(squares, weights=rows.weight)) / (1 - used) ** 2
