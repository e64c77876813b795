"""The algorithm of the paper in plain NumPy: the oracle that takagi is tested against.

Written from the paper (Shi et al., 2021) and from the notes on what the authors' Matlab code does where the text is
silent, to be read beside them: one function a step, no cleverness, nothing imported from takagi. Letters are the
paper's: n rows, r rules, m inputs, and o for outputs, of which the paper has one.

Firing levels can underflow to zero. `underflow="log"` normalizes them in log space, where they cannot; that is takagi's
way. `underflow="authors"` multiplies memberships as the authors' code does and follows what it does with zeros, which
is spelled out in `fire`, `predict` and `hold`. Both give the same numbers until a firing level is too small to be told
from zero; `History.underflowed` tells where. `underflow="pairs"` is "log" with slopes that do not cancel where one rule
has nearly all of the share: the difference tells how much rounding matters.
"""

from dataclasses import dataclass, field, replace

import numpy as np

TINY = np.finfo(float).tiny  # below it doubles lose digits
EPSILON = np.finfo(float).eps

# -- The model: equations (1) to (4) -----------------------------------------------------------------------------------


@dataclass
class Rules:
    """All parameters. Projections have a bias row first; they come before the features among the inputs."""

    C: np.ndarray  # (r, m) centers
    S: np.ndarray  # (r, m) standard deviations
    W: np.ndarray  # (r, o, 1 + m) consequents, bias first
    PA: np.ndarray | None = None  # (1 + features, d) projection of the antecedents
    PC: np.ndarray | None = None  # (1 + features, d) projection of the consequents
    tied: bool = False  # one projection in both places
    sets: np.ndarray | None = None  # (r, m) which set of input m rule r uses, where rules share sets


PARAMETERS = ("C", "S", "W", "PA", "PC")


def bias_and(X):
    return np.column_stack([np.ones(len(X)), X])


def augment(X, P):
    """The inputs of antecedents or consequents: X, or [X P, X]."""
    return X if P is None else np.column_stack([bias_and(X) @ P, X])


def departures(rules, X):
    """How many widths row n is away from rule r in input m."""
    return (augment(X, rules.PA)[:, None, :] - rules.C) / rules.S


def memberships(rules, X):
    return np.exp(-(departures(rules, X) ** 2) / 2)


def log_firing(rules, X):
    return -(departures(rules, X) ** 2).sum(axis=2) / 2


def rule_outputs(rules, X):
    return np.einsum("nm,rom->nro", bias_and(augment(X, rules.PC)), rules.W)


@dataclass
class Fired:
    """What the rules say of some rows."""

    share: np.ndarray  # (n, r) normalized firing levels
    output: np.ndarray  # (n, o) predictions; not a number where no rule fires
    slope: np.ndarray  # (n, r, o) derivative of the output by the log of a firing level
    kept: np.ndarray  # (n, r) the rules that were used
    ignored_mask: np.ndarray  # (n,) whether the kept rules were silent, so that all were used (authors' rules)
    small: np.ndarray  # (n,) whether the square of the sum of firing levels underflows or loses digits (theirs too)

    @property
    def graded(self):
        """Whether the row adds to the gradient: not so where its slopes are not finite (authors' rules)."""
        return np.isfinite(self.slope).all(axis=(1, 2))


def fire(rules, X, keep=None, underflow="log"):
    """Normalized firing levels of the kept rules, outputs, and their slopes; a row that keeps no rule keeps all."""
    Y = rule_outputs(rules, X)
    keep = np.ones((len(X), len(rules.C)), dtype=bool) if keep is None else np.array(keep)
    keep[~keep.any(axis=1)] = True
    if underflow in ("log", "pairs"):
        z = np.where(keep, log_firing(rules, X), -np.inf)
        f = np.exp(z - z.max(axis=1, keepdims=True))
        share = f / f.sum(axis=1, keepdims=True)
        output = np.einsum("nr,nro->no", share, Y)
        slope = share[:, :, None] * (Y - output[:, None, :])
        if underflow == "pairs":
            slope = np.einsum("nr,nq,nrqo->nro", share, share, Y[:, :, None, :] - Y[:, None, :, :])
        return Fired(share, output, slope, keep, *np.zeros((2, len(X)), dtype=bool))

    f_all = memberships(rules, X).prod(axis=2)
    f = np.where(keep, f_all, 0.0)
    silent = f.sum(axis=1) == 0  # nothing kept fires: all rules are used
    f[silent], keep[silent] = f_all[silent], True
    total = f.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        share = f / total  # not a number where all rules are silent
        output = np.einsum("nr,nro->no", share, Y)
        sums = np.einsum("nr,nro->no", f, Y)
        # Their order of operations: where the square of the sum underflows, this is not finite.
        slope = (Y * total[:, :, None] - sums[:, None, :]) / (total**2)[:, :, None] * f[:, :, None]
    return Fired(share, output, slope, keep, silent, total[:, 0] ** 2 < TINY)


