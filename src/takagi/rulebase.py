"""The rule base, which training, prediction, explanation and export share.

A rule reads "IF a_1 is about c_1 +- s_1 and ... THEN y = w_0 + w_1 b_1 + ...". Its inputs are the features, or the
features after a few affine combinations of them (projections).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from takagi import kernels
from takagi._checks import are_finite, check_rule_shapes, check_rule_values, lie_within
from takagi._conditions import name_features
from takagi._inputs import (
    are_equal,
    augment,
    choose_origin,
    evaluate_formulas,
    fill_unknown,
    measure_levels,
    rescale_intervals,
    rescale_projection,
    take_used,
)
from takagi._notebook import ShowsText
from takagi._typing import ArrayLike, FloatArray, IntArray
from takagi._wording import describe_model
from takagi.bend import Bend, rescale_bends
from takagi.kernels import PARAMETERS, count_blocks
from takagi.profile import Profile

_NUMBERS_PER_CALL = 2**18  # rows that one call of the kernel copies and predicts


@dataclass(frozen=True, eq=False)
class RuleBase(ShowsText):
    """A Takagi-Sugeno-Kang rule base with Gaussian sets and linear consequents, in the units of its inputs.

    With antecedent inputs ``a`` and consequent inputs ``b`` of a row ``x``, each either ``x`` or ``[x P, x]``::

        log f_r(x)  = -1/2 sum_m ((a_m - centers[r, m]) / widths[r, m])^2
        share_r(x)  = softmax_r(log f_r(x))
        y_o(x)      = sum_r share_r(x) (consequents[r, o, 0] + sum_m consequents[r, o, 1 + m] b_m)

    Formulas may also have bends, which are curved terms of single features, after the features in ``b``.

    A missing feature (NaN) has no term in ``log f_r``, and counts as `usual` in the formula of rule r. If there is no
    usual value, it counts as the mean of the feature in the `profile`, in conditions and formulas.

    The prediction is y itself, or with a `link` the probability of a class: ``1 / (1 + exp(-y))`` for one output, and
    ``softmax(y)`` over several.

    A rule base is a value: its arrays are read-only, and changes return a new one.

    Parameters
    ----------
    centers, widths : array of shape (n_rules, n_antecedent_inputs)
        Gaussian sets; widths are standard deviations and positive. A width of infinity is no condition.
    consequents : array of shape (n_rules, n_outputs, n_consequent_inputs + 1)
        Linear consequents: the bias, then weights of projections, features and bends.
    antecedent_projection, consequent_projection : array of shape (n_features + 1, n_projections), optional
        Affine combinations of the features, bias row first, put before the features.
    tied_projection : bool, default=False
        Whether both projections are one, and are trained as one.
    sets : int array of shape (n_rules, n_antecedent_inputs), optional
        Which of an input's shared sets each rule uses; None if every rule has its own sets.
    feature_names, output_names : sequence of str, optional
        Names to print; ``x0, x1, ...`` and ``y`` (or ``y0, y1, ...``) by default.
    profile : Profile, optional
        A summary of the training data; the text of the rules takes words, shares and digits from it.
    link : {"identity", "logit", "softmax"}, default="identity"
        What outputs are: predictions, the log-odds of one class, or the logits of as many classes as outputs.
    bends : sequence of Bend, optional
        Curved terms of the consequents; not together with projections.
    intervals : array of shape (n_rules, n_features, 2), optional
        The interval of each condition: the smallest and the largest value of the feature for which it holds, minus or
        plus infinity if there is no limit. Without intervals a condition holds where its membership is at least one
        half.
    limits : array of shape (n_features, 2), optional
        Limits of each feature: values beyond a limit are held, that is, replaced by the limit. Minus or plus infinity
        is no limit.
    usual : array of shape (n_rules, n_features), optional
        What a missing value counts as in the formula of each rule; NaN for features that were never missing. Not
        together with projections.

    Examples
    --------
    >>> from takagi import RuleBase
    >>> rules = RuleBase(
    ...     centers=[[0.0], [10.0]], widths=[[2.0], [2.0]], consequents=[[[0.0, 1.0]], [[5.0, 0.0]]],
    ...     feature_names=["speed"], output_names=["force"])
    >>> rules.predict([[0.0], [10.0]]).round(2)
    array([0., 5.])
    >>> print(rules)
    Rule 1
      IF speed is about 0 +- 2.0
      THEN force = 1 speed
    Rule 2
      IF speed is about 10.0 +- 2.0
      THEN force = 5
    """

    centers: FloatArray
    widths: FloatArray
    consequents: FloatArray
    antecedent_projection: FloatArray | None = None
    consequent_projection: FloatArray | None = None
    tied_projection: bool = False
    sets: IntArray | None = None
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    profile: Profile | None = None
    link: str = "identity"
    bends: tuple[Bend, ...] = ()
    intervals: FloatArray | None = None
    limits: FloatArray | None = None
    usual: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in (*PARAMETERS, "intervals", "limits", "usual", "sets"):
            if getattr(self, name) is not None:
                array: np.ndarray = np.array(getattr(self, name), np.intp if name == "sets" else float, order="C")
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        object.__setattr__(self, "bends", tuple(self.bends))
        for name in ("feature_names", "output_names"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(str(word) for word in getattr(self, name)))
        check_rule_shapes(self)
        check_rule_values(self)

    # -- sizes ---------------------------------------------------------------------------------------------------------

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.centers.shape[0]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.consequents.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features, without projections."""
        return self.centers.shape[1] - self.n_projected

    @property
    def n_projected(self) -> int:
        """Number of projections, which come before the features in the conditions."""
        return 0 if self.antecedent_projection is None else self.antecedent_projection.shape[1]

    @property
    def n_projected_consequents(self) -> int:
        """Number of projections that come before the features in the consequents."""
        return 0 if self.consequent_projection is None else self.consequent_projection.shape[1]

    @property
    def parts(self) -> "tuple[RuleBase]":
        """The rule base itself, as the only part of a model."""
        return (self,)

    # -- predictions for rows ------------------------------------------------------------------------------------------

    def antecedent_inputs(self, X: ArrayLike) -> FloatArray:
        """Return the inputs of the conditions, ``X`` or ``[X P, X]``."""
        return augment(self.hold_rows(X), self.antecedent_projection)

    def consequent_inputs(self, X: ArrayLike) -> FloatArray:
        """Return the inputs of the consequents: ``X`` or ``[X P, X]``, then bends."""
        rows = self.check_rows(X)
        return self.expand_rows(rows) if self.bends else augment(self._hold(rows), self.consequent_projection)

    def hold_rows(self, X: ArrayLike) -> FloatArray:
        """Return rows with each value beyond a limit replaced by the limit; predictions use these rows."""
        return self._hold(self.check_rows(X))

    def expand_rows(self, X: FloatArray) -> FloatArray:
        """Return held rows with a column for each bend after the features, as the rules of `expand` need them."""
        rows = self._hold(X)
        return np.column_stack([rows, *self._bend(rows)]) if self.bends else rows

    def _bend(self, rows: FloatArray) -> list[FloatArray]:
        return [bend.evaluate(rows[:, bend.feature]) for bend in self.bends]

    def _hold(self, rows: FloatArray) -> FloatArray:
        if self.limits is None or lie_within(rows, self.limits):
            return rows
        return np.clip(rows, self.limits[:, 0], self.limits[:, 1])

    def log_firing(self, X: ArrayLike) -> FloatArray:
        """Return the logarithm of the firing levels, of shape (n_rows, n_rules)."""
        return measure_levels(self.antecedent_inputs(X), self.centers, self.widths)

    def firing_share(self, X: ArrayLike) -> FloatArray:
        """Return the normalized firing levels, of shape (n_rows, n_rules); every row sums to 1."""
        return self._evaluate(X, with_share=True)[1]

    def rule_outputs(self, X: ArrayLike) -> FloatArray:
        """Return each rule's own output, of shape (n_rows, n_rules, n_outputs)."""
        return evaluate_formulas(self.consequent_inputs(X), self.consequents, self.expand().usual)

    def predict(self, X: ArrayLike, n_threads: int = 1) -> FloatArray:
        """Return predictions, of shape (n_rows,) for one output and (n_rows, n_outputs) for several.

        With a link they are probabilities: of the output's class, or of all classes.

        Additional memory does not grow with the number of rows. `n_threads` is the number of threads; it does not
        change a bit of the result.
        """
        prediction = self._evaluate(X, n_threads, self.link)[0]
        return prediction[:, 0] if self.n_outputs == 1 else prediction

    def predict_raw(self, X: ArrayLike, n_threads: int = 1) -> FloatArray:
        """Return the outputs before the link, of shape (n_rows, n_outputs): for probabilities, log-odds or logits."""
        return self._evaluate(X, n_threads)[0]

    def _evaluate(
        self, X: ArrayLike, n_threads: int = 1, link: str = "identity", with_share: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        rows, (theta, shape, origin, usual, used) = self.check_rows(X), self._packed
        usual = None if usual is None or are_finite(rows) else usual
        prediction = np.empty((len(rows), self.n_outputs))
        share = np.empty((len(rows) if with_share else 0, self.n_rules))
        n_rows = max(_NUMBERS_PER_CALL // len(origin), kernels.BLOCK_ROWS)
        predict_rows = kernels.find_kernel("predict_rows", rows.size * self.n_rules)

        def fill(start: int) -> None:
            here = slice(start, start + n_rows)
            block = np.ascontiguousarray(self.expand_rows(rows[here])[:, used] - origin)
            predict_rows(theta, shape, kernels.make_columns(shape, usual), block, prediction[here], share[here])
            if link != "identity":
                prediction[here] = apply_link(prediction[here], link)

        kernels.run_blocks(fill, range(0, len(rows), n_rows), n_threads)
        return prediction, share

    @cached_property
    def _packed(self) -> tuple[FloatArray, kernels.Shape, FloatArray, FloatArray | None, slice | IntArray]:
        """The rules in the layout of the kernels, relative to an origin; origin, usual values and inputs. Cached."""
        plain, used = take_used(self.expand())
        origin = choose_origin(plain.centers[:, -plain.n_features :], plain.widths[:, -plain.n_features :])
        moved = plain.rescale(-origin, np.ones_like(origin), np.zeros(1), np.ones(1))
        return *pack(moved), origin, pack_usual(moved), used

    def check_rows(self, X: ArrayLike) -> FloatArray:
        """Return rows as a matrix of numbers, with NaN only if the rules handle missing values, or raise an error."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must have shape (n_rows, {self.n_features}), got {rows.shape}.")
        return rows if are_finite(rows) else fill_unknown(rows, self, name_features(self))

    # -- new rule bases ------------------------------------------------------------------------------------------------

    def rescale(self, x_mean: FloatArray, x_scale: FloatArray, y_mean: FloatArray, y_scale: FloatArray) -> "RuleBase":
        """Change units: return the rule base for ``x * x_scale + x_mean`` and ``y * y_scale + y_mean``.

        The new rules predict for the new numbers what these rules predict for ``(x - x_mean) / x_scale``. Probabilities
        have no units: with a link, y cannot be rescaled.
        """
        if self.link != "identity" and (np.any(np.not_equal(y_mean, 0)) or np.any(np.not_equal(y_scale, 1))):
            raise ValueError(f"rules with link {self.link!r} predict probabilities, whose units cannot be changed.")
        n_a, n_c = self.n_projected, self.n_projected_consequents
        centers, widths, consequents = self.centers.copy(), self.widths.copy(), self.consequents.copy()
        centers[:, n_a:] = centers[:, n_a:] * x_scale + x_mean
        widths[:, n_a:] *= x_scale
        bends, slopes = self.bends, slice(1 + n_c, 1 + n_c + self.n_features)
        if bends:
            bends, factor, constant = rescale_bends(bends, x_mean, x_scale)
            consequents[:, :, 0] += consequents[:, :, slopes.stop :] @ constant
            consequents[:, :, slopes.stop :] *= factor
        consequents[:, :, slopes] /= x_scale
        consequents[:, :, 0] -= np.einsum("rom,m->ro", consequents[:, :, slopes], x_mean)
        consequents *= np.reshape(y_scale, (1, -1, 1))
        consequents[:, :, 0] += y_mean
        return replace(
            self,
            centers=centers,
            widths=widths,
            consequents=consequents,
            antecedent_projection=rescale_projection(self.antecedent_projection, x_mean, x_scale),
            consequent_projection=rescale_projection(self.consequent_projection, x_mean, x_scale),
            bends=bends,
            intervals=rescale_intervals(self.intervals, x_mean, x_scale),
            limits=rescale_intervals(self.limits, x_mean, x_scale),
            usual=None if self.usual is None else self.usual * x_scale + x_mean,
            profile=None if self.profile is None else self.profile.rescale(x_mean, x_scale, y_mean, y_scale),
        )

    def take(self, rules: ArrayLike) -> "RuleBase":
        """Return some of the rules, in the given order, without their shares of the data."""
        index = np.asarray(rules, dtype=np.intp)
        return replace(
            self,
            centers=self.centers[index],
            widths=self.widths[index],
            consequents=self.consequents[index],
            sets=None if self.sets is None else self.sets[index],
            intervals=None if self.intervals is None else self.intervals[index],
            usual=None if self.usual is None else self.usual[index],
            profile=None,
        )

    def expand(self) -> "RuleBase":
        """Return the same rules with bends as additional features; `expand_rows` makes the rows for them."""
        if not self.bends:
            return self
        n_bends, names = len(self.bends), name_features(self)
        return replace(
            self,
            centers=np.pad(self.centers, [(0, 0), (0, n_bends)]),
            widths=np.pad(self.widths, [(0, 0), (0, n_bends)], constant_values=np.inf),
            feature_names=(*names, *(bend.name(names[bend.feature]) for bend in self.bends)),
            sets=None,
            profile=None,
            intervals=None,
            limits=None if self.limits is None else np.vstack([self.limits, [[-np.inf, np.inf]] * n_bends]),
            usual=None if self.usual is None else np.column_stack([self.usual, *self._bend(self.usual)]),
            bends=(),
        )

    def fold_consequents(self) -> "RuleBase":
        """Return the same rules with consequents of the features alone: ``w_p (x P) + w x`` is ``x (P w_p + w)``."""
        if self.consequent_projection is None:
            return self
        n_projected = self.consequent_projection.shape[1]
        folded = np.delete(self.consequents, np.arange(1, 1 + n_projected), axis=2)
        folded += np.einsum("roj,mj->rom", self.consequents[:, :, 1 : 1 + n_projected], self.consequent_projection)
        return replace(self, consequents=folded, consequent_projection=None, tied_projection=False)

    def rename(
        self, feature_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None
    ) -> "RuleBase":
        """Return the same rules with other names; names that are not given stay."""
        return replace(
            self,
            feature_names=self.feature_names if feature_names is None else tuple(feature_names),
            output_names=self.output_names if output_names is None else tuple(output_names),
        )

    # -- text ----------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return describe_model(self)

    def __repr__(self) -> str:
        return f"RuleBase(n_rules={self.n_rules}, n_features={self.n_features}, n_outputs={self.n_outputs})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleBase):
            return NotImplemented
        return all(are_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))  # a copy is checked and frozen, too


def apply_link(outputs: FloatArray, link: str) -> FloatArray:
    """Return the predictions for outputs of shape (n_rows, n_outputs): the outputs, or class probabilities.

    >>> apply_link(np.array([[0.0], [2.0]]), "logit").round(2).tolist()
    [[0.5], [0.88]]
    """
    if link == "identity":
        return outputs
    from scipy.special import expit, softmax  # not at the top: regression does not need scipy

    return expit(outputs) if link == "logit" else softmax(outputs, axis=1)


def pack(rules: RuleBase) -> tuple[FloatArray, kernels.Shape]:
    """Return a rule base in the layout of the kernels: one flat vector and its sizes."""
    if rules.bends:
        raise ValueError("rules with bends cannot be trained by gradient descent; fit them with recipe='short'.")
    sizes = rules.n_features, rules.n_rules, count_blocks(rules.n_rules), rules.n_outputs
    shape = kernels.Shape(*sizes, rules.n_projected, rules.n_projected_consequents)
    parts = {name: getattr(rules, name) for name in PARAMETERS if getattr(rules, name) is not None}
    return kernels.flatten(parts), shape


def unpack(theta: FloatArray, rules: RuleBase) -> RuleBase:
    """Return `rules` with the parameters of a flat vector made by `pack`."""
    return replace(rules, **kernels.split(theta, pack(rules)[1]))


def pack_usual(rules: RuleBase) -> FloatArray | None:
    """Return the usual values of rules in the layout of the kernels, None if there are none."""
    return None if rules.usual is None else kernels.to_lanes(np.nan_to_num(rules.usual))
