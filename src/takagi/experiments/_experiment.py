"""An experiment from plan to store."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from takagi.experiments._execute import execute
from takagi.experiments._plan import PlannedRun, Scope, plan_runs
from takagi.experiments._run import Result
from takagi.experiments._store import Store

Notify = Callable[[Any], object]


def pending_runs(figure: str, store: Store, scope: Scope | None = None) -> list[PlannedRun]:
    """Return the runs of a figure's plan that the store does not have."""
    finished = store.finished()
    return [run for run in plan_runs(figure, scope) if run not in finished]


def run_experiment(
    figure: str,
    store: Store,
    scope: Scope | None = None,
    *,
    backend: str = "threads",
    n_workers: int | None = None,
    scheduler: str | None = None,
    base_seed: int = 0,
    data_home: str | None = None,
    notify: Notify | None = None,
) -> list[Result]:
    """Run what a figure's plan needs and the store does not have; each result is stored at once.

    Interrupted at any moment, it goes on from there when called again. A run that fails is stored with its error, the
    others go on, and it is tried again next time.

    Parameters
    ----------
    figure : str
        "fig3a", "fig3b", "fig4", ..., "fig8" or "all".
    store : Store
    scope : Scope, optional
        A part of the plan; all of it by default.
    backend, n_workers, scheduler, base_seed, data_home
        As in `takagi.experiments.execute`.
    notify : callable, optional
        Called with every result.

    Returns
    -------
    list of Result
        The failed runs.
    """
    store.claim_seed(base_seed)
    runs = pending_runs(figure, store, scope)
    results = execute(
        runs, backend=backend, n_workers=n_workers, scheduler=scheduler, base_seed=base_seed, data_home=data_home
    )
    return collect(results, store, notify)


def collect(results: Iterable[Any], store: Store, notify: Notify | None = None) -> list[Any]:
    """Store results as they come; return the failed ones."""
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows than rules, training that does not help: the figures show it
        for result in results:
            store.append([result])
            if result.error:
                failed.append(result)
            if notify is not None:
                notify(result)
    store.compact()
    return failed
