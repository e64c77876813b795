import os
import signal
import sys
import threading

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

pytest.importorskip("dask.distributed")
pytest.importorskip("dask.dataframe")

import dask.array as da
import dask.dataframe as dd
from dask import distributed

from takagi import DatasetError, TableEncoder, TSKCommittee, TSKRegressor, fit_dataset
from takagi.tables import DaskSource

MODEL = TSKRegressor(n_rules=4, max_iter=400, random_state=0)


def make_rows(n_rows=6000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n_rows, 3))
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n_rows)


@pytest.fixture
def rows():
    return make_rows()


@pytest.fixture
def small_sample(monkeypatch):
    """A sample that is smaller than the tables here, so that they are fitted partition by partition."""
    monkeypatch.setattr("takagi.estimators._collections.SAMPLE_ROWS", 1500)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def parameters(model):
    rules = model.rule_base_
    return np.concatenate([rules.centers.ravel(), rules.widths.ravel(), rules.consequents.ravel()])


def cut(X, y, n_rows=1000):
    return da.from_array(X, chunks=(n_rows, 2)), da.from_array(y, chunks=n_rows)


# -- fit ---------------------------------------------------------------------------------------------------------------


def test_up_to_the_sample_a_fit_has_the_bits_of_one_in_memory(rows):
    expected = TSKRegressor(n_rules=4, max_iter=400, random_state=0).fit(*rows)
    model = TSKRegressor(n_rules=4, max_iter=400, random_state=0).fit(*cut(*rows))
    np.testing.assert_array_equal(parameters(model), parameters(expected))


def test_a_fit_by_partitions_is_as_good_as_one_in_memory(rows, small_sample):
    X, y = make_rows(2000, seed=1)
    models = [TSKRegressor(n_rules=4, max_iter=400, random_state=0).fit(*data) for data in (rows, cut(*rows))]
    expected, found = (np.sqrt(np.mean((model.predict(X) - y) ** 2)) for model in models)
    assert found < 1.1 * expected < 0.2
    assert models[1].stopped_ == "max_iter"
    assert not hasattr(models[1], "stream_")


def test_frames_keep_names_and_index(rows, small_sample):
    frame = pd.DataFrame(rows[0], columns=["a", "b", "c"]).assign(y=rows[1])
    frame.index = frame.index + 7
    lazy = dd.from_pandas(frame, npartitions=5)
    model = TSKRegressor(n_rules=4, max_iter=100, random_state=0).fit(lazy[["a", "b", "c"]], lazy["y"])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.rule_base_.output_names == ("y",)
    prediction = model.predict(lazy[["a", "b", "c"]])
    assert isinstance(prediction, dd.Series)
    pd.testing.assert_series_equal(
        prediction.compute(), pd.Series(model.predict(frame[["a", "b", "c"]]), index=frame.index, name="y")
    )


def test_no_more_than_one_partition_is_computed_at_a_time_and_none_is_kept(rows, small_sample, monkeypatch):
    sizes = []
    original = DaskSource._compute_one

    def watch(self, k):
        block = original(self, k)
        sizes.append(len(block.y))
        return block

    monkeypatch.setattr(DaskSource, "_compute_one", watch)
    TSKRegressor(n_rules=4, max_iter=150, random_state=0).fit(*cut(*rows, n_rows=600))
    assert set(sizes) == {600}
    assert len(sizes) >= 20


def test_weights_and_several_targets(rows, small_sample):
    X, y = rows
    bad = np.concatenate([y, np.full(len(y), 50.0)])
    targets = da.from_array(np.column_stack([bad, -bad]), chunks=(1000, 1))
    weight = da.from_array(np.repeat([1.0, 0.0], len(y)), chunks=1500)
    model = TSKRegressor(n_rules=4, max_iter=200, random_state=0)
    model.fit(da.from_array(np.vstack([X, X]), chunks=(1000, 3)), targets, weight)
    lazy = model.predict(da.from_array(X, chunks=(700, 2)))
    assert lazy.shape == (6000, 2)
    assert np.abs(lazy.compute()).max() < 5


