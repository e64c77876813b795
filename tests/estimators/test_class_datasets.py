"""Classes of tables that need not fit into memory: files, and Dask collections."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

pytest.importorskip("pyarrow")

import takagi
from takagi import DatasetError, TableEncoder, TSKClassifier, TSKCommitteeClassifier, fit_dataset

QUICK = {"n_rules": 4, "recipe": "droprule", "max_iter": 400, "random_state": 0}


def make_table(n_rows=6000, seed=0):
    """Three classes, one of which is rare; sorted, so that no file has all of them."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"a": rng.normal(size=n_rows), "b": rng.normal(size=n_rows), "c": rng.choice(list("uv"), n_rows)}
    )
    chance = 1 / (1 + np.exp(-3 * table["a"] * table["b"] - (table["c"] == "u")))
    table["label"] = np.where(rng.random(n_rows) < chance, "yes", "no")
    table.loc[table.index[:3], "label"] = "maybe"
    return table.sort_values("label", ignore_index=True)


def write(folder, table, n_files=4):
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(folder / f"part-{k}.parquet", row_group_size=250, index=False)
    return folder


def measure(model, table):
    return log_loss(table["label"], model.predict_proba(table.drop(columns="label")), labels=model.classes_)


# -- files -------------------------------------------------------------------------------------------------------------


def test_passes_are_about_as_good_as_a_fit_in_memory_and_know_all_classes(tmp_path):
    table, test = make_table(), make_table(3000, seed=1)
    model = TSKClassifier(**QUICK)
    streamed = fit_dataset(write(tmp_path / "d", table), "label", model=model, sample_rows=1000, buffer_rows=2000)
    whole = make_pipeline(TableEncoder(), model).fit(table.drop(columns="label"), table["label"])
    assert streamed[-1].classes_.tolist() == ["maybe", "no", "yes"]
    assert streamed[-1].target_name_ == "label"
    assert measure(streamed, test) < 1.05 * measure(whole, test) < 0.6
    takagi.save(streamed, tmp_path / "m.takagi")
    loaded = takagi.load(tmp_path / "m.takagi")
    np.testing.assert_array_equal(loaded.predict_proba(test), streamed.predict_proba(test))


def test_a_class_that_the_sample_lacks_is_learned(tmp_path):
    table = make_table(20_000)
    streamed = fit_dataset(
        write(tmp_path / "d", table), "label", model=TSKClassifier(**QUICK), sample_rows=1000, epochs=1
    )
    proba = streamed.predict_proba(table[:100])
    assert streamed[-1].classes_[0] == "maybe"
    assert 0 < proba[:, 0].mean() < 0.05


def test_a_table_no_larger_than_the_sample_is_fitted_as_in_memory(tmp_path):
    table, model = make_table(600), TSKClassifier(**QUICK)
    streamed = fit_dataset(write(tmp_path / "d", table), "label", model=model)
    whole = make_pipeline(TableEncoder(), model).fit(table.drop(columns="label"), table["label"])
    np.testing.assert_array_equal(streamed.predict_proba(table), whole.predict_proba(table))
    assert streamed.predict(table).tolist() == whole.predict(table).tolist()


def test_truth_values_whole_numbers_and_categories_are_labels(tmp_path):
    table = make_table(2500)
    is_yes = table["label"] == "yes"
    for k, (labels, expected) in enumerate(
        [
            (is_yes, [False, True]),
            (is_yes.astype(float) + 1, [1, 2]),
            (table["label"].astype("category"), ["maybe", "no", "yes"]),
        ]
    ):
        folder = write(tmp_path / str(k), table.assign(label=labels))
        model = fit_dataset(folder, "label", model=TSKClassifier(2, max_iter=20), sample_rows=1000, epochs=1)
        assert model[-1].classes_.tolist() == expected
        assert set(model.predict(table[:5])) <= set(expected)


def test_rows_without_a_label_are_left_out_and_text_files_are_read(tmp_path):
    table = make_table(2000)
    table.loc[[5, 900], "label"] = None
    for k in range(2):
        table[k::2].to_csv(tmp_path / f"part-{k}.csv", index=False)
    model = fit_dataset(f"{tmp_path}/part-*.csv", "label", model=TSKClassifier(**QUICK), sample_rows=1000)
    assert model[-1].model_.profile.n_rows == 1998
    assert model[-1].classes_.tolist() == ["maybe", "no", "yes"]


def test_weights_of_classes_are_those_of_all_rows(tmp_path):
    """Balanced weights make the mean probabilities equal, although the sample hardly has one of the classes."""
    table = make_table(4000)
    folder = write(tmp_path / "d", table)
    model = TSKClassifier(**QUICK, class_weight="balanced")
    proba = fit_dataset(folder, "label", model=model, sample_rows=1000).predict_proba(table)
    plain = fit_dataset(folder, "label", model=TSKClassifier(**QUICK), sample_rows=1000).predict_proba(table)
    assert proba[:, 0].mean() > 10 * plain[:, 0].mean()
    with pytest.raises(ValueError, match="class_weight has labels that are not among the classes of y: 'odd'"):
        fit_dataset(folder, "label", model=TSKClassifier(**QUICK, class_weight={"odd": 2.0}), sample_rows=1000)


