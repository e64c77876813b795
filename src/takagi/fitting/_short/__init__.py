"""Short rules: few rules with few conditions and terms, each of them true by itself.

A model is a sum of parts. It grows from one formula by splits, of a rule or into a new part. For each split, all
parameters are trained together by Levenberg-Marquardt steps, on a loss with a penalty on rules that disagree about the
rows that they govern together. Then terms are pruned to the limit and exchanged for better ones, and the conditions get
their intervals. Any model of moderate size can be reduced to fewer rules in the same way.
"""

from takagi.fitting._short._classes import fit_short_classes
from takagi.fitting._short._fit import Short, fit_short
from takagi.fitting._short._lesson import teach_short
from takagi.fitting._short._reduction import can_be_reduced, reduce_model
from takagi.fitting._short._workshop import Limits

__all__ = ["Limits", "Short", "can_be_reduced", "fit_short", "fit_short_classes", "reduce_model", "teach_short"]
