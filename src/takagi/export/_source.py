"""The parts of a model that the exports need, and the numbers in the layout of C and ONNX."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from takagi._files import write_whole
from takagi._model import OpenModel, open_model
from takagi._typing import FloatArray
from takagi._wording import name_outputs
from takagi.bend import Bend
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel, collect_bends, place_weights

_ROOT_OF_HALF = np.sqrt(0.5)


def open_source(model: Any, holds_means: bool = False) -> OpenModel:
    """Open a model whose complete path from the user's table to the prediction can be exported.

    A format without target means of category levels refuses models that use them.
    """
    source = open_model(model)
    means = [column for column in source.columns if column.reading == "mean"]
    if means and not holds_means:
        raise ValueError(
            f"Column {means[0].name!r} is encoded by the mean target of each of its {len(means[0].levels)} levels, "
            "which this format cannot express. Export to JSON, which can; or fit without that column, or with a "
            "larger max_levels."
        )
    if source.other_steps:
        raise ValueError(
            f"The pipeline's step {type(source.other_steps[-1]).__name__} cannot be exported: of the steps before "
            "the rules, only a TableEncoder and scalers that shift and scale each column can. Export the last step "
            "alone, model[-1], and apply the other steps where the exported rules run."
        )
    return source


def list_predicted(source: OpenModel) -> tuple[str, ...]:
    """Return the names of the predictions: the outputs, or all classes of a classifier."""
    return name_outputs(source.model) if source.classes is None else tuple(map(str, source.classes))


def choose_outputs(source: OpenModel, coverage: float | None) -> RuleModel:
    """Return the rules with an output for each prediction; with a coverage, also for half the widths of intervals.

    A classifier has an output for each class. The first of two classes gets log-odds of 0, so that a softmax gives the
    same probabilities.
    """
    if coverage is not None and source.model.link != "identity":
        raise ValueError("coverage is for regression; a classifier's probabilities already say how sure it is.")
    if coverage is not None:
        return source.model.add_spread(coverage)
    if source.classes is None or source.model.link == "softmax":
        return source.model
    return RuleModel(tuple(_add_first_class(part) for part in source.model.parts))


def _add_first_class(part: RuleBase) -> RuleBase:
    profile = part.profile
    if profile is not None:
        quantiles = profile.output_quantiles
        profile = replace(profile, output_quantiles=np.hstack([1 - quantiles[::-1], quantiles]))
    consequents = np.hstack([np.zeros_like(part.consequents), part.consequents])
    return replace(part, consequents=consequents, output_names=None, profile=profile, link="softmax")


@dataclass(frozen=True)
class Layout:
    """A model as numbers of one type, for inputs relative to `origin`, so that no digits are lost far from zero.

    With x held at the limits, ``z = [x, bends of x] - origin``, and ``a`` the features of z after the projections of
    all parts::

        y(x) = sum over parts of sum_r softmax_r(-|(a - centers_r) * inverse_r|^2) (consequents_r0 + consequents_r . z)

    The rules of all parts are in one list. They have no conditions on projections of other parts, and weights of zero
    for bends of other parts.
    """

    origin: FloatArray  # (M + B,)
    centers: FloatArray  # (R, J + M)
    inverse: FloatArray  # (R, J + M) sqrt(1/2) / width; 0 where there is no condition
    consequents: FloatArray  # (R, K, 1 + M + B)
    projection: FloatArray | None  # (M + 1, J), bias row first
    bends: tuple[Bend, ...]  # B of them, of the original features
    part_sizes: tuple[int, ...]  # the number of rules of each part
    limits: FloatArray | None  # (M, 2), limits of the features; the largest numbers where there is none
    usual: FloatArray | None  # (R, M + B), what a missing feature counts as in formulas; it is ignored in conditions

    @property
    def n_features(self) -> int:
        """Number of features, without bends."""
        return len(self.origin) - len(self.bends)

    @property
    def n_projected(self) -> int:
        """Number of projections of all parts."""
        return self.centers.shape[1] - self.n_features


def lay_out(model: RuleModel, dtype: str) -> Layout:
    """Return the numbers of a model as NumPy's `dtype`."""
    bends = collect_bends(model.parts)
    _check_bends(bends, dtype)
    center = _choose_origin(model).astype(dtype).astype(float)
    bent = [bend.evaluate(center[bend.feature]) for bend in bends]
    origin = np.r_[center, bent].astype(dtype).astype(float)
    parts = [_shift(part.fold_consequents(), bends, origin) for part in model.parts]
    centers, inverse, consequents, projections = zip(*parts, strict=True)
    projection = np.hstack(projections)
    return Layout(
        origin=_cast(origin, dtype),
        centers=_cast(_stack(centers, model.n_features), dtype),
        inverse=_cast(_stack(inverse, model.n_features), dtype),
        consequents=_cast(np.concatenate(consequents), dtype),
        projection=_cast(projection, dtype) if projection.size else None,
        bends=bends,
        part_sizes=tuple(part.n_rules for part in model.parts),
        limits=_cast_limits(model.limits, dtype),
        usual=_stack_usual(model, bends, origin, dtype),
    )


