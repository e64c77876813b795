"""Strict reading of JSON: the type of every value is checked, and errors say where in the document it is."""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from types import NoneType
from typing import Any, NoReturn, TypeVar

import numpy as np

from takagi._typing import FloatArray

_MAX_LISTS = 1_000_000  # an empty list takes two bytes of a file and thirty times that in memory
_MAX_INTEGER = 2**63

_T = TypeVar("_T")


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that cannot be saved."""


def parse(content: bytes | bytearray) -> "Node":
    """Parse JSON without NaN, duplicate keys, deep nesting or too many lists."""
    if content.count(b"[") + content.count(b"{") > _MAX_LISTS:
        raise ModelFileError(f"it holds more than {_MAX_LISTS:,} lists and objects, which no model has.")
    try:
        value = json.loads(content, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError("its lists or objects are nested too deep.") from None
    except ValueError as error:  # broken JSON, broken UTF-8, an integer of thousands of digits
        raise ModelFileError(f"it is not valid JSON ({error}).") from None
    return Node(value, "")


@dataclass(frozen=True)
class Node:
    """A value of a JSON document and its place, such as ``model.rules.centers``."""

    value: Any
    path: str

    def refuse(self, expected: str) -> NoReturn:
        """Raise an error that says what was expected here and what was found."""
        raise ModelFileError(f"{self.path or 'the document'} must be {expected}, got {_show(self.value)}.")

    def open(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, "Node"]:
        """Return the fields of an object with exactly these names."""
        if type(self.value) is not dict:
            self.refuse("an object")
        for name in required:
            self.field(name)
        for name in self.value:
            if name not in required and name not in optional:
                raise ModelFileError(f"{self.path or 'the document'} has a field {name[:40]!r}, which is unknown.")
        return {name: self.field(name) for name in self.value}

    def field(self, name: str) -> "Node":
        """Return one field of an object."""
        if type(self.value) is not dict:
            self.refuse("an object")
        if name not in self.value:
            raise ModelFileError(f"{self.path or 'the document'} has no field {name!r}.")
        return Node(self.value[name], f"{self.path}.{name}".lstrip("."))

    def find(self, *names: str) -> dict[str, "Node"]:
        """Return the given fields that an object has."""
        if type(self.value) is not dict:
            self.refuse("an object")
        return {name: self.field(name) for name in names if name in self.value}

    def __iter__(self) -> Iterator["Node"]:
        """Go through a list."""
        if type(self.value) is not list:
            self.refuse("a list")
        return (Node(value, f"{self.path}[{k}]") for k, value in enumerate(self.value))

    def maybe(self, read: Callable[["Node"], _T]) -> _T | None:
        """Return None for null, else the value that `read` returns."""
        return None if self.value is None else read(self)

    def text(self, choices: Collection[str] | None = None) -> str:
        """Return a string, or one of some strings."""
        if type(self.value) is not str or (choices is not None and self.value not in choices):
            self.refuse("a string" if choices is None else "one of " + ", ".join(map(repr, choices)))
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return a list of strings."""
        return tuple(item.text() for item in self)

    def flag(self) -> bool:
        """Return true or false."""
        if type(self.value) is not bool:
            self.refuse("true or false")
        return self.value

    def integer(self, least: int = -_MAX_INTEGER) -> int:
        """Return an integer."""
        if type(self.value) is not int or not least <= self.value < _MAX_INTEGER:
            self.refuse("an integer" if least < 0 else f"an integer of at least {least}")
        return self.value

    def number(self) -> float:
        """Return a finite number."""
        if not _is_finite(self.value):
            self.refuse("a finite number")
        return float(self.value)

    def scalar(self) -> Any:
        """Return null, a boolean, a string or a finite number unchanged."""
        if type(self.value) in (NoneType, bool, str):
            return self.value
        return self.integer() if type(self.value) is int else self.number()

    def array(self, n_dims: int, null: float | None = None) -> FloatArray:
        """Return an array from nested lists of equal lengths; `null` is the value of null, if it is allowed."""
        level, shape = [self.value], []
        for _ in range(n_dims):
            if set(map(type, level)) - {list}:
                self.refuse(f"numbers in lists nested {n_dims} deep")
            lengths = set(map(len, level))
            if len(lengths) > 1:
                shown = " and ".join(map(str, sorted(lengths)[:2]))
                raise ModelFileError(f"{self.path} must have lists of equal lengths, got lengths {shown}.")
            shape.append(lengths.pop() if lengths else 0)
            level = list(chain.from_iterable(level))
        for k, value in enumerate(level):
            if not (_is_finite(value) or (value is None and null is not None)):
                place = "".join(f"[{i}]" for i in np.unravel_index(k, shape)) if shape else ""
                Node(value, self.path + place).refuse("a finite number")
        return np.array([null if value is None else value for value in level], dtype=float).reshape(shape)

    def shaped(self, shape: tuple[int, ...], null: float | None = None) -> FloatArray:
        """Return an array of a shape; one without rows may have no columns."""
        values = self.array(len(shape), null)
        if values.shape != shape and not len(values) == shape[0] == 0:
            self.refuse(f"an array of shape {shape}")
        return values.reshape(shape)


def _is_finite(value: Any) -> bool:
    return math.isfinite(value) if type(value) is float else type(value) is int and abs(value) < 1e300


def _refuse_constant(word: str) -> NoReturn:
    raise ModelFileError(f"it contains {word}, but numbers must be finite.")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ModelFileError(f"it has the field {repeated[:40]!r} twice in one object.")
    return fields


def _show(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    text = json.dumps(value) if not isinstance(value, int) or abs(value) < 1e30 else "a huge integer"
    return text if len(text) <= 60 else text[:57] + "..."
