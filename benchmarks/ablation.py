"""What each part of a fit is worth: the accurate recipe and the committee with one part left out or put in at a time.

    python benchmarks/ablation.py [--parts "whole,never ridge"] [--sets Yacht,NO2] [--partitions 1,2] [--show]

Test errors are on the paper's datasets and partitions, as in `accuracy.py`, and all parts of a trial have one seed.
Fits what the store does not have yet, then prints the tables; Ctrl-C, and call again to go on. A part without a
parameter of its own is left out by putting another function or number in its place for the time of a fit.
``TAKAGI_DATA`` names the folder of the datasets.
"""

import _measure  # first: it limits the threads

# isort: split
import argparse
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from _methods import COMMITTEE, METHODS, TAKAGI
from _tables import DIVISOR, SELECTION, load_ratios
from _trials import Outcome, Trial, load_trial, make_trials, measure, time_call, warm_up
from accuracy import BASE_SEED, DOCS, ProgressLine, choose
from takagi import TSKCommittee, TSKRegressor
from takagi.datasets import list_datasets
from takagi.estimators import _base, _members
from takagi.experiments import Store, collect
from takagi.experiments._plan import N_REPEATS, derive_seed
from takagi.experiments._run import format_error
from takagi.fitting import Mix, Rows, _fit, _pilots, _rows, merge_equal_rows

if TYPE_CHECKING:
    import pandas as pd

MAX_ITER = "auto"
WHOLE, WHOLE_COMMITTEE = "whole", "whole committee"


# -- what takes the place of a part ------------------------------------------------------------------------------------


def skip_pilots(rows: Rows, held_out: Rows | None, plan: Any, *_: object) -> _pilots.Findings:
    """Return the penalties that the first pilot would have had."""
    n_batches = len(rows.X) / plan.config.batch_size
    return _pilots.Findings(plan.penalties.for_pilot(*_pilots._FIRST, n_batches), Mix())


def run_pilots_without_ridge(*arguments: Any) -> _pilots.Findings:
    """Return what pilots find, except that ridge regression is better."""
    return _pilots.run_pilots(*arguments)._replace(mix=Mix())


def sort_rows(rows: Rows, has_classes: bool = False) -> Rows:
    """Return rows in the order of the merged ones, so that only sets with equal rows change."""
    merged = merge_equal_rows(rows, has_classes)
    copies = np.repeat(np.arange(len(merged.X)), merged.weight.astype(int))
    return merged.take(copies)._replace(weight=np.ones(len(copies)))


@dataclass(frozen=True)
class Part:
    """A recipe that differs from the whole one in one part.

    Attributes
    ----------
    whole : str
        What it is compared with: the name of a whole recipe.
    params : dict
        Parameters of the regressor, or of the committee, that are not the default.
    instead : tuple of (object, str, object)
        Owner and name of what is replaced, and by what.
    """

    whole: str = WHOLE
    params: dict[str, Any] = field(default_factory=dict)
    instead: tuple[tuple[Any, str, Any], ...] = ()

    @property
    def method(self) -> str:
        """The method of `accuracy.py` that the whole recipe is."""
        return TAKAGI if self.whole == WHOLE else COMMITTEE

    def make_model(self, seed: int, max_iter: int | str = MAX_ITER) -> TSKRegressor | TSKCommittee:
        """Return the estimator."""
        if self.whole == WHOLE:
            params = {"n_teachers": 0} | self.params  # put in as a part of their own
            return TSKRegressor(max_iter=max_iter, n_adjustments=0, random_state=seed, **params)
        estimator = TSKRegressor(max_iter=max_iter, n_adjustments=0)
        return TSKCommittee(estimator=estimator, random_state=seed, **self.params)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Put the replacements in place for a block."""
        with ExitStack() as stack:
            for owner, name, new in self.instead:
                stack.enter_context(patch.object(owner, name, new))
            yield


PARTS = {
    WHOLE: Part(),
    "no pilots": Part(instead=((_fit, "run_pilots", skip_pilots),)),
    "usual smoothness": Part(instead=((_pilots, "SMOOTHNESS_PER_NOISE", _pilots.SMOOTHNESS_PER_NOISE[:1]),)),
    "never ridge": Part(instead=((_fit, "run_pilots", run_pilots_without_ridge),)),
    "equal rows not merged": Part(instead=((_base, "merge_equal_rows", sort_rows),)),
    "heavy rows not split": Part(instead=((_rows, "spread_weights", lambda rows: rows),)),
    "with 4 teachers": Part(params={"n_teachers": 4}),
    "taught by default": Part(params={"n_teachers": "auto"}),
    WHOLE_COMMITTEE: Part(WHOLE_COMMITTEE),
    "no memory": Part(WHOLE_COMMITTEE, {"remember": False}),
    "members of one size": Part(WHOLE_COMMITTEE, instead=((_members, "_choose_size", lambda plan, is_small: plan),)),
}


# -- runs --------------------------------------------------------------------------------------------------------------


def run_part(trial: Trial, max_iter: int | str = MAX_ITER, data_home: str | None = None) -> Outcome:
    """Fit and measure; the seed is that of the whole recipe in `accuracy.py`."""
    warnings.simplefilter("ignore")
    try:
        rows, X_test, y_test = load_trial(trial, BASE_SEED, data_home)
        if trial.method == DIVISOR:
            return measure(trial, *time_call(partial(METHODS[DIVISOR].fit, rows, 0)), X_test, y_test)
        part = PARTS[trial.method]
        warm_up(part.method)
        seed = derive_seed(BASE_SEED, "fit", trial.dataset, trial.repeat, part.method) % 2**31
        with part.applied():
            model, seconds = time_call(partial(part.make_model(seed, max_iter).fit, *rows.both))
        return measure(trial, model, seconds, X_test, y_test)
    except Exception as error:
        return Outcome(trial, error=format_error(error))


def run_in_processes(trials: list[Trial], n_jobs: int) -> Iterator[Outcome]:
    """Yield outcomes as they come."""
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(run_part, trial) for trial in trials]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def run(store: Store, parts: list[str], datasets: list[str], partitions: list[int], n_jobs: int) -> None:
    """Run the trials that are not in the store."""
    store.claim_seed(BASE_SEED)
    methods = list(dict.fromkeys([DIVISOR, *(PARTS[name].whole for name in parts), *parts]))
    trials, finished = make_trials(methods, datasets, partitions), store.finished()
    pending = [trial for trial in trials if trial not in finished]
    print(f"{len(trials)} trials, {len(trials) - len(pending)} are there.", flush=True)
    with ProgressLine(len(pending)) as progress:
        for outcome in collect(run_in_processes(pending, n_jobs), store, progress.notify):
            print(f"{outcome.run}: {outcome.error}")


# -- tables ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A part beside the whole recipe, on the sets and partitions that both have."""

    n_sets: int
    average: float
    average_of_whole: float
    ratio: float
    doubt: float
    n_wins: int
    n_losses: int
    seconds: float
    seconds_ratio: float


