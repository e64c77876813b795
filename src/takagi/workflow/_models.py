"""Models from files, and tables for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from takagi import kernels
from takagi._conditions import name_features
from takagi._extrapolation import HeldCount, count_held
from takagi._model import OpenModel, list_steps, open_committee, take_member
from takagi._text import count, quote
from takagi._typing import BoolArray, FloatArray
from takagi._wording import name_outputs
from takagi.persistence import load_predictor
from takagi.tables import DatasetError, OpenTable, RequestError, find_columns, list_origins, locate_file
from takagi.workflow._flags import write_flags
from takagi.workflow._target import match_labels, read_target

_CELLS_PER_BLOCK = 2**19


@dataclass(frozen=True)
class LabeledRows:
    """Rows for a model, their targets or labels, and the number of rows without one, which were left out."""

    X: Any
    y: Any
    n_dropped: int


class LoadedModel:
    """A model that was loaded from a file.

    Parameters
    ----------
    path : Path
        The file.
    only_predicts : bool, default=False
        Whether to read only what predictions and explanations need. This is faster: scikit-learn and numba are not
        imported.

    Attributes
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline or RuleBase
        The model as it was saved, or a predictor in its place.
    opened : OpenModel
        Its rules and columns; those of the first member of a committee.
    n_flagged : int
        Number of rows with flags, of those predicted so far.
    """

    def __init__(self, path: Path, *, only_predicts: bool = False) -> None:
        self.model = load_predictor(locate_file(path)) if only_predicts else _load_whole(locate_file(path))
        self.opened: OpenModel = open_committee(self.model).first
        self.n_flagged = 0  # rows with flags so far
        self._held: HeldCount | None = None  # values far beyond the training rows, of all rows predicted so far

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns that a table must have."""
        return list_origins(column for column in self.opened.columns if column.inputs)

    @cached_property
    def targets(self) -> list[str]:
        """Names of the targets."""
        if self.classes is None:
            return list(name_outputs(self.opened.model))
        return [getattr(getattr(self.last, "estimators_", [self.last])[0], "target_name_", "class")]

    @property
    def classes(self) -> list[Any] | None:
        """The labels that a classifier predicts, None for a model that predicts numbers."""
        labels = getattr(self.last, "classes_", None)
        return None if labels is None else labels.tolist()

    def take_member(self, number: int | None = None) -> Any:
        """Return the model, or one member of a committee, counted from 1, for functions that need one set of rules."""
        members = getattr(self.last, "estimators_", None)
        if members is None and number is None:
            return self.model
        if members is None:
            raise RequestError("the model is no committee and has no members.", "member")
        if number is None or not 1 <= number <= len(members):
            what = "this takes one set of rules" if number is None else f"it has no member {number}"
            raise RequestError(f"the model is a committee, and {what}; name a member, 1 to {len(members)}.", "member")
        return take_member(self.model, number - 1)

    def read(self, table: OpenTable) -> Any:
        """Return a whole table in the form that the model needs."""
        names = self._match(table)
        return self._prepare(table.read(names, self._find_kinds(names)))

    def read_labeled(self, table: OpenTable, target: str | None = None) -> LabeledRows:
        """Return a whole table in the form that the model needs, and the targets; rows without a target are left out.

        Parameters
        ----------
        table : OpenTable
            The table.
        target : str, optional
            The target's column, if its name differs from the model's.
        """
        targets, names = self._find_targets(table, target), self._match(table)
        is_text = self.classes is not None and isinstance(self.classes[0], str)
        kinds = self._find_kinds(names) | dict.fromkeys(targets, "words" if is_text else "number")
        frame = table.read(list(kinds), kinds)
        y, present = self._read_targets(frame, targets)
        return LabeledRows(self._prepare(frame.loc[present, names]), y, int((~present).sum()))

    def _read_targets(self, frame: Any, targets: list[str]) -> tuple[Any, BoolArray]:
        """Return the targets of rows with a target, and a mask of these rows."""
        if self.classes is not None:
            labels, present = match_labels(frame, targets[0], self.classes)
            return labels[present].astype(self.last.classes_.dtype), present
        read = [read_target(frame, name) for name in targets]
        present = np.all([has_value for _, has_value in read], axis=0)
        y = np.column_stack([numbers[present] for numbers, _ in read])
        return y[:, 0] if len(targets) == 1 else y, present

    def find_seen(self, rows: LabeledRows) -> float:
        """Return which part of rows trained the model; NaN if it does not know."""
        known = getattr(self.last, "known_rows_", None)
        if known is None:
            return np.nan
        from takagi.workflow._measures import ClassMeasure  # takes scikit-learn, as only whole models know rows

        y = rows.y if self.classes is None else ClassMeasure(self.classes).encode(rows.y)
        return known.find_part(self.opened.encode(rows.X), y)

    def find_rows(self, table: OpenTable, wanted: Sequence[int]) -> dict[int, Any]:
        """Return rows of a table by their numbers, each as a table of one row; reads no more than needed."""
        found: dict[int, Any] = {}
        n_read = 0
        for _, block in self._blocks(table):
            inside = [number for number in wanted if n_read <= number < n_read + len(block)]
            found |= {number: block[number - n_read : number - n_read + 1] for number in inside}
            n_read += len(block)
            if len(found) == len(set(wanted)):
                return {number: found[number] for number in wanted}
        if not n_read:
            raise DatasetError(f"{table.label} has names but no rows.")
        lacking = ", ".join(str(number) for number in wanted if number not in found)
        raise RequestError(f"{table.label} has {count(n_read, 'row')}, 0 to {n_read - 1}, but not {lacking}.", "row")

    def check_coverage(self, coverage: float) -> None:
        """Raise an error that says what to do if the model cannot give intervals of a coverage."""
        if self.classes is not None:
            raise RequestError("the model predicts classes, which have probabilities and no intervals.")
        known = getattr(self.last, "calibration_", getattr(self.last, "calibration", None))
        if known is None:
            raise RequestError(
                "it is not known how far the model is off on rows that it has not seen; it can be found out by "
                "cross-validation when the model is fitted.",
                "intervals",
            )
        try:
            known.find_reach(coverage)
        except ValueError as error:
            raise RequestError(str(error)) from error

    def predict_blocks(
        self,
        table: OpenTable,
        keep: Sequence[str] = (),
        coverage: float | None = None,
        *,
        proba: bool = False,
        flags: bool = False,
    ) -> Iterator[Any]:
        """Yield data frames of the columns to keep, unchanged, followed by the predictions.

        With a coverage, the limits of intervals follow; with `proba`, the probability of each class; and with `flags`,
        warnings about values beyond the data, unknown levels and missing values. All cores are used; this does not
        change the result.
        """
        if proba and self.classes is None:
            raise RequestError("the model predicts numbers, which have no probabilities.", "interval")
        n_before, n_full = 0, _count_block_rows(table)
        for kept, block in self._blocks(table, keep):
            self._use_threads(is_many=len(block) == n_full)
            with kernels.prefer_plain(len(block) < n_full):
                predicted = self._add_predictions(kept, block, n_before, coverage, proba)
            n_before += len(block)
            yield self._add_flags(predicted, block) if flags else predicted
        if not n_before:
            raise DatasetError(f"{table.label} has names but no rows.")

    @property
    def n_held(self) -> int:
        """Number of rows predicted so far with values far beyond the training rows, which were held."""
        return 0 if self._held is None else self._held.n_held

    def describe_held(self) -> str:
        """Return a sentence about the values that were held in the predictions so far; there must be some."""
        rules = self.opened.model
        assert self._held is not None
        assert rules.limits is not None
        return self._held.describe(name_features(rules), rules.limits)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _use_threads(self, is_many: bool) -> None:
        """Use all cores for the blocks of a long table."""
        if is_many and hasattr(self.last, "n_threads"):
            from joblib import cpu_count  # which short tables do not need

            self.last.n_threads = cpu_count()

    def _blocks(self, table: OpenTable, keep: Sequence[str] = ()) -> Iterator[tuple[Any, Any]]:
        """Yield the columns to keep, unchanged, and all columns in the form that the model needs."""
        names = self._match(table)
        blocks = table.blocks(names, _count_block_rows(table), self._find_kinds(names), keep)
        return ((kept, self._prepare(block)) for kept, block in blocks if len(block))

    def _add_predictions(self, kept: Any, block: Any, n_before: int, coverage: float | None, proba: bool) -> Any:
        try:
            rows = block
            for step in list_steps(self.model)[:-1]:
                rows = np.asarray(step.transform(rows), dtype=float)
            columns = self._predict(rows, coverage, proba)
        except ValueError as error:
            if not n_before:
                raise
            raise DatasetError(f"in the block that starts at row {n_before:,} of the table: {error}") from error
        self._count_held(np.asarray(rows, dtype=float))
        while set(columns) & set(kept.columns):
            columns = {f"{name}_": values for name, values in columns.items()}
        return kept.assign(**columns)

    def _predict(self, rows: Any, coverage: float | None, proba: bool) -> dict[str, Any]:
        """Return predictions, intervals, probabilities and flags, by the names of their columns."""
        found = {"predicted": self.last.predict(rows).reshape(len(rows), -1)}
        if coverage is not None:
            limits = self.last.predict_interval(rows, coverage).reshape(len(rows), -1, 2)
            found |= {"lower": limits[:, :, 0], "upper": limits[:, :, 1]}
        columns = {
            f"{word}_{target}": values[:, k] for word, values in found.items() for k, target in enumerate(self.targets)
        }
        if proba:
            chances = self.last.predict_proba(rows)
            columns |= {f"probability_{label}": chances[:, k] for k, label in enumerate(self.classes or [])}
        return columns

    def _add_flags(self, predicted: Any, block: Any) -> Any:
        flags = write_flags(self.opened, block)
        self.n_flagged += sum(map(bool, flags))
        name = "flags"
        while name in predicted.columns:
            name += "_"
        return predicted.assign(**{name: flags})

    @property
    def last(self) -> Any:
        """The last step of a pipeline, or the model itself."""
        return getattr(self.model, "steps", [("", self.model)])[-1][1]

    def _count_held(self, rows: FloatArray) -> None:
        """Count values beyond the limits of the rules that the last step has."""
        rules = getattr(getattr(self.last, "estimators_", [self.last])[0], "model_", self.last)
        found = count_held(rows, rules.limits) or HeldCount(len(rows), 0, *np.zeros((2, rows.shape[1]), dtype=int))
        self._held = found if self._held is None else self._held.add(found)

    def _match(self, table: OpenTable) -> list[str]:
        """Return the table's columns for the model: by name, or by position if the model has no column names."""
        if self._has_names or set(self.columns) <= set(table.names):
            return find_columns(table, self.columns)
        if len(table.names) != len(self.columns):
            raise DatasetError(
                f"{table.label} has {count(len(table.names), 'column')}, but the model, which has no names for them, "
                f"takes {len(self.columns)}."
            )
        return table.names

    @property
    def _has_names(self) -> bool:
        steps = [step for _, step in getattr(self.model, "steps", [("", self.model)])]
        first = next(step for step in steps if step not in (None, "passthrough"))
        return hasattr(first, "feature_names_in_") or getattr(first, "feature_names", None) is not None

    def _find_kinds(self, names: list[str]) -> dict[str, str]:
        """Return which of the table's columns the model reads as numbers, and which as text."""
        is_plain = {column.origin: column.is_plain for column in self.opened.columns if column.inputs}
        return {name: "number" if plain else "words" for name, plain in zip(names, is_plain.values(), strict=True)}

    def _prepare(self, block: Any) -> Any:
        """Return the model's columns of a table in the form that the model needs."""
        block = block.set_axis(self.columns, axis=1)
        if not self.opened.has_table:
            block = block.astype(float)
        unused = {column.origin: None for column in self.opened.columns if not column.inputs}
        block = block.assign(**unused)[list_origins(self.opened.columns)]
        return block if self._has_names else block.to_numpy()

    def _find_targets(self, table: OpenTable, target: str | None) -> list[str]:
        if target is not None:
            if len(self.targets) > 1:
                raise RequestError(f"the model has the targets {', '.join(self.targets)}; name none.", "target")
            return find_columns(table, [target], "columns")
        if set(self.targets) <= set(table.names):
            return self.targets
        raise RequestError(
            f"{table.label} has no column {quote(self.targets[0])}, the model's target; name the column.", "target"
        )


def _load_whole(path: Path) -> Any:
    """Load a complete model."""
    from takagi.persistence import load  # imports scikit-learn, which predictions do not need

    return load(path)


def _count_block_rows(table: OpenTable) -> int:
    """Return how many rows of a table are read at a time."""
    return max(1, _CELLS_PER_BLOCK // len(table.names))
