import pytest

from takagi.experiments import Store, check_claims, rank_algorithms
from takagi.experiments._claims import CLAIMS


@pytest.fixture(scope="module")
def verdicts(full_store):
    return {verdict.claim: verdict for verdict in check_claims(full_store)}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("FCM-RDpA is best on average", "holds"),
        ("PCA makes FCM-RDpA worse", "holds"),
        ("with PCA all are worse than ridge regression", "holds"),
        ("without PCA both are better than ridge regression", "holds"),
        ("independent sets beat shared ones, RDA", "holds"),
        ("PCA-GP-RDA and PCA-GP-RDpA are alike", "holds"),
        ("FCM-RDpA converged at R=8", "holds"),
        ("grid partition is slowest", "holds"),
        ("FCM and random initialization are alike for R from 128", "does not hold"),
        ("FCM beats random initialization for R up to 16", "holds"),
        ("AdaBelief is best of the vanilla four", "holds"),
        ("Powerball improves Adam", "holds"),
        ("Powerball improves AdaBound", "does not hold"),
        ("Powerball improves SGDM", "does not hold"),
        ("Powerball AdaBelief is best of the eight", "holds"),
        ("FCM-RDpAx is best of the four with projections", "holds"),
    ],
)
def test_verdicts_follow_the_numbers(verdicts, claim, expected):
    assert verdicts[claim].verdict == expected, verdicts[claim]


def test_numbers_of_both_sides_are_given(verdicts):
    verdict = verdicts["RDpA beats RDA"]
    assert "FCM-RDpA 0.8" in verdict.numbers
    assert "FCM-RDA 0.9" in verdict.numbers
    assert "better on 8 of 8 sets" in verdict.numbers
    assert verdict.p_value == pytest.approx(2 / 2**8)


def test_missing_runs_leave_claims_undecided(verdicts, tmp_path):
    assert verdicts["P in [0.5, 0.7] is safe"].verdict == "not decided"
    assert "takagi experiment run fig5" in verdicts["P in [0.5, 0.7] is safe"].numbers
    empty = check_claims(Store(tmp_path))
    assert len(empty) == len(CLAIMS)
    assert {verdict.verdict for verdict in empty} == {"not decided"}


def test_ranks_come_with_friedman_s_test_and_a_critical_difference(full_store):
    rankings = {ranking.name: ranking for ranking in rank_algorithms(full_store)}
    assert set(rankings) == {"fig4", "fig7", "fig8"}
    ranks = rankings["fig8"].ranks
    assert min(ranks, key=ranks.get) == "FCM-RDpAx"
    assert sum(ranks.values()) == pytest.approx(10)
    assert rankings["fig8"].p_value < 0.01
    assert rankings["fig8"].critical_difference == pytest.approx(4.69 / 8**0.5, rel=0.01)
