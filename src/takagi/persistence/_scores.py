"""Scores of a model as plain JSON values and back."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from takagi._model import list_steps
from takagi.persistence._schema import Node
from takagi.scores import Score, ScoreSheet

_FIELDS = [f.name for f in fields(ScoreSheet)]
_NUMBERS = [f.name for f in fields(Score) if f.name != "who"]


def encode_scores(model: Any) -> dict[str, Any]:
    """Return the scores of a model as plain values under their name; nothing if there are none."""
    sheet = getattr(list_steps(model)[-1], "scores_", None)
    if sheet is None:
        return {}
    scores = [{name: _encode(value) for name, value in asdict(score).items()} for score in sheet.scores]
    return {"scores": {**asdict(sheet), "scores": scores}}


def decode_scores(model: Any, node: Node) -> None:
    """Set the scores of a model from the output of `encode_scores`."""
    last = list_steps(model)[-1]
    if not hasattr(last, "get_params"):
        node.refuse("absent for rules alone")
    parts = node.open(_FIELDS)
    scores = tuple(_decode(score) for score in parts["scores"])
    if len(scores) < 2:
        parts["scores"].refuse("a list of at least 2 scores")
    last.scores_ = ScoreSheet(
        measure=parts["measure"].text(),
        second=parts["second"].text(),
        method=parts["method"].text(),
        n_rows=parts["n_rows"].integer(least=1),
        scores=scores,
        seen=tuple(number.integer(least=0) for number in parts["seen"]),
    )


def _encode(value: Any) -> Any:
    return value if isinstance(value, str) or np.isfinite(value) else None


def _decode(node: Node) -> Score:
    parts = node.open(("who", *_NUMBERS))
    numbers = {name: parts[name].maybe(Node.number) for name in _NUMBERS}
    return Score(parts["who"].text(), **{name: np.nan if value is None else value for name, value in numbers.items()})
