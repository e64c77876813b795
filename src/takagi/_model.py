"""Access to a model: the rule base in an estimator or a pipeline, and the way from the user's table to its matrix."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takagi._checks import check_targets, validate_rows
from takagi._conditions import name_features
from takagi._messages import unknown_name
from takagi._text import format_number
from takagi._typing import FloatArray, Table
from takagi._wording import name_outputs
from takagi.profile import measure_profile
from takagi.rulebase import RuleBase
from takagi.rulemodel import RuleModel
from takagi.tables import Column, TableColumns

SIMILAR = "similar rows"  # the name of the correction by a committee's memory
DISAGREEMENT = "disagreement"  # the name of the difference between mean probability and mean log-odds
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")  # of scikit-learn


@dataclass(frozen=True)
class OpenModel:
    """The parts of a model that explanations, reports and exports need."""

    model: RuleModel  # in the units and names of the encoded table; scalers of a pipeline are folded into it
    columns: tuple[Column, ...]  # of the user's table, each with the features (columns of the matrix) that it became
    encode: Callable[[Table], FloatArray]  # turns the user's table into the matrix of the rules, with checks
    regressor: Any = None  # the fitted regressor, None for a bare rule base
    encoder: TableColumns | None = None  # the first step if columns may be categories or have missing values
    other_steps: tuple[Any, ...] = ()  # transformers that neither the rules nor the encoder include, such as PCA

    @property
    def rules(self) -> RuleBase:
        """The rule base, if the model is a single one."""
        if len(self.model.parts) > 1:
            raise TypeError(
                f"The model is a sum of {len(self.model.parts)} rule bases, but one rule base is needed here. Use "
                "model_.merge(), one rule base with the same predictions, or one of model_.parts."
            )
        return self.model.first

    @property
    def has_table(self) -> bool:
        """Whether columns may be categories or have missing values."""
        return self.encoder is not None

    @property
    def is_single(self) -> bool:
        """Whether predictions are one number a row, not a vector."""
        return getattr(self.regressor, "is_single_target_", self.model.n_outputs == 1)

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The labels of a classifier, None for other models."""
        labels = getattr(self.regressor, "classes_", None)
        return None if labels is None else tuple(labels.tolist())

    def read_targets(self, y: Table, n_rows: int) -> FloatArray:
        """Return targets of shape (n_rows, n_outputs): numbers, or probabilities of classes for their labels."""
        if self.classes is not None:
            from takagi._labels import make_targets, number_labels, read_labels  # scikit-learn checks labels

            labels = read_labels(y, n_rows)
            return make_targets(number_labels(labels, self.regressor.classes_), len(self.classes))
        targets = check_targets(y, n_rows, self.model.n_outputs)
        if self.model.link != "identity" and not ((targets >= 0) & (targets <= 1)).all():
            raise ValueError(f"y must be probabilities, from 0 to 1, for rules with the link {self.model.link!r}.")
        return targets

    def share_classes(self, X: Table, y: Table) -> FloatArray | None:
        """Return the fraction of each class among the rows that each rule governs; None without labels."""
        if y is None:
            return None
        if X is None:
            raise ValueError("y was given without X; give X as well.")
        if self.model.link == "identity":
            raise ValueError("y is for classifiers only, to show the class frequencies of each rule; leave it out.")
        rows = self.encode(X)
        share = self.model.firing_share(rows)
        return share.T @ self.read_targets(y, len(rows)) / share.sum(axis=0)[:, None]

    def show(self, X: Table) -> list[list[str]]:
        """Return the cells of the columns as text, row by row."""
        if self.encoder is not None:
            return self.encoder.show(X)
        return [["missing" if np.isnan(value) else format_number(value) for value in row] for row in self.encode(X)]

    def measure(self, X: Table = None) -> RuleModel:
        """Return the model with the summary of a table in its parts, or of the training rows if none is given."""
        if X is None:
            return self.model
        rows = self.encode(X)
        if not len(rows):
            raise ValueError("X must have at least one row, got none.")
        outputs = self.model.predict_raw(rows)
        measured = []
        for part in self.model.parts:
            profile = measure_profile((rows, outputs), part.firing_share, intervals=part.intervals)
            if part.profile is not None:
                profile = replace(profile, output_quantiles=part.profile.output_quantiles)
            measured.append(replace(part, profile=profile))
        return replace(self.model, parts=tuple(measured))

    def inputs_of(self, column: int) -> np.ndarray:
        """Return the features that a column was encoded as."""
        start = sum(len(c.inputs) for c in self.columns[:column])
        return np.arange(start, start + len(self.columns[column].inputs))

    def find_column(self, column: str | int) -> int:
        """Return the index of a column given by name or index."""
        known = [c.name for c in self.columns]
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if not -len(known) <= column < len(known):
                raise ValueError(f"feature {column} is not among the {len(known)} features, 0 to {len(known) - 1}.")
            return int(column) % len(known)
        if column not in known:
            raise unknown_name("feature", column, known)
        return known.index(column)

    def find_output(self, output: str | int) -> int:
        """Return the index of an output given by name or index."""
        return find_place(output, name_outputs(self.model))


