"""Training: a rule base in, the best rule base and a history out.

Each iteration draws a mini-batch, drops rules, steps along the gradient and validates, as in the paper's Algorithm 1;
`takagi.kernels.train_block` runs many of them at a time, and between two blocks Python shows progress, calls the
callback and handles Ctrl-C.
"""

from takagi.training._batches import draw_keep, fork_generator
from takagi.training._config import (
    LOSSES,
    SCHEDULES,
    Bounds,
    Callback,
    LogLoss,
    Loss,
    Progress,
    SquaredError,
    TrainConfig,
    TrainResult,
)
from takagi.training._own import FeasibleSet
from takagi.training._scaled import ScaledTable
from takagi.training._train import (
    NEVER,
    Run,
    announce_compilation,
    begin_state,
    find_width_floor,
    train,
)

__all__ = [
    "LOSSES",
    "NEVER",
    "SCHEDULES",
    "Bounds",
    "Callback",
    "FeasibleSet",
    "LogLoss",
    "Loss",
    "Progress",
    "Run",
    "ScaledTable",
    "SquaredError",
    "TrainConfig",
    "TrainResult",
    "announce_compilation",
    "begin_state",
    "draw_keep",
    "find_width_floor",
    "fork_generator",
    "train",
]
