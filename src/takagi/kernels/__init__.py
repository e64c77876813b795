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
training says what to install. So are few rows predicted as long as nothing is compiled (`find_kernel`).
`takagi.kernels._storage` keeps machine code on disk.
"""

import sys

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

try:
    import numba.core.config

    _CAN_COMPILE = not getattr(numba.core.config, "DISABLE_JIT", 0)
except ImportError:
    _CAN_COMPILE = False

if _CAN_COMPILE:
    from takagi.kernels._clustering import assign_memberships, iterate_fuzzy_cmeans
    from takagi.kernels._memory import blend_rows, score_widths
    from takagi.kernels._prediction import predict_rows, weighted_loss
    from takagi.kernels._training import draw_batches, find_gradient, judge_iterate, move_parameters, train_block
else:
    from takagi.kernels._plain import (
        assign_memberships,
        blend_rows,
        draw_batches,
        find_gradient,
        iterate_fuzzy_cmeans,
        judge_iterate,
        move_parameters,
        predict_rows,
        score_widths,
        train_block,
        weighted_loss,
    )

_choice = Choice(sys.modules[__name__], _plain)
find_kernel, expect_training = _choice.find_kernel, _choice.expect_training

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
    "run_blocks",
    "score_widths",
    "sections",
    "split",
    "to_lanes",
    "train_block",
    "weighted_loss",
]
