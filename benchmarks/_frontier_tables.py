"""The tables of `frontier.py`: test RMSE over that of ridge regression, beside what there is to read."""

from typing import TYPE_CHECKING

import numpy as np

from _readable_methods import METHODS
from _tables import SELECTION, average_sets, count_partitions, describe_duel, draw_table, format_seconds
from takagi.datasets import list_datasets
from takagi.experiments import Ranking, rank_columns

if TYPE_CHECKING:
    import pandas as pd

OURS = "takagi 5"
WITHOUT_TECATOR = tuple(name for name in list_datasets() if not name.startswith("Tecator"))
SIZES = ("n_rules", "n_conditions", "n_terms", "words", "max_conditions", "max_terms")
TRUTHS = ("ratio", "strongest", "holds", "governs", "outside", "wild")
MOST_SETS = 0.75  # of those of the method with most, which a method needs to be ranked and drawn
_CELL = ["dataset", "repeat"]


def load_outcomes(results: "pd.DataFrame") -> "pd.DataFrame":
    """Return the outcomes of methods that are known, with their words; without those that ran out of time."""
    frame = results[(results["error"] == "") & results["method"].isin(list(METHODS)) & results["ratio"].notna()]
    return frame.assign(words=frame["n_rules"] + frame["n_conditions"] + frame["n_terms"])


def list_run(outcomes: "pd.DataFrame") -> list[str]:
    """Return the methods that have outcomes, in the order of the table of methods."""
    there = set(outcomes["method"])
    return [name for name in METHODS if name in there]


def average(outcomes: "pd.DataFrame", column: str) -> "pd.DataFrame":
    """Return means over partitions, a row per dataset and a column per method."""
    table = outcomes.pivot_table(index="dataset", columns="method", values=column, dropna=False)
    return table.reindex(index=list(list_datasets()), columns=list_run(outcomes))


# -- tables ------------------------------------------------------------------------------------------------------------


def make_frontier_tables(results: "pd.DataFrame") -> str:
    """Return all tables."""
    outcomes = load_outcomes(results)
    if not len(outcomes):
        return "There are no outcomes yet: python benchmarks/frontier.py"
    titles = {
        "Errors": make_error_table(outcomes),
        f"{OURS} against the others": make_duels(outcomes),
        "Sizes": make_size_table(outcomes),
        "Truth of single rules": make_truth_table(outcomes),
        "Errors, set by set": make_set_table(outcomes, "ratio", 3),
        "Words, set by set": make_set_table(outcomes[outcomes["words"].notna()], "words", 0),
        "Strongest rule alone, set by set": make_set_table(outcomes[outcomes["strongest"].notna()], "strongest", 3),
        "Failures": list_failures(results),
        "Settings": make_settings_table(),
    }
    return "\n\n".join(f"### {title}\n\n{text}" for title, text in titles.items())


def make_error_table(outcomes: "pd.DataFrame") -> str:
    """Return average errors, mean ranks and times, the smallest average first, then those that lack sets."""
    ratios, ranking = average(outcomes, "ratio"), rank_methods(outcomes)
    ranks = ranking.ranks if ranking else {}
    seconds = average(outcomes, "seconds")
    rows = []
    for name in list_run(outcomes):
        means = ratios[name].dropna()
        chosen = means.index.isin(SELECTION)
        lacking = "" if len(means) == len(ratios) else f" ({len(means)} sets)"
        rows.append(
            (
                name,
                average_sets(means) + lacking,
                average_sets(means[means.index.isin(WITHOUT_TECATOR)]),
                average_sets(means[chosen]),
                average_sets(means[~chosen]),
                f"{ranks[name]:.1f}" if name in ranks else "",
                format_seconds(seconds[name].median()),
                format_seconds(seconds[name].max()),
                count_partitions(outcomes[outcomes["method"] == name]),
            )
        )
    rows.sort(key=lambda row: (len(row[1]), row[1]))
    columns = (
        "method", "22 sets", "without Tecator", "selection half", "other half", "mean rank", "fit, s (median set)",
        "fit, s (slowest set)", "partitions",
    )  # fmt: skip
    notes = f"Selection half: {', '.join(SELECTION)}. {describe_ranks(ranking)}".strip()
    return f"{draw_table(columns, rows)}\n\n{notes}"


def find_common(outcomes: "pd.DataFrame") -> "pd.DataFrame":
    """Return errors of the methods that have most sets, on the partitions that all of them have; a row per set."""
    n_sets = outcomes.groupby("method")["dataset"].nunique()
    most = [name for name in list_run(outcomes) if n_sets[name] >= MOST_SETS * n_sets.max()]
    cells = outcomes.pivot_table(index=_CELL, columns="method", values="ratio").reindex(columns=most)
    return cells.dropna().groupby(level="dataset").mean()


