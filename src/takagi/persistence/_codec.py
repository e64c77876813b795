"""Models as plain JSON values and back; classes come from fixed tables, so that nothing is imported by name."""

from collections.abc import Callable, Collection
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from takagi._compat import validate_parameters
from takagi._messages import warn_user
from takagi.estimators import TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi.initializers import INITIALIZERS
from takagi.optimizers import OPTIMIZERS
from takagi.persistence._committee import decode_committee, encode_committee
from takagi.persistence._estimator import decode_estimator, encode_estimator
from takagi.persistence._parts import check_steps, decode_column
from takagi.persistence._rules import (
    build,
    decode_names,
    decode_parts,
    decode_rules,
    encode_names,
    encode_parts,
    encode_rules,
)
from takagi.persistence._schema import ModelFileError, Node
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.tables import Column, TableEncoder

_SCALERS: dict[type, tuple[str, ...]] = {  # with their fitted attributes
    StandardScaler: ("mean_", "var_", "scale_", "n_samples_seen_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_", "n_samples_seen_"),
    MaxAbsScaler: ("max_abs_", "scale_", "n_samples_seen_"),
    RobustScaler: ("center_", "scale_"),
}
_SWITCHES = {  # parameters of scalers that, if false, drop a fitted attribute
    "mean_": ("with_mean",),
    "var_": ("with_std",),
    "scale_": ("with_std", "with_scaling"),
    "center_": ("with_centering",),
}
_FIRST = tuple(kind.__name__ for kind in (TableEncoder, *_SCALERS))
_SINGLE = (TSKRegressor, TSKClassifier)
_COMMITTEES = {TSKCommittee: TSKRegressor, TSKCommitteeClassifier: TSKClassifier}  # with the class of their members
_MODELS = (*_SINGLE, *_COMMITTEES)
_LAST = tuple(kind.__name__ for kind in _MODELS)
_STEPS: dict[str, type] = {kind.__name__: kind for kind in (TableEncoder, *_SCALERS, *_MODELS)}
_SETTINGS: dict[str, type] = {
    type(known).__name__: type(known) for known in (*INITIALIZERS.values(), *OPTIMIZERS.values())
}
_OUTPUTS = ("default", "pandas", "polars")
_BEFORE = {"extrapolation": "linear"}  # behavior of older models without these parameters, if it is not the default


# -- models and pipelines ----------------------------------------------------------------------------------------------


def encode_model(model: Any) -> dict[str, Any]:
    """Return a model as dicts, lists, strings, numbers and None."""
    if type(model) is RuleBase:
        return {"class": "RuleBase", "rules": encode_rules(model)}
    if type(model) is RuleModel:
        return {"class": "RuleModel", **encode_parts(model)}
    if type(model) in _MODELS:
        return _encode_step(model, "model")
    if type(model) is not Pipeline or type(model.steps[-1][1]) not in _MODELS:
        ending = f" that ends in {type(model.steps[-1][1]).__name__}" if type(model) is Pipeline else ""
        hint = " Save its best_estimator_." if hasattr(model, "best_estimator_") else ""
        raise ModelFileError(
            "A model file holds a TSKRegressor, TSKClassifier or a committee of them, a Pipeline that ends in one, a "
            f"RuleBase or a RuleModel, got a {type(model).__name__}{ending}.{hint}"
        )
    return {
        "class": "Pipeline",
        "steps": [{"name": name, "step": _encode_step(step, name)} for name, step in model.steps],
        "transform_input": None if model.transform_input is None else list(model.transform_input),
        "verbose": bool(model.verbose),
    }


def decode_model(node: Node) -> Any:
    """Return a model from the output of `encode_model`."""
    kind = node.field("class").text(("RuleBase", "RuleModel", *_LAST, "Pipeline"))
    if kind == "RuleBase":
        return decode_rules(node.open(("class", "rules"))["rules"])
    if kind == "RuleModel":
        return decode_parts(node.open(("class", "parts"), optional=("calibration",)))
    if kind in _LAST:
        return _decode_step(node, _LAST)
    parts = node.open(("class", "steps", "transform_input", "verbose"))
    names, nodes = [], []
    for item in parts["steps"]:
        step = item.open(("name", "step"))
        names.append(step["name"].text())
        nodes.append(step["step"])
    if not names or len(set(names)) < len(names):
        parts["steps"].refuse("a list of steps with different names")
    steps = [decode_first(step) for step in nodes[:-1]] + [_decode_step(nodes[-1], _LAST)]
    check_steps(steps, nodes)
    return Pipeline(
        list(zip(names, steps, strict=True)),
        transform_input=parts["transform_input"].maybe(lambda value: list(value.texts())),
        verbose=parts["verbose"].flag(),
    )


# -- steps -------------------------------------------------------------------------------------------------------------


def _encode_step(step: Any, name: str) -> Any:
    if step is None or isinstance(step, str):  # no step, or "passthrough"
        return step
    if type(step) not in _STEPS.values():
        raise ModelFileError(
            f"The step {name!r} is a {type(step).__name__}, which a model file cannot hold: before the regressor it "
            f"holds {', '.join(_FIRST)}. Do that step outside the pipeline, and save the rest."
        )
    if type(step) in _SINGLE:
        step.find_rules()  # which says how many rows a stream still needs
    check_is_fitted(step)
    if type(step) in _COMMITTEES:
        return encode_committee(step, lambda member: _encode_step(member, name), _encode_value)
    encode: Callable[[Any], dict[str, Any]] = _encode_encoder if type(step) is TableEncoder else _encode_scaler
    if type(step) in _SINGLE:
        encode = encode_estimator
    parameters = {key: _encode_value(value, key) for key, value in step.get_params(deep=False).items()}
    return {"class": type(step).__name__, "parameters": parameters, **encode(step)}


