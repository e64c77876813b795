"""The paper's algorithms by name, and its experiments as plan, run, store, draw."""

from takagi.experiments._algorithms import (
    ALGORITHMS,
    Algorithm,
    AlgorithmTable,
    SampleScaler,
    list_algorithms,
    paper_algorithm,
)
from takagi.experiments._claims import Ranking, Verdict, check_claims, rank_algorithms, rank_columns
from takagi.experiments._execute import BACKENDS, collect, execute, pending_runs, run_experiment
from takagi.experiments._figures import draw, draw_ranks
from takagi.experiments._mbgd import MBGDClassifier
from takagi.experiments._plan import FIGURES, MORE_RULES, QUICK, PlannedRun, Scope, plan_runs
from takagi.experiments._run import Result, execute_run
from takagi.experiments._store import Store, StoreError
from takagi.experiments._summary import MissingRunsError, summarize

__all__ = [
    "ALGORITHMS",
    "BACKENDS",
    "FIGURES",
    "MORE_RULES",
    "QUICK",
    "Algorithm",
    "AlgorithmTable",
    "MBGDClassifier",
    "MissingRunsError",
    "PlannedRun",
    "Ranking",
    "Result",
    "SampleScaler",
    "Scope",
    "Store",
    "StoreError",
    "Verdict",
    "check_claims",
    "collect",
    "draw",
    "draw_ranks",
    "execute",
    "execute_run",
    "list_algorithms",
    "paper_algorithm",
    "pending_runs",
    "plan_runs",
    "rank_algorithms",
    "rank_columns",
    "run_experiment",
    "summarize",
]
