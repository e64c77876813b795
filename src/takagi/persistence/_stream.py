"""The state of a stream as plain JSON values and back, so that a loaded model continues exactly where it stopped."""

import re
from typing import Any

import numpy as np

from takagi._typing import FloatArray
from takagi.fitting import MAX_VALIDATION_ROWS, Fitted, Rows, Units
from takagi.kernels import PARAMETERS, flatten, split
from takagi.persistence._rules import build, decode_rules, encode_numbers, encode_rules
from takagi.persistence._schema import Node
from takagi.rulebase import RuleBase, pack, unpack
from takagi.rulemodel import RuleModel
from takagi.streaming import Learner, Moments, Seen, Stream

_VECTORS = ("theta", "mean", "spread", "average", "best")
_PARTS = ("reservoir", "waiting", "recent")
_SEEN = ("seed", "fraction", "n_rows", "x", "y", *_PARTS)
_MOMENTS = ("weight", "mean", "spread", "low", "high")
_ROWS = ("X", "y", "weight")
_UNITS = ("x_mean", "x_scale", "y_mean", "y_scale")
_LEARNER = ("start", "units", "is_constant", "averaging", "best_loss", "best_iter", "n_iter")
_WORD = re.compile("[0-9a-f]{32}")


def encode_stream(stream: Stream) -> dict[str, Any]:
    """Return the state of a stream as dicts, lists and numbers, without the history."""
    return {
        "rng": _encode_rng(stream.rng),
        "seen": None if stream.seen is None else _encode_seen(stream.seen),
        "learner": None if stream.learner is None else _encode_learner(stream.learner),
    }


def decode_stream(node: Node, model: RuleModel, fitted: Fitted) -> Stream:
    """Return a stream that has made the given rules, or continues from them."""
    rules = model.first
    if len(model.parts) > 1 or rules.bends:
        node.refuse("absent, since rules with bends or in several parts are not trained by a stream")
    parts = node.open(("rng", "seen", "learner"))
    learner = parts["learner"].maybe(lambda learner: _decode_learner(learner, rules, fitted.history))
    return Stream(
        rng=_decode_rng(parts["rng"]),
        start=rules if learner is None else None,
        target_names=rules.output_names,
        seen=_decode_seen(parts["seen"], rules.n_features, rules.n_outputs),
        learner=learner,
        config=fitted.config,
    )


# -- rows --------------------------------------------------------------------------------------------------------------


def _encode_seen(seen: Seen) -> dict[str, Any]:
    encoded: dict[str, Any] = {"seed": seen.seed, "fraction": seen.fraction, "n_rows": seen.n_rows}
    encoded |= {name: _encode_arrays(getattr(seen, name), _MOMENTS) for name in ("x", "y")}
    return encoded | {name: _encode_rows(getattr(seen, name)) for name in _PARTS}


def _decode_seen(node: Node, n_features: int, n_outputs: int) -> Seen:
    parts = node.open(_SEEN)
    fraction = parts["fraction"].number()
    if not 0 < fraction < 1:
        parts["fraction"].refuse("a number between 0 and 1")
    seen = Seen(
        seed=parts["seed"].integer(least=0),
        fraction=fraction,
        n_rows=parts["n_rows"].integer(least=1),
        x=_decode_moments(parts["x"], n_features),
        y=_decode_moments(parts["y"], n_outputs),
        **{name: _decode_rows(parts[name], n_features, n_outputs) for name in _PARTS},
    )
    if len(seen.reservoir.X) > MAX_VALIDATION_ROWS:
        parts["reservoir"].refuse(f"at most {MAX_VALIDATION_ROWS} rows")
    return seen


def _decode_moments(node: Node, n_columns: int) -> Moments:
    parts = node.open(_MOMENTS)
    weight = parts["weight"].number()
    if weight <= 0:
        parts["weight"].refuse("a positive number")
    return Moments(weight=weight, **{name: parts[name].shaped((n_columns,)) for name in _MOMENTS[1:]})


def _encode_rows(rows: Rows) -> dict[str, Any]:
    """Return rows as plain values, null where a feature is missing."""
    return {**_encode_arrays(rows, _ROWS), "X": encode_numbers(rows.X)}


def _decode_rows(node: Node, n_features: int, n_outputs: int) -> Rows:
    parts = node.open(_ROWS)
    weight = parts["weight"].array(1)
    if not (weight > 0).all():
        parts["weight"].refuse("positive numbers")
    X = parts["X"].shaped((len(weight), n_features), null=np.nan)
    return Rows(X, parts["y"].shaped((len(weight), n_outputs)), weight)


