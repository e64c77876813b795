"""Adapters of `accuracy.py`: forests, boosted trees, Cubist and the Explainable Boosting Machine.

Boosted trees come twice: stopped early on the validation part, as people use them, and "refit": as many trees as were
best there, then trained again on both parts.
"""

from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from _rows import Rows

MOST_TREES, PATIENCE = 2000, 100
BOOSTED = f"learning rate 0.05, at most {MOST_TREES:,} trees, stopped after {PATIENCE} without gain"
REFIT = "as many trees as were best, on both parts"


def fit_forest(rows: Rows, seed: int) -> Any:
    return RandomForestRegressor(random_state=seed).fit(*rows.both)


# -- scikit-learn ------------------------------------------------------------------------------------------------------

HISTGB = f"learning rate 0.05, at most {MOST_TREES:,} trees, stopped after 20 without gain"


def fit_histgb(rows: Rows, seed: int) -> HistGradientBoostingRegressor:
    model = HistGradientBoostingRegressor(
        learning_rate=0.05, max_iter=MOST_TREES, early_stopping=True, n_iter_no_change=20, random_state=seed
    )
    return model.fit(rows.X_train, rows.y_train, X_val=rows.X_val, y_val=rows.y_val)


def refit_histgb(rows: Rows, seed: int) -> Any:
    scores = fit_histgb(rows, seed).validation_score_  # the first one is that of no tree
    n_trees = max(1, int(np.argmax(scores)))
    model = HistGradientBoostingRegressor(learning_rate=0.05, max_iter=n_trees, early_stopping=False, random_state=seed)
    return model.fit(*rows.both)


# -- LightGBM ----------------------------------------------------------------------------------------------------------


def _make_lightgbm(n_trees: int, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=n_trees, learning_rate=0.05, random_state=seed, n_jobs=1, verbose=-1)


def fit_lightgbm(rows: Rows, seed: int) -> Any:
    from lightgbm import early_stopping

    model = _make_lightgbm(MOST_TREES, seed)
    stop = early_stopping(PATIENCE, verbose=False)
    return model.fit(rows.X_train, rows.y_train, eval_set=[(rows.X_val, rows.y_val)], callbacks=[stop])


def refit_lightgbm(rows: Rows, seed: int) -> Any:
    return _make_lightgbm(max(1, fit_lightgbm(rows, seed).best_iteration_), seed).fit(*rows.both)


# -- XGBoost -----------------------------------------------------------------------------------------------------------


def _make_xgboost(n_trees: int, seed: int, **options: Any) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=n_trees, learning_rate=0.05, random_state=seed, n_jobs=1, **options)


def fit_xgboost(rows: Rows, seed: int) -> Any:
    model = _make_xgboost(MOST_TREES, seed, early_stopping_rounds=PATIENCE)
    return model.fit(rows.X_train, rows.y_train, eval_set=[(rows.X_val, rows.y_val)], verbose=False)


def refit_xgboost(rows: Rows, seed: int) -> Any:
    return _make_xgboost(fit_xgboost(rows, seed).best_iteration + 1, seed).fit(*rows.both)


# -- CatBoost ----------------------------------------------------------------------------------------------------------

CATBOOST = f"its own learning rate, at most 1,000 trees, stopped after {PATIENCE} without gain"


def _make_catboost(seed: int, **options: Any) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_state=seed, thread_count=1, verbose=False, allow_writing_files=False, **options)


def fit_catboost(rows: Rows, seed: int) -> Any:
    model = _make_catboost(seed, early_stopping_rounds=PATIENCE)
    return model.fit(rows.X_train, rows.y_train, eval_set=(rows.X_val, rows.y_val))


def refit_catboost(rows: Rows, seed: int) -> Any:
    stopped = fit_catboost(rows, seed)
    rate = stopped.get_all_params()["learning_rate"]
    return _make_catboost(seed, iterations=stopped.best_iteration_ + 1, learning_rate=rate).fit(*rows.both)


# -- Cubist ------------------------------------------------------------------------------------------------------------


def fit_cubist(rows: Rows, seed: int, **options: Any) -> Any:
    from cubist import Cubist

    return Cubist(random_state=seed % 4096, **options).fit(*rows.both)


def fit_many_cubists(rows: Rows, seed: int) -> Any:
    return fit_cubist(rows, seed, n_committees=20, neighbors=5, auto=False)


# -- Explainable Boosting Machine --------------------------------------------------------------------------------------

EBM = "4 outer bags (its default of 14 takes a minute and more on 100 rows)"


def fit_ebm(rows: Rows, seed: int, **options: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(outer_bags=4, random_state=seed, n_jobs=1, **options).fit(*rows.both)
