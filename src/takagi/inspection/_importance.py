"""Importance of rules and of columns."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.inspection import permutation_importance

from takagi._messages import need_extra
from takagi._model import OpenCommittee, OpenModel, open_committee
from takagi._typing import FloatArray, Table
from takagi._wording import name_part
from takagi.inspection._attribution import attribute_mean, sum_columns
from takagi.profile import spread_rows
from takagi.rulebase import RuleBase
from takagi.tables import list_origins
from takagi.training import LogLoss

_MAX_ROWS = 2_000


def rule_importance(model: Any, X: Table, y: Table) -> Any:
    """Return the importance of each rule.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, a committee of either, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame of shape (n_rows, n_columns)
        Data, best not those of training.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        Their targets, or labels of classes.

    Returns
    -------
    pandas.DataFrame
        Sorted by share: "rule" (its number), "share" of the data, and "loss", the relative growth of the RMSE, or for
        classes of the log loss, when the rule is removed and the others take over its share (NaN if it is the only
        one). Several outputs are combined, each in units of its standard deviation. If the model is a sum, "part" says
        whether a rule is one of the "Main rules" or of an "Adjustment"; shares are within the part, and without its
        only rule the whole part is removed. The rules of a committee are listed member by member, with the number of
        the member in "member"; shares are within the member, losses are those of the committee.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import rule_importance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=3, recipe="droprule", max_iter=500, random_state=0).fit(X, y)
    >>> table = rule_importance(model, X, y)
    >>> list(table.columns), bool((table["loss"] > 0).all())
    (['rule', 'share', 'loss'], True)
    """
    pandas = need_extra("pandas", "report")
    committee = open_committee(model)
    rows = committee.first.encode(X)
    target, link = committee.first.read_targets(y, len(rows)), committee.first.model.link
    scale = target.std(axis=0) if link == "identity" else np.ones(target.shape[1])
    scale[scale == 0] = 1.0
    said, n_members = np.array([member.model.predict_raw(rows) for member in committee.members]), len(committee.members)
    remembered = 0.0 if committee.recall is None else committee.recall(rows)[0]
    n_parts = max(len(member.model.parts) for member in committee.members)

    def measure(outputs: FloatArray) -> float:
        return _measure_error((committee.combine(outputs) + remembered) / scale, target / scale, link)

    error, tables = measure(said), []
    for i, member in enumerate(committee.members, 1):
        number, own = 1, (np.arange(n_members) == i - 1)[:, None, None]
        for k, part in enumerate(member.model.parts):
            changes = _change_without_each(part, rows)
            losses = [measure(said + own * change) / error - 1 if error > 0 else np.inf for change in changes]
            table = pandas.DataFrame(
                {
                    **({"member": i} if n_members > 1 else {}),
                    **({"part": name_part(k, n_parts)} if n_parts > 1 else {}),
                    "rule": np.arange(number, number + part.n_rules),
                    "share": part.firing_share(rows).mean(axis=0),
                    "loss": losses if member.model.n_rules > 1 else np.nan,
                }
            )
            tables.append(table.sort_values("share", ascending=False, kind="stable"))
            number += part.n_rules
    return pandas.concat(tables, ignore_index=True)


def _change_without_each(part: RuleBase, rows: FloatArray) -> Iterator[FloatArray]:
    """Yield the change of a part's outputs without each of its rules; a part without rules has output 0."""
    rows = part.check_rows(rows)
    outputs = part.predict_raw(rows)
    for r in range(part.n_rules):
        others = np.delete(np.arange(part.n_rules), r)
        yield (part.take(others).predict_raw(rows) if len(others) else 0.0) - outputs


