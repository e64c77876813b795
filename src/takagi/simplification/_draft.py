"""Drafts: the arrays that simplification changes, and the rows that it fits them to.

Everything is in standard units: the inputs of conditions and of consequents, projections among them, and the targets
have mean 0 and spread 1 over the training rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.fitting import Rows, measure_columns
from takagi.rulebase import RuleBase


class Words(NamedTuple):
    """How much there is to read: rules, conditions, terms of the formulas (biases among them), and distinct sets."""

    n_rules: int
    n_conditions: int
    n_terms: int
    n_sets: int

    @property
    def total(self) -> int:
        """Conditions, terms and sets together."""
        return self.n_conditions + self.n_terms + self.n_sets


@dataclass(frozen=True)
class StandardRows:
    """Rows in standard units."""

    conditions: FloatArray  # (n_rows, n_antecedent_inputs): inputs of the conditions
    terms: FloatArray  # (n_rows, n_consequent_inputs + 1): inputs of the consequents, behind a column of ones
    target: FloatArray  # (n_rows, n_outputs): what to predict
    weight: FloatArray  # (n_rows,): weights, which sum to 1

    def score(self, prediction: FloatArray) -> float:
        """Return the weighted mean square error, summed over the outputs."""
        return float(self.weight @ ((prediction - self.target) ** 2).sum(axis=1))


@dataclass(frozen=True)
class Draft:
    """Rules that are being simplified."""

    centers: FloatArray  # (n_rules, n_antecedent_inputs)
    widths: FloatArray  # of that shape; infinity is no condition
    consequents: FloatArray  # (n_rules, n_outputs, n_consequent_inputs + 1), bias first
    is_active: BoolArray  # of that shape: which terms the formulas have; the others are 0 and stay so
    sets: IntArray  # of that of centers: equal entries in a column are a shared set, where there are conditions

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.centers)

    @property
    def has_condition(self) -> BoolArray:
        """Which rule has a condition on which input."""
        return np.isfinite(self.widths)

    def copy(self) -> "Draft":
        """Return a draft whose arrays may be changed."""
        return Draft(*(values.copy() for values in vars(self).values()))

    def take(self, rules: IntArray) -> "Draft":
        """Return some of the rules."""
        return Draft(*(values[rules] for values in vars(self).values()))

    def count(self) -> Words:
        """Return how much there is to read."""
        used = self.has_condition
        n_sets = sum(len(np.unique(labels[own])) for labels, own in zip(self.sets.T, used.T, strict=True))
        return Words(self.n_rules, int(used.sum()), int(self.is_active.sum()), n_sets)

    def drop_empty_conditions(self) -> "Draft":
        """Drop the conditions on inputs where all rules have the same set, which change nothing."""
        same = self.has_condition.all(axis=0) & (self.sets == self.sets[0]).all(axis=0)
        return replace(self, widths=np.where(same, np.inf, self.widths))


class View:
    """A draft evaluated on rows: shares, the rules' outputs, predictions and their error."""

    def __init__(self, draft: Draft, rows: StandardRows) -> None:
        self.draft = draft
        self.rows = rows

    @cached_property
    def log_firing(self) -> FloatArray:
        """Logarithms of the firing levels, of shape (n_rows, n_rules)."""
        inputs = self.rows.conditions
        out = np.empty((len(inputs), self.draft.n_rules))
        for r, used in enumerate(self.draft.has_condition):
            z = (inputs[:, used] - self.draft.centers[r, used]) / self.draft.widths[r, used]
            out[:, r] = -0.5 * np.einsum("nm,nm->n", z, z)
        return out

    @cached_property
    def share(self) -> FloatArray:
        """Shares, of shape (n_rows, n_rules)."""
        return normalize(self.log_firing)

    @cached_property
    def outputs(self) -> FloatArray:
        """The rules' own outputs, of shape (n_rows, n_rules, n_outputs)."""
        n_rules, n_outputs, n_terms = self.draft.consequents.shape
        flat = self.rows.terms @ self.draft.consequents.reshape(-1, n_terms).T
        return flat.reshape(-1, n_rules, n_outputs)

    @cached_property
    def prediction(self) -> FloatArray:
        """Predictions, of shape (n_rows, n_outputs)."""
        return mix(self.share, self.outputs)

    @cached_property
    def error(self) -> float:
        """The rows' mean square error."""
        return self.rows.score(self.prediction)

    @cached_property
    def mean_share(self) -> FloatArray:
        """The part of the rows that each rule governs."""
        return self.rows.weight @ self.share


