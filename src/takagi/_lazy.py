"""Packages whose modules are imported when a name of theirs is used: scikit-learn alone takes a second."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def import_later(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, given the names that its modules have.

    >>> import_later("takagi", {"bend": ["Bend"]})("Bend")
    <class 'takagi.bend.Bend'>
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find
