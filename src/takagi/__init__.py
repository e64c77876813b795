"""TSK (Takagi-Sugeno-Kang) fuzzy regression and classification that is accurate, fast and readable."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from takagi._extrapolation import ExtrapolationWarning
    from takagi.bend import Bend
    from takagi.calibration import Calibration
    from takagi.estimators import (
        FuzzyCMeans,
        TSKClassifier,
        TSKCommittee,
        TSKCommitteeClassifier,
        TSKRegressor,
        calibrate,
        fit_dataset,
        predict_interval,
        update,
    )
    from takagi.persistence import ModelFileError, load, save
    from takagi.rulebase import RuleBase
    from takagi.rulemodel import RuleModel
    from takagi.tables import DatasetError, TableEncoder, check_table
    from takagi.training import TrainConfig, TrainResult, train

__version__ = "0.1.0"

__all__ = [
    "Bend",
    "Calibration",
    "DatasetError",
    "ExtrapolationWarning",
    "FuzzyCMeans",
    "ModelFileError",
    "RuleBase",
    "RuleModel",
    "TSKClassifier",
    "TSKCommittee",
    "TSKCommitteeClassifier",
    "TSKRegressor",
    "TableEncoder",
    "TrainConfig",
    "TrainResult",
    "calibrate",
    "check_table",
    "fit_dataset",
    "load",
    "predict_interval",
    "save",
    "train",
    "update",
]

# Modules are imported when a name of theirs is used: scikit-learn alone takes a second, which `takagi --help` has not.
_MODULES = {
    "_extrapolation": ["ExtrapolationWarning"],
    "bend": ["Bend"],
    "calibration": ["Calibration"],
    "estimators": [
        "FuzzyCMeans",
        "TSKClassifier",
        "TSKCommittee",
        "TSKCommitteeClassifier",
        "TSKRegressor",
        "calibrate",
        "fit_dataset",
        "predict_interval",
        "update",
    ],
    "persistence": ["ModelFileError", "load", "save"],
    "rulebase": ["RuleBase"],
    "rulemodel": ["RuleModel"],
    "tables": ["DatasetError", "TableEncoder", "check_table"],
    "training": ["TrainConfig", "TrainResult", "train"],
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"takagi.{_HOMES[name]}"), name)
    if name in _MODULES:
        return import_module(f"takagi.{name}")
    raise AttributeError(f"module 'takagi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
