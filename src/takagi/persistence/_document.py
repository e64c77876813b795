"""The document of a model file: its head, checksum and content. All readers of model files start here."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from takagi._files import open_regular, write_whole
from takagi.persistence._schema import ModelFileError, Node, parse
from takagi.persistence._upgrade import upgrade

VERSION = 2
MAX_BYTES = 100_000_000

_START = re.compile(rb'\{\s*"format"\s*:\s*"takagi-model"\s*,\s*"version"\s*:\s*(\d{1,9})\s*,')
_HEAD = re.compile(rb'\{"format":"takagi-model","version":\d+,"takagi":"[\w.+!-]+","sha256":"([0-9a-f]{64})","model":')
_HEAD_BYTES = 1000
_FIELDS = ("format", "version", "takagi", "sha256", "model")
_PIECE_BYTES = 2**20
_NO_DIGEST = "0" * 64

_T = TypeVar("_T")


class Document(NamedTuple):
    """The content of a model file, in the current version."""

    model: Node
    scores: Node | None
    known_rows: Node | None


def write_document(path: str | os.PathLike, content: dict[str, Any]) -> None:
    """Write a document to a temporary file, and then move it into place."""
    head = {"format": "takagi-model", "version": VERSION, "takagi": version("takagi"), "sha256": _NO_DIGEST}
    written = json.dumps({**head, **content}, allow_nan=False, separators=(",", ":")).encode("ascii")
    digest = hashlib.sha256(written).hexdigest()
    write_whole(Path(path), written.replace(_NO_DIGEST.encode(), digest.encode(), 1))


def read_document(path: str | os.PathLike, max_bytes: int, decode: Callable[[Document], _T]) -> _T:
    """Read a document and return what `decode` makes of it; errors name the file."""
    path = Path(path)
    with open_regular(path) as stream:
        try:
            content = _read_checked(stream, max_bytes)
            parts = parse(content).open(_FIELDS, optional=("scores", "known_rows"))
            model = upgrade(parts["model"], parts["version"].integer(least=1))
            return decode(Document(model, parts.get("scores"), parts.get("known_rows")))
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be loaded: {error}") from None


def _read_checked(stream: BinaryIO, max_bytes: int) -> bytearray:
    """Return the content of a file of this format and version, as it was written."""
    start = stream.read(_HEAD_BYTES)
    _check_start(start)
    content = bytearray(start)
    while piece := stream.read(_PIECE_BYTES):  # reading max_bytes at once would need that memory for any file
        content += piece
        if len(content) > max_bytes:
            raise ModelFileError(f"it is larger than {max_bytes:,} bytes; raise max_bytes to read it.")
    head = _HEAD.match(content)
    if not content.endswith(b"}"):
        raise ModelFileError(f"it is cut short or damaged at its end (it has {len(content):,} bytes).")
    if head is None or _digest(content, *head.span(1)) != head[1].decode():
        raise ModelFileError("its checksum does not match: it was damaged, or edited by hand. Save the model again.")
    return content


def _check_start(start: bytes) -> None:
    """Raise an error unless a file begins as a model file of a version that can be read."""
    found = _START.match(start)
    if found is None:
        raise ModelFileError(_guess_kind(start))
    if int(found[1]) > VERSION:
        raise ModelFileError(
            f"it has format version {int(found[1])}, but takagi {version('takagi')} reads versions up to {VERSION}. "
            "Upgrade takagi."
        )
    if int(found[1]) < 1:
        raise ModelFileError(f"it has format version {int(found[1])}, which does not exist.")


def _guess_kind(start: bytes) -> str:
    if not start:
        return "it is empty."
    if b'{"format":"takagi-model","version":'.startswith(start[:35]):
        return "it is cut short."
    if start.startswith(b"\x80"):
        return "it looks like a pickle, which can run any code when read; save the model with takagi.save instead."
    if b'"takagi-rules"' in start:
        return "it holds rules exported for a web page, not a whole model; save the model with takagi.save."
    return 'it is not a model file of takagi, which begins with {"format":"takagi-model".'


def _digest(content: bytearray, start: int, stop: int) -> str:
    """Return the sha256 of a file with zeros in place of the checksum in it."""
    view = memoryview(content)
    digest = hashlib.sha256(view[:start])
    digest.update(_NO_DIGEST.encode())
    digest.update(view[stop:])
    return digest.hexdigest()
