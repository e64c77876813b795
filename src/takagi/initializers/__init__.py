"""Initializers: the first rule base from data, by fuzzy c-means, k-means, at random or as a grid."""

from takagi.initializers._clusters import (
    FuzzyCMeansInitializer,
    Initializer,
    count_distinct,
    draw_memberships,
    fuzzy_cmeans,
    measure_memberships,
)
from takagi.initializers._grid import GridInitializer
from takagi.initializers._kmeans import KMeansInitializer
from takagi.initializers._random import RandomInitializer

INITIALIZERS: dict[str, Initializer] = {
    "fcm": FuzzyCMeansInitializer(),
    "kmeans": KMeansInitializer(),
    "random": RandomInitializer(),
    "grid": GridInitializer(),
}

__all__ = [
    "INITIALIZERS",
    "FuzzyCMeansInitializer",
    "GridInitializer",
    "Initializer",
    "KMeansInitializer",
    "RandomInitializer",
    "count_distinct",
    "draw_memberships",
    "fuzzy_cmeans",
    "measure_memberships",
]
