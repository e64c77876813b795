"""Inspection: what a fitted rule base says, as plots."""

from takagi.inspection._plot import MembershipDisplay

__all__ = ["MembershipDisplay"]