def predict(rules, X, underflow="log"):
    """Outputs of all rows; under the authors' rules a silent row gets the mean of the others."""
    output = fire(rules, X, underflow=underflow).output
    silent = np.isnan(output).any(axis=1)
    if silent.any() and not silent.all():
        output[silent] = output[~silent].mean(axis=0)
    return output


def rmse(output, y, weight):
    """Root of the weighted mean squared error over rows and outputs; rows without a prediction do not count."""
    counted = ~np.isnan(output).any(axis=1)
    if not counted.any():
        return np.nan
    square = (weight[:, None] * (output - y) ** 2)[counted].sum()
    return np.sqrt(square / (weight[counted].sum() * y.shape[1]))


# -- The loss (5) and its gradient -------------------------------------------------------------------------------------


def respond(output):
    """Probabilities: the logistic function of one output, the softmax of several."""
    if output.shape[1] == 1:
        return 1 / (1 + np.exp(-output))
    return np.exp(output) / np.exp(output).sum(axis=1, keepdims=True)


def log_loss(output, y):
    """Minus the log of the probability of the class, per row; with one output the other class has the rest. (Not in
    the paper.)"""
    p = respond(output)
    if output.shape[1] == 1:
        p, y = np.hstack([p, respond(-output)]), np.hstack([y, 1 - y])  # 1 - p would cancel where p is almost 1
    return -(y * np.log(p)).sum(axis=1)


def mean_loss(output, y, weight, kind):
    """What is reported: the RMSE, or the weighted mean of the log loss."""
    return rmse(output, y, weight) if kind == "squared" else (weight * log_loss(output, y)).sum() / weight.sum()


def disagreement(rules, X, keep=None):
    """The variance of the outputs of the rules about the prediction, summed over outputs, per row. (Not in the paper.)

    It is taken over all pairs of rules, so that no prediction is needed.
    """
    share, Y = fire(rules, X, keep).share, rule_outputs(rules, X)
    return np.einsum("nr,nq,nrqo->n", share, share, (Y[:, :, None, :] - Y[:, None, :, :]) ** 2) / 2


def disagreement_slopes(share, Y):
    """The derivatives of half of it by the output of a rule, (n, r, o), and by the log of a firing level, (n, r)."""
    apart = Y[:, :, None, :] - Y[:, None, :, :]
    by_output = np.einsum("nr,nq,nrqo->nro", share, share, apart)
    by_share = np.einsum("nq,nrqo->nr", share, apart**2) / 2
    share_by_log = share[:, :, None] * (np.eye(share.shape[1]) - share[:, None, :])  # of r by k
    return by_output, np.einsum("nr,nrk->nk", by_share, share_by_log)


def unevenness(share, weight):
    """The sum over rules of the squared mean share, over all pairs of rows. (Cui et al., 2020; not in the paper.)"""
    part = weight / weight.sum() if weight.any() else weight
    return np.einsum("n,k,nr,kr->", part, part, share, share)


def unevenness_slopes(share, weight):
    """The derivative of it by the log of a firing level, (n, r), times the sum of the weights."""
    part = weight / weight.sum() if weight.any() else weight
    by_share = 2 * weight[:, None] * (part @ share)
    share_by_log = share[:, :, None] * (np.eye(share.shape[1]) - share[:, None, :])  # of r by k
    return np.einsum("nr,nrk->nk", by_share, share_by_log)


def loss(rules, X, y, weight, l2, keep=None, smoothness=0.0, agreement=0.0, uniformity=0.0, kind="squared"):
    """Half the weighted squared error, or the log loss, summed over the batch, and the penalties.

    One is on all consequents but the bias; the others, which are not in the paper, are on narrow sets and, for each
    row, on rules that disagree and on uneven mean shares.
    """
    fired = fire(rules, X, keep)
    output, uneven = fired.output, uniformity * weight.sum() * unevenness(fired.share, weight)
    penalty = l2 / 2 * (rules.W[:, :, 1:] ** 2).sum() + smoothness / 2 * (rules.S**-2.0).sum()
    lost = ((output - y) ** 2).sum(axis=1) / 2 if kind == "squared" else log_loss(output, y)
    return (weight * (lost + agreement / 2 * disagreement(rules, X, keep))).sum() + penalty + uneven


