"""From a table to a model: understand the table, train, score, search settings, and use the model on new tables.

These functions do the work of the command line: they return results, raise errors, and report progress to a callable
that takes an `Event`. Nothing is printed.
"""

from typing import TYPE_CHECKING

from takagi._lazy import import_later
from takagi.workflow._columns import LEFT_OUT, ColumnSummary, summarize_columns
from takagi.workflow._events import Event, Tell
from takagi.workflow._models import LabeledRows, LoadedModel
from takagi.workflow._target import CLASSIFICATION, REGRESSION, list_labels

if TYPE_CHECKING:
    from takagi.workflow._measures import MEASURES
    from takagi.workflow._parts import RowsInParts, TableParts, comes_in_parts, read_sample, train_in_parts
    from takagi.workflow._scores import (
        compare_predictions,
        count_all_rules,
        describe_size,
        keep_rows,
        keep_scores,
        score_model,
        score_settings,
    )
    from takagi.workflow._settings import ModelSettings, choose_settings, list_candidates
    from takagi.workflow._splits import Splits, Ties, plan_splits, split_off
    from takagi.workflow._stability import RuleStability, StableRule, rule_stability
    from takagi.workflow._table import ColumnChoice, TrainingTable, read_training_table
    from takagi.workflow._training import Candidate, calibrate_by_folds, choose_simplest, search_settings, train_model
    from takagi.workflow._update import ModelUpdate, MovedRule, update_model
    from takagi.workflow._warm_up import warm_up

__all__ = [
    "CLASSIFICATION",
    "LEFT_OUT",
    "MEASURES",
    "REGRESSION",
    "Candidate",
    "ColumnChoice",
    "ColumnSummary",
    "Event",
    "LabeledRows",
    "LoadedModel",
    "ModelSettings",
    "ModelUpdate",
    "MovedRule",
    "RowsInParts",
    "RuleStability",
    "Splits",
    "StableRule",
    "TableParts",
    "Tell",
    "Ties",
    "TrainingTable",
    "calibrate_by_folds",
    "choose_settings",
    "choose_simplest",
    "comes_in_parts",
    "compare_predictions",
    "count_all_rules",
    "describe_size",
    "keep_rows",
    "keep_scores",
    "list_candidates",
    "list_labels",
    "plan_splits",
    "read_sample",
    "read_training_table",
    "rule_stability",
    "score_model",
    "score_settings",
    "search_settings",
    "split_off",
    "summarize_columns",
    "train_in_parts",
    "train_model",
    "update_model",
    "warm_up",
]

__getattr__, __dir__ = import_later(
    __name__,
    __all__,
    {
        "_measures": ["MEASURES"],
        "_parts": ["RowsInParts", "TableParts", "comes_in_parts", "read_sample", "train_in_parts"],
        "_scores": [
            "compare_predictions",
            "count_all_rules",
            "describe_size",
            "keep_rows",
            "keep_scores",
            "score_model",
            "score_settings",
        ],
        "_settings": ["ModelSettings", "choose_settings", "list_candidates"],
        "_splits": ["Splits", "Ties", "plan_splits", "split_off"],
        "_stability": ["RuleStability", "StableRule", "rule_stability"],
        "_table": ["ColumnChoice", "TrainingTable", "read_training_table"],
        "_training": ["Candidate", "calibrate_by_folds", "choose_simplest", "search_settings", "train_model"],
        "_update": ["ModelUpdate", "MovedRule", "update_model"],
        "_warm_up": ["warm_up"],
    },
)