def decode_first(node: Node) -> Any:
    """Return a step before the last one of a pipeline."""
    return _decode_step(node, _FIRST)


def _decode_step(node: Node, kinds: Collection[str]) -> Any:
    if node.value in (None, "passthrough") and kinds == _FIRST:
        return node.value
    kind = _STEPS[node.field("class").text(kinds)]
    if kind in _COMMITTEES:
        of = (_COMMITTEES[kind].__name__,)
        return decode_committee(kind, node, lambda member: _decode_step(member, of), _decode_parameters)
    parameters = _decode_parameters(node.field("parameters"), kind)
    if kind in _SINGLE:
        return decode_estimator(kind, parameters, node)
    decode = _decode_encoder if kind is TableEncoder else _decode_scaler
    return decode(kind(**parameters), node)


def _encode_encoder(encoder: TableEncoder) -> dict[str, Any]:
    columns = [{f.name: getattr(column, f.name) for f in fields(Column)} for column in encoder.columns_]
    return {"has_names": hasattr(encoder, "feature_names_in_"), "output": _encode_output(encoder), "columns": columns}


def _decode_encoder(encoder: TableEncoder, node: Node) -> TableEncoder:
    parts = node.open(("class", "parameters", "has_names", "output", "columns"))
    columns = [decode_column(column) for column in parts["columns"]]
    has_names = parts["has_names"].flag()
    fitted = build(
        parts["columns"],
        lambda: TableEncoder.from_columns(columns, has_names=has_names, **encoder.get_params()),
    )
    return _decode_output(fitted, parts["output"])


def _encode_scaler(scaler: Any) -> dict[str, Any]:
    fitted = {name: getattr(scaler, name) for name in _SCALERS[type(scaler)]}
    return {
        "n_features": int(scaler.n_features_in_),
        "feature_names": encode_names(scaler),
        "output": _encode_output(scaler),
        "fitted": {name: value.tolist() if hasattr(value, "tolist") else value for name, value in fitted.items()},
    }


def _decode_scaler(scaler: Any, node: Node) -> Any:
    parts = node.open(("class", "parameters", "n_features", "feature_names", "output", "fitted"))
    scaler.n_features_in_ = parts["n_features"].integer(least=1)
    names = decode_names(parts["feature_names"], scaler.n_features_in_)
    if names is not None:
        scaler.feature_names_in_ = names
    for name, value in parts["fitted"].open(_SCALERS[type(scaler)]).items():
        read = partial(_decode_fitted, name=name, n_features=scaler.n_features_in_)
        may_lack = any(getattr(scaler, switch, True) is False for switch in _SWITCHES.get(name, ()))
        setattr(scaler, name, value.maybe(read) if may_lack else read(value))
    return _decode_output(scaler, parts["output"])


def _decode_fitted(node: Node, name: str, n_features: int) -> Any:
    if name == "n_samples_seen_" and type(node.value) is not list:
        return node.integer(least=0) if type(node.value) is int else node.number()
    values = node.array(1)
    if len(values) != n_features:
        node.refuse(f"a list of n_features = {n_features} numbers")
    return values


# -- parameters, names, and what transformers give ---------------------------------------------------------------------


def _encode_value(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    if isinstance(value, tuple | list):
        return [_encode_value(item, name) for item in value]
    if name == "class_weight":
        return {"class": "dict", "items": [[_encode_value(part, name) for part in item] for item in value.items()]}
    if type(value) in _SETTINGS.values():
        settings = {f.name: _encode_value(getattr(value, f.name), f"{name}.{f.name}") for f in fields(value)}
        return {"class": type(value).__name__, **settings}
    if name == "random_state":
        warn_user(f"A model file cannot hold random_state={value!r}; None is saved in its place.")
        return None
    raise ModelFileError(f"A model file cannot hold the parameter {name}={value!r}.")


def _decode_parameters(node: Node, kind: type) -> dict[str, Any]:
    """Return the parameters of a class; those missing in an older file get their values of that time."""
    known = kind().get_params(deep=False)
    parameters = {name: value for name, value in _BEFORE.items() if name in known}
    parameters |= {name: _decode_value(value) for name, value in node.open((), optional=known).items()}
    build(node, lambda: validate_parameters(kind(**parameters)))
    return parameters


def _decode_value(node: Node) -> Any:
    if type(node.value) is list:
        return tuple(item.scalar() for item in node)
    if type(node.value) is not dict:
        return node.scalar()
    if node.field("class").text((*_SETTINGS, "dict")) == "dict":
        pairs = [[part.scalar() for part in item] for item in node.open(("class", "items"))["items"]]
        return build(node, lambda: dict(pairs))
    kind = _SETTINGS[node.field("class").text(_SETTINGS)]
    parts = node.open(["class", *(f.name for f in fields(kind))])
    read = {f.name: parts[f.name].integer if type(f.default) is int else parts[f.name].number for f in fields(kind)}
    return build(node, lambda: kind(**{name: take() for name, take in read.items()}))


def _encode_output(step: Any) -> str | None:
    return getattr(step, "_sklearn_output_config", {}).get("transform")


def _decode_output(step: Any, node: Node) -> Any:
    return step.set_output(transform=node.maybe(lambda value: value.text(_OUTPUTS)))
