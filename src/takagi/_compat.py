"""The private objects of scikit-learn that takagi uses, named in one place."""

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["HasMethods", "Interval", "StrOptions", "check_sample_weight", "fit_context", "validate_parameters"]


def validate_parameters(estimator: BaseEstimator) -> None:
    """Check the parameters of another estimator, as its `fit` does."""
    estimator._validate_params()
