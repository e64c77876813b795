"""A model as an HTML page to read and share, with a what-if panel."""

from takagi.report._report import ModelReport

__all__ = ["ModelReport"]
