"""The paper's algorithms, by name."""

from takagi.experiments._algorithms import (
    ALGORITHMS,
    Algorithm,
    AlgorithmTable,
    SampleScaler,
    list_algorithms,
    paper_algorithm,
)

__all__ = ["ALGORITHMS", "Algorithm", "AlgorithmTable", "SampleScaler", "list_algorithms", "paper_algorithm"]
