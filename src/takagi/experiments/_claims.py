"""The claims of the paper's section IV, each with the numbers on both sides and a verdict.

A claim that compares two algorithms is tested over the datasets: the mean of each dataset's normalized test RMSE over
partitions and numbers of rules, Wilcoxon's signed-rank test, level 0.05. "Holds" means that the difference has the
claimed sign and is significant, "does not hold" that it has the other sign and is significant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from takagi.experiments._plan import EIGHT, PROJECTIONS, SENSITIVITY, SEVEN, STARTS
from takagi.experiments._store import Store
from takagi.experiments._summary import (
    PARTITION,
    load_ratios,
    select_defaults,
    select_sensitivity,
    select_tuned,
)

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided"
_LEVEL = 0.05
_CLOSE = 0.02  # means within 2 % count as alike
_FEWEST_SETS = 5  # fewer datasets are not enough to decide
_SAFE = 0.03  # a setting is safe if its mean is within 3 % of the best setting's


@dataclass(frozen=True)
class Verdict:
    """The verdict of the results on a claim."""

    claim: str
    figure: str
    numbers: str
    p_value: float
    verdict: str


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over datasets with Friedman's test and the critical difference of Nemenyi's."""

    name: str
    ranks: dict[str, float]
    n_datasets: int
    p_value: float
    critical_difference: float


class Evidence:
    """The ratios of a store, selected once."""

    def __init__(self, store: Store) -> None:
        self.ratios = load_ratios(store)
        self.defaults = select_defaults(self.ratios, tuple(dict.fromkeys(SEVEN[1:] + STARTS + PROJECTIONS)))
        self.usual = self.defaults[self.defaults["n_rules"] <= 64]  # as in figures 4 and 8
        self.tuned = select_tuned(self.ratios)

    def by_dataset(
        self, algorithms: tuple[str, ...], rules: Callable[[int], bool] | None = None, tuned: bool = False
    ) -> "pd.DataFrame":
        """Return mean ratios, a row per dataset and a column per algorithm, over the cells that all of them have.

        Without `rules` and tuning, up to 64 rules count.
        """
        frame = self.tuned if tuned else self.usual if rules is None else self.defaults
        frame = frame[frame["algorithm"].isin(algorithms)]
        if rules is not None:
            frame = frame[frame["n_rules"].map(rules)]
        return _common_cells(frame, "algorithm", "ratio", algorithms).groupby(level="dataset").mean()

    def seconds(self, algorithms: tuple[str, ...]) -> "pd.Series":
        """Return mean processor seconds of algorithms, over the cells that all of them have."""
        frame = self.usual[self.usual["algorithm"].isin(algorithms)]
        return _common_cells(frame, "algorithm", "seconds", algorithms).mean()

    def by_rules(self, algorithm: str, value: str = "ratio") -> "pd.Series":
        """Return mean values of an algorithm, by number of rules up to 64, over datasets that have all of them."""
        frame = self.usual[self.usual["algorithm"] == algorithm]
        table = frame.pivot_table(index="dataset", columns="n_rules", values=value).dropna()
        if table.shape[1] < 6 or not len(table):
            raise LookupError("runs are missing")
        return table.mean()


Judgment = tuple[str, float, str]  # numbers, p-value, verdict
Judge = Callable[[Evidence], Judgment]


def make_claim(judge: Callable[..., Judgment]) -> Callable[..., Judge]:
    """Turn a function that judges evidence into a claim: all other arguments are given first."""
    return lambda *args, **options: lambda evidence: judge(evidence, *args, **options)


# -- kinds of claims ---------------------------------------------------------------------------------------------------


@make_claim
def better(
    evidence: Evidence, first: str, second: str, rules: Callable[[int], bool] | None = None, tuned: bool = False
) -> Judgment:
    """Claim that one algorithm has smaller errors than another."""
    table = evidence.by_dataset((first, second), rules, tuned)
    p_value = _wilcoxon(table[first] - table[second])
    means = table.mean()
    numbers = f"{first} {means[first]:.3f}, {second} {means[second]:.3f}; better on {_wins(table, first)}"
    return numbers, p_value, _decide(means[first] < means[second], p_value)


