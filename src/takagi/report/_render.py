"""A summary as an HTML page: one file with text, style, script and numbers."""

import base64
import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from takagi._messages import need_extra
from takagi._text import format_number, format_share, format_to_step, shorten, step_below
from takagi.kernels import PARAMETERS

MOST_BYTES = 2_000_000
_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("rules.js", "charts.js", "lists.js", "controls.js", "panel.js", "page.js")
_MOST_NUMBERS = 20_000  # that are written as text
_SHOWN = 6  # conditions and terms of a rule that are shown at first
_FEW_COLUMNS = 100
_LISTED = 6  # findings that are shown at first
_SECTIONS = {
    "score": "Score",
    "findings": "Look at this",
    "what-if": "What if",
    "rules": "Rules",
    "sets": "Sets",
    "importance": "What matters",
    "errors": "Errors",
    "training": "Training",
    "simpler": "Simpler",
    "data-brief": "Data",
}
_FOR_SCRIPT = (
    "outputs", "parts", "data", "scores", "order", "importance", "residuals", "history", "simplification", "model",
    "rows", "sets", "band", "formulas", "classes", "error", "told",
)  # fmt: skip


def render_page(summary: dict[str, Any]) -> str:
    """Return the page of a summary, with less content if it would be too large."""
    content = {**summary, "sets": None}
    for trim in (_keep_all, _keep_one_row, _leave_model_out, _keep_few_columns):
        content = trim(content)
        page = _fill_template(content)
        if len(page.encode()) <= MOST_BYTES:
            return page
    raise ValueError(
        f"The page would have {len(page.encode()):,} bytes, more than {MOST_BYTES:,}. Shorten the names of columns and "
        "levels, or fit fewer rules."
    )


# -- content that a page omits if it would be too large, in this order -------------------------------------------------


def _keep_all(content: dict[str, Any]) -> dict[str, Any]:
    return content


def _keep_one_row(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out all rows except the first one of the panel."""
    rows = content["rows"]
    here = slice(rows["start"], rows["start"] + 1)
    return {**content, "rows": {"start": 0, **{name: rows[name][here] for name in ("numbers", "cells", "targets")}}}


def _leave_model_out(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out the model, and so the what-if panel; the sets of the most important columns stay."""
    model, columns = content["model"], content["data"]["columns"]
    pairs = [pair for part in model["parts"] for pair in _list_sets(part, len(model["mean"]))]
    bounds = np.cumsum([0, *(len(column["mean"]) for column in columns)]).tolist()
    sets = {}
    for c in content["order"][: content["rules"]["n_columns"]]:
        here = slice(bounds[c], bounds[c + 1])
        sets[c] = [{"centers": a[here].tolist(), "widths": s[here]} for a, s in pairs]
    return {**content, "model": None, "rows": None, "sets": sets}


def _list_sets(part: dict[str, Any], n_features: int) -> list[tuple[np.ndarray, list[float]]]:
    """Return the centers and widths that each rule of a part has on the features."""
    origin = np.array(part["origin"])
    n_projected = len(part["centers"][0]) - len(origin)
    here = slice(n_projected, n_projected + n_features)
    pairs = zip(part["centers"], part["widths"], strict=True)
    return [(np.array(centers[here]) + origin[:n_features], widths[here]) for centers, widths in pairs]


def _keep_few_columns(content: dict[str, Any]) -> dict[str, Any]:
    """List the most important columns only."""
    kept = content["order"][:_FEW_COLUMNS]
    pick = lambda values: [values[c] for c in kept]  # noqa: E731
    return {
        **content,
        "data": {**content["data"], "columns": pick(content["data"]["columns"])},
        "importance": [{name: pick(values) for name, values in part.items()} for part in content["importance"]],
        "sets": {place: content["sets"][c] for place, c in enumerate(kept) if c in content["sets"]},
        "order": list(range(len(kept))),
    }


# -- the page ----------------------------------------------------------------------------------------------------------


def _fill_template(content: dict[str, Any]) -> str:
    jinja2 = need_extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "number": format_number,
        "beside": lambda value, largest: format_to_step(value, step_below(largest) / 1000),
        "decimals": _write_decimals,
        "share": format_share,
        "shorten": shorten,
    }
    script = _join_scripts()
    page = environment.get_template("report.html").render(
        content,
        version=version("takagi"),
        sections=_list_sections(content),
        shown=_SHOWN,
        listed=_LISTED,
        policy=_write_policy(script),
        style=_trust((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=_trust(script),
        payload=_trust(_write_json({name: content[name] for name in _FOR_SCRIPT})),
    )
    return page.encode(errors="replace").decode()  # half of a surrogate pair is no text


def _write_decimals(value: float | None, decimals: int, sign: str = "") -> str:
    """Write a number with fixed decimals; a dash for none, and no minus zero.

    >>> _write_decimals(-0.0001, 3), _write_decimals(2.0, 1, "+")
    ('0.000', '+2.0')
    """
    if value is None:
        return "–"  # noqa: RUF001
    rounded = round(value, decimals) or 0.0
    return f"{rounded:{sign if rounded else ''}.{decimals}f}".replace("-", "−")  # noqa: RUF001


def _trust(text: str) -> Any:
    """Mark text as needing no escapes: this package's own files, and JSON that cannot end its element."""
    return need_extra("markupsafe", "report").Markup(text)


def _list_sections(content: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the sections that the page has."""
    has_curve = "curve" in (content["simplification"] or {})
    absent = {
        "findings": not content["findings"],
        "what-if": not content["model"],
        "training": not content["history"],
        "simpler": not has_curve,
    }
    return [(key, name) for key, name in _SECTIONS.items() if not absent.get(key)]


def _join_scripts() -> str:
    parts = [(_TEMPLATES / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _write_policy(script: str) -> str:
    """Return the content security policy of the page: run its one script, and contact no host."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def _write_json(values: dict[str, Any]) -> str:
    """Return JSON that is safe in a page: ASCII, without characters that have a meaning in HTML."""
    if values["model"] is not None:
        values = {**values, "model": _pack_rules(values["model"])}
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _pack_rules(model: dict[str, Any]) -> dict[str, Any]:
    """Write the arrays of large rules as base64, which needs half of the bytes."""
    parts = [{name: part[name] for name in PARAMETERS if part[name] is not None} for part in model["parts"]]
    arrays = [{name: np.array(values, dtype=float) for name, values in part.items()} for part in parts]
    if sum(array.size for part in arrays for array in part.values()) <= _MOST_NUMBERS:
        return model
    for part in arrays:
        part["widths"][np.isnan(part["widths"])] = np.inf
    packed = [{name: {"shape": a.shape, "base64": _to_base64(a)} for name, a in part.items()} for part in arrays]
    return {**model, "parts": [{**part, **small} for part, small in zip(model["parts"], packed, strict=True)]}


def _to_base64(array: np.ndarray) -> str:
    return base64.b64encode(array.astype("<f8").tobytes()).decode()
