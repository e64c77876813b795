"""The benchmark of classification: sets and splits, measures, trials, and tables from outcomes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import classification
from _class_methods import LOGISTIC, METHODS, TAKAGI
from _class_sets import SETS, Split, load_labeled, load_split, number_classes
from _class_tables import CHANCE, PAPERS_ACCURACY, compare_with_logistic, judge, make_class_tables
from _class_trials import (
    ClassOutcome,
    expect_calibration,
    fail_class_trial,
    measure_calibration,
    predict_classes,
    run_class_trial,
)
from _trials import Trial
from takagi.experiments import Store

HERE = [name for name, method in METHODS.items() if method.needs == "sklearn"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Invented sets: Biodeg with two splits of its own, Vehicle with classes in words, and others."""
    load_labeled.cache_clear()
    home = tmp_path_factory.mktemp("data")
    (home / "cui12").mkdir()
    (home / "uci" / "abalone").mkdir(parents=True)
    X, y = make_classification(200, n_features=4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    splits = np.stack([np.random.default_rng(seed).permutation(200) for seed in (0, 1)])
    arrays = {"con_data": X, "label": y, "trains": splits[:, :140], "tests": splits[:, 140:]}
    np.savez(home / "cui12" / "Biodeg.npz", **arrays)
    table = pd.DataFrame(X).assign(label=np.array([" bus ", " opel", " van "])[y])
    table.to_csv(home / "cui12" / "Vehicle.csv.gz", index=False)
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    (home / "cui12" / "messidor_features.arff").write_text("@relation x\n\n@data\n" + "\n".join(lines) + "\n")
    beats = np.hstack([np.random.default_rng(0).integers(0, 2, (200, 16)), np.eye(4)[np.arange(200) % 4]])
    np.savetxt(home / "cui12" / "ClaveVectors_Firm-Teacher_Model.txt", beats, fmt="%d")
    snails = [f"{sex},1,2,3,4,5,6,7,{rings}" for sex, rings in zip("MFIMFI", (8, 9, 10, 11, 1, 29), strict=True)]
    (home / "uci" / "abalone" / "abalone.data").write_text("\n".join(snails) + "\n")
    yield str(home)
    load_labeled.cache_clear()


# -- sets --------------------------------------------------------------------------------------------------------------


def test_a_split_is_disjoint_stratified_and_the_same_each_time(folder):
    split, again = load_split("Vehicle", 3, folder), load_split("Vehicle", 3, folder)
    np.testing.assert_array_equal(split.X_test, again.X_test)
    assert (len(split.y_train), len(split.y_test), split.n_classes) == (140, 60, 3)
    assert np.abs(np.bincount(split.y_train) / 140 - np.bincount(split.y_test) / 60).max() < 0.02
    together = np.vstack([split.X_train, split.X_test])
    assert len(np.unique(together, axis=0)) == 200
    assert (load_split("Vehicle", 4, folder).X_test != split.X_test).any()


def test_the_authors_own_splits_are_used(folder):
    labeled = load_labeled("Biodeg", folder)
    split = load_split("Biodeg", 2, folder)
    np.testing.assert_array_equal(split.X_train, labeled.X[labeled.trains[1]])
    np.testing.assert_array_equal(split.y_test, labeled.y[labeled.tests[1]])


def test_sets_are_read_with_classes_from_zero_on(folder):
    np.testing.assert_array_equal(load_labeled("Vehicle", folder).y, load_labeled("Biodeg", folder).y)
    np.testing.assert_array_equal(load_labeled("DRD", folder).y, load_labeled("Biodeg", folder).y)
    np.testing.assert_allclose(load_labeled("DRD", folder).X, load_labeled("Biodeg", folder).X)
    clave, abalone = load_labeled("Clave", folder), load_labeled("Abalone", folder)
    assert clave.X.shape == (200, 16)
    assert clave.y.tolist() == [0, 1, 2, 3] * 50
    assert abalone.y.tolist() == [0, 1, 1, 2, 0, 2]
    assert abalone.X.shape == (6, 10)
    assert (abalone.X[:, 7:].sum(axis=1) == 1).all()
    assert number_classes(["b", "a", "b"]).tolist() == [1, 0, 1]


def test_folder_that_is_not_named_says_so(monkeypatch):
    monkeypatch.delenv("TAKAGI_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="TAKAGI_DATA must name the folder that has cui12"):
        load_labeled("Steel")


# -- measures ----------------------------------------------------------------------------------------------------------


def test_calibration_error_is_the_distance_of_confidence_and_accuracy():
    sure, y = np.tile([0.8, 0.2], (100, 1)), (np.arange(100) % 5 == 0).astype(int)
    assert measure_calibration(sure, y, n_bins=1) == pytest.approx(0.0)
    assert measure_calibration(sure, 1 - y, n_bins=1) == pytest.approx(0.6)
    assert measure_calibration(np.tile([1.0, 0.0], (30, 1)), np.ones(30, dtype=int)) == pytest.approx(1.0)


def test_bins_have_equal_mass():
    """Two bins of two rows each: 0.6 and 0.7 with one right, 0.8 and 0.9 with both right."""
    confidence = np.array([0.9, 0.6, 0.8, 0.7])
    probabilities = np.column_stack([confidence, 1 - confidence])
    found = measure_calibration(probabilities, np.array([0, 0, 0, 1]), n_bins=2)
    assert found == pytest.approx((abs(1.3 - 1) + abs(1.7 - 2)) / 4)


def test_exact_probabilities_show_the_error_that_is_expected_by_chance():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1.0, 900)
    probabilities = np.column_stack([confidence, 1 - confidence])
    found = [measure_calibration(probabilities, (rng.random(900) > confidence).astype(int)) for _ in range(300)]
    assert np.mean(found) == pytest.approx(expect_calibration(probabilities), rel=0.05)


def test_a_class_without_training_rows_has_probability_zero():
    split = Split(np.zeros((2, 1)), np.array([0, 2]), np.zeros((3, 1)), np.array([0, 1, 2]), 3)

    class Half:
        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    assert predict_classes(Half(), split).tolist() == [[0.5, 0.0, 0.5]] * 3


# -- trials ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", HERE)
def test_adapters_tell_classes_apart(name, folder):
    split = load_split("Vehicle", 1, folder)
    probabilities = predict_classes(METHODS[name].fit(split.X_train, split.y_train, 0), split)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert np.mean(probabilities.argmax(axis=1) == split.y_test) > 0.55


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in METHODS if name not in HERE and not name.startswith("MBGD")])
def test_peers_that_are_here_tell_classes_apart(name, folder):
    if not METHODS[name].is_installed:
        pytest.skip(f"needs {METHODS[name].pip}")
    split = load_split("Vehicle", 1, folder)
    probabilities = predict_classes(METHODS[name].fit(split.X_train, split.y_train, 0), split)
    assert probabilities.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.mean(probabilities.argmax(axis=1) == split.y_test) > 0.5