def normalize(log_firing: FloatArray) -> FloatArray:
    """Return shares from logarithms of firing levels."""
    firing = np.exp(log_firing - log_firing.max(axis=1, keepdims=True))
    return firing / firing.sum(axis=1, keepdims=True)


def mix(share: FloatArray, outputs: FloatArray) -> FloatArray:
    """Return the outputs of rules weighted by shares."""
    return np.einsum("nr,nrk->nk", share, outputs)


# -- units -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standardizer:
    """Means and spreads that take a rule base to a draft and back."""

    rules: RuleBase
    condition_mean: FloatArray
    condition_scale: FloatArray
    term_mean: FloatArray
    term_scale: FloatArray
    target_mean: FloatArray
    target_scale: FloatArray

    def make_rows(self, rows: Rows) -> StandardRows:
        """Return rows in standard units."""
        terms = (self.rules.consequent_inputs(rows.X) - self.term_mean) / self.term_scale
        return StandardRows(
            conditions=(self.rules.antecedent_inputs(rows.X) - self.condition_mean) / self.condition_scale,
            terms=np.hstack([np.ones((len(terms), 1)), terms]),
            target=(rows.y - self.target_mean) / self.target_scale,
            weight=rows.weight / rows.weight.sum(),
        )

    def make_draft(self) -> Draft:
        """Return the rules as a draft."""
        rules = self.rules
        consequents = rules.consequents.copy()
        consequents[:, :, 0] += consequents[:, :, 1:] @ self.term_mean - self.target_mean
        consequents[:, :, 1:] *= self.term_scale
        is_active = rules.consequents != 0
        is_active[:, :, 0] = True
        own = np.broadcast_to(np.arange(rules.n_rules)[:, None], rules.centers.shape)
        return Draft(
            centers=(rules.centers - self.condition_mean) / self.condition_scale,
            widths=rules.widths / self.condition_scale,
            consequents=consequents / self.target_scale[:, None],
            is_active=is_active,
            sets=own.copy() if rules.sets is None else rules.sets.copy(),
        )

    def make_rules(self, draft: Draft) -> RuleBase:
        """Return a draft as rules; where there is no condition, the center is the input's mean.

        Limits of the conditions are left out, since sets have moved.
        """
        consequents = draft.consequents * self.target_scale[:, None]
        consequents[:, :, 1:] /= self.term_scale
        consequents[:, :, 0] += self.target_mean - consequents[:, :, 1:] @ self.term_mean
        return replace(
            self.rules,
            centers=np.where(draft.has_condition, draft.centers, 0.0) * self.condition_scale + self.condition_mean,
            widths=draft.widths * self.condition_scale,
            consequents=consequents,
            sets=_label_sets(draft),
            profile=None,
            intervals=None,
        )


def make_standardizer(rules: RuleBase, rows: Rows) -> Standardizer:
    """Measure means and spreads over rows."""
    parts = (rules.antecedent_inputs(rows.X), rules.consequent_inputs(rows.X), rows.y)
    return Standardizer(rules, *(values for part in parts for values in measure_columns(part, rows.weight)))


def _label_sets(draft: Draft) -> IntArray | None:
    """Return labels by rank of the center, None if no two rules share a set."""
    labels = np.zeros(draft.sets.shape, dtype=np.intp)
    is_shared = False
    for m, used in enumerate(draft.has_condition.T):
        _, first, place = np.unique(draft.sets[used, m], return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(draft.centers[used, m][first], kind="stable"), kind="stable")
        labels[used, m] = rank[place]
        labels[~used, m] = len(first)
        is_shared |= len(first) < used.sum()
    return labels if is_shared else None