@make_claim
def best_of(evidence: Evidence, first: str, others: tuple[str, ...], tuned: bool = False) -> Judgment:
    """Claim that one algorithm has the smallest error of several; tested against the best other one."""
    table = evidence.by_dataset((first, *others), tuned=tuned)
    means = table.mean().sort_values()
    rival = next(name for name in means.index if name != first)
    p_value = _wilcoxon(table[first] - table[rival])
    numbers = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    return numbers, p_value, _decide(means.index[0] == first, p_value)


@make_claim
def alike(evidence: Evidence, first: str, second: str, rules: Callable[[int], bool] | None = None) -> Judgment:
    """Claim that two algorithms have about the same error, within 2 %."""
    means = evidence.by_dataset((first, second), rules).mean()
    close = abs(means[first] / means[second] - 1) <= _CLOSE
    return f"{first} {means[first]:.3f}, {second} {means[second]:.3f}", np.nan, HOLDS if close else FAILS


@make_claim
def against_ridge(evidence: Evidence, algorithms: tuple[str, ...], better_than_ridge: bool) -> Judgment:
    """Claim that algorithms are better, or worse, than ridge regression."""
    table = evidence.by_dataset(algorithms)
    means = table.mean()
    p_value = max(_wilcoxon(table[name] - 1) for name in algorithms)
    right = (means < 1).all() if better_than_ridge else (means > 1).all()
    return ", ".join(f"{name} {means[name]:.3f}" for name in algorithms), p_value, _decide(right, p_value)


@make_claim
def falls_with_rules(evidence: Evidence, algorithms: tuple[str, ...]) -> Judgment:
    """Claim that errors fall as rules are added."""
    means = {name: evidence.by_rules(name) for name in algorithms}
    falls = [series.iloc[-1] < series.iloc[0] for series in means.values()]
    numbers = ", ".join(f"{name} {s.iloc[0]:.3f} to {s.iloc[-1]:.3f}" for name, s in means.items())
    return numbers, np.nan, HOLDS if all(falls) else FAILS


@make_claim
def converged_at(evidence: Evidence, n_rules: int) -> Judgment:
    """Claim that FCM-RDpA is within 2 % of its best at a number of rules."""
    means = evidence.by_rules("FCM-RDpA")
    return _list_rules(means), np.nan, HOLDS if means[n_rules] <= means.min() * (1 + _CLOSE) else FAILS


@make_claim
def best_number_of_rules(evidence: Evidence, n_rules: int) -> Judgment:
    """Claim that a number of rules has the smallest average validation error."""
    means = evidence.by_rules("FCM-RDpA", "ratio_val")
    return f"validation: {_list_rules(means)}", np.nan, HOLDS if means.idxmin() == n_rules else FAILS


def larger_sets_want_more_rules(evidence: Evidence) -> Judgment:
    """Judge that the best number of rules grows with the number of rows."""
    from takagi.datasets import describe_dataset

    frame = evidence.usual[evidence.usual["algorithm"] == "FCM-RDpA"]
    best = frame.pivot_table(index="dataset", columns="n_rules", values="ratio_val").idxmin(axis=1)
    if len(best) < 5:
        raise LookupError("runs are missing")
    n_rows = [describe_dataset(name).n_samples for name in best.index]
    correlation, p_value = stats.spearmanr(n_rows, best)
    return f"Spearman's correlation {correlation:.2f} over {len(best)} sets", p_value, _decide(correlation > 0, p_value)


@make_claim
def safe_range(evidence: Evidence, setting: str, low: float, high: float) -> Judgment:
    """Claim that every value of a setting in a range is within 3 % of the best value's error."""
    frame = select_sensitivity(setting, evidence.ratios)
    means = _common_cells(frame, setting, "ratio", SENSITIVITY[setting]).mean()
    inside = means[(means.index >= low - 1e-9) & (means.index <= high + 1e-9)]
    numbers = f"worst inside {inside.max():.3f}, best of all {means.min():.3f} at {means.idxmin():g}"
    return numbers, np.nan, HOLDS if inside.max() <= means.min() * (1 + _SAFE) else FAILS


