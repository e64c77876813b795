"""The plan of a fit: an estimator's parameters as numbers, for a table of a given size."""

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
MANY_FEATURES = 24  # above which penalties grow; also the largest number in accurate rules
AGREEMENT = 0.1  # of short rules: the penalty on disagreement
_PROJECTIONS = ("antecedent", "shared", "separate")
_ROWS_PER_RULE = 8
_FEWEST_RULES, _MOST_RULES = 8, 128
_ROWS_FOR_MOST = 1_000  # more than these
_MOST_SETS = 3_200  # rules times features
_MANY_ROWS = 2_000  # above which batches are larger
_FEW_ROWS = 1_000  # below which teachers are used
_N_ITERATIONS = 5_000
_USUAL_SMOOTHNESS = 3.0
_NOISY, _SHORTER = 0.03, 0.7  # fraction of the target's variance above which this fraction of the iterations is enough
_L2_PER_NOISE = 3.0
_LEAST_NOISE = 1e-8
_TEACHING_RULES = 16
_SHORT = {"n_rules": 5, "max_conditions": 3, "max_terms": 4}  # the limits of short rules


@dataclass(frozen=True)
class Penalties:
    """Penalties on consequents (l2) and on narrow sets (smoothness); they are scaled only here.

    A penalty acts as a prior, whose best strength is the variance of the noise over that of the penalized parameter. So
    an "auto" penalty is proportional to the noise, for a pass over all rows.

    Parameters
    ----------
    l2, smoothness : float or None
        Given strengths, for the loss of one batch; None for "auto".
    noise : float
        Fraction of the target's variance that rules cannot explain.
    smoothness_per_noise : float
        Smoothness of a pass in units of the noise.
    """

    l2: float | None
    smoothness: float | None
    noise: float = 1.0
    smoothness_per_noise: float = _USUAL_SMOOTHNESS

    @property
    def are_open(self) -> bool:
        """Whether the noise is needed."""
        return self.l2 is None or self.smoothness is None

    def with_noise(self, noise: float, smoothness_per_noise: float | None = None) -> "Penalties":
        """Return the penalties for a noise, which is at most the variance of the target."""
        factor = self.smoothness_per_noise if smoothness_per_noise is None else smoothness_per_noise
        return replace(self, noise=float(np.clip(noise, _LEAST_NOISE, 1.0)), smoothness_per_noise=factor)

    def for_pilot(self, l2: float, smoothness: float, n_batches: float) -> "Penalties":
        """Return penalties before the noise is known: l2 of a batch, smoothness of a pass of a number of batches."""
        noise = l2 * n_batches / _L2_PER_NOISE
        return replace(self, noise=noise, smoothness_per_noise=smoothness / noise)

    def weaken(self, part: float) -> "Penalties":
        """Return penalties with a fraction of those that follow from the noise."""
        return replace(self, noise=self.noise * part)

    def configure(self, config: TrainConfig, n_rows: float, n_features: int, variance: float) -> TrainConfig:
        """Return settings of training with the penalties of a batch, given the size of the table.

        `variance` is that of all targets, in the units of training.
        """
        strength = self.noise * (config.batch_size / n_rows) * max(1.0, n_features / MANY_FEATURES)
        smoothness = self.smoothness_per_noise * strength * variance
        return replace(
            config,
            l2=_L2_PER_NOISE * strength if self.l2 is None else self.l2,
            smoothness=smoothness if self.smoothness is None else self.smoothness,
        )


