"""A sum of rule bases during the fit: plain arrays in standard units."""

from dataclasses import dataclass, fields, replace

import numpy as np

from takagi._typing import BoolArray, FloatArray, IntArray
from takagi.profile import spread_rows


@dataclass(frozen=True)
class SumDraft:
    """Rules of all parts, one below the other.

    Formulas have a bias, and then weights of the task's `columns`: slopes and bends.
    """

    centers: FloatArray  # (n_rules, n_features)
    widths: FloatArray  # the same; infinity where there is no condition
    weights: FloatArray  # (n_rules, n_outputs, 1 + n_columns)
    uses: BoolArray  # which columns a formula has, (n_rules, n_columns)
    part: IntArray  # of each rule, (n_rules,)

    @property
    def n_rules(self) -> int:
        """Number of rules of all parts."""
        return len(self.part)

    @property
    def asks(self) -> BoolArray:
        """Which conditions there are, (n_rules, n_features)."""
        return np.isfinite(self.widths)

    @property
    def together(self) -> FloatArray:
        """1 where two rules are in one part, else 0."""
        return (self.part[:, None] == self.part).astype(float)

    def shares(self, Z: FloatArray, seen: FloatArray | None = None) -> FloatArray:
        """Return normalized firing levels, (n_rows, n_rules); those of each part sum to 1.

        Where `seen` is zero, Z is zero, too, and conditions ignore the feature.
        """
        asked = np.flatnonzero(self.asks.any(axis=0))
        precision = np.where(self.asks[:, asked], self.widths[:, asked] ** -2.0, 0.0)
        pull, X = precision * self.centers[:, asked], Z.T[asked]
        constant = pull * self.centers[:, asked]
        level = pull @ X - 0.5 * (precision @ (X * X))
        level -= 0.5 * (constant.sum(axis=1)[:, None] if seen is None else constant @ seen.T[asked])
        for k in dict.fromkeys(self.part.tolist()):
            own = np.flatnonzero(self.part == k)
            firing = level[own]
            firing -= firing.max(axis=0)
            np.exp(firing, out=firing)
            level[own] = firing / firing.sum(axis=0)
        return level.T

    def outputs(self, columns: FloatArray) -> FloatArray:
        """Return the output of each formula, (n_outputs, n_rows, n_rules)."""
        used = np.flatnonzero(self.uses.any(axis=0))
        slopes, bias = self.weights[:, :, 1 + used].transpose(1, 0, 2), self.weights[:, :, :1].transpose(1, 0, 2)
        return (slopes @ columns.T[used] + bias).transpose(0, 2, 1)

    def pick(self, rules: IntArray) -> "SumDraft":
        """Return some of the rules unchanged."""
        return SumDraft(*(getattr(self, field.name)[rules] for field in fields(self)))

    def add(self, other: "SumDraft") -> "SumDraft":
        """Return these rules and others."""
        both = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return SumDraft(*map(np.concatenate, both))

    def take(self, rules: IntArray) -> "SumDraft":
        """Return some of the rules; the only remaining rule of a part loses its conditions."""
        kept = self.pick(rules)
        alone = kept.together.sum(axis=1) == 1
        return replace(kept, widths=np.where(alone[:, None], np.inf, kept.widths))

    def without(self, rule: int) -> "SumDraft":
        """Return all rules but one."""
        return self.take(np.flatnonzero(np.arange(self.n_rules) != rule))

    def say_once(self) -> "SumDraft":
        """Return the draft with each column in only one formula that always holds; empty formulas are dropped."""
        alone = np.flatnonzero(self.together.sum(axis=1) == 1)
        uses = self.uses.copy()
        uses[alone] &= np.cumsum(uses[alone], axis=0) == 1
        empty = alone[~uses[alone].any(axis=1)][: self.n_rules - 1]
        return self.use(uses).take(np.setdiff1d(np.arange(self.n_rules), empty))

    def use(self, uses: BoolArray) -> "SumDraft":
        """Return the draft with other terms; weights of removed terms are zero."""
        weights = self.weights.copy()
        weights[:, :, 1:] *= uses[:, None, :]
        return replace(self, uses=uses, weights=weights)


def start_rules(draft: SumDraft, base: IntArray, n_rules: int) -> SumDraft:
    """Return rules of a new part, without conditions and with weights of zero."""
    uses = np.zeros((n_rules, draft.uses.shape[1]), dtype=bool)
    uses[:, base] = True
    shape = (n_rules, draft.centers.shape[1])
    return SumDraft(
        centers=np.zeros(shape),
        widths=np.full(shape, np.inf),
        weights=np.zeros((n_rules, *draft.weights.shape[1:])),
        uses=uses,
        part=np.full(n_rules, draft.part.max() + 1),
    )


@dataclass(frozen=True)
class Task:
    """Rows in standard units, and what is asked of rules for them.

    Tables lie in memory column by column, as what is computed from them does: rules are few, and rows are many.
    """

    Z: FloatArray  # features, zero where they are missing
    columns: FloatArray  # of the formulas: features, then bends
    target: FloatArray  # (n_rows, n_outputs)
    weight: FloatArray  # of the rows; they sum to 1
    agreement: float  # the penalty on rules that disagree
    ridge: float  # the penalty on weights of formulas
    smoothness: float  # the penalty on narrow sets
    bend_price: float  # the additional cost of a bend over a slope when terms are chosen
    low: FloatArray  # the smallest center of each feature
    high: FloatArray  # the largest one
    seen: FloatArray | None = None  # like Z: zero where a feature is missing, else one; None if none is missing

    def price_bends(self, draft: SumDraft) -> float:
        """Return the cost of the bends of a draft."""
        return self.bend_price * float(draft.uses[:, self.Z.shape[1] :].sum())

    def take(self, rows: IntArray) -> "Task":
        """Return the task of some rows."""
        weight = self.weight[rows]
        return replace(
            self,
            Z=self.Z.T[:, rows].T,
            columns=self.columns.T[:, rows].T,
            target=self.target[rows],
            weight=weight / weight.sum(),
            seen=None if self.seen is None else self.seen.T[:, rows].T,
        )

    def sample(self, n_rows: int) -> "Task":
        """Return the task of at most a given number of rows, evenly spaced."""
        return self if len(self.Z) <= n_rows else self.take(spread_rows(len(self.Z), n_rows))
