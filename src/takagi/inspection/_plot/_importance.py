"""Importance of columns, through conditions and through consequents."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from takagi._model import open_committee
from takagi._typing import Table
from takagi._wording import name_formulas, name_outputs
from takagi.inspection._importance import feature_importance
from takagi.inspection._plot._display import Display
from takagi.inspection._plot._style import (
    CONDITIONS,
    CONSEQUENTS,
    DATA,
    RULE_COLORS,
    as_plain,
    clear_frame,
    put_legend_above,
    thin_ticks,
)


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """Importance of each column: overall, through the consequents, and through the conditions.

    Use `from_estimator`. Gray bars are the overall importance, by which the columns are sorted; the colored bars in
    them are its two parts. These need not add up, since they may cancel out. Marks are the permutation importance, the
    growth of the RMSE when a column is shuffled, if there are targets. All are in the target's units.

    Parameters
    ----------
    table : pandas.DataFrame
        What `feature_importance` returns.
    output_name : str, default="y"
        Name of the output.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import ImportanceDisplay
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=3, max_iter=200, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, X)
    >>> list(display.table.columns)
    ['feature', 'conditions', 'consequents', 'overall']
    """

    table: Any
    output_name: str = "y"

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Table,
        y: Table = None,
        *,
        output: str | int = 0,
        n_repeats: int = 5,
        random_state: Any = None,
        max_features: int = 15,
        ax: Any = None,
    ) -> "ImportanceDisplay":
        """Draw the importance of a fitted estimator's columns.

        Parameters
        ----------
        estimator : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
            A fitted model.
        X : array or data frame of shape (n_rows, n_columns)
            Data.
        y : array of shape (n_rows,) or (n_rows, n_outputs), optional
            Their targets, for the permutation importance.
        output : int or str, default=0
            The output.
        n_repeats : int, default=5
            Permutations of each column.
        random_state : int, RandomState instance or None, default=None
            Makes the permutations reproducible.
        max_features : int, default=15
            Largest number of columns to show.
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        opened = open_committee(estimator).first
        name = name_formulas(opened.model.link, name_outputs(opened.model))[opened.find_output(output)]
        table = feature_importance(estimator, X, y, output=output, n_repeats=n_repeats, random_state=random_state)
        return cls(table, name).plot(ax, max_features=max_features)

    def _draw(self, ax: Any, max_features: int = 15) -> None:
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1, got {max_features}.")
        shown = self.table.head(max_features)
        (ax,) = self._take_axes(ax, 1, (6.4, 1.3 + 0.36 * len(shown)))
        lines = np.arange(len(shown))
        handles = [
            ax.barh(lines, shown["overall"], 0.8, label="overall", zorder=0, **DATA),
            ax.barh(lines - 0.17, shown["consequents"], 0.24, color=CONSEQUENTS, label="through the consequents"),
            ax.barh(lines + 0.17, shown["conditions"], 0.24, color=CONDITIONS, label="through the conditions"),
        ]
        if "permutation" in shown:
            style = {"ls": "", "marker": "D", "ms": 5, "mew": 1.2, "mfc": "none", "mec": RULE_COLORS[4]}
            handles += ax.plot(shown["permutation"], lines, label="permutation", **style)
        ax.set_yticks(lines, [as_plain(name) for name in shown["feature"]])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        left_out = f" ({len(shown)} of {len(self.table)} columns)" if len(shown) < len(self.table) else ""
        ax.set_xlabel(f"mean change of {as_plain(self.output_name)}{left_out}")
        ax.tick_params(axis="y", length=0)
        clear_frame(ax, "left")
        thin_ticks(ax, 6)
        put_legend_above(ax, handles)
