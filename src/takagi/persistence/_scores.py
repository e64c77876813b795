"""Scores of a model, and hashes of the rows that trained it, as plain JSON values and back."""

import itertools
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from takagi._model import list_steps
from takagi.known import KnownRows
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
    """Give a model the scores that `encode_scores` made plain values of."""
    last = _find_last(model, node)
    parts = node.open(_FIELDS, optional=("seen",))
    scores = tuple(_decode(score) for score in parts["scores"])
    if len(scores) < 2:
        parts["scores"].refuse("a list of at least 2 scores")
    last.scores_ = ScoreSheet(
        measure=parts["measure"].text(),
        second=parts["second"].text(),
        method=parts["method"].text(),
        n_rows=parts["n_rows"].integer(least=1),
        scores=scores,
    )
    if "seen" in parts:  # of files from before models without scores knew their rows
        decode_known_rows(model, parts["seen"])


def encode_known_rows(model: Any) -> dict[str, list[int]]:
    """Return hashes of the rows that trained a model under their name; nothing if they are not known."""
    known = getattr(list_steps(model)[-1], "known_rows_", None)
    return {} if known is None else {"known_rows": list(known.hashes)}


def decode_known_rows(model: Any, node: Node) -> None:
    """Let a model know rows by the hashes that `encode_known_rows` listed."""
    hashes = tuple(number.integer(least=0) for number in node)
    if any(one >= other for one, other in itertools.pairwise(hashes)):
        node.refuse("a list of integers that grow")
    _find_last(model, node).known_rows_ = KnownRows(hashes)


def _find_last(model: Any, node: Node) -> Any:
    """Return the estimator that a model ends in."""
    last = list_steps(model)[-1]
    if not hasattr(last, "get_params"):
        node.refuse("absent for rules alone")
    return last


def _encode(value: Any) -> Any:
    return value if isinstance(value, str) or np.isfinite(value) else None


def _decode(node: Node) -> Score:
    parts = node.open(("who", *_NUMBERS))
    numbers = {name: parts[name].maybe(Node.number) for name in _NUMBERS}
    return Score(parts["who"].text(), **{name: np.nan if value is None else value for name, value in numbers.items()})
