"""Inspection of fitted rules: text, tables, explanations and plots."""

from typing import TYPE_CHECKING

from takagi._lazy import import_later
from takagi.inspection._local import LocalExplanation, explain_local
from takagi.inspection._outside import find_outside
from takagi.inspection._rules import RuleSize, export_text, measure_size, rule_table

if TYPE_CHECKING:
    from takagi.inspection._importance import feature_importance, rule_importance
    from takagi.inspection._plot import (
        HistoryDisplay,
        ImportanceDisplay,
        MembershipDisplay,
        ResponseDisplay,
        RuleGridDisplay,
        ShareDisplay,
        SimplificationDisplay,
        WaterfallDisplay,
    )
    from takagi.inspection._truth import RuleCheck, RuleTruth, check_rules

__all__ = [
    "HistoryDisplay",
    "ImportanceDisplay",
    "LocalExplanation",
    "MembershipDisplay",
    "ResponseDisplay",
    "RuleCheck",
    "RuleGridDisplay",
    "RuleSize",
    "RuleTruth",
    "ShareDisplay",
    "SimplificationDisplay",
    "WaterfallDisplay",
    "check_rules",
    "explain_local",
    "export_text",
    "feature_importance",
    "find_outside",
    "measure_size",
    "rule_importance",
    "rule_table",
]

__getattr__, __dir__ = import_later(
    __name__,
    __all__,
    {
        "_importance": ["feature_importance", "rule_importance"],
        "_plot": [
            "HistoryDisplay",
            "ImportanceDisplay",
            "MembershipDisplay",
            "ResponseDisplay",
            "RuleGridDisplay",
            "ShareDisplay",
            "SimplificationDisplay",
            "WaterfallDisplay",
        ],
        "_truth": ["RuleCheck", "RuleTruth", "check_rules"],
    },
)
