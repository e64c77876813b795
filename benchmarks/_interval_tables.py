"""The tables of `intervals.py`, as Markdown."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from _interval_methods import COVERAGE, RIDGE, list_methods

if TYPE_CHECKING:
    import pandas as pd

LARGE, LEAST, MOST = 500, 0.85, 0.95


def make_interval_tables(results: "pd.DataFrame") -> str:
    """Return the summary, and the coverage and scores of each table."""
    if not (results["method"] == RIDGE).any():
        return "There are no outcomes yet: python benchmarks/intervals.py"
    frame = _average(results)
    return "\n\n".join(
        [
            "### In the mean\n\n" + _make_summary(frame, results),
            "### Coverage by rule\n\n" + _make_gaps(frame),
            "### Table by table\n\n" + _make_list(frame),
            "### Methods\n\n" + "\n".join(f"- {name}: {m.words}" for name, m in _list_run(frame).items()),
        ]
    )


def _average(results: "pd.DataFrame") -> "pd.DataFrame":
    """Return means over partitions, a row for each table and method, with scores over those of the ridge."""
    good = results[(results["error"] == "") & (results["note"] == "")]
    columns = ["n_rows", "n_test", "coverage", "winkler", "width", "even", "gap", "even_gap", "seconds"]
    ridge = good[good["method"] == RIDGE].set_index(["dataset", "repeat"])["winkler"].rename("ridge")
    good = good.join(ridge, on=["dataset", "repeat"], how="inner")
    for name in ("winkler", "even"):
        good = good.assign(**{name: good[name] / good["ridge"]})
    frame = good.groupby(["method", "dataset"])[columns].mean()
    n_partitions = good.groupby(["method", "dataset"]).size().rename("n_partitions")
    return frame.join(n_partitions).reset_index()


def _list_run(frame: "pd.DataFrame") -> dict:
    there = set(frame["method"])
    return {name: method for name, method in list_methods().items() if name in there}


def _make_summary(frame: "pd.DataFrame", results: "pd.DataFrame") -> str:
    lines = [
        "| method | tables | coverage | of which from 500 rows on | within 85 to 95 % | interval score "
        "| on the tables of all methods | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    methods = list(_list_run(frame))
    common = set.intersection(*(set(frame[frame["method"] == name]["dataset"]) for name in methods))
    for name in methods:
        own = frame[frame["method"] == name]
        large = own[own["n_rows"] >= LARGE]
        within = int(large["coverage"].between(LEAST, MOST).sum())
        shared = own[own["dataset"].isin(common)]
        lines.append(
            f"| {name} | {len(own)} | {own['coverage'].mean():.1%} | {large['coverage'].mean():.1%} "
            f"| {within} of {len(large)} | {_mean_ratio(own['winkler'])} "
            f"| {_mean_ratio(shared['winkler'])} | {own['seconds'].median():.1f} |"
        )
    n_trials = int(((results["error"] == "") & (results["note"] == "")).sum())
    return "\n".join(lines) + (
        f"\n\nWanted: {COVERAGE:.0%}. Interval scores are divided by those of the split-conformal ridge on the same "
        f"partition (geometric means; less is better). {n_trials:,} fits, {len(common)} tables that all methods have."
    )


def _mean_ratio(ratios: "pd.Series") -> str:
    return f"{np.exp(np.log(ratios).mean()):.3f}" if len(ratios) else ""


def _make_gaps(frame: "pd.DataFrame") -> str:
    lines = [
        "| method | distance from 90 %, rule by rule | with one width for all | interval score with one width |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name in _list_run(frame):
        own = frame[(frame["method"] == name) & frame["gap"].notna()]
        if len(own):
            lines.append(
                f"| {name} | {own['gap'].mean():.1%} | {own['even_gap'].mean():.1%} | {_mean_ratio(own['even'])} |"
            )
    return "\n".join(lines)


def _make_list(frame: "pd.DataFrame") -> str:
    methods = [name for name in _list_run(frame) if name != RIDGE]
    covered = frame.pivot_table(index="dataset", columns="method", values="coverage")
    scores = frame.pivot_table(index="dataset", columns="method", values="winkler")
    sizes = frame.groupby("dataset")["n_rows"].max().sort_values()
    lines = [f"| table | rows | {' | '.join(methods)} |", f"| --- | ---: | {' | '.join('---:' for _ in methods)} |"]
    for name, n_rows in sizes.items():
        cells = [
            _write_cell(table.at[name, m] if m in table else np.nan for table in (covered, scores)) for m in methods
        ]
        lines.append(f"| {name} | {n_rows:,.0f} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\nCoverage in percent, and the interval score over the ridge's."


def _write_cell(values: Iterable[float]) -> str:
    coverage, score = values
    return "" if np.isnan(coverage) else f"{100 * coverage:.0f}, {score:.2f}"
