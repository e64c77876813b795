"""From many words to few: greedy steps, and what each costs on held-out rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takagi.fitting import Rows
from takagi.rulebase import RuleBase
from takagi.simplification._draft import Draft, Standardizer, StandardRows, View, make_standardizer
from takagi.simplification._reduction import propose_moves
from takagi.simplification._refit import refine, refit_consequents

_MAX_TRAINING_ROWS, _MAX_VALIDATION_ROWS = 2_000, 5_000
_MAX_CELLS = 3_000_000  # training rows times terms
_FEW_ROWS = 1_000  # so many rows there are at least, noisy copies included, if rules are to follow rules
_NOISE = 0.3  # of copies, in spreads of the features
_PARTS = (0.04, 0.25)  # of the words, that a step takes away: of few and of many
_MANY_WORDS = 30_000
_NO_ERROR = 1e-9  # in spreads of the target
_ROUNDING = 1e-12  # of errors


@dataclass(frozen=True)
class Point:
    """A rule base on the way from large to small, and its cost."""

    step: int  # number of steps; 0 is the fitted model
    action: str  # what the step did
    n_rules: int
    n_conditions: int
    n_terms: int  # of the formulas, biases among them
    n_sets: int  # that differ
    n_words: int  # conditions, terms and sets
    val_loss: float  # RMSE on validation rows: of one target in its units, of several in units of their spreads
    loss: float  # relative growth of the validation error over that of the fitted model
    train_loss: float  # the same on training rows
    rule_base: RuleBase


@dataclass(frozen=True)
class Gauge:
    """What costs are measured with: the fitted model, its units, and rows."""

    units: Standardizer
    training: Rows
    validation: Rows

    @cached_property
    def first(self) -> float:
        """The validation error of the fitted model."""
        return self.score(self.units.rules, self.validation)

    @cached_property
    def unit(self) -> float:
        """What errors in spreads are multiplied by: the spread of one target, 1 of several."""
        scale = self.units.target_scale
        return float(scale[0]) if len(scale) == 1 else 1.0

    def score(self, rules: RuleBase, rows: Rows) -> float:
        """Return the RMSE, of one target in its units, of several in units of their spreads."""
        error = (rules.predict_raw(rows.X) - rows.y) / self.units.target_scale
        return float(np.sqrt((error**2).mean())) * self.unit

    def measure(self, step: int, action: str, draft: Draft, rules: RuleBase) -> Point:
        """Return a point of the curve."""
        words = draft.count()
        error, no_error = self.score(rules, self.validation), _NO_ERROR * self.unit
        return Point(
            step,
            action,
            *words,
            n_words=words.total,
            val_loss=error,
            loss=max(error, no_error) / max(self.first, no_error) - 1,
            train_loss=self.score(rules, self.training),
            rule_base=rules,
        )


def trace_tradeoff(
    rules: RuleBase,
    training: Rows,
    validation: Rows,
    names: Sequence[str],
    rng: np.random.Generator,
    tell: Callable[[Point], None],
) -> list[Point]:
    """Make rules smaller step by step, down to a single number, and return all models on the way.

    Each step tries the best candidates of each family of moves, re-estimates the consequents in closed form, and takes
    the one whose error on the training rows grows least per word. A damped Gauss-Newton step (Levenberg-Marquardt) then
    adjusts the sets.
    """
    n_rows = min(_MAX_TRAINING_ROWS, max(_MAX_CELLS // rules.consequents[:, 0].size, 200))
    training, validation = _draw(training, n_rows, rng), _draw(validation, _MAX_VALIDATION_ROWS, rng)
    units = make_standardizer(rules, training)
    gauge = Gauge(units, training, validation)
    start = units.make_draft()
    points = [gauge.measure(0, "as fitted", start, rules)]
    tell(points[0])
    start_view = View(start, _choose_rows(gauge, rng))
    for step, (action, view) in enumerate(_take_steps(start_view, names), start=1):
        points.append(gauge.measure(step, action, view.draft, units.make_rules(view.draft)))
        tell(points[-1])
    return points


def _take_steps(view: View, names: Sequence[str]) -> Iterator[tuple[str, View]]:
    """Yield the action of each step and the new view, until nothing can be removed."""
    view, damping = refine(View(refit_consequents(view), view.rows), 0.1)
    yield "re-estimate", view
    while (best := _find_best(view, names)) is not None:
        action, view = best
        view, damping = refine(view, damping)
        yield action, view


def _find_best(view: View, names: Sequence[str]) -> tuple[str, View] | None:
    """Return the move with the least cost per word after re-estimation of the consequents, None if there is none."""
    n_words = view.draft.count().total
    budget = max(1, int(np.clip(n_words / _MANY_WORDS, *_PARTS) * n_words))
    best, lowest = None, (np.inf, 0)
    for action, proposed in propose_moves(view, budget, names):
        draft = proposed.drop_empty_conditions()
        n_saved = n_words - draft.count().total
        if n_saved > 0:
            moved = View(refit_consequents(View(draft, view.rows)), view.rows)
            growth = moved.error - view.error
            is_free = abs(growth) <= _ROUNDING * view.error
            price = (0.0 if is_free else growth / n_saved, -n_saved)  # of what costs the same, what saves most
            if price < lowest:
                best, lowest = (action, moved), price
    return best


# -- rows --------------------------------------------------------------------------------------------------------------


def _draw(rows: Rows, n_most: int, rng: np.random.Generator) -> Rows:
    n_rows = len(rows.X)
    return rows if n_rows <= n_most else rows.take(np.sort(rng.choice(n_rows, n_most, replace=False)))


def _choose_rows(gauge: Gauge, rng: np.random.Generator) -> StandardRows:
    """Return the rows and targets that smaller rules are fitted to.

    Re-estimated by the data alone, many rules fit the noise of few rows. So the targets are the means of the data and
    of the model's predictions, or, if that makes the validation error worse at once, the predictions alone, on the rows
    and on noisy copies of them.
    """
    units, training = gauge.units, gauge.training
    rules = units.rules
    half = (training.y + rules.predict_raw(training.X)) / 2
    rows = units.make_rows(training._replace(y=half))
    refitted = units.make_rules(refit_consequents(View(units.make_draft(), rows)))
    if gauge.score(refitted, gauge.validation) < gauge.first:
        return rows
    n_rows = len(training.X)
    n_copies = max(_FEW_ROWS - n_rows, 0)
    copies = training.X[rng.integers(n_rows, size=n_copies)]
    copies = copies + _NOISE * training.X.std(axis=0) * rng.normal(size=copies.shape)
    X = np.vstack([training.X, copies])
    weight = np.r_[np.ones(n_rows), np.full(n_copies, min(1.0, n_rows / max(n_copies, 1)))]
    return units.make_rows(Rows(X, rules.predict_raw(X), weight))
