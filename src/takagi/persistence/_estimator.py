"""A fitted regressor or classifier as plain JSON values and back."""

from typing import Any

import numpy as np

from takagi._validation import TrainingData
from takagi.estimators import TSKClassifier, TSKRegressor
from takagi.fitting import RECIPES, Fitted, Stage
from takagi.persistence._parts import decode_classes, encode_classes
from takagi.persistence._rules import build, decode_names, decode_parts, encode_names, encode_numbers, encode_parts
from takagi.persistence._schema import Node
from takagi.persistence._stream import decode_stream, encode_stream
from takagi.training import TrainConfig

_FIELDS = (
    "class", "parameters", "feature_names", "is_single_target", "parts", "recipe", "used", "best_iter", "n_iter",
    "stopped", "history", "stages",
)  # fmt: skip
_USED = ("keep_prob", "batch_size", "l2", "smoothness")
_STOPPED = ("max_iter", "no_change", "callback", "interrupted", "diverged", "ridge", "logistic", "stream", "limits")


def encode_estimator(model: TSKRegressor | TSKClassifier) -> dict[str, Any]:
    """Return the fitted attributes; a model is a sum of parts, which are rule bases."""
    used = {name: getattr(model, f"{name}_") for name in _USED}
    return {
        "feature_names": encode_names(model),
        "is_single_target": bool(model.is_single_target_),
        **encode_parts(model.model_),
        "recipe": model.recipe_,
        "used": {name: int(value) if name == "batch_size" else float(value) for name, value in used.items()},
        "best_iter": int(model.best_iter_),
        "n_iter": int(model.n_iter_),
        "stopped": model.stopped_,
        "history": {name: encode_numbers(values) for name, values in model.history_.items()},
        "stages": encode_stages(model.stages_),
        **(encode_classes(model) if isinstance(model, TSKClassifier) else {}),
        **({"set_scores": model.set_scores_.tolist()} if hasattr(model, "set_scores_") else {}),
        **({"stream": encode_stream(model.stream_)} if hasattr(model, "stream_") else {}),
    }


def decode_estimator(kind: type[Any], parameters: dict[str, Any], node: Node) -> TSKRegressor | TSKClassifier:
    """Return a regressor or classifier from the output of `encode_estimator`."""
    has_classes = kind is TSKClassifier
    needed, optional = ((*_FIELDS, "classes"), ("set_scores", "target")) if has_classes else (_FIELDS, ("calibration",))
    parts = node.open(needed, optional=("stream", *optional))
    rules = decode_parts(parts)
    if (rules.link != "identity") != has_classes:
        parts["parts"].refuse(f"rules {'with' if has_classes else 'without'} a link for a {kind.__name__}")
    fitted = Fitted(
        model=rules,
        recipe=parts["recipe"].text(RECIPES),
        config=_decode_used(parts["used"]),
        n_iter=parts["n_iter"].integer(least=0),
        best_iter=parts["best_iter"].integer(least=0),
        stopped=parts["stopped"].text(_STOPPED),
        history=_decode_history(parts["history"], parts["n_iter"].integer(least=0)),
        stages=decode_stages(parts["stages"]),
    )
    is_single = parts["is_single_target"].flag()
    if is_single and rules.n_outputs > 1:
        parts["is_single_target"].refuse("false for rules with several outputs")
    none = np.empty((0, rules.n_features)), np.empty((0, rules.n_outputs)), np.empty(0)
    names = decode_names(parts["feature_names"], rules.n_features)
    classes = decode_classes(parts["classes"], rules) if has_classes else None
    class_name = parts["target"].text() if "target" in parts else None
    data = TrainingData(*none, names, None, is_single, classes, class_name)
    stream = decode_stream(parts["stream"], rules, fitted) if "stream" in parts else None
    model = kind.from_fitted(fitted, data, parameters, stream)
    if "set_scores" in parts:
        model.set_scores_ = _decode_scores(parts["set_scores"])
    return model


def _decode_scores(node: Node) -> np.ndarray:
    """Return sorted numbers from 0 to 1, at least one."""
    scores = node.array(1)
    if not len(scores) or scores[0] < 0 or scores[-1] > 1 or (np.diff(scores) < 0).any():
        node.refuse("numbers from 0 to 1, sorted")
    return scores


def _decode_used(node: Node) -> TrainConfig:
    parts = node.open(_USED)
    numbers = {name: parts[name].number() for name in ("keep_prob", "l2", "smoothness")}
    batch_size = parts["batch_size"].integer(least=1)
    return build(node, lambda: TrainConfig(batch_size=batch_size, **numbers))  # type: ignore[arg-type]


def _decode_history(node: Node, n_iter: int) -> dict[str, np.ndarray]:
    """Return the curves; their length is known unless they list their iterations."""
    curves = node.open(("train_loss", "val_loss"), optional=("iteration",))
    history = {name: curve.array(1, null=np.nan) for name, curve in curves.items()}
    n_iter = len(history["iteration"]) if "iteration" in history else n_iter
    for name, curve in curves.items():
        if len(history[name]) != n_iter:
            curve.refuse(f"a list of n_iter = {n_iter} numbers")
    return history


def encode_stages(stages: tuple[Stage, ...]) -> list[dict[str, Any]]:
    """Return the stages of a fit without their seconds, so that equal fits have equal files."""
    return [{"name": stage.name, "n_fits": stage.n_fits, "n_iter": stage.n_iter} for stage in stages]


def decode_stages(node: Node) -> tuple[Stage, ...]:
    """Return the stages of a fit, whose seconds are not known."""
    stages = [stage.open(("name", "n_fits", "n_iter")) for stage in node]
    return tuple(
        Stage(stage["name"].text(), stage["n_fits"].integer(least=0), stage["n_iter"].integer(least=0), np.nan)
        for stage in stages
    )
