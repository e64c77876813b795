"""The recipe: what a fit uses where a parameter is "auto"."""

from dataclasses import dataclass, replace

import numpy as np

from takagi.fitting._pilots import MANY_FEATURES, Strength
from takagi.fitting._rows import Rows, measure_columns
from takagi.training import TrainConfig

_ROWS_PER_RULE = 8
_FEWEST_RULES, _MOST_RULES = 8, 128
_ROWS_FOR_MOST = 1_000  # more than these
_MOST_SETS = 3_200  # rules times features
_MANY_ROWS = 2_000  # from which on batches are larger
_DROPRULE = {"keep_prob": 0.8, "l2": 0.05, "smoothness": 0.0, "batch_size": 64}  # for a given number of rules


@dataclass(frozen=True)
class Recipe:
    """Sizes and penalties of a fit.

    A given number of rules is meant to be read, so DropRule is on, which makes every rule predict on its own. With
    "auto" rules are as many as the rows can tell apart, nothing is dropped, and penalties are measured by pilot fits;
    where rows and features are few, `is_taught`: chance is averaged out by teachers. `is_open` tells that the number of
    rules was not given.
    """

    n_rules: int
    keep_prob: float
    batch_size: int
    l2: float | str
    smoothness: float | str
    is_taught: bool = False
    is_open: bool = False

    @property
    def measures(self) -> bool:
        """Whether pilot fits are to find a penalty."""
        return "auto" in (self.l2, self.smoothness)

    def configure(self, config: TrainConfig, strength: Strength, training: Rows, is_scaled: bool) -> TrainConfig:
        """Return settings with penalties for a batch: given ones, or those for a pass over all rows, in proportion."""
        spread = 1.0 if is_scaled else float((measure_columns(training.y, training.weight)[1] ** 2).mean())
        return self.penalize(config, strength, training.X.shape, spread * training.y.shape[1])

    def penalize(self, config: TrainConfig, strength: Strength, size: tuple[int, ...], variance: float) -> TrainConfig:
        """Do the same for so many rows and features, and so large a variance of all targets together."""
        n_rows, n_features = size
        part = self.batch_size / n_rows * max(1.0, n_features / MANY_FEATURES)
        return replace(
            config,
            keep_prob=self.keep_prob,
            batch_size=self.batch_size,
            l2=strength.l2 * part if isinstance(self.l2, str) else self.l2,
            smoothness=strength.smoothness * part * variance if isinstance(self.smoothness, str) else self.smoothness,
        )


def choose_recipe(
    n_rules: int | str,
    keep_prob: float | str,
    batch_size: int | str,
    l2: float | str,
    smoothness: float | str,
    *,
    n_rows: int,
    n_features: int,
) -> Recipe:
    """Return the recipe for parameters that are numbers or "auto"."""
    wishes = {"keep_prob": keep_prob, "batch_size": batch_size, "l2": l2, "smoothness": smoothness}
    drops = n_rules != "auto" if keep_prob == "auto" else keep_prob < 1  # type: ignore[operator]
    measured = {"keep_prob": 1.0, "batch_size": 64 if n_rows < _MANY_ROWS else 256}
    known = {name: value for name, value in wishes.items() if value != "auto"}
    settings = {**wishes, **(_DROPRULE if drops else measured), **known}
    is_open = isinstance(n_rules, str)
    n_rules = count_rules(n_rows, n_features) if isinstance(n_rules, str) else n_rules
    recipe = Recipe(n_rules, **settings, is_open=is_open)  # type: ignore[arg-type]
    return replace(recipe, is_taught=recipe.measures and n_rows < _MANY_ROWS and n_features <= MANY_FEATURES)


def count_rules(n_rows: int, n_features: int) -> int:
    """Return the power of two nearest to an eighth of the rows, from 8 to 64 and then 128, fewer for many features."""
    largest = _MOST_RULES if n_rows > _ROWS_FOR_MOST else _MOST_RULES // 2
    wanted = round(np.log2(np.clip(n_rows / _ROWS_PER_RULE, _FEWEST_RULES, largest)))
    most = int(np.log2(np.clip(_MOST_SETS / n_features, _FEWEST_RULES / 2, _MOST_RULES)))
    return min(2**wanted, 2**most, n_rows)
