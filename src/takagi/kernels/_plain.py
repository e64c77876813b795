"""What needs no training, in NumPy: used where numba is missing or told not to compile.

Numbers equal those of compiled code to about twelve digits. Work goes in blocks, so that memory stays small.
"""

import numpy as np

from takagi.kernels._arrays import from_lanes, split

_NUMBERS_PER_BLOCK = 2**18
_REACH = 5.0  # widths, as in the compiled code


def predict_rows(theta, shape, columns, X, prediction, share):
    """Fill `prediction` (n_rows, n_outputs) and, unless it has no rows, `share` (n_rows, n_rules)."""
    parts = split(theta, shape)
    usual = None if columns.usual is None else from_lanes(columns.usual, shape.n_rules, shape.n_features)
    for here in _blocks(len(X), max(shape.n_rules, X.shape[1])):
        firing = _share_rows(parts, X[here], usual is not None)
        inputs = _augment(X[here], parts.get("consequent_projection"))
        absent = np.isnan(inputs) if usual is not None else None
        inputs = inputs if usual is None else np.where(absent, 0.0, inputs)
        for q in range(shape.n_outputs):
            weights = parts["consequents"][:, q]
            outputs = inputs @ weights[:, 1:].T + weights[:, 0]
            if usual is not None:
                outputs += absent @ (weights[:, 1:] * usual).T
            prediction[here, q] = (firing * outputs).sum(axis=1)
        if len(share):
            share[here] = firing


def _share_rows(parts, X, has_missing):
    """Return normalized firing levels; the limits are those of `share_rows` in the compiled code."""
    add_up = np.nansum if has_missing else np.sum
    inputs = _augment(X, parts.get("antecedent_projection"))
    distance = np.empty((len(X), len(parts["centers"])))
    with np.errstate(over="ignore"):  # what overflows is far away
        for r, (center, width) in enumerate(zip(parts["centers"], parts["widths"], strict=True)):
            distance[:, r] = add_up(((inputs - center) / width) ** 2, axis=1) / 2
    distance = np.minimum(distance, 1e300)
    firing = np.exp(np.maximum(distance.min(axis=1, keepdims=True) - distance, -650.0))
    return firing / firing.sum(axis=1, keepdims=True)


def _augment(X, projection):
    return X if projection is None else np.hstack([projection[0] + X @ projection[1:], X])


def blend_rows(queries, own, rows, weight, values, damping, blended, fired):
    """Set what `values` blend to at each query, its own row (-1 for none) left out, and the sum of firing levels."""
    for here in _blocks(len(queries), len(weight)):
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite damping lets nothing through
            firing = weight * np.exp(-0.5 * _measure_squares(queries[here], rows.T, _REACH**2))
            firing[own[here, None] == np.arange(len(weight))] = 0.0
            total = damping + firing.sum(axis=1)
            blended[here] = firing @ values / total
            fired[here] = total - damping


def _measure_squares(queries, rows, limit=np.inf):
    """Return squared distances of all pairs, infinite beyond a limit."""
    squares = np.zeros((len(queries), len(rows)))
    for query, column in zip(queries.T, rows.T, strict=True):
        squares += (query[:, None] - column) ** 2
    return np.where(squares <= limit, squares, np.inf)


def assign_memberships(X, weight, membership, m, n_clusters, work, n_blocks):
    """Set `membership` from the distances to the centers in ``-work.offset``; return the objective before that."""
    centers, objective = -from_lanes(work.offset, n_clusters, X.shape[1]), 0.0
    for here in _blocks(len(X), n_clusters):
        squares = np.maximum(_measure_squares(X[here], centers), np.finfo(float).eps ** 2)
        objective += float((weight[here, None] * squares * membership[here, :n_clusters] ** m).sum())
        levels = (squares.min(axis=1, keepdims=True) / squares) ** (1.0 / (m - 1.0))
        shares = levels / levels.sum(axis=1, keepdims=True)
        membership[here, :n_clusters] = np.maximum(shares, np.finfo(float).eps)
    return objective


def _blocks(n_rows, n_columns):
    """Yield slices of rows of at most so many numbers."""
    size = max(1, _NUMBERS_PER_BLOCK // n_columns)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def _refuse(*_):
    raise ImportError(
        "Training needs numba, which compiles it: pip install numba; if it is installed, unset NUMBA_DISABLE_JIT. "
        "Models that are trained predict and explain without it."
    )


draw_batches = iterate_fuzzy_cmeans = score_widths = _refuse
train_block = find_gradient = move_parameters = judge_iterate = weighted_loss = _refuse
