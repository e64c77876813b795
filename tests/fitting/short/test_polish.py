"""The loss of a draft: its gradient, its curvature, and steps that lower it."""

from dataclasses import replace

import numpy as np
import pytest

from takagi.fitting._short._draft import SumDraft, Task
from takagi.fitting._short._frame import find_weights, measure_loss, open_frame
from takagi.fitting._short._polish import (
    WIDTHS,
    invert_weights,
    normal_equations,
    polish,
    solve_normal,
    solve_weights,
    within_bounds,
)


def make_case(rng, n_outputs=1, agreement=0.3, n_rows=60, has_missing=False):
    """A task of four features and two bends, and a draft of two parts, one of which always holds."""
    Z = rng.normal(size=(n_rows, 4))
    seen = (rng.random(Z.shape) < 0.7).astype(float) if has_missing else None
    Z = Z if seen is None else Z * seen
    columns = np.column_stack([Z, np.maximum(Z[:, :2], 0)])
    weight = rng.uniform(0.5, 2, size=n_rows)
    task = Task(
        Z, columns, rng.normal(size=(n_rows, n_outputs)), weight / weight.sum(), agreement,
        ridge=0.01, smoothness=0.02, bend_price=0.0, low=Z.min(axis=0), high=Z.max(axis=0), seen=seen,
    )  # fmt: skip
    widths = np.full((4, 4), np.inf)
    widths[:3, :2] = rng.uniform(0.5, 1.5, size=(3, 2))
    uses = rng.random((4, 6)) < 0.6
    weights = rng.normal(size=(4, n_outputs, 7))
    draft = SumDraft(rng.normal(size=(4, 4)).clip(-1, 1), widths, weights, uses, np.array([0, 0, 0, 1])).use(uses)
    return draft, task


def shift(draft, step):
    """The draft with another vector of parameters: weights, centers, log widths."""
    (rules, columns), (asking, asked) = find_weights(draft), np.nonzero(draft.asks)
    weights, centers, widths = draft.weights.copy(), draft.centers.copy(), draft.widths.copy()
    for o in range(weights.shape[1]):
        weights[rules, o, columns] += step[o * len(rules) : (o + 1) * len(rules)]
    by, stretch = np.split(step[-2 * len(asking) :], 2)
    centers[asking, asked] += by
    widths[asking, asked] *= np.exp(stretch)
    return replace(draft, weights=weights, centers=centers, widths=widths)


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("agreement", [0.0, 0.3, 1.0])
def test_the_gradient_equals_finite_differences(n_outputs, agreement, has_missing):
    rng = np.random.default_rng(0)
    draft, task = make_case(rng, n_outputs, agreement, has_missing=has_missing)
    _, downhill = normal_equations(draft, task)
    for _ in range(5):
        way = rng.normal(size=len(downhill))
        slope = (measure_loss(shift(draft, 1e-5 * way), task) - measure_loss(shift(draft, -1e-5 * way), task)) / 2e-5
        assert -2 * downhill @ way == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_with_full_agreement_a_single_part_is_judged_rule_by_rule():
    draft, task = make_case(np.random.default_rng(1), agreement=1.0)
    draft = draft.take(np.arange(3))
    task = replace(task, ridge=0.0, smoothness=0.0)
    share, outputs = draft.shares(task.Z), draft.outputs(task.columns)[0]
    by_rule = (share * (task.target - outputs) ** 2).sum(axis=1)
    assert measure_loss(draft, task) == pytest.approx(task.weight @ by_rule)


def test_the_loss_is_that_of_its_definition():
    draft, task = make_case(np.random.default_rng(2), n_outputs=2)
    total = 0.0
    for z, columns, target, weight in zip(task.Z, task.columns, task.target, task.weight, strict=True):
        firing = np.exp(-0.5 * (((z - draft.centers) / draft.widths) ** 2).sum(axis=1))
        for o in range(2):
            said, apart = 0.0, 0.0
            for part in (0, 1):
                own = draft.part == part
                share = firing[own] / firing[own].sum()
                formulas = draft.weights[own, o, 0] + draft.weights[own, o, 1:] @ columns
                said += share @ formulas
                apart += share @ (formulas - share @ formulas) ** 2
            total += weight * ((target[o] - said) ** 2 + 0.3 * apart) / 2
    total += 0.01 * (draft.weights[:, :, 1:] ** 2).sum() / 2 + 0.02 * (draft.widths[draft.asks] ** -2.0).sum()
    assert measure_loss(draft, task) == pytest.approx(total)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_solved_weights_cannot_be_improved(n_outputs):
    rng = np.random.default_rng(3)
    draft, task = make_case(rng, n_outputs)
    solved = solve_weights(draft, task)
    _, downhill = normal_equations(solved, task)
    n_weights = n_outputs * len(find_weights(draft)[0])
    np.testing.assert_allclose(downhill[:n_weights], 0, atol=1e-5)


def test_polishing_lowers_the_loss_and_keeps_within_bounds():
    draft, task = make_case(np.random.default_rng(4), n_rows=200)
    task = replace(task, low=np.full(4, -0.5), high=np.full(4, 0.5))
    before = within_bounds(draft, task)
    after, loss = polish(before, task, 30)
    assert loss == measure_loss(after, task) < measure_loss(before, task)
    assert (after.asks == draft.asks).all()
    assert np.abs(after.centers[after.asks]).max() <= 0.5
    assert WIDTHS[0] <= after.widths[after.asks].min() <= after.widths[after.asks].max() <= WIDTHS[1]
    assert not after.weights[:, :, 1:][~np.repeat(after.uses[:, None], 1, axis=1)].any()


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("has_sets", [True, False])
def test_blocks_are_solved_and_inverted_as_the_whole(n_outputs, has_sets):
    draft, task = make_case(np.random.default_rng(4), n_outputs)
    draft = draft if has_sets else replace(draft, widths=np.full_like(draft.widths, np.inf))
    curvature, downhill = normal_equations(draft, task)
    curvature += np.diag(0.01 * np.diag(curvature) + 1e-6)
    np.testing.assert_allclose(
        solve_normal(curvature, downhill, draft), np.linalg.solve(curvature, downhill), rtol=1e-7
    )
    diagonal = np.diag(np.linalg.inv(curvature))[: n_outputs * len(find_weights(draft)[0])]
    np.testing.assert_allclose(invert_weights(curvature, draft).ravel(), diagonal, rtol=1e-7)


@pytest.mark.parametrize("has_missing", [False, True])
def test_a_frame_says_what_the_draft_says(has_missing):
    draft, task = make_case(np.random.default_rng(5), n_outputs=2, has_missing=has_missing)
    draft = draft.pick(np.array([0, 3, 1, 2]))  # a part whose rules do not lie side by side
    frame, values = open_frame(draft, task)
    response = frame.respond(values)
    share, outputs = draft.shares(task.Z, task.seen), draft.outputs(task.columns)
    said = (share * outputs).sum(axis=2)
    np.testing.assert_allclose(response.share.T, share, atol=1e-12)
    np.testing.assert_allclose(response.error.T, task.target - said.T, atol=1e-12)
    apart = outputs - (share * outputs) @ draft.together
    np.testing.assert_allclose(response.apart.transpose(0, 2, 1), apart, atol=1e-12)
    same = values.put_into(draft, frame)
    assert all((getattr(same, name) == getattr(draft, name)).all() for name in ("centers", "widths", "weights"))
