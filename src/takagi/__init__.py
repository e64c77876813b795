"""TSK (Takagi-Sugeno-Kang) fuzzy regression that is accurate, fast and readable."""

from takagi.rulebase import RuleBase
from takagi.training import TrainConfig, TrainResult, train

__version__ = "0.1.0"

__all__ = ["RuleBase", "TrainConfig", "TrainResult", "train"]
