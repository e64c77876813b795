"""Rules as plain JSON values and back."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from takagi.persistence._schema import ModelFileError, Node
from takagi.profile import Profile
from takagi.rulebase import RuleBase

T = TypeVar("T")


def encode_rules(rules: RuleBase) -> dict[str, Any]:
    """Return rules as plain values."""
    encoded = {f.name: getattr(rules, f.name) for f in fields(RuleBase)}
    encoded = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in encoded.items()}
    encoded["widths"] = [[width if np.isfinite(width) else None for width in row] for row in encoded["widths"]]
    if rules.profile is not None:
        profile = {f.name: getattr(rules.profile, f.name) for f in fields(Profile)}
        encoded["profile"] = {name: np.asarray(value).tolist() for name, value in profile.items()}
    return encoded


def decode_rules(node: Node) -> RuleBase:
    """Return rules from what `encode_rules` made of them."""
    parts = node.open([f.name for f in fields(RuleBase)])
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
        ),
    )


def _decode_sets(node: Node) -> np.ndarray:
    sets = node.array(2)
    if not ((sets >= 0) & (sets < 2**31) & (sets == np.floor(sets))).all():
        node.refuse("numbers of sets, from 0")
    return sets.astype(np.intp)


def _decode_profile(node: Node) -> Profile:
    parts = node.open([f.name for f in fields(Profile)])
    return Profile(
        n_rows=parts["n_rows"].integer(least=0),
        share=parts["share"].array(1),
        mean=parts["mean"].array(1),
        quantiles=parts["quantiles"].array(2),
        output_quantiles=parts["output_quantiles"].array(2),
    )


def build(node: Node, make: Callable[[], T]) -> T:
    """Call what makes an object, and say where in the document it stands if it refuses its parts."""
    try:
        return make()
    except ModelFileError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{node.path} is refused: {error}") from None
