"""Calls that end their process, for the process of their own that executes them."""

import os
import signal

from _apart import limit_processor_seconds


def answer(run):
    """Return the run doubled; end the process at 1 (too long), 2 (killed), 3 (exit) or hang at 4."""
    if run == 1:
        with limit_processor_seconds(0):
            while True:
                pass
    if run == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if run == 3:
        os._exit(7)
    if run == 4:
        signal.pause()
    return 2 * run
