"""The tables of `classification.py`, as Markdown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from _class_methods import BOOSTED, COMMITTEE, LOGISTIC, METHODS, PUBLISHED, TAKAGI
from _class_sets import SETS
from _class_trials import TIME_LIMIT
from _tables import count_partitions, describe_ranking, draw_table, format_seconds, list_failures
from takagi.experiments import Ranking, rank_columns

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "log_loss": "Log loss",
    "calibration_error": "Expected calibration error",
}
CHANCE = f"{TAKAGI}, if its probabilities were exactly right"
PAPERS_ACCURACY = {  # Cui, Wu and Huang (2020), table II, in the order of SETS
    "MBGD": (0.697, 0.852, 0.662, 0.567, 0.586, 0.576, 0.582, 0.678, 0.938, 0.489, 0.822, 0.735),
    "MBGD-BN": (0.735, 0.853, 0.662, 0.577, 0.711, 0.756, 0.713, 0.800, 0.942, 0.800, 0.843, 0.786),
    "MBGD-UR": (0.709, 0.854, 0.671, 0.572, 0.725, 0.856, 0.624, 0.836, 0.952, 0.893, 0.819, 0.857),
    "MBGD-UR-BN": (0.791, 0.861, 0.672, 0.573, 0.735, 0.950, 0.731, 0.823, 0.958, 0.894, 0.819, 0.839),
}
LARGE = 2_000  # rows from which on the calibration error is looked at
WANTED_ACCURACY, WANTED_CALIBRATION, WANTED_RATIO = 0.834, 0.03, 1.02


def make_class_tables(results: "pd.DataFrame") -> str:
    """Return all tables, with the names of the methods that were not run."""
    frame = select_splits(results[results["error"] == ""])
    if not len(frame):
        return "There are no outcomes yet: python benchmarks/classification.py run"
    absent = [name for name in METHODS if name not in set(frame["method"])]
    parts = [
        "### In the mean\n\n" + make_summary(frame),
        "### What was to be reached\n\n" + "\n".join(f"- {line}" for line in judge(frame)),
        *(f"### {title}, set by set\n\n" + make_set_table(frame, name) for name, title in MEASURES.items()),
        "### The published algorithms, as published and here\n\n" + make_published_table(frame),
        "### Mean ranks\n\n" + "\n".join(rank_all(frame)),
        "### Failures\n\n" + list_failures(frame, "the class frequencies of the training rows", TIME_LIMIT),
        "### Settings\n\n" + make_methods_table(),
    ]
    if absent:
        parts.append("Not run: " + ", ".join(f"{name} (pip install {METHODS[name].pip})" for name in absent) + ".")
    return "\n\n".join(parts)


def select_splits(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the outcomes on the splits that takagi has, if it has any: easy splits are to favor no one."""
    own = frame[frame["method"] == TAKAGI][["dataset", "repeat"]]
    return frame.merge(own, on=["dataset", "repeat"]) if len(own) else frame


def list_run(frame: "pd.DataFrame") -> list[str]:
    """Return the methods that have outcomes, in the order of the table of methods."""
    there = set(frame["method"])
    return [name for name in METHODS if name in there]


def average(frame: "pd.DataFrame", measure: str) -> "pd.DataFrame":
    """Return means over splits, a row for each method and a column for each dataset."""
    table = frame.pivot_table(index="method", columns="dataset", values=measure)
    return table.reindex(index=list_run(frame), columns=[name for name in SETS if name in table])


# -- tables ------------------------------------------------------------------------------------------------------------


def make_summary(frame: "pd.DataFrame") -> str:
    """Return means over datasets, the best log loss first; those that lack datasets last."""
    averages = {measure: average(frame, measure) for measure in MEASURES}
    ratios, n_sets = compare_with_logistic(frame), frame["dataset"].nunique()
    rows = []
    for name in list_run(frame):
        own = frame[frame["method"] == name]
        means = [averages[measure].loc[name].mean() for measure in MEASURES]
        seconds = own[own["note"] == ""].groupby("dataset")["seconds"].mean()
        lacks = n_sets - own["dataset"].nunique()
        words = (
            name if not lacks else f"{name} ({n_sets - lacks} sets)",
            *(f"{mean:.3f}" for mean in means),
            f"{ratios.loc[name].max():.2f}" if name in ratios.index else "",
            format_seconds(seconds.median()),
            format_seconds(seconds.max()),
            count_partitions(own),
            int((own["note"] != "").sum()) or "",
        )
        rows.append((lacks > 0, means[2], words))
    columns = (
        "method", "accuracy", "balanced accuracy", "log loss", "calibration error",
        "log loss over logistic regression's, worst set", "fit, s (median set)", "fit, s (slowest set)", "splits",
        "failed fits",
    )  # fmt: skip
    return draw_table(columns, [words for *_, words in sorted(rows, key=lambda row: row[:2])])


def make_set_table(frame: "pd.DataFrame", measure: str) -> str:
    """Return a measure of every method on every dataset; a star where a fit failed."""
    table = average(frame, measure)
    failed = set(frame[frame["note"] != ""][["method", "dataset"]].itertuples(index=False, name=None))
    rows = [
        (name, *(f"{value:.3f}{'*' * ((name, dataset) in failed)}" for dataset, value in row.items()))
        for name, row in table.iterrows()
    ]
    if measure == "calibration_error" and TAKAGI in table.index:
        chance = average(frame, "chance_error").reindex(columns=table.columns).loc[TAKAGI]
        rows.insert(1, (CHANCE, *(f"{value:.3f}" for value in chance)))
    return draw_table(("method", *table.columns), (map(_leave_empty, row) for row in rows))