def gradient(
    rules, X, y, weight, l2, keep=None, smoothness=0.0, agreement=0.0, uniformity=0.0, underflow="log", kind="squared"
):
    """The derivative of `loss` by every parameter, as Rules, and what fired."""
    fired = fire(rules, X, keep, underflow)
    good = fired.graded
    X, share, slope = X[good], fired.share[good], fired.slope[good]
    response = fired.output if kind == "squared" else respond(fired.output)
    error = weight[good, None] * (response[good] - y[good])
    pull = np.einsum("no,nro->nr", error, slope)  # derivative of the loss by log f
    push = np.einsum("no,nr->nro", error, share)  # and by the outputs of the rules
    if agreement:
        by_output, by_log = disagreement_slopes(share, rule_outputs(rules, X))
        pull = pull + agreement * weight[good, None] * by_log
        push = push + agreement * weight[good, None, None] * by_output
    if uniformity:
        pull = pull + uniformity * unevenness_slopes(share, weight[good])
    Z = departures(rules, X)

    C = np.einsum("nr,nrm->rm", pull, Z) / rules.S
    S = np.einsum("nr,nrm->rm", pull, Z**2) / rules.S - smoothness / rules.S**3
    W = np.einsum("nro,nm->rom", push, bias_and(augment(X, rules.PC)))
    W[:, :, 1:] += l2 * rules.W[:, :, 1:]
    PA = PC = None
    if rules.PA is not None:
        by_input = -np.einsum("nr,nrm->nm", pull, Z / rules.S)[:, : rules.PA.shape[1]]
        PA = bias_and(X).T @ by_input
    if rules.PC is not None:
        by_input = np.einsum("nro,rom->nm", push, rules.W[:, :, 1 : 1 + rules.PC.shape[1]])
        PC = bias_and(X).T @ by_input
    if rules.tied:
        PA = PC = PA + PC
    if rules.sets is not None:  # a shared set gets the sum over the rules that use it
        same = rules.sets[:, None, :] == rules.sets[None, :, :]
        C, S = np.einsum("rqm,qm->rm", same, C), np.einsum("rqm,qm->rm", same, S)
    return Rules(C, S, W, PA, PC), fired


# -- The update: Powerball and Table IV --------------------------------------------------------------------------------


def powerball(g, gamma):
    return np.sign(g) * np.abs(g) ** gamma


