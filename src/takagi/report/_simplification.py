"""The loss of accuracy of smaller models."""

from typing import Any

import numpy as np

from takagi._typing import Table
from takagi.inspection import export_text
from takagi.report._table import spread_rows, take_rows
from takagi.simplification import Simplification, simplify

_RULES = (5, 2)  # of the models that are shown
_MOST_ROWS = 1_000
_FIGURES = ("n_words", "n_rules", "n_conditions", "val_loss")


def summarize_simplification(model: Any, X: Table, y: Table) -> dict[str, Any]:
    """Return the trade-off between words and error, or the reason why there is none."""
    index = spread_rows(len(y), _MOST_ROWS)
    try:
        found = simplify(model, take_rows(X, index), take_rows(y, index))
    except (ValueError, np.linalg.LinAlgError) as error:
        return {"reason": str(error)}
    return {
        "n_rows": len(index),
        "curve": {name: [getattr(point, name) for point in found.curve] for name in _FIGURES},
        "pareto": found.find_pareto(),
        "whole": {name: getattr(found.curve[0], name) for name in _FIGURES},
        "choices": [_describe_choice(found, n_rules) for n_rules in _RULES],
    }


def _describe_choice(found: Simplification, n_rules: int) -> dict[str, Any]:
    """Return the best model with at most the given number of rules: its figures, and its rules as text."""
    choice = found.at(max_rules=n_rules)
    figures = {name: getattr(choice.point, name) for name in _FIGURES}
    return {"max_rules": n_rules, **figures, "text": export_text(choice.model)}
