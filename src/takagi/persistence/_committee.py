"""A committee as plain JSON values and back: its parameters, members and memory, and its predictions out of fold."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from takagi.calibration import Calibration
from takagi.estimators import Memory, TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi.persistence._estimator import decode_stages, encode_stages
from takagi.persistence._rules import decode_calibration, encode_calibration
from takagi.persistence._schema import Node
from takagi.rulemodel import RuleModel

_FIELDS = ("class", "parameters", "estimator", "members", "stages")
_OF_NUMBERS, _OF_CLASSES = ("memory", "oof_rmse", "oof_prediction"), ("oof_log_loss", "oof_proba")
Committee = TSKCommittee | TSKCommitteeClassifier
_TINY = np.finfo(float).tiny  # the smallest number that can be divided by


def encode_committee(
    committee: Committee, encode_member: Callable[[Any], Any], encode_value: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Return a fitted committee as plain values, given what does so for a fitted member and for a parameter."""

    def encode_parameters(estimator: Any) -> dict[str, Any]:
        parameters = estimator.get_params(deep=False)
        return {name: encode_value(value, name) for name, value in parameters.items() if name != "estimator"}

    encode_errors = _encode_losses if isinstance(committee, TSKCommitteeClassifier) else _encode_errors
    return {
        "class": type(committee).__name__,
        "parameters": encode_parameters(committee),
        "estimator": None if committee.estimator is None else encode_parameters(committee.estimator),
        "members": [encode_member(member) for member in committee.estimators_],
        "stages": encode_stages(committee.stages_),
        **encode_errors(committee),
    }


def _encode_errors(committee: TSKCommittee) -> dict[str, Any]:
    """Return what a committee of regressors knows of errors."""
    return {
        "memory": None if committee.memory_ is None else _encode_memory(committee.memory_),
        **encode_calibration(getattr(committee, "calibration_", None)),
        "oof_rmse": np.atleast_1d(committee.oof_rmse_).tolist(),
        "oof_prediction": committee.oof_prediction_.reshape(len(committee.oof_prediction_), -1).T.tolist(),
    }


def _encode_losses(committee: TSKCommitteeClassifier) -> dict[str, Any]:
    """Return what a committee of classifiers knows of losses."""
    return {"oof_log_loss": float(committee.oof_log_loss_), "oof_proba": committee.oof_proba_.T.tolist()}


def decode_committee(
    kind: type[Committee],
    node: Node,
    decode_member: Callable[[Node], Any],
    decode_parameters: Callable[[Node, type], dict[str, Any]],
) -> Committee:
    """Return a committee from what `encode_committee` made of it, given what reads a member and parameters."""
    has_classes = kind is TSKCommitteeClassifier
    parts = node.open(
        (*_FIELDS, *(_OF_CLASSES if has_classes else _OF_NUMBERS)), optional=() if has_classes else ("calibration",)
    )
    member = TSKClassifier if has_classes else TSKRegressor
    committee = kind(**decode_parameters(parts["parameters"], kind))
    committee.estimator = parts["estimator"].maybe(lambda parameters: member(**decode_parameters(parameters, member)))
    committee.estimators_ = [decode_member(one) for one in parts["members"]]
    if len(committee.estimators_) < 2:
        parts["members"].refuse("a list of at least 2 members")
    first, *others = map(_describe, committee.estimators_)
    if any(other != first for other in others):
        parts["members"].refuse("members with the same features and outputs")
    _take_over(committee, committee.estimators_[0])
    committee.stages_ = decode_stages(parts["stages"])
    (_decode_losses if has_classes else _decode_errors)(committee, parts)
    return committee


def _decode_errors(committee: TSKCommittee, parts: dict[str, Node]) -> None:
    """Set what a committee of regressors knows of errors."""
    committee.memory_ = parts["memory"].maybe(partial(_decode_memory, rules=committee.estimators_[0].model_))
    committee.calibration_ = decode_calibration(parts)
    if committee.calibration_ is not None:
        _check_scales(committee, committee.calibration_, parts["calibration"])
    rmse, prediction = parts["oof_rmse"].array(1), parts["oof_prediction"].array(2)
    n_outputs = committee.estimators_[0].model_.n_outputs
    for name, values in (("oof_rmse", rmse), ("oof_prediction", prediction)):
        if len(values) != n_outputs:
            parts[name].refuse(f"a list for {n_outputs} output(s)")
    is_single = committee.is_single_target_
    committee.oof_rmse_ = float(rmse[0]) if is_single else rmse
    committee.oof_prediction_ = prediction[0] if is_single else np.ascontiguousarray(prediction.T)


def _decode_losses(committee: TSKCommitteeClassifier, parts: dict[str, Node]) -> None:
    """Set what a committee of classifiers knows of losses."""
    proba, n_classes = parts["oof_proba"].array(2), len(committee.classes_)
    if len(proba) != n_classes:
        parts["oof_proba"].refuse(f"a list for {n_classes} classes")
    committee.oof_log_loss_ = parts["oof_log_loss"].number()
    committee.oof_proba_ = np.ascontiguousarray(proba.T)


def _check_scales(committee: TSKCommittee, calibration: Calibration, node: Node) -> None:
    models = [member.model_ for member in committee.estimators_]
    shape = sum(model.n_rules for model in models), models[0].n_outputs
    if calibration.scale.shape != shape:
        node.refuse(f"scales of {shape[0]} rules and {shape[1]} output(s)")


def _encode_memory(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain values, column by column; an output of which nothing is remembered has no damping."""
    return {
        "rows": memory.rows.T.tolist(),
        "weight": memory.weight.tolist(),
        "errors": memory.errors.T.tolist(),
        "widths": memory.widths.tolist(),
        "damping": [[None if np.isinf(value) else value for value in row] for row in memory.damping.tolist()],
    }


def _decode_memory(node: Node, rules: RuleModel) -> Memory:
    """Return a memory, every part of which has the right shape."""
    parts = node.open(("rows", "weight", "errors", "widths", "damping"))
    n_features, n_rows, n_outputs = rules.n_features, parts["rows"].array(2).shape[1], rules.n_outputs
    if not n_rows:
        parts["rows"].refuse("lists of at least one row")
    rows, errors = parts["rows"].shaped((n_features, n_rows)).T, parts["errors"].shaped((n_outputs, n_rows)).T
    weight, widths = parts["weight"].shaped((n_rows,)), parts["widths"].shaped((2, n_outputs, n_features))
    damping = parts["damping"].shaped((2, n_outputs), null=np.inf)
    for name, array in (("weight", weight), ("widths", widths), ("damping", damping)):
        if not (array > _TINY).all():
            parts[name].refuse("numbers above 0")
    return Memory(np.ascontiguousarray(rows), weight, np.ascontiguousarray(errors), widths, damping)


def _describe(member: TSKRegressor | TSKClassifier) -> tuple[Any, ...]:
    """Return what all members have in common."""
    names, classes = (tuple(getattr(member, name, ())) for name in ("feature_names_in_", "classes_"))
    return member.n_features_in_, names, classes, member.model_.n_outputs, member.is_single_target_


def _take_over(committee: Committee, member: TSKRegressor | TSKClassifier) -> None:
    committee.n_features_in_ = member.n_features_in_
    committee.is_single_target_ = member.is_single_target_
    for name in ("feature_names_in_", "classes_"):
        if hasattr(member, name):
            setattr(committee, name, getattr(member, name))
