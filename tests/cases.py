"""Random problems for the tests, and the way between the oracle's rules and takagi's."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import reference as ref
from takagi import Bend, RuleBase, RuleModel
from takagi.bend import KINDS
from takagi.profile import measure_profile

GROUPS = {
    "C": "centers",
    "S": "widths",
    "W": "consequents",
    "PA": "antecedent_projection",
    "PC": "consequent_projection",
}
PROJECTIONS = ("none", "antecedent", "shared", "separate")

explore = settings(deadline=None, max_examples=60)


def to_takagi(rules: ref.Rules, **names) -> RuleBase:
    values = {word: getattr(rules, letter) for letter, word in GROUPS.items()}
    return RuleBase(**values, tied_projection=rules.tied, sets=rules.sets, **names)


def to_oracle(rules: RuleBase) -> ref.Rules:
    values = {letter: getattr(rules, word) for letter, word in GROUPS.items()}
    return ref.Rules(**values, tied=rules.tied_projection, sets=rules.sets)


def make_bend(rng, n_features) -> Bend:
    """A bend of a random feature, whose knot lies amid normally distributed rows."""
    kind = str(rng.choice(KINDS))
    knot = rng.normal() - (3.0 if kind == "log" else 0.0)
    return Bend(int(rng.integers(n_features)), kind, knot, floor=rng.uniform(0.01, 0.5) if kind == "log" else 0.0)


def make_part(rng, asked, n_features=4, n_outputs=1, n_rules=2, bends=(), with_intervals=False, **parts) -> RuleBase:
    """Random rules with conditions on the features that are asked about."""
    widths = np.full((n_rules, n_features), np.inf)
    widths[:, asked] = rng.uniform(0.5, 2.0, size=(n_rules, len(asked)))
    intervals = None
    if with_intervals:
        intervals = np.sort(rng.normal(size=(n_rules, n_features, 2)), axis=2)
        open_ends = rng.random(intervals.shape) < 0.5
        intervals = np.where(open_ends, [-np.inf, np.inf], intervals)
    consequents = rng.normal(size=(n_rules, n_outputs, 1 + n_features + len(bends)))
    centers = rng.normal(size=(n_rules, n_features))
    return RuleBase(centers, widths, consequents, bends=bends, intervals=intervals, **parts)


def make_limits(rng, n_features) -> np.ndarray:
    """Limits amid normally distributed rows, some of them open, and one of them a single value."""
    limits = np.sort(rng.normal(size=(n_features, 2)), axis=1)
    limits = np.where(rng.random(limits.shape) < 0.3, [-np.inf, np.inf], limits)
    limits[rng.integers(n_features)] = rng.normal()
    return limits


def make_sum(
    rng, n_parts=2, n_outputs=1, n_features=4, most_bends=3, link="identity", is_held=False, **names
) -> RuleModel:
    """A random sum of rule bases, some with bends, intervals, conditions on the same features, limits and a profile."""
    parts = []
    for _ in range(n_parts):
        asked = np.flatnonzero(rng.random(n_features) < 0.6)
        bends = [make_bend(rng, n_features) for _ in range(rng.integers(0, most_bends + 1))]
        if parts and parts[0].bends and bends:
            bends[0] = parts[0].bends[0]  # which the parts have in common
        sizes = {"n_features": n_features, "n_outputs": n_outputs, "n_rules": int(rng.integers(1, 5))}
        has_intervals = rng.random() < 0.5
        parts.append(make_part(rng, asked, **sizes, bends=bends, with_intervals=has_intervals, link=link, **names))
    if rng.random() < 0.5:
        rows = rng.normal(size=(20, n_features))
        targets = parts[0].predict_raw(rows)
        parts[0] = replace(parts[0], profile=measure_profile((rows, targets), parts[0].firing_share))
    model = RuleModel(tuple(parts))
    return model.hold_at(make_limits(rng, n_features)) if is_held else model


@st.composite
def sums(draw, **fixed) -> RuleModel:
    """Sums of one to three parts, of all links; the numbers come from a seed."""
    n_outputs = draw(st.integers(1, 3))
    chosen = {
        "n_parts": draw(st.integers(1, 3)),
        "n_outputs": n_outputs,
        "n_features": draw(st.integers(1, 5)),
        "most_bends": draw(st.sampled_from([0, 3])),
        "link": draw(st.sampled_from(["identity", "logit" if n_outputs == 1 else "softmax"])),
        "is_held": draw(st.booleans()),
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return make_sum(rng, **(chosen | fixed))


@dataclass
class Problem:
    """Rules, a batch, the rules that DropRule keeps (or None) and penalties."""

    rules: ref.Rules
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    keep: np.ndarray | None
    l2: float
    smoothness: float = 0.0
    agreement: float = 0.0
    uniformity: float = 0.0

    @property
    def batch(self):
        return self.X, self.y, self.weight, self.l2, self.keep, self.smoothness, self.agreement, self.uniformity

    @property
    def penalties(self):
        return {name: getattr(self, name) for name in ("l2", "smoothness", "agreement", "uniformity")}


def make_rules(rng, n_rules=5, n_features=3, n_outputs=1, projection="none", n_projected=2, n_sets=None) -> ref.Rules:
    """Random rules of which several fire at once; `n_sets` of them per input are shared where it is given."""
    d_a = 0 if projection == "none" else n_projected
    d_c = n_projected if projection in ("shared", "separate") else 0
    C = rng.normal(size=(n_rules, d_a + n_features))
    S = rng.uniform(0.5, 2.0, size=C.shape) * np.sqrt(C.shape[1])
    W = rng.normal(size=(n_rules, n_outputs, 1 + d_c + n_features))
    PA = rng.normal(size=(1 + n_features, d_a)) if d_a else None
    PC = rng.normal(size=(1 + n_features, d_c)) if d_c else None
    if projection == "shared":
        PC = PA
    sets = None
    if n_sets is not None:
        sets = rng.integers(0, n_sets, size=C.shape)
        leader = (sets[:, None, :] == sets[None, :, :]).argmax(axis=1)  # the first rule with the same set
        C, S = np.take_along_axis(C, leader, 0), np.take_along_axis(S, leader, 0)
    return ref.Rules(C, S, W, PA, PC, projection == "shared", sets)


def make_problem(
    rng, n_rows=10, masked=False, weighted=False, l2=0.05, smoothness=0.0, agreement=0.0, uniformity=0.0, **sizes
) -> Problem:
    rules = make_rules(rng, **sizes)
    n_rules, n_outputs = rules.W.shape[:2]
    X = rng.normal(size=(n_rows, rules.C.shape[1] - (0 if rules.PA is None else rules.PA.shape[1])))
    y = rng.normal(size=(n_rows, n_outputs))
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows) if weighted else np.ones(n_rows)
    keep = rng.random((n_rows, n_rules)) < 0.4 if masked else None
    return Problem(rules, X, y, weight, keep, l2, smoothness, agreement, uniformity)


@st.composite
def problems(draw, max_rules=20, max_features=12, max_rows=13, **fixed) -> Problem:
    """Problems of all kinds and sizes; the numbers come from a seed, so that a failure shrinks to small sizes."""
    chosen = {
        "n_rules": draw(st.integers(1, max_rules)),
        "n_features": draw(st.integers(1, max_features)),
        "n_outputs": draw(st.integers(1, 3)),
        "n_rows": draw(st.integers(1, max_rows)),
        "projection": draw(st.sampled_from(PROJECTIONS)),
        "n_projected": draw(st.integers(1, 3)),
        "n_sets": draw(st.sampled_from([None, None, 1, 2, 3])),
        "masked": draw(st.booleans()),
        "weighted": draw(st.booleans()),
        "l2": draw(st.sampled_from([0.0, 0.05, 2.0])),
        "smoothness": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "agreement": draw(st.sampled_from([0.0, 0.1, 3.0])),
        "uniformity": draw(st.sampled_from([0.0, 0.0, 2.0])),
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return make_problem(rng, **(chosen | fixed))
