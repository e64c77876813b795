"""A frame: all that stays as it is while the parameters of a draft move, and what the rules say in it.

Arrays have a row for each rule, weight or set, and a column for each row of the data: rules are few, rows are many.
"""

from typing import NamedTuple

import numpy as np

from takagi._typing import FloatArray, IntArray
from takagi.fitting._short._draft import SumDraft, Task

Places = tuple[IntArray, IntArray]


class Values(NamedTuple):
    """The parameters of a draft."""

    weights: FloatArray  # of formulas, (n_outputs, n_weights)
    centers: FloatArray  # (n_sets,)
    widths: FloatArray

    def put_into(self, draft: SumDraft, frame: "Frame") -> SumDraft:
        """Return a draft with these parameters."""
        weights, centers, widths = draft.weights.copy(), draft.centers.copy(), draft.widths.copy()
        weights[frame.rules, :, frame.columns] = self.weights.T
        centers[frame.asking, frame.asked], widths[frame.asking, frame.asked] = self.centers, self.widths
        return SumDraft(centers, widths, weights, draft.uses, draft.part)


class Response(NamedTuple):
    """What rules say."""

    distance: FloatArray  # of rows from centers, in widths, (n_sets, n_rows)
    share: FloatArray  # of each rule in its part, (n_rules, n_rows)
    apart: FloatArray  # what each formula says, minus the mean of its part, (n_outputs, n_rules, n_rows)
    error: FloatArray  # (n_outputs, n_rows)


class Frame(NamedTuple):
    """A task as the rules of one structure see it."""

    task: Task
    rules: IntArray  # of each weight, in ascending order
    columns: IntArray  # the same, bias first
    asking: IntArray  # the rule of each set
    asked: IntArray  # its feature
    inputs: FloatArray  # of formulas, (n_weights, n_rows)
    Z: FloatArray  # what sets are about, (n_sets, n_rows)
    seen: FloatArray | None  # the same, of `Task.seen`
    target: FloatArray  # (n_outputs, n_rows)
    ridge: FloatArray  # the penalty on each weight
    holds: FloatArray  # 1 where a set is one of the rule, (n_rules, n_sets)
    together: FloatArray  # 1 where two rules are in one part
    parts: list[IntArray]  # the rules of parts with conditions
    low: FloatArray  # the least center of each set
    high: FloatArray  # the largest one

    def find_shares(self, values: Values) -> tuple[FloatArray, FloatArray]:
        """Return distances from the centers and shares of the rules."""
        distance = (self.Z - values.centers[:, None]) / values.widths[:, None]
        if self.seen is not None:
            distance *= self.seen
        share = self.holds @ (distance * distance)
        share *= -0.5
        for own in self.parts:
            level = share[own]
            share[own] = level - level.max(axis=0)
        np.exp(share, out=share)
        share /= self.together @ share
        return distance, share

    def respond(self, values: Values) -> Response:
        """Return what rules with such parameters say."""
        distance, share = self.find_shares(values)
        formulas = np.zeros((len(values.weights), len(share), len(self.rules)))
        formulas[:, self.rules, np.arange(len(self.rules))] = values.weights
        apart = formulas @ self.inputs
        said = share * apart
        apart -= self.together @ said
        return Response(distance, share, apart, self.target - said.sum(axis=1))

    def measure_loss(self, values: Values, response: Response) -> float:
        """Return the loss of the rows and the penalties."""
        task, n_outputs = self.task, len(self.target)
        square = response.error**2
        if task.agreement:
            square += task.agreement * (response.share * response.apart**2).sum(axis=1)
        total = float((square @ task.weight).sum()) + float((values.weights**2 @ self.ridge).sum())
        return total / n_outputs + task.smoothness * float((values.widths**-2.0).sum())


def open_frame(draft: SumDraft, task: Task) -> tuple[Frame, Values]:
    """Return the frame of a draft, and its parameters."""
    (rules, columns), (asking, asked) = find_weights(draft), np.nonzero(draft.asks)
    inputs = task.columns.T[columns - 1]
    inputs[columns == 0] = 1.0
    owners = np.arange(draft.n_rules)[:, None]
    frame = Frame(
        task=task,
        rules=rules,
        columns=columns,
        asking=asking,
        asked=asked,
        inputs=inputs,
        Z=task.Z.T[asked],
        seen=None if task.seen is None else task.seen.T[asked],
        target=np.ascontiguousarray(task.target.T),
        ridge=np.where(columns > 0, task.ridge, 0.0),
        holds=(owners == asking).astype(float),
        together=draft.together,
        parts=[np.flatnonzero(draft.part == k) for k in dict.fromkeys(draft.part[asking].tolist())],
        low=task.low[asked],
        high=task.high[asked],
    )
    return frame, Values(draft.weights[rules, :, columns].T, draft.centers[asking, asked], draft.widths[asking, asked])


def find_weights(draft: SumDraft) -> Places:
    """Return where the weights are that may be different from zero: rules and columns, bias first."""
    rules, columns = np.nonzero(np.hstack([np.ones((draft.n_rules, 1), dtype=bool), draft.uses]))
    return rules, columns


def measure_loss(draft: SumDraft, task: Task) -> float:
    """Return the loss of the rows and the penalties."""
    frame, values = open_frame(draft, task)
    return frame.measure_loss(values, frame.respond(values))
