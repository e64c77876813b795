"""What a fit prints when it is verbose."""

import numpy as np

from takagi.fitting._pilots import L2_PER_NOISE, Advice
from takagi.training import Callback, Progress


def show_progress(callback: Callback | None) -> Callback:
    """Return a callback that prints how far training is, and then does what another one does."""

    def call(progress: Progress) -> object:
        validation = (
            f", validation {progress.val_loss:.4g}, best {progress.best_loss:.4g} in iteration {progress.best_iter}"
        )
        print(  # noqa: T201
            f"[takagi] iteration {progress.n_iter}/{progress.max_iter}: batch RMSE {progress.train_loss:.4g}"
            f"{'' if np.isnan(progress.val_loss) else validation}"
        )
        return callback(progress) if callback is not None else None

    return call


def tell_advice(advice: Advice) -> None:
    """Print what pilot fits found."""
    noise = advice.strength.l2 / L2_PER_NOISE
    line = "; ridge regression is preferred" if advice.prefers_line else ""
    print(  # noqa: T201
        f"[takagi] pilot fits leave {noise:.1%} of the target's variance{line}; smoothness "
        f"{advice.strength.smoothness / noise:g} times that"
    )
