"""Methods of `intervals.py`: each fits rows and returns what gives the limits of 90 % intervals for other rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from takagi import TSKCommittee, TSKRegressor
from takagi._typing import FloatArray

COVERAGE = 0.9
RIDGE = "split-conformal ridge"
_LEVELS = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)
_PART = 0.15  # of the rows that calibrate, or end boosting
_MOST_TREES, _PATIENCE = 1_000, 50

Limits = Callable[[FloatArray], FloatArray]  # from rows to limits, of shape (n_rows, 2)


@dataclass(frozen=True)
class Fitted:
    """What a method learned; the model is there where rules and honest errors are."""

    limits: Limits
    model: Any = None


@dataclass(frozen=True)
class Method:
    """A method: how it is fitted to rows of a trial, what it does in words, and the package that it needs."""

    fit: Callable[[FloatArray, FloatArray, int], Fitted]
    words: str
    needs: str = "takagi"

    @property
    def is_installed(self) -> bool:
        """Whether its package is here."""
        return find_spec(self.needs) is not None


# -- takagi ------------------------------------------------------------------------------------------------------------


class _LastFit:
    """The regressor that was fitted last, since one fit serves two methods: a fit, and folds on top of it."""

    key: Any = None
    model: Any = None


def _fit_regressor(X: FloatArray, y: FloatArray, seed: int, folds: int | None = None, **params: Any) -> Fitted:
    key = (X.shape, float(y.sum()), seed, tuple(params.items()))
    if _LastFit.key != key:
        _LastFit.key, _LastFit.model = key, TSKRegressor(random_state=seed, **params).fit(X, y)
    model = _LastFit.model
    if folds is not None:
        model.calibrate(X, y, cv=folds)
    return Fitted(partial(model.predict_interval, coverage=COVERAGE), model)


def _fit_committee(X: FloatArray, y: FloatArray, seed: int) -> Fitted:
    model = TSKCommittee(random_state=seed).fit(X, y)
    return Fitted(partial(model.predict_interval, coverage=COVERAGE), model)


# -- others ------------------------------------------------------------------------------------------------------------


def _split(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(n_rows)
    n_held_out = max(1, round(_PART * n_rows))
    return order[n_held_out:], order[:n_held_out]


def find_quantile(scores: FloatArray) -> float:
    """Return the conformal quantile; the largest score where they are too few."""
    place = int(np.ceil((len(scores) + 1) * COVERAGE))
    return float(np.sort(scores)[min(place, len(scores)) - 1])


def _fit_ridge(X: FloatArray, y: FloatArray, seed: int) -> Fitted:
    train, rest = _split(len(y), seed)
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))).fit(X[train], y[train])
    reach = find_quantile(np.abs(y[rest] - model.predict(X[rest])))

    def limits(rows: FloatArray) -> FloatArray:
        predicted = model.predict(rows)
        return np.column_stack([predicted - reach, predicted + reach])

    return Fitted(limits)


def _fit_catboost(X: FloatArray, y: FloatArray, seed: int, conformal: bool = False, stops: bool = True) -> Fitted:
    from catboost import CatBoostRegressor

    train, rest = _split(len(y), seed)
    model = CatBoostRegressor(
        iterations=_MOST_TREES,
        loss_function=f"MultiQuantile:alpha={_LEVELS[0]:g},{_LEVELS[1]:g}",
        random_seed=seed,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
    )
    if not stops:
        return Fitted(model.fit(X, y).predict)
    model.fit(X[train], y[train], eval_set=(X[rest], y[rest]), early_stopping_rounds=_PATIENCE)
    return Fitted(_conformalize(model.predict, X[rest], y[rest]) if conformal else model.predict)


def _fit_lightgbm(X: FloatArray, y: FloatArray, seed: int, conformal: bool) -> Fitted:
    import lightgbm

    train, rest = _split(len(y), seed)
    stop = lightgbm.early_stopping(_PATIENCE, verbose=False)
    models = []
    for level in _LEVELS:
        model = lightgbm.LGBMRegressor(
            objective="quantile", alpha=level, n_estimators=_MOST_TREES, learning_rate=0.05, random_state=seed,
            n_jobs=1, verbose=-1,
        )  # fmt: skip
        models.append(model.fit(X[train], y[train], eval_set=[(X[rest], y[rest])], callbacks=[stop]))

    def limits(rows: FloatArray) -> FloatArray:
        return np.column_stack([model.predict(rows) for model in models])

    return Fitted(_conformalize(limits, X[rest], y[rest]) if conformal else limits)


def _conformalize(limits: Limits, X: FloatArray, y: FloatArray) -> Limits:
    """Return limits that are moved until they hold as much of some rows (Romano, Patterson and Candes, 2019)."""
    low, high = limits(X).T
    shift = find_quantile(np.maximum(low - y, y - high))
    return lambda rows: limits(rows) + np.array([-shift, shift])


@lru_cache(1)
def list_methods() -> dict[str, Method]:
    """Return the methods by name."""
    boosted = f"two quantiles, at most {_MOST_TREES:,} trees, stopped early on 15 % of the rows"
    moved = "; limits are moved until they hold 90 % of these (CQR)"
    return {
        "takagi": Method(_fit_regressor, "`TSKRegressor()`, errors of pilot fits"),
        "takagi 5 folds": Method(
            partial(_fit_regressor, folds=5), "the same, then `calibrate(X, y, cv=5)`, whose seconds alone are shown"
        ),
        "takagi DropRule": Method(
            partial(_fit_regressor, recipe="droprule", n_rules=16), 'recipe="droprule", 16 rules, rows held out'
        ),
        "takagi short": Method(
            partial(_fit_regressor, recipe="short", folds=5), 'recipe="short", then `calibrate(X, y, cv=5)`'
        ),
        "takagi committee": Method(_fit_committee, "`TSKCommittee()`, errors out of fold"),
        RIDGE: Method(_fit_ridge, "ridge regression on 85 % of the rows, errors on the rest", "sklearn"),
        "CatBoost quantiles": Method(_fit_catboost, boosted, "catboost"),
        "CatBoost all trees": Method(
            partial(_fit_catboost, stops=False), f"two quantiles, {_MOST_TREES:,} trees, all rows", "catboost"
        ),
        "CatBoost CQR": Method(partial(_fit_catboost, conformal=True), boosted + moved, "catboost"),
        "LightGBM quantiles": Method(partial(_fit_lightgbm, conformal=False), boosted, "lightgbm"),
        "LightGBM CQR": Method(partial(_fit_lightgbm, conformal=True), boosted + moved, "lightgbm"),
    }
