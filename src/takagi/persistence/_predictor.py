"""Model files for predictions only: the reader needs only NumPy, and skips the rest of the file."""

import os
from collections.abc import Collection
from typing import Any

from takagi.persistence._document import MAX_BYTES, Document, read_document
from takagi.persistence._parts import (
    check_members,
    check_scales,
    check_steps,
    decode_classes,
    decode_column,
    decode_memory,
)
from takagi.persistence._rules import build, decode_calibration, decode_names, decode_parts, decode_rules
from takagi.persistence._schema import Node
from takagi.predictors import CommitteePredictor, PredictorPipeline, RulePredictor
from takagi.tables import TableColumns

_MEMBERS = {"TSKCommittee": "TSKRegressor", "TSKCommitteeClassifier": "TSKClassifier"}  # the classes of members
_SINGLE = tuple(_MEMBERS.values())
_MODELS = (*_SINGLE, *_MEMBERS)


def load_predictor(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save` wrote, for predictions only; this starts five times as fast.

    It has the fitted attributes that predictions and explanations need, and cannot be fitted, changed or saved. Neither
    scikit-learn nor numba is imported, unless the model is a pipeline with scalers.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=100_000_000
        Largest size of a file.

    Returns
    -------
    RulePredictor, CommitteePredictor, PredictorPipeline, RuleBase or RuleModel

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged, edited, of a newer format, or too large.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from takagi import TSKRegressor
    >>> from takagi.persistence import load_predictor, save
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 4.0, 16.0]
    >>> model = TSKRegressor(n_rules=2, max_iter=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "square.takagi"))
    ...     loaded = load_predictor(pathlib.Path(folder, "square.takagi"))
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    return read_document(path, max_bytes, _decode)


def _decode(document: Document) -> Any:
    node = document.model
    kind = node.field("class").text(("RuleBase", "RuleModel", *_MODELS, "Pipeline"))
    if kind == "RuleBase":
        return decode_rules(node.field("rules"))
    if kind == "RuleModel":
        return decode_parts(node.open(("class", "parts"), optional=("calibration",)))
    return _decode_pipeline(node) if kind == "Pipeline" else _decode_last(node)


def _decode_pipeline(node: Node) -> PredictorPipeline:
    items = [item.open(("name", "step")) for item in node.field("steps")]
    if not items:
        node.field("steps").refuse("a list of steps")
    items = [item for item in items[:-1] if item["step"].value not in (None, "passthrough")] + items[-1:]
    nodes = [item["step"] for item in items]
    steps = [*map(_decode_first, nodes[:-1]), _decode_last(nodes[-1], is_first=len(nodes) == 1)]
    check_steps(steps, nodes)
    return PredictorPipeline([(item["name"].text(), step) for item, step in zip(items, steps, strict=True)])


def _decode_first(node: Node) -> Any:
    """Return a step before the last: the columns of a table, or else a scaler of scikit-learn."""
    if node.field("class").value != "TableEncoder":
        from takagi.persistence._codec import decode_first  # imports scikit-learn, which scalers need

        return decode_first(node)
    columns, has_names = [decode_column(one) for one in node.field("columns")], node.field("has_names").flag()
    return build(node.field("columns"), lambda: TableColumns.from_columns(columns, has_names=has_names))


def _decode_last(node: Node, is_first: bool = True) -> RulePredictor | CommitteePredictor:
    """Return the model; only the first step needs the names of columns."""
    kind = node.field("class").text(_MODELS)
    if kind in _SINGLE:
        return _decode_single(node, _SINGLE, is_first)
    members = [_decode_single(one, (_MEMBERS[kind],), is_first) for one in node.field("members")]
    check_members(members, node.field("members"))
    if kind == "TSKCommitteeClassifier":
        return CommitteePredictor(members)
    memory = node.field("memory").maybe(lambda memory: decode_memory(memory, members[0].model_))
    calibration = decode_calibration(node.find("calibration"))
    if calibration is not None:
        check_scales(members, calibration, node.field("calibration"))
    return CommitteePredictor(members, memory, calibration)


def _decode_single(node: Node, kinds: Collection[str], is_first: bool) -> RulePredictor:
    kind = node.field("class").text(kinds)
    parts = {"parts": node.field("parts"), **node.find("calibration", "target")}
    rules, has_classes = decode_parts(parts), kind == "TSKClassifier"
    if (rules.link != "identity") != has_classes:
        parts["parts"].refuse(f"rules {'with' if has_classes else 'without'} a link for a {kind}")
    is_single = node.field("is_single_target").flag()
    if is_single and rules.n_outputs > 1:
        node.field("is_single_target").refuse("false for rules with several outputs")
    names = decode_names(node.field("feature_names"), rules.n_features)
    known = {
        "feature_names_in_": names if is_first else None,
        "classes_": decode_classes(node.field("classes"), rules) if has_classes else None,
        "target_name_": parts["target"].text() if "target" in parts else None,
    }
    known = {name: value for name, value in known.items() if value is not None}
    return RulePredictor(rules if names is None else rules.rename(names.tolist()), is_single, **known)