@make_claim
def cost_ratio(evidence: Evidence, first: str, second: str, low: float, high: float) -> Judgment:
    """Claim that one algorithm takes between low and high times the processor seconds of another."""
    seconds = evidence.seconds((first, second))
    ratio = seconds[first] / seconds[second]
    numbers = f"{first} {seconds[first]:.3f} s, {second} {seconds[second]:.3f} s, ratio {ratio:.2f}"
    return numbers, np.nan, HOLDS if low <= ratio <= high else FAILS


@make_claim
def slowest(evidence: Evidence, algorithms: tuple[str, ...], others: tuple[str, ...]) -> Judgment:
    """Claim that some algorithms take longer than others."""
    seconds = evidence.seconds(algorithms + others)
    holds = seconds[list(algorithms)].min() > seconds[list(others)].max()
    numbers = ", ".join(f"{name} {seconds[name]:.3f} s" for name in algorithms + others)
    return numbers, np.nan, HOLDS if holds else FAILS


# -- the table ---------------------------------------------------------------------------------------------------------

_PCA = ("PCA-GP-RDA", "PCA-GP-RDpA", "PCA-FCM-RDA", "PCA-FCM-RDpA")
_VANILLA = ("FCM-RDA", "RD-SGDM", "RD-Adam", "RD-AdaBelief")
_SMALL, _LARGE = (lambda r: r <= 16), (lambda r: r >= 128)

CLAIMS: tuple[tuple[str, str, Judge], ...] = (
    ("FCM-RDpA is best on average", "4", best_of("FCM-RDpA", SEVEN[1:-1])),
    ("PCA makes FCM-RDA worse", "4", better("FCM-RDA", "PCA-FCM-RDA")),
    ("PCA makes FCM-RDpA worse", "4", better("FCM-RDpA", "PCA-FCM-RDpA")),
    ("with PCA all are worse than ridge regression", "4", against_ridge(_PCA, False)),
    ("without PCA both are better than ridge regression", "4", against_ridge(("FCM-RDA", "FCM-RDpA"), True)),
    ("independent sets beat shared ones, RDA", "4", better("PCA-FCM-RDA", "PCA-GP-RDA")),
    ("independent sets beat shared ones, RDpA", "4", better("PCA-FCM-RDpA", "PCA-GP-RDpA")),
    ("RDpA beats RDA after PCA", "4", better("PCA-FCM-RDpA", "PCA-FCM-RDA")),
    ("RDpA beats RDA", "4", better("FCM-RDpA", "FCM-RDA")),
    ("PCA-GP-RDA and PCA-GP-RDpA are alike", "4", alike("PCA-GP-RDA", "PCA-GP-RDpA")),
    ("errors fall as rules are added", "4", falls_with_rules(SEVEN[1:])),
    ("FCM-RDpA converged at R=8", "4", converged_at(8)),
    ("R=16 is best overall", "3b", best_number_of_rules(16)),
    ("small sets want few rules, large ones many", "3b", larger_sets_want_more_rules),
    ("grid partition is slowest", "4", slowest(_PCA[:2], SEVEN[3:])),
    ("FCM-RDA and FCM-RDpA cost the same", "4", cost_ratio("FCM-RDpA", "FCM-RDA", 0.9, 1.1)),
    ("a learning rate in [0.01, 0.1] is safe", "5", safe_range("learning_rate", 0.01, 0.1)),
    ("P in [0.5, 0.7] is safe", "5", safe_range("keep_prob", 0.5, 0.7)),
    ("gamma in [0.3, 0.6] is safe", "5", safe_range("powerball", 0.3, 0.6)),
    ("FCM beats random initialization for R up to 16", "6", better("FCM-RDpA", "rand-RDpA", _SMALL)),
    ("FCM beats k-means initialization for R up to 16", "6", better("FCM-RDpA", "kM-RDpA", _SMALL)),
    ("FCM and random initialization are alike for R from 128", "6", alike("FCM-RDpA", "rand-RDpA", _LARGE)),
    ("FCM and k-means initialization are alike for R from 128", "6", alike("FCM-RDpA", "kM-RDpA", _LARGE)),
    ("AdaBelief is best of the vanilla four", "7", best_of("RD-AdaBelief", _VANILLA[:-1], tuned=True)),
    ("Powerball improves AdaBound", "7", better("RD-pAdaBound", "FCM-RDA", tuned=True)),
    ("Powerball improves SGDM", "7", better("RD-pSGDM", "RD-SGDM", tuned=True)),
    ("Powerball improves Adam", "7", better("RD-pAdam", "RD-Adam", tuned=True)),
    ("Powerball improves AdaBelief", "7", better("FCM-RDpA", "RD-AdaBelief", tuned=True)),
    ("Powerball AdaBelief is best of the eight", "7", best_of("FCM-RDpA", EIGHT[:-1], tuned=True)),
    ("FCM-RDpAx is best of the four with projections", "8", best_of("FCM-RDpAx", PROJECTIONS[:-1])),
    ("FCM-RDpAx costs slightly more than FCM-RDpA", "8", cost_ratio("FCM-RDpAx", "FCM-RDpA", 1.0, 2.0)),
)


