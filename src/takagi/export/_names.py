"""Names of columns as identifiers of other languages."""

import re
import unicodedata
from collections.abc import Iterable

_LONGEST = 40


def make_identifier(name: str) -> str:
    """Return a name of letters, digits and underscores that begins with a letter, and is not too long.

    >>> make_identifier("größe (m²)")
    'grosse_m2'
    >>> make_identifier("2nd */")
    'x2nd'
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:_LONGEST]
    return words if words[:1].isalpha() else f"x{words}"


class Namespace:
    """Unique identifiers, also if upper and lower case are not distinguished.

    >>> names = Namespace(["n_rules"])
    >>> [names.add(word) for word in ("fuel", "Fuel", "n_rules")]
    ['fuel', 'Fuel_2', 'n_rules_2']
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}

    def add(self, name: str) -> str:
        """Return the identifier, with a number if it is taken."""
        candidate, number = name, 1
        while candidate.lower() in self._taken:
            number += 1
            candidate = f"{name}_{number}"
        self._taken.add(candidate.lower())
        return candidate


def make_comment_safe(text: str) -> str:
    """Return text that cannot end a comment or a line and is visible; letters of all languages stay.

    >>> make_comment_safe("a */ b ??/ c")
    'a * / b ? ?/ c'
    """
    shown = "".join(char if char == "\n" or char.isprintable() else "?" for char in text.replace("\\", "/"))
    spaced = shown.replace("*/", "* /").replace("/*", "/ *")
    return re.sub(r"\?(?=\?)", "? ", spaced)