def _leave_empty(word: str) -> str:
    return "" if word.startswith("nan") else word


def make_published_table(frame: "pd.DataFrame") -> str:
    """Return the accuracy of the four algorithms in the paper, then here."""
    table, rows = average(frame, "accuracy"), []
    for name in PUBLISHED:
        paper = dict(zip(SETS, PAPERS_ACCURACY[name], strict=True))
        rows.append((f"{name}, paper", *(f"{paper[dataset]:.3f}" for dataset in table.columns)))
        if name in table.index:
            rows.append((f"{name}, here", *(_leave_empty(f"{value:.3f}") for value in table.loc[name])))
    return draw_table(("algorithm", *table.columns), rows)


def make_methods_table() -> str:
    """Return what each method did with the training rows, and its settings."""
    rows = [(method.name, method.saw, method.settings) for method in METHODS.values()]
    return draw_table(("method", "rows", "settings; the library's defaults otherwise"), rows)


# -- comparisons -------------------------------------------------------------------------------------------------------


def compare_with_logistic(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return log losses over those of logistic regression on the same splits, by method and dataset."""
    cells = ["dataset", "repeat"]
    base = frame[frame["method"] == LOGISTIC].set_index(cells)["log_loss"].rename("base")
    both = frame.join(base, on=cells, how="inner").groupby(["method", "dataset"])[["log_loss", "base"]].mean()
    return (both["log_loss"] / both["base"]).unstack()


def judge(frame: "pd.DataFrame") -> Iterable[str]:
    """Yield what takagi was to reach, and whether it did, in words."""
    if TAKAGI in set(frame["method"]):
        accuracy, losses = (average_where_takagi_is(frame, measure) for measure in ("accuracy", "log_loss"))
        ahead = [name for name in accuracy.index if accuracy[name] > accuracy[TAKAGI] and name != COMMITTEE]
        is_met = accuracy[TAKAGI] >= WANTED_ACCURACY and len(ahead) <= 2
        yield _say(is_met, f"mean accuracy {accuracy[TAKAGI]:.3f}", f"{WANTED_ACCURACY}, and at most two ahead", ahead)
        ahead = [name for name in BOOSTED if name in losses and losses[name] <= losses[TAKAGI]]
        yield _say(not ahead, f"mean log loss {losses[TAKAGI]:.3f}", "below every boosted tree's", ahead)
        large = frame[(frame["method"] == TAKAGI) & (frame["n_rows"] >= LARGE)]
        errors, chance = (large.groupby("dataset")[name].mean() for name in ("calibration_error", "chance_error"))
        above = [
            f"{name} {error:.3f} ({chance[name]:.3f} by chance)"
            for name, error in errors.items()
            if error >= WANTED_CALIBRATION
        ]
        wanted = f"below {WANTED_CALIBRATION} on every set from {LARGE:,} rows on"
        yield _say(not above, f"calibration error at most {errors.max():.3f}", wanted, above)
        own = compare_with_logistic(frame).loc[TAKAGI].dropna()
        above = [f"{name} {ratio:.3f}" for name, ratio in own.items() if ratio > WANTED_RATIO]
        wanted = f"at most {WANTED_RATIO} on every set"
        yield _say(not above, f"log loss at most {own.max():.3f} of logistic regression's", wanted, above)
    ranking = rank_methods(frame, "log_loss")
    if ranking is not None and COMMITTEE in ranking.ranks:
        ahead = [name for name, rank in ranking.ranks.items() if rank < ranking.ranks[COMMITTEE]]
        reached = f"mean rank of the committee by log loss {ranking.ranks[COMMITTEE]:.1f}"
        yield _say(not ahead, reached, "first", ahead)


def average_where_takagi_is(frame: "pd.DataFrame", measure: str) -> "pd.Series":
    """Return means over the datasets that takagi has, of the methods that have them all."""
    table = average(frame, measure)
    return table[table.columns[table.loc[TAKAGI].notna()]].dropna().mean(axis=1)


def _say(is_met: bool, reached: str, wanted: str, others: Sequence[str]) -> str:
    """Return one line on what was to be reached."""
    return f"{'met' if is_met else '**missed**'}: {reached} (wanted: {wanted})" + (
        f"; {', '.join(others)}" if others else ""
    )


def rank_methods(frame: "pd.DataFrame", measure: str) -> Ranking | None:
    """Return the ranking of the methods with all datasets, by means over the splits that all of them have."""
    n_sets = frame.groupby("method")["dataset"].nunique()
    methods = [name for name in list_run(frame) if n_sets[name] == n_sets.max()]
    cells = frame.pivot_table(index=["dataset", "repeat"], columns="method", values=measure)[methods].dropna()
    table = cells.groupby(level="dataset").mean() * (-1 if "accuracy" in measure else 1)
    return rank_columns(measure, table) if min(table.shape) > 2 else None


def rank_all(frame: "pd.DataFrame") -> Iterable[str]:
    """Yield the rankings by each measure, in words."""
    for measure, title in MEASURES.items():
        if (ranking := rank_methods(frame, measure)) is not None:
            yield describe_ranking(ranking, f"By {title.lower()}")
