"""Tables in JSON: an object in each line, or a list of objects."""

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from takagi._messages import need_extra
from takagi.tables._errors import DatasetError
from takagi.tables._whole import WholeTable

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


def is_json(head: bytes, name: str = "") -> bool:
    r"""Whether a file is JSON: by the name, or by an object in the first line.

    >>> is_json(b'{"a": 1}'), is_json(b'[\n {"a": 1}]'), is_json(b"{a},b"), is_json(b"", "x.jsonl")
    (True, True, False, True)
    """
    if name.lower().removesuffix(".gz").endswith(JSON_SUFFIXES):
        return True
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"["):
        return start[1:].lstrip().startswith(b"{")
    try:
        return start.startswith(b"{") and isinstance(json.loads(start.splitlines()[0]), dict)
    except ValueError:
        return False


def open_json(stream: BinaryIO, label: str) -> WholeTable:
    """Read objects as rows; nested objects become columns such as "engine.power"."""
    pandas = need_extra("pandas", "cli")
    text = io.TextIOWrapper(stream, encoding="utf-8-sig")
    try:
        rows = list(_read_objects(text, label))
    except UnicodeDecodeError:
        raise DatasetError(f"{label} is not UTF-8, as JSON is. Save it as UTF-8.") from None
    finally:
        text.detach()  # the caller closes the stream
    if not rows:
        raise DatasetError(f"{label} is empty.")
    frame = pandas.json_normalize(rows)
    return WholeTable(label, "JSON", frame.set_axis([str(name) for name in frame.columns], axis=1))


def _read_objects(text: io.TextIOWrapper, label: str) -> Iterator[dict[str, Any]]:
    """Yield the objects, or raise an error that names the line of a value that is not an object."""
    for number, line in enumerate(text, start=1):
        if not line.strip():
            continue
        if line.lstrip()[0] == "[" and number == 1:
            yield from _read_list(line + text.read(), label)
            return
        try:
            found = json.loads(line)
        except ValueError as error:
            raise DatasetError(
                f"line {number} of {label} is no JSON object ({error}). Each line holds one, such as "
                '{"size": 3, "price": 200}.'
            ) from error
        if not isinstance(found, dict):
            raise DatasetError(f"line {number} of {label} must be a JSON object, got {line.strip()[:40]}.")
        yield found


def _read_list(content: str, label: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(content)
    except ValueError as error:
        raise DatasetError(f"{label} is no JSON: {error}.") from error
    other = [row for row in found if not isinstance(row, dict)]
    if other:
        raise DatasetError(f"{label} must be a list of JSON objects, but holds {json.dumps(other[0])[:40]}.")
    return found
