"""Made-up results with known ratios."""

import numpy as np

from takagi.experiments._plan import derive_seed
from takagi.experiments._run import CURVE_POINTS, Result

FACTORS = {
    "RR": 1.0, "PCA-GP-RDA": 1.5, "PCA-GP-RDpA": 1.5, "PCA-FCM-RDA": 1.4, "PCA-FCM-RDpA": 1.3, "FCM-RDA": 0.9,
    "FCM-RDpA": 0.8, "RD-pAdaBound": 0.95, "RD-SGDM": 1.0, "RD-pSGDM": 1.1, "RD-Adam": 0.93, "RD-pAdam": 0.92,
    "RD-AdaBelief": 0.85, "rand-RDpA": 1.0, "kM-RDpA": 0.9, "FCM-RDpA'": 0.79, "FCM-RDpA''": 0.78, "FCM-RDpAx": 0.7,
}  # fmt: skip


def invent_result(run):
    """Return a made-up result whose ratio to ridge regression is the algorithm's factor, up to some noise."""
    rng = np.random.default_rng(derive_seed(0, *vars(run).values()))
    scale = 1.0 + derive_seed(0, run.dataset, run.repeat) % 7
    ratio = FACTORS[run.algorithm] + 0.002 * rng.normal() * (run.algorithm != "RR")
    if run.algorithm not in ("RR", "PCA-GP-RDA", "PCA-GP-RDpA"):
        ratio += 0.1 * (run.n_rules < 8) + 0.2 * (run.learning_rate not in (0.01, 0.0))
    curve = scale * ratio * np.linspace(2, 1, len(CURVE_POINTS)) if run.keeps_curve else np.empty(0)
    return Result(run, scale * ratio, scale * ratio, 5, 0.1 if "GP" in run.algorithm else 0.05, curve=curve)
