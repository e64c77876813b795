"""Settings of a model: those that a user may choose, and those that a search tries."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from takagi import TableEncoder, TSKClassifier, TSKCommittee, TSKCommitteeClassifier, TSKRegressor
from takagi._text import count
from takagi.workflow._target import CLASSIFICATION, REGRESSION

_KINDS: dict[str, tuple[type, type]] = {  # of a task: a model, and a committee
    REGRESSION: (TSKRegressor, TSKCommittee),
    CLASSIFICATION: (TSKClassifier, TSKCommitteeClassifier),
}
_RULES = (4, 8, 16, 32, 64)
_EFFORTS = ((0.6, 5000), (0.8, 5000), (0.9, 15000))  # probability to keep a rule, iterations


@dataclass(frozen=True)
class ModelSettings:
    """The settings of a model; the defaults are those of `TSKRegressor` and `TSKClassifier`.

    Parameters
    ----------
    n_rules : int, "auto" or None, default=None
        Number of rules; None for the default of the recipe.
    recipe : {"auto", "accurate", "droprule", "short"}, default="auto"
        How the rules are learned.
    keep_prob : float or "auto", default="auto"
        The probability that DropRule keeps a rule.
    max_iter : int or "auto", default="auto"
        Training iterations.
    random_state : int, default=0
        Seed of all random numbers.
    committee : bool, default=False
        Whether to fit a committee of such models.
    max_conditions, max_terms : int, optional
        Limits of a short rule.
    extrapolation : {"hold", "linear"}, default="hold"
        Whether values far beyond the training rows are held, or formulas extrapolate linearly.
    max_levels : int, default=20
        Largest number of levels of a category with their own inputs.
    task : {"regression", "classification"}, default="regression"
        Whether the target is numbers or classes.
    """

    n_rules: int | str | None = None
    recipe: str = "auto"
    keep_prob: float | str = "auto"
    max_iter: int | str = "auto"
    random_state: int = 0
    committee: bool = False
    max_conditions: int | None = None
    max_terms: int | None = None
    extrapolation: str = "hold"
    max_levels: int = 20
    task: str = REGRESSION

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `TSKRegressor` or `TSKClassifier`."""
        others = ("committee", "max_levels", "task")
        return {name: value for name, value in asdict(self).items() if name not in others}

    @property
    def words(self) -> str:
        """Description of the model."""
        if self.committee:
            return "a committee"
        if isinstance(self.n_rules, int):
            return count(self.n_rules, "rule")
        return "short rules" if self.recipe == "short" else "rules"

    @property
    def complexity(self) -> tuple[bool, float]:
        """A measure of how hard the rules are to read: short rules are easiest, others count by their number."""
        return self.recipe != "short", self.n_rules if isinstance(self.n_rules, int) else float("inf")


def make_estimator(settings: ModelSettings) -> Any:
    """Return an unfitted estimator for a matrix: a regressor, a classifier, or a committee."""
    single, several = _KINDS[settings.task]
    estimator = single(**settings.parameters)
    if not settings.committee:
        return estimator
    return several(estimator=estimator, random_state=settings.random_state, n_jobs=-1)


def build_model(settings: ModelSettings) -> Pipeline:
    """Return an unfitted model for a table: encoder and estimator."""
    return make_pipeline(TableEncoder(settings.max_levels), make_estimator(settings))


def choose_settings(
    n_rules: int | str | None = None,
    max_iter: int | None = None,
    seed: int = 0,
    *,
    recipe: str = "auto",
    committee: bool = False,
    task: str = REGRESSION,
) -> ModelSettings:
    """Return settings with the given values, and defaults for the others."""
    default = ModelSettings(random_state=seed, recipe=recipe, committee=committee, task=task)
    return replace(default, n_rules=n_rules or default.n_rules, max_iter=max_iter or default.max_iter)


def list_candidates(
    n_rules: int | str | None = None,
    max_iter: int | None = None,
    seed: int = 0,
    *,
    recipe: str = "auto",
    task: str = REGRESSION,
) -> list[ModelSettings]:
    """Return the settings that a search tries, of all recipes by default; given values are not searched."""
    short = choose_settings(n_rules, max_iter, seed, recipe="short", task=task)
    accurate = choose_settings(n_rules, max_iter, seed, recipe="accurate", task=task)
    dropping = [
        ModelSettings(rules, "droprule", keep_prob, max_iter or iterations, seed, task=task)
        for rules in ([n_rules] if n_rules else _RULES)
        for keep_prob, iterations in _EFFORTS
    ]
    recipes = {
        "short": [short],
        "accurate": [accurate],
        "droprule": dropping if n_rules != "auto" else [],
    }
    return recipes[recipe] if recipe != "auto" else [one for tried in recipes.values() for one in tried]
