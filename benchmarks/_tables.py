"""The tables of `accuracy.py`, as Markdown: test RMSE divided by ridge regression's on the same partition."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from _methods import COMMITTEE, METHODS, TAKAGI
from _suites import PAPER, SUITES, Suite
from _trials import TIME_LIMIT
from takagi.experiments import Ranking, draw_ranks, rank_columns

if TYPE_CHECKING:
    import pandas as pd

SELECTION, DIVISOR = PAPER.selection, PAPER.divisor  # of the paper's sets
SELECTED = tuple(name for suite in SUITES.values() for name in suite.selection)
DIVISORS = tuple(suite.divisor for suite in SUITES.values())
OURS = (TAKAGI, COMMITTEE)
GROUPS = {
    "Boosted trees": (
        "CatBoost", "CatBoost refit", "XGBoost", "XGBoost refit", "LightGBM", "LightGBM refit", "HistGB",
        "HistGB refit",
    ),
    "Other everyday methods": ("ridge both parts", "random forest", "EBM", "SVR", "MLP", "Gaussian process"),
    "Rules to read and networks": ("takagi 5 short rules", "Cubist", "Cubist 20 + 5", "RealMLP", "TabM"),
    "Fuzzy methods": (
        "FCM-RDA", "FCM-RDpA", "FCM-RDpAx", "highfis HTSK", "PyTSK", "fuzzytool ANFIS", "endgame FCMRDpA",
    ),
}  # fmt: skip
RANKED = {"most": "Methods with most partitions", "all": "All methods with all sets"}
_CELL = ["dataset", "repeat"]


def load_ratios(results: "pd.DataFrame", suite: Suite = PAPER) -> "pd.DataFrame":
    """Return the outcomes of a suite with their errors divided by ridge regression's on the same partition."""
    frame = results[(results["error"] == "") & results["dataset"].isin(suite.datasets)]
    ridge = frame[frame["method"] == suite.divisor].set_index(_CELL)["rmse_test"].rename("ridge")
    frame = frame.join(ridge, on=_CELL, how="inner")
    return frame.assign(ratio=frame["rmse_test"] / frame["ridge"])


def mean_by_dataset(ratios: "pd.DataFrame", methods: Sequence[str]) -> "pd.DataFrame":
    """Return mean ratios, a row per dataset, a column per method, over the partitions that all these methods have."""
    cells = ratios.pivot_table(index=_CELL, columns="method", values="ratio").reindex(columns=list(methods))
    return cells.dropna().groupby(level="dataset").mean().reindex(order_sets(ratios)).dropna()


def order_sets(ratios: "pd.DataFrame") -> list[str]:
    """Return the datasets that have outcomes, in the order of their suite."""
    there = set(ratios["dataset"])
    return [name for suite in SUITES.values() for name in suite.datasets if name in there]


def list_run(ratios: "pd.DataFrame") -> list[str]:
    """Return the methods that have outcomes, in the order of the table of methods, without the divisor."""
    there = set(ratios["method"])
    return [name for name in METHODS if name in there and name not in DIVISORS]


def list_most(ratios: "pd.DataFrame") -> list[str]:
    """Return the methods that have at least half as many outcomes as any."""
    counts = ratios["method"].value_counts()
    return [name for name in list_run(ratios) if 2 * counts[name] >= counts.max()]


# -- tables ------------------------------------------------------------------------------------------------------------


def make_tables(results: "pd.DataFrame", suite: Suite = PAPER) -> str:
    """Return all tables of a suite, with the names of the methods that were not run."""
    ratios = load_ratios(results, suite)
    if not len(ratios):
        return "There are no outcomes yet: python benchmarks/accuracy.py run"
    absent = [name for name in METHODS if name not in set(ratios["method"])]
    parts = [
        "### Averages\n\n" + make_summary(ratios),
        *(
            f"### {title}, set by set\n\n" + make_set_table(ratios, methods)
            for title, methods in GROUPS.items()
            if set(methods) & set(ratios["method"])
        ),
        "### Wins and losses\n\n" + make_duels(ratios),
        "### Mean ranks\n\n"
        + "\n".join(describe_ranking(ranking, RANKED[ranking.name]) for ranking in rank_methods(ratios)),
        "### Failures\n\n" + list_failures(ratios),
    ]
    if suite is not PAPER:  # settings and names of what is there are in the page of the paper's suite
        return "\n\n".join(parts)
    parts.append("### What each method saw, and its settings\n\n" + make_methods_table())
    if absent:
        parts.append("Not run: " + ", ".join(f"{name} (pip install {METHODS[name].pip})" for name in absent) + ".")
    return "\n\n".join(parts)