def feature_importance(
    model: Any, X: Table, y: Table = None, *, output: str | int = 0, n_repeats: int = 5, random_state: Any = None
) -> Any:
    """Return the importance of each column, through conditions and through consequents.

    The first three figures are mean absolute contributions, as in `explain_local`, over rows of X, in the target's
    units, or for classes in log-odds or scores: through the conditions, through the consequents, and in total. With
    targets, scikit-learn's permutation importance is added.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, a committee of either, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame of shape (n_rows, n_columns)
        Data; at most 2,000 rows of them are explained.
    y : array of shape (n_rows,) or (n_rows, n_outputs), optional
        Their targets, or labels of classes, for the permutation importance.
    output : int or str, default=0
        The output whose contributions are taken.
    n_repeats : int, default=5
        Permutations of each column.
    random_state : int, RandomState instance or None, default=None
        Makes the permutations reproducible.

    Returns
    -------
    pandas.DataFrame
        The most important first: "feature", "conditions", "consequents", "overall" and, if there are targets,
        "permutation", the growth of the output's RMSE, or of the log loss of all classes, when the column is shuffled.
        A committee's memory is one more row, "similar rows", and the disagreement of a committee of classifiers is
        "disagreement": there, "permutation" is the growth of the error without it. X should then be held-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import feature_importance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=3, recipe="droprule", max_iter=500, random_state=0).fit(X, y)
    >>> feature_importance(model, X).head(2)["feature"].tolist()
    ['bmi', 's5']
    """
    pandas = need_extra("pandas", "report")
    committee = open_committee(model)
    opened = committee.first
    k = opened.find_output(output)
    rows = opened.encode(X)
    if not len(rows):
        raise ValueError("X must have at least one row, got none.")
    center = committee.average_row()
    baseline = rows.mean(axis=0) if center is None else center
    some = rows[spread_rows(len(rows), _MAX_ROWS)]
    parts = attribute_mean(committee.members, some, baseline)
    by_condition, by_consequent = (sum_columns(opened, part)[:, k] for part in parts)
    names = [column.name for column in opened.columns]
    if committee.term is not None:
        names.append(committee.term)
        by_condition = np.column_stack([by_condition, committee.find_term(some)[0][:, k]])
        by_consequent = np.column_stack([by_consequent, np.zeros(len(some))])
    table = pandas.DataFrame(
        {
            "feature": names,
            "conditions": np.abs(by_condition).mean(axis=0),
            "consequents": np.abs(by_consequent).mean(axis=0),
            "overall": np.abs(by_condition + by_consequent).mean(axis=0),
        }
    )
    if y is not None:
        target = opened.read_targets(y, len(rows))
        shuffle = partial(permutation_importance, n_repeats=n_repeats, random_state=random_state)
        table["permutation"] = _measure_permutation(committee, X, target, k, shuffle)
    return table.sort_values("overall", ascending=False, ignore_index=True, kind="stable")


def _measure_permutation(committee: OpenCommittee, X: Table, target: FloatArray, k: int, shuffle: Any) -> FloatArray:
    """Return the growth of an output's error when each column is shuffled, and without a committee's extra term.

    The parts of a date are shuffled together, and have the same importance.
    """
    opened = committee.first
    link, rows = opened.model.link, opened.encode(X)
    kept = [k] if link == "identity" else slice(None)  # the log loss needs all outputs
    has_table = opened.encoder is not None

    def score(_: Any, some: Table, target: FloatArray) -> float:
        return -_measure_error(committee.predict(opened.encode(some) if has_table else some)[:, kept], target, link)

    target, shuffled = target[:, kept], _pick(opened, X) if has_table else rows
    growth = shuffle(DummyRegressor(), shuffled, target, scoring=score).importances_mean  # the scorer uses the rules
    origins = list_origins(opened.columns)
    growth = growth[[origins.index(column.origin) for column in opened.columns]]
    if committee.term is None:
        return growth
    predictions = committee.predict_mean(rows), committee.predict(rows)
    without, with_term = (_measure_error(outputs[:, kept], target, link) for outputs in predictions)
    return np.r_[growth, without - with_term]


def _pick(opened: OpenModel, X: Table) -> Table:
    """Return the model's columns in its order, in a form that scikit-learn can shuffle column by column."""
    if not hasattr(X, "columns"):
        return np.asarray(X, dtype=object)
    if not hasattr(opened.encoder, "feature_names_in_"):  # columns are identified by position
        return X
    picked = X[list_origins(opened.columns)]
    return picked if hasattr(picked, "iloc") else picked.to_pandas()


def _measure_error(outputs: FloatArray, target: FloatArray, link: str) -> float:
    """Return the RMSE of outputs, or the log loss of those before a link."""
    if link == "identity":
        return float(np.sqrt(((outputs - target) ** 2).mean()))
    return float(LogLoss().measure_rows(outputs, target).mean())
