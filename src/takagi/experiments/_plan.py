"""Plans: which runs a figure of the paper needs.

A run is one fit, described by everything that affects its result. Figures that need the same run share it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from takagi._messages import unknown_name
from takagi.datasets import list_datasets
from takagi.experiments._algorithms import ALGORITHMS

N_REPEATS = 8
RULES = (2, 4, 8, 16, 32, 64)
MORE_RULES = (*RULES, 128, 256)
LEARNING_RATES = tuple(round(10 ** (-k / 2), 10) for k in range(9))
KEEP_PROBS = tuple(k / 10 for k in range(1, 11))
POWERBALLS = tuple(k / 10 for k in range(1, 13))
SENSITIVITY: dict[str, tuple[Any, ...]] = {
    "learning_rate": LEARNING_RATES,
    "keep_prob": KEEP_PROBS,
    "powerball": POWERBALLS,
}
TUNED_RATES = (1.0, 0.1, 0.01, 0.001, 0.0001)

# Below log2(n_rules) features there are not that many principal components; the paper leaves these cases out for all.
LEFT_OUT_FROM = {"PowerPlant": 32, "Airfoil": 64}

SEVEN = ("RR", "PCA-GP-RDA", "PCA-GP-RDpA", "PCA-FCM-RDA", "PCA-FCM-RDpA", "FCM-RDA", "FCM-RDpA")
STARTS = ("rand-RDpA", "kM-RDpA", "FCM-RDpA")
EIGHT = (  # rules of update
    "FCM-RDA", "RD-pAdaBound", "RD-SGDM", "RD-pSGDM", "RD-Adam", "RD-pAdam", "RD-AdaBelief", "FCM-RDpA",
)  # fmt: skip
PROJECTIONS = ("FCM-RDpA", "FCM-RDpA'", "FCM-RDpA''", "FCM-RDpAx")


@dataclass(frozen=True, order=True)
class PlannedRun:
    """One fit, described by everything that affects its result."""

    dataset: str
    repeat: int  # from 1: a partition of the data
    algorithm: str  # a name of `list_algorithms`
    n_rules: int  # 0 for ridge regression, which has none
    learning_rate: float  # figures 5 and 7 vary this and the next two
    keep_prob: float
    powerball: float

    @property
    def is_default(self) -> bool:
        """Whether the settings are the paper's own."""
        return self == make_run(self.dataset, self.repeat, self.algorithm, self.n_rules)

    @property
    def keeps_curve(self) -> bool:
        """Whether the validation curve is kept, as figure 3 needs it."""
        return self.is_default and (self.algorithm == "FCM-RDpA" or (self.algorithm in SEVEN and self.n_rules == 16))


def make_run(dataset: str, repeat: int, algorithm: str, n_rules: int) -> PlannedRun:
    """Return a run with the paper's settings."""
    if algorithm == "RR":
        return PlannedRun(dataset, repeat, algorithm, 0, 0.0, 1.0, 1.0)
    return PlannedRun(dataset, repeat, algorithm, n_rules, 0.01, 0.5, ALGORITHMS[algorithm].powerball)


def derive_seed(base: int, *what: object) -> int:
    """Return a seed that is a hash of its purpose, independent of the order of the runs.

    >>> derive_seed(0, "partition", "Yacht", 1) == derive_seed(0, "partition", "Yacht", 1)
    True
    """
    text = "|".join(map(str, (base, *what)))
    return int.from_bytes(sha256(text.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Scope:
    """The part of a figure's plan to run."""

    datasets: tuple[str, ...] = tuple(list_datasets())
    repeats: int = N_REPEATS  # number of partitions, from the first on
    rules: tuple[int, ...] | None = None  # only these numbers of rules; None for all

    def cells(self, rules: Sequence[int]) -> Iterable[tuple[str, int, int]]:
        """Yield (dataset, repeat, n_rules) without the cases that the paper leaves out."""
        for n_rules in rules:
            for dataset in self.datasets:
                if (self.rules is None or n_rules in self.rules) and n_rules < LEFT_OUT_FROM.get(dataset, 10**9):
                    yield from ((dataset, repeat, n_rules) for repeat in range(1, self.repeats + 1))


QUICK = Scope(datasets=("Concrete-CS", "Yacht", "autoMPG", "NO2"), repeats=2, rules=(4, 16))


def _compare(scope: Scope, algorithms: Sequence[str], rules: Sequence[int]) -> list[PlannedRun]:
    return [make_run(d, k, algorithm, r) for d, k, r in scope.cells(rules) for algorithm in ("RR", *algorithms)]


def _vary(scope: Scope) -> list[PlannedRun]:
    start = _compare(scope, ("FCM-RDpA",), RULES)
    varied = [
        replace(run, **{name: value})
        for run in start
        if run.algorithm != "RR"
        for name, values in SENSITIVITY.items()
        for value in values
    ]
    return start + varied


def _tune(scope: Scope) -> list[PlannedRun]:
    start = _compare(scope, EIGHT, MORE_RULES)
    return [
        run if run.algorithm == "RR" else replace(run, learning_rate=rate)
        for run in start
        for rate in (TUNED_RATES if run.algorithm != "RR" else (0.0,))
    ]


FIGURES: dict[str, Callable[[Scope], list[PlannedRun]]] = {
    "fig3a": lambda scope: _compare(scope, SEVEN[1:], (16,)),
    "fig3b": lambda scope: _compare(scope, ("FCM-RDpA",), RULES),
    "fig4": lambda scope: _compare(scope, SEVEN[1:], RULES),
    "fig5": _vary,
    "fig6": lambda scope: _compare(scope, STARTS, MORE_RULES),
    "fig7": _tune,
    "fig8": lambda scope: _compare(scope, PROJECTIONS, RULES),
}


def plan_runs(figure: str, scope: Scope | None = None) -> list[PlannedRun]:
    """Return the runs of a figure, or of all, each once.

    Parameters
    ----------
    figure : str
        "fig3a", "fig3b", "fig4", ..., "fig8", as printed in the paper, or "all".
    scope : Scope, optional
        The whole plan by default.

    Returns
    -------
    list of PlannedRun

    Examples
    --------
    >>> from takagi.experiments import plan_runs
    >>> len(plan_runs("fig4"))
    6368
    """
    scope = Scope() if scope is None else scope
    for dataset in scope.datasets:
        if dataset not in list_datasets():
            raise unknown_name("dataset", dataset, list_datasets())
    if figure not in (*FIGURES, "all"):
        raise unknown_name("figure", figure, (*FIGURES, "all"))
    chosen = FIGURES.values() if figure == "all" else [FIGURES[figure]]
    return list(dict.fromkeys(run for plan in chosen for run in plan(scope)))