def rank_methods(outcomes: "pd.DataFrame") -> Ranking | None:
    """Rank methods on what they have in common; None if that is too little."""
    table = find_common(outcomes)
    return rank_columns("most", table) if min(table.shape) > 2 else None


def describe_ranks(ranking: Ranking | None) -> str:
    """Return what the ranks are of."""
    if ranking is None:
        return ""
    return (
        f"Mean ranks are on the partitions and {ranking.n_datasets} sets that all ranked methods have; critical "
        f"difference {ranking.critical_difference:.1f}."
    )


def make_duels(outcomes: "pd.DataFrame") -> str:
    """Return errors of one size of short rules and of each other method on the partitions that both have.

    Won and lost are sets, by the means over partitions; p is that of Wilcoxon's signed-rank test over sets.
    """
    if OURS not in set(outcomes["method"]):
        return f"{OURS} has no outcomes."
    cells = outcomes.pivot_table(index=_CELL, columns="method", values="ratio")
    rows = []
    for other in list_run(outcomes):
        table = cells[[OURS, other]].dropna().groupby(level="dataset").mean() if other != OURS else ()
        if len(table):
            n_cells = len(cells[[OURS, other]].dropna())
            errors = (f"{table[name].mean():.3f}" for name in (OURS, other))
            rows.append((other, len(table), n_cells, *errors, *describe_duel(table)))
    return draw_table(("against", "sets", "partitions of sets", OURS, "the other", "won-lost", "p"), rows)


def make_size_table(outcomes: "pd.DataFrame") -> str:
    """Return average sizes, the fewest words first; the largest rules are averages of the largest of each model."""
    sizes = {column: average(outcomes, column).mean() for column in SIZES}
    words, typical = sizes["words"].dropna().sort_values(), find_typical_words(outcomes)
    rows = [(name, *(f"{sizes[column][name]:.1f}" for column in SIZES), f"{typical[name]:.0f}") for name in words.index]
    columns = ("method", "rules", "conditions", "terms", "words", "most conditions", "most terms", "typical words")
    return draw_table(columns, rows)


def find_typical_words(outcomes: "pd.DataFrame") -> "pd.Series":
    """Return the geometric mean of words over sets, which one set with hundreds of rules does not govern."""
    return np.exp(np.log(average(outcomes, "words")).mean())


def make_truth_table(outcomes: "pd.DataFrame") -> str:
    """Return whether rules are true one by one: averages over sets, the smallest error of a rule alone first."""
    truths = {column: average(outcomes, column) for column in TRUTHS}
    alone = truths["strongest"].mean().dropna().sort_values()
    rows = []
    for name in alone.index:
        middle = f"{truths['strongest'][name].median():.3f}"
        parts = (f"{100 * truths[column][name].mean():.0f} %" for column in ("holds", "governs", "outside", "wild"))
        rows.append((name, average_sets(truths["ratio"][name].dropna()), f"{alone[name]:.3f}", middle, *parts))
    columns = (
        "method", "error", "strongest rule alone", "the same, median set", "holds", "governs", "outside", "wild",
    )  # fmt: skip
    return draw_table(columns, rows)


def make_set_table(outcomes: "pd.DataFrame", column: str, n_digits: int) -> str:
    """Return means of a column, a row per dataset, then the average."""
    table = average(outcomes, column)
    rows = [
        [name, *(_write(value, n_digits) for value in row)]
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    rows.append(["**all**", *(f"**{_write(value, n_digits)}**" for value in table.mean())])
    return draw_table(["dataset", *table.columns], rows)


def _write(value: float, n_digits: int) -> str:
    return "-" if np.isnan(value) else f"{value:,.{n_digits}f}"


def list_failures(results: "pd.DataFrame") -> str:
    """Return every failure, counted."""
    failed = results[results["note"] != ""]
    if not len(failed):
        return "None."
    counts = failed.groupby(["method", "dataset", "note"], sort=False).size()
    lines = [f"- {method} on {dataset}: {note} ({count} times)" for (method, dataset, note), count in counts.items()]
    return "\n".join(lines)


def make_settings_table() -> str:
    """Return what each method did with the rows, and its settings."""
    rows = [(method.name, method.saw, method.settings) for method in METHODS.values()]
    return draw_table(("method", "rows", "settings; the library's defaults otherwise"), rows)
