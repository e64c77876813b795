"""Random problems for the tests, and the way between the oracle's rules and takagi's."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import reference as ref
from takagi import RuleBase

GROUPS = {
    "C": "centers",
    "S": "widths",
    "W": "consequents",
    "PA": "antecedent_projection",
    "PC": "consequent_projection",
}
PROJECTIONS = ("none", "antecedent", "shared", "separate")

explore = settings(deadline=None, max_examples=150)


def to_takagi(rules: ref.Rules, **names) -> RuleBase:
    values = {word: getattr(rules, letter) for letter, word in GROUPS.items()}
    return RuleBase(**values, tied_projection=rules.tied, sets=rules.sets, **names)


def to_oracle(rules: RuleBase) -> ref.Rules:
    values = {letter: getattr(rules, word) for letter, word in GROUPS.items()}
    return ref.Rules(**values, tied=rules.tied_projection, sets=rules.sets)


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

    @property
    def batch(self):
        return self.X, self.y, self.weight, self.l2, self.keep, self.smoothness, self.agreement

    @property
    def penalties(self):
        return {"l2": self.l2, "smoothness": self.smoothness, "agreement": self.agreement}


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
    rng, n_rows=10, masked=False, weighted=False, l2=0.05, smoothness=0.0, agreement=0.0, **sizes
) -> Problem:
    rules = make_rules(rng, **sizes)
    n_rules, n_outputs = rules.W.shape[:2]
    X = rng.normal(size=(n_rows, rules.C.shape[1] - (0 if rules.PA is None else rules.PA.shape[1])))
    y = rng.normal(size=(n_rows, n_outputs))
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows) if weighted else np.ones(n_rows)
    keep = rng.random((n_rows, n_rules)) < 0.4 if masked else None
    return Problem(rules, X, y, weight, keep, l2, smoothness, agreement)


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
    }
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return make_problem(rng, **(chosen | fixed))