# -- the state of training ---------------------------------------------------------------------------------------------


def _encode_learner(learner: Learner) -> dict[str, Any]:
    return {
        "start": encode_rules(learner.start),
        "units": _encode_arrays(learner.units, _UNITS),
        "is_constant": learner.is_constant.tolist(),
        "averaging": float(learner.averaging),
        "best_loss": learner.best_loss if np.isfinite(learner.best_loss) else None,
        "best_iter": learner.best_iter,
        "n_iter": learner.n_iter,
        **{name: _encode_vector(getattr(learner.state, name), learner.start) for name in _VECTORS},
    }


def _encode_vector(vector: FloatArray, rules: RuleBase) -> dict[str, Any]:
    """Return a flat vector as arrays by parameter, independent of the order of the kernels; infinity is null."""
    parts = split(vector, pack(rules)[1])
    return {name: encode_numbers(values) for name, values in parts.items()}


def _decode_parameters(node: Node, rules: RuleBase) -> dict[str, FloatArray]:
    expected = {name: getattr(rules, name) for name in PARAMETERS if getattr(rules, name) is not None}
    parts = node.open(tuple(expected))
    values = {name: parts[name].shaped(values.shape, np.inf) for name, values in expected.items()}
    for name in values:
        if name != "widths" and not np.isfinite(values[name]).all():
            parts[name].refuse("finite numbers")
    return values


def _decode_learner(node: Node, rules: RuleBase, history: dict[str, FloatArray]) -> Learner:
    if "iteration" not in history:
        node.refuse("null, since the history has no iterations")
    parts = node.open((*_LEARNER, *_VECTORS))
    start = decode_rules(parts["start"])
    if (start.n_features, start.n_outputs) != (rules.n_features, rules.n_outputs):
        parts["start"].refuse(f"rules of {rules.n_features} features and {rules.n_outputs} outputs")
    if start.bends:
        parts["start"].refuse("rules without bends")
    is_constant = np.array([item.flag() for item in parts["is_constant"]])
    if len(is_constant) != rules.n_features:
        parts["is_constant"].refuse(f"a list of {rules.n_features} truth values")
    learner = Learner.begin(start, _decode_units(parts["units"], rules), is_constant)
    learner.averaging = parts["averaging"].number()
    learner.history = np.column_stack([history[name] for name in ("iteration", "train_loss", "val_loss")])
    _decode_state(parts, learner)
    return learner


def _decode_units(node: Node, rules: RuleBase) -> Units:
    parts = node.open(_UNITS)
    sizes = (rules.n_features, rules.n_features, rules.n_outputs, rules.n_outputs)
    units = Units(*(parts[name].shaped((size,)) for name, size in zip(_UNITS, sizes, strict=True)))
    for name in ("x_scale", "y_scale"):
        if not (getattr(units, name) > 0).all():
            parts[name].refuse("positive numbers")
    return units


def _decode_state(parts: dict[str, Node], learner: Learner) -> None:
    """Fill in the state of a learner."""
    state, rules = learner.state, learner.start
    for name in _VECTORS:
        values = _decode_parameters(parts[name], rules)
        getattr(state, name)[:] = flatten(values, {}) if name in ("mean", "spread") else flatten(values)
    build(parts["theta"], lambda: unpack(state.theta, rules))
    build(parts["best"], lambda: unpack(state.best, rules))
    best_loss = parts["best_loss"].maybe(Node.number)
    state.best_loss[0] = np.nan if best_loss is None else best_loss
    state.best_iter[0] = parts["best_iter"].integer(least=0)
    state.n_iter[0] = parts["n_iter"].integer(least=0)


def _encode_arrays(parts: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: np.asarray(getattr(parts, name)).tolist() for name in names}


def _encode_rng(rng: np.random.Generator) -> dict[str, Any]:
    state = rng.bit_generator.state
    words = {name: f"{word:032x}" for name, word in state["state"].items()}  # 128 bits
    return {**words, "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}


def _decode_rng(node: Node) -> np.random.Generator:
    parts = node.open(("state", "inc", "has_uint32", "uinteger"))
    for name in ("state", "inc"):
        if not _WORD.fullmatch(parts[name].text()):
            parts[name].refuse("32 hexadecimal digits")
    rng = np.random.Generator(np.random.PCG64(0))
    rest = {name: parts[name].integer(least=0) for name in ("has_uint32", "uinteger")}
    words = {name: int(parts[name].value, 16) for name in ("state", "inc")}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": words, **rest}
    return rng
