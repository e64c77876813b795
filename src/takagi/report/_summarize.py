"""A summary of a model and data as plain values: the content of the page."""

from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from takagi._conditions import Condition, name_features
from takagi._model import OpenCommittee, OpenModel, list_steps, open_committee, take_member
from takagi._text import shorten
from takagi._typing import FloatArray, IntArray, Table
from takagi._wording import describe_projections, describe_rest, name_formulas, name_outputs, name_part, read_model
from takagi.inspection import check_rules, feature_importance, rule_importance
from takagi.kernels import PARAMETERS
from takagi.profile import spread_rows
from takagi.report._classes import describe_classes, score_classes
from takagi.report._fit import find_kept_scores, find_residuals, measure_seen, score_outputs, summarize_history
from takagi.report._simplification import summarize_simplification
from takagi.report._table import describe_columns, list_findings, pick_rows, take_rows
from takagi.rulebase import RuleBase, apply_link, choose_origin
from takagi.rulemodel import RuleModel

_NOTHING = 1e-12  # of the largest importance
_MOST_ROWS = 2_000  # that rules are left out for, and columns are shuffled in
_LEAST_ROWS = 50
_MOST_WORK = 2e9  # products of rows, rules and features, in all predictions for shuffled columns
_MOST_CELLS = 1_000  # conditions in the table of rules
_COVERAGE = 0.9  # of the interval around a prediction
_MOST_COLUMNS = 40  # in a rule's text
_LONGEST_TITLE = 100  # of the classes in the title


@dataclass(frozen=True)
class Options:
    """The options of a report."""

    title: str | None = None
    simplify: bool = True
    row: int = 0
    max_rows: int = 100
    random_state: Any = 0


def summarize_model(model: Any, X: Table, y: Table, options: Options) -> dict[str, Any]:
    """Return what a report shows of a model, as a dict of plain values.

    Scores and importance are those of the whole committee, if it is one, and rules those of the member that says nearly
    the same.
    """
    committee = open_committee(model)
    rows = committee.first.encode(X)
    target = committee.first.read_targets(y, len(rows))
    start = _check_options(options, len(rows))
    outputs = committee.predict(rows)
    estimator = list_steps(getattr(model, "best_estimator_", model))[-1]
    opened, shown, members = _choose_member(model, committee, rows, outputs)
    if any(part.profile is None for part in opened.model.parts):
        opened = replace(opened, model=opened.measure(X))
    rules = opened.model
    fit = _measure_fit(opened, rows, target, outputs, members, options.random_state)
    classes = fit["classes"]
    importance = _rank_for_outputs(model, opened, X, y, options)
    order = _order_columns(importance, np.ones(rules.n_outputs) if classes else target.std(axis=0))
    seen = measure_seen(estimator, rows, target)
    return _make_plain(
        {
            **_name_report(opened, classes, options.title),
            "outputs": name_outputs(rules),
            "formulas": name_formulas(rules.link, name_outputs(rules)),
            "n_rules": rules.n_rules,
            "members": members,
            "parts": [name_part(k, len(rules.parts)) for k in range(len(rules.parts))],
            "data": {
                "n_rows": len(rows),
                "n_columns": len(opened.columns),
                "columns": describe_columns(opened, X, rows),
            },
            "findings": list_findings(opened, X, y),
            **fit,
            "seen": seen,
            "kept": find_kept_scores(estimator, seen),
            "order": order,
            "rules": _list_rules(shown, opened, X, y, order),
            "projections": [line for part in rules.parts for line in describe_projections(part)],
            "importance": importance,
            "history": summarize_history(opened.regressor),
            "simplification": summarize_simplification(shown, X, y) if options.simplify else None,
            "model": _list_model(rules),
            "band": _list_band(rules),
            "rows": pick_rows(opened, rows, target, start, options.max_rows),
        }
    )


def _name_report(opened: OpenModel, classes: list[str] | None, title: str | None) -> dict[str, str]:
    """Return the title of a report, and the target that it is about."""
    if classes is None:
        what = ", ".join(name_outputs(opened.model))
        return {"title": title or f"Model report: {what}", "what": what}
    what, name = " or ".join(classes), getattr(opened.regressor, "target_name_", None)
    return {
        "title": title or f"Model report: {shorten(name or what, _LONGEST_TITLE)}",
        "what": f"{name} ({what})" if name else what,
    }


def _choose_member(
    model: Any, committee: OpenCommittee, rows: FloatArray, outputs: FloatArray
) -> tuple[OpenModel, Any, dict[str, Any] | None]:
    """Return the model to show rules of: of a committee, the member that is nearest to it, and how far off that is.

    The distance is a mean difference of probabilities, or of predictions in units of their standard deviation.
    """
    if len(committee.members) == 1:
        return committee.first, model, None
    link = committee.first.model.link
    said = np.array([apply_link(member.model.predict_raw(rows), link) for member in committee.members])
    scale = np.maximum(outputs.std(axis=0), np.finfo(float).tiny) if link == "identity" else 1.0
    distances = (np.abs(said - apply_link(outputs, link)) / scale).mean(axis=(1, 2))
    k = int(distances.argmin())
    members = {"n": len(committee.members), "shown": k + 1, "distance": float(distances[k])}
    return committee.members[k], take_member(model, k), members


