"""The paper's figures, drawn from a store."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from takagi._messages import need_extra, unknown_name
from takagi.datasets import list_datasets
from takagi.experiments._plan import FIGURES, RULES, SEVEN
from takagi.experiments._store import Store
from takagi.experiments._summary import MissingRunsError, load_curves, summarize

if TYPE_CHECKING:
    import pandas as pd

_STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "legend.frameon": False,
    "font.size": 9,
    "svg.hashsalt": "takagi",
}
_SETTING_LABELS = {
    "learning_rate": r"learning rate $\alpha$",
    "keep_prob": r"DropRule preservation rate $P$",
    "powerball": r"Powerball exponent $\gamma$",
}


def draw(figure: str, store: Store, folder: str | Path = ".") -> list[Path]:
    """Draw a figure of the paper from a store, as PNG and SVG.

    Parameters
    ----------
    figure : str
        "fig3a", "fig3b", "fig4", ..., "fig8".
    store : Store
    folder : path, default="."
        Folder of the files.

    Returns
    -------
    list of Path
        The files.
    """
    if figure not in FIGURES:
        raise unknown_name("figure", figure, FIGURES)
    plt = need_extra("matplotlib.pyplot", "plot")
    makers = {"fig3a": _draw_curves, "fig3b": _draw_curves, "fig5": _draw_settings}
    with plt.rc_context(_STYLE):
        drawn = makers.get(figure, _draw_lines)(store, figure)
    if Path(folder).is_file():
        raise NotADirectoryError(f"{folder} is a file; figures go into a folder.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = [Path(folder) / f"{figure}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        temporary = path.with_name(f".{path.name}")
        drawn.savefig(
            temporary, format=path.suffix[1:], dpi=130, metadata={"Date": None} if path.suffix == ".svg" else {}
        )
        temporary.replace(path)
    plt.close(drawn)
    return paths


def _draw_lines(store: Store, figure: str) -> Any:
    """Draw the normalized RMSE of algorithms against the number of rules, and their seconds for figures 4 and 8."""
    from matplotlib import pyplot as plt

    table = summarize(figure, store)
    with_time = figure in ("fig4", "fig8")
    drawn, axes = plt.subplots(1, 1 + with_time, figsize=(6 + 4.4 * with_time, 4), layout="constrained", squeeze=False)
    lines = list(table.groupby("algorithm", sort=False))
    for k, (name, part) in enumerate(lines):
        style = {"color": f"C{k}", "marker": "osD^vP*X"[k % 8], "ms": 4, "label": name}
        axes[0, 0].errorbar(part["n_rules"], part["mean"], part["error"], capsize=2, **style)
        if with_time:
            axes[0, 1].plot(part["n_rules"], part["seconds"], **style)
    axes[0, 0].axhline(1.0, color="0.4", ls="--", lw=1, label="RR")
    axes[0, 0].set(ylabel="average normalized test RMSE")
    if with_time:
        ridge = store.results().query("algorithm == 'RR'")["seconds"].mean()
        axes[0, 1].axhline(max(ridge, 1e-4), color="0.4", ls="--", lw=1, label="RR")
        axes[0, 1].set(ylabel="average processor seconds", yscale="log")
    for ax in axes.flat:
        _mark_rules(ax, sorted(table["n_rules"].unique()))
    axes[0, -1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawn


def _draw_settings(store: Store, figure: str) -> Any:
    """Draw the normalized RMSE of FCM-RDpA against its three settings, one line per number of rules."""
    from matplotlib import pyplot as plt

    table = summarize(figure, store)
    drawn, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained", sharey=True)
    for ax, (setting, label) in zip(axes, _SETTING_LABELS.items(), strict=True):
        for k, (n_rules, part) in enumerate(table[table["setting"] == setting].groupby("n_rules")):
            ax.errorbar(
                part["value"], part["mean"], part["error"], color=_shade(k), marker="o", ms=3, label=f"R={n_rules}"
            )
        ax.set(xlabel=label)
    axes[0].set(xscale="log", ylabel="average normalized test RMSE")
    axes[0].set_ylim(table["mean"].min() * 0.95, min(table["mean"].max() * 1.05, 2.0))
    axes[-1].legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return drawn


def _draw_curves(store: Store, figure: str) -> Any:
    """Draw validation RMSE against iterations: a panel per dataset, and the average normalized one last."""
    from matplotlib import pyplot as plt

    curves = load_curves(figure, store)
    if not len(curves):
        raise MissingRunsError(f"the store has no runs for {figure}: takagi experiment run {figure}")
    names = [name for name in SEVEN if name in set(curves["line"])] if figure == "fig3a" else [f"R={r}" for r in RULES]
    drawn, axes = plt.subplots(4, 6, figsize=(15, 9.5), layout="constrained")
    panels = [*list_datasets(), "Average"]
    for ax, dataset in zip(axes.flat, panels, strict=False):
        _draw_panel(ax, curves, dataset, names)
    handles, labels = axes[-1, 4].get_legend_handles_labels()
    axes[-1, -1].axis("off")
    axes[-1, -1].legend(handles, labels, loc="center", fontsize="medium")
    drawn.supxlabel("iteration")
    drawn.supylabel("validation RMSE")
    return drawn


def _draw_panel(ax: Any, curves: "pd.DataFrame", dataset: str, names: list[str]) -> None:
    points = [column for column in curves.columns if isinstance(column, int)]
    part = curves if dataset == "Average" else curves[curves["dataset"] == dataset]
    scale = part["rmse_val_rr"] if dataset == "Average" else 1.0
    means = part[points].div(scale, axis=0).groupby(part["line"]).mean()
    for k, name in enumerate(name for name in names if name in means.index):
        ax.plot(points, means.loc[name], color=f"C{k}" if name in SEVEN else _shade(k), lw=1.2, label=name)
    ridge = 1.0 if dataset == "Average" else part["rmse_val_rr"].mean()
    ax.axhline(ridge, color="0.4", ls="--", lw=1, label="RR")
    if len(means):
        best, top = np.nanmin(means.to_numpy()), np.nanmax(means.to_numpy()[:, len(points) // 20])
        ax.set_ylim(min(best, ridge) * 0.95, max(ridge * 1.1, min(top, 2.5 * ridge)))
    ax.set_title(dataset if dataset != "Average" else "average, normalized", fontsize="medium")


def _mark_rules(ax: Any, rules: list[int]) -> None:
    ax.set_xscale("log", base=2)
    ax.set_xticks(rules, [str(r) for r in rules])
    ax.set_xlabel("number of rules R")


def _shade(k: int) -> Any:
    from matplotlib import colormaps

    return colormaps["viridis"](k / 6)


def draw_ranks(ranks: dict[str, float], difference: float, path: Path) -> None:
    """Draw a critical-difference diagram: mean ranks on a line, bars over those that do not differ significantly."""
    from matplotlib import pyplot as plt

    ordered = sorted(ranks.items(), key=lambda item: item[1])
    with plt.rc_context({**_STYLE, "axes.grid": False}):
        drawn, ax = plt.subplots(figsize=(8, 0.6 + 0.28 * len(ordered)), layout="constrained")
        for level, (name, rank) in enumerate(ordered):
            ax.plot([rank, rank, len(ordered) + 0.6], [0, -level - 1, -level - 1], color="0.4", lw=1)
            ax.text(len(ordered) + 0.65, -level - 1, f"{name} ({rank:.2f})", va="center")
        for level, (first, last) in enumerate(_cliques([rank for _, rank in ordered], difference)):
            ax.plot([first - 0.05, last + 0.05], [-0.35 - 0.3 * level] * 2, color="C0", lw=3, solid_capstyle="butt")
        ax.plot([1, 1 + difference], [0.8, 0.8], color="k", lw=2)
        ax.text(1 + difference / 2, 0.95, f"critical difference {difference:.2f}", ha="center", va="bottom")
        ax.plot([1, len(ordered)], [0, 0], color="k", lw=1)
        ax.set_xticks(range(1, len(ordered) + 1))
        ax.xaxis.tick_top()
        ax.set(yticks=[], xlim=(0.8, len(ordered) + 3), ylim=(-len(ordered) - 0.6, 1.8))
        ax.spines[:].set_visible(False)
        drawn.savefig(path, dpi=130)
        plt.close(drawn)


def _cliques(ranks: list[float], difference: float) -> list[tuple[float, float]]:
    """Return the largest groups of sorted ranks that lie within the critical difference."""
    groups: list[tuple[float, float]] = []
    for i, first in enumerate(ranks):
        last = max(rank for rank in ranks[i:] if rank - first <= difference)
        if last > first and not any(last <= end for _, end in groups):
            groups.append((first, last))
    return groups
