"""What smaller rule bases would cost."""

from typing import Any

import numpy as np

from takagi._model import OpenModel
from takagi._typing import Table
from takagi.inspection import export_text
from takagi.report._table import spread_rows, take_rows
from takagi.simplification import Simplification, simplify

_LOSSES = (0.02, 0.05)
_MOST_ROWS = 1_000
_MOST_SETS = 400  # rules times features; more would take long
_FIGURES = ("n_words", "n_rules", "n_conditions", "val_loss")


def summarize_simplification(model: Any, opened: OpenModel, X: Table, y: Table) -> dict[str, Any]:
    """Return the trade-off between words and error, or the reason why there is none."""
    n_parts = len(opened.model.parts)
    if n_parts > 1:
        return {"reason": f"The model is a sum of {n_parts} rule bases, and only one by itself can be made smaller."}
    if opened.model.n_rules * opened.model.n_features > _MOST_SETS:
        return {"reason": "It would take long for a model of this size; call takagi.inspection.simplify by itself."}
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
        "choices": [_describe_choice(found, loss) for loss in _LOSSES],
    }


def _describe_choice(found: Simplification, max_loss: float) -> dict[str, Any]:
    """Return the model of fewest words within a loss: its figures, and its rules as text."""
    choice = found.at(max_loss=max_loss)
    figures = {name: getattr(choice.point, name) for name in _FIGURES}
    return {"max_loss": max_loss, **figures, "text": export_text(choice.model)}
