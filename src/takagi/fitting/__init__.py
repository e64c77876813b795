"""Fitting: rows and the settings of an estimator in, fitted rules out.

`make_plan` resolves the settings to numbers, and `fit_rules` is the recipe from top to bottom: pilots that measure the
noise, training, teachers. Estimators, streams and committees are front ends of these two.
"""

from takagi.fitting._fit import (
    Fitted,
    add_profile,
    calibrate_model,
    cross_validate,
    finish_fit,
    fit_ridge_instead,
    fit_rules,
    predict_out_of_fold,
    sharpen_fit,
    sharpen_members,
    widen_limits,
)
from takagi.fitting._formulas import update_formulas
from takagi.fitting._pilots import Mix, measure_entropy, run_pilots
from takagi.fitting._plan import AGREEMENT, RECIPES, Penalties, Plan, check_trains, heed_noise, make_plan
from takagi.fitting._rows import (
    MAX_VALIDATION_ROWS,
    STEP,
    Rows,
    Units,
    draw_order,
    find_errors,
    is_constant,
    measure_columns,
    measure_rms,
    measure_spread,
    measure_units,
    merge_equal_rows,
    mix_bits,
    stack_rows,
)
from takagi.fitting._short import Limits, can_be_reduced, fit_short_classes, reduce_model, teach_short
from takagi.fitting._training import (
    Stage,
    Watch,
    bound_by_range,
    center_logits,
    forget_data,
    initialize,
    train_rules,
)

__all__ = [
    "AGREEMENT",
    "MAX_VALIDATION_ROWS",
    "RECIPES",
    "STEP",
    "Fitted",
    "Limits",
    "Mix",
    "Penalties",
    "Plan",
    "Rows",
    "Stage",
    "Units",
    "Watch",
    "add_profile",
    "bound_by_range",
    "calibrate_model",
    "can_be_reduced",
    "center_logits",
    "check_trains",
    "cross_validate",
    "draw_order",
    "find_errors",
    "finish_fit",
    "fit_ridge_instead",
    "fit_rules",
    "fit_short_classes",
    "forget_data",
    "heed_noise",
    "initialize",
    "is_constant",
    "make_plan",
    "measure_columns",
    "measure_entropy",
    "measure_rms",
    "measure_spread",
    "measure_units",
    "merge_equal_rows",
    "mix_bits",
    "predict_out_of_fold",
    "reduce_model",
    "run_pilots",
    "sharpen_fit",
    "sharpen_members",
    "stack_rows",
    "teach_short",
    "train_rules",
    "update_formulas",
    "widen_limits",
]
