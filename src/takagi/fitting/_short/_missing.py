"""What a missing value counts as in the formulas of short rules."""

import numpy as np

from takagi._checks import are_finite
from takagi._typing import FloatArray
from takagi.fitting._rows import Rows

_FEWEST = 10  # fewest rows in which a feature is missing, and in which it is not
_CLEARLY = 3.0  # standard errors
_LEAST_SLOPE = 0.1  # target deviations per feature deviation, below which values are shrunk toward the mean
_MOST = 2.0  # deviations from the mean


def find_usual(rows: Rows) -> FloatArray:
    r"""Return what each feature counts as if it is missing, given rows in standard units: 0 is the mean.

    Values may be missing because they are large. Then another number than the mean explains the targets of rows without
    them. With slopes :math:`w_m` of the features and constants :math:`b_m` for rows where these are missing, both by
    least squares, that number is :math:`b_m / w_m` from the mean. It is used if the constant is clearly not zero, and
    shrunk toward the mean for small slopes.
    """
    absent = np.isnan(rows.X)
    usual = np.zeros(rows.X.shape[1])
    counts = absent.sum(axis=0)
    marked = np.flatnonzero(np.minimum(counts, len(absent) - counts) >= _FEWEST)
    if are_finite(rows.X) or not len(marked):
        return usual
    marks = absent[:, marked] - absent[:, marked].mean(axis=0)
    inputs = np.column_stack([np.ones(len(absent)), np.nan_to_num(rows.X), marks])
    ridge = np.diag(np.r_[0.0, np.ones(inputs.shape[1] - 1)])
    inverse = np.linalg.inv(inputs.T @ (inputs * rows.weight[:, None]) + ridge)
    weights = inverse @ (inputs.T @ (rows.y * rows.weight[:, None]))
    noise = rows.weight @ (rows.y - inputs @ weights) ** 2 / max(1, len(inputs) - inputs.shape[1])
    slopes, constants = weights[1 + marked], weights[1 + len(usual) :]
    doubt = np.sqrt(np.diag(inverse)[1 + len(usual) :, None] * noise)
    is_clear = (np.abs(constants) > _CLEARLY * doubt).any(axis=1)
    away = (slopes * constants).sum(axis=1) / ((slopes**2).sum(axis=1) + _LEAST_SLOPE**2)
    usual[marked] = np.where(is_clear, np.clip(away, -_MOST, _MOST), 0.0)
    return usual
