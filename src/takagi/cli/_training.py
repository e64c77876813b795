"""Training for the command line: a model for a table, and the search for its settings."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline

from takagi import TableEncoder, TSKCommittee, TSKRegressor
from takagi._typing import IntArray
from takagi.cli._console import count
from takagi.cli._progress import Watch
from takagi.training import Progress

_RULES = (4, 8, 16, 32, 64)
_EFFORTS = ((0.6, 5000), (0.8, 5000), (0.9, 15000))  # chance to keep a rule, iterations
_MANY_ROWS = 1000


@dataclass(frozen=True)
class Settings:
    """The settings of a model that the command line may choose."""

    n_rules: int | str = 16
    keep_prob: float = 0.8
    max_iter: int = 5000
    random_state: int = 0
    committee: bool = False

    def make_regressor(self) -> TSKRegressor | TSKCommittee:
        """Return what is to be fitted."""
        parameters = asdict(self)
        del parameters["committee"]
        regressor = TSKRegressor(**parameters)
        return (
            TSKCommittee(estimator=regressor, random_state=self.random_state, n_jobs=-1)
            if self.committee
            else regressor
        )

    @property
    def words(self) -> str:
        """How many rules, in words."""
        if self.committee:
            return "a committee"
        return "rules" if isinstance(self.n_rules, str) else count(self.n_rules, "rule")


@dataclass
class Candidate:
    """Settings, and their errors on the folds that are done."""

    settings: Settings
    errors: list[float] = field(default_factory=list)

    @property
    def rmse(self) -> float:
        """Mean error."""
        return float(np.mean(self.errors))

    @property
    def deviation(self) -> float:
        """Standard deviation of the errors over the folds."""
        return float(np.std(self.errors))


def train_model(X: Any, y: Any, settings: Settings, label: str) -> Pipeline:
    """Return a fitted pipeline of table encoder and regressor, and show progress; Ctrl-C leaves nothing."""
    if settings.committee:
        with Watch(label, None, "iterations") as watch:
            return make_pipeline(TableEncoder(), settings.make_regressor()).fit(
                X, y, tskcommittee__callback=lambda progress: watch.reach(progress.n_iter, progress.max_iter)
            )
    with Watch(label, settings.max_iter, "iterations") as watch:
        model = fit_pipeline(X, y, settings, lambda progress: watch.reach(progress.n_iter, progress.max_iter))
    if model[-1].stopped_ == "interrupted":  # the library would keep the best rules so far
        raise KeyboardInterrupt
    return model


def fit_pipeline(X: Any, y: Any, settings: Settings, callback: Callable[[Progress], object]) -> Pipeline:
    """Return a fitted pipeline of table encoder and regressor."""
    model = make_pipeline(TableEncoder(), settings.make_regressor())
    return model.fit(X, y, tskregressor__callback=callback)


def choose_settings(n_rules: int | str | None, max_iter: int | None, seed: int, committee: bool = False) -> Settings:
    """Return what the user gave, and the defaults where nothing was given."""
    n_rules = "auto" if n_rules is None and committee else n_rules
    default = Settings(
        random_state=seed, keep_prob=1.0 if n_rules == "auto" else Settings.keep_prob, committee=committee
    )
    return replace(default, n_rules=n_rules or default.n_rules, max_iter=max_iter or default.max_iter)


def split_off(n_rows: int, fraction: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return which rows train and which test, drawn at random and in the order of the table."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_test = max(1, round(fraction * n_rows)) if fraction else 0
    return np.sort(order[n_test:]), np.sort(order[:n_test])


# -- search ------------------------------------------------------------------------------------------------------------


def list_candidates(n_rules: int | str | None, max_iter: int | None, seed: int) -> list[Candidate]:
    """Return the settings to try; what the user sets is not searched."""
    efforts = _EFFORTS if max_iter is None else tuple((keep_prob, max_iter) for keep_prob, _ in _EFFORTS)
    measured = Candidate(choose_settings("auto", max_iter, seed))
    if n_rules == "auto":
        return [measured]
    dropping = [
        Candidate(Settings(rules, keep_prob, iterations, seed))
        for rules in ([n_rules] if n_rules else _RULES)
        for keep_prob, iterations in efforts
    ]
    return dropping if n_rules else [measured, *dropping]


def search(X: Any, y: Any, candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Return the candidates with their cross-validated errors, the best first."""
    n_folds = 5 if len(y) < _MANY_ROWS else 3
    folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(X))
    jobs = [(candidate, fold) for candidate in candidates for fold in folds]
    label = f"Trying {len(candidates)} settings on {n_folds} folds"
    with Watch(label, len(jobs), "fits") as watch:
        for candidate, error in _run(X, y, jobs):
            candidate.errors.append(error)
            watch.advance()
    return sorted(candidates, key=lambda candidate: candidate.rmse)


def _run(X: Any, y: Any, jobs: Sequence[tuple[Candidate, tuple]]) -> Iterator[tuple[Candidate, float]]:
    """Fit and test every job in threads, one per core, and yield the errors in their order."""
    from joblib import Parallel, delayed

    stopped: list[bool] = []

    def fit(candidate: Candidate, fold: tuple[IntArray, IntArray]) -> tuple[Candidate, float]:
        training, test = fold
        model = fit_pipeline(X.iloc[training], y.iloc[training], candidate.settings, lambda _: bool(stopped))
        return candidate, float(root_mean_squared_error(y.iloc[test], model.predict(X.iloc[test])))

    try:
        yield from Parallel(n_jobs=-1, prefer="threads", return_as="generator")(delayed(fit)(*job) for job in jobs)
    except BaseException:
        stopped.append(True)  # ends the fits that are under way
        raise
