"""A model as a page to read, to send and to ask "what if"."""

from takagi.report._report import ModelReport

__all__ = ["ModelReport"]
