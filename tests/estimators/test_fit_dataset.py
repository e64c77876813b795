import os
import signal
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.decomposition import PCA
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline

pytest.importorskip("pyarrow")

import takagi
from takagi import DatasetError, TableEncoder, TSKRegressor, fit_dataset
from takagi.inspection import export_text

QUICK = TSKRegressor(n_rules=4, recipe="droprule", max_iter=300, random_state=0)


def write(folder, table, n_files=4, row_group_size=250):
    folder.mkdir(exist_ok=True)
    for k, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(folder / f"part-{k}.parquet", row_group_size=row_group_size, index=False)
    return folder


def make_table(n_rows=4000, seed=0):
    """Numbers, words and missing values; sorted, so that no file is like the others."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(100, 20, n_rows),
            "fuel": rng.choice(["petrol", "diesel", "electric"], n_rows),
            "doors": rng.integers(2, 6, n_rows),
            "sold": rng.random(n_rows) < 0.3,
        }
    )
    table["price"] = 50 * table["size"] + 2000 * (table["fuel"] == "electric") + rng.normal(0, 50, n_rows)
    table.loc[rng.random(n_rows) < 0.05, "size"] = np.nan
    return table.sort_values("price", ignore_index=True)


@pytest.fixture
def cars(tmp_path):
    return write(tmp_path / "cars", make_table())


def parameters(model):
    rules = model[-1].rule_base_
    return np.concatenate([rules.centers.ravel(), rules.widths.ravel(), rules.consequents.ravel()])


# -- what comes out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rules", "loss"), [pytest.param("auto", 1.03, marks=pytest.mark.slow), (16, 1.05)])
def test_the_error_is_that_of_a_fit_in_memory_within_a_few_percent(tmp_path, n_rules, loss):
    X, y = make_friedman1(24_000, noise=1.0, random_state=0)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(10)]).assign(y=y)
    training, test = table[:20_000].sort_values("y"), table[20_000:]
    folder = write(tmp_path / "d", training, row_group_size=2000)
    regressor = TSKRegressor(n_rules=n_rules, max_iter=1000, random_state=0)
    streamed = fit_dataset(folder, "y", model=regressor, sample_rows=3000, buffer_rows=6000)
    whole = make_pipeline(TableEncoder(), regressor).fit(training.drop(columns="y"), training["y"])
    errors = [root_mean_squared_error(test["y"], model.predict(test)) for model in (streamed, whole)]
    assert errors[0] < loss * errors[1]
    assert streamed[-1].n_iter_ >= 1000
    assert streamed[-1].stopped_ == "max_iter"


def test_a_table_no_larger_than_the_sample_is_fitted_as_in_memory(cars):
    table = make_table()
    streamed = fit_dataset(cars, "price", model=QUICK)
    whole = make_pipeline(TableEncoder(), QUICK).fit(table.drop(columns="price"), table["price"])
    np.testing.assert_array_equal(parameters(streamed), parameters(whole))
    assert streamed[0].columns_ == whole[0].columns_


def test_limits_are_of_all_rows_and_not_of_the_sample_alone(tmp_path):
    table = make_table(2_500)
    table.loc[1234, "size"] = 900.0
    model = fit_dataset(write(tmp_path / "far", table), "price", model=QUICK, sample_rows=1_000, epochs=1)
    low, high = table["size"].min(), 900.0
    np.testing.assert_allclose(model[-1].model_.limits[0], [2 * low - high, 2 * high - low])


def test_text_numbers_truth_and_holes_become_rules_in_words(cars):
    model = fit_dataset(cars, "price", model=QUICK, sample_rows=1000)
    assert [column.kind for column in model[0].columns_] == ["number", "category", "number", "boolean"]
    assert model[-1].rule_base_.profile.n_rows == 4000
    assert model[-1].rule_base_.output_names == ("price",)
    assert "[fuel is electric]" in export_text(model)
    table = make_table(seed=1)
    assert root_mean_squared_error(table["price"], model.predict(table)) < 0.5 * table["price"].std()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_and_another_one_others(cars):
    runs = [fit_dataset(cars, "price", model=QUICK, sample_rows=1000) for _ in range(2)]
    np.testing.assert_array_equal(*(parameters(run) for run in runs))
    other = TSKRegressor(n_rules=4, max_iter=300, random_state=1)
    assert not np.array_equal(
        parameters(fit_dataset(cars, "price", model=other, sample_rows=1000)), parameters(runs[0])
    )


def test_the_model_can_be_saved_and_holds_no_rows(cars, tmp_path):
    model = fit_dataset(cars, "price", model=QUICK, sample_rows=1000)
    assert not hasattr(model[-1], "stream_")
    takagi.save(model, tmp_path / "m.takagi")
    table = make_table(100)
    np.testing.assert_array_equal(takagi.load(tmp_path / "m.takagi").predict(table), model.predict(table))


def test_parameters_stay_as_they_were_where_pilots_set_the_penalties(cars):
    regressor = TSKRegressor(max_iter=40, random_state=0)
    model = fit_dataset(cars, "price", model=regressor, sample_rows=1000)
    assert (model[-1].l2, model[-1].smoothness) == ("auto", "auto")
    assert model[-1].get_params() == regressor.get_params()
    assert not hasattr(regressor, "rule_base_")


def test_ridge_regression_is_found_to_do_better_where_it_does(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2500, 60)), columns=[f"x{k}" for k in range(60)])
    table["y"] = 3 * table["x0"] - table["x1"] + 0.5 * rng.normal(size=2500)
    regressor = TSKRegressor(max_iter=300, random_state=0)
    model = fit_dataset(write(tmp_path / "d", table), "y", model=regressor, sample_rows=1000)
    assert (model[-1].stopped_, model[-1].n_rules_) == ("ridge", 1)
    np.testing.assert_allclose(model[-1].rule_base_.consequents.ravel()[:3], [0.0, 3.0, -1.0], atol=0.1)


def test_several_targets_weights_and_other_transformers(tmp_path):
    table = make_table().drop(columns="fuel").assign(other=lambda t: -t["price"], weight=1.0)
    bad = table.assign(price=0.0, other=0.0, weight=0.0)
    folder = write(tmp_path / "d", pd.concat([table, bad]))
    pipeline = make_pipeline(TableEncoder(missing="fill"), PCA(2), QUICK)
    model = fit_dataset(folder, ["price", "other"], model=pipeline, sample_weight="weight", sample_rows=1500)
    assert [name for name, _ in model.steps] == ["tableencoder", "pca", "tskregressor"]
    prediction = model.predict(table)
    assert prediction.shape == (4000, 2)
    np.testing.assert_allclose(prediction.mean(axis=0), table[["price", "other"]].mean(), rtol=0.05)  # not half of it


def test_an_epoch_more_is_so_many_iterations_more(cars):
    def count(epochs):
        return fit_dataset(cars, "price", model=QUICK, sample_rows=1000, epochs=epochs)[-1].n_iter_

    assert [count(1), count(3)] == pytest.approx([(1000 + 3400) / 64, (1000 + 3 * 3400) / 64], abs=5)


def test_a_callback_is_told_of_progress_and_may_end_it(cars):
    told = []
    model = fit_dataset(
        cars, "price", model=QUICK, sample_rows=1000, callback=lambda p: told.append(p) or len(told) > 2
    )
    assert model[-1].stopped_ == "callback"
    assert [progress.n_iter for progress in told] == sorted(progress.n_iter for progress in told)
    assert told[-1].max_iter == 300 + 1000 // 64
    assert told[-1].best_loss <= told[-1].val_loss < 1e4
    assert [progress.stage for progress in told] == ["sample", "epoch 1 of 6", "epoch 2 of 6"]


def test_the_callback_is_told_of_pilots_and_knows_all_iterations_from_the_start(cars):
    told = []
    model = TSKRegressor(n_rules=4, max_iter=300, random_state=0)
    fitted = fit_dataset(cars, "price", model=model, sample_rows=1000, callback=told.append)
    assert told[0].stage == "pilots"
    assert {progress.max_iter for progress in told} == {2 * 150 + 5 * 75 + 300 + 1000 // 256}
    assert told[-1].n_iter == told[-1].max_iter == sum(stage.n_iter for stage in fitted[-1].stages_)


def test_patience_ends_training(cars):
    regressor = TSKRegressor(n_rules=4, recipe="droprule", max_iter=10**6, n_iter_no_change=200, random_state=0)
    model = fit_dataset(cars, "price", model=regressor, sample_rows=1000)
    assert model[-1].stopped_ == "no_change"
    assert model[-1].n_iter_ < 10**6


def test_training_goes_on_from_a_fitted_model(cars):
    first = fit_dataset(cars, "price", model=QUICK, sample_rows=1000, epochs=1)
    first[-1].set_params(warm_start=True)
    before = parameters(first)
    second = fit_dataset(cars, "price", model=first, sample_rows=1000, epochs=4)
    np.testing.assert_array_equal(parameters(first), before)
    assert second[0].columns_ == first[0].columns_
    table = make_table(seed=1)
    errors = [root_mean_squared_error(table["price"], model.predict(table)) for model in (first, second)]
    assert errors[1] < errors[0]


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_level_that_the_sample_lacks_is_none_of_the_known_ones(tmp_path):
    table = make_table()
    table.loc[table.index[-2:], "fuel"] = "hydrogen"
    folder = write(tmp_path / "d", table)
    with pytest.warns(UserWarning, match="'hydrogen' in"):
        model = fit_dataset(folder, "price", model=QUICK, sample_rows=1000)
    assert model[0].columns_[1].levels == ("diesel", "electric", "petrol")


@pytest.mark.parametrize("harm", ["vanishes", "breaks"])
def test_a_file_that_fails_on_the_way_is_named_and_nothing_learned_is_lost(cars, tmp_path, harm):
    path = cars / "part-2.parquet"
    calls = []

    def callback(progress):
        calls.append(progress)
        if len(calls) == 3 and harm == "vanishes":
            path.unlink()
        elif len(calls) == 3:
            path.write_bytes(path.read_bytes()[:3000] + bytes(10_000))

    with pytest.raises(DatasetError, match=r"part-2\.parquet") as caught:
        fit_dataset(cars, "price", model=QUICK, sample_rows=1000, buffer_rows=1000, callback=callback)
    model = caught.value.model
    takagi.save(model, tmp_path / "m.takagi")
    table = make_table(500)
    assert root_mean_squared_error(table["price"], model.predict(table)) < table["price"].std()
    assert model[-1].n_iter_ >= calls[2].n_iter


def test_text_in_a_column_of_numbers_is_named_with_its_file(tmp_path):
    folder = tmp_path / "d"
    table = make_table()
    table["doors"] = table["doors"].astype(str)
    table.loc[3999, "doors"] = "many"
    write(folder, table)
    with pytest.raises(DatasetError, match=r"part-3\.parquet: Column 'doors' was numbers in training, got 'many'"):
        fit_dataset(folder, "price", model=QUICK, sample_rows=1000)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_keeps_the_best_rules_so_far(cars):
    def callback(progress):
        if progress.n_iter > 40:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted; the best rules of"):
        model = fit_dataset(cars, "price", model=QUICK, sample_rows=1000, buffer_rows=1000, callback=callback)
    assert model[-1].stopped_ == "interrupted"
    assert 40 < model[-1].n_iter_ < 300
    assert np.isfinite(model.predict(make_table(50))).all()


def test_ctrl_c_before_there_are_rules_is_raised(cars, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("takagi.tables._arrow.ArrowSource._read_batches", stop)
    with pytest.raises(KeyboardInterrupt):
        fit_dataset(cars, "price", model=QUICK)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "prise"}, ValueError, "target column 'prise' is unknown, did you mean 'price'"),
        ({"target": "fuel"}, DatasetError, "target 'fuel' must be numbers, but holds text.*give a TSKClassifier"),
        ({"target": "price", "epochs": 0}, ValueError, "epochs must be a whole number of at least 1, got 0"),
        ({"target": "price", "sample_rows": 999}, ValueError, "sample_rows must be a whole number of at least 1,000"),
        ({"target": "price", "buffer_rows": 1.5}, ValueError, "buffer_rows must be a whole number"),
        (
            {"target": "price", "model": PCA()},
            TypeError,
            "must be a TSKRegressor, a TSKClassifier or a Pipeline that ends in one of them, got PCA",
        ),
        ({"target": "price", "model": TSKRegressor}, TypeError, r"the class TSKRegressor; write TSKRegressor\(\)"),
        ({"target": "price", "features": ["price"]}, ValueError, "features names 'price', which is the target"),
    ],
)
def test_bad_arguments_are_named(cars, options, error, message):
    with pytest.raises(error, match=message):
        fit_dataset(cars, **options)


def test_a_missing_package_is_named_with_its_extra(cars, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match=r'pip install "takagi\[parquet\]"'):
        fit_dataset(cars, "price")


def test_no_thread_is_left_behind(cars):
    before = threading.active_count()
    fit_dataset(cars, "price", model=QUICK, sample_rows=1000)
    assert threading.active_count() == before


def test_rows_that_validate_tell_how_far_the_model_is_off(cars):
    known = fit_dataset(cars, "price", model=QUICK, sample_rows=1000)[-1].calibration_
    assert known.source == "held out"
    assert known.find_reach(0.9) > 0
