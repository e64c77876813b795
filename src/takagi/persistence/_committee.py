"""A committee as plain JSON values and back: its parameters, members, memory and out-of-fold predictions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from takagi.estimators import TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi.persistence._estimator import decode_stages, encode_stages
from takagi.persistence._parts import check_members, check_scales, decode_memory, encode_memory
from takagi.persistence._rules import decode_calibration, encode_calibration
from takagi.persistence._schema import Node

_FIELDS = ("class", "parameters", "estimator", "members", "stages")
_OF_NUMBERS, _OF_CLASSES = ("memory", "oof_rmse", "oof_prediction"), ("oof_log_loss", "oof_proba")
Committee = TSKCommittee | TSKCommitteeClassifier


def encode_committee(
    committee: Committee, encode_member: Callable[[Any], Any], encode_value: Callable[[Any, str], Any]
) -> dict[str, Any]:
    """Return a fitted committee as plain values, given functions that encode a fitted member and a parameter."""

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
    """Return the errors of a committee of regressors."""
    return {
        "memory": None if committee.memory_ is None else encode_memory(committee.memory_),
        **encode_calibration(getattr(committee, "calibration_", None)),
        "oof_rmse": np.atleast_1d(committee.oof_rmse_).tolist(),
        "oof_prediction": committee.oof_prediction_.reshape(len(committee.oof_prediction_), -1).T.tolist(),
    }


def _encode_losses(committee: TSKCommitteeClassifier) -> dict[str, Any]:
    """Return the losses of a committee of classifiers."""
    return {"oof_log_loss": float(committee.oof_log_loss_), "oof_proba": committee.oof_proba_.T.tolist()}


def decode_committee(
    kind: type[Committee],
    node: Node,
    decode_member: Callable[[Node], Any],
    decode_parameters: Callable[[Node, type], dict[str, Any]],
) -> Committee:
    """Return a committee from the output of `encode_committee`, given functions that decode a member and parameters."""
    has_classes = kind is TSKCommitteeClassifier
    parts = node.open(
        (*_FIELDS, *(_OF_CLASSES if has_classes else _OF_NUMBERS)), optional=() if has_classes else ("calibration",)
    )
    member = TSKClassifier if has_classes else TSKRegressor
    committee = kind(**decode_parameters(parts["parameters"], kind))
    committee.estimator = parts["estimator"].maybe(lambda parameters: member(**decode_parameters(parameters, member)))
    committee.estimators_ = [decode_member(one) for one in parts["members"]]
    check_members(committee.estimators_, parts["members"])
    _take_over(committee, committee.estimators_[0])
    committee.stages_ = decode_stages(parts["stages"])
    (_decode_losses if has_classes else _decode_errors)(committee, parts)
    return committee


def _decode_errors(committee: TSKCommittee, parts: dict[str, Node]) -> None:
    """Set the errors of a committee of regressors."""
    committee.memory_ = parts["memory"].maybe(partial(decode_memory, rules=committee.estimators_[0].model_))
    committee.calibration_ = decode_calibration(parts)
    if committee.calibration_ is not None:
        check_scales(committee.estimators_, committee.calibration_, parts["calibration"])
    rmse, prediction = parts["oof_rmse"].array(1), parts["oof_prediction"].array(2)
    n_outputs = committee.estimators_[0].model_.n_outputs
    for name, values in (("oof_rmse", rmse), ("oof_prediction", prediction)):
        if len(values) != n_outputs:
            parts[name].refuse(f"a list for {n_outputs} output(s)")
    is_single = committee.is_single_target_
    committee.oof_rmse_ = float(rmse[0]) if is_single else rmse
    committee.oof_prediction_ = prediction[0] if is_single else np.ascontiguousarray(prediction.T)


def _decode_losses(committee: TSKCommitteeClassifier, parts: dict[str, Node]) -> None:
    """Set the losses of a committee of classifiers."""
    proba, n_classes = parts["oof_proba"].array(2), len(committee.classes_)
    if len(proba) != n_classes:
        parts["oof_proba"].refuse(f"a list for {n_classes} classes")
    committee.oof_log_loss_ = parts["oof_log_loss"].number()
    committee.oof_proba_ = np.ascontiguousarray(proba.T)


def _take_over(committee: Committee, member: TSKRegressor | TSKClassifier) -> None:
    committee.n_features_in_ = member.n_features_in_
    committee.is_single_target_ = member.is_single_target_
    for name in ("feature_names_in_", "classes_"):
        if hasattr(member, name):
            setattr(committee, name, getattr(member, name))
