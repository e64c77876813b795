"""Short rules for classes: grown for log-odds near those of a teacher, then trained around their own outputs.

They are fitted to the working response of the log loss (see `linearize`), so that in the end they minimize the log
loss. If the expected loss of logistic regression within the same limits is as small, it is the model.
"""

from dataclasses import replace

import numpy as np

from takagi._messages import warn_user
from takagi.fitting._logistic import find_link, find_logits, fit_logistic
from takagi.fitting._plan import Plan
from takagi.fitting._rows import Rows, measure_units
from takagi.fitting._screening import find_repeats, spread_rules
from takagi.fitting._short._fit import Short, choose_limits, fit_size, tell_formula
from takagi.fitting._short._formulas import fit_logistic_formulas
from takagi.fitting._short._likelihood import linearize, measure_log_loss, shrink, train_on
from takagi.fitting._short._noise import choose_slopes, measure_few_slopes, measure_noise
from takagi.fitting._short._workshop import say_mean
from takagi.fitting._training import Watch
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel

_WAY = 0.5  # fraction of the way from a teacher's log-odds to the working response


def fit_short_classes(rows: Rows, teacher: RuleModel, plan: Plan, rng: np.random.Generator, watch: Watch) -> Short:
    """Fit a sum of rule bases to classes, within the same limits as for numbers, given rules that may be long."""
    watch.begin("noise")
    standard = measure_units(rows, scales_inputs=True, scales_target=True).standardize(rows)
    noise = measure_noise(standard.fill(), rng)
    watch.count(0)
    if noise.is_all or not (np.ptp(rows.fill().X, axis=0) > 0).any():
        model = RuleModel((_say_little(rows, standard, plan.max_terms, rng),))
        return Short(model, np.array([measure_log_loss(model, rows)]), "no_change", (0.0, 0.0))
    response, part = linearize(rows, teacher.predict_raw(rows.X), _WAY)
    limits = choose_limits(response, part, plan, rng, watch)
    watch.begin("growing")
    watch.expect(limits.n_rules)
    short = fit_size(response, part, limits, watch, n_fits=1)
    watch.count(len(short.losses))
    model, losses = train_on(short.model, rows, limits.agreement)
    (model, expected), (formulas, expected_of_formulas) = shrink(model, rows), fit_logistic_formulas(rows, limits)
    if expected_of_formulas <= expected:
        model, losses = formulas, np.array([measure_log_loss(formulas, rows)])
        short = short._replace(stopped="no_change")
    tell_formula(model, limits)
    return short._replace(model=model, losses=losses, repeats=tuple(find_repeats(standard.fill().X)))


def _say_little(rows: Rows, standard: Rows, max_terms: int, rng: np.random.Generator) -> RuleBase:
    """Return one rule: logistic regression with few features if they are useful, else the class frequencies."""
    slopes = measure_few_slopes(standard, max_terms, rng)
    if slopes > 0:
        warn_user("No rules do better than expected by chance: the model is one formula, without conditions.")
        features = choose_slopes(rows, max_terms)
        return spread_rules(fit_logistic(rows.take_features(features), slopes), features, rows.X.shape[1])
    warn_user("No column was found that predicts the classes: the model predicts the class frequencies.")
    frequencies = np.broadcast_to(find_logits(rows.y, rows.weight), rows.y.shape)
    return replace(say_mean(rows._replace(y=frequencies)).first, link=find_link(rows.y))
