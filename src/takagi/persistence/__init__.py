"""Safe model files: one JSON document holds a whole model, and nothing in it is executed on reading."""

from takagi.persistence._file import load, save
from takagi.persistence._schema import ModelFileError

__all__ = ["ModelFileError", "load", "save"]
