"""The findings of a table check: each has columns, evidence and advice."""

from collections.abc import Iterable
from dataclasses import dataclass

from takagi._text import quote, wrap

FINDING_KINDS = (
    "leak",
    "sum",
    "identifier",
    "row number",
    "code",
    "mixed",
    "placeholder",
    "few values",
    "few rows",
    "drift",
    "duplicate rows",
    "duplicate column",
    "constant",
    "nearly constant",
    "missing with target",
    "outliers",
    "rare levels",
)  # the most severe first


@dataclass(frozen=True)
class Finding:
    """A possible problem of a table, to look at before training.

    Parameters
    ----------
    kind : str
        Its kind, such as "leak" or "identifier".
    columns : tuple of str
        The columns concerned; none if it is the whole table.
    evidence : str
        What was found, with figures.
    advice : str
        What to do, or how to decide whether something needs to be done.

    Examples
    --------
    >>> from takagi.tables import Finding
    >>> print(Finding("constant", ("site",), "'north' in every row", "Leave it out."))
    'site', constant: 'north' in every row. Leave it out.
    """

    kind: str
    columns: tuple[str, ...]
    evidence: str
    advice: str

    @property
    def column(self) -> str:
        """The columns as one text."""
        return ", ".join(self.columns)

    def __str__(self) -> str:
        names = f"{', '.join(map(quote, self.columns[:3]))}{', ...' if len(self.columns) > 3 else ''}, "
        return f"{names if self.columns else ''}{self.kind}: {self.evidence}. {self.advice}"


class TableCheck(tuple[Finding, ...]):
    """All findings of a table, the most severe first: a tuple that prints as a list of lines.

    Examples
    --------
    >>> from takagi.tables import Finding, TableCheck
    >>> check = TableCheck([Finding("constant", ("site",), "'north' in every row", "Leave it out.")])
    >>> print(check)
    1 finding
    - 'site', constant: 'north' in every row. Leave it out.
    >>> check.find("leak")
    ()
    """

    __slots__ = ()

    def __new__(cls, findings: Iterable[Finding] = ()) -> "TableCheck":
        """Sort findings by their kinds."""
        return super().__new__(cls, sorted(findings, key=lambda finding: FINDING_KINDS.index(finding.kind)))

    def find(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of one kind."""
        return tuple(finding for finding in self if finding.kind == kind)

    def __str__(self) -> str:
        if not self:
            return "Nothing found."
        lines = [wrap("-", str(finding).split(" "), "  ") for finding in self]
        return "\n".join([f"{len(self)} finding{'s' * (len(self) > 1)}", *lines])