@dataclass(frozen=True)
class Plan:
    """The settings of a fit, as numbers."""

    recipe: str  # the learning algorithm
    n_rules: int  # number of rules; for short rules, the largest number
    max_features: int  # largest number of features in rules
    chooses_size: bool  # whether cross-validation chooses the number of short rules
    max_conditions: int  # of a short rule
    max_terms: int  # of a short rule
    may_be_ridge: bool  # whether ridge regression, as one rule, may replace them
    initializer: Initializer  # makes the initial rules
    has_fixed_rules: bool  # whether the number of rules is fixed, as for a grid
    projection: str | None  # where affine combinations of the features are used
    n_projections: int  # how many
    scales_inputs: bool  # whether inputs are divided by their standard deviations for training
    scales_target: bool  # the same for targets
    centers_target: bool  # whether the target is centered for training
    has_classes: bool  # whether targets are probabilities of classes, and outputs log-odds or logits
    penalties: Penalties  # on consequents and sets
    config: TrainConfig  # all other settings of training
    may_shorten: bool  # whether a noisy target may have fewer iterations
    bounds: Bounds | FeasibleSet | None  # limits of the parameters
    stays_in_range: bool  # whether centers and widths stay within the range of the data; then there are no bounds
    holds_out: bool  # whether held-out rows choose the iterate; if not, all rows train to the end
    validation_fraction: float  # their fraction; also that of the rows that judge pilots
    n_teachers: int  # fits whose mean is distilled into one; 0 for none
    n_adjustments: int  # features that may be adjusted for, at most; 0 for none
    holds_inputs: bool  # whether values far beyond the data are held at the limits


def make_plan(
    params: Mapping[str, Any], n_rows: int, n_features: int, loss: str = "squared", *, streams: bool = False
) -> Plan:
    """Return the plan for an estimator's parameters, given the numbers of rows and features, and the loss.

    Rules that are trained on a stream use all features, since a selection would need all rows.
    """
    recipe = _check("recipe", params["recipe"], ("auto", *RECIPES))
    if recipe == "auto":
        recipe = "accurate" if params["max_conditions"] is None and params["max_terms"] is None else "short"
    batch_size = 256 if recipe == "accurate" and n_rows >= _MANY_ROWS else 64
    used = _resolve(params, {**_DEFAULTS[recipe], "batch_size": batch_size, "max_iter": _N_ITERATIONS})
    limits = {name: value if params[name] is None else params[name] for name, value in _SHORT.items()}
    chooses = params["n_rules"] == "auto" or (recipe != "short" and params["n_rules"] is None)
    stays_in_range = isinstance(used["bounds"], str) and bool(_check("bounds", used["bounds"], ("data", "auto")))
    screens = recipe == "accurate" and used["projection"] is None and (used["bounds"] is None or stays_in_range)
    max_features = min(n_features, MANY_FEATURES) if screens and not streams else n_features
    few = n_rows < _FEW_ROWS and max_features <= MANY_FEATURES
    if chooses:
        limits["n_rules"] = _SHORT["n_rules"] if recipe == "short" else count_rules(n_rows, max_features)
    n_projections, initializer = used["n_projections"], _look_up("init", used["init"], INITIALIZERS)
    if isinstance(n_projections, str) and _check("n_projections", n_projections, ("log2",)):
        n_projections = max(1, round(np.log2(limits["n_rules"])))
    return Plan(
        recipe=recipe,
        **limits,
        max_features=max_features,
        chooses_size=recipe == "short" and chooses,
        may_be_ridge=chooses,
        initializer=initializer,
        has_fixed_rules=getattr(initializer, "has_fixed_rules", False),
        projection=_check("projection", used["projection"], (None, *_PROJECTIONS)),
        n_projections=int(n_projections),
        scales_inputs=bool(_check("standardize", used["standardize"], (True, False, "inputs"))),
        scales_target=loss == "squared" and used["standardize"] in (True, 1),
        centers_target=loss == "squared",
        has_classes=loss == "log",
        penalties=Penalties(used["l2"], used["smoothness"]),
        config=TrainConfig(
            optimizer=_look_up("optimizer", used["optimizer"], OPTIMIZERS),
            uniformity=used.get("uniformity", 0.0),  # of classifiers
            loss=loss,
            **{name: used[name] for name in _AS_GIVEN},
        ),
        may_shorten=recipe == "accurate" and loss == "squared" and params["max_iter"] == "auto",
        bounds=None if stays_in_range else used["bounds"],
        stays_in_range=stays_in_range,
        holds_out=recipe == "droprule" or used["n_iter_no_change"] is not None,
        validation_fraction=used["validation_fraction"],
        n_teachers=0 if params["n_teachers"] == "auto" and not few else used["n_teachers"],
        n_adjustments=0 if streams or not (chooses or params["n_adjustments"] != "auto") else used["n_adjustments"],
        holds_inputs=_check("extrapolation", used["extrapolation"], EXTRAPOLATIONS) == "hold",
    )


