"""Predictions of rules, and fitted models that can only predict.

A model file has all that prediction needs, and can be read without scikit-learn and numba. `RulePredictor` and
`CommitteePredictor` replace the estimators there: they have the same fitted attributes, and predict the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from takagi._checks import is_dask, validate_rows
from takagi._dask import map_rows
from takagi._extrapolation import warn_of_held
from takagi._typing import FloatArray, Table
from takagi.calibration import Calibration, check_coverage, make_intervals, split_scales
from takagi.memory import Memory
from takagi.rulebase import apply_link
from takagi.rulemodel import RuleModel

_SHARED = ("n_features_in_", "is_single_target_", "feature_names_in_", "classes_")  # by all members of a committee


# -- predictions of rules ----------------------------------------------------------------------------------------------


def choose_labels(outputs: FloatArray, classes: np.ndarray) -> np.ndarray:
    """Return the most probable classes, given the log-odds of the second of two, or the logits of all."""
    return classes[outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > 0).astype(np.intp)]


def find_chances(outputs: FloatArray) -> FloatArray:
    """Return the probabilities of all classes, given the log-odds of the second of two, or the logits of all."""
    if outputs.shape[1] > 1:
        return apply_link(outputs, "softmax")
    return apply_link(np.hstack([-outputs, outputs]), "logit")


def average_outputs(
    models: Sequence[RuleModel], memory: Memory | None, rows: FloatArray, n_threads: int = 1
) -> FloatArray:
    """Return the mean prediction of models plus the memory's correction, of shape (n_rows, n_outputs)."""
    mean = np.mean([model.predict_raw(rows, n_threads) for model in models], axis=0)
    return mean if memory is None else mean + memory.correct(models[0].fill_rows(rows), n_threads=n_threads)


def average_chances(models: Sequence[RuleModel], rows: FloatArray, n_threads: int = 1) -> FloatArray:
    """Return the mean of the probabilities of all classes, of shape (n_rows, n_classes)."""
    said = [model.predict(rows, n_threads).reshape(len(rows), -1) for model in models]
    return np.mean([spread_classes(one) for one in said], axis=0)


def spread_classes(proba: FloatArray) -> FloatArray:
    """Return probabilities of all classes, given those of the second of two, or of all."""
    return np.hstack([1 - proba, proba]) if proba.shape[1] == 1 else proba


def average_spread(
    models: Sequence[RuleModel], calibration: Calibration, rows: FloatArray, n_threads: int = 1
) -> FloatArray:
    """Return the mean spread, given the calibration of all models together."""
    scales = split_scales(calibration, [model.n_rules for model in models])
    spreads = [
        replace(model, calibration=replace(calibration, scale=scale)).predict_spread(rows, n_threads)[1]
        for model, scale in zip(models, scales, strict=True)
    ]
    return np.mean(spreads, axis=0)


# -- intervals ---------------------------------------------------------------------------------------------------------


class PredictsIntervals:
    """The method `predict_interval` of estimators with a calibration."""

    is_single_target_: bool

    def predict_interval(self, X: Table, coverage: float = 0.9) -> FloatArray:
        """Return prediction intervals, which contain the targets of new rows with a given probability.

        This is split conformal prediction: the half-width of an interval is the spread at the row times a quantile of
        the scores of held-out rows. The spread varies from rule to rule.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
        coverage : float, default=0.9
            The fraction of new rows whose target lies in its interval, between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows, 2) or (n_rows, n_outputs, 2)
            Lower and upper limits. The coverage holds for each target separately.

        Raises
        ------
        ValueError
            If there are no held-out errors, or too few of them for that coverage.
        """
        check_coverage(coverage)
        calibration = self._find_calibration()
        if calibration is None:
            raise ValueError(self._say_how())
        reach = calibration.find_reach(coverage)
        if is_dask(X):
            if not self.is_single_target_:
                raise ValueError("Intervals of Dask collections are supported for one target only. Compute X first.")
            return map_rows(lambda block: self.predict_interval(block, coverage), X, 2, ("lower", "upper"))
        prediction, spread = self._predict_spread(X)
        intervals = make_intervals(prediction, reach * spread)
        return intervals[:, 0] if self.is_single_target_ else intervals

    def _predict_both(self, X: Table) -> tuple[FloatArray, FloatArray]:
        """Return predictions and their standard deviations, shaped as those of `predict`."""
        if self._find_calibration() is None:
            raise ValueError(self._say_how())
        if is_dask(X):
            raise ValueError("return_std needs X in memory. Compute X first.")
        both = self._predict_spread(X)
        return (both[0][:, 0], both[1][:, 0]) if self.is_single_target_ else both

    def _say_how(self) -> str:
        return (
            f"This {type(self).__name__} is not calibrated, so its errors on new rows are not known. Call "
            "calibrate(X, y) with held-out rows."
        )

    def _find_calibration(self) -> Calibration | None:
        raise NotImplementedError

    def _predict_spread(self, X: Table) -> tuple[FloatArray, FloatArray]:
        raise NotImplementedError


