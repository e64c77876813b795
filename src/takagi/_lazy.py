"""Lazy imports: modules of a package are imported on first use, since scikit-learn alone takes a second."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def import_later(
    package: str, public: Sequence[str], modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package.

    They need its public names, and the modules of the names that are imported on first use.

    >>> find, list_names = import_later("takagi", ["Bend"], {"bend": ["Bend"]})
    >>> find("Bend"), list_names()
    (<class 'takagi.bend.Bend'>, ['Bend'])
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: list(public)
