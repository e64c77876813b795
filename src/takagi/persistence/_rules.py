"""Rules as plain JSON values and back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from takagi._checks import LINKS
from takagi._typing import FloatArray
from takagi.bend import KINDS, Bend
from takagi.calibration import SOURCES, Calibration
from takagi.persistence._schema import ModelFileError, Node
from takagi.profile import Profile
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel

_T = TypeVar("_T")


_RULES = (
    "centers", "widths", "consequents", "antecedent_projection", "consequent_projection", "tied_projection", "sets",
    "feature_names", "output_names", "link", "profile",
)  # fmt: skip
_OPTIONAL = ("bends", "intervals", "limits", "usual")  # omitted if there are none
_BEND = ("feature", "kind", "knot", "floor")
_ARRAYS = ("scale", "scores", "levels")  # of a calibration
_PROFILE = ("n_rows", "share", "mean", "quantiles", "output_quantiles")


def encode_rules(rules: RuleBase) -> dict[str, Any]:
    """Return rules as plain values."""
    encoded = {name: getattr(rules, name) for name in _RULES}
    encoded = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in encoded.items()}
    encoded["widths"] = encode_numbers(rules.widths)
    if rules.profile is not None:
        profile = {name: getattr(rules.profile, name) for name in _PROFILE}
        encoded["profile"] = {name: np.asarray(value).tolist() for name, value in profile.items()}
        if rules.profile.uncovered is not None:
            encoded["profile"]["uncovered"] = rules.profile.uncovered
    if rules.bends:
        encoded["bends"] = [{name: getattr(bend, name) for name in _BEND} for bend in rules.bends]
    if rules.intervals is not None:
        encoded["intervals"] = encode_numbers(rules.intervals)
    if rules.limits is not None:
        encoded["limits"] = encode_numbers(rules.limits)
    if rules.usual is not None:
        encoded["usual"] = encode_numbers(rules.usual)
    return encoded


def decode_rules(node: Node) -> RuleBase:
    """Return rules from the output of `encode_rules`."""
    parts = node.open(_RULES, optional=_OPTIONAL)
    return build(
        node,
        lambda: RuleBase(
            centers=parts["centers"].array(2),
            widths=parts["widths"].array(2, null=np.inf),
            consequents=parts["consequents"].array(3),
            antecedent_projection=parts["antecedent_projection"].maybe(lambda value: value.array(2)),
            consequent_projection=parts["consequent_projection"].maybe(lambda value: value.array(2)),
            tied_projection=parts["tied_projection"].flag(),
            sets=parts["sets"].maybe(_decode_sets),
            feature_names=parts["feature_names"].maybe(Node.texts),
            output_names=parts["output_names"].maybe(Node.texts),
            profile=parts["profile"].maybe(_decode_profile),
            link=parts["link"].text(LINKS),
            bends=tuple(map(_decode_bend, parts["bends"])) if "bends" in parts else (),
            intervals=_decode_intervals(parts["intervals"], 3) if "intervals" in parts else None,
            limits=_decode_intervals(parts["limits"], 2) if "limits" in parts else None,
            usual=parts["usual"].array(2, null=np.nan) if "usual" in parts else None,
        ),
    )


def encode_parts(model: RuleModel) -> dict[str, Any]:
    """Return the parts of a model as plain values, and its calibration if it has one."""
    return {"parts": [encode_rules(part) for part in model.parts], **encode_calibration(model.calibration)}


def decode_parts(parts: dict[str, Node]) -> RuleModel:
    """Return a model from the output of `encode_parts`."""
    node, calibration = parts["parts"], decode_calibration(parts)
    rules = build(node, lambda: RuleModel(tuple(decode_rules(part) for part in node)))
    return build(parts.get("calibration", node), lambda: replace(rules, calibration=calibration))


def encode_calibration(calibration: Calibration | None) -> dict[str, Any]:
    """Return a calibration as plain values under its name; nothing if there is none."""
    if calibration is None:
        return {}
    arrays = {name: getattr(calibration, name).tolist() for name in _ARRAYS}
    return {"calibration": {**arrays, "n_rows": int(calibration.n_rows), "source": calibration.source}}


def decode_calibration(parts: dict[str, Node]) -> Calibration | None:
    """Return a calibration from the output of `encode_calibration`; files of older libraries have none."""
    if "calibration" not in parts:
        return None
    node = parts["calibration"]
    known = node.open((*_ARRAYS, "n_rows", "source"))
    arrays = {name: known[name].array(2) for name in _ARRAYS}
    n_rows, source = known["n_rows"].integer(least=1), known["source"].text(SOURCES)
    return build(node, lambda: Calibration(**arrays, n_rows=n_rows, source=source))


def _decode_bend(node: Node) -> Bend:
    parts = node.open(_BEND)
    feature, kind = parts["feature"].integer(least=0), parts["kind"].text(KINDS)
    knot, floor = parts["knot"].number(), parts["floor"].number()
    return build(node, lambda: Bend(feature, kind, knot, floor))


def _decode_intervals(node: Node, n_dims: int) -> FloatArray:
    """Return limits; null means no limit: minus infinity below, infinity above."""
    limits = node.array(n_dims, null=np.nan)
    if limits.shape[-1] != 2:
        node.refuse(f"a lower and an upper limit for each {'rule and ' * (n_dims == 3)}feature")
    return np.where(np.isnan(limits), [-np.inf, np.inf], limits)


def _decode_sets(node: Node) -> np.ndarray:
    sets = node.array(2)
    if not ((sets >= 0) & (sets < 2**31) & (sets == np.floor(sets))).all():
        node.refuse("numbers of sets, from 0")
    return sets.astype(np.intp)


def _decode_profile(node: Node) -> Profile:
    parts = node.open(_PROFILE, optional=("uncovered",))
    return Profile(
        n_rows=parts["n_rows"].integer(least=0),
        share=parts["share"].array(1),
        mean=parts["mean"].array(1),
        quantiles=parts["quantiles"].array(2),
        output_quantiles=parts["output_quantiles"].array(2),
        uncovered=parts["uncovered"].number() if "uncovered" in parts else None,
    )


def encode_numbers(values: np.ndarray) -> list[Any]:
    """Return numbers in lists, with null for those that are not finite."""
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()


def encode_names(estimator: Any) -> list[str] | None:
    """Return the names of an estimator's features, if it has any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def decode_names(node: Node, n_features: int) -> np.ndarray | None:
    """Return names of features, or None."""
    names = node.maybe(Node.texts)
    if names is not None and len(names) != n_features:
        node.refuse(f"a list of {n_features} names")
    return None if names is None else np.array(names, dtype=object)


def build(node: Node, make: Callable[[], _T]) -> _T:
    """Make an object; if that fails, raise an error with its place in the document."""
    try:
        return make()
    except ModelFileError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{node.path} is refused: {error}") from None
