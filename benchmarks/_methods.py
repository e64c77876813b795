"""The methods of `accuracy.py`: a table of names, adapters and what each adapter saw of the data.

An adapter is a function from the rows and a seed to a fitted predictor. Its settings are written where it is; what is
not said there is the library's default. One thread everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import _fuzzy_methods as fuzzy
import _network_methods as networks
import _plain_methods as plain
import _tree_methods as trees
from _rows import BOTH, STOPPED, TRAIN, TUNED, Rows

Adapter = Callable[[Rows, int], Any]


@dataclass(frozen=True)
class Method:
    """A method of the benchmark.

    Attributes
    ----------
    name : str
    fit : callable
        From rows and a seed to an object with `predict`.
    saw : str
        What it did with the training and the validation part.
    settings : str
        In words, for the page.
    needs : str
        The module without which it cannot run.
    pip : str
        What to install to have that module.
    """

    name: str
    fit: Adapter
    saw: str
    settings: str
    needs: str = "sklearn"
    pip: str = "scikit-learn"

    @property
    def is_installed(self) -> bool:
        """Whether the method can be run here."""
        module, _, attribute = self.needs.partition(":")
        if find_spec(module) is None:
            return False
        return not attribute or hasattr(import_module(module), attribute)


TAKAGI, COMMITTEE = "takagi", "takagi committee"

METHODS = {
    method.name: method
    for method in (
        Method("ridge", plain.fit_ridge, TRAIN, "alpha 0.05: the divisor of all the others"),
        Method("ridge both parts", plain.fit_ridge_on_both, BOTH, "alpha 0.05"),
        Method(TAKAGI, fuzzy.fit_takagi, BOTH, "TSKRegressor()", "takagi", "takagi"),
        Method(COMMITTEE, fuzzy.fit_committee, BOTH, "TSKCommittee()", "takagi:TSKCommittee", "takagi"),
        Method("takagi 5 short rules", fuzzy.fit_short, BOTH, 'TSKRegressor(5, recipe="short")', "takagi", "takagi"),
        Method("FCM-RDpA", fuzzy.fit_fcm_rdpa, STOPPED, "the paper's settings, 16 rules", "takagi", "takagi"),
        Method("FCM-RDpAx", fuzzy.fit_fcm_rdpax, STOPPED, "the paper's settings, 16 rules", "takagi", "takagi"),
        Method("FCM-RDA", fuzzy.fit_fcm_rda, STOPPED, "the paper's settings, 16 rules", "takagi", "takagi"),
        Method("HistGB", trees.fit_histgb, STOPPED, trees.HISTGB),
        Method("HistGB refit", trees.refit_histgb, TUNED, "as many trees as were best, on both parts"),
        Method("LightGBM", trees.fit_lightgbm, STOPPED, trees.BOOSTED, "lightgbm", "lightgbm"),
        Method("LightGBM refit", trees.refit_lightgbm, TUNED, trees.REFIT, "lightgbm", "lightgbm"),
        Method("XGBoost", trees.fit_xgboost, STOPPED, trees.BOOSTED, "xgboost", "xgboost"),
        Method("XGBoost refit", trees.refit_xgboost, TUNED, trees.REFIT, "xgboost", "xgboost"),
        Method("CatBoost", trees.fit_catboost, STOPPED, trees.CATBOOST, "catboost", "catboost"),
        Method("CatBoost refit", trees.refit_catboost, TUNED, trees.REFIT, "catboost", "catboost"),
        Method("random forest", trees.fit_forest, BOTH, "100 trees"),
        Method("SVR", plain.fit_svr, TUNED, plain.SVR_SETTINGS),
        Method("MLP", plain.fit_mlp, TUNED, plain.MLP_SETTINGS),
        Method("Gaussian process", plain.fit_gaussian_process, BOTH, plain.GP_SETTINGS),
        Method("fuzzytool ANFIS", fuzzy.fit_fuzzytool, BOTH, fuzzy.FUZZYTOOL, "fuzzytool", "fuzzytool"),
        Method("endgame FCMRDpA", fuzzy.fit_endgame, BOTH, fuzzy.ENDGAME, "endgame", "endgame-ml"),
        Method("highfis HTSK", fuzzy.fit_highfis, STOPPED, fuzzy.HIGHFIS, "highfis", "highfis"),
        Method("PyTSK", fuzzy.fit_pytsk, STOPPED, fuzzy.PYTSK, "pytsk", "scikit-pytsk torch"),
        Method("ridge tuned", plain.fit_tuned_ridge, BOTH, plain.TUNED_RIDGE),
        Method("Cubist", trees.fit_cubist, BOTH, "one committee, no neighbors", "cubist", "cubist"),
        Method("Cubist 20 + 5", trees.fit_many_cubists, BOTH, "20 committees, 5 neighbors", "cubist", "cubist"),
        Method("RealMLP", networks.fit_realmlp, BOTH, networks.REALMLP, "pytabkit", "pytabkit"),
        Method("TabM", networks.fit_tabm, BOTH, networks.TABM, "pytabkit", "pytabkit"),
        Method("EBM", trees.fit_ebm, BOTH, trees.EBM, "interpret", "interpret-core"),
    )
}