def test_warm_start_goes_on_from_the_rules(rows, small_sample):
    model = TSKRegressor(n_rules=4, max_iter=100, random_state=0, warm_start=True).fit(*cut(*rows))
    before = model.history_["val_loss"].min()
    assert model.fit(*cut(*rows)).history_["val_loss"].min() <= before


# -- a cluster ---------------------------------------------------------------------------------------------------------


def fit_in_time(model, X, y, callback, seconds=150):
    """Fit in a thread, so that a cluster that does not answer fails the test and does not hold up the others."""
    thread = threading.Thread(target=model.fit, args=(X, y), kwargs={"callback": callback}, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), f"no end of the fit after {seconds} seconds"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # filters are the process's, and a cluster warns in its threads
def test_a_cluster_gives_the_same_bits_though_a_worker_is_killed(rows, small_sample, cluster):
    X, y = cut(*rows)
    alone = TSKRegressor(n_rules=4, max_iter=400, random_state=0).fit(X, y)
    killed = []

    def kill(progress):
        if progress.n_iter > 100 and not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster):
        X, y = X.persist(), y.persist()  # so that rows are lost with the worker
        model = TSKRegressor(n_rules=4, max_iter=400, random_state=0)
        fit_in_time(model, X, y, kill)
        lazy = model.predict(X).compute()
    assert killed
    np.testing.assert_array_equal(parameters(model), parameters(alone))
    np.testing.assert_array_equal(lazy, alone.predict(rows[0]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_search_runs_on_a_cluster_with_the_numbers_of_this_machine(rows, cluster):
    X, y = rows[0][:300], rows[1][:300]
    search = GridSearchCV(TSKRegressor(max_iter=50, random_state=0), {"n_rules": [2, 4]}, cv=2)
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    with distributed.Client(cluster), joblib.parallel_config("dask"):
        found = search.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


# -- predict -----------------------------------------------------------------------------------------------------------


def test_predictions_are_lazy_and_have_the_same_bits(rows):
    model = TSKRegressor(n_rules=4, max_iter=100, random_state=0).fit(*rows)
    computed = []

    def load(block):
        computed.append(len(block))
        return block

    lazy = model.predict(da.from_array(rows[0], chunks=(1000, 2)).map_blocks(load, meta=np.empty((0, 0))))
    assert (computed, lazy.shape, lazy.chunks) == ([], (6000,), ((1000,) * 6,))
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), model.predict(rows[0]))


@pytest.mark.slow
def test_pipelines_and_committees_predict_lazily_partitions_without_rows_too(rows):
    frame = pd.DataFrame(rows[0], columns=["a", "b", "c"]).assign(kind=np.where(rows[1] > 0, "up", "down"))
    pipeline = make_pipeline(TableEncoder(), MODEL).fit(frame, rows[1])
    lazy = dd.from_pandas(frame, npartitions=4)
    lazy = lazy[lazy["a"] > -2]
    prediction = pipeline.predict(lazy)
    assert isinstance(prediction, da.Array)
    np.testing.assert_array_equal(prediction.compute(), pipeline.predict(frame))
    committee = TSKCommittee(2, TSKRegressor(n_rules=2, max_iter=50), random_state=0)
    committee.fit(frame[["a", "b", "c"]], rows[1])
    parts = dd.concat([lazy[["a", "b", "c"]], lazy[lazy["a"] > 2][["a", "b", "c"]]])
    np.testing.assert_array_equal(committee.predict(parts).compute(), committee.predict(frame[["a", "b", "c"]]))


# -- fit_dataset -------------------------------------------------------------------------------------------------------


