"""Membership functions of features over their histograms."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from takagi._messages import unknown_name
from takagi._typing import FloatArray, Table


class MembershipDisplay:
    """The sets that the rules put on some features, over the histograms of these features.

    Use `from_estimator`. Each rule is a color; its curve is the membership in the feature's own units, 1 at the center.

    Parameters
    ----------
    names : sequence of str
        The shown features.
    values : sequence of ndarray of shape (n_rows,)
        Their values in the data.
    centers, widths : ndarray of shape (n_rules, n_shown)
        The rules' sets on them.
    share : ndarray of shape (n_rules,)
        How much of the data each rule governs, which orders the legend.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import MembershipDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = MembershipDisplay.from_estimator(model, X, features=["bmi", "bp"])
    >>> display.names
    ['bmi', 'bp']
    """

    def __init__(
        self,
        names: Sequence[str],
        values: Sequence[FloatArray],
        centers: FloatArray,
        widths: FloatArray,
        share: FloatArray,
    ) -> None:
        self.names = names
        self.values = values
        self.centers = centers
        self.widths = widths
        self.share = share

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Table, features: Sequence[str | int] | None = None, *, ax: Any = None
    ) -> "MembershipDisplay":
        """Draw the sets of a fitted estimator.

        Parameters
        ----------
        estimator : TSKRegressor
            A fitted model.
        X : array or data frame of shape (n_rows, n_features)
            Data for the histograms.
        features : sequence of str or int, optional
            Names or indices of the features to show; the first three by default.
        ax : Axes or sequence of Axes, optional
            One per feature; a new figure by default.

        Returns
        -------
        MembershipDisplay
        """
        check_is_fitted(estimator)
        rules = estimator.rule_base_
        known = list(rules.feature_names or [f"x{m}" for m in range(rules.n_features)])
        shown = [_find_feature(feature, known) for feature in (range(len(known))[:3] if features is None else features)]
        share = estimator.firing_share(X).mean(axis=0)
        rows = np.asarray(X, dtype=float)
        offset = rules.centers.shape[1] - rules.n_features
        display = cls(
            names=[known[m] for m in shown],
            values=[rows[:, m] for m in shown],
            centers=rules.centers[:, [offset + m for m in shown]],
            widths=rules.widths[:, [offset + m for m in shown]],
            share=share,
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> "MembershipDisplay":
        """Draw the sets, one panel per feature.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One per feature; a new figure by default.

        Returns
        -------
        MembershipDisplay
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(1, len(self.names), figsize=(1 + 3.4 * len(self.names), 3.2), layout="constrained")
        self.axes_ = np.atleast_1d(ax)
        if len(self.axes_) != len(self.names):
            raise ValueError(f"ax must be {len(self.names)} axes, one per feature, got {len(self.axes_)}.")
        self.figure_ = self.axes_[0].figure
        for panel in range(len(self.names)):
            self._plot_feature(panel)
        self.axes_[0].set_ylabel("membership")
        self.axes_[-1].legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self

    def _plot_feature(self, panel: int) -> None:
        ax, values = self.axes_[panel], self.values[panel]
        counts, edges = np.histogram(values, bins=30)
        ax.bar(edges[:-1], counts / max(counts.max(), 1), np.diff(edges), align="edge", color="0.88", zorder=0)
        grid = np.linspace(edges[0], edges[-1], 300)
        for r in np.argsort(-self.share):
            curve = np.exp(-0.5 * ((grid - self.centers[r, panel]) / self.widths[r, panel]) ** 2)
            ax.plot(grid, curve, lw=2, color=_color(r), label=f"rule {r + 1} ({self.share[r]:.0%} of the data)")
        ax.set(xlabel=self.names[panel], ylim=(0, 1.08))
        ax.spines[["top", "right"]].set_visible(False)


def _color(r: int) -> str:
    return f"C{r % 10}"


def _find_feature(feature: str | int, known: list[str]) -> int:
    """Return the index of a feature given by name or index."""
    if isinstance(feature, (int, np.integer)):
        if not -len(known) <= feature < len(known):
            raise ValueError(f"feature {feature} is not among the {len(known)} features, 0 to {len(known) - 1}.")
        return int(feature) % len(known)
    if feature not in known:
        raise unknown_name("feature", feature, known)
    return known.index(feature)