def _measure_fit(
    opened: OpenModel,
    rows: FloatArray,
    target: FloatArray,
    outputs: FloatArray,
    members: dict[str, Any] | None,
    random_state: Any,
) -> dict[str, Any]:
    """Return scores beside those of simple models, and where the model errs."""
    classes, link = _list_classes(opened), opened.model.link
    said = {"These rules": outputs}
    if members is not None:
        said = {"The committee": outputs, f"Member {members['shown']}": opened.model.predict_raw(rows)}
    if classes is None:
        return {
            "classes": None,
            "error": "RMSE",
            "scores": score_outputs(opened.model, rows, target, said, random_state),
            "residuals": find_residuals(target, outputs),
            "told": None,
        }
    return {
        "classes": classes,
        "error": "log loss",
        "scores": score_classes(rows, target, said, random_state),
        "residuals": [],
        "told": describe_classes(classes, target, apply_link(outputs, link)),
    }


def _list_classes(opened: OpenModel) -> list[str] | None:
    """Return the names of the classes; None for models of numbers."""
    if opened.classes is not None:
        return list(map(str, opened.classes))
    names = name_outputs(opened.model)
    return {"identity": None, "logit": [f"not {names[0]}", names[0]], "softmax": list(names)}[opened.model.link]


# -- checks ------------------------------------------------------------------------------------------------------------


def _check_options(options: Options, n_rows: int) -> int:
    """Return the row to start at."""
    for name in ("row", "max_rows"):
        if not isinstance(getattr(options, name), Integral):
            raise TypeError(f"{name} must be a whole number, got {getattr(options, name)!r}.")
    if not -n_rows <= options.row < n_rows:
        raise ValueError(f"row must be a row of X, {-n_rows} to {n_rows - 1}, got {options.row}.")
    if options.max_rows < 1:
        raise ValueError(f"max_rows must be at least 1, got {options.max_rows}.")
    return options.row % n_rows


# -- importance --------------------------------------------------------------------------------------------------------


def _rank_for_outputs(
    model: Any, opened: OpenModel, X: Table, y: Table, options: Options
) -> list[dict[str, list[float]]]:
    """Return the importance of each column for each output; all classes have the same log loss, measured once."""
    first = _rank_features(model, opened, X, y, 0, options)
    n_outputs, is_shared = opened.model.n_outputs, opened.model.link != "identity"
    others = [_rank_features(model, opened, X, y, k, options, not is_shared) for k in range(1, n_outputs)]
    shared = {"permutation": first["permutation"]} if is_shared else {}
    return [first, *({**other, **shared} for other in others)]


def _rank_features(
    model: Any, opened: OpenModel, X: Table, y: Table, k: int, options: Options, shuffles: bool = True
) -> dict[str, list[float]]:
    """Return the importance of each column for one output, on a limited number of rows, to save time.

    If even few rows would take long, there is no permutation importance.
    """
    n_rows, n_columns = len(y), len(opened.columns)
    work = opened.model.n_rules * opened.model.n_features * n_columns
    n_repeats = 5 if 5 * work * min(n_rows, _MOST_ROWS) <= _MOST_WORK else 1
    index = spread_rows(n_rows, int(np.clip(_MOST_WORK / (n_repeats * work), _LEAST_ROWS, _MOST_ROWS)))
    is_long = _LEAST_ROWS * work > 5 * _MOST_WORK
    table = feature_importance(
        model,
        take_rows(X, index),
        take_rows(y, index) if shuffles and not is_long else None,
        output=k,
        n_repeats=n_repeats,
        random_state=options.random_state,
    ).set_index("feature")
    table = table.reindex([column.name for column in opened.columns])
    table = table if "permutation" in table else table.assign(permutation=None)
    for name in ("overall", "conditions", "consequents"):  # where sums cancel out, rounding errors are left
        table.loc[table[name].abs() < _NOTHING * table["overall"].max(), name] = 0.0
    return {name: table[name].tolist() for name in ("overall", "conditions", "consequents", "permutation")}


def _order_columns(importance: list[dict[str, list[float]]], scale: FloatArray) -> IntArray:
    """Return the columns, the most important ones for any output first, given the outputs' spread."""
    overall = [np.array(part["overall"]) / (s or 1.0) for part, s in zip(importance, scale, strict=True)]
    return np.argsort(-np.max(overall, axis=0), kind="stable")


# -- the rules ---------------------------------------------------------------------------------------------------------