def find_place(output: str | int, names: Sequence[str]) -> int:
    """Return the index of an output given by name or index."""
    if isinstance(output, str):
        if output not in names:
            raise unknown_name("output", output, names)
        return list(names).index(output)
    if not 0 <= output < len(names):
        raise ValueError(f"output must be 0 to {len(names) - 1}, got {output}.")
    return int(output)


@dataclass(frozen=True)
class OpenCommittee:
    """The members of a committee, which predicts their mean, and its memory; any other model is its only member.

    Committees of classifiers predict the mean probability. Before the link, that is the mean output of the members plus
    a term for their disagreement, which belongs to no column.
    """

    members: tuple[OpenModel, ...]
    # From encoded rows to the memory's correction and the number of similar rows, both (n_rows, n_outputs).
    recall: Callable[[FloatArray], tuple[FloatArray, FloatArray]] | None = None

    @property
    def first(self) -> OpenModel:
        """The first member; all have the same columns and outputs."""
        return self.members[0]

    @property
    def term(self) -> str | None:
        """The name of the term that is added to the mean output of the members; None if there is none."""
        if self.recall is not None:
            return SIMILAR
        return DISAGREEMENT if len(self.members) > 1 and self.first.model.link != "identity" else None

    def predict_mean(self, rows: FloatArray) -> FloatArray:
        """Return the mean output of the members for encoded rows, before a link, of shape (n_rows, n_outputs)."""
        return self._predict_members(rows).mean(axis=0)

    def predict(self, rows: FloatArray) -> FloatArray:
        """Return the prediction for encoded rows, before a link, of shape (n_rows, n_outputs)."""
        mean = self.combine(self._predict_members(rows))
        return mean if self.recall is None else mean + self.recall(rows)[0]

    def find_term(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return that term for encoded rows, and a number that describes it, both of shape (n_rows, n_outputs).

        The number is that of similar rows, or the standard deviation of the members' outputs.
        """
        if self.recall is not None:
            return self.recall(rows)
        outputs = self._predict_members(rows)
        return self.combine(outputs) - outputs.mean(axis=0), outputs.std(axis=0)

    def combine(self, outputs: FloatArray) -> FloatArray:
        """Return the committee's output, given those of its members, of shape (n_members, n_rows, n_outputs)."""
        if len(outputs) == 1 or self.first.model.link == "identity":
            return outputs.mean(axis=0)
        from scipy.special import log_expit, log_softmax, logsumexp  # not needed for regression

        if self.first.model.link == "logit":
            return logsumexp(log_expit(outputs), axis=0) - logsumexp(log_expit(-outputs), axis=0)
        chances = logsumexp(log_softmax(outputs, axis=2), axis=0)
        return chances - chances.mean(axis=1, keepdims=True)

    def _predict_members(self, rows: FloatArray) -> FloatArray:
        return np.array([member.model.predict_raw(rows) for member in self.members])

    def average_row(self) -> FloatArray | None:
        """Return the average of the training rows, encoded; None if it is not known."""
        profiles = [member.model.profile for member in self.members]
        means = [profile.mean for profile in profiles if profile is not None]
        return np.mean(means, axis=0) if means else None


def take_member(model: Any, k: int) -> Any:
    """Return a member of a committee, or a pipeline with the member in its place, which is a model like any other."""
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return model.estimators_[k]
    return type(model)([*model.steps[:-1], ("member", model.steps[-1][1].estimators_[k])])


def list_steps(model: Any) -> list[Any]:
    """Return the steps of a pipeline that do something, or the model itself as the only one."""
    return [step for _, step in getattr(model, "steps", [("", model)]) if step not in (None, "passthrough")]


def open_model(model: Any) -> OpenModel:
    """Open a fitted `TSKRegressor`, a `Pipeline` that ends in one, a search over either, or a `RuleBase`.

    A committee has no single rule base and is refused; `open_committee` takes it.
    """
    members = open_committee(model).members
    if len(members) > 1:
        is_pipeline = hasattr(getattr(model, "best_estimator_", model), "steps")
        member = "Pipeline([*model.steps[:-1], ('member', model[-1].estimators_[0])])"
        raise TypeError(
            f"The model is a committee of {len(members)} members, but one model is needed here. Use a member: "
            f"{member if is_pipeline else 'model.estimators_[0]'}."
        )
    return members[0]


def open_committee(model: Any) -> OpenCommittee:
    """Open a committee, or any other model as its only member."""
    if isinstance(model, (RuleBase, RuleModel)):
        rules = model if isinstance(model, RuleModel) else RuleModel((model,))
        return OpenCommittee((OpenModel(rules, _plain_columns(rules), rules.check_rows),))
    model = getattr(model, "best_estimator_", model)
    steps = list_steps(model)
    regressor: Any = steps.pop() if steps else None
    if isinstance(regressor, type) or not hasattr(regressor, "firing_share"):
        raise TypeError(
            "model must be a fitted TSKRegressor, a Pipeline that ends in one, a TSKCommittee, a RuleBase or a "
            f"RuleModel, got {_name_kind(model, regressor)}."
        )
    members = getattr(regressor, "estimators_", [regressor])
    if not all(hasattr(member, "model_") for member in members):
        from sklearn.exceptions import NotFittedError  # imported by now, as the estimator is

        raise NotFittedError(f"This {type(regressor).__name__} is not fitted yet; call fit first.")
    n_others = max((i for i, step in enumerate(steps, 1) if not _is_affine(step)), default=0)
    others, scalers = steps[:n_others], steps[n_others:]
    opened = tuple(_open(others, scalers, member) for member in members)
    memory = getattr(regressor, "memory_", None)
    if memory is None:
        return OpenCommittee(opened)

    def recall(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        for scaler in scalers:
            shift, scale = _read_scaler(scaler, rows.shape[1])
            rows = (rows - shift) / scale
        return memory.recall(members[0].model_.fill_rows(rows))

    return OpenCommittee(opened, recall)


def _open(steps: list[Any], scalers: list[Any], regressor: Any) -> OpenModel:
    """Open a regressor behind the other steps of a pipeline, the last of which may be scalers."""
    rules = regressor.model_
    checker = scalers[0] if scalers else regressor
    for scaler in reversed(scalers):
        rules = _fold(scaler, rules)
    if not steps:
        names = getattr(checker, "feature_names_in_", None)
        rules = rules if names is None else rules.rename(names)
        return OpenModel(rules, _plain_columns(rules), lambda X: validate_rows(checker, X), regressor)
    if len(steps) == 1 and isinstance(steps[0], TableColumns):
        rules = rules.rename([name for column in steps[0].columns_ for name in column.inputs])
        return OpenModel(rules, steps[0].columns_, _chain(steps), regressor, encoder=steps[0])
    rules = rules.rename(_names_out(steps) or name_features(rules))
    return OpenModel(rules, _plain_columns(rules), _chain(steps), regressor, other_steps=tuple(steps))


def _name_kind(model: Any, last: Any) -> str:
    if isinstance(model, type):
        return f"the class {model.__name__}; write {model.__name__}() and fit it"
    kind = type(model).__name__
    return kind if last is model or last is None else f"a {kind} that ends in {type(last).__name__}"


def _plain_columns(rules: RuleModel) -> tuple[Column, ...]:
    return tuple(Column(name, "number") for name in name_features(rules))


def _chain(steps: list[Any]) -> Callable[[Table], FloatArray]:
    def encode(X: Table) -> FloatArray:
        for step in steps:
            X = step.transform(X)
        return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)

    return encode


def _names_out(steps: list[Any]) -> list[str] | None:
    """Return the names that the last of some transformers gives its columns, None if one of them has none."""
    names = None
    for step in steps:
        if not hasattr(step, "get_feature_names_out"):
            return None
        names = step.get_feature_names_out(names)
    return list(names) if names is not None else None


def _is_affine(step: Any) -> bool:
    """Return whether a step only shifts and scales each column."""
    kinds = (kind for kind in type(step).__mro__ if kind.__module__.startswith("sklearn.preprocessing"))
    return any(kind.__name__ in _SCALERS for kind in kinds) and not getattr(step, "clip", False)


def _fold(scaler: Any, rules: RuleModel) -> RuleModel:
    """Return rules for the input of a scaler, given rules for its output."""
    shift, scale = _read_scaler(scaler, rules.n_features)
    return rules.rescale(shift, scale, np.zeros(rules.n_outputs), np.ones(rules.n_outputs))


def _read_scaler(scaler: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Return what a scaler subtracts from each column, and what it then divides by."""
    if hasattr(scaler, "min_"):  # a MinMaxScaler
        shift, scale = -scaler.min_ / scaler.scale_, 1 / scaler.scale_
    else:
        shift = next((s for s in map(scaler.__dict__.get, ("mean_", "center_")) if s is not None), 0.0)
        scale = scaler.scale_ if scaler.scale_ is not None else 1.0
    if not getattr(scaler, "with_mean", True):
        shift = 0.0
    return np.broadcast_to(shift, n_features), np.broadcast_to(scale, n_features)
