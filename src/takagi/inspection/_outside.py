"""Values beyond the training data: how far, and what they count as."""

from typing import Any

import numpy as np

from takagi._conditions import name_features
from takagi._messages import need_extra
from takagi._model import open_committee
from takagi._typing import Table


def find_outside(model: Any, X: Table) -> Any:
    """Return the values that lie beyond the range of the training rows, the farthest first.

    Predictions are unreliable there. Values a little beyond the range are used unchanged. Values more than one range of
    the training rows beyond it are held, if the model was fitted with ``extrapolation="hold"``: they count as that
    limit.

    Parameters
    ----------
    model : TSKRegressor, TSKCommittee, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame of shape (n_rows, n_columns)
        The rows.

    Returns
    -------
    pandas.DataFrame
        With a row for each such value: "row", its position in X from 0; "column", which after a `TableEncoder` may also
        be a category level such as ``fuel=diesel``; "value"; "nearest", the nearest training value; "ranges", the
        distance between the two in training ranges, infinity if the column was constant; and "counts_as", the value
        that the model uses.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import find_outside
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> X = X[["bmi", "bp"]]
    >>> model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=100, random_state=0).fit(X, y)
    >>> new = X.head(3).assign(bmi=[32.1, 45.0, 321.0])
    >>> print(find_outside(model, new).round(2).to_string(index=False))
     row column  value  nearest  ranges  counts_as
       2    bmi  321.0     42.2   11.52       66.4
       1    bmi   45.0     42.2    0.12       45.0
    """
    opened = open_committee(model).first
    rows, profile, names = opened.encode(X), opened.model.profile, name_features(opened.model)
    if profile is None:
        raise ValueError("This rule base has no summary of training data, so the training ranges are not known.")
    low, high = profile.quantiles[0], profile.quantiles[-1]
    row, feature = np.nonzero((rows < low) | (rows > high))
    value, nearest = rows[row, feature], np.clip(rows, low, high)[row, feature]
    with np.errstate(divide="ignore", over="ignore"):
        ranges = np.abs(value - nearest) / (high - low)[feature]
    table = need_extra("pandas", "report").DataFrame(
        {
            "row": row,
            "column": [names[m] for m in feature],
            "value": value,
            "nearest": nearest,
            "ranges": ranges,
            "counts_as": opened.model.hold_rows(rows)[row, feature],
        }
    )
    return table.sort_values("ranges", ascending=False, ignore_index=True, kind="stable")