def compare(ratios: "pd.DataFrame", part: str, sets: Iterable[str]) -> Comparison | None:
    """Compare a part with its whole recipe on some sets; None if they have none in common.

    The ratio of test errors is the geometric mean over the partitions of a set, then over sets; its standard error is
    over sets. A win is a set on which the recipe with the part left out, or put in, is better than the whole one.
    """
    whole = PARTS[part].whole
    chosen = ratios[ratios["dataset"].isin(list(sets)) & ratios["method"].isin([part, whole])]
    cells = chosen.pivot_table(index=["dataset", "repeat"], columns="method", values=["ratio", "seconds"]).dropna()
    if not len(cells) or not {part, whole} <= set(chosen["method"]):
        return None
    logs = np.log(cells["ratio", part] / cells["ratio", whole]).groupby(level="dataset").mean()
    means = cells.groupby(level="dataset").mean().mean()
    ratio = float(np.exp(logs.mean()))
    return Comparison(
        n_sets=len(logs),
        average=means["ratio", part],
        average_of_whole=means["ratio", whole],
        ratio=ratio,
        doubt=ratio * logs.std(ddof=1) / len(logs) ** 0.5,
        n_wins=int((logs < 0).sum()),
        n_losses=int((logs > 0).sum()),
        seconds=means["seconds", part],
        seconds_ratio=means["seconds", part] / means["seconds", whole],
    )


def show(ratios: "pd.DataFrame", parts: list[str]) -> None:
    """Print a table for the selection half of the sets, and one for the other half."""
    halves = {"selection half": SELECTION, "other half": set(list_datasets()) - set(SELECTION)}
    columns = ["recipe", "sets", "over ridge's", "whole's", "over the whole's", "won-lost", "fit, s", "time ratio"]
    for title, sets in halves.items():
        found = {name: compare(ratios, name, sets) for name in parts}
        print(f"\n{title}")
        _measure.print_table(columns, [[name, *describe(one)] for name, one in found.items() if one is not None])


def describe(one: Comparison) -> list[str]:
    """Return the words of a line."""
    averages = f"{one.average:.3f}", f"{one.average_of_whole:.3f}"
    ratio = f"{one.ratio:.3f} +- {one.doubt:.3f}" if one.n_sets > 1 else f"{one.ratio:.3f}"
    record = f"{one.n_wins}-{one.n_losses}"
    return [str(one.n_sets), *averages, ratio, record, f"{one.seconds:.2f}", f"{one.seconds_ratio:.2f}"]


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", help=f"only these, with commas between: {', '.join(PARTS)}")
    parser.add_argument("--sets", help="only these datasets, with commas between")
    parser.add_argument("--partitions", default="1,2,3,4", help="of 1 to 8, with commas between")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--store", type=Path, default=DOCS / "results" / "ablation", help="where the outcomes live")
    parser.add_argument("--show", action="store_true", help="fit nothing, print what is there")
    arguments = parser.parse_args()
    parts = choose(arguments.parts, PARTS, "part")
    sets = choose(arguments.sets, list_datasets(), "dataset")
    partitions = [int(word) for word in choose(arguments.partitions, map(str, range(1, N_REPEATS + 1)), "partition")]
    store = Store(arguments.store, Outcome)
    try:
        if not arguments.show:
            run(store, parts, sets, partitions, arguments.jobs)
    except KeyboardInterrupt:
        raise SystemExit("stopped; call again to go on") from None
    ratios = load_ratios(store.results())
    show(ratios[ratios["dataset"].isin(sets) & ratios["repeat"].isin(partitions)], parts)


if __name__ == "__main__":
    main()
