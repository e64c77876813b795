"""Training in epochs: passes over more rows than fit into memory, to a known end."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takagi._messages import warn_user
from takagi._typing import FloatArray
from takagi.estimators._base import make_rng, read_target_names, validate_training
from takagi.fitting._advice import seek_advice
from takagi.fitting._fitting import PilotEnded, history_factor, take_line
from takagi.fitting._recipe import Recipe, choose_recipe
from takagi.fitting._rows import MAX_VALIDATION_ROWS, Rows, measure_columns, merge_equal_rows
from takagi.streaming._stream import Horizon
from takagi.tables import Block, Source, shuffle_rows
from takagi.training import Callback, Progress

SAMPLE_ROWS = 50_000
BUFFER_ROWS = 100_000
_FEED_ROWS = 2**14  # rows a call, after which progress is told
_MOST_CELLS = 2**25  # of sample or buffer: 256 MB

Arrays = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class EpochProgress(Progress):
    """What a callback is told; the sample belongs to the first epoch."""

    epoch: int
    n_epochs: int


@dataclass(frozen=True)
class Course:
    """What epochs are made of.

    Parameters
    ----------
    n_rows : int
        Rows of a pass.
    read : callable
        Returns the rows of one pass, well mixed: features, targets of shape (n_rows, n_outputs), and weights.
    name : callable
        Takes features and targets, both matrices, to what `fit` would be given: with names, one target as one column.
    epochs : int, optional
        Passes; by default so many that `max_iter` iterations are done, and at least one.
    callback : callable, optional
        Called with a `takagi.training.Progress` between blocks; training ends when it returns True.
    """

    n_rows: int
    read: Callable[[], Iterable[Arrays]]
    name: Callable[[FloatArray, FloatArray], tuple[Any, Any]]
    epochs: int | None = None
    callback: Callback | None = None


def limit_rows(n_rows: int, n_columns: int) -> int:
    """Return so many rows, or fewer if they have so many columns that they would fill the memory."""
    return max(2, min(n_rows, _MOST_CELLS // n_columns))


def read_passes(
    source: Source, encode: Callable[[Block], Arrays], buffer_rows: int, rng: np.random.Generator
) -> Callable[[], Iterator[Arrays]]:
    """Return what reads a source once, in mixed order, each time that it is called."""
    return lambda: shuffle_rows((encode(block) for block in source.blocks(rng)), buffer_rows, rng)  # type: ignore[return-value]


def train_in_epochs(regressor: Any, sample: Arrays, course: Course) -> None:
    """Train a regressor on a sample of the rows first, and then on all of them, pass by pass.

    The sample makes the first rules and the units and finds the penalties. The learning rate follows the schedule over
    all iterations. Ctrl-C ends training, and the best rules so far are kept; errors are raised with these rules in
    place.
    """
    is_new = not hasattr(regressor, "rule_base_")
    X, y = course.name(*sample[:2])
    rows, is_single = validate_training(regressor, X, y, sample[2], reset=is_new)
    recipe = choose_recipe(*regressor._wishes, n_rows=course.n_rows, n_features=rows.X.shape[1])
    try:
        penalties = _find_penalties(regressor, recipe, rows, course.n_rows)
        if penalties is None:
            regressor._store(take_line(merge_equal_rows(rows), regressor._resolve_names()[1]), read_target_names(y))
        else:
            with _set_for_a_while(regressor, penalties):
                regressor.stopped_ = _Training.plan(regressor, course, recipe.batch_size, len(rows.X)).run(sample)
    except PilotEnded as end:
        regressor._store(end.fitted, read_target_names(y))
    except KeyboardInterrupt:
        if not hasattr(regressor, "rule_base_"):
            raise
        n_iter = regressor.n_iter_
        warn_user(f"Training was interrupted; the best rules of {n_iter} iterations are kept.")
        regressor.stopped_ = "interrupted"
    finally:
        _drop_stream(regressor, course.n_rows)
    regressor._is_single_target = is_single


def _find_penalties(regressor: Any, recipe: Recipe, rows: Rows, n_rows: int) -> dict[str, float] | None:
    """Return the penalties of a batch that pilot fits on a sample find; None if they advise a straight line."""
    if not recipe.measures:
        return {}
    fitting, config = regressor._prepare(make_rng(regressor.random_state))
    advice = seek_advice(fitting, recipe, config, merge_equal_rows(rows), None, regressor.validation_fraction)
    if advice.prefers_line and not hasattr(regressor, "rule_base_"):
        return None
    variance = 1.0 if fitting.scales_target else float((measure_columns(rows.y, rows.weight)[1] ** 2).mean())
    config = recipe.penalize(config, advice.strength, (n_rows, rows.X.shape[1]), variance * rows.y.shape[1])
    return {"l2": config.l2, "smoothness": config.smoothness}


@contextmanager
def _set_for_a_while(regressor: Any, params: dict[str, Any]) -> Iterator[None]:
    before = {name: getattr(regressor, name) for name in params}
    regressor.set_params(**params)
    try:
        yield
    finally:
        regressor.set_params(**before)


def _drop_stream(regressor: Any, n_rows: int) -> None:
    """Forget the rows that a stream holds; its profile counts a row each time that it came."""
    stream = regressor.__dict__.pop("_stream", None)
    if stream is None or stream.learner is None or not hasattr(regressor, "rule_base_"):
        return
    profile = replace(regressor.rule_base_.profile, n_rows=min(n_rows, stream.seen.n_rows))
    regressor.rule_base_ = replace(regressor.rule_base_, profile=profile)


@dataclass
class _Training:
    """Epochs under way."""

    regressor: Any
    course: Course
    horizon: Horizon
    n_epochs: int
    epoch: int = 0

    @classmethod
    def plan(cls, regressor: Any, course: Course, batch_size: int, n_sample: int) -> "_Training":
        """Count epochs and iterations, those on the sample included."""
        n_validating = min(MAX_VALIDATION_ROWS, regressor.validation_fraction * course.n_rows)
        per_epoch = max(1.0, (course.n_rows - n_validating) / batch_size)
        n_iter = max(regressor.max_iter, per_epoch) if course.epochs is None else course.epochs * per_epoch
        horizon = Horizon(course.n_rows, int(n_iter) + n_sample // batch_size)
        return cls(regressor, course, horizon, int(np.ceil(n_iter / per_epoch)))

    def run(self, sample: Arrays) -> str:
        """Feed the sample and then pass by pass, and return why it ended."""
        stopped = self._feed(sample)
        while not stopped and (self.course.epochs is None or self.epoch < self.course.epochs):
            before, self.epoch = self._progress, self.epoch + 1
            for rows in self.course.read():
                if stopped := self._feed(rows):
                    break
            if self._progress == before:  # there are no rows but those that validate
                break
        return stopped or "max_iter"

    @property
    def _progress(self) -> tuple[int, int]:
        return self.regressor._stream.n_iter, self.regressor._stream.n_waiting

    def _feed(self, rows: Arrays) -> str:
        """Feed rows, some at a time, and return why training is at its end, or nothing if it is not."""
        for start in range(0, len(rows[1]), _FEED_ROWS):
            X, y, weight = (part[start : start + _FEED_ROWS] for part in rows)
            self.regressor._feed_block(*self.course.name(X, y), weight, self.horizon)
            if stopped := self._tell():
                return stopped
        return ""

    def _tell(self) -> str:
        """Tell the callback how far training is, and return why it is at its end, if it is."""
        stream, n_iter, patience = self.regressor._stream, self.horizon.n_iter, self.regressor.n_iter_no_change
        assert n_iter is not None
        if stream.learner is None or not len(stream.learner.history):
            return ""
        learner = stream.learner
        if self.course.callback is not None:
            _, train_loss, val_loss = learner.history[-1]
            best_loss = learner.best_loss * history_factor(learner.units)
            progress = EpochProgress(
                n_iter=stream.n_iter,
                max_iter=n_iter,
                train_loss=float(train_loss),
                val_loss=float(val_loss),
                best_iter=learner.best_iter,
                best_loss=best_loss,
                epoch=max(1, self.epoch),
                n_epochs=max(self.epoch, self.n_epochs),
            )
            if self.course.callback(progress) is True:
                return "callback"
        if patience is not None and stream.n_iter - learner.best_iter >= patience:
            return "no_change"
        return "max_iter" if stream.n_iter >= n_iter else ""
