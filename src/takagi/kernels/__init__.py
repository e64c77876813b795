"""Every compiled function of takagi, and the only import of numba.

Layout. Rules lie side by side in the lanes of vector registers: an array over rules and inputs is stored as
``(n_blocks, n_inputs, LANES)``, one block per eight rules, the last one filled up with rules too far away to fire
(`to_lanes`). A row of a mini-batch meets one block at a time, so its parameters stay in the first-level
cache, and four rows are taken together, so each parameter is loaded once for four rows. Prediction and validation,
which need no gradient, lay eight rows side by side instead (`lay_rows`): then nothing is ever summed across lanes.

All parameters of a rule base are one flat vector `theta` (centers, widths, consequents, projections: `sections`), and
so are their gradients and the optimiser's moments; an update is one loop over them. Parameters that are tied (the
shared sets of a grid partition, a shared projection) are stored once per use; they start equal and get the same summed
gradient, hence stay equal.

Firing levels are kept as squared distances and turned into shares by a softmax (`share_rows`). The authors' Matlab code
multiplies memberships instead; where all of them underflow it leaves the row out of the gradient and predicts the mean
of the other rows. In log space such a row still has a nearest rule, and wherever their number is finite ours is the
same.
"""

from pathlib import Path


def _drop_stale_code() -> None:
    """Remove cached machine code that is older than a source of this package.

    numba compares it with the file of the function only, and not with the files of the functions that this one calls.
    """
    folder = Path(__file__).parent
    newest = max(path.stat().st_mtime for path in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)


_drop_stale_code()

from takagi.kernels._batch import make_work  # noqa: E402
from takagi.kernels._clustering import assign_memberships, iterate_fuzzy_cmeans  # noqa: E402
from takagi.kernels._keys import key_rows  # noqa: E402
from takagi.kernels._lanes import LANES, count_blocks, from_lanes, to_lanes  # noqa: E402
from takagi.kernels._layout import BLOCK_ROWS, Shape, sections  # noqa: E402
from takagi.kernels._memory import blend_rows, score_widths  # noqa: E402
from takagi.kernels._prediction import lay_dataset, make_columns, predict_rows, weighted_rmse  # noqa: E402
from takagi.kernels._training import (  # noqa: E402
    ADABELIEF,
    ADABOUND,
    ADAM,
    SGDM,
    Settings,
    State,
    draw_batches,
    train_block,
)


def is_compiled() -> bool:
    """Tell whether the training kernel is in memory or in numba's cache on disk."""
    if train_block.signatures:
        return True
    folder = train_block.stats.cache_path
    return folder is not None and any(Path(folder).glob("_training.train_block-*.nbi"))


__all__ = [
    "ADABELIEF",
    "ADABOUND",
    "ADAM",
    "BLOCK_ROWS",
    "LANES",
    "SGDM",
    "Settings",
    "Shape",
    "State",
    "assign_memberships",
    "blend_rows",
    "count_blocks",
    "draw_batches",
    "from_lanes",
    "is_compiled",
    "iterate_fuzzy_cmeans",
    "key_rows",
    "lay_dataset",
    "make_columns",
    "make_work",
    "predict_rows",
    "score_widths",
    "sections",
    "to_lanes",
    "train_block",
    "weighted_rmse",
]