def check_claims(store: Store) -> list[Verdict]:
    """Judge every claim of the paper's section IV by a store's results.

    Parameters
    ----------
    store : Store

    Returns
    -------
    list of Verdict
        "holds", "does not hold" or "not decided", the last also if runs are missing.
    """
    evidence = Evidence(store)
    verdicts = []
    for claim, figure, judge in CLAIMS:
        try:
            numbers, p_value, verdict = judge(evidence)
        except LookupError:
            numbers, p_value, verdict = f"needs more runs: takagi experiment run fig{figure}", np.nan, OPEN
        verdicts.append(Verdict(claim, figure, numbers, p_value, verdict))
    return verdicts


def rank_algorithms(store: Store) -> list[Ranking]:
    """Return mean ranks of the algorithms of figures 4, 7 and 8 over the datasets, with Friedman's test."""
    evidence = Evidence(store)
    groups = [("fig4", SEVEN[1:], False), ("fig7", EIGHT, True), ("fig8", PROJECTIONS, False)]
    rankings = []
    for name, algorithms, tuned in groups:
        try:
            table = evidence.by_dataset(algorithms, tuned=tuned)
        except LookupError:
            continue
        if len(table) > 2:
            rankings.append(rank_columns(name, table))
    return rankings


def rank_columns(name: str, table: "pd.DataFrame") -> Ranking:
    """Rank the columns of a table of errors in every row: 1 is the smallest, ties get their mean rank."""
    n_sets, n_algorithms = table.shape
    ranks = table.rank(axis=1).mean()
    p_value = stats.friedmanchisquare(*(table[column] for column in table)).pvalue
    studentized = stats.studentized_range.ppf(1 - _LEVEL, n_algorithms, np.inf) / np.sqrt(2)
    difference = studentized * np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_sets))
    return Ranking(
        name, {str(key): float(value) for key, value in ranks.items()}, n_sets, float(p_value), float(difference)
    )


def _common_cells(frame: "pd.DataFrame", column: str, value: str, wanted: Sequence) -> "pd.DataFrame":
    """Return a value by dataset, repeat and number of rules, with a column per entry, where all entries have one."""
    cells = frame.pivot_table(index=[*PARTITION, "n_rules"], columns=column, values=value)
    if not set(wanted) <= set(cells.columns) or not len(cells := cells[list(wanted)].dropna()):
        raise LookupError("runs are missing")
    if cells.index.get_level_values("dataset").nunique() < _FEWEST_SETS:
        raise LookupError("too few datasets to judge")
    return cells


def _wilcoxon(differences: "pd.Series") -> float:
    return float(stats.wilcoxon(differences).pvalue) if len(differences) > 4 and differences.any() else 1.0


def _decide(right: bool, p_value: float) -> str:
    if p_value >= _LEVEL:
        return OPEN
    return HOLDS if right else FAILS


def _wins(table: "pd.DataFrame", first: str) -> str:
    return f"{int((table[first] == table.min(axis=1)).sum())} of {len(table)} sets"


def _list_rules(means: "pd.Series") -> str:
    return ", ".join(f"R={r} {mean:.3f}" for r, mean in means.items())