def test_trial_is_measured(folder):
    outcome = run_class_trial(Trial("Vehicle", 1, LOGISTIC), 10**6, folder)
    assert (outcome.note, outcome.error, outcome.n_rows) == ("", "", 200)
    assert outcome.accuracy > 0.55
    assert 0 < outcome.log_loss < np.log(3)
    assert 0 < outcome.calibration_error < 0.5
    assert outcome.seconds >= 0  # a clock may be too coarse for it


def fail(X, y, seed):
    raise ValueError("too few\nrows")


def test_method_that_fails_counts_as_the_class_frequencies(folder, monkeypatch):
    monkeypatch.setitem(METHODS, LOGISTIC, replace(METHODS[LOGISTIC], fit=fail))
    trial = Trial("Vehicle", 1, LOGISTIC)
    outcome = run_class_trial(trial, 10**6, folder)
    assert outcome.note == "raised ValueError: too few rows"
    assert outcome.log_loss == pytest.approx(np.log(3), rel=1e-3)
    assert np.isnan(outcome.seconds)
    assert fail_class_trial(trial, "out of time", folder).accuracy == outcome.accuracy


def test_missing_data_is_no_outcome(folder):
    assert "FileNotFoundError" in run_class_trial(Trial("Steel", 1, LOGISTIC), 10**6, folder).error


# -- the script --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_second_call_runs_only_what_is_new(folder, tmp_path, call, monkeypatch):
    monkeypatch.setenv("TAKAGI_DATA", folder)
    words = ("run", "--store", tmp_path, "--datasets", "Vehicle", "--methods", LOGISTIC, "--splits")
    assert "1 trials, 0 are there." in call(classification.main, *words, "1")
    assert "2 trials, 1 are there." in call(classification.main, *words, "1,2")
    assert len(Store(tmp_path, ClassOutcome).results()) == 2
    assert f"| {LOGISTIC} |" in call(classification.main, "show", "--store", tmp_path)
    page = tmp_path / "classification.md"
    page.write_text("# Before\n\n<!-- tables: start -->\nyesterday\n<!-- tables: end -->\nAfter\n")
    call(classification.main, "page", "--store", tmp_path, "--docs", tmp_path)
    assert "### In the mean" in page.read_text()
    assert "yesterday" not in page.read_text()


def test_missing_method_is_named(tmp_path, call, monkeypatch):
    monkeypatch.setitem(METHODS, "SVC", replace(METHODS["SVC"], needs="no_such_module", pip="no-such-package"))
    printed = call(classification.main, "run", "--store", tmp_path, "--methods", "SVC")
    assert "SVC: missing, not run (pip install no-such-package)" in printed
    assert "0 trials, 0 are there." in printed