def step(rule, g, m, v, t, rate, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """The step of iteration t (from 1) for one array of parameters, and the new moments m and v."""
    if rule == "sgdm":
        m = beta1 * m + g
        return rate * m, m, v
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * (g - m if rule == "adabelief" else g) ** 2
    scale = rate / (np.sqrt(v / (1 - beta2**t)) + epsilon)
    if rule == "adabound":
        scale = np.clip(scale, rate * (1 - 1 / ((1 - beta2) * t + 1)), rate * (1 + 1 / ((1 - beta2) * t)))
    return scale * m / (1 - beta1**t), m, v


# -- Training: Algorithm 1 ---------------------------------------------------------------------------------------------


@dataclass
class Settings:
    rule: str = "adabelief"
    learning_rate: float = 0.01
    powerball: float = 0.5
    l2: float = 0.05
    smoothness: float = 0.0
    agreement: float = 0.0
    uniformity: float = 0.0
    schedule: str = "constant"
    averaging: float = 0.0
    loss: str = "squared"  # or "log"
    max_iter: int | None = None  # of the cosine schedule; None: as many as there are batches
    width_floor: float | None = None  # None: a tenth of the smallest initial width, all of it where rules share sets
    underflow: str = "log"  # or "pairs" or "authors"
    constants: dict = field(default_factory=dict)  # beta1, beta2, epsilon


@dataclass
class History:
    train: np.ndarray  # (t,) RMSE of the batch, before the update
    scores: np.ndarray  # (number of sets, t) RMSE of the validation set and of any others, after the update
    best_iter: int  # from 1
    rules: list  # (t) what was scored: the rules after the update, or their running mean
    underflowed: np.ndarray  # (t,) whether one of the authors' rules for underflow was applied, training or scoring
    fired: list  # (t) what fired in the batch

    @property
    def best(self):
        return self.rules[self.best_iter - 1]

    @property
    def curves(self):
        return np.array([self.train, *self.scores])


def average(mean, rules, decay, t):
    """A running mean of the parameters, and the same corrected for its start at zero."""
    groups = [name for name in PARAMETERS if getattr(rules, name) is not None]
    mean = {name: decay * mean.get(name, 0.0) + (1 - decay) * getattr(rules, name) for name in groups}
    return mean, replace(rules, **{name: value / (1 - decay**t) for name, value in mean.items()})


def train(rules, data, scored, batches, keep=None, settings=None):
    """Train on `data`, a triple (X, y, weight). The first of the triples in `scored` chooses the best iteration.

    Without any the last iteration is the best. The initial rules are no candidate.
    """
    s = settings or Settings()
    X, y, weight = data
    floor = rules.S.min() * (0.1 if rules.sets is None else 1.0) if s.width_floor is None else s.width_floor
    rules = replace(rules, S=np.maximum(rules.S, floor))  # the start is in the feasible set
    moments = dict.fromkeys(PARAMETERS, (0.0, 0.0))
    mean, best_iter, lowest = {}, 0, np.inf
    curve, scores, trace, firings, underflowed = [], [], [], [], []
    for t, rows in enumerate(batches, start=1):
        kept = None if keep is None else keep[t - 1]
        penalties = {name: getattr(s, name) for name in ("l2", "smoothness", "agreement", "uniformity")}
        batch = X[rows], y[rows], weight[rows]
        g, fired = gradient(rules, *batch, keep=kept, underflow=s.underflow, kind=s.loss, **penalties)
        curve.append(mean_loss(fired.output, y[rows], weight[rows], s.loss))
        rate = s.learning_rate
        if s.schedule == "cosine":
            rate *= 0.5 * (1 + np.cos(np.pi * (t - 1) / (s.max_iter or len(batches))))
        for name in PARAMETERS:
            if getattr(rules, name) is not None:
                slope = powerball(getattr(g, name), s.powerball)
                change, *moments[name] = step(s.rule, slope, *moments[name], t, rate, **s.constants)
                rules = replace(rules, **{name: getattr(rules, name) - change})
        rules = replace(rules, S=np.maximum(rules.S, floor))
        candidate = rules
        if s.averaging:
            mean, candidate = average(mean, rules, s.averaging, t)
        scores.append([mean_loss(predict(candidate, Q, s.underflow), target, w, s.loss) for Q, target, w in scored])
        trace.append(candidate)
        firings.append(fired)
        applied = (fired.ignored_mask | fired.small).any()
        underflowed.append(s.underflow == "authors" and (applied or loses_digits(candidate, scored)))
        if not scored or scores[-1][0] < lowest:
            lowest, best_iter = scores[-1][0] if scored else np.inf, t
    if s.underflow == "authors":
        curve, *scores = (hold(values) for values in (curve, *np.transpose(scores)))
    else:
        scores = np.transpose(scores)
    return History(np.array(curve), np.array(scores), best_iter, trace, np.array(underflowed), firings)


def hold(curve):
    """A RMSE that is not a number is replaced by that of the iteration before (authors' rules)."""
    for t in range(1, len(curve)):
        if np.isnan(curve[t]):
            curve[t] = curve[t - 1]
    return curve


def loses_digits(rules, scored):
    """Whether the firing levels of some scored row are so small that they have lost digits, or are zero."""
    return any((memberships(rules, X).prod(axis=2).sum(axis=1) < TINY / EPSILON).any() for X, _, _ in scored)


# -- The start: fuzzy c-means or a grid --------------------------------------------------------------------------------


def fuzzy_cmeans(X, U, m=2.0, tol=1e-3, max_iter=100):
    """Centers, memberships (clusters x rows) and the objective of every iteration, from given memberships.

    The objective takes the memberships from before the update and the centers from after it; the returned
    memberships are updated once more than the centers.
    """
    objective = []
    for t in range(max_iter):
        weight = U**m
        centers = weight @ X / weight.sum(axis=1, keepdims=True)
        distance = np.maximum(np.linalg.norm(centers[:, None, :] - X, axis=2), EPSILON)
        objective.append((distance**2 * weight).sum())
        U = distance ** (-2 / (m - 1))
        U = np.maximum(U / U.sum(axis=0), EPSILON)
        if t and abs(objective[-1] - objective[-2]) < tol:
            break
    return centers, U, np.array(objective)


def weighted_deviations(X, U):
    """Standard deviations about the weighted mean, weighted with the memberships themselves (not u^m)."""
    share = U / U.sum(axis=1, keepdims=True)
    return np.sqrt(np.stack([u @ (X - u @ X) ** 2 for u in share]))


def replace_zeros(S):
    """Zero deviations become the mean of all of them, zeros counted."""
    return np.where(S == 0, S.mean(), S)


def constant_consequents(y, U, n_inputs):
    """Each rule's bias is the weighted mean of y, its slopes are zero."""
    return np.column_stack([U @ y / U.sum(axis=1), np.zeros((len(U), n_inputs))])


def grid_partition(X, n_sets):
    """Centers evenly from the least to the largest value, and the deviation of the column as width: (inputs, sets)."""
    centers = np.linspace(X.min(axis=0), X.max(axis=0), n_sets, axis=1)
    return centers, np.repeat(X.std(axis=0, ddof=1)[:, None], n_sets, axis=1)


def grid_sets(n_inputs, n_sets):
    """The sets of each rule: rule number r written with the digits 0 .. n_sets - 1, the first input's digit last."""
    return np.array([[r // n_sets**m % n_sets for m in range(n_inputs)] for r in range(n_sets**n_inputs)])
