"""Model files: one JSON document with the whole model, checked on reading; nothing in it is executed."""

import hashlib
import json
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from takagi._files import open_regular, write_whole
from takagi.persistence._codec import decode_model, encode_model
from takagi.persistence._schema import ModelFileError, parse
from takagi.persistence._scores import decode_scores, encode_scores
from takagi.persistence._upgrade import upgrade

VERSION = 2
MAX_BYTES = 100_000_000

_START = re.compile(rb'\{\s*"format"\s*:\s*"takagi-model"\s*,\s*"version"\s*:\s*(\d{1,9})\s*,')
_HEAD = re.compile(rb'\{"format":"takagi-model","version":\d+,"takagi":"[\w.+!-]+","sha256":"([0-9a-f]{64})","model":')
_HEAD_BYTES = 1000
_PIECE_BYTES = 2**20
_NO_DIGEST = "0" * 64


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted model to a file that `load` reads.

    The file holds the rules with their names and profile, the parameters, the history, scores that `takagi fit` found,
    and the steps of a pipeline before the regressor: a `TableEncoder` and scalers. It is written beside its place and
    then moved there, so a file that was there before stays whole until the new one is. A `random_state` that is a
    generator is not kept.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        A fitted estimator, a pipeline that ends in one, or rules alone.
    path : str or Path
        The file; one that exists is replaced.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from takagi import RuleBase
    >>> from takagi.persistence import load, save
    >>> rules = RuleBase(centers=[[0.0]], widths=[[2.0]], consequents=[[[1.0, 0.5]]], feature_names=["speed"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(rules, pathlib.Path(folder, "brake.takagi"))
    ...     load(pathlib.Path(folder, "brake.takagi")) == rules
    True
    """
    document = {
        "format": "takagi-model",
        "version": VERSION,
        "takagi": version("takagi"),
        "sha256": _NO_DIGEST,
        "model": encode_model(model),
        **encode_scores(model),
    }
    content = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    digest = hashlib.sha256(content).hexdigest()
    write_whole(Path(path), content.replace(_NO_DIGEST.encode(), digest.encode(), 1))


def load(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save` wrote.

    The model predicts the same bits as the saved one and can be used, explained, exported, saved and fitted again. No
    code is in the file and none is run; a file that was damaged, cut short or edited is refused.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=100_000_000
        Size up to which a file is read; memory needed is up to twenty times its size.

    Returns
    -------
    TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        As it was saved.

    Raises
    ------
    ModelFileError
        If the file is no model, damaged, edited, of a newer format, or too large.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from takagi import TSKRegressor
    >>> from takagi.persistence import load, save
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 4.0, 16.0]
    >>> model = TSKRegressor(n_rules=2, max_iter=50, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "square.takagi"))
    ...     loaded = load(pathlib.Path(folder, "square.takagi"))
    >>> loaded, bool((loaded.predict(X) == model.predict(X)).all())
    (TSKRegressor(max_iter=50, n_rules=2, random_state=0), True)
    """
    path = Path(path)
    with open_regular(path) as stream:
        try:
            content = _read_checked(stream, max_bytes)
            parts = parse(content).open(("format", "version", "takagi", "sha256", "model"), optional=("scores",))
            model = decode_model(upgrade(parts["model"], parts["version"].integer(least=1)))
            if "scores" in parts:
                decode_scores(model, parts["scores"])
            return model
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be loaded: {error}") from None


def _read_checked(stream: BinaryIO, max_bytes: int) -> bytearray:
    """Return the content of a file of this format and version, as it was written."""
    start = stream.read(_HEAD_BYTES)
    _check_start(start)
    content = bytearray(start)
    while piece := stream.read(_PIECE_BYTES):  # a read of max_bytes at once would take that memory for any file
        content += piece
        if len(content) > max_bytes:
            raise ModelFileError(f"it is larger than {max_bytes:,} bytes; raise max_bytes to read it.")
    head = _HEAD.match(content)
    if not content.endswith(b"}"):
        raise ModelFileError(f"it is cut short or damaged at its end ({len(content):,} bytes are there).")
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
