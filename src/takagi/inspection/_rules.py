"""The rules as text and as a table, and their size."""

from typing import Any, NamedTuple

import numpy as np

from takagi._conditions import Condition, count_conditions
from takagi._messages import need_extra
from takagi._model import open_committee, open_model
from takagi._typing import Table
from takagi._wording import describe_model, name_outputs, name_part, read_model


def export_text(model: Any, X: Table = None, y: Table = None, *, centered: bool = False) -> str:
    """Write the rules as text, those that govern most of the data first.

    If a model is a sum of parts, the main rules come first, and the outputs of each adjustment are added to theirs. A
    condition has a word for its place in the data, its center and its width: "rooms is high (about 6.8 +- 0.4)". A
    condition that never halves a rule's firing level within the data excludes nothing and is not shown. Rules with
    intervals have conditions such as "rooms above 7.2" instead. Formulas are rounded; this changes predictions by about
    a hundredth of the target's spread. If held-out errors are known, "price = 3.1 + 2 rooms +- 12" means that the
    model's error has a standard deviation of 12 where the rule governs. Lines have at most 80 columns. A note at the
    end says if the rules make sense only together: more than a third of their conditions are centered outside the data,
    or formulas of rules that govern more than a tenth of it leave the target's range. `check_rules` measures the same
    with data.

    The formulas of a classifier give log-odds of the second of two classes, or one score per class if there are more.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        A fitted model. The rules are in the table's own units, even behind the scalers of a pipeline. The rules of a
        committee are written member by member.
    X : array or data frame, optional
        Data for the shares, the words and the rounding; the training data by default.
    y : array of shape (n_rows,), optional
        The labels of X, for a classifier: "Rule 2 (31 % of the data; 83 % of these are malignant)".
    centered : bool, default=False
        Whether to write formulas around the means of the columns, "24.1 + 5.9 (RM - 6.3)": the constant is then the
        rule's output for an average row. Terms of booleans, levels, projections and bends are not centered.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import export_text
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=500, random_state=0).fit(X[["bmi", "bp"]], y)
    >>> print(export_text(model, X[["bmi", "bp"]]))
    Rule 1 (66 % of the data)
      IF bmi is medium (about 24.2 +- 4.2) and bp is medium (about 89 +- 14)
      THEN target = -37 + 4.18 bmi + 0.63 bp +- 64
    Rule 2 (34 % of the data)
      IF bmi is high (about 30.3 +- 3.6) and bp is high (about 107 +- 12)
      THEN target = -48 + 4.51 bmi + 1.20 bp +- 64
    >>> print(export_text(model, centered=True).splitlines()[2])
      THEN target = 131 + 4.2 (bmi - 26) + 0.63 (bp - 95) +- 64
    """
    members = open_committee(model).members
    texts = [
        describe_model(opened.measure(X), opened.columns, centered, opened.share_classes(X, y)) for opened in members
    ]
    if len(members) == 1:
        return texts[0]
    return "\n\n".join(f"Member {i} of {len(members)}\n\n{text}" for i, text in enumerate(texts, 1))


def rule_table(model: Any, X: Table = None, y: Table = None) -> Any:
    """Return the rules as a data frame, those that govern most of the data first.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        A fitted model.
    X : array or data frame, optional
        Data for the shares, the words and the rounding; the training data by default.
    y : array of shape (n_rows,), optional
        The labels of X, for a classifier; they give the class frequencies among a rule's rows.

    Returns
    -------
    pandas.DataFrame
        With the columns "rule" (its number), "share", "if" (its conditions; in brackets, the place of an interval in
        the data: "rooms above 7.2 (very high)") and "then" (its formula); "then NAME" for each of several outputs. "+-"
        (or "+- NAME") is the standard deviation of held-out errors where the rule governs, if it is known. If the model
        is a sum, "part" says whether a rule is one of the "Main rules" or of an "Adjustment". The rules of a committee
        are listed member by member, with the number of the member in "member". With labels, "share of NAME" is the
        fraction of the rule's rows that have the class of an output.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi import TSKRegressor
    >>> from takagi.inspection import rule_table
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = TSKRegressor(n_rules=2, recipe="droprule", max_iter=500, random_state=0).fit(X[["bmi", "bp"]], y)
    >>> rule_table(model).loc[0, "then"]
    '-37 + 4.18 bmi + 0.63 bp'
    """
    pandas = need_extra("pandas", "report")
    members = open_committee(model).members
    names = name_outputs(members[0].model)
    n_parts = max(len(opened.model.parts) for opened in members)
    thens, spreads = ([word] if len(names) == 1 else [f"{word} {name}" for name in names] for word in ("then", "+-"))
    scales = [None if (known := opened.model.calibration) is None else known.scale for opened in members]
    classes = [opened.share_classes(X, y) for opened in members]
    shares = [f"share of {name}" for name in names]
    return pandas.DataFrame(
        {
            **({"member": i} if len(members) > 1 else {}),
            **({"part": name_part(reading.part, n_parts)} if n_parts > 1 else {}),
            "rule": reading.number,
            "share": reading.share,
            **({} if part is None else dict(zip(shares, part[reading.number - 1].tolist(), strict=True))),
            "if": " and ".join(map(_write_condition, reading.conditions)) or "anything",
            **{then: " ".join(terms) for then, terms in zip(thens, reading.formulas, strict=True)},
            **({} if scale is None else dict(zip(spreads, scale[reading.number - 1].tolist(), strict=True))),
        }
        for i, (opened, scale, part) in enumerate(zip(members, scales, classes, strict=True), 1)
        for reading in read_model(opened.measure(X).parts, columns=opened.columns)
    )


def _write_condition(condition: Condition) -> str:
    return f"{condition.text} ({condition.place})" if condition.place else condition.text


class RuleSize(NamedTuple):
    """The size of a model; what `measure_size` returns.

    Parameters
    ----------
    n_rules, n_conditions, n_terms : int
        Rules, conditions and terms of all parts.
    max_conditions, max_terms : int
        Largest number of conditions of a rule, and of terms of a formula.
    """

    n_rules: int
    n_conditions: int
    n_terms: int
    max_conditions: int
    max_terms: int


def measure_size(model: Any) -> RuleSize:
    """Count the rules, conditions and terms of a model.

    Conditions are those that the text shows; conditions that exclude nothing do not count. A rule has at most one for
    each column of the table, with any number of levels. Terms are nonzero weights of formulas. Constants do not count,
    and a bend is one term.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, Pipeline, RuleBase or RuleModel
        A fitted model; not a committee.

    Returns
    -------
    RuleSize
        The numbers, by name.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> from takagi.inspection import measure_size
    >>> rules = RuleBase([[0.0], [10.0]], [[2.0], [2.0]], [[[0.0, 1.0]], [[5.0, 0.0]]])
    >>> measure_size(rules)
    RuleSize(n_rules=2, n_conditions=2, n_terms=1, max_conditions=1, max_terms=1)
    """
    opened = open_model(model)
    parts = opened.model.parts
    conditions = [
        count_conditions(part, r, part.profile, opened.columns) for part in parts for r in range(part.n_rules)
    ]
    terms = [int(n) for part in parts for n in np.count_nonzero(part.consequents[:, :, 1:], axis=2).ravel()]
    return RuleSize(len(conditions), sum(conditions), sum(terms), max(conditions), max(terms))
