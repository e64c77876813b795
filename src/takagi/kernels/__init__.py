"""Every compiled function of takagi, and the only import of numba.

Layout. Rules lie side by side in the lanes of vector registers: an array over rules and inputs is stored as
``(n_blocks, n_inputs, LANES)``, one block per eight rules, the last one filled up with rules too far away to fire
(`to_lanes`). A row of a mini-batch meets one block at a time, so its parameters stay in the first-level
cache, and four rows are taken together, so each parameter is loaded once for four rows. Prediction and validation,
which need no gradient, lay eight rows side by side instead (`lay_rows`): then nothing is ever summed across lanes.

All parameters of a rule base are one flat vector `theta` (centers, widths, consequents, projections: `sections`), and
so are their gradients and the optimizer's moments; an update is one loop over them. Parameters that are tied (the
shared sets of a grid partition, a shared projection) are stored once per use; they start equal and get the same summed
gradient, hence stay equal.

Firing levels are kept as squared distances and turned into shares by a softmax (`share_rows`). The authors' Matlab code
multiplies memberships instead; where all of them underflow it leaves the row out of the gradient and predicts the mean
of the other rows. In log space such a row still has a nearest rule, and wherever their number is finite ours is the
same.

Without numba, or with NUMBA_DISABLE_JIT, what needs no training works through NumPy (`takagi.kernels._plain`), and
training says what to install. So are few rows predicted as long as nothing is compiled (`find_kernel`), or where a
process that has nothing else to do asks for it (`prefer_plain`).
`takagi.kernels._storage` keeps machine code on disk.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from takagi.kernels import _plain
from takagi.kernels._arrays import (
    ADABELIEF,
    ADABOUND,
    ADAM,
    BLOCK_ROWS,
    DIVERGED,
    GOES_ON,
    LANES,
    LOG,
    MOMENTUM,
    OWN,
    PARAMETERS,
    PART_ROWS,
    SQUARED,
    STALLED,
    Choice,
    Settings,
    Shape,
    State,
    count_blocks,
    flatten,
    from_lanes,
    is_compiled,
    make_columns,
    make_work,
    run_blocks,
    sections,
    split,
    to_lanes,
)

if TYPE_CHECKING:
    from takagi.kernels._clustering import assign_memberships, iterate_fuzzy_cmeans
    from takagi.kernels._memory import blend_rows, score_widths
    from takagi.kernels._prediction import predict_rows, weighted_loss
    from takagi.kernels._training import draw_batches, find_gradient, judge_iterate, move_parameters, train_block

# Modules of compiled functions are imported when one of these is used: numba takes a quarter of a second, which a
# process that predicts few rows has not.
_COMPILED = {
    "_clustering": ("assign_memberships", "iterate_fuzzy_cmeans"),
    "_memory": ("blend_rows", "score_widths"),
    "_prediction": ("predict_rows", "weighted_loss"),
    "_training": ("draw_batches", "find_gradient", "judge_iterate", "move_parameters", "train_block"),
}
_HOMES = {name: module for module, names in _COMPILED.items() for name in names}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name] if _can_compile() else "_plain"
    kernel = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = kernel
    return kernel


def _can_compile():
    try:
        config = import_module("numba.core.config")
    except ImportError:
        return False
    return not getattr(config, "DISABLE_JIT", 0)


_choice = Choice(sys.modules[__name__], _plain)
find_kernel, expect_training, prefer_plain = _choice.find_kernel, _choice.expect_training, _choice.prefer_plain

__all__ = [
    "ADABELIEF",
    "ADABOUND",
    "ADAM",
    "BLOCK_ROWS",
    "DIVERGED",
    "GOES_ON",
    "LANES",
    "LOG",
    "MOMENTUM",
    "OWN",
    "PARAMETERS",
    "PART_ROWS",
    "SQUARED",
    "STALLED",
    "Settings",
    "Shape",
    "State",
    "assign_memberships",
    "blend_rows",
    "count_blocks",
    "draw_batches",
    "expect_training",
    "find_gradient",
    "find_kernel",
    "flatten",
    "from_lanes",
    "is_compiled",
    "iterate_fuzzy_cmeans",
    "judge_iterate",
    "make_columns",
    "make_work",
    "move_parameters",
    "predict_rows",
    "prefer_plain",
    "run_blocks",
    "score_widths",
    "sections",
    "split",
    "to_lanes",
    "train_block",
    "weighted_loss",
]
