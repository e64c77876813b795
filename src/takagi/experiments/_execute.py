"""From plan to store: runs in threads, processes or a Dask cluster; each result is stored when it is finished."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, cpu_count, delayed

from takagi._messages import need_extra, unknown_name
from takagi.experiments._plan import PlannedRun, Scope, plan_runs
from takagi.experiments._run import Result, execute_run
from takagi.experiments._store import Store

BACKENDS = ("threads", "processes", "dask")
_CONNECT_SECONDS = 10  # within which a scheduler must answer
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
    """Run the missing runs of a figure's plan; each result is stored at once.

    After an interruption, a new call continues. A failed run is stored with its error, the others continue, and it is
    tried again next time.

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
    """Store results one by one; return the failed ones."""
    failed = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows than rules, training without improvement: the figures show it
        for result in results:
            store.append([result])
            if result.error:
                failed.append(result)
            if notify is not None:
                notify(result)
    store.compact()
    return failed


def execute(
    runs: Sequence[PlannedRun],
    *,
    backend: str = "threads",
    n_workers: int | None = None,
    scheduler: str | None = None,
    base_seed: int = 0,
    data_home: str | None = None,
) -> Iterator[Result]:
    """Yield the results of runs in the order in which they end.

    Parameters
    ----------
    runs : sequence of PlannedRun
    backend : {"threads", "processes", "dask"}, default="threads"
        Threads suffice on one machine: the kernels run without the GIL.
    n_workers : int, optional
        Number of workers, all cores by default; not used with a scheduler.
    scheduler : str, optional
        Address of a Dask scheduler; without one, `backend="dask"` starts a local cluster.
    base_seed : int, default=0
    data_home : str, optional
        Folder of the data, as in `load_dataset`; on a cluster every machine must see it.

    Yields
    ------
    Result
    """
    if backend not in BACKENDS:
        raise unknown_name("backend", backend, BACKENDS)
    if backend == "dask":
        yield from _execute_on_dask(runs, n_workers, scheduler, base_seed, data_home)
        return
    call = execute_run if backend == "threads" else execute_quietly
    pool = Parallel(n_workers or cpu_count(), prefer=backend, return_as="generator_unordered", batch_size=1)
    yield from pool(delayed(call)(run, base_seed, data_home) for run in runs)


def execute_quietly(run: PlannedRun, base_seed: int, data_home: str | None) -> Result:
    """Execute a run in a worker process, which shows no warnings."""
    warnings.simplefilter("ignore")
    return execute_run(run, base_seed, data_home)


def _execute_on_dask(
    runs: Sequence[PlannedRun], n_workers: int | None, scheduler: str | None, base_seed: int, data_home: str | None
) -> Iterator[Result]:
    as_completed = need_extra("dask.distributed", "experiments").as_completed
    with _connect(scheduler, n_workers) as client:
        futures = client.map(execute_quietly, runs, base_seed=base_seed, data_home=data_home, pure=False, retries=2)
        waiting = dict(zip(futures, runs, strict=True))
        for future in as_completed(futures):
            run = waiting.pop(future)
            if future.status == "finished":
                yield future.result()
            else:
                yield Result(run, error=f"worker failed: {future.exception()}".replace("\n", " "))
            future.release()


def _connect(scheduler: str | None, n_workers: int | None) -> Any:
    from dask.distributed import Client, LocalCluster

    if scheduler is None:
        return Client(LocalCluster(n_workers=n_workers or cpu_count(), threads_per_worker=1, dashboard_address=None))
    try:
        return Client(scheduler, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no Dask scheduler answers at {scheduler!r}: {error}") from error