@pytest.mark.parametrize(
    ("option", "message"),
    [("--methods", "did you mean 'CatBoost'"), ("--datasets", "dataset 'Catboost' is unknown"),
     ("--splits", "Choose from '1', '2'")],
)  # fmt: skip
def test_unknown_names_are_refused(tmp_path, call, option, message):
    with pytest.raises(SystemExit, match=message):
        call(classification.main, "run", "--store", tmp_path, option, "Catboost")


def make_outcome(method, dataset="Vehicle", repeat=1, **fields):
    measures = {"n_rows": 846, "accuracy": 0.8, "balanced_accuracy": 0.7, "log_loss": 0.5, "calibration_error": 0.04}
    return ClassOutcome(Trial(dataset, repeat, method), **(measures | {"chance_error": 0.03, "seconds": 1.0} | fields))


def test_slow_and_failed_fits_get_few_splits(tmp_path):
    store = Store(tmp_path, ClassOutcome)
    slow, quick = make_outcome("EBM", seconds=30.0), make_outcome(LOGISTIC)
    store.append([slow, quick, make_outcome("SVC", seconds=np.nan, note="out of time")])
    trials = [Trial("Vehicle", repeat, method) for method in ("EBM", LOGISTIC, "SVC") for repeat in (5, 6)]
    left = classification.leave_out_slow(trials, store)
    assert [(trial.method, trial.repeat) for trial in left] == [("EBM", 5), (LOGISTIC, 5), (LOGISTIC, 6), ("SVC", 5)]


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def outcomes(tmp_path):
    """Three sets, two splits: takagi ahead of logistic regression but for IS, where it is also badly calibrated."""
    store = Store(tmp_path, ClassOutcome)
    for dataset in ("Vehicle", "Biodeg", "IS"):
        n_rows, is_last = (2310, True) if dataset == "IS" else (846, False)
        for repeat in (1, 2):
            cell = {"dataset": dataset, "repeat": repeat, "n_rows": n_rows}
            worse = {"balanced_accuracy": 0.6, "calibration_error": 0.06}
            store.append([make_outcome(LOGISTIC, log_loss=0.4, **cell), make_outcome("XGBoost", **cell, **worse)])
            loss = 0.5 if is_last else 0.3
            store.append([make_outcome(TAKAGI, log_loss=loss, accuracy=0.9, **cell)])
    store.append([make_outcome("CatBoost", note="out of time")])
    return store.results()


def test_tables_show_means_and_what_was_to_be_reached(outcomes):
    text = make_class_tables(outcomes)
    assert "| takagi | 0.900 | 0.700 | 0.367 | 0.040 | 1.25 | 1 | 1 | 2 |  |" in text
    assert "| CatBoost (1 sets) |" in text
    assert "| CatBoost | 0.800* |  |  |" in text
    assert f"| {CHANCE} | 0.030 | 0.030 | 0.030 |" in text
    assert "- CatBoost on Vehicle: out of time (1 times)" in text
    assert "| MBGD, paper | 0.697 | 0.852 | 0.576 |" in text
    assert "By log loss, on the partitions and 3 sets that all of them have" in text
    assert "random forest (pip install scikit-learn)" in text.splitlines()[-1]


def test_what_was_to_be_reached_names_the_sets_where_it_is_not(outcomes):
    accuracy, loss, calibration, ratio = judge(outcomes)
    assert accuracy.startswith("met: mean accuracy 0.900")
    assert loss.startswith("met: mean log loss 0.367")
    assert calibration.startswith("**missed**: calibration error at most 0.040")
    assert calibration.endswith("; IS 0.040 (0.030 by chance)")
    assert ratio.startswith("**missed**")
    assert ratio.endswith("; IS 1.250")


def test_ratios_are_of_the_same_splits(outcomes):
    outcomes = pd.concat([outcomes, outcomes[outcomes["method"] == TAKAGI].assign(repeat=3, log_loss=9.0)])
    assert compare_with_logistic(outcomes).loc[TAKAGI, "Vehicle"] == pytest.approx(0.75)


def test_only_splits_that_takagi_has_are_shown(outcomes):
    more = pd.concat([outcomes, outcomes[outcomes["method"] == LOGISTIC].assign(repeat=3, accuracy=0.0)])
    assert make_class_tables(more) == make_class_tables(outcomes)


def test_no_outcomes_are_told(tmp_path):
    assert "no outcomes yet" in make_class_tables(Store(tmp_path, ClassOutcome).results())


def test_published_figures_are_there_for_all_sets():
    assert len(SETS) == 12
    assert all(len(values) == 12 for values in PAPERS_ACCURACY.values())
    assert np.mean(PAPERS_ACCURACY["MBGD-UR-BN"]) == pytest.approx(0.804, abs=5e-4)