def make_summary(ratios: "pd.DataFrame") -> str:
    """Return averages, ranks, failures, seconds and sizes, the best method first."""
    ranks = rank_methods(ratios)
    rows = []
    for name in list_run(ratios):
        frame = ratios[ratios["method"] == name]
        means = frame.groupby("dataset")["ratio"].mean()
        chosen = means.index.isin(SELECTED)
        halves = [average_sets(means), average_sets(means[chosen]), average_sets(means[~chosen])]
        if len(means) < ratios["dataset"].nunique():
            halves[0] += f" ({len(means)} sets)"
        sound = frame[frame["note"] == ""].groupby("dataset")[["seconds", "predict_seconds", "n_bytes"]].mean()
        seconds = sound["seconds"].median(), sound["seconds"].max(), sound["predict_seconds"].median()
        mean_rank = ranks[0].ranks.get(name) if ranks else None
        rows.append(
            (
                name,
                *halves,
                "" if mean_rank is None else f"{mean_rank:.1f}",
                *map(format_seconds, seconds),
                format_bytes(sound["n_bytes"].median()),
                count_partitions(frame),
                int((frame["note"] != "").sum()) or "",
            )
        )
    rows.sort(key=lambda row: (len(str(row[1])), row[1]))  # those that lack sets last
    columns = (
        "method", "average", "selection half", "other half", "mean rank", "fit, s (median set)", "fit, s (slowest set)",
        "10,000 predictions, s", "size", "partitions", "failed fits",
    )  # fmt: skip
    return draw_table(columns, rows)


def make_methods_table() -> str:
    """Return what each method did with the two parts, and its settings."""
    rows = [(method.name, method.saw, method.settings) for method in METHODS.values()]
    return draw_table(("method", "rows", "settings; the library's defaults otherwise"), rows)


def average_sets(means: "pd.Series") -> str:
    """Return the average over datasets, to three digits."""
    return f"{means.mean():.3f}" if len(means) else "-"


def make_set_table(ratios: "pd.DataFrame", methods: Sequence[str]) -> str:
    """Return mean ratios of takagi and some methods, a row per dataset, then the averages."""
    there = [name for name in (*OURS, *methods) if name in set(ratios["method"])]
    groups = dict(iter(ratios[ratios["method"].isin(there)].groupby(["dataset", "method"])))
    sets = [dataset for dataset in order_sets(ratios) if any((dataset, name) in groups for name in there)]
    rows = [[dataset, *(describe_cell(groups.get((dataset, name))) for name in there)] for dataset in sets]
    means = ratios.groupby(["method", "dataset"])["ratio"].mean()
    halves = (("all", sets), ("selection half", SELECTED), ("other half", set(sets) - set(SELECTED)))
    for title, half in halves:
        averages = (average_sets(means[name][means[name].index.isin(list(half))]) for name in there)
        rows.append([f"**{title}**", *(f"**{average}**" for average in averages)])
    return draw_table(["dataset", *there], rows)


def describe_cell(frame: "pd.DataFrame | None") -> str:
    """Return the mean ratio of a method on a dataset; how it failed, if it did."""
    if frame is None:
        return "-"
    notes = [note.split(":")[0] for note in frame["note"] if note]
    if not notes:
        return f"{frame['ratio'].mean():.3f}"
    return f"{frame['ratio'].mean():.3f} ({len(notes)} of {len(frame)}: {', '.join(dict.fromkeys(notes))})"


