from dataclasses import replace

import numpy as np
import pytest

from takagi import Bend, RuleBase, RuleModel
from takagi.fitting import Limits, Rows, can_be_reduced, reduce_model
from takagi.fitting._short._polish import solve_weights
from takagi.fitting._short._reduction import price_conditions, price_rules
from takagi.fitting._short._workshop import draft_model, make_true, open_workshop, write_model

BEND = Bend(0, "above", 5.0)


def make_rows(n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(n_rows, 3))
    Y = np.column_stack([np.abs(X[:, 0] - 5) + X[:, 1], 100 * np.sin(X[:, 1])])
    return Rows(X, Y, rng.uniform(0.5, 2.0, n_rows))


def make_model():
    """A sum of two parts, of which the second has a bend, with two outputs."""
    rng = np.random.default_rng(1)
    main = RuleBase(
        centers=rng.uniform(2, 8, size=(3, 3)),
        widths=[[2.0, 3.0, np.inf], [3.0, np.inf, 2.5], [2.0, 2.0, 2.0]],
        consequents=rng.normal(size=(3, 2, 4)),
    )
    other = RuleBase(
        centers=[[5, 3, 5], [5, 7, 5]],
        widths=[[np.inf, 2.5, np.inf], [np.inf, 2.0, np.inf]],
        consequents=rng.normal(size=(2, 2, 5)),
        bends=(BEND,),
    )
    return RuleModel((main, other))


@pytest.fixture(scope="module")
def made():
    rows = make_rows()
    workshop = open_workshop(rows, 0.1, 0.1, (BEND,))
    return rows, workshop, draft_model(make_model(), workshop)


def measure_square(draft, task):
    said = np.einsum("nr,onr->on", draft.shares(task.Z), draft.outputs(task.columns))
    return float(((task.target - said.T) ** 2).sum(axis=1) @ task.weight)


def test_a_draft_says_what_its_model_says(made):
    rows, workshop, draft = made
    said = np.einsum("nr,onr->no", draft.shares(workshop.task.Z), draft.outputs(workshop.task.columns))
    expected = (make_model().predict(rows.X) - workshop.units.y_mean) / workshop.units.y_scale
    np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-9)


def test_a_model_that_is_read_and_written_predicts_the_same(made):
    rows, workshop, draft = made
    intervals = np.empty((*draft.asks.shape, 2))
    intervals[...] = -np.inf, np.inf
    again = write_model(draft, intervals, workshop)
    np.testing.assert_allclose(again.predict(rows.X), make_model().predict(rows.X), rtol=1e-9, atol=1e-9)


def test_prices_are_what_the_squared_error_grows_by(made):
    _, workshop, draft = made
    task = workshop.task
    before = measure_square(draft, task)
    price = price_conditions(draft, task)
    assert np.isinf(price[~draft.asks]).all()
    for r, j in np.argwhere(draft.asks):
        widths = draft.widths.copy()
        widths[r, j] = np.inf
        after = measure_square(replace(draft, widths=widths), task)
        assert price[r, j] == pytest.approx(after - before, rel=1e-6, abs=1e-9)
    for r, price_of_rule in enumerate(price_rules(draft, task)):
        if r < 3:  # a rule that is left alone loses its conditions, but no share
            kept = draft.pick(np.flatnonzero(np.arange(5) != r))
            assert price_of_rule == pytest.approx(measure_square(kept, task) - before, rel=1e-6)


def test_the_price_of_a_formula_that_always_holds_leaves_its_mean_to_the_others(made):
    _, workshop, draft = made
    task = workshop.task
    alone = draft.take(np.arange(4))
    said = alone.outputs(task.columns)[:, :, 3]
    without = alone.without(3)
    weights = without.weights.copy()
    weights[:, :, 0] += said @ task.weight
    expected = measure_square(replace(without, weights=weights), task) - measure_square(alone, task)
    assert price_rules(alone, task)[3] == pytest.approx(expected, rel=1e-6)


def test_models_become_smaller_until_a_number_is_left():
    rows = make_rows()
    steps = list(reduce_model(make_model(), rows, Limits(4, 1, 2, 0.1), np.random.default_rng(0)))
    sizes = [model.n_rules for _, model in steps]
    assert sizes[-1] == 1
    assert (np.diff(sizes) <= 0).all()
    for _, model in steps:
        for part in model.parts:
            assert np.isfinite(part.widths).sum(axis=1).max() <= 1
            assert (part.consequents[:, :, 1:] != 0).any(axis=1).sum(axis=1).max() <= 2
    last = steps[-1][1].first
    assert not last.consequents[:, :, 1:].any()
    np.testing.assert_allclose(last.predict(rows.X[:1])[0], np.average(rows.y, axis=0, weights=rows.weight), rtol=1e-4)


def test_what_is_left_is_trained_together(made):
    """The first step of a model that a fit has made is at least as good as the best formulas for its sets."""
    rows, workshop, draft = made
    solved = write_model(*make_true(solve_weights(draft, workshop.task), workshop), workshop)
    _, first = next(reduce_model(make_model(), rows, Limits(99, 99, 99, 0.1), np.random.default_rng(0)))
    scale = rows.y.std(axis=0)
    errors = [
        np.average((((m.predict(rows.X) - rows.y) / scale) ** 2).sum(axis=1), weights=rows.weight)
        for m in (first, solved)
    ]
    assert errors[0] < 1.02 * errors[1]


def test_large_models_and_projections_are_not_reduced():
    assert can_be_reduced(make_model())
    many = RuleBase(np.zeros((64, 13)), np.ones((64, 13)), np.zeros((64, 1, 14)))
    assert not can_be_reduced(RuleModel((many,)))
    projected = RuleBase(
        [[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]], [[[0.0, 1.0, 1.0]]], antecedent_projection=[[0.0], [1.0], [1.0]]
    )
    assert not can_be_reduced(RuleModel((projected,)))
