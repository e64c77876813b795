"""Conversion of model files of earlier formats to the current one, before they are read.

Only what the conversion needs is checked here; other errors are found when the document is read.
"""

from typing import Any

import numpy as np

from takagi.persistence._rules import encode_numbers
from takagi.persistence._schema import Node

_LANES = 8  # rules side by side in version 1
_VECTORS = ("theta", "mean", "spread", "average", "best")
_RENAMED = {"train_rmse": "train_loss", "val_rmse": "val_loss", "best_rmse": "best_loss"}


def upgrade(node: Node, version: int) -> Node:
    """Return a model of any known version in the current version."""
    return node if version > 1 else Node(_from_1(node.value), node.path)


def _from_1(value: Any) -> Any:
    """Convert all estimators of a document of version 1 to version 2.

    Errors of training became losses, "line" became "ridge", the rules became a list of parts, and the recipe became a
    parameter. Rules have a link, and the state of a stream no longer depends on the order of the kernels. Parameters
    had no bounds.
    """
    if isinstance(value, list):
        return [_from_1(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {_RENAMED.get(name, name): _from_1(item) for name, item in value.items()}
    if "consequents" in value and "profile" in value:  # rules
        value["link"] = "identity"
    kind = value.get("class")
    if kind == "TSKRegressor":
        _split_up(value)
    if kind == "TSKCommittee":
        value["stages"] = []
        _name_recipe(value.get("estimator"))
    return value


def _split_up(model: dict[str, Any]) -> None:
    if "rules" in model:
        model["parts"] = [model.pop("rules")]
    if model.get("stopped") == "line":
        model["stopped"] = "ridge"
    model["recipe"] = _name_recipe(model.get("parameters"))
    model["stages"] = []
    stream = model.get("stream")
    if isinstance(stream, dict) and isinstance(stream.get("learner"), dict):
        _undo_lanes(stream["learner"])


def _name_recipe(parameters: Any) -> str:
    """Set the old meaning of parameters, and return the recipe, which followed from the number of rules or DropRule."""
    if not isinstance(parameters, dict):
        return "accurate"
    n_rules, keep_prob = parameters.get("n_rules", "auto"), parameters.get("keep_prob", "auto")
    drops = n_rules != "auto" if keep_prob == "auto" else keep_prob != 1
    parameters["recipe"] = "droprule" if drops else "accurate"
    parameters.setdefault("bounds", None)
    return parameters["recipe"]


def _undo_lanes(learner: dict[str, Any]) -> None:
    """Replace flat vectors in the order of the kernels by arrays of the shapes of the parameters."""
    try:
        parts = {name: np.shape(learner["start"][name]) for name in _SHAPES if learner["start"][name] is not None}
        for name in _VECTORS:
            learner[name] = _split(np.array(learner[name], dtype=float), parts)
    except (KeyError, TypeError, ValueError, IndexError):
        return  # errors are found when the document is read


_SHAPES = ("centers", "widths", "consequents", "antecedent_projection", "consequent_projection")


def _split(vector: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    place, parts = 0, {}
    for name, shape in shapes.items():
        if name in _SHAPES[3:]:
            parts[name] = vector[place : place + int(np.prod(shape))].reshape(shape).tolist()
            place += int(np.prod(shape))
            continue
        n_rules, n_pages, n_inputs = shape[0], shape[1] if len(shape) == 3 else 1, shape[-1]
        n_blocks = -(-n_rules // _LANES)
        size = n_pages * n_blocks * n_inputs * _LANES
        blocks = vector[place : place + size].reshape(n_pages, n_blocks, n_inputs, _LANES)
        pages = blocks.transpose(0, 1, 3, 2).reshape(n_pages, -1, n_inputs)[:, :n_rules]
        pages = np.where(np.isin(pages, 1e6) & (name == "widths"), np.inf, pages)
        values = pages.swapaxes(0, 1) if len(shape) == 3 else pages[0]
        parts[name] = encode_numbers(values)
        place += size
    return parts
