"""Round numbers: the number with the fewest digits in a range."""

import math

_MOST_DIGITS = 15


def round_between(low: float, high: float) -> float:
    """Return the number with the fewest digits that is above `low` and below `high`, the middle one of several.

    >>> round_between(3.141, 3.987), round_between(0.00123, 0.00189), round_between(-17.0, 250.0)
    (3.5, 0.0015, 0.0)
    >>> round_between(1012.0, 1019.0), round_between(5.0, 5.0)
    (1015.0, 5.0)
    """
    if not high > low:
        return float(low)
    middle = (low + high) / 2
    if low < 0 < high:
        return 0.0
    step = 10.0 ** math.floor(math.log10(max(abs(low), abs(high))))
    for _ in range(_MOST_DIGITS):
        for size in (step, step / 2):  # full steps, then halves
            number = round(middle / size) * size
            number = float(f"{number:.15g}")
            if low < number < high:
                return number
        step /= 10
    return middle
