"""The report: a model and data in, a page out."""

import html
from pathlib import Path
from typing import Any

from takagi._files import write_whole
from takagi._text import format_number
from takagi._typing import Table
from takagi.report._render import render_page
from takagi.report._summarize import Options, summarize_model

_FRAME_HEIGHT = 820  # pixels in a notebook


class ModelReport:
    """An HTML page about a fitted model: its rules, score, importance and a what-if panel.

    The page is one file below 2 MB that needs no network. It has the rules and some rows of X, and can predict: in its
    what-if panel a slider or choice per column changes the prediction, the rules that fire and the contributions at
    once. In a notebook the report displays itself.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, TSKCommitteeClassifier, Pipeline, RuleBase or RuleModel
        A fitted model. Of a committee, scores, curves and importance are those of all members together; the rules, the
        what-if panel and smaller models are those of the member whose predictions are nearest to the committee's.
    X : array or data frame of shape (n_rows, n_columns)
        Rows to score and describe the model with, preferably held-out ones.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of classes.
    title : str, optional
        The page's title; it names the outputs by default.
    simplify : bool, default=True
        Whether to look for smaller models and show their loss of accuracy.
    row : int, default=0
        The first row of X in the what-if panel; a negative number counts from the end.
    max_rows : int, default=100
        Largest number of rows of X in the what-if panel.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations for the importance, and of the folds of ridge regression.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.report import ModelReport
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X, y = X[["bmi", "bp"]], y.rename("progression")
    >>> model = TSKRegressor(n_rules=2, max_iter=500, random_state=0).fit(X[:300], y[:300])
    >>> report = ModelReport(model, X[300:], y[300:], simplify=False)
    >>> report  # doctest: +ELLIPSIS
    ModelReport('Model report: progression', 2 rules, 142 rows, RMSE ...)
    >>> page = report.to_html()
    >>> len(page.encode()) < 2_000_000
    True
    """

    def __init__(
        self,
        model: Any,
        X: Table,
        y: Table,
        *,
        title: str | None = None,
        simplify: bool = True,
        row: int = 0,
        max_rows: int = 100,
        random_state: Any = 0,
    ) -> None:
        options = Options(title=title, simplify=simplify, row=row, max_rows=max_rows, random_state=random_state)
        self._summary = summarize_model(model, X, y, options)
        self._page: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the page as plain values.

        Returns
        -------
        dict
        """
        return self._summary

    def to_html(self) -> str:
        """Return the page.

        Returns
        -------
        str
        """
        if self._page is None:
            self._page = render_page(self._summary)
        return self._page

    def write_html(self, path: str | Path) -> Path:
        """Write the page to a file atomically.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced.

        Returns
        -------
        Path
        """
        return write_whole(Path(path), self.to_html().encode())

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that neither styles nor scripts reach the notebook."""
        return (
            f'<iframe title="{html.escape(self._summary["title"])}" sandbox="allow-scripts" '
            f'srcdoc="{html.escape(self.to_html())}" '
            f'style="width: 100%; height: {_FRAME_HEIGHT}px; border: 0; resize: vertical"></iframe>'
        )

    def __repr__(self) -> str:
        summary, kept = self._summary, self._summary["kept"]
        measure = "log_loss" if summary["classes"] else "rmse"
        errors = ", ".join(format_number(score["scores"][0][measure]) for score in summary["scores"])
        if kept is not None and kept["is_shown"]:
            errors = f"{format_number(kept['scores'][0]['error'])} by {kept['method']}"
        size = f"{summary['members']['n']} members" if summary["members"] else f"{summary['n_rules']} rules"
        return (
            f"ModelReport({summary['title']!r}, {size}, {summary['data']['n_rows']} rows, {summary['error']} {errors})"
        )
