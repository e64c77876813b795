"""Streaming: training block by block, on rows that arrive over time or do not fit into memory."""

from takagi.streaming._epochs import Passes, fit_passes
from takagi.streaming._learner import Learner
from takagi.streaming._seen import Moments, Seen, hash_rows
from takagi.streaming._stream import ASSUMED_ROWS, Horizon, Stream

__all__ = [
    "ASSUMED_ROWS",
    "Horizon",
    "Learner",
    "Moments",
    "Passes",
    "Seen",
    "Stream",
    "fit_passes",
    "hash_rows",
]
