"""Moves that make rules smaller, each with the cost of its candidates before re-estimation."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from takagi._text import count
from takagi._typing import FloatArray, IntArray
from takagi.simplification._draft import Draft, View, mix, normalize
from takagi.simplification._refit import price_terms

_TINY = 1e-300
_MAX_PAIRS = 400  # of neighboring sets that are priced, those nearest to each other
_LOST = 1e-6  # where the other rules' share is below, a difference of shares has lost its digits

Move = tuple[str, Draft]  # the action as text, and the new draft


def propose_moves(view: View, budget: int, names: Sequence[str]) -> Iterator[Move]:
    """Yield the best moves of each family, of about `budget` words where a move is not one whole."""
    if view.draft.n_rules > 1:
        if view.draft.has_condition.any():
            yield _drop_conditions(view, max(1, budget // 2))
            yield _drop_inputs(view, budget // 4, names)
        yield _drop_rule(view)
        yield from _merge_rules(view)
        yield from _merge_sets(view, budget)
    yield from _drop_terms(view, budget)


# -- conditions --------------------------------------------------------------------------------------------------------


def _drop_conditions(view: View, n_drops: int) -> Move:
    cheapest = _find_cheapest(price_conditions(view), n_drops)
    draft = view.draft.copy()
    draft.widths.flat[cheapest] = np.inf
    return f"drop {count(len(cheapest), 'condition')}", draft


def price_conditions(view: View) -> FloatArray:
    """Return by how much the error grows when a condition is dropped, of shape (n_rules, n_inputs).

    Without its condition on an input a rule's firing level grows by the factor ``exp(z^2 / 2)``, those of the others
    stay, and so the prediction moves from ``P`` by the part ``(a - g) / (1 - g)`` of ``o - P``, where ``o`` is the
    rule's output and ``g`` and ``a`` are its shares before and after. Infinite where there is no condition.
    """
    draft, rows = view.draft, view.rows
    price = np.full(draft.widths.shape, np.inf)
    for r, used in enumerate(draft.has_condition):
        z = (rows.conditions[:, used] - draft.centers[r, used]) / draft.widths[r, used]
        share = np.maximum(view.share[:, r, None], _TINY)
        others = np.maximum(1 - view.share[:, r, None], _TINY)
        log_new = np.log(share) + 0.5 * z * z
        top = np.maximum(log_new, 0)
        new = np.exp(log_new - top)
        part = (new / (new + others * np.exp(-top)) - share) / others
        move = view.outputs[:, r] - view.prediction
        slope = rows.weight * ((rows.target - view.prediction) * move).sum(axis=1)
        price[r, used] = -2 * slope @ part + (rows.weight * (move**2).sum(axis=1)) @ part**2
    return price


def _drop_inputs(view: View, n_drops: int, names: Sequence[str]) -> Move:
    """Drop the conditions of all rules on an input, or on several where there are many."""
    draft, inputs = view.draft.copy(), view.rows.conditions
    n_conditions = draft.has_condition.sum(axis=0)
    price = np.full(len(n_conditions), np.inf)
    for m in np.flatnonzero(n_conditions):
        z = (inputs[:, m, None] - draft.centers[:, m]) / draft.widths[:, m]
        without = mix(normalize(view.log_firing + 0.5 * z * z), view.outputs)
        price[m] = (view.rows.score(without) - view.error) / n_conditions[m]
    n_inputs = max(1, int(n_drops / n_conditions[n_conditions > 0].mean()))
    cheapest = _find_cheapest(price, n_inputs)
    draft.widths[:, cheapest] = np.inf
    shown = names[cheapest[0]] if len(cheapest) == 1 else f"{len(cheapest)} inputs"
    return f"drop all conditions on {shown}", draft


# -- rules -------------------------------------------------------------------------------------------------------------


def _drop_rule(view: View) -> Move:
    price = price_rules(view)
    return "drop a rule", view.draft.take(np.delete(np.arange(len(price)), price.argmin()))


def price_rules(view: View) -> FloatArray:
    """Return by how much the error grows when a rule is dropped and the others take over its share."""
    price = np.empty(view.draft.n_rules)
    for r in range(len(price)):
        others = 1 - view.share[:, r, None]
        is_lost = others[:, 0] < _LOST
        without = (view.prediction - view.share[:, r, None] * view.outputs[:, r]) / np.maximum(others, _LOST)
        if is_lost.any():
            log_firing, outputs = (np.delete(part[is_lost], r, axis=1) for part in (view.log_firing, view.outputs))
            without[is_lost] = mix(normalize(log_firing), outputs)
        price[r] = view.rows.score(without) - view.error
    return price


def _merge_rules(view: View) -> Iterator[Move]:
    """Merge the two most similar rules, and the one of least share with the one most similar to it."""
    overlap = view.share.T @ (view.share * view.rows.weight[:, None])
    size = np.sqrt(np.maximum(overlap.diagonal(), _TINY))
    similarity = overlap / size / size[:, None]
    np.fill_diagonal(similarity, -1.0)
    least = int(view.mean_share.argmin())
    closest = divmod(int(similarity.argmax()), len(size))
    pairs = {tuple(sorted(pair)) for pair in (closest, (least, int(similarity[least].argmax())))}
    for a, b in sorted(pairs):
        yield "merge two rules", _merge_pair(view, a, b)


def _merge_pair(view: View, a: int, b: int) -> Draft:
    """Put the mean of two rules by share, wide enough for both, in place of the first."""
    draft = view.draft.copy()
    weight = np.maximum(view.mean_share[[a, b]], _TINY)
    p, q = weight / weight.sum()
    is_set = draft.has_condition[a] & draft.has_condition[b]
    is_own = draft.sets[a] != draft.sets[b]  # else they share the set, and keep it
    between = p * q * (draft.centers[a] - draft.centers[b]) ** 2
    width = np.sqrt(p * draft.widths[a] ** 2 + q * draft.widths[b] ** 2 + between)
    center = p * draft.centers[a] + q * draft.centers[b]
    draft.widths[a] = np.where(is_own, width, draft.widths[a])
    draft.widths[a, ~is_set] = np.inf
    draft.centers[a] = np.where(is_own, center, draft.centers[a])
    draft.sets[a] = np.where(is_own, draft.sets.max() + 1, draft.sets[a])
    draft.consequents[a] = p * draft.consequents[a] + q * draft.consequents[b]
    draft.is_active[a] |= draft.is_active[b]
    return draft.take(np.delete(np.arange(draft.n_rules), b))


# -- sets --------------------------------------------------------------------------------------------------------------


def _merge_sets(view: View, n_merges: int) -> Iterator[Move]:
    """Merge neighboring sets of an input, the cheapest first, each set with one other at most."""
    near = sorted(_list_neighbors(view.draft))[: max(_MAX_PAIRS, 2 * n_merges)]
    pairs = sorted((price_merge(view, m, pair), m, pair) for _, m, pair in near)
    if not pairs:
        return
    draft = view.draft.copy()
    taken: set[tuple[int, int]] = set()
    for _, m, pair in pairs:
        own = {(m, label) for label in pair}
        if len(taken) < 2 * n_merges and not own & taken:
            rules, center, width = _join_sets(view, m, pair)
            draft.centers[rules, m], draft.widths[rules, m], draft.sets[rules, m] = center, width, pair[0]
            taken |= own
    yield f"merge {count(len(taken) // 2, 'pair')} of sets", draft


def _list_neighbors(draft: Draft) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """Yield sets of an input between whose centers there is no other: their distance in widths, input and labels."""
    for m, used in enumerate(draft.has_condition.T):
        labels, first = np.unique(draft.sets[used, m], return_index=True)
        centers, widths = draft.centers[used, m][first], draft.widths[used, m][first]
        for a, b in pairwise(np.argsort(centers, kind="stable")):
            distance = (centers[b] - centers[a]) / (widths[a] + widths[b])
            yield float(distance), m, (int(labels[a]), int(labels[b]))


def price_merge(view: View, m: int, pair: tuple[int, int]) -> float:
    """Return by how much the error grows when the rules of two sets of an input have one between them instead."""
    rules, center, width = _join_sets(view, m, pair)
    column = view.rows.conditions[:, m, None]
    old = (column - view.draft.centers[rules, m]) / view.draft.widths[rules, m]
    growth = 0.5 * old**2 - 0.5 * ((column - center) / width) ** 2  # of the logarithm of the firing levels
    top = np.maximum(growth.max(axis=1, keepdims=True), 0)
    kept = np.exp(-top)
    gain = view.share[:, rules] * (np.exp(growth - top) - kept)
    total = np.maximum(kept + gain.sum(axis=1, keepdims=True), _LOST * kept)
    moved = (kept * view.prediction + mix(gain, view.outputs[:, rules])) / np.maximum(total, _TINY)
    return view.rows.score(moved) - view.error


def _join_sets(view: View, m: int, pair: tuple[int, int]) -> tuple[IntArray, float, float]:
    """Return the rules of two sets, and the set of the mean center and the geometric mean width, by share."""
    draft = view.draft
    rules = np.flatnonzero(draft.has_condition[:, m] & np.isin(draft.sets[:, m], pair))
    weight = np.maximum(view.mean_share[rules], _TINY)
    weight /= weight.sum()
    return rules, float(weight @ draft.centers[rules, m]), float(np.exp(weight @ np.log(draft.widths[rules, m])))


# -- terms -------------------------------------------------------------------------------------------------------------


def _drop_terms(view: View, n_drops: int) -> Iterator[Move]:
    cheapest = _find_cheapest(price_terms(view), n_drops)
    if len(cheapest):
        draft = view.draft.copy()
        draft.consequents.flat[cheapest] = 0.0
        draft.is_active.flat[cheapest] = False
        yield f"drop {count(len(cheapest), 'term')}", draft


def _find_cheapest(price: FloatArray, n_most: int) -> IntArray:
    """Return the places of the smallest prices, as many as there are of finite ones."""
    return np.argsort(price, axis=None, kind="stable")[: min(n_most, int(np.isfinite(price).sum()))]
