"""Logistic regression within the limits of short rules: a sum of formulas that always hold, and its expected loss."""

from dataclasses import replace

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.fitting._logistic import choose_penalty, find_link, fit_logistic
from takagi.fitting._rows import Rows, measure_columns, standardize_columns
from takagi.fitting._screening import spread_rules
from takagi.fitting._short._likelihood import measure_log_loss
from takagi.fitting._short._workshop import Limits
from takagi.rulebase import RuleBase, apply_link
from takagi.rulemodel import RuleModel

_PART = 3  # one in this many of the surplus slopes is dropped at a time


def fit_formulas(rows: Rows, limits: Limits) -> tuple[RuleModel, float]:
    """Return logistic regression with as many slopes as all rules may have terms, and its expected log loss.

    It is a sum of formulas with a limited number of terms. The expected loss on new rows is that on the training rows
    plus the effective number of slopes over the number of rows.
    """
    penalty = choose_penalty(rows)
    features = _eliminate(rows, limits.n_rules * limits.max_terms, penalty)
    few = rows.take_features(features)
    line = fit_logistic(few, penalty=penalty)
    loss, n_parameters = measure_log_loss(RuleModel((line,)), few), _count_effective(few, line, penalty)
    order = np.argsort(-_size_slopes(few, line), kind="stable")
    groups = [order[start : start + limits.max_terms] for start in range(0, len(order), limits.max_terms)]
    parts = _cut(line, groups, measure_columns(few.X, few.weight)[0])
    model = RuleModel(tuple(spread_rules(part, features, rows.X.shape[1]) for part in parts))
    return model, loss + n_parameters / len(rows.X)


def _eliminate(rows: Rows, n_slopes: int, penalty: float) -> IntArray:
    """Return the features that remain after backward elimination of those with the smallest slopes."""
    features = np.flatnonzero(np.ptp(rows.fill().X, axis=0) > 0)
    while len(features) > n_slopes:
        few = rows.take_features(features)
        order = np.argsort(_size_slopes(few, fit_logistic(few, penalty=penalty)), kind="stable")
        features = np.sort(features[order[max(1, (len(features) - n_slopes) // _PART) :]])
    return features


def _size_slopes(rows: Rows, line: RuleBase) -> FloatArray:
    """Return the change of the log-odds per standard deviation of each feature, over all outputs."""
    return np.abs(line.consequents[0, :, 1:]).sum(axis=0) * measure_columns(rows.X, rows.weight)[1]


def _count_effective(rows: Rows, line: RuleBase, penalty: float) -> float:
    """Return the effective number of slopes of penalized logistic regression: the trace of (H + penalty)^-1 H."""
    mean, scale = measure_columns(rows.X, rows.weight)
    Z, p = standardize_columns(rows.X, mean, scale), apply_link(line.predict_raw(rows.X), find_link(rows.y))
    total = 0.0
    for chance in p.T:
        curvature = Z.T @ (Z * (rows.weight * chance * (1 - chance))[:, None])
        total += float(np.trace(np.linalg.solve(curvature + penalty * np.eye(len(curvature)), curvature)))
    return total * max(1, p.shape[1] - 1) / p.shape[1]


def _cut(line: RuleBase, groups: list[IntArray], mean: FloatArray) -> list[RuleBase]:
    """Return a formula as the sum of several with some of its slopes each; all but the first have mean zero."""
    parts = []
    for k, group in enumerate(groups):
        weights = np.zeros_like(line.consequents)
        weights[:, :, 1 + group] = line.consequents[:, :, 1 + group]
        weights[:, :, 0] = -(weights[:, :, 1:] @ mean)
        if k == 0:
            weights[:, :, 0] += line.consequents[:, :, 0] + line.consequents[:, :, 1:] @ mean
        parts.append(replace(line, consequents=weights))
    return parts
