"""What smaller rule bases would cost."""

from typing import Any

import numpy as np

from takagi._text import format_share
from takagi._typing import Table
from takagi.inspection import export_text
from takagi.report._table import spread_rows, take_rows
from takagi.simplification import Simplification, simplify

_LOSS, _RULES = 0.05, 5  # what is shown: little worse, and few rules
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
        "choices": [
            _describe_choice(found.at(max_loss=_LOSS), f"At most {format_share(_LOSS)} worse"),
            _describe_choice(found.at(max_rules=_RULES), f"At most {_RULES} rules"),
        ],
    }


def _describe_choice(choice: Simplification, limit: str) -> dict[str, Any]:
    """Return a smaller model: its figures, and its rules as text."""
    figures = {name: getattr(choice.point, name) for name in _FIGURES}
    return {"limit": limit, **figures, "text": export_text(choice.model)}
