"""Estimators with scikit-learn's interface."""

from takagi.estimators._committee import TSKCommittee
from takagi.estimators._fit_dataset import fit_dataset
from takagi.estimators._fuzzy_cmeans import FuzzyCMeans
from takagi.estimators._regressor import TSKRegressor

__all__ = ["FuzzyCMeans", "TSKCommittee", "TSKRegressor", "fit_dataset"]
