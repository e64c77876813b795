"""The model: a sum of rule bases, "main rules" and "adjustments"; usually there is only one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from takagi._checks import are_finite
from takagi._inputs import are_equal
from takagi._notebook import ShowsText
from takagi._text import shorten
from takagi._typing import ArrayLike, FloatArray
from takagi._wording import describe_model
from takagi.bend import Bend
from takagi.calibration import Calibration, check_coverage, make_intervals, split_scales
from takagi.profile import Profile
from takagi.rulebase import RuleBase, apply_link

_MOST_COMBINATIONS = 1024


@dataclass(frozen=True, eq=False)
class RuleModel(ShowsText):
    """A frozen sum of rule bases over the same features and outputs.

    The outputs of the parts are added up, and the link, which all parts have in common, comes last. The first part has
    the main rules, the others adjust their outputs. A model of one part equals that rule base.

    Parameters
    ----------
    parts : sequence of RuleBase
        At least one, with equal numbers and names of features and outputs, equal links, and equal limits; parts without
        limits get those of the others.
    calibration : Calibration, optional
        The errors on held-out rows, with a scale for each rule of each part.

    Examples
    --------
    >>> from takagi import RuleBase, RuleModel
    >>> main = RuleBase(centers=[[0.0], [10.0]], widths=[[2.0], [2.0]], consequents=[[[0.0, 1.0]], [[5.0, 0.0]]])
    >>> always = RuleBase(centers=[[0.0]], widths=[[float("inf")]], consequents=[[[1.0, 0.0]]])
    >>> model = RuleModel([main, always])
    >>> model.n_rules, model.predict([[0.0], [10.0]]).round(2).tolist()
    (3, [1.0, 6.0])
    >>> model.merge().n_rules
    2
    """

    parts: tuple[RuleBase, ...]
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts or not all(isinstance(part, RuleBase) for part in self.parts):
            raise ValueError("parts must be one rule base or several.")
        for name in ("n_features", "n_outputs", "feature_names", "output_names", "link"):
            first, *others = (getattr(part, name) for part in self.parts)
            other = next((value for value in others if value != first), first)
            if other != first:
                shown = f"{shorten(str(first))} and {shorten(str(other))}"
                raise ValueError(f"all parts of a model must have the same {name}, got {shown}.")
        object.__setattr__(self, "parts", _share_limits(self.parts))
        if self.calibration is not None:
            _check_calibration(self, self.calibration)

    # -- sizes and names -----------------------------------------------------------------------------------------------

    @property
    def first(self) -> RuleBase:
        """The part with the main rules."""
        return self.parts[0]

    @property
    def n_rules(self) -> int:
        """Number of rules of all parts."""
        return sum(part.n_rules for part in self.parts)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.first.n_outputs

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.first.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, None if they have none."""
        return self.first.feature_names

    @property
    def output_names(self) -> tuple[str, ...] | None:
        """Names of the outputs, None if they have none."""
        return self.first.output_names

    @property
    def link(self) -> str:
        """What outputs are; see `RuleBase`."""
        return self.first.link

    @property
    def profile(self) -> Profile | None:
        """The summary of the training rows, with the shares of the main rules."""
        return self.first.profile

    @property
    def limits(self) -> FloatArray | None:
        """The limits of the features, of shape (n_features, 2); None if there are none. See `RuleBase`."""
        return self.first.limits

    # -- predictions for rows ------------------------------------------------------------------------------------------

    def check_rows(self, X: ArrayLike) -> FloatArray:
        """Return rows as a matrix of finite numbers, or raise an error."""
        return self.first.check_rows(X)

    def hold_rows(self, X: ArrayLike) -> FloatArray:
        """Return rows with each value beyond a limit replaced by the limit; predictions use these rows."""
        return self.first.hold_rows(X)

    def fill_rows(self, X: ArrayLike) -> FloatArray:
        """Return held rows with missing values replaced by the mean of their column."""
        rows = self.hold_rows(X)
        if self.profile is None or are_finite(rows):
            return rows
        return np.where(np.isnan(rows), self.profile.mean, rows)

    def firing_share(self, X: ArrayLike) -> FloatArray:
        """Return the normalized firing levels, of shape (n_rows, n_rules), part after part; each part sums to 1."""
        return np.hstack([part.firing_share(X) for part in self.parts])

    def predict(self, X: ArrayLike, n_threads: int = 1) -> FloatArray:
        """Return predictions, of shape (n_rows,) for one output and (n_rows, n_outputs) for several."""
        if len(self.parts) == 1:
            return self.first.predict(X, n_threads)
        prediction = apply_link(self.predict_raw(X, n_threads), self.link)
        return prediction[:, 0] if self.n_outputs == 1 else prediction

    def predict_raw(self, X: ArrayLike, n_threads: int = 1) -> FloatArray:
        """Return the outputs before the link, of shape (n_rows, n_outputs)."""
        total, *others = (part.predict_raw(X, n_threads) for part in self.parts)
        for other in others:
            total += other
        return total

    def predict_spread(self, X: ArrayLike, n_threads: int = 1) -> tuple[FloatArray, FloatArray]:
        """Return predictions and their standard deviations, both of shape (n_rows, n_outputs).

        Raises
        ------
        ValueError
            If the model has no calibration.
        """
        both = self.add_spread().predict_raw(X, n_threads)
        return both[:, : self.n_outputs], both[:, self.n_outputs :]

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9, n_threads: int = 1) -> FloatArray:
        """Return intervals of a given coverage, of shape (n_rows, 2), or (n_rows, n_outputs, 2) for several outputs.

        Raises
        ------
        ValueError
            If the model has no calibration, or too few rows for that coverage.
        """
        both = self.add_spread(coverage).predict_raw(X, n_threads)
        intervals = make_intervals(both[:, : self.n_outputs], both[:, self.n_outputs :])
        return intervals[:, 0] if self.n_outputs == 1 else intervals

    def require_calibration(self) -> Calibration:
        """Return the calibration, or raise an error that says how to get one."""
        if self.calibration is None:
            raise ValueError(
                "This model is not calibrated, so its errors on new rows are not known. Call calibrate(X, y) with "
                "held-out rows, or calibrate(X, y, cv=5) with the training rows."
            )
        return self.calibration

    # -- new models ----------------------------------------------------------------------------------------------------

    def rescale(self, x_mean: FloatArray, x_scale: FloatArray, y_mean: FloatArray, y_scale: FloatArray) -> "RuleModel":
        """Change units, as `RuleBase.rescale` does; the mean of y goes to the main rules."""
        means = [y_mean, *[np.zeros_like(y_mean)] * (len(self.parts) - 1)]
        scaled = (p.rescale(x_mean, x_scale, m, y_scale) for p, m in zip(self.parts, means, strict=True))
        calibration = None if self.calibration is None else self.calibration.rescale(y_scale)
        return RuleModel(tuple(scaled), calibration)

    def rename(
        self, feature_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None
    ) -> "RuleModel":
        """Return the same rules with other names; names that are not given stay."""
        return replace(self, parts=tuple(part.rename(feature_names, output_names) for part in self.parts))

    def add_spread(self, coverage: float | None = None) -> "RuleModel":
        """Return a model with the outputs of this one, followed by the standard deviation of each.

        With a coverage, half the width of the interval takes the place of the standard deviation. A rule's scale is a
        formula without slopes, so the spread is predicted like any other output.
        """
        if coverage is not None:
            check_coverage(coverage)
        calibration = self.require_calibration()
        reach = 1.0 if coverage is None else calibration.find_reach(coverage)
        scales = split_scales(calibration, [part.n_rules for part in self.parts])
        factor = reach / len(self.parts)
        return RuleModel(
            tuple(_add_scale(part, scale * factor) for part, scale in zip(self.parts, scales, strict=True))
        )

    def hold_at(self, limits: ArrayLike | None) -> "RuleModel":
        """Return the same rules with other limits, of shape (n_features, 2); None for none."""
        held = None if limits is None else np.asarray(limits, dtype=float)
        return replace(self, parts=tuple(replace(part, limits=held) for part in self.parts))

    def merge(self) -> RuleBase:
        """Return one rule base that predicts the same: a rule for each combination of one rule per part.

        Conditions of the combined rules are joined and their formulas added. This is exact if no two parts have
        conditions on the same feature. The number of rules is the product of those of the parts.

        Raises
        ------
        ValueError
            If two parts have a condition on the same feature, or one of several parts has projections or shared sets,
            or there would be more than 1,024 rules.
        """
        if len(self.parts) == 1:
            return self.first
        self._check_merge()
        choices = list(product(*(range(part.n_rules) for part in self.parts)))
        bends = collect_bends(self.parts)
        weights = [place_weights(part, bends) for part in self.parts]
        merged = []
        for choice in choices:
            widths = np.array([part.widths[r] for part, r in zip(self.parts, choice, strict=True)])
            owner = np.isfinite(widths).argmax(axis=0)  # the part with a condition on the feature
            centers = np.array([part.centers[r] for part, r in zip(self.parts, choice, strict=True)])
            consequents = sum(weight[r] for weight, r in zip(weights, choice, strict=True))
            at = owner, np.arange(self.n_features)
            merged.append((centers[at], widths[at], consequents))
        centers, widths, consequents = (np.array(values) for values in zip(*merged, strict=True))
        return replace(
            self.first,
            centers=centers,
            widths=widths,
            consequents=consequents,
            bends=bends,
            profile=None,
            intervals=None,
            usual=None if self.first.usual is None else np.tile(self.first.usual[0], (len(choices), 1)),
        )

    def _check_merge(self) -> None:
        asked = np.array([np.isfinite(part.widths[:, part.n_projected :]).any(axis=0) for part in self.parts])
        shared = np.flatnonzero(asked.sum(axis=0) > 1)
        names = self.feature_names or [f"x{m}" for m in range(self.n_features)]
        if len(shared):
            raise ValueError(
                f"The parts of this model cannot be written as one rule base: more than one has a condition on "
                f"{', '.join(names[m] for m in shared)}."
            )
        if any(
            part.n_projected or part.consequent_projection is not None or part.sets is not None for part in self.parts
        ):
            raise ValueError("Parts with projections or shared sets cannot be written as one rule base.")
        known = [usual for part in self.parts for usual in ([None] if part.usual is None else part.usual)]
        if any(not are_equal(usual, known[0]) for usual in known[1:]):
            raise ValueError(
                "Parts that replace a missing value by different numbers cannot be written as one rule base."
            )
        n_rules = np.prod([float(part.n_rules) for part in self.parts])
        if n_rules > _MOST_COMBINATIONS:
            raise ValueError(f"As one rule base this model would have {n_rules:.0f} rules; the most are 1,024.")

    # -- text ----------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return describe_model(self)

    def __repr__(self) -> str:
        return (
            f"RuleModel(n_parts={len(self.parts)}, n_rules={self.n_rules}, n_features={self.n_features}, "
            f"n_outputs={self.n_outputs})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleModel):
            return NotImplemented
        return self.parts == other.parts and self.calibration == other.calibration

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return type(self), (self.parts, self.calibration)


def _add_scale(part: RuleBase, scale: FloatArray) -> RuleBase:
    """Return rules with twice as many outputs; the new ones are constants."""
    constants = np.zeros_like(part.consequents)
    constants[:, :, 0] = scale
    profile = part.profile
    if profile is not None:
        quantiles = profile.output_quantiles
        profile = replace(profile, output_quantiles=np.hstack([quantiles, np.zeros_like(quantiles)]))
    return replace(part, consequents=np.hstack([part.consequents, constants]), output_names=None, profile=profile)


def _check_calibration(model: RuleModel, calibration: Calibration) -> None:
    if calibration.scale.shape != (model.n_rules, model.n_outputs):
        raise ValueError(
            f"calibration must have scales of {model.n_rules} rules and {model.n_outputs} output(s), got shape "
            f"{calibration.scale.shape}."
        )
    if model.link != "identity":
        raise ValueError(f"rules with link {model.link!r} predict probabilities, which have no calibration.")


def _share_limits(parts: tuple[RuleBase, ...]) -> tuple[RuleBase, ...]:
    """Return the parts with the same limits: parts without limits get those of the others."""
    known = [part.limits for part in parts if part.limits is not None]
    if not known:
        return parts
    if any(not np.array_equal(limits, known[0]) for limits in known[1:]):
        raise ValueError(
            "all parts of a model must have the same limits, or none. Set those of a part with "
            "dataclasses.replace(part, limits=...)."
        )
    return tuple(replace(part, limits=known[0]) if part.limits is None else part for part in parts)


def collect_bends(parts: Iterable[RuleBase]) -> tuple[Bend, ...]:
    """Return the bends of all parts, each once."""
    return tuple(dict.fromkeys(bend for part in parts for bend in part.bends))


def place_weights(part: RuleBase, bends: tuple[Bend, ...]) -> FloatArray:
    """Return the consequents of a part without projections, with a column for each of the given bends."""
    n_plain = 1 + part.n_features
    weights = np.zeros((part.n_rules, part.n_outputs, n_plain + len(bends)))
    weights[..., :n_plain] = part.consequents[..., :n_plain]
    for k, bend in enumerate(part.bends):
        weights[..., n_plain + bends.index(bend)] += part.consequents[..., n_plain + k]
    return weights
