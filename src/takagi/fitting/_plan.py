"""The plan of a fit: what an estimator's parameters mean for a table of a given size, all of it numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from takagi._messages import unknown_name
from takagi.initializers import INITIALIZERS, Initializer
from takagi.optimizers import OPTIMIZERS
from takagi.training import Bounds, FeasibleSet, TrainConfig

RECIPES = ("accurate", "droprule", "short")
EXTRAPOLATIONS = ("hold", "linear")
MANY_FEATURES = 24  # beyond which penalties grow, and that accurate rules are about at most
AGREEMENT = 0.1  # of short rules: the price on those that disagree
_PROJECTIONS = ("antecedent", "shared", "separate")
_ROWS_PER_RULE = 8
_FEWEST_RULES, _MOST_RULES = 8, 128
_ROWS_FOR_MOST = 1_000  # more than these
_MOST_SETS = 3_200  # rules times features
_MANY_ROWS = 2_000  # from which on batches are larger
_FEW_ROWS = 1_000  # below which chance matters enough for teachers
_L2_PER_NOISE = 3.0
_LEAST_NOISE = 1e-8
_TEACHING_RULES = 16
_SHORT = {"n_rules": 5, "max_conditions": 3, "max_terms": 4}  # the limits of short rules


@dataclass(frozen=True)
class Penalties:
    """Penalties on consequents (l2) and on narrow sets (smoothness), and the only place that scales them.

    A penalty acts as a prior, whose best strength is the variance of the noise over that of what is penalized. So a
    penalty that is not given follows from the noise: for a pass over all rows it is in proportion to it.

    Parameters
    ----------
    l2, smoothness : float or None
        Given strengths, for the loss of one batch; None where the noise tells.
    noise : float
        Part of the target's variance that rules cannot explain.
    smoothness_per_noise : float
        Smoothness of a pass in units of the noise.
    """

    l2: float | None
    smoothness: float | None
    noise: float = 1.0
    smoothness_per_noise: float = 3.0

    @property
    def are_open(self) -> bool:
        """Whether the noise is needed."""
        return self.l2 is None or self.smoothness is None

    def with_noise(self, noise: float, smoothness_per_noise: float | None = None) -> "Penalties":
        """Return the penalties for a noise; it is at most what the mean would leave."""
        factor = self.smoothness_per_noise if smoothness_per_noise is None else smoothness_per_noise
        return replace(self, noise=float(np.clip(noise, _LEAST_NOISE, 1.0)), smoothness_per_noise=factor)

    def for_pilot(self, l2: float, smoothness: float, n_batches: float) -> "Penalties":
        """Return penalties before the noise is known: l2 of a batch, smoothness of a pass of so many batches."""
        noise = l2 * n_batches / _L2_PER_NOISE
        return replace(self, noise=noise, smoothness_per_noise=smoothness / noise)

    def weaken(self, part: float) -> "Penalties":
        """Return a part of the penalties that follow from the noise."""
        return replace(self, noise=self.noise * part)

    def per_batch(self, part: float, n_features: int, variance: float) -> dict[str, float]:
        """Return both for a batch that is a part of all rows; `variance` is that of all targets as they are trained."""
        strength = self.noise * part * max(1.0, n_features / MANY_FEATURES)
        return {
            "l2": _L2_PER_NOISE * strength if self.l2 is None else self.l2,
            "smoothness": self.smoothness_per_noise * strength * variance
            if self.smoothness is None
            else self.smoothness,
        }


@dataclass(frozen=True)
class Plan:
    """What a fit is to do."""

    recipe: str  # the learning algorithm
    n_rules: int  # rules to make; of short rules, at most
    max_features: int  # that rules are about
    chooses_size: bool  # whether cross-validation chooses the number of short rules
    max_conditions: int  # of a short rule
    max_terms: int  # of a short rule
    may_be_ridge: bool  # whether ridge regression, as one rule, may take their place
    initializer: Initializer  # makes the first rules
    projection: str | None  # where affine combinations of the features are used
    n_projections: int  # how many
    scales_inputs: bool  # whether inputs are divided by their standard deviations for training
    scales_target: bool  # the same for targets
    penalties: Penalties  # on consequents and sets
    config: TrainConfig  # all other settings of training
    bounds: Bounds | FeasibleSet | None  # where parameters may go
    stays_in_range: bool  # whether centers and widths stay within the range of the data; there are no bounds then
    holds_out: bool  # whether a part of the rows chooses the iterate; if not, all rows train to the end
    validation_fraction: float  # that part; also what pilots are judged by
    n_teachers: int  # fits whose mean is taught to one; 0 for none
    holds_inputs: bool  # whether the rules take values far beyond the data for the limit of what is near

    @property
    def has_fixed_rules(self) -> bool:
        """Whether the initializer makes no other number of rules, as a grid does."""
        return getattr(self.initializer, "has_fixed_rules", False)

    @property
    def has_classes(self) -> bool:
        """Whether targets are probabilities of classes, and outputs log-odds or logits."""
        return self.config.loss == "log"

    @property
    def centers_target(self) -> bool:
        """Whether the mean of the target is taken away for training; probabilities of classes stay as they are."""
        return not self.has_classes

    def configure(self, n_rows: float, n_features: int, variance: float) -> TrainConfig:
        """Return the settings of training on so many rows; `variance` is that of all targets as they are trained."""
        part = self.config.batch_size / n_rows
        return replace(self.config, **self.penalties.per_batch(part, n_features, variance))  # type: ignore[arg-type]


def make_plan(
    params: Mapping[str, Any], n_rows: int, n_features: int, loss: str = "squared", *, streams: bool = False
) -> Plan:
    """Return what the parameters of an estimator mean for so many rows and features, and for its loss.

    Rules that are trained on a stream are about all features, since not all rows are there to choose by.
    """
    recipe = _check("recipe", params["recipe"], ("auto", *RECIPES))
    if recipe == "auto":
        recipe = "accurate" if params["max_conditions"] is None and params["max_terms"] is None else "short"
    defaults = _DEFAULTS[recipe]
    batch_size = 256 if recipe == "accurate" and n_rows >= _MANY_ROWS else 64
    limits = {name: value if params[name] is None else params[name] for name, value in _SHORT.items()}
    wanted = limits["n_rules"] if recipe == "short" else params["n_rules"] or "auto"
    bounds = _read(params["bounds"], defaults["bounds"])
    stays_in_range = isinstance(bounds, str) and bool(_check("bounds", bounds, ("data", "auto")))
    screens = recipe == "accurate" and params["projection"] is None and (bounds is None or stays_in_range)
    screens &= not streams
    max_features = min(n_features, MANY_FEATURES) if screens else n_features
    few = n_rows < _FEW_ROWS and max_features <= MANY_FEATURES
    n_rules = _read(wanted, _SHORT["n_rules"] if recipe == "short" else count_rules(n_rows, max_features))
    return Plan(
        recipe=recipe,
        n_rules=n_rules,
        max_features=max_features,
        chooses_size=recipe == "short" and wanted == "auto",
        max_conditions=limits["max_conditions"],
        max_terms=limits["max_terms"],
        may_be_ridge=wanted == "auto",
        initializer=_look_up("init", params["init"], INITIALIZERS),
        projection=_check("projection", params["projection"], (None, *_PROJECTIONS)),
        n_projections=_count_projections(params["n_projections"], n_rules),
        scales_inputs=bool(_check("standardize", params["standardize"], (True, False, "inputs"))),
        scales_target=loss == "squared" and params["standardize"] in (True, 1),
        penalties=Penalties(*(_read(params[name], defaults[name]) for name in ("l2", "smoothness"))),
        config=TrainConfig(
            optimizer=_look_up("optimizer", params["optimizer"], OPTIMIZERS),
            keep_prob=_read(params["keep_prob"], defaults["keep_prob"]),
            agreement=_read(params["agreement"], defaults["agreement"]),
            uniformity=params.get("uniformity", 0.0),  # of classifiers
            batch_size=_read(params["batch_size"], batch_size),
            loss=loss,
            **{name: params[name] for name in _AS_GIVEN},
        ),
        bounds=None if stays_in_range else bounds,
        stays_in_range=stays_in_range,
        holds_out=recipe == "droprule" or params["n_iter_no_change"] is not None,
        validation_fraction=params["validation_fraction"],
        n_teachers=_read(params["n_teachers"], defaults["n_teachers"] if few else 0),
        holds_inputs=_check("extrapolation", params["extrapolation"], EXTRAPOLATIONS) == "hold",
    )


def plan_teacher(plan: Plan, n_rows: int) -> Plan:
    """Return the plan of accurate rules, not many, that short rules for classes learn the log-odds of."""
    return replace(
        plan,
        recipe="accurate",
        n_rules=min(_TEACHING_RULES, n_rows),
        max_features=min(plan.max_features, MANY_FEATURES),
        chooses_size=False,
        may_be_ridge=True,
        initializer=INITIALIZERS["fcm"],
        projection=None,
        penalties=Penalties(None, None),
        config=replace(plan.config, agreement=0.0, max_iter=max(1, plan.config.max_iter // 2)),
        bounds=None,
        stays_in_range=True,
        holds_out=False,
    )


# fmt: off
_DEFAULTS: dict[str, dict[str, Any]] = {
    "accurate": {
        "keep_prob": 1.0, "l2": None, "smoothness": None, "agreement": 0.0, "n_teachers": 4, "bounds": "data",
    },
    "droprule": {
        "keep_prob": 0.8, "l2": 0.05, "smoothness": 0.0, "agreement": 0.0, "n_teachers": 0, "bounds": None,
    },
    "short": {
        "keep_prob": 1.0, "l2": None, "smoothness": None, "agreement": AGREEMENT, "n_teachers": 0, "bounds": "data",
    },
}
# fmt: on
_AS_GIVEN = ("learning_rate", "powerball", "max_iter", "schedule", "averaging", "n_iter_no_change")


def count_rules(n_rows: int, n_features: int) -> int:
    """Return the power of two nearest to an eighth of the rows, from 8 to 64 and then 128, fewer for many features."""
    largest = _MOST_RULES if n_rows > _ROWS_FOR_MOST else _MOST_RULES // 2
    wanted = round(np.log2(np.clip(n_rows / _ROWS_PER_RULE, _FEWEST_RULES, largest)))
    most = int(np.log2(np.clip(_MOST_SETS / n_features, _FEWEST_RULES / 2, _MOST_RULES)))
    return min(2**wanted, 2**most, n_rows)


def _read(value: Any, default: Any) -> Any:
    return default if isinstance(value, str) and value == "auto" else value


def _count_projections(wanted: int | str, n_rules: int) -> int:
    if not isinstance(wanted, str):
        return int(wanted)
    _check("n_projections", wanted, ("log2",))
    return max(1, round(np.log2(n_rules)))


def _check(parameter: str, value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise unknown_name(parameter, value, [word for word in known if isinstance(word, str)])
    return value


def _look_up(parameter: str, value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, type):
        raise ValueError(f"{parameter} must be a name or an object, got the class; write {value.__name__}().")
    if not isinstance(value, str):
        return value
    return known[_check(parameter, value, tuple(known))]
