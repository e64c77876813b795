"""Summaries: the numbers behind the figures, from a store's results."""

from typing import TYPE_CHECKING

import numpy as np

from takagi._messages import unknown_name
from takagi.experiments._algorithms import ALGORITHMS
from takagi.experiments._plan import (
    EIGHT,
    FIGURES,
    MORE_RULES,
    PROJECTIONS,
    RULES,
    SENSITIVITY,
    SEVEN,
    STARTS,
    TUNED_RATES,
)
from takagi.experiments._store import Store

if TYPE_CHECKING:
    import pandas as pd

PARTITION = ["dataset", "repeat"]
CELL = [*PARTITION, "n_rules"]
_LINES = {"fig4": SEVEN[1:], "fig6": STARTS, "fig7": EIGHT, "fig8": PROJECTIONS}


class MissingRunsError(Exception):
    """A store without the runs that a figure needs."""


def load_ratios(store: Store) -> "pd.DataFrame":
    """Return the results without an error, their RMSE divided by ridge regression's on the same partition."""
    frame = store.results()
    frame = frame[frame["error"] == ""]
    ridge = frame[frame["algorithm"] == "RR"].set_index(PARTITION)[["rmse_val", "rmse_test", "seconds"]]
    frame = frame.join(ridge.add_suffix("_rr"), on=PARTITION)
    frame["ratio"] = frame["rmse_test"] / frame["rmse_test_rr"]
    frame["ratio_val"] = frame["rmse_val"] / frame["rmse_val_rr"]
    return frame


def select_defaults(ratios: "pd.DataFrame", algorithms: tuple[str, ...]) -> "pd.DataFrame":
    """Return the runs of some algorithms with the paper's settings."""
    powerball = ratios["algorithm"].map(lambda name: ALGORITHMS[name].powerball)
    own = (ratios["learning_rate"] == 0.01) & (ratios["keep_prob"] == 0.5) & (ratios["powerball"] == powerball)
    return ratios[ratios["algorithm"].isin(algorithms) & own]


def select_tuned(ratios: "pd.DataFrame") -> "pd.DataFrame":
    """Return, for every optimizer and partition, the run whose learning rate has the smallest validation error.

    Only partitions with runs of all optimizers and learning rates are used, so that all means are over the same
    partitions.
    """
    powerballs = ratios["powerball"].isin([0.5, 1.0]) & (ratios["keep_prob"] == 0.5)
    frame = ratios[ratios["algorithm"].isin(EIGHT) & powerballs & ratios["learning_rate"].isin(TUNED_RATES)]
    frame = frame[~((frame["algorithm"] == "FCM-RDpA") & (frame["powerball"] != 0.5))]
    n_rates = frame.groupby(["algorithm", *CELL])["learning_rate"].transform("nunique")
    frame = frame[n_rates == len(TUNED_RATES)]
    frame = frame[frame.groupby(CELL)["algorithm"].transform("nunique") == len(EIGHT)]
    return frame.loc[frame.groupby(["algorithm", *CELL])["rmse_val"].idxmin()]


def select_lines(figure: str, ratios: "pd.DataFrame") -> "pd.DataFrame":
    """Return the runs behind the lines of figures 4, 6, 7 and 8."""
    if figure == "fig7":
        return select_tuned(ratios)
    ratios = ratios[ratios["n_rules"].isin(MORE_RULES if figure == "fig6" else RULES)]
    return select_defaults(ratios, _LINES[figure])


def select_sensitivity(name: str, ratios: "pd.DataFrame") -> "pd.DataFrame":
    """Return the runs of FCM-RDpA that vary only one setting."""
    frame = ratios[(ratios["algorithm"] == "FCM-RDpA") & ratios["n_rules"].isin(RULES)]
    for other, default in (("learning_rate", 0.01), ("keep_prob", 0.5), ("powerball", 0.5)):
        if other != name:
            frame = frame[frame[other] == default]
    return frame[frame[name].isin(SENSITIVITY[name])]


def average(frame: "pd.DataFrame", by: list[str], value: str = "ratio") -> "pd.DataFrame":
    """Return mean and standard error of a value: averaged over datasets in each repeat, then over repeats."""
    means = frame.groupby([*by, "repeat"])[value].mean().groupby(level=list(range(len(by))))
    return means.agg(mean="mean", error=lambda values: values.std() / np.sqrt(len(values)), n="size").reset_index()


def summarize(figure: str, store: Store) -> "pd.DataFrame":
    """Return the numbers behind a figure.

    Parameters
    ----------
    figure : str
        "fig3a", "fig3b", "fig4", ..., "fig8".
    store : Store

    Returns
    -------
    DataFrame
        Mean and standard error of the normalized RMSE (figure 3: on validation, per iteration; else on test), with mean
        processor seconds where the figure shows them.
    """
    if figure not in FIGURES:
        raise unknown_name("figure", figure, FIGURES)
    if figure in ("fig3a", "fig3b"):
        table = summarize_curves(figure, store)
    elif figure == "fig5":
        table = _summarize_sensitivity(load_ratios(store))
    else:
        frame = select_lines(figure, load_ratios(store))
        table = average(frame, ["algorithm", "n_rules"])
        seconds = frame.groupby(["algorithm", "n_rules"])["seconds"].mean().rename("seconds")
        table = table.join(seconds, on=["algorithm", "n_rules"])
        order = {name: place for place, name in enumerate(_LINES[figure])}
        table = table.sort_values(["algorithm", "n_rules"], key=lambda c: c.map(order) if c.name == "algorithm" else c)
    if not len(table):
        raise MissingRunsError(f"the store has no runs for {figure}: takagi experiment run {figure}")
    return table.reset_index(drop=True)


def _summarize_sensitivity(ratios: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    tables = []
    for name in SENSITIVITY:
        frame = select_sensitivity(name, ratios)
        table = average(frame, [name, "n_rules"]).rename(columns={name: "value"})
        tables.append(table.assign(setting=name))
    return pd.concat(tables)[["setting", "value", "n_rules", "mean", "error", "n"]]


def load_curves(figure: str, store: Store) -> "pd.DataFrame":
    """Return validation curves of figure 3, one row per run, divided by ridge regression's error; `line` names them."""
    curves = store.curves()
    if figure == "fig3a":
        curves = curves[(curves["n_rules"] == 16) & curves["algorithm"].isin(SEVEN)]
        curves = curves.assign(line=curves["algorithm"])
    else:
        curves = curves[(curves["algorithm"] == "FCM-RDpA") & curves["n_rules"].isin(RULES)]
        curves = curves.assign(line="R=" + curves["n_rules"].astype(str))
    results = store.results()
    ridge = results[results["algorithm"] == "RR"].set_index(PARTITION)["rmse_val"].rename("rmse_val_rr")
    return curves.join(ridge, on=PARTITION)


def summarize_curves(figure: str, store: Store) -> "pd.DataFrame":
    """Return the average normalized validation RMSE per line and iteration."""
    curves = load_curves(figure, store)
    points = [column for column in curves.columns if isinstance(column, int)]
    scaled = curves[points].div(curves["rmse_val_rr"], axis=0)
    means = scaled.groupby(curves["line"]).mean()
    table = means.reset_index().melt(id_vars="line", var_name="iteration", value_name="mean")
    return table.sort_values(["line", "iteration"])
