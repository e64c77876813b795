"""The methods of `classification.py`: each fits rows and classes and returns what has `predict_proba`.

What is not said here is the library's default. One thread everywhere.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import takagi
from _fuzzy_methods import BestEpoch
from _methods import Method
from _peers import limit_torch
from takagi._typing import FloatArray, IntArray
from takagi.experiments import paper_algorithm

N_RULES = 20  # of the fuzzy peers, as in the paper
ALL, HELD_OUT = "all rows", "a fifth of the rows held out, to stop"


def _scale(model: BaseEstimator) -> BaseEstimator:
    return make_pipeline(StandardScaler(), model)


def _hold_out(X: FloatArray, y: IntArray, seed: int) -> list[Any]:
    return train_test_split(X, y, test_size=0.2, stratify=y if np.bincount(y).min() > 1 else None, random_state=seed)


# -- everyday methods --------------------------------------------------------------------------------------------------


def fit_logistic(X: FloatArray, y: IntArray, seed: int) -> Any:
    return _scale(LogisticRegression(max_iter=2000)).fit(X, y)


def fit_forest(X: FloatArray, y: IntArray, seed: int) -> Any:
    return RandomForestClassifier(random_state=seed).fit(X, y)


def fit_histgb(X: FloatArray, y: IntArray, seed: int) -> Any:
    return HistGradientBoostingClassifier(random_state=seed).fit(X, y)


def fit_mlp(X: FloatArray, y: IntArray, seed: int) -> Any:
    return _scale(MLPClassifier(random_state=seed)).fit(X, y)


def fit_svc(X: FloatArray, y: IntArray, seed: int) -> Any:
    return _scale(CalibratedClassifierCV(SVC(), ensemble=False)).fit(X, y)


def fit_lightgbm(X: FloatArray, y: IntArray, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1).fit(X, y)


def fit_xgboost(X: FloatArray, y: IntArray, seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1).fit(X, y)


def fit_catboost(X: FloatArray, y: IntArray, seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_state=seed, thread_count=1, verbose=False, allow_writing_files=False).fit(X, y)


def fit_ebm(X: FloatArray, y: IntArray, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=4, random_state=seed, n_jobs=1).fit(X, y)


# -- fuzzy peers -------------------------------------------------------------------------------------------------------


def fit_highfis(X: FloatArray, y: IntArray, seed: int) -> Any:
    limit_torch()
    from highfis import HTSKClassifier

    scaler = StandardScaler().fit(X)
    X, X_val, y, y_val = _hold_out(scaler.transform(X), y, seed)
    model = HTSKClassifier(n_mfs=N_RULES, random_state=seed).fit(X, y, x_val=X_val, y_val=y_val)
    return make_pipeline(scaler, model)


class PyTSKNetwork:
    """A trained network of PyTSK for features that are not scaled."""

    def __init__(self, scaler: StandardScaler, wrapper: Any) -> None:
        self.scaler, self.wrapper = scaler, wrapper

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return self.wrapper.predict_proba(self.scaler.transform(X))


def fit_pytsk(X: FloatArray, y: IntArray, seed: int) -> Any:
    limit_torch()
    import torch
    from pytsk.gradient_descent import TSK, AntecedentGMF, Wrapper, antecedent_init_center

    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    n_features, n_classes, scaler = X.shape[1], int(y.max()) + 1, StandardScaler().fit(X)
    X, X_val, y, y_val = _hold_out(scaler.transform(X), y, seed)
    sets = AntecedentGMF(n_features, N_RULES, high_dim=True, init_center=antecedent_init_center(X, y, n_rule=N_RULES))
    network = TSK(n_features, n_classes, N_RULES, sets, order=1, precons=torch.nn.BatchNorm1d(n_features))
    best = BestEpoch(X_val, lambda outputs: np.mean(outputs.argmax(axis=1) != y_val), patience=40)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=1e-8)
    wrapper = Wrapper(network, optimizer, torch.nn.CrossEntropyLoss(), epochs=300, callbacks=[best]).fit(X, y)
    network.load_state_dict(best.state)
    return PyTSKNetwork(scaler, wrapper)


# -- takagi ------------------------------------------------------------------------------------------------------------


def fit_published(X: FloatArray, y: IntArray, seed: int, name: str) -> Any:
    return paper_algorithm(name, random_state=seed).fit(X, y)


def fit_takagi(X: FloatArray, y: IntArray, seed: int, **options: Any) -> Any:
    return takagi.TSKClassifier(random_state=seed, **options).fit(X, y)


def fit_committee(X: FloatArray, y: IntArray, seed: int) -> Any:
    return takagi.TSKCommitteeClassifier(random_state=seed).fit(X, y)


class RecipeMethod(Method):
    """A recipe of takagi's classifier, which is there if it fits a few rows."""

    @property
    def is_installed(self) -> bool:
        """Whether the classifier has the recipe."""
        X = np.random.default_rng(0).normal(size=(60, 2))
        try:
            self.fit(X, (X[:, 0] > 0).astype(int), 0)
        except (AttributeError, ValueError, NotImplementedError):
            return False
        return True


TAKAGI, COMMITTEE, SHORT, LOGISTIC = "takagi", "takagi committee", "takagi five short rules", "logistic regression"
PUBLISHED = ("MBGD", "MBGD-BN", "MBGD-UR", "MBGD-UR-BN")
BOOSTED = ("HistGB", "LightGBM", "XGBoost", "CatBoost")
_PAPER = "20 rules, the paper's settings"
_HTSK = f"scaled; HTSK with {N_RULES} rules"

METHODS = {
    method.name: method
    for method in (
        Method(TAKAGI, fit_takagi, ALL, "TSKClassifier()", "takagi:TSKClassifier", "takagi"),
        Method(
            COMMITTEE, fit_committee, ALL, "TSKCommitteeClassifier()", "takagi:TSKCommitteeClassifier", "takagi"
        ),
        RecipeMethod(
            SHORT, partial(fit_takagi, recipe="short", n_rules=5), ALL, 'TSKClassifier(recipe="short", n_rules=5)',
            "takagi", "takagi",
        ),
        Method(LOGISTIC, fit_logistic, ALL, "scaled"),
        Method("random forest", fit_forest, ALL, "100 trees"),
        Method("HistGB", fit_histgb, ALL, "HistGradientBoostingClassifier()"),
        Method("LightGBM", fit_lightgbm, ALL, "LGBMClassifier()", "lightgbm", "lightgbm"),
        Method("XGBoost", fit_xgboost, ALL, "XGBClassifier()", "xgboost", "xgboost"),
        Method("CatBoost", fit_catboost, ALL, "CatBoostClassifier()", "catboost", "catboost"),
        Method("EBM", fit_ebm, ALL, "4 outer bags", "interpret", "interpret-core"),
        Method("MLP", fit_mlp, ALL, "scaled; MLPClassifier()"),
        Method("SVC", fit_svc, ALL, "scaled; RBF kernel, C 1; probabilities by CalibratedClassifierCV, 5 folds"),
        Method("highfis HTSK", fit_highfis, HELD_OUT, f"{_HTSK}, patience 20", "highfis", "highfis"),
        Method(
            "PyTSK", fit_pytsk, HELD_OUT, f"{_HTSK}, batch normalization, 300 epochs of AdamW, patience 40, the best "
            "epoch by accuracy", "pytsk", "scikit-pytsk torch",
        ),
        *(
            Method(name, partial(fit_published, name=name), ALL, _PAPER, "takagi.experiments:MBGDClassifier", "takagi")
            for name in PUBLISHED
        ),
    )
}  # fmt: skip
