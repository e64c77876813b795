import pytest

from takagi.datasets import list_datasets
from takagi.experiments import Scope, plan_runs
from takagi.experiments._plan import FIGURES, QUICK, derive_seed, make_run

ONE_SET = Scope(datasets=("Yacht",), repeats=1)


@pytest.mark.parametrize(
    ("figure", "n_runs"),
    [
        ("fig3a", 1 + 6),
        ("fig3b", 1 + 6),
        ("fig4", 1 + 6 * 6),
        ("fig5", 1 + 6 * (9 + 10 + 12 - 2)),
        ("fig6", 1 + 3 * 8),
        ("fig7", 1 + 8 * 5 * 8),
        ("fig8", 1 + 4 * 6),
    ],
)
def test_figure_needs_so_many_runs_per_partition(figure, n_runs):
    assert len(plan_runs(figure, ONE_SET)) == n_runs


def test_runs_are_planned_once_and_shared_by_figures():
    everything = plan_runs("all", ONE_SET)
    assert len(everything) == len(set(everything))
    assert set(everything) == {run for figure in FIGURES for run in plan_runs(figure, ONE_SET)}
    assert len(everything) < sum(len(plan_runs(figure, ONE_SET)) for figure in FIGURES)


def test_paper_s_exclusions_hold_in_every_figure():
    for run in plan_runs("all", Scope(datasets=("PowerPlant", "Airfoil"), repeats=1)):
        assert run.n_rules < {"PowerPlant": 32, "Airfoil": 64}[run.dataset]


def test_whole_plan_has_all_datasets_and_eight_partitions():
    runs = plan_runs("fig4")
    assert {run.dataset for run in runs} == set(list_datasets())
    assert {run.repeat for run in runs} == set(range(1, 9))


def test_scope_narrows_the_plan():
    runs = plan_runs("fig4", Scope(datasets=("NO2",), repeats=2, rules=(4,)))
    assert {(run.dataset, run.repeat) for run in runs} == {("NO2", 1), ("NO2", 2)}
    assert {run.n_rules for run in runs} == {0, 4}
    assert len(plan_runs("all", QUICK)) < 2000


def test_unknown_names_get_the_nearest():
    with pytest.raises(ValueError, match="figure 'fig44' is unknown, did you mean 'fig4'"):
        plan_runs("fig44")
    with pytest.raises(ValueError, match="dataset 'yacth' is unknown, did you mean 'Yacht'"):
        plan_runs("fig4", Scope(datasets=("yacth",)))


def test_seeds_are_hashes_of_what_they_are_for():
    assert derive_seed(0, "partition", "Yacht", 1) == 3983868741
    seeds = {derive_seed(base, name, k) for base in (0, 1) for name in ("a", "b") for k in range(50)}
    assert len(seeds) == 200


def test_curves_are_kept_for_figure_3_only():
    kept = [run for run in plan_runs("all", ONE_SET) if run.keeps_curve]
    assert {(run.algorithm, run.n_rules) for run in kept if run.algorithm != "FCM-RDpA"} == {
        (name, 16) for name in ("PCA-GP-RDA", "PCA-GP-RDpA", "PCA-FCM-RDA", "PCA-FCM-RDpA", "FCM-RDA")
    }
    assert all(run == make_run("Yacht", 1, run.algorithm, run.n_rules) for run in kept)