def heed_noise(plan: Plan, penalties: Penalties) -> Plan:
    """Return the plan with the penalties of the pilots; a noisy target has fewer iterations with longer steps.

    If pilots choose narrower sets than usual, rules have detail to learn, and get all iterations.
    """
    config, is_smooth = plan.config, penalties.smoothness_per_noise >= _USUAL_SMOOTHNESS
    if plan.may_shorten and penalties.noise > _NOISY and is_smooth:
        n_iter, rate = int(_SHORTER * config.max_iter), config.learning_rate / _SHORTER
        config = replace(config, max_iter=n_iter, learning_rate=rate)
    return replace(plan, penalties=penalties, config=config)


def plan_teacher(plan: Plan, n_rows: int) -> Plan:
    """Return the plan of the teacher of short rules for classes: a moderate number of accurate rules."""
    return replace(
        plan,
        recipe="accurate",
        n_rules=min(_TEACHING_RULES, n_rows),
        max_features=min(plan.max_features, MANY_FEATURES),
        chooses_size=False,
        may_be_ridge=True,
        initializer=INITIALIZERS["fcm"],
        has_fixed_rules=False,
        projection=None,
        penalties=Penalties(None, None),
        config=replace(plan.config, agreement=0.0, max_iter=max(1, plan.config.max_iter // 2)),
        bounds=None,
        stays_in_range=True,
        holds_out=False,
        n_adjustments=0,
    )


def check_trains(plan: Plan) -> None:
    """Raise an error if a recipe needs all rows at once."""
    if plan.recipe == "short":
        raise ValueError(
            "recipe='short' fits one model to rows in memory; committees and streams cannot use it. Call fit, with a "
            "few thousand rows if there are many, or choose recipe='accurate'."
        )


# fmt: off
_DEFAULTS: dict[str, dict[str, Any]] = {
    "accurate": {
        "keep_prob": 1.0, "l2": None, "smoothness": None, "agreement": 0.0, "n_teachers": 4, "bounds": "data",
        "n_adjustments": 3,
    },
    "droprule": {
        "keep_prob": 0.8, "l2": 0.05, "smoothness": 0.0, "agreement": 0.0, "n_teachers": 0, "bounds": None,
        "n_adjustments": 0,
    },
    "short": {
        "keep_prob": 1.0, "l2": None, "smoothness": None, "agreement": AGREEMENT, "n_teachers": 0, "bounds": "data",
        "n_adjustments": 0,
    },
}
_AS_GIVEN = (
    "learning_rate", "powerball", "keep_prob", "agreement", "batch_size", "max_iter", "schedule", "averaging",
    "n_iter_no_change",
)
# fmt: on


def count_rules(n_rows: int, n_features: int) -> int:
    """Return the power of two nearest to an eighth of the rows, from 8 to 64 and then 128, fewer for many features."""
    largest = _MOST_RULES if n_rows > _ROWS_FOR_MOST else _MOST_RULES // 2
    wanted = round(np.log2(np.clip(n_rows / _ROWS_PER_RULE, _FEWEST_RULES, largest)))
    most = int(np.log2(np.clip(_MOST_SETS / n_features, _FEWEST_RULES / 2, _MOST_RULES)))
    return min(2**wanted, 2**most, n_rows)


def _resolve(params: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the recipe's defaults for "auto"."""
    is_auto = {name: isinstance(value, str) and value == "auto" for name, value in params.items()}
    return {name: defaults.get(name, value) if is_auto[name] else value for name, value in params.items()}


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
