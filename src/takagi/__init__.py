"""TSK (Takagi-Sugeno-Kang) fuzzy regression and classification that is accurate, fast and readable."""

from typing import TYPE_CHECKING

from takagi._lazy import import_later

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

__getattr__, __dir__ = import_later(
    __name__,
    [*__all__, "__version__"],
    {
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
    },
)
