"""The other parts of models as plain JSON values and back: labels, columns of tables, memories."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from takagi.calibration import Calibration
from takagi.memory import Memory
from takagi.persistence._rules import build
from takagi.persistence._schema import ModelFileError, Node
from takagi.rulemodel import RuleModel
from takagi.tables import Column, TableColumns

_TINY = np.finfo(float).tiny  # the smallest number that can be divided by
_LABELS: dict[str, tuple[type, ...]] = {  # types of arrays of labels, by name, and those of the values in a file
    "bool": (bool,), "str": (str,), "object": (bool, int, float, str),
    **{f"{sign}int{n_bits}": (int,) for sign in ("", "u") for n_bits in (8, 16, 32, 64)},
    **{f"float{n_bits}": (int, float) for n_bits in (16, 32, 64)},
}  # fmt: skip


# -- pipelines ---------------------------------------------------------------------------------------------------------


def check_steps(steps: list[Any], nodes: list[Node]) -> None:
    """Check that the number of columns fits from each step to the next."""
    made = None
    for step, node in zip(steps, nodes, strict=True):
        if step is None or isinstance(step, str):
            continue
        if made is not None and step.n_features_in_ != made:
            raise ModelFileError(
                f"{node.path} takes {step.n_features_in_} columns, but the step before it makes {made}."
            )
        made = _count_inputs(step) if isinstance(step, TableColumns) else step.n_features_in_


def _count_inputs(step: TableColumns) -> int:
    return sum(len(column.inputs) for column in step.columns_)


def decode_column(node: Node) -> Column:
    """Return the description of a column of a table."""
    later = ("source", "reading", "values")  # missing in files of older versions
    parts = node.open([f.name for f in fields(Column) if f.name not in later], optional=later)
    return build(
        node,
        lambda: Column(
            name=parts["name"].text(),
            kind=parts["kind"].text(("number", "boolean", "category")),
            levels=parts["levels"].texts(),
            fill=parts["fill"].maybe(Node.number),
            has_missing=parts["has_missing"].flag(),
            has_others=parts["has_others"].flag(),
            source=parts["source"].text() if "source" in parts else "",
            reading=parts["reading"].text() if "reading" in parts else "",
            values=tuple(parts["values"].array(1).tolist()) if "values" in parts else (),
        ),
    )


# -- classes -----------------------------------------------------------------------------------------------------------


def encode_classes(model: Any) -> dict[str, Any]:
    """Return labels with their type and the target's name; labels other than scalars cannot be saved."""
    classes, name = model.classes_, getattr(model, "target_name_", None)
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    labels = classes.tolist()
    if kind not in _LABELS or not all(type(label) in _LABELS[kind] for label in labels):
        raise ModelFileError(f"A model file cannot hold labels of classes of the type {type(labels[0]).__name__}.")
    return {"classes": {"type": kind, "labels": labels}, **({} if name is None else {"target": name})}


def decode_classes(node: Node, rules: RuleModel) -> np.ndarray:
    """Return sorted labels of a known type, as many as there are classes."""
    parts = node.open(("type", "labels"))
    kind = parts["type"].text(_LABELS)
    labels = [label.scalar() for label in parts["labels"]]
    n_classes = max(rules.n_outputs, 2)
    if len(labels) != n_classes or not all(type(label) in _LABELS[kind] for label in labels):
        parts["labels"].refuse(f"{n_classes} labels of the type {kind}")
    classes = build(parts["labels"], lambda: np.array(labels, dtype=kind))
    if not build(parts["labels"], lambda: np.array_equal(np.unique(classes), classes)):
        parts["labels"].refuse("different labels, sorted")
    return classes


# -- committees --------------------------------------------------------------------------------------------------------


def check_scales(members: Sequence[Any], calibration: Calibration, node: Node) -> None:
    """Raise an error if a calibration does not fit the rules of the members."""
    models = [member.model_ for member in members]
    shape = sum(model.n_rules for model in models), models[0].n_outputs
    if calibration.scale.shape != shape:
        node.refuse(f"scales of {shape[0]} rules and {shape[1]} output(s)")


def check_members(members: Sequence[Any], node: Node) -> None:
    """Raise an error if members do not form a committee."""
    if len(members) < 2:
        node.refuse("a list of at least 2 members")
    first, *others = map(_describe, members)
    if any(other != first for other in others):
        node.refuse("members with the same features and outputs")


def encode_memory(memory: Memory) -> dict[str, Any]:
    """Return a memory as plain values, column by column; an output without a memory has no damping."""
    return {
        "rows": memory.rows.T.tolist(),
        "weight": memory.weight.tolist(),
        "errors": memory.errors.T.tolist(),
        "widths": memory.widths.tolist(),
        "damping": [[None if np.isinf(value) else value for value in row] for row in memory.damping.tolist()],
    }


def decode_memory(node: Node, rules: RuleModel) -> Memory:
    """Return a memory after checks of all shapes."""
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


def _describe(member: Any) -> tuple[Any, ...]:
    """Return what all members have in common."""
    names, classes = (tuple(getattr(member, name, ())) for name in ("feature_names_in_", "classes_"))
    return member.n_features_in_, names, classes, member.model_.n_outputs, member.is_single_target_
