"""The target of a table: numbers, or labels of classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from takagi._text import count, quote
from takagi._typing import BoolArray, FloatArray
from takagi.tables import (
    Cells,
    DatasetError,
    RequestError,
    as_numbers,
    as_words,
    find_form,
    find_kind,
    find_odd_word,
    parse_number,
    read_cells,
)

CLASSIFICATION, REGRESSION = "classification", "regression"
_MOST_CLASSES = 100
_MOST_LISTED = 5
_MOST_FORMS = 20  # values such as "1st" and "2nd" that are classes, while more are numbers in several forms
_LARGEST_WHOLE = 1e15  # beyond which a float cannot represent every integer


def find_task(table: Any, name: str) -> str:
    """Return the task of a target: text, booleans and two distinct numbers are classes, other numbers are not.

    If at least half of the text is numbers, or nearly all of it is numbers or dates in several forms, it counts as
    numbers with a wrong cell, which `read_target` names.
    """
    cells = read_cells(table[name], name)
    kind = find_kind(cells)
    if kind == "number":
        numbers = as_numbers(cells, name)
        is_class = len(np.unique(numbers[~np.isnan(numbers)])) == 2
    elif kind == "category":
        n_numbers = sum(parse_number(word) is not None for word in cells.words)
        has_many = len(cells.words) > _MOST_FORMS
        is_mixed = 2 * n_numbers >= len(cells.words) or (has_many and find_odd_word(cells.words) is not None)
        is_class = cells.kind != "text" or not is_mixed
    else:
        is_class = kind == "boolean"
    return CLASSIFICATION if is_class else REGRESSION


def read_target(table: Any, name: str, about: str = "") -> tuple[FloatArray, BoolArray]:
    """Return the target's numbers, and a mask of rows that have one; `about` is the subject of error messages."""
    cells = read_cells(table[name], name)
    kind = find_kind(cells)
    _reject_nothing(kind, name)
    if kind == "boolean":
        raise DatasetError(f"the target {quote(name)} holds true and false, but must be numbers; write 1 and 0.", about)
    if kind == "date":
        raise ValueError(
            f"the target {quote(name)} holds dates, but must be numbers; write days, or choose another target."
        )
    if kind == "category":
        row, word = _find_word(cells)
        _reject_names(word, row, name)
        _reject_forms(cells, name)
        raise DatasetError(
            f"the target {quote(name)} must be numbers, got {quote(word)} (first in row {row}). Correct it, leave the "
            "cell empty, or choose another target.",
            about,
        )
    numbers = as_numbers(cells, name)
    return numbers, ~np.isnan(numbers)


def read_classes(table: Any, name: str) -> tuple[np.ndarray, BoolArray]:
    """Return the target's labels (booleans, integers, or else text), and a mask of rows that have one."""
    cells = read_cells(table[name], name)
    kind = find_kind(cells)
    _reject_nothing(kind, name)
    codes, words = as_words(cells)
    if name in words:
        _reject_names(name, int(np.argmax(codes == words.index(name))), name)
    labels = _make_labels(kind, words)
    _reject_many(len(set(labels)), int((codes >= 0).sum()), name, kind)
    return np.array([*labels, None], dtype=object)[codes], codes >= 0


def match_labels(table: Any, name: str, classes: Sequence[Any]) -> tuple[np.ndarray, BoolArray]:
    """Return labels in the form of a model's classes, and a mask of rows that have one; unknown labels are errors."""
    codes, words = as_words(read_cells(table[name], name))
    known = {_fold(str(label), classes): label for label in classes}
    for code, word in enumerate(words):
        if _fold(word, classes) not in known:
            row = int(np.argmax(codes == code))
            raise ValueError(
                f"{quote(word)} in row {row} of {quote(name)} is none of the model's classes, {list_labels(classes)}."
            )
    labels = np.array([*(known[_fold(word, classes)] for word in words), None], dtype=object)
    return labels[codes], codes >= 0


def list_labels(labels: Sequence[Any]) -> str:
    """List classes, the first of many.

    >>> list_labels(["no", "yes"]), list_labels(range(100))
    ("'no', 'yes'", '0, 1, 2, 3, 4 and 95 more')
    """
    shown = ", ".join(quote(label) if isinstance(label, str) else str(label) for label in labels[:_MOST_LISTED])
    return shown + (f" and {len(labels) - _MOST_LISTED} more" if len(labels) > _MOST_LISTED else "")


# -- parts -------------------------------------------------------------------------------------------------------------


def _make_labels(kind: str, words: Sequence[str]) -> list[Any]:
    """Return labels from text."""
    if kind == "boolean":
        return [_fold(word, [True]) == "true" for word in words]
    numbers = [parse_number(word) for word in words] if kind == "number" else [None]
    if all(number is not None and number.is_integer() and abs(number) < _LARGEST_WHOLE for number in numbers):
        return [int(number) for number in numbers if number is not None]
    return list(words)


def _fold(word: str, classes: Sequence[Any]) -> str:
    """Return text in the form in which labels are compared: booleans in lower case."""
    return word.strip().lower() if isinstance(classes[0], bool) else word


def _reject_nothing(kind: str, name: str) -> None:
    if kind == "nothing":
        raise ValueError(f"the target {quote(name)} has no value in any row.")


def _reject_many(n_classes: int, n_rows: int, name: str, kind: str) -> None:
    if n_classes <= _MOST_CLASSES and (n_classes <= 2 or 2 * n_classes <= n_rows):
        return
    is_number = kind == "number"
    raise RequestError(
        f"the target {quote(name)} has {n_classes:,} different {'numbers' if is_number else 'values'} in "
        f"{count(n_rows, 'row')}, too many for classes: at most {_MOST_CLASSES} are told apart, with two rows each on "
        f"average. Merge some, or {'predict it as a number' if is_number else 'choose another target'}.",
        "task" if is_number else "target",
    )


def _reject_names(word: str, row: int, name: str) -> None:
    if word == name:
        raise ValueError(f"row {row} of the table repeats the names of its columns. Remove that line.")


def _reject_forms(cells: Cells, name: str) -> None:
    """Raise an error for numbers or dates that are written in several forms."""
    codes, words = as_words(cells)
    odd = find_odd_word(words) if cells.kind == "text" else None
    if odd is None or (odd[0] == "numbers" and find_form(words[odd[1] : odd[1] + 1]) is None):
        return
    row = int(np.argmax(codes == odd[1]))
    if odd[0] == "dates":
        what = "dates, but must be numbers; write days, or choose another target"
    else:
        what = f"numbers in several forms, such as {quote(words[0])} and {quote(words[odd[1]])} (first in row {row})"
        what += "; write all of them in one, or choose another target"
    raise ValueError(f"the target {quote(name)} holds {what}.")


def _find_word(cells: Cells) -> tuple[int, str]:
    """Return the first row whose text is not a number, and that text."""
    codes, words = as_words(cells)
    odd = find_odd_word(words)
    if odd is not None and odd[0] == "numbers":
        return int(np.argmax(codes == odd[1])), words[odd[1]]
    for code, word in enumerate(words):
        if parse_number(word) is None:
            return int(np.argmax(codes == code)), word
    return int(np.argmax(codes >= 0)), words[0]
