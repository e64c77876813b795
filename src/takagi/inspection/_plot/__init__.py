"""Plots as scikit-learn Displays; the only part of inspection that needs matplotlib."""

from takagi.inspection._plot._grid import RuleGridDisplay
from takagi.inspection._plot._history import HistoryDisplay
from takagi.inspection._plot._importance import ImportanceDisplay
from takagi.inspection._plot._membership import MembershipDisplay
from takagi.inspection._plot._response import ResponseDisplay
from takagi.inspection._plot._share import ShareDisplay
from takagi.inspection._plot._simplification import SimplificationDisplay
from takagi.inspection._plot._waterfall import WaterfallDisplay

__all__ = [
    "HistoryDisplay",
    "ImportanceDisplay",
    "MembershipDisplay",
    "ResponseDisplay",
    "RuleGridDisplay",
    "ShareDisplay",
    "SimplificationDisplay",
    "WaterfallDisplay",
]