def test_fit_dataset_takes_a_frame_with_text_and_holes():
    X, y = make_rows(4000)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 2] > 0, "up", "down"), y=y)
    frame.loc[::10, "a"] = np.nan
    frame.loc[::7, "y"] = np.nan
    frame["y"] += 2 * (frame["kind"] == "up")
    lazy = dd.from_pandas(frame, npartitions=5)
    model = fit_dataset(lazy, "y", model=MODEL, sample_rows=1000)
    assert [column.kind for column in model[0].columns_] == ["number", "number", "number", "category"]
    known = frame.dropna(subset="y")
    assert np.sqrt(np.mean((model.predict(known) - known["y"]) ** 2)) < 0.3
    whole = make_pipeline(TableEncoder(), MODEL).fit(known.drop(columns="y"), known["y"])
    same = fit_dataset(lazy, "y", model=MODEL)
    np.testing.assert_array_equal(parameters(same[-1]), parameters(whole[-1]))


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_partition_that_fails_is_named_and_nothing_learned_is_lost(rows, small_sample):
    fails = []

    def load(block, block_info=None):
        if fails and block_info[0]["chunk-location"][0] == 3:
            raise OSError("the disk is gone")
        return block

    X, y = cut(*rows)
    X = X.rechunk((1000, 3)).map_blocks(load, meta=np.empty((0, 0)))
    model = TSKRegressor(n_rules=4, max_iter=400, random_state=0).fit(*cut(*rows))
    before = parameters(model)
    with pytest.raises(DatasetError, match=r"partition 3 of 6 cannot be computed: the disk is gone") as caught:
        model.fit(X, y, callback=lambda progress: fails.append(True) and None)
    assert np.isfinite(caught.value.model.predict(rows[0])).all()
    np.testing.assert_array_equal(parameters(model), before)


def test_bad_values_are_named_with_their_partition(rows):
    X, y = rows
    bad = X.copy()
    bad[2500, 1] = np.inf
    with pytest.raises(DatasetError, match="X contains infinity in column 1"):
        TSKRegressor().fit(*cut(bad, y))
    words = pd.DataFrame(X, columns=["a", "b", "c"]).assign(b="word", y=y)
    lazy = dd.from_pandas(words, npartitions=2)
    with pytest.raises(DatasetError, match="column 'b' is not"):
        TSKRegressor().fit(lazy[["a", "b", "c"]], lazy["y"])
    with pytest.raises(DatasetError, match=r"partition \d of 2: y must be numbers"):
        TSKRegressor().fit(lazy[["a"]], lazy["b"])
    with pytest.raises(DatasetError, match=r"partition \d of 2: the target 'b' must be numbers"):
        fit_dataset(lazy, "b")


def test_what_is_not_taken_is_said(rows):
    X, y = cut(*rows)
    model = TSKRegressor()
    with pytest.raises(TypeError, match="y must be one, too, got ndarray"):
        model.fit(X, rows[1])
    with pytest.raises(ValueError, match="X_val and y_val cannot be used with Dask"):
        model.fit(X, y, X_val=rows[0], y_val=rows[1])
    with pytest.raises(ValueError, match="must have two dimensions"):
        model.fit(y, y)
    frame = dd.from_pandas(pd.DataFrame(rows[0]), npartitions=4)
    with pytest.raises(ValueError, match="y has 6 partitions, but X has 4"):
        model.fit(frame, y)
    with pytest.raises(TypeError, match=r"takagi\.fit_dataset\(frame, target\) fits one"):
        TableEncoder().fit(frame)
    with pytest.raises(TypeError, match=r"use fit\(X, y\) of the estimator"):
        fit_dataset(X, "y")
    with pytest.raises(DatasetError, match="has no rows"):
        model.fit(X[:0], y[:0])


def test_without_dask_the_extra_is_named(rows, monkeypatch):
    X, y = cut(*rows)
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r'pip install "takagi\[dask\]"'):
        TSKRegressor().fit(X, y)
