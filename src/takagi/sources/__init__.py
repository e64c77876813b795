"""Sources of rows that may not fit into memory: files through pyarrow, and Dask collections.

A source gives a uniform sample of its rows, and passes over all of them in blocks.
"""

from takagi.sources._arrow import ArrowSource
from takagi.sources._dask import DaskSource
from takagi.sources._open import open_source
from takagi.sources._shuffle import shuffle_rows
from takagi.sources._source import Block, DatasetError, Roles, Sample, Source

__all__ = [
    "ArrowSource",
    "Block",
    "DaskSource",
    "DatasetError",
    "Roles",
    "Sample",
    "Source",
    "open_source",
    "shuffle_rows",
]
