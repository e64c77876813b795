"""Plots in scikit-learn's Display manner; the only part of inspection that needs matplotlib."""

from takagi.inspection._plot._membership import MembershipDisplay

__all__ = ["MembershipDisplay"]