# -- models that only predict ------------------------------------------------------------------------------------------


class _Predictor(PredictsIntervals):
    """Base class; scikit-learn checks rows only if they are neither a matrix nor a known data frame."""

    n_threads = 1
    calibration_: Calibration | None

    @property
    def _models(self) -> list[RuleModel]:
        raise NotImplementedError

    def predict_proba(self, X: Table) -> FloatArray:
        """Return the probabilities of the classes."""
        if not hasattr(self, "classes_"):
            raise AttributeError("This model predicts numbers and has no class probabilities; call predict.")
        return self._find_proba(self._read(X))

    def _find_proba(self, rows: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _read(self, X: Table) -> FloatArray:
        rows, first = validate_rows(self, X), self._models[0]
        warn_of_held(rows, first.limits, first.feature_names)
        return rows

    def _find_calibration(self) -> Calibration | None:
        return self.calibration_

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(allow_nan=True))


class RulePredictor(_Predictor):
    """A fitted regressor or classifier that only predicts.

    Parameters
    ----------
    model : RuleModel
        The rules.
    is_single_target : bool
        Whether predictions are one number a row.
    **known : dict
        The attributes `feature_names_in_`, `classes_` and `target_name_`, if the estimator has them.
    """

    def __init__(self, model: RuleModel, is_single_target: bool, **known: Any) -> None:
        self.model_, self.calibration_ = model, model.calibration
        self.n_features_in_, self.is_single_target_ = model.n_features, is_single_target
        self.__dict__ |= known

    @property
    def _models(self) -> list[RuleModel]:
        return [self.model_]

    def predict(self, X: Table) -> np.ndarray:
        """Return numbers, or the labels of the most probable classes."""
        outputs = self.model_.predict_raw(self._read(X), self.n_threads)
        if hasattr(self, "classes_"):
            return choose_labels(outputs, self.classes_)
        return outputs[:, 0] if self.is_single_target_ else outputs

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule governs each row."""
        return self.model_.firing_share(validate_rows(self, X))

    def _find_proba(self, rows: FloatArray) -> FloatArray:
        return find_chances(self.model_.predict_raw(rows, self.n_threads))

    def _predict_spread(self, X: Table) -> tuple[FloatArray, FloatArray]:
        return self.model_.predict_spread(self._read(X), self.n_threads)


class CommitteePredictor(_Predictor):
    """A fitted committee that only predicts.

    Parameters
    ----------
    members : list of RulePredictor
        The members.
    memory : Memory, optional
        The committee's memory.
    calibration : Calibration, optional
        Its held-out errors.
    """

    def __init__(
        self, members: list[RulePredictor], memory: Memory | None = None, calibration: Calibration | None = None
    ) -> None:
        self.estimators_, self.memory_, self.calibration_ = members, memory, calibration
        self.__dict__ |= {name: getattr(members[0], name) for name in _SHARED if hasattr(members[0], name)}

    @property
    def _models(self) -> list[RuleModel]:
        return [member.model_ for member in self.estimators_]

    def predict(self, X: Table) -> np.ndarray:
        """Return numbers, or the labels of the most probable classes."""
        if hasattr(self, "classes_"):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        outputs = average_outputs(self._models, self.memory_, self._read(X), self.n_threads)
        return outputs[:, 0] if self.is_single_target_ else outputs

    def firing_share(self, X: Table) -> FloatArray:
        """Return how much each rule of each member governs each row."""
        rows = validate_rows(self, X)
        return np.concatenate([model.firing_share(rows) for model in self._models], axis=1) / len(self.estimators_)

    def _find_proba(self, rows: FloatArray) -> FloatArray:
        return average_chances(self._models, rows, self.n_threads)

    def _predict_spread(self, X: Table) -> tuple[FloatArray, FloatArray]:
        assert self.calibration_ is not None
        rows = self._read(X)
        prediction = average_outputs(self._models, self.memory_, rows, self.n_threads)
        return prediction, average_spread(self._models, self.calibration_, rows, self.n_threads)


class PredictorPipeline:
    """Steps of a pipeline, the last of which only predicts.

    Parameters
    ----------
    steps : list of tuple
        Names and steps: transformers of a table, and then a predictor.
    """

    def __init__(self, steps: list[tuple[str, Any]]) -> None:
        self.steps = steps
