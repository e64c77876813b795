"""Safe model files: one JSON document has the whole model, and reading it executes nothing."""

from typing import TYPE_CHECKING

from takagi._lazy import import_later
from takagi.persistence._predictor import load_predictor
from takagi.persistence._schema import ModelFileError

if TYPE_CHECKING:
    from takagi.persistence._file import load, save

__all__ = ["ModelFileError", "load", "load_predictor", "save"]

__getattr__, __dir__ = import_later(__name__, __all__, {"_file": ["load", "save"]})
