import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from made_cars import make_cars
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from takagi import TableEncoder, TSKCommittee, TSKRegressor
from takagi.tables import open_table
from takagi.workflow import (
    Candidate,
    ModelSettings,
    choose_settings,
    choose_simplest,
    list_candidates,
    read_training_table,
    search_settings,
    train_model,
)

QUICK = {"n_rules": 3, "recipe": "droprule", "max_iter": 200}


@pytest.fixture
def table(tmp_path):
    """A messy table, read from its file."""
    make_cars().to_csv(tmp_path / "cars.csv", index=False)
    return read_training_table(open_table(tmp_path / "cars.csv"), "price")


@pytest.mark.parametrize(
    "settings", [choose_settings(3, 200, 5), choose_settings("auto", 200), ModelSettings(4, "droprule", 0.6, 300, 7)]
)
def test_training_is_the_librarys_to_the_bit(table, settings):
    parameters = {
        "n_rules": settings.n_rules,
        "recipe": settings.recipe,
        "keep_prob": settings.keep_prob,
        "max_iter": settings.max_iter,
        "random_state": settings.random_state,
    }
    expected = make_pipeline(TableEncoder(), TSKRegressor(**parameters)).fit(table.X, table.y)
    model = train_model(table.X, table.y, settings)
    np.testing.assert_array_equal(model.predict(table.X), expected.predict(table.X))
    assert model[-1].get_params() == expected[-1].get_params()
    frame = make_cars().dropna(subset="price")  # what a user of Python has
    again = make_pipeline(TableEncoder(), TSKRegressor(**parameters)).fit(frame[list(table.X.columns)], frame["price"])
    np.testing.assert_array_equal(again.predict(frame), expected.predict(table.X))


def test_a_committee_is_the_librarys_to_the_bit(table):
    settings = choose_settings(2, 50, 1, committee=True)
    regressor = TSKRegressor(n_rules=2, max_iter=50, random_state=1)
    committee = TSKCommittee(estimator=regressor, random_state=1)
    expected = make_pipeline(TableEncoder(), committee).fit(table.X, table.y)
    events = []
    model = train_model(table.X, table.y, settings, events.append)
    np.testing.assert_array_equal(model.predict(table.X), expected.predict(table.X))
    assert {event.unit for event in events} == {"iterations"}
    assert events[-1].done == events[-1].total > 8 * 50  # pilots are counted, too


def test_columns_that_repeat_others_are_not_told_by_their_numbers(table):
    """The look at the table names them; the estimator behind the encoder knows only numbers of columns."""
    X = table.X[["power", "weight"]].assign(kilowatts=0.7355 * table.X["power"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = train_model(X, table.y, ModelSettings(3, "short"))
    assert not any("repeat" in str(one.message) for one in told)
    assert {part.consequents[:, :, 3].any() for part in model[-1].model_.parts} == {False}


def test_training_tells_how_far_it_is(table):
    events = []
    train_model(table.X, table.y, ModelSettings(**QUICK), events.append)
    assert {event.task for event in events} == {"Training 3 rules on 198 rows"}
    assert [event.done for event in events] == sorted(event.done for event in events)
    assert (events[0].done, events[-1].done, events[-1].total) == (0, 200, 200)


def test_what_the_listener_raises_ends_training(table):
    def stop(event):
        if event.done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        train_model(table.X, table.y, ModelSettings(n_rules=3, max_iter=10**8), stop)


# -- search ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_search_is_cross_validation_on_the_same_folds(table):
    settings = list_candidates(2, 60, 3)
    events = []
    found = search_settings(table.X, table.y, settings, 3, events.append)
    assert [candidate.error for candidate in found] == sorted(candidate.error for candidate in found)
    assert {candidate.settings for candidate in found} == set(settings)
    folds = KFold(5, shuffle=True, random_state=3)
    for candidate in found:
        model = make_pipeline(TableEncoder(), TSKRegressor(**candidate.settings.parameters))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = cross_val_score(model, table.X, table.y, cv=folds, scoring="neg_root_mean_squared_error")
        np.testing.assert_allclose(candidate.errors, -scores, rtol=1e-13)
    assert [event.done for event in events] == list(range(26))
    assert {(event.task, event.total) for event in events} == {("Trying 5 settings on 5 folds", 25)}


@pytest.mark.slow
def test_a_search_gives_the_same_twice(table):
    settings = list_candidates(None, 20, 0)[:6]
    assert search_settings(table.X, table.y, settings) == search_settings(table.X, table.y, settings)


def test_the_easiest_to_read_is_chosen_within_one_standard_error():
    many, four = (ModelSettings(rules, "droprule") for rules in (64, 4))
    best, close, worse = (
        Candidate(many, (1.0, 1.2, 0.8, 1.0)),
        Candidate(four, (1.05, 1.2, 0.85, 1.0)),
        Candidate(ModelSettings(recipe="short"), (1.4, 1.5, 1.4, 1.3)),
    )
    assert best.standard_error == pytest.approx(np.std(best.errors, ddof=1) / 2)
    assert choose_simplest([best, close, worse]) is close
    assert choose_simplest([best, worse]) is best
    short = Candidate(ModelSettings(recipe="short"), close.errors)
    assert choose_simplest([best, close, short]) is short


def test_more_rows_take_fewer_folds():
    X = pd.DataFrame({"a": np.arange(1000.0)})
    (found,) = search_settings(X, X["a"], [ModelSettings(1, max_iter=5)])
    assert len(found.errors) == 3


def test_what_the_listener_raises_ends_a_search_soon(table):
    def stop(event):
        if event.done:
            raise RuntimeError("enough")

    before = threading.active_count()
    settings = [ModelSettings(2, max_iter=1), *(ModelSettings(k, max_iter=10**8) for k in (3, 4))]
    with pytest.raises(RuntimeError, match="enough"):
        search_settings(table.X, table.y, settings, tell=stop)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and "Thread-" in thread.name:
            thread.join(timeout=20)
    assert threading.active_count() <= before


def test_what_is_given_is_not_searched():
    assert {one.n_rules for one in list_candidates()} == {None, 4, 8, 16, 32, 64}
    assert [one.keep_prob for one in list_candidates(5)] == ["auto", "auto", 0.6, 0.8, 0.9]
    assert {one.recipe for one in list_candidates()} == {"short", "accurate", "droprule"}
    assert [one.n_rules for one in list_candidates(3, recipe="short")] == [3]
    assert [one.keep_prob for one in list_candidates(5, recipe="droprule")] == [0.6, 0.8, 0.9]
    assert [one.n_rules for one in list_candidates(5, recipe="accurate")] == [5]
    assert {one.max_iter for one in list_candidates(max_iter=7)} == {7}
    assert [(one.n_rules, one.recipe) for one in list_candidates("auto")] == [("auto", "short"), ("auto", "accurate")]


def test_settings_that_are_not_given_are_the_defaults():
    assert TSKRegressor(**choose_settings().parameters).get_params() == TSKRegressor(random_state=0).get_params()
    assert choose_settings(committee=True) == ModelSettings(committee=True)
    assert (choose_settings(16).words, choose_settings(1).words) == ("16 rules", "1 rule")
    assert (choose_settings("auto").words, choose_settings(committee=True).words) == ("rules", "a committee")
