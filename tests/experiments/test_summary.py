import numpy as np
import pytest
from invented import FACTORS, invent_result

from takagi.experiments import MissingRunsError, Store, summarize
from takagi.experiments._plan import Scope, plan_runs
from takagi.experiments._summary import average, load_ratios, select_tuned


@pytest.mark.parametrize(("figure", "n_lines"), [("fig4", 6), ("fig6", 3), ("fig7", 8), ("fig8", 4)])
def test_means_are_ratios_to_ridge_regression_on_the_same_partition(full_store, figure, n_lines):
    table = summarize(figure, full_store)
    assert table["algorithm"].nunique() == n_lines
    for _, row in table.iterrows():
        grid = row["algorithm"].startswith("PCA-GP")
        expected = FACTORS[row["algorithm"]] + 0.1 * (row["n_rules"] < 8 and not grid)
        assert row["mean"] == pytest.approx(expected, abs=0.01)
        assert 0 <= row["error"] < 0.01
        assert row["n"] == 2


def test_learning_rates_are_tuned_on_validation(full_store):
    tuned = select_tuned(load_ratios(full_store))
    assert set(tuned["learning_rate"]) == {0.01}
    assert not tuned.duplicated(["algorithm", "dataset", "repeat", "n_rules"]).any()


def test_curves_end_at_the_normalised_error(full_store):
    table = summarize("fig3a", full_store).set_index(["line", "iteration"])["mean"]
    assert table["FCM-RDpA", 1000] == pytest.approx(0.8, abs=0.01)
    assert table["FCM-RDA", 1] == pytest.approx(1.8, abs=0.01)
    assert set(summarize("fig3b", full_store)["line"]) == {f"R={r}" for r in (2, 4, 8, 16, 32, 64)}


def test_sensitivity_has_a_row_per_setting_value_and_number_of_rules(tmp_path):
    store = Store(tmp_path)
    store.append(
        invent_result(run) for run in plan_runs("fig5", Scope(datasets=("Yacht", "NO2"), repeats=2, rules=(4, 16)))
    )
    table = summarize("fig5", store)
    assert table.groupby("setting")["value"].nunique().to_dict() == {
        "keep_prob": 10,
        "learning_rate": 9,
        "powerball": 12,
    }
    assert len(table) == 2 * 31


def test_standard_error_is_that_of_the_repeats(full_store):
    frame = load_ratios(full_store).query("algorithm == 'FCM-RDA' and learning_rate == 0.01 and n_rules == 8")
    row = average(frame, ["n_rules"]).iloc[0]
    means = frame.groupby("repeat")["ratio"].mean()
    assert row["mean"] == pytest.approx(means.mean())
    assert row["error"] == pytest.approx(means.std() / np.sqrt(2))


def test_empty_store_says_what_to_run(tmp_path):
    for figure in ("fig3a", "fig4", "fig5", "fig7"):
        with pytest.raises(MissingRunsError, match=f"takagi experiment run {figure}"):
            summarize(figure, Store(tmp_path))
    with pytest.raises(ValueError, match="did you mean 'fig4'"):
        summarize("fig 4", Store(tmp_path))
