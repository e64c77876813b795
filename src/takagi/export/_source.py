"""What the exports read of a model, and the numbers as C and ONNX hold them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from takagi._files import write_whole
from takagi._model import OpenModel, open_model
from takagi._typing import FloatArray
from takagi.rulebase import RuleBase

_ROOT_OF_HALF = np.sqrt(0.5)


def open_source(model: Any) -> OpenModel:
    """Open a model whose way from the user's table to the prediction can be exported whole."""
    source = open_model(model)
    if source.other_steps:
        raise ValueError(
            f"The pipeline's step {type(source.other_steps[-1]).__name__} cannot be exported: of steps before the "
            "regressor, only a TableEncoder and scalers that shift and scale each column can. Export the last step "
            "alone, model[-1], and do the other steps where the exported rules run."
        )
    return source


@dataclass(frozen=True)
class Layout:
    """Rules as numbers of one type, for inputs relative to `origin`, so that no digits are lost far from zero.

    With ``z = x - origin`` and ``a = z`` or ``[z P, z]``::

        y(x) = sum_r softmax_r(-|(a - centers_r) * inverse_r|^2) (consequents_r0 + consequents_r . z)
    """

    origin: FloatArray  # (M,)
    centers: FloatArray  # (R, A)
    inverse: FloatArray  # (R, A) sqrt(1/2) / width; 0 where there is no condition
    consequents: FloatArray  # (R, K, M + 1)
    projection: FloatArray | None  # (M + 1, J), bias row first


def lay_out(rules: RuleBase, dtype: str) -> Layout:
    """Return the numbers of rules as NumPy's `dtype`."""
    origin = _choose_origin(rules).astype(dtype).astype(float)
    ones = np.ones_like(origin)
    shifted = rules.fold_consequents().rescale(-origin, ones, np.zeros(1), np.ones(1))
    with np.errstate(over="ignore", under="ignore"):
        inverse = _ROOT_OF_HALF / shifted.widths
    return Layout(
        origin=_cast(origin, dtype),
        centers=_cast(np.where(np.isinf(shifted.widths), 0.0, shifted.centers), dtype),
        inverse=_cast(inverse, dtype),
        consequents=_cast(shifted.consequents, dtype),
        projection=None if shifted.antecedent_projection is None else _cast(shifted.antecedent_projection, dtype),
    )


def _choose_origin(rules: RuleBase) -> FloatArray:
    """Return a point amid the data: its mean, or else the median of the rules' centers."""
    if rules.profile is not None:
        return rules.profile.mean
    return np.median(rules.centers[:, -rules.n_features :], axis=0)


def _cast(values: FloatArray, dtype: str) -> FloatArray:
    with np.errstate(over="ignore", under="ignore"):
        cast = values.astype(dtype)
    if not np.isfinite(cast).all():
        raise ValueError(
            f"The rules hold numbers beyond the range of {dtype}"
            + ("; export them as double precision." if dtype == "float32" else ".")
        )
    return cast


def write_if_asked(path: str | Path | None, content: str | bytes) -> None:
    """Write content to a file that is seen whole or not at all, if a path is given."""
    if path is not None:
        write_whole(Path(path), content.encode() if isinstance(content, str) else content)
