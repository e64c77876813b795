"""Rules as JSON, for predictions in a web page."""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from takagi._conditions import name_features
from takagi._model import OpenModel
from takagi._typing import FloatArray
from takagi._wording import name_outputs
from takagi.calibration import Calibration
from takagi.export._source import find_fill, open_source, write_if_asked
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel

RULES_VERSION = 1  # of one rule base without bends
SUM_VERSION = 2  # of several, or with bends: a reader of version 1 would ignore them
HELD_VERSION = 3  # of rules with limits, which a reader of version 2 would ignore
MISSING_VERSION = 4  # of rules with usual values for missing ones


def to_json(model: Any, path: str | Path | None = None) -> str:
    """Write a model as JSON.

    The text is ASCII and has no ``<``, so it can be put into a ``<script>`` of a page unchanged. Numbers are written
    with all their digits. The schema is in the documentation of the exports, with a JavaScript function that predicts.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model.
    path : str or Path, optional
        A file to write as well.

    Returns
    -------
    str
        The JSON text.

    Examples
    --------
    >>> import json
    >>> from takagi import RuleBase
    >>> from takagi.export import to_json
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> json.loads(to_json(rules))["rules"]["consequents"]
    [[[1.0, 0.5]]]
    """
    text = json.dumps(rules_to_dict(model), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    write_if_asked(path, text)
    return text


def rules_to_dict(model: Any) -> dict[str, Any]:
    """Return the content of `to_json` as a dict of plain values.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model.

    Returns
    -------
    dict
        With the keys "format", "version", "takagi", "columns", "features", "outputs", "is_single", "rules" and
        "profile", and "classes" with the labels of a classifier. The width of an absent condition and an unknown
        profile are None. For a sum of rule bases these are the main rules, and "adjustments" lists the "rules" and the
        "profile" of each other part. If held-out errors are known, "calibration" has the "scale" of each rule, part
        after part, and "scores" with their "levels", which give intervals of any coverage.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.export import rules_to_dict
    >>> rules = RuleBase(centers=[[0.0]], widths=[[float("inf")]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> rules_to_dict(rules)["columns"]
    [{'name': 'speed', 'kind': 'number', 'levels': [], 'fill': None, 'has_missing': False}]
    >>> rules_to_dict(rules)["rules"]["widths"]
    [[None]]
    """
    source = open_source(model, holds_means=True)
    main, *others = ({"rules": _list_rules(part), "profile": _list_profile(part)} for part in source.model.parts)
    return {
        "format": "takagi-rules",
        "version": _find_version(source.model),
        "takagi": version("takagi"),
        "columns": [_describe_column(c, source) for c in range(len(source.columns))],
        "features": list(name_features(source.model)),
        "outputs": list(name_outputs(source.model)),
        "is_single": source.is_single,
        **({} if source.classes is None else {"classes": list(source.classes)}),
        **main,
        **({"adjustments": others} if others else {}),
        **_list_calibration(source.model.calibration),
    }


def _list_calibration(calibration: Calibration | None) -> dict[str, Any]:
    if calibration is None:
        return {}
    arrays = {name: getattr(calibration, name).tolist() for name in ("scale", "scores", "levels")}
    return {"calibration": {**arrays, "n_rows": int(calibration.n_rows), "source": calibration.source}}


def _find_version(model: RuleModel) -> int:
    """Return the smallest version of the format that can express the model."""
    if model.first.usual is not None:
        return MISSING_VERSION
    if model.limits is not None:
        return HELD_VERSION
    return SUM_VERSION if len(model.parts) > 1 or model.first.bends else RULES_VERSION


def _describe_column(c: int, source: OpenModel) -> dict[str, Any]:
    column = source.columns[c]
    return {
        "name": column.name,
        "kind": column.kind,
        "levels": list(column.levels),
        "fill": find_fill(source, c) if source.has_table and column.kind != "category" else None,
        "has_missing": column.has_missing,
        **({"source": column.origin, "reading": column.reading} if column.reading else {}),
        **({"values": list(column.values)} if column.values else {}),
    }


def _list_rules(rules: RuleBase) -> dict[str, Any]:
    names = ("centers", "widths", "consequents", "antecedent_projection", "consequent_projection")
    arrays = {name: None if (values := getattr(rules, name)) is None else values.tolist() for name in names}
    listed = {**arrays, "widths": _list_limits(rules.widths), "link": rules.link}
    if rules.bends:
        listed["bends"] = [asdict(bend) for bend in rules.bends]
    if rules.intervals is not None:
        listed["intervals"] = _list_limits(rules.intervals)
    if rules.limits is not None:
        listed["limits"] = _list_limits(rules.limits)
    if rules.usual is not None:
        listed["usual"] = _list_limits(rules.usual)
    return listed


def _list_limits(values: FloatArray) -> list[Any]:
    """Return numbers in lists, with None for those that are not finite."""
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()


def _list_profile(rules: RuleBase) -> dict[str, Any] | None:
    profile = rules.profile
    if profile is None:
        return None
    names = ("share", "mean", "quantiles", "output_quantiles")
    return {"n_rows": int(profile.n_rows), **{name: getattr(profile, name).tolist() for name in names}}
