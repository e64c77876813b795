"""A committee as plain JSON values and back: its parameters, members and memory, and its predictions out of fold."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from takagi.calibration import Calibration
from takagi.estimators import Memory, TSKCommittee, TSKRegressor
from takagi.persistence._estimator import decode_stages, encode_stages
from takagi.persistence._rules import decode_calibration, encode_calibration
from takagi.persistence._schema import Node
from takagi.rulemodel import RuleModel

_FIELDS = ("class", "parameters", "estimator", "members", "memory", "stages", "oof_rmse", "oof_prediction")
_TINY = np.finfo(float).tiny  # the smallest number that can be divided by


def encode_committee(
    committee: TSKCommittee, encode_member: Callable[[Any], Any], encode_value: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Return a fitted committee as plain values, given what does so for a fitted regressor and for a parameter."""

    def encode_parameters(estimator: Any) -> dict[str, Any]:
        parameters = estimator.get_params(deep=False)
        return {name: encode_value(value, name) for name, value in parameters.items() if name != "estimator"}

    return {
        "class": "TSKCommittee",
        "parameters": encode_parameters(committee),
        "estimator": None if committee.estimator is None else encode_parameters(committee.estimator),
        "members": [encode_member(member) for member in committee.estimators_],
        "memory": None if committee.memory_ is None else _encode_memory(committee.memory_),
        **encode_calibration(getattr(committee, "calibration_", None)),
        "stages": encode_stages(committee.stages_),
        "oof_rmse": np.atleast_1d(committee.oof_rmse_).tolist(),
        "oof_prediction": committee.oof_prediction_.reshape(len(committee.oof_prediction_), -1).T.tolist(),
    }


def decode_committee(
    node: Node, decode_member: Callable[[Node], TSKRegressor], decode_parameters: Callable[[Node, type], dict[str, Any]]
) -> TSKCommittee:
    """Return a committee from what `encode_committee` made of it, given what reads a regressor and parameters."""
    parts = node.open(_FIELDS, optional=("calibration",))
    committee = TSKCommittee(**decode_parameters(parts["parameters"], TSKCommittee))
    committee.estimator = parts["estimator"].maybe(
        lambda parameters: TSKRegressor(**decode_parameters(parameters, TSKRegressor))
    )
    committee.estimators_ = [decode_member(member) for member in parts["members"]]
    if len(committee.estimators_) < 2:
        parts["members"].refuse("a list of at least 2 members")
    first, *others = map(_describe, committee.estimators_)
    if any(other != first for other in others):
        parts["members"].refuse("members with the same features and outputs")
    _take_over(committee, committee.estimators_[0])
    committee.memory_ = parts["memory"].maybe(partial(_decode_memory, rules=committee.estimators_[0].model_))
    committee.stages_ = decode_stages(parts["stages"])
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
    return committee


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


def _describe(member: TSKRegressor) -> tuple[Any, ...]:
    """Return what all members have in common."""
    names = tuple(getattr(member, "feature_names_in_", ()))
    return member.n_features_in_, names, member.model_.n_outputs, member.is_single_target_


def _take_over(committee: TSKCommittee, member: TSKRegressor) -> None:
    committee.n_features_in_ = member.n_features_in_
    committee.is_single_target_ = member.is_single_target_
    if hasattr(member, "feature_names_in_"):
        committee.feature_names_in_ = member.feature_names_in_
