"""Model files: one JSON document with the whole model, checked on reading; nothing in it is executed."""

import os
from typing import Any

from takagi.persistence._codec import decode_model, encode_model
from takagi.persistence._document import MAX_BYTES, Document, read_document, write_document
from takagi.persistence._scores import decode_known_rows, decode_scores, encode_known_rows, encode_scores


def save(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted model to a file that `load` reads.

    The file holds the rules with their names and profile, the parameters, the history, scores that `takagi fit` found
    and hashes of some rows that it trained on, and the steps of a pipeline before the regressor: a `TableEncoder` and
    scalers. It is written beside its place and then moved there, so a file that was there before stays whole until the
    new one is. A `random_state` that is a generator is not kept.

    Parameters
    ----------
    model : TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        A fitted estimator, a pipeline that ends in one, or rules alone.
    path : str or Path
        The file; an existing one is replaced.

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
    write_document(path, {"model": encode_model(model), **encode_scores(model), **encode_known_rows(model)})


def load(path: str | os.PathLike, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that `save` wrote.

    The model predicts the same bits as the saved one and can be used, explained, exported, saved and fitted again. The
    file has no code, and none is run. A file that was damaged, cut short or edited is refused.

    Parameters
    ----------
    path : str or Path
        The file.
    max_bytes : int, default=100_000_000
        Largest size of a file; reading needs memory of up to twenty times its size.

    Returns
    -------
    TSKRegressor, TSKClassifier, TSKCommittee, Pipeline, RuleBase or RuleModel
        As it was saved.

    Raises
    ------
    ModelFileError
        If the file is not a model, or is damaged, edited, of a newer format, or too large.

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
    return read_document(path, max_bytes, _decode)


def _decode(document: Document) -> Any:
    model = decode_model(document.model)
    if document.scores is not None:
        decode_scores(model, document.scores)
    if document.known_rows is not None:
        decode_known_rows(model, document.known_rows)
    return model