def make_duels(ratios: "pd.DataFrame") -> str:
    """Return wins and losses of takagi against every other method, over the datasets, with Wilcoxon's test."""
    there = set(ratios["method"])
    ours = [name for name in OURS if name in there]
    rows = []
    for other in list_run(ratios):
        words = []
        for name in ours:
            words += [""] * 2 if other == name else describe_duel(mean_by_dataset(ratios, (name, other)))
        rows.append([other, *words])
    return draw_table(["against", *(f"{name}: {what}" for name in ours for what in ("wins-losses", "p"))], rows)


def describe_duel(table: "pd.DataFrame") -> list[str]:
    """Return wins and losses of the first of two columns, and the p-value of Wilcoxon's signed-rank test."""
    difference = table.iloc[:, 0] - table.iloc[:, 1]
    p_value = f"{stats.wilcoxon(difference).pvalue:.2g}" if len(difference) > 4 and difference.any() else ""
    return [f"{int((difference < 0).sum())}-{int((difference > 0).sum())}", p_value]


# -- ranks -------------------------------------------------------------------------------------------------------------


def rank_methods(ratios: "pd.DataFrame") -> list[Ranking]:
    """Return rankings of the methods with all sets: of those with most partitions, and of all of them.

    Each is on the partitions that all its methods have.
    """
    n_sets = ratios.groupby("method")["dataset"].nunique()
    everyone = [name for name in list_run(ratios) if n_sets[name] == n_sets.max()]
    most = [name for name in list_most(ratios) if name in everyone]
    rankings = []
    for name, methods in (("most", most), ("all", everyone)):
        table = mean_by_dataset(ratios, methods)
        if min(table.shape) > 2 and (name == "most" or methods != most):
            rankings.append(rank_columns(name, table))
    return rankings


def describe_ranking(ranking: Ranking, what: str) -> str:
    """Return a ranking in words, beginning with what is ranked."""
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(ranking.ranks.items(), key=lambda item: item[1]))
    return (
        f"- {what}, on the partitions and {ranking.n_datasets} sets that all of them have; Friedman p = "
        f"{ranking.p_value:.1g}, critical difference {ranking.critical_difference:.2f}: {ranks}."
    )


def draw_diagram(results: "pd.DataFrame", path: Path) -> Path:
    """Draw the critical-difference diagram of the methods with most partitions."""
    ranking = rank_methods(load_ratios(results))[0]
    draw_ranks(ranking.ranks, ranking.critical_difference, path)
    return path


# -- words -------------------------------------------------------------------------------------------------------------


def list_failures(frame: "pd.DataFrame", counts_as: str = "the mean predictor", limit: float = TIME_LIMIT) -> str:
    """Return every failure, counted, and what it counts as."""
    failed = frame[frame["note"] != ""]
    if not len(failed):
        return "None."
    counts = failed.groupby(["method", "dataset", "note"], sort=False).size()
    lines = [f"- {method} on {dataset}: {note} ({count} times)" for (method, dataset, note), count in counts.items()]
    return f"Each counts as {counts_as}; the limit of a fit is {limit:,.0f} s.\n\n" + "\n".join(lines)


def count_partitions(frame: "pd.DataFrame") -> str:
    """Return the number of partitions, or the fewest and most of a set."""
    counts = frame.groupby("dataset")["repeat"].nunique()
    return str(counts.max()) if counts.min() == counts.max() else f"{counts.min()}-{counts.max()}"


def format_seconds(seconds: float) -> str:
    return "" if np.isnan(seconds) else f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


def format_bytes(n_bytes: float) -> str:
    return "" if np.isnan(n_bytes) else f"{n_bytes / 1e3:.3g} kB" if n_bytes < 1e6 else f"{n_bytes / 1e6:.3g} MB"


def draw_table(columns: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    columns = list(columns)
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def make_page(text: str, tables: str, name: str = "tables") -> str:
    """Return a page with new tables between the two marks of that name."""
    start, end = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
    if text.count(start) != 1 or text.count(end) != 1:
        raise SystemExit(f"The page needs the marks {start} and {end}, once each, around the tables.")
    return f"{text[: text.index(start)]}{start}\n\n{tables}\n\n{text[text.index(end) :]}"