def _list_rules(model: Any, opened: OpenModel, X: Table, y: Table, order: IntArray) -> dict[str, Any]:
    """Return the rules as text, part by part, the most important first, with the importance of each."""
    index = spread_rows(len(y), _MOST_ROWS)
    X, y = take_rows(X, index), take_rows(y, index)
    losses = rule_importance(model, X, y).set_index("rule")["loss"]
    check = check_rules(model, X, y)
    shown = order[: int(np.clip(_MOST_CELLS // opened.model.n_rules, 8, _MOST_COLUMNS))]
    kept = np.concatenate([opened.inputs_of(int(c)) for c in shown]).astype(np.intp)
    parts = [_keep_features(part, kept) for part in opened.model.parts]
    scales = None if opened.model.calibration is None else opened.model.calibration.scale
    classes = None if opened.model.link == "identity" else opened.share_classes(X, y)
    readings = read_model(parts, None, [opened.columns[c] for c in shown], scales=scales, class_shares=classes)
    return {
        "n_columns": len(shown),
        "n_rows": len(index),
        "truth": check.describe(),
        "rest": [describe_rest(part) for part in opened.model.parts],
        "list": [
            {
                "number": reading.number,
                "part": reading.part,
                "share": reading.share,
                "holds": check.rules[reading.number - 1].holds,
                "loss": losses[reading.number],
                "conditions": [_split_condition(condition) for condition in reading.conditions],
                "formulas": reading.formulas,
                "spreads": reading.spreads,
                "classes": reading.classes,
            }
            for reading in readings
        ],
    }


def _keep_features(rules: RuleBase, kept: IntArray) -> RuleBase:
    """Return the rules on some features only, in the given order."""
    profile, n_features, n_bends = rules.profile, rules.n_features, len(rules.bends)
    assert profile is not None
    n_a, n_c = rules.n_projected, rules.consequents.shape[2] - 1 - n_features - n_bends
    conditions = np.r_[np.arange(n_a), n_a + kept]
    place = {int(m): new for new, m in enumerate(kept)}
    bends = [(k, bend) for k, bend in enumerate(rules.bends) if bend.feature in place]
    terms = [*range(1 + n_c), *(1 + n_c + kept), *(1 + n_c + n_features + k for k, _ in bends)]
    return replace(
        rules,
        centers=rules.centers[:, conditions],
        widths=rules.widths[:, conditions],
        consequents=rules.consequents[:, :, terms],
        antecedent_projection=_keep_rows(rules.antecedent_projection, kept),
        consequent_projection=_keep_rows(rules.consequent_projection, kept),
        sets=None if rules.sets is None else rules.sets[:, conditions],
        feature_names=tuple(name_features(rules)[m] for m in kept),
        profile=replace(profile, mean=profile.mean[kept], quantiles=profile.quantiles[:, kept]),
        bends=tuple(replace(bend, feature=place[bend.feature]) for _, bend in bends),
        intervals=None if rules.intervals is None else rules.intervals[:, kept],
        limits=None if rules.limits is None else rules.limits[kept],
        usual=None if rules.usual is None else rules.usual[:, kept],
    )


def _keep_rows(projection: FloatArray | None, kept: IntArray) -> FloatArray | None:
    return None if projection is None else projection[np.r_[0, 1 + kept]]


def _split_condition(condition: Condition) -> dict[str, str]:
    """Return the column, the verb and the word of a condition, and the rest of its text: center and width."""
    rest = condition.text.removeprefix(condition.column).strip()
    verb = "is" if rest.startswith("is ") else ""
    detail = rest.removeprefix(verb).strip().removeprefix(condition.word).strip()
    detail = detail.strip("()").removeprefix("about ").replace("+-", "±")
    return {"column": condition.column, "verb": verb, "word": condition.word, "detail": detail}


def _list_model(model: RuleModel) -> dict[str, Any]:
    """Return the numbers that the page predicts with."""
    assert model.profile is not None
    return {"mean": model.profile.mean, "parts": [_list_part(part) for part in model.parts]}


def _list_band(model: RuleModel) -> dict[str, Any] | None:
    """Return half the width of the interval where only one rule fires, if enough held-out rows are known."""
    known = model.calibration
    if known is None or (known.levels[-1] < _COVERAGE).any():
        return None
    return {"coverage": _COVERAGE, "half": known.scale * known.find_reach(_COVERAGE) / len(model.parts)}


def _list_part(part: RuleBase) -> dict[str, Any]:
    """Return the numbers of a part, with its bends as features after the others.

    Inputs are relative to the origin, which is 0 unless the data are so far from 0 that digits would be lost.
    """
    rules = part.expand()
    origin = choose_origin(rules.centers[:, rules.n_projected :], rules.widths[:, rules.n_projected :])
    moved = rules.rescale(-origin, np.ones_like(origin), np.zeros(1), np.ones(1))
    bends = [asdict(bend) for bend in part.bends]
    return {"origin": origin, "bends": bends, **{name: getattr(moved, name) for name in (*PARAMETERS, "usual")}}


# -- plain values ------------------------------------------------------------------------------------------------------


def _make_plain(value: Any) -> Any:
    """Return a value made of dicts, lists, text, booleans, integers and finite floats; other numbers become None."""
    if isinstance(value, dict):
        return {key: _make_plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _make_plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_make_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _make_plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