def find_fill(source: OpenModel, c: int) -> float | None:
    """Return what replaces a missing number of a column; None if it stays missing."""
    column, profile, usual = source.columns[c], source.model.profile, source.model.first.usual
    m = source.inputs_of(c)[0]
    if source.has_table and column.fill is not None:
        return column.fill
    is_known = usual is not None and not np.isnan(usual[0, m])
    return None if is_known or profile is None else float(profile.mean[m])


def _stack_usual(model: RuleModel, bends: tuple[Bend, ...], origin: FloatArray, dtype: str) -> FloatArray | None:
    """Return what missing features count as, for the rules of all parts; 0, the origin, where none is missing."""
    if model.first.usual is None:
        return None
    parts = [replace(part, bends=bends, consequents=place_weights(part, bends)).expand() for part in model.parts]
    known = [np.zeros_like(part.centers) + origin if part.usual is None else part.usual for part in parts]
    return _cast(np.nan_to_num(np.concatenate(known) - origin), dtype)


def _choose_origin(model: RuleModel) -> FloatArray:
    """Return a point in the middle of the data: its mean, or else the median of the rules' centers."""
    if model.profile is not None:
        return model.profile.mean
    return np.median(np.concatenate([part.centers[:, -model.n_features :] for part in model.parts]), axis=0)


def _shift(
    part: RuleBase, bends: tuple[Bend, ...], origin: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the centers, inverse widths, consequents and projection of a part for inputs relative to the origin."""
    center, n_projected = origin[: part.n_features], part.n_projected
    centers, consequents = part.centers.copy(), place_weights(part, bends)
    centers[:, n_projected:] -= center
    consequents[..., 0] += np.einsum("rom,m->ro", consequents[..., 1:], origin)
    projection = np.zeros((1 + part.n_features, 0))
    if part.antecedent_projection is not None:
        projection = part.antecedent_projection.copy()
        projection[0] += np.einsum("m,mj->j", center, projection[1:])
    with np.errstate(over="ignore", under="ignore"):
        inverse = _ROOT_OF_HALF / part.widths
    return np.where(np.isinf(part.widths), 0.0, centers), inverse, consequents, projection


def _stack(parts: Sequence[FloatArray], n_features: int) -> FloatArray:
    """Stack the numbers of the rules of all parts for projections, 0 for those of other parts, and for features."""
    projected = block_diag(*(values[:, :-n_features] for values in parts))
    return np.hstack([projected, np.concatenate([values[:, -n_features:] for values in parts])])


def _check_bends(bends: tuple[Bend, ...], dtype: str) -> None:
    """Raise an error unless the numbers of bends are within the range of a type."""
    _cast(np.array([bend.knot for bend in bends]), dtype)
    smallest = np.finfo(dtype).tiny  # smaller ones may become zero, which has no logarithm
    if any(bend.kind == "log" and bend.floor < smallest for bend in bends):
        raise _out_of_range(dtype)


def _cast(values: FloatArray, dtype: str) -> FloatArray:
    with np.errstate(over="ignore", under="ignore"):
        cast = values.astype(dtype)
    if not np.isfinite(cast).all():
        raise _out_of_range(dtype)
    return cast


def _cast_limits(limits: FloatArray | None, dtype: str) -> FloatArray | None:
    """Return limits as numbers of a type, none of them infinite; None if there are none."""
    if limits is None or np.isinf(limits).all():
        return None
    largest = np.finfo(dtype).max
    return np.clip(limits, -largest, largest).astype(dtype)


def _out_of_range(dtype: str) -> ValueError:
    advice = "; export them as double precision." if dtype == "float32" else "."
    return ValueError(f"The rules have numbers beyond the range of {dtype}{advice}")


def write_if_asked(path: str | Path | None, content: str | bytes) -> None:
    """Write content to a file atomically, if a path is given."""
    if path is not None:
        write_whole(Path(path), content.encode() if isinstance(content, str) else content)
