"""The paper's algorithms by name, with the paper's settings: one table as data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi._messages import unknown_name
from takagi._typing import FloatArray, Table
from takagi.estimators import TSKRegressor
from takagi.experiments._mbgd import MBGDClassifier


@dataclass(frozen=True)
class Algorithm:
    """A row of the table: the components of an algorithm of the paper.

    Attributes
    ----------
    name : str
        As the paper writes it.
    init : str or None
        "fcm", "kmeans", "random" or "grid" (shared sets); None for ridge regression.
    optimizer : str or None
        "adabelief", "adabound", "adam" or "sgdm".
    powerball : float
        0.5 with Powerball gradients, 1 without.
    pca : bool
        Whether the features are reduced to log2(n_rules) principal components first.
    projection : str or None
        Trained projections, as in `TSKRegressor`.
    figures : tuple of str
        The paper's figures that show it, as printed.
    """

    name: str
    init: str | None = "fcm"
    optimizer: str | None = "adabelief"
    powerball: float = 0.5
    pca: bool = False
    projection: str | None = None
    figures: tuple[str, ...] = ()


_ALL_FIGURES = ("3", "4", "5", "6", "7", "8")

_ROWS = (
    Algorithm("RR", None, None, 1.0, figures=_ALL_FIGURES),
    Algorithm("PCA-GP-RDA", "grid", "adabound", 1.0, pca=True, figures=("3", "4")),
    Algorithm("PCA-GP-RDpA", "grid", pca=True, figures=("3", "4")),
    Algorithm("PCA-FCM-RDA", "fcm", "adabound", 1.0, pca=True, figures=("3", "4")),
    Algorithm("PCA-FCM-RDpA", pca=True, figures=("3", "4")),
    Algorithm("FCM-RDA", "fcm", "adabound", 1.0, figures=("3", "4", "7")),
    Algorithm("FCM-RDpA", figures=_ALL_FIGURES),
    Algorithm("RD-pAdaBound", optimizer="adabound", figures=("7",)),
    Algorithm("RD-SGDM", optimizer="sgdm", powerball=1.0, figures=("7",)),
    Algorithm("RD-pSGDM", optimizer="sgdm", figures=("7",)),
    Algorithm("RD-Adam", optimizer="adam", powerball=1.0, figures=("7",)),
    Algorithm("RD-pAdam", optimizer="adam", figures=("7",)),
    Algorithm("RD-AdaBelief", powerball=1.0, figures=("7",)),
    Algorithm("rand-RDpA", "random", figures=("6",)),
    Algorithm("kM-RDpA", "kmeans", figures=("6",)),
    Algorithm("FCM-RDpA'", projection="antecedent", figures=("8",)),
    Algorithm("FCM-RDpA''", projection="shared", figures=("8",)),
    Algorithm("FCM-RDpAx", projection="separate", figures=("8",)),
)

_OPTIMIZER_NAMES = {
    "adabelief": "AdaBelief",
    "adabound": "AdaBound",
    "adam": "Adam",
    "sgdm": "SGDM",
    None: "-",
}
_INPUTS = {
    None: ("X", "X"),
    "antecedent": ("[X' X]", "X"),
    "shared": ("[X'' X]", "[X'' X]"),
    "separate": ("[X' X]", "[X''' X]"),
}


class AlgorithmTable(dict[str, Algorithm]):
    """Algorithms by name; its text is the table with the paper's columns.

    Sets are shared between rules or each rule's own (independent); IF and THEN are the inputs of the antecedents and
    consequents.
    """

    def __str__(self) -> str:
        columns = ("Algorithm", "PCA", "Sets", "Init", "Optimizer", "Powerball", "IF", "THEN", "Figure")
        rows = [columns, *(_describe(algorithm) for algorithm in self.values())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])

    __repr__ = __str__


def _describe(algorithm: Algorithm) -> tuple[str, ...]:
    inputs = _INPUTS[algorithm.projection]
    kind = {"grid": "shared", None: "-"}.get(algorithm.init, "own")
    init = {"grid": "GP", "fcm": "FCM", "kmeans": "kM", "random": "rand", None: "-"}[algorithm.init]
    return (
        algorithm.name,
        "yes" if algorithm.pca else "-",
        kind,
        init,
        _OPTIMIZER_NAMES[algorithm.optimizer],
        "yes" if algorithm.powerball != 1.0 else "-",
        inputs[0] if algorithm.init else "-",
        inputs[1],
        "3-8" if algorithm.figures == _ALL_FIGURES else " ".join(algorithm.figures),
    )


ALGORITHMS = AlgorithmTable({row.name: row for row in _ROWS})

_UNIFORMITIES = (0.1, 1.0, 10.0, 20.0, 50.0)
CLASSIFIERS: dict[str, dict[str, Any]] = {
    "MBGD": {"batch_norm": False, "uniformities": (0.0,)},
    "MBGD-BN": {"batch_norm": True, "uniformities": (0.0,)},
    "MBGD-UR": {"batch_norm": False, "uniformities": _UNIFORMITIES},
    "MBGD-UR-BN": {"batch_norm": True, "uniformities": _UNIFORMITIES},
}


def list_algorithms() -> AlgorithmTable:
    """Return the algorithms of the paper; the text of the result is a table with the paper's columns.

    Returns
    -------
    AlgorithmTable
        A dict from name to `Algorithm`, whose text is the table.

    Examples
    --------
    >>> from takagi.experiments import list_algorithms
    >>> len(list_algorithms())
    18
    >>> print(str(list_algorithms()).splitlines()[0])
    Algorithm     PCA  Sets    Init  Optimizer  Powerball  IF       THEN      Figure
    """
    return AlgorithmTable(ALGORITHMS)


def paper_algorithm(
    name: str, *, n_rules: int | None = None, random_state: int | np.random.RandomState | None = None
) -> TSKRegressor | Pipeline | MBGDClassifier:
    """Return an algorithm of the paper, or a classifier of its authors, ready to fit, with the paper's settings.

    Regression: 1,000 iterations, learning rate 0.01, L2 0.05, DropRule 0.5, Powerball 0.5 (where there is Powerball),
    batches of 64; constant learning rate, no averaging, and the target centered but not scaled. Inputs are z-scored;
    principal components are not scaled again. Beyond the data, formulas extrapolate linearly.

    Classification (Cui, Wu and Huang, 2020): "MBGD", "MBGD-BN" with batch normalization of the inputs of the
    consequents, "MBGD-UR" with uniform regularization of the rules' shares, and "MBGD-UR-BN" with both. Their settings,
    and where they follow the authors' torch code, are in `MBGDClassifier`.

    Parameters
    ----------
    name : str
        One of `list_algorithms` ("RR" is ridge regression), or a classifier.
    n_rules : int, optional
        The paper's R, by default 16, and 20 for the classifiers. With PCA it must be a power of two, and the data must
        have at least log2(n_rules) features.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    TSKRegressor, Pipeline or MBGDClassifier
        A regressor, a pipeline that ends with one, or a classifier.

    Notes
    -----
    A pipeline passes `X_val` to the regressor unchanged: transform it first, with
    ``model[:-1].fit(X).transform(X_val)``. Where the authors' scripts have mistakes, this follows the paper's text:
    PCA-FCM clusters until convergence (their script does a single step), and random starts are drawn from [0, 1]
    (theirs from [-1, 1]).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from takagi.experiments import paper_algorithm
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = paper_algorithm("FCM-RDpA", n_rules=4, random_state=0).fit(X, y)
    >>> model.n_iter_
    1000
    """
    if name in CLASSIFIERS:
        return MBGDClassifier(20 if n_rules is None else n_rules, random_state=random_state, **CLASSIFIERS[name])
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, (*ALGORITHMS, *CLASSIFIERS))
    algorithm, n_rules = ALGORITHMS[name], 16 if n_rules is None else n_rules
    if algorithm.init is None:
        return make_pipeline(SampleScaler(), Ridge(alpha=0.05))
    regressor = TSKRegressor(
        n_rules,
        recipe="droprule",
        init=algorithm.init,
        projection=algorithm.projection,
        optimizer=algorithm.optimizer or "adabelief",
        powerball=algorithm.powerball,
        learning_rate=0.01,
        keep_prob=0.5,
        l2=0.05,
        smoothness=0.0,
        agreement=0.0,
        bounds=None,
        batch_size=64,
        max_iter=1000,
        schedule="constant",
        averaging=0.0,
        standardize=False if algorithm.pca else "inputs",
        extrapolation="linear",
        random_state=random_state,
    )
    if not algorithm.pca:
        return regressor
    return make_pipeline(SampleScaler(), PCA(_count_components(n_rules), svd_solver="full"), regressor)


def _count_components(n_rules: int) -> int:
    n_components = int(n_rules).bit_length() - 1
    if n_rules < 2 or 2**n_components != n_rules:
        raise ValueError(f"n_rules must be a power of two (2, 4, 8, ...) for an algorithm with PCA, got {n_rules}.")
    return n_components


class SampleScaler(StandardScaler):
    """Standardize with the sample deviation (n - 1), as the authors' ridge regression does.

    Examples
    --------
    >>> import numpy as np
    >>> from takagi.experiments import SampleScaler
    >>> SampleScaler().fit_transform(np.array([[0.0], [2.0]])).round(3)
    array([[-0.707],
           [ 0.707]])
    """

    def partial_fit(self, X: Table, y: None = None, sample_weight: Table = None) -> BaseEstimator:
        """Update means and sample deviations with these rows."""
        super().partial_fit(X, y, sample_weight)
        n_rows = np.max(self.n_samples_seen_)
        if n_rows > 1 and self.scale_ is not None:
            self.scale_: FloatArray = self.scale_ * np.sqrt(n_rows / (n_rows - 1))
        return self
