"""Scores of a model on held-out rows, compared with other methods.

`takagi fit` measures a `ScoreSheet`, a model file keeps it, and a report shows it.
"""

from dataclasses import dataclass

COVERAGE = 0.9  # of all intervals of scores


@dataclass(frozen=True)
class Score:
    """The score of one method on held-out rows.

    Parameters
    ----------
    who : str
        Name of the method.
    error : float
        Its error.
    low, high : float
        90 % confidence interval of the error.
    second : float
        A second measure, such as R2; NaN if it is not known.
    ratio : float, default=1.0
        The model's error divided by this one.
    ratio_low, ratio_high : float, default=1.0
        Interval of the ratio.
    """

    who: str
    error: float
    low: float
    high: float
    second: float
    ratio: float = 1.0
    ratio_low: float = 1.0
    ratio_high: float = 1.0

    def compare(self) -> str:
        """Say how the model does beside this, in words; the margin reaches to the limit that is nearer to 1.

        >>> Score("ridge regression", 2.0, 1.8, 2.2, 0.5, 0.88, 0.85, 0.91).compare()
        'better than ridge regression by 12 % +- 3 %'
        """
        limit = self.ratio_high if self.ratio < 1 else self.ratio_low
        change, margin = 100 * abs(self.ratio - 1), 100 * abs(self.ratio - limit)
        words = f"{_write(change)} % +- {_write(margin)} %"
        if self.ratio_high < 1:
            return f"better than {self.who} by {words}"
        if self.ratio_low > 1:
            return f"worse than {self.who} by {words}"
        return f"about as good as {self.who} ({'better' if self.ratio < 1 else 'worse'} by {words})"


@dataclass(frozen=True)
class ScoreSheet:
    """The scores of a model and of other methods, all measured in the same way.

    Parameters
    ----------
    measure, second : str
        Names of the error and of the second measure, such as "RMSE" and "R2".
    method : str
        How they were measured, in words.
    n_rows : int
        Number of rows that were known.
    scores : tuple of Score
        The model first, the simplest way, such as always the mean, last.
    """

    measure: str
    second: str
    method: str
    n_rows: int
    scores: tuple[Score, ...]

    def describe(self) -> list[str]:
        """Return sentences that compare the model with the other methods."""
        simplest = self.scores[-1]
        if simplest.ratio_high >= 1:
            better = [score for score in self.scores[1:-1] if score.ratio_low > 1]
            return [f"No better than {simplest.who}: do not use it.", *(_begin(f"{s.compare()}.") for s in better)]
        return [_begin(f"{score.compare()}.") for score in self.scores[1:-1]]


def _write(percent: float) -> str:
    """Write percents as integers, or with one decimal below one percent.

    >>> _write(12.3), _write(0.24), _write(0.0)
    ('12', '0.2', '0')
    """
    return f"{percent:.0f}" if percent >= 0.95 or percent < 0.001 else f"{percent:.1g}"


def _begin(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