def test_a_fitted_model_is_gone_on_from(tmp_path):
    folder = write(tmp_path / "d", make_table(3000))
    model = fit_dataset(folder, "label", model=TSKClassifier(**QUICK), sample_rows=1000, epochs=1)
    model[-1].set_params(warm_start=True)
    further = fit_dataset(folder, "label", model=model, sample_rows=1000, epochs=1)
    assert further[-1].classes_.tolist() == ["maybe", "no", "yes"]
    other = write(tmp_path / "o", make_table(3000).assign(label=lambda t: t["label"].replace("maybe", "odd")))
    with pytest.raises(ValueError, match="not among the classes of the model: 'odd'"):
        fit_dataset(other, "label", model=model, sample_rows=1000)


def test_what_is_no_class_is_refused(tmp_path):
    table = make_table(2000)
    numbers = write(tmp_path / "n", table.assign(label=table["a"]))
    with pytest.raises(DatasetError, match="more than 1,000 different values, too many for classes"):
        fit_dataset(numbers, "label", model=TSKClassifier())
    few = write(tmp_path / "f", table.assign(label=table["a"].round(1)))
    with pytest.raises(ValueError, match="Use TSKRegressor for a numeric target"):
        fit_dataset(few, "label", model=TSKClassifier(), sample_rows=1000)
    days = write(tmp_path / "t", table.assign(label=pd.Timestamp("2026-01-01")))
    with pytest.raises(DatasetError, match="must be labels of classes, but holds dates or times"):
        fit_dataset(days, "label", model=TSKClassifier())
    one = write(tmp_path / "one", table.assign(label="yes"))
    with pytest.raises(ValueError, match="at least two classes, got 'yes'"):
        fit_dataset(one, "label", model=TSKClassifier())
    with pytest.raises(ValueError, match="one target, the column of the classes, got 2"):
        fit_dataset(one, ["label", "a"], model=TSKClassifier())


# -- Dask --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def dask(monkeypatch):
    pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("takagi.estimators._collections.SAMPLE_ROWS", 1500)


def cut(table, n_rows=1000):
    import dask.array as da

    X = table[["a", "b"]].to_numpy()
    return da.from_array(X, chunks=(n_rows, 1)), da.from_array(table["label"].to_numpy(), chunks=n_rows)


def test_partitions_train_a_classifier_and_predictions_are_lazy(dask):
    table, test = make_table(), make_table(3000, seed=1)
    X, y = cut(table)
    model = TSKClassifier(**QUICK).fit(X, y)
    whole = TSKClassifier(**QUICK).fit(table[["a", "b"]].to_numpy(), table["label"])
    rows = test[["a", "b"]].to_numpy()
    losses = [log_loss(test["label"], one.predict_proba(rows), labels=one.classes_) for one in (model, whole)]
    assert losses[0] < 1.05 * losses[1]
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        lazy, expected = getattr(model, name)(X), getattr(model, name)(table[["a", "b"]].to_numpy())
        assert lazy.dtype == expected.dtype
        assert type(lazy).__module__.startswith("dask")
        np.testing.assert_array_equal(lazy.compute(), expected)


def test_up_to_the_sample_the_bits_are_those_of_a_fit_in_memory(dask):
    table = make_table(1200)
    model = TSKClassifier(**QUICK).fit(*cut(table, 400))
    whole = TSKClassifier(**QUICK).fit(table[["a", "b"]].to_numpy(), table["label"].to_numpy())
    rows = table[["a", "b"]].to_numpy()
    np.testing.assert_array_equal(model.predict_proba(rows), whole.predict_proba(rows))


def test_frames_keep_names_and_index(dask):
    import dask.dataframe as dd

    table = make_table(3000)
    table.index += 7
    lazy = dd.from_pandas(table, npartitions=4)
    model = TSKClassifier(**{**QUICK, "max_iter": 50}).fit(lazy[["a", "b"]], lazy["label"])
    assert (list(model.feature_names_in_), model.target_name_) == (["a", "b"], "label")
    said = model.predict(lazy[["a", "b"]]).compute()
    assert (said.name, said.index.tolist()) == ("label", table.index.tolist())
    proba = model.predict_proba(lazy[["a", "b"]]).compute()
    assert proba.columns.tolist() == ["maybe", "no", "yes"]
    streamed = fit_dataset(lazy, "label", model=TSKClassifier(**QUICK), sample_rows=1000, epochs=1)
    np.testing.assert_array_equal(streamed.predict(lazy).compute(), streamed.predict(table))


def test_a_committee_of_classifiers_predicts_dask_arrays(dask):
    table = make_table(300)
    X, _ = cut(table, 100)
    rows = table[["a", "b"]].to_numpy()
    model = TSKCommitteeClassifier(2, TSKClassifier(2, max_iter=20), random_state=0).fit(rows, table["label"])
    for name in ("predict", "predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(getattr(model, name)(X).compute(), getattr(model, name)(rows))


def test_missing_labels_of_a_partition_are_named(dask):
    table = make_table(2000)
    table.loc[1500, "label"] = None
    with pytest.raises(DatasetError, match="partition 1 of 2: y contains 1 labels that are missing"):
        TSKClassifier(**QUICK).fit(*cut(table))
