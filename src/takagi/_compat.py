"""The private objects of scikit-learn that takagi uses, named in one place."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["HasMethods", "Interval", "StrOptions", "check_sample_weight", "fit_context", "validate_parameters"]


class Interval(_Interval):
    """A range of numbers, of which True and False are none: they would pass for 1 and 0, and fail later."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Return whether a value is a number in the range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)


def validate_parameters(estimator: BaseEstimator) -> None:
    """Check the parameters of another estimator, as its own `fit` does."""
    estimator._validate_params()
