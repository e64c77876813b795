from dataclasses import replace

import numpy as np
import pytest

from takagi import Bend, RuleBase, RuleModel
from takagi.fitting import Rows, update_formulas
from takagi.profile import measure_profile

RNG = np.random.default_rng(0)
X_OLD, X_NEW = RNG.uniform(-1, 1, (4000, 2)), RNG.uniform(-1, 1, (2000, 2))


def make_model(link="identity", n_outputs=1):
    """Two rules of which one lacks a term, and an adjustment that is a bend."""
    main = RuleBase(
        centers=[[-1.0, 0.0], [1.0, 0.0]],
        widths=[[1.0, np.inf], [1.0, np.inf]],
        consequents=np.repeat([[[1.0, 2.0, 0.5]], [[0.0, -1.0, 0.0]]], n_outputs, axis=1),
        link=link,
        limits=[[-3, 3], [-3, 3]],
    )
    extra = RuleBase(
        centers=[[0.0, 0.0]],
        widths=[[np.inf, np.inf]],
        consequents=np.repeat([[[0.0, 0.0, 0.0, 0.7]]], n_outputs, axis=1),
        bends=[Bend(1, "above", 0.2)],
        link=link,
    )
    y = np.zeros((len(X_OLD), n_outputs))
    parts = [replace(part, profile=measure_profile((X_OLD, y), part.firing_share)) for part in (main, extra)]
    return RuleModel(parts)


def make_rows(X, y):
    return Rows(X, np.reshape(y, (len(X), -1)), np.ones(len(X)))


def test_rows_that_say_the_same_change_nothing():
    model = make_model()
    updated = update_formulas(model, make_rows(X_NEW, model.predict(X_NEW)))
    for old, new in zip(model.parts, updated.parts, strict=True):
        np.testing.assert_allclose(new.consequents, old.consequents, atol=1e-9)
    assert updated.profile.n_rows == 6000


def test_the_new_rows_move_formulas_by_their_part_of_all():
    model = make_model()
    updated = update_formulas(model, make_rows(X_NEW, model.predict(X_NEW) + 3))
    np.testing.assert_allclose(updated.predict(X_OLD) - model.predict(X_OLD), 1.0, atol=0.02)  # a third of the rows


def test_it_is_the_fit_to_old_and_new_rows():
    model = make_model()
    noisy = RNG.normal(size=len(X_NEW))
    y_new = X_NEW[:, 0] ** 2 + noisy
    updated = update_formulas(model, make_rows(X_NEW, y_new))

    def find_loss(consequents):
        rules = RuleModel([replace(part, consequents=c) for part, c in zip(model.parts, consequents, strict=True)])
        old = rules.predict(X_OLD) - model.predict(X_OLD)
        return ((rules.predict(X_NEW) - y_new) ** 2).sum() + (old**2).sum()

    best = find_loss([part.consequents for part in updated.parts])
    assert best < find_loss([part.consequents for part in model.parts])
    for k, part in enumerate(updated.parts):
        for place in np.argwhere(part.consequents != 0):
            for step in (-0.05, 0.05):
                moved = [one.consequents.copy() for one in updated.parts]
                moved[k][tuple(place)] += step
                assert find_loss(moved) > best


def test_what_is_not_in_a_formula_stays_out_of_it():
    model = make_model()
    updated = update_formulas(model, make_rows(X_NEW, X_NEW @ [3.0, 4.0]))
    assert updated.first.consequents[1, 0, 2] == 0
    np.testing.assert_array_equal(updated.parts[1].consequents[0, 0, :3], 0)
    np.testing.assert_array_equal(updated.first.centers, model.first.centers)


def test_few_rows_and_rules_that_hardly_fire_move_little():
    model = make_model()
    far = X_NEW[:3] * [0, 1] - [1, 0]  # where the second rule has nearly no say
    updated = update_formulas(model, make_rows(far, model.predict(far) + 100))
    assert np.abs(updated.predict(X_OLD) - model.predict(X_OLD)).max() < 1


def test_ranges_and_limits_are_widened():
    model = make_model()
    updated = update_formulas(model, make_rows(5 * X_NEW, np.zeros(len(X_NEW))))
    assert updated.profile.span(0)[1] == (5 * X_NEW).max(axis=0)[0]
    assert (updated.limits[:, 1] > 10).all()
    assert np.isclose(updated.profile.mean, (2 * X_OLD.mean(axis=0) + 5 * X_NEW.mean(axis=0)) / 3).all()


@pytest.mark.parametrize(("link", "n_outputs"), [("logit", 1), ("softmax", 3)])
def test_classes_move_by_their_log_loss(link, n_outputs):
    model = make_model(link, n_outputs)
    labels = RNG.integers(0, n_outputs + (link == "logit"), len(X_NEW))
    y = (labels[:, None] == (np.arange(n_outputs) + (link == "logit"))).astype(float)
    updated = update_formulas(model, make_rows(X_NEW, y))

    def find_loss(rules):
        chance = rules.predict(X_NEW).reshape(len(X_NEW), -1)
        return -np.mean(y * np.log(chance) + (link == "logit") * (1 - y) * np.log(1 - chance))

    assert find_loss(updated) < find_loss(model) - (link == "logit") * 0.01
    again = update_formulas(model, make_rows(X_NEW, model.predict(X_NEW)))
    np.testing.assert_allclose(again.predict(X_NEW), model.predict(X_NEW), atol=1e-5)


def test_rules_without_a_profile_are_refused():
    model = make_model()
    bare = RuleModel([replace(part, profile=None) for part in model.parts])
    with pytest.raises(ValueError, match=r"number of rows .* is not known"):
        update_formulas(bare, make_rows(X_NEW, np.zeros(len(X_NEW))))
