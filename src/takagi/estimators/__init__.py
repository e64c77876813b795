"""Estimators: scikit-learn's interface around fits, and tables larger than memory."""

from takagi.estimators._classifier import TSKClassifier
from takagi.estimators._collections import BUFFER_ROWS, SAMPLE_ROWS, limit_rows
from takagi.estimators._committee import TSKCommittee
from takagi.estimators._committee_classifier import TSKCommitteeClassifier
from takagi.estimators._fit_dataset import copy_model, fit_dataset, fit_source
from takagi.estimators._fuzzy_cmeans import FuzzyCMeans
from takagi.estimators._intervals import calibrate, predict_interval
from takagi.estimators._regressor import TSKRegressor
from takagi.estimators._threads import with_one_blas_thread
from takagi.estimators._update import read_new_rows, update

__all__ = [
    "BUFFER_ROWS",
    "SAMPLE_ROWS",
    "FuzzyCMeans",
    "TSKClassifier",
    "TSKCommittee",
    "TSKCommitteeClassifier",
    "TSKRegressor",
    "calibrate",
    "copy_model",
    "fit_dataset",
    "fit_source",
    "limit_rows",
    "predict_interval",
    "read_new_rows",
    "update",
    "with_one_blas_thread",
]
